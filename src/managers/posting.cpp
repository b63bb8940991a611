// SPDX-License-Identifier: Apache-2.0
// Posting to managers, and applying what was posted.
#include "base/mutant.hpp"
#include "deps/hooks.hpp"
#include "deps/mailbox.hpp"
#include "deps/messages.hpp"
#include "deps/registration.hpp"
#include "managers/hooks.hpp"
#include "managers/managers.hpp"
#include "task/complete.hpp"
#include "task/countdown.hpp"
#include "task/hooks.hpp"
#include "task/ready.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

void count_applied(unsigned n) noexcept {
  if (thread_context *e = this_thread_context();
      e && n != 0) // a thread that only manages has no counters
    count(e->counts->messages_applied, n);
}

/// Announces the ready tasks and enqueues those that are wanted; returns how many these are.
std::size_t offer(ready_list &ready) {
  std::size_t n = 0;
  while (runnable *r = ready.pop_front())
    if (announce_ready(*static_cast<task *>(r))) {
      enqueue_ready(*r);
      ++n;
    }
  return n;
}

/// Enters the accesses of `t`. The domain and its owner may end once the count `d.queued` has gone
/// down.
void apply_new(task &t, ready_list &ready) noexcept {
  domain &d = *t.parent->children_domain;
  bool may_run = false;
  bool entered = true;
  try {
    may_run = enter_posted(t);
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
  if (!is_central())
    wake_for_message();
  else
    unless(bug::manager_bell_silent, [&] { m_bell.notify_one(); });
}

/// Posts a message; the queue's worker only. Returns false if the queue is full and the caller acts
/// itself.
bool managers::push(thread_context &e, message_queue<request> &queue, request wish) noexcept {
  while (!queue.push(wish)) {
    if (!m_forced)
      return false;
    wake();
    os_yield();
  }
  count(e.counts->messages_sent);
  wake();
  return true;
}

/// Says whether `e` does its dependency work itself rather than posts it:
/// - it has few ready tasks, and would be the next to manage anyway; or
/// - no worker is idle, so no other one would come to manage.
/// The answer holds for a number of calls (`pace`), because thieves write to the count of ready
/// tasks.
bool managers::chooses_to_act_locally(thread_context &e) noexcept {
  const std::size_t backlog = m_backlog.load(std::memory_order_relaxed);
  if (backlog == 0 || is_central() || !e.messages || !e.messages->may_manage)
    return false;
  if (e.pace < 0) {
    ++e.pace;
    return false;
  }
  std::size_t ready = ready_at(e);
  if (ready < backlog && enter_own(*e.messages, backlog - ready) != 0)
    ready = ready_at(e);
  const bool itself = ready < backlog || (ready != ~std::size_t{0} && !any_worker_idles());
  const auto more = static_cast<std::int32_t>(m_max_ops.load(std::memory_order_relaxed)) - 1;
  e.pace = itself ? more : -more;
  return itself;
}

bool managers::send_new(thread_context &e, task &t, domain &home) {
  outbox &o = *e.messages;
  if (m_mode == manage_kind::hybrid && !m_siblings.allows(t.parent))
    return false;
  if (!is_central() && acts_locally(e) && home.comes_into_sight())
    return false;
  if (home.queued_in != &o) { // the parent came here from another worker
    apply_registrations_below(*t.parent);
    home.queued_in = &o;
  }
  home.hide();
  home.queued.add();
  if (is_central())
    m_siblings.pushed();
  if (push(e, o.ordered, {t, request::kind::fresh}))
    return true;
  if (is_central())
    m_siblings.applied();
  home.queued.take_back();
  return false;
}

bool managers::send_end(thread_context &e, task &t, posted_end which) {
  const bool childless = which == posted_end::of_childless;
  outbox &o = *e.messages;
  if (m_mode == manage_kind::hybrid && !o.ends.allows(o.size(), ready_at(e)))
    return false;
  if (is_central() && t.children_domain && t.children_domain->queued_in != &o)
    apply_registrations_below(t); // no queue orders its end behind them
  const bool two = childless && is_central(); // the manager of `distributed` deletes alone
  t.unsatisfied.store(two ? 2 : 1, std::memory_order_relaxed); // published by the message
  if (!push(e, is_central() ? o.ordered : o.others,
            {t, childless ? request::kind::end : request::kind::end_of_parent}))
    return false;
  if (two)
    delete_sent(o, t);
  if (m_backlog.load(std::memory_order_relaxed) != 0 && !is_central() &&
      o.others.size() >= k_ends_at_once)
    apply_own_ends(*this_thread_context());
  return true;
}

/// Does the sender's part in deleting a task.
void managers::delete_sent(outbox &box, task &t) {
  const std::uint64_t mine = ++box.ends_sent;
  const bool behind =
      m_mode == manage_kind::central || box.ends_applied.load(std::memory_order_relaxed) < mine;
  if (behind && push(*this_thread_context(), box.ordered, {t, request::kind::deletion}))
    return;
  if (take_away(t.unsatisfied, 1)) // the zombie step: the second of two drops the task
    drop_ended(t);
}

// ---- applying -------------------------------------------------------------------------------------------------------

void managers::apply(outbox &box, request wish, ready_list &ready) noexcept {
  task &t = wish.about();
  switch (wish.what()) {
  case request::kind::fresh:
    if (is_central())
      m_siblings.applied();
    return apply_new(t, ready);
  case request::kind::end:
    release_ended(t, ready);
    if (is_central())
      box.ends_applied.fetch_add(1, std::memory_order_relaxed); // a hint
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

/// Applies up to `most` messages of `box`, as in listing 6.1: first those that have an order.
unsigned managers::serve(outbox &box, unsigned most, std::size_t &made) {
  unsigned n = 0;
  request m;
  ready_list ready;
  if (!box.ordered.empty() && box.ordered.acquire()) {
    for (; n < most && box.ordered.pop(m); ++n)
      apply(box, m, ready);
    box.ordered.release();
    made += offer(ready);
    count_applied(n);
  }
  return n < most ? n + serve_ends(box, most - n, made) : n;
}

unsigned managers::serve_ends(outbox &box, unsigned most, std::size_t &made) {
  constexpr unsigned k_at_a_time = 8; // other managers find the rest
  request some[k_at_a_time];
  ready_list ready;
  unsigned n = 0;
  while (n < most && !box.others.empty()) {
    const auto got = static_cast<unsigned>(box.others.take(some, std::min(k_at_a_time, most - n)));
    for (unsigned i = 0; i < got; ++i)
      apply(box, some[i], ready);
    made += offer(ready);
    n += got;
  }
  count_applied(n);
  return n;
}

/// Applies what the worker of `box` has posted until `wanted` more tasks are ready, unless another
/// manager is applying it.
unsigned managers::enter_own(outbox &box, std::size_t wanted) {
  if (box.ordered.empty() || !box.ordered.acquire())
    return 0;
  ready_list ready, one;
  request m;
  unsigned n = 0;
  for (std::size_t made = 0; made < wanted && box.ordered.pop(m); ++n) {
    apply(box, m, one);
    while (runnable *r = one.pop_front()) {
      ready.push_back(r);
      ++made;
    }
  }
  box.ordered.release();
  offer(ready);
  count_applied(n);
  return n;
}

unsigned managers::serve_own(thread_context &e) {
  const std::size_t backlog = m_backlog.load(std::memory_order_relaxed);
  if (backlog == 0)
    return 0;
  outbox &o = *e.messages;
  std::size_t made = 0;
  const unsigned ended = o.others.empty() ? 0 : serve_ends(o, ~0u, made);
  const std::size_t own = ready_at(e);
  const std::size_t ready = own == ~std::size_t{0} ? made : own;
  return ready < backlog ? ended + enter_own(o, backlog - ready) : ended;
}

namespace {

/// Marks its scope as a callback: no function called meanwhile may suspend, and destructors are
/// deferred.
class applying {
 public:
  explicit applying(thread_context *e) noexcept
      : m_context(e), m_outer(e ? std::exchange(e->in_callback, &k_self) : nullptr) {}
  applying(const applying &) = delete;
  applying &operator=(const applying &) = delete;
  ~applying() {
    if (m_context)
      m_context->in_callback = m_outer;
  }

 private:
  static constexpr callback k_self{"the end of tasks", "messages"};
  thread_context *const m_context; // null on a thread that only decreases events
  const callback *const m_outer;
};

} // namespace

void managers::apply_own_ends(thread_context &e) {
  const applying now(&e);
  std::size_t made = 0;
  serve_ends(*e.messages, ~0u, made);
}

/// Waits until the messages about the children of `home` are applied. The caller is the parent's
/// frame, or the thread that releases the parent's accesses. It applies them itself, or waits for
/// the manager that holds the turn.
void managers::apply_below(domain &home) noexcept {
  const applying now(this_thread_context());
  outbox &o = *home.queued_in;
  while (!home.queued.none()) {
    if (m_forced || !o.ordered.acquire()) {
      os_yield();
      continue;
    }
    request m;
    ready_list ready;
    unsigned count = 0;
    for (; !home.queued.none() && o.ordered.pop(m); ++count)
      apply(o, m, ready);
    o.ordered.release();
    offer(ready);
    count_applied(count);
  }
  home.show();
}

} // namespace rt
} // namespace weft::inline v0
