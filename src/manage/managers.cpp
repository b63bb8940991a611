// SPDX-License-Identifier: Apache-2.0
#include "manage/managers.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "deps/mailbox.hpp"
#include "manage/dispatcher.hpp"
#include "manage/mode_chooser.hpp"
#include "task/countdown.hpp"
#include "task/lifecycle.hpp"
#include "task/messages.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

managers *g_those = nullptr; // written before any task
constinit background_work g_work{"weft-manager", place::idle};

void count_applied(unsigned n) noexcept {
  if (executor *e = this_executor(); e && n != 0) // a thread that only manages counts nowhere
    count(e->counts->messages_applied, n);
}

/// As the dispatcher knows them: workers come when there are messages, so nobody needs to poll for them.
void join_dispatcher() {
  static const auto call = [](void *) { return g_those->serve(*this_executor()); };
  static service_entry when_idle("managers", place::idle, INT_MAX, call, nullptr, called::on_demand);
  static service_entry when_waiting("managers", place::taskwait, INT_MAX, call, nullptr, called::on_demand);
  static bool joined = false; // with the start lock
  if (std::exchange(joined, true))
    return;
  services(place::idle).add(when_idle);
  services(place::taskwait).add(when_waiting);
}

unsigned whole(int setting) noexcept { return static_cast<unsigned>(setting); }

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

managers::managers(const settings &s, const machine &m, unsigned workers, unsigned slots)
    : m_mode(s.manage_mode), m_forced(s.manage_forced), m_max_managers(whole(s.manage_max_managers)),
      m_max_spins(whole(s.manage_max_spins)), m_max_ops(whole(s.manage_max_ops)),
      m_min_ready(whole(s.manage_min_ready)), m_spin_ns(static_cast<std::uint64_t>(s.spin_us.count()) * 1000u),
      m_chosen(choose_managers(s, m, workers)), m_outboxes(slots) {
  if (m_forced && m_mode != manage_kind::central)
    throw_error(errc::bad_setting, "manage.forced = true asks for a manager that nobody helps; set manage.mode = central with it");
}

bool managers::is_central() const noexcept {
  return m_mode == manage_kind::central || m_mode == manage_kind::hybrid;
}

outbox *managers::attach(unsigned id) {
  if (m_mode == manage_kind::direct)
    return nullptr;
  outbox *o = m_outboxes[id].load(std::memory_order_relaxed);
  if (o)
    return o;
  o = new outbox(id);
  o->may_manage = !is_restricted() || std::find(m_chosen.begin(), m_chosen.end(), id) != m_chosen.end();
  m_outboxes[id].store(o, std::memory_order_release); // O1: pairs with the managers' acquire
  if (m_used.load(std::memory_order_relaxed) <= id)
    m_used.store(id + 1, std::memory_order_release); // O1
  return o;
}

/// Of the queue's worker: a message was sent.
static void count_sent() noexcept { count(this_executor()->counts->messages_sent); }

// ---- handing on -----------------------------------------------------------------------------------------------------

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

// ---- idle workers as managers ---------------------------------------------------------------------------------------

/// The worker has tasks to go on with. Of policies without queues of their own what it has made ready counts.
bool managers::has_enough(std::size_t made) const noexcept {
  const std::size_t own = ready_at(*this_executor());
  return (own == ~std::size_t{0} ? made : own) >= m_min_ready;
}

bool managers::serve_all(executor &e) {
  const unsigned used = m_used.load(std::memory_order_acquire); // O1: pairs with attach
  const unsigned own = e.messages->id;
  unsigned spins = m_max_spins;
  std::size_t made = 0;
  bool did = false;
  do {
    unsigned count = 0;
    for (unsigned i = 0; i < used && !has_enough(made); ++i)
      if (outbox *o = m_outboxes[(own + i) % used].load(std::memory_order_acquire)) // O1
        count += serve(*o, m_max_ops, made);
    did |= count != 0;
    spins = count != 0 ? m_max_spins : spins - 1;
  } while (spins != 0 && !has_enough(made));
  return did;
}

bool managers::is_asked(const executor &e) const noexcept {
  if (is_central() || !e.messages || !e.messages->may_manage)
    return false;
  return (m_max_managers == 0 || m_inside.load(std::memory_order_relaxed) < m_max_managers) && !nothing_queued();
}

bool managers::may_serve(const executor &e) const noexcept { return !e.in_callback && is_asked(e); }

bool managers::serve(executor &e) {
  if (!is_asked(e))
    return false;
  if (m_inside.fetch_add(1, std::memory_order_relaxed) >= m_max_managers && m_max_managers != 0) {
    m_inside.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  const bool did = serve_all(e);
  m_inside.fetch_sub(1, std::memory_order_relaxed);
  if ((did || m_max_managers != 0) && !nothing_queued())
    wake(); // who might have come meanwhile went to sleep
  return did;
}

bool managers::nothing_queued() const noexcept {
  const unsigned used = m_used.load(std::memory_order_acquire); // O1
  for (unsigned i = 0; i < used; ++i)
    if (outbox *o = m_outboxes[i].load(std::memory_order_acquire); o && !o->empty()) // O1
      return false;
  return true;
}

std::size_t managers::sum(std::size_t (*of)(const outbox &)) const noexcept {
  std::size_t n = 0;
  const unsigned used = m_used.load(std::memory_order_acquire); // O1
  for (unsigned i = 0; i < used; ++i)
    if (outbox *o = m_outboxes[i].load(std::memory_order_acquire)) // O1
      n += of(*o);
  return n;
}

std::size_t managers::queued() const noexcept {
  return sum([](const outbox &o) { return o.ordered.size() + o.others.size(); });
}

std::size_t managers::news_queued() const noexcept {
  return is_central() ? m_news.queued() : sum([](const outbox &o) { return o.ordered.size(); });
}

// ---- a central manager ----------------------------------------------------------------------------------------------

void managers::run() {
  for (;;) {
    const bool last = m_stopping.load(std::memory_order_acquire); // O2: pairs with stop
    const std::uint64_t until = now_ns() + m_spin_ns;
    bool did = false;
    std::uint64_t now = until - m_spin_ns;
    do {
      g_work.begins(now);
      const unsigned used = m_used.load(std::memory_order_acquire); // O1
      std::size_t made = 0;
      unsigned count = 0;
      for (unsigned i = 0; i < used; ++i)
        if (outbox *o = m_outboxes[i].load(std::memory_order_acquire)) // O1
          count += serve(*o, 1, made); // of each worker in turn
      did |= count != 0;
      if (count == 0)
        cpu_pause();
      now = now_ns();
    } while (!last && now < until);
    g_work.ends();
    if (did)
      continue;
    if (last)
      return;
    m_bell.prepare(0);
    if (!nothing_queued() || m_stopping.load(std::memory_order_acquire)) // O2
      m_bell.cancel(0);
    else
      m_bell.commit(0);
  }
}

/// The way back needs no wait for what is queued: the common way leaves out domains whose children are.
void managers::send_messages(bool on) noexcept {
  if (on)
    use_messages(true);
  g_messages.store(on, std::memory_order_release); // O1 of messages.hpp
  if (!on)
    use_messages(false);
}

void managers::run_auto() {
  mode_chooser chooser;
  std::uint64_t before = tasks_begun();
  std::uint64_t since = now_ns();
  while (!m_stopping.load(std::memory_order_acquire)) { // O2
    m_bell.prepare(0);
    if (m_stopping.load(std::memory_order_acquire)) // O2
      return static_cast<void>(m_bell.cancel(0));
    m_bell.commit(0, static_cast<std::int64_t>(since + chooser.window_ns()));
    const std::uint64_t begun = tasks_begun();
    const std::uint64_t now = now_ns();
    send_messages(chooser.next(begun - before, now - since) == mode_chooser::mode::distributed);
    before = begun;
    since = now;
  }
}

void managers::start() {
  if (!is_central() && m_mode != manage_kind::automatic)
    return;
  g_work.announce();
  const auto main = [](void *p) {
    auto &m = *static_cast<managers *>(p);
    m.is_central() ? m.run() : m.run_auto();
  };
  if (int e = m_thread.start("weft-manager", main, this)) {
    warn("the manager cannot be started (%s): workers apply their actions themselves, as with manage.mode = direct", std::strerror(e));
    send_messages(false);
    return;
  }
  m_has_thread.store(true, std::memory_order_release); // O3: pairs with has_thread
}

void managers::stop() {
  if (!m_thread.joinable())
    return;
  m_stopping.store(true, std::memory_order_release); // O2
  m_bell.notify_all();
  m_thread.join();
}

// ---- of task/messages.hpp -------------------------------------------------------------------------------------------

void set_managers(managers &m, const settings &s) noexcept {
  g_those = &m;
  g_managers.store(s.manage_mode != manage_kind::direct, std::memory_order_relaxed);
  if (s.manage_mode == manage_kind::distributed || s.manage_mode == manage_kind::automatic)
    join_dispatcher();
  managers::send_messages(s.manage_mode != manage_kind::direct && s.manage_mode != manage_kind::automatic);
}

bool hand_on_new(task &t, domain &d) {
  executor *e = this_executor();
  return e->messages && g_those->send_new(*e->messages, t, d);
}

bool hand_on_end(task &t, bool childless) {
  executor *e = this_executor(); // null on a thread that only takes events back
  return e && e->messages && g_those->send_end(*e, t, childless);
}

void apply_news_of(domain &d) noexcept { g_those->apply_below(d); }

bool apply_messages(executor &e, place where) { return g_those->may_serve(e) && services(where).call_modules(e); }

} // namespace rt
} // namespace weft::inline v0
