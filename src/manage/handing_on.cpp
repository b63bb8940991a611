// SPDX-License-Identifier: Apache-2.0
// What is handed on to managers, and what applying it means.
#include "deps/mailbox.hpp"
#include "manage/managers.hpp"
#include "task/countdown.hpp"
#include "task/lifecycle.hpp"
#include "task/messages.hpp"

#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Of the queue's worker: a message was sent.
void count_sent() noexcept { count(this_executor()->counts->messages_sent); }

void count_applied(unsigned n) noexcept {
  if (executor *e = this_executor(); e && n != 0) // a thread that only manages counts nowhere
    count(e->counts->messages_applied, n);
}

/// Announces and enqueues; returns how many wanted to be.
std::size_t offer(ready_list &ready) {
  std::size_t n = 0;
  while (runnable *r = ready.pop_front())
    if (announce_ready(*static_cast<task *>(r))) {
      enqueue_ready(*r);
      ++n;
    }
  return n;
}

/// Enters the accesses of `t`. The domain, and its owner with it, may end when its count has gone down.
void apply_new(task &t, ready_list &ready) noexcept {
  domain &d = *t.parent->children_domain;
  bool may_run = false;
  bool entered = true;
  try {
    may_run = enter_handed_on(t);
  } catch (const std::bad_alloc &) {
    entered = false;
  }
  d.queued.applied();
  if (may_run)
    ready.push_back(&t);
  else if (!entered)
    fail_unentered(t, ready);
}

} // namespace

void managers::wake() noexcept {
  if (is_central())
    m_bell.notify_one();
  else
    wake_for_message();
}

/// Of the queue's worker. False: it is full, and the caller acts itself.
bool managers::push(message_queue<request> &q, request m) noexcept {
  while (!q.push(m)) {
    if (!m_forced)
      return false;
    wake();
    os_yield();
  }
  count_sent();
  wake();
  return true;
}

bool managers::send_new(outbox &o, task &t, domain &d) {
  if (m_mode == manage_kind::hybrid && !m_news.allows(t.parent))
    return false;
  if (d.queued_in != &o) { // the parent came here from another worker
    apply_news_below(*t.parent);
    d.queued_in = &o;
  }
  d.hide();
  d.queued.add();
  if (is_central())
    m_news.pushed();
  if (push(o.ordered, {t, request::kind::fresh}))
    return true;
  if (is_central())
    m_news.applied();
  d.queued.take_back();
  return false;
}

bool managers::send_end(executor &e, task &t, bool childless) {
  outbox &o = *e.messages;
  if (m_mode == manage_kind::hybrid && !o.ends.allows(o.size(), ready_at(e)))
    return false;
  if (is_central() && t.children_domain && t.children_domain->queued_in != &o)
    apply_news_below(t); // its end comes behind them nowhere
  // Who deletes besides the manager: a task without a closure to destroy needs nobody.
  const bool two = childless && (is_central() || t.ops->destroy);
  t.unsatisfied.store(two ? 2 : 1, std::memory_order_relaxed); // published by the message
  if (!push(is_central() ? o.ordered : o.others, {t, childless ? request::kind::end : request::kind::end_of_parent}))
    return false;
  if (!two)
    return true;
  const std::uint64_t mine = ++o.ends_sent;
  destroy_ended(t);
  const bool behind = m_mode == manage_kind::central ||
                      (m_mode == manage_kind::hybrid && o.ends_applied.load(std::memory_order_relaxed) < mine);
  // The closure's destructor may have waited, and gone on elsewhere.
  if (behind && push(this_executor()->messages->ordered, {t, request::kind::deletion}))
    return true;
  if (take_away(t.unsatisfied, 1)) // the zombie step: the second of two drops the task
    drop_ended(t);
  return true;
}

// ---- applying -------------------------------------------------------------------------------------------------------

void managers::apply(outbox &o, request m, ready_list &ready) noexcept {
  task &t = m.about();
  switch (m.what()) {
  case request::kind::fresh:
    if (is_central())
      m_news.applied();
    return apply_new(t, ready);
  case request::kind::end:
    release_ended(t, ready);
    o.ends_applied.fetch_add(1, std::memory_order_relaxed); // a hint
    if (take_away(t.unsatisfied, 1))
      drop_ended(t);
    return;
  case request::kind::end_of_parent:
    release_ended(t, ready);
    return settle_ended(t, ready);
  case request::kind::deletion:
    if (take_away(t.unsatisfied, 1))
      drop_ended(t);
    return;
  }
}

/// Listing 6.1: first those that have an order.
unsigned managers::serve(outbox &o, unsigned most, std::size_t &made) {
  unsigned count = 0;
  request m;
  ready_list ready;
  if (!o.ordered.empty() && o.ordered.acquire()) {
    for (; count < most && o.ordered.pop(m); ++count)
      apply(o, m, ready);
    o.ordered.release();
    made += offer(ready);
  }
  for (; count < most && !o.others.empty() && o.others.take(m); ++count) {
    apply(o, m, ready);
    made += offer(ready);
  }
  count_applied(count);
  return count;
}

/// The parent's frame, or who releases the parent's accesses, goes on when the messages about its children are applied: it lends a hand,
/// or waits for who has the turn.
void managers::apply_below(domain &d) noexcept {
  outbox &o = *d.queued_in;
  while (!d.queued.none()) {
    if (m_forced || !o.ordered.acquire()) {
      os_yield();
      continue;
    }
    request m;
    ready_list ready;
    unsigned count = 0;
    for (; !d.queued.none() && o.ordered.pop(m); ++count)
      apply(o, m, ready);
    o.ordered.release();
    offer(ready);
    count_applied(count);
  }
  d.show();
}

} // namespace rt
} // namespace weft::inline v0
