// SPDX-License-Identifier: Apache-2.0
#include "engine.hpp"

#include "fiber.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace weft_model {

namespace {

bool acquires(std::memory_order o) {
  return o == std::memory_order_acquire || o == std::memory_order_acq_rel ||
         o == std::memory_order_seq_cst;
}
bool releases(std::memory_order o) {
  return o == std::memory_order_release || o == std::memory_order_acq_rel ||
         o == std::memory_order_seq_cst;
}
bool is_seq_cst(std::memory_order o) { return o == std::memory_order_seq_cst; }

void raise(std::vector<std::uint16_t> &view, int where, int index) {
  const auto w = static_cast<std::size_t>(where);
  if (view.size() <= w)
    view.resize(w + 1, 0);
  view[w] = std::max(view[w], static_cast<std::uint16_t>(index));
}

void join_into(std::vector<std::uint16_t> &view, const std::vector<std::uint16_t> &other) {
  if (view.size() < other.size())
    view.resize(other.size(), 0);
  for (std::size_t i = 0; i < other.size(); ++i)
    view[i] = std::max(view[i], other[i]);
}

bool writes(op kind) { return kind == op::store || kind == op::rmw; }
bool on_futex(op kind) { return kind == op::sleep || kind == op::asleep || kind == op::wake; }

/// Returns whether the order of two steps can matter. Steps that may be dependent count as
/// dependent.
bool dependent(const pending &a, const pending &b) {
  if (a.kind == op::pause || b.kind == op::pause)
    return a.kind == op::pause ? writes(b.kind) : writes(a.kind);
  const bool barrier_a = a.kind == op::light || a.kind == op::heavy;
  const bool barrier_b = b.kind == op::light || b.kind == op::heavy;
  if (barrier_a || barrier_b)
    return barrier_a && barrier_b && (a.kind == op::heavy || b.kind == op::heavy);
  if (a.where != b.where)
    return false;
  return writes(a.kind) || writes(b.kind) || on_futex(a.kind) || on_futex(b.kind);
}

const char *name(op kind) {
  switch (kind) {
  case op::load:
    return "load";
  case op::store:
    return "store";
  case op::rmw:
    return "read-modify-write";
  case op::light:
    return "light barrier";
  case op::heavy:
    return "heavy barrier";
  case op::sleep:
    return "futex wait";
  case op::asleep:
    return "sleeping on a futex";
  case op::wake:
    return "futex wake";
  case op::await:
    return "await";
  case op::pause:
    return "pause";
  case op::none:
    break;
  }
  return "start";
}

std::string text_of(const std::source_location &at) {
  return below_root(at.file_name()) + ":" + std::to_string(at.line());
}

} // namespace

std::string below_root(const std::string &file) {
  for (const char *top : {"tests/model/", "layers/", "src/", "tests/"})
    if (const auto at = file.rfind(top); at != std::string::npos)
      return file.substr(at);
  return file;
}

void knowledge::join_view(const std::vector<std::uint16_t> &other) { join_into(view, other); }

void knowledge::join(const knowledge &other) {
  for (std::size_t t = 0; t < clock.size(); ++t)
    clock[t] = std::max(clock[t], other.clock[t]);
  join_into(view, other.view);
}

void knowledge::clear() {
  clock.fill(0);
  view.clear();
}

engine &the_engine() {
  static engine instance;
  return instance;
}

// --- running one execution

void engine::reset() {
  for (int t = 0; t < k_max_threads; ++t) {
    thread &th = m_threads[static_cast<std::size_t>(t)];
    th.knows.clear();
    th.knows.clock[static_cast<std::size_t>(t)] = 1;
    th.next = {};
    th.finished = th.woken = th.may_time_out = th.read_stale = false;
    th.stores_at_pause = th.stores_at_idle_resume = UINT64_MAX;
    th.own_stores = 0;
    th.may_fail_spuriously = true;
    std::fill_n(th.stale_reads.begin(), m_location_count, std::uint8_t{0});
    th.flushed.clear();
    th.history = 0;
    th.stack_pointer = nullptr;
  }
  m_location_count = 0;
  m_heavy_view.clear();
  m_vars = 0;
  m_var_count = 0;
  m_stores = 0;
  m_current = 0;
  m_running = m_starting = m_dying = false;
  m_sleep_set = 0;
  m_preemptions = m_steps = 0;
  m_position = 0;
  m_object = nullptr;
  m_trace.clear();
}

engine::ending engine::run_once(const program &p) {
  m_program = &p;
  m_thread_count = p.threads + 1;
  reset();
  m_ending = ending::finished;
  m_threads[0].stack_pointer = make_fiber(0, fiber_entry);
  switch_fiber(&m_host, m_threads[0].stack_pointer);
  m_dying = true;
  m_current = 0;
  if (m_object)
    p.destroy(m_object);
  m_object = nullptr;
  return m_ending;
}

void engine::leave(ending how) {
  m_ending = how;
  switch_fiber(&me().stack_pointer, m_host);
  std::abort(); // no switch leads back here
}

void engine::fail(const std::string &why) {
  m_outcome.failure = "thread " + std::to_string(m_current) + ": " + why;
  leave(ending::failed);
}

void engine::fiber_entry() {
  engine &e = the_engine();
  if (e.m_current == 0)
    e.be_main_thread();
  e.m_program->run(e.m_object, e.m_current - 1);
  e.me().finished = true;
  e.switch_to(e.m_starting ? 0 : e.pick());
  std::abort();
}

void engine::be_main_thread() {
  m_object = m_program->make();
  run_threads();
  m_program->check(m_object);
  leave(ending::finished);
}

void engine::run_threads() {
  m_starting = true;
  for (int t = 1; t < m_thread_count; ++t) { // each runs as far as its first operation
    thread &th = m_threads[static_cast<std::size_t>(t)];
    const std::uint32_t own = th.knows.clock[static_cast<std::size_t>(t)];
    th.knows = m_threads[0].knows;
    th.knows.clock[static_cast<std::size_t>(t)] = own;
    th.stack_pointer = make_fiber(t, fiber_entry);
  }
  ++m_threads[0].knows.clock[0];
  for (int t = 1; t < m_thread_count; ++t)
    switch_to(t);
  m_starting = false;
  m_running = true;
  const int first = pick();
  if (first != 0)
    switch_to(first);
  m_running = false;
  for (int t = 1; t < m_thread_count; ++t)
    m_threads[0].knows.join(m_threads[static_cast<std::size_t>(t)].knows);
}

void engine::switch_to(int next) {
  thread &from = me();
  m_current = next;
  switch_fiber(&from.stack_pointer, me().stack_pointer);
}

// --- choices

int engine::oldest_readable(int t, int where, bool seq_cst) const {
  const auto &view = m_threads[static_cast<std::size_t>(t)].knows.view;
  const auto w = static_cast<std::size_t>(where);
  const int seen = w < view.size() ? view[w] : 0;
  return seq_cst ? std::max(seen, place(where).last_seq_cst) : seen;
}

bool engine::satisfiable(int t) const {
  const pending &p = m_threads[static_cast<std::size_t>(t)].next;
  const location &l = place(p.where);
  for (int i = l.count - 1; i >= oldest_readable(t, p.where, p.seq_cst); --i)
    if (p.wanted(p.argument, l.history[static_cast<std::size_t>(i)].value))
      return true;
  return false;
}

bool engine::enabled(int t) const {
  const thread &th = m_threads[static_cast<std::size_t>(t)];
  switch (th.next.kind) {
  case op::asleep:
    return th.woken || th.may_time_out;
  case op::await:
    return satisfiable(t);
  case op::pause:
    return th.read_stale || th.stores_at_pause != stores_of_others(th);
  default:
    return true;
  }
}

bool engine::blocked_for_good(int t) const {
  const thread &th = m_threads[static_cast<std::size_t>(t)];
  return th.next.kind != op::pause || th.stores_at_idle_resume == stores_of_others(th);
}

void engine::report_deadlock() {
  std::string who = "deadlock:";
  for (int t = 1; t < m_thread_count; ++t) {
    const thread &th = m_threads[static_cast<std::size_t>(t)];
    if (!th.finished)
      who += " thread " + std::to_string(t) + " in " + name(th.next.kind) + " at " +
             text_of(th.next.source) + ";";
  }
  fail(who);
}

/// Chooses the thread that makes the next step; 0 when all have finished.
int engine::pick() {
  unsigned can = 0, unfinished = 0, idle = 0;
  for (int t = 1; t < m_thread_count; ++t) {
    if (m_threads[static_cast<std::size_t>(t)].finished)
      continue;
    unfinished |= 1u << t;
    if (enabled(t))
      can |= 1u << t;
    else if (!blocked_for_good(t))
      idle |= 1u << t;
  }
  if (!unfinished)
    return 0;
  if (!can) { // a spin loop may end after a number of rounds: give it one more, but only one while nothing
    // changes
    if (!idle)
      report_deadlock();
    can = idle;
  } else {
    idle = 0;
  }
  const bool sleep_sets = uses_sleep_sets();
  const thread &current = me();
  const bool preempts = m_current != 0 && (can & (1u << m_current)) &&
                        current.next.kind != op::pause && current.next.kind != op::asleep;
  unsigned candidates = sleep_sets ? can & ~m_sleep_set : can;
  if (m_limits.preemptions >= 0 && preempts && m_preemptions >= m_limits.preemptions)
    candidates = 1u << m_current;
  if (!candidates)
    leave(ending::pruned);
  int order[k_max_threads], count = 0;
  if (candidates & (1u << m_current))
    order[count++] = m_current;
  for (int t = 1; t < m_thread_count; ++t)
    if (t != m_current && (candidates & (1u << t)))
      order[count++] = t;
  if (sleep_sets && count > 1 && seen_before())
    leave(ending::pruned);
  const int taken = choose_thread(order, count);
  const int chosen = order[taken];
  if (idle)
    m_threads[static_cast<std::size_t>(chosen)].stores_at_idle_resume =
        stores_of_others(m_threads[static_cast<std::size_t>(chosen)]);
  if (preempts && chosen != m_current)
    ++m_preemptions;
  if (sleep_sets) {
    for (int i = 0; i < taken; ++i) // explored before, from this state
      m_sleep_set |= 1u << order[i];
    for (int t = 1; t < m_thread_count; ++t)
      if ((m_sleep_set & (1u << t)) && dependent(m_threads[static_cast<std::size_t>(t)].next,
                                                 m_threads[static_cast<std::size_t>(chosen)].next))
        m_sleep_set &= ~(1u << t);
  }
  return chosen;
}

void engine::reschedule() {
  const int next = pick();
  if (next != m_current)
    switch_to(next);
}

/// Announces that the calling thread is about to do `kind`, and returns when it is its turn.
void engine::step(op kind, int where, const std::source_location &at) {
  if (!m_running && !m_starting)
    return;
  if (m_current == 0)
    return;
  pending &next = me().next;
  next.kind = kind;
  next.where = where;
  next.source = at;
  remember(static_cast<std::uint64_t>(kind) << 32 ^ static_cast<std::uint64_t>(where));
  if (++m_steps > k_max_steps)
    fail("no end after " + std::to_string(k_max_steps) + " steps (livelock?)");
  if (m_starting)
    switch_to(0);
  else
    reschedule();
}

// --- orders and mutants

std::memory_order engine::effective(std::memory_order order, char part,
                                    const std::source_location &at) {
  if (order == std::memory_order_relaxed)
    return order;
  cached_site &c =
      m_site_cache[(at.line() * 37 + at.column() * 5 + static_cast<unsigned>(part)) & 1023u];
  if (c.file != at.file_name() || c.line != at.line() || c.column != at.column() ||
      c.part != part) {
    const std::string file = below_root(at.file_name());
    const std::string key =
        file + ":" + std::to_string(at.line()) + ":" + std::to_string(at.column()) + ":" + part;
    const auto [found, is_new] = m_site_of.try_emplace(key, static_cast<int>(m_sites.size()));
    if (is_new)
      m_sites.push_back({file, at.line(), at.column(), part, order});
    c = {at.file_name(), at.line(), at.column(), part, found->second};
  }
  if (static_cast<std::size_t>(c.index) >= m_reached.size())
    m_reached.resize(static_cast<std::size_t>(c.index) + 1);
  m_reached[static_cast<std::size_t>(c.index)] = 1;
  return c.index == m_weak_site ? m_weak_order : order;
}

// --- memory

int engine::new_location(std::uint64_t value) {
  if (m_location_count == k_max_locations)
    fail("the model uses too many atomics");
  const int where = m_location_count++;
  m_locations.reserve(k_max_locations); // models make atomics while others hold references
  if (static_cast<std::size_t>(where) == m_locations.size())
    m_locations.emplace_back();
  location &l = place(where);
  l.count = 1;
  if (l.history.empty())
    l.history.emplace_back();
  l.history[0].value = value;
  l.history[0].carried.clear();
  l.last_seq_cst = 0;
  l.creator = m_current;
  l.created_at = me().knows.clock[static_cast<std::size_t>(m_current)];
  l.alive = true;
  l.used.fill(0);
  l.parked.clear();
  l.history[0].digest = digest_of(l.history[0]);
  remember(static_cast<std::uint64_t>(where) + 1);
  return where;
}

void engine::end_location(int &where) {
  if (!m_dying)
    must_be_past(place(where).used);
  place(where).alive = false;
  where = -1;
}

/// Checks that the thread that ends a variable has seen the last use by each thread.
void engine::must_be_past(const std::array<std::uint32_t, k_max_threads> &clocks) {
  for (std::size_t t = 0; t < clocks.size(); ++t)
    if (me().knows.clock[t] < clocks[t])
      fail("data race: ends what thread " + std::to_string(t) + " may still be using");
}

void engine::must_be_visible(int where) {
  if (where < 0 || where >= m_location_count || !place(where).alive)
    fail("an atomic is used after its end");
  location &l = place(where);
  if (me().knows.clock[static_cast<std::size_t>(l.creator)] < l.created_at)
    fail("data race: an atomic is used by a thread that does not see its construction");
  l.used[static_cast<std::size_t>(m_current)] =
      me().knows.clock[static_cast<std::size_t>(m_current)];
}

template <class Wanted>
int engine::choose_message(int where, bool seq_cst, Wanted wanted) {
  location &l = place(where);
  thread &th = me();
  const auto w = static_cast<std::size_t>(where);
  const int oldest = oldest_readable(m_current, where, seq_cst);
  const int latest = l.count - 1;
  int options[256], count = 0;
  for (int i = latest; i >= oldest && count < 255; --i) {
    const bool worn_out = i != latest && th.stale_reads[w] >= 2 && th.stale_at[w] == i;
    if (!worn_out && wanted(l.history[static_cast<std::size_t>(i)].value))
      options[count++] = i;
  }
  if (count == 0)
    return -1;
  const int index = options[choose(count)];
  if (index != latest) {
    th.read_stale = true;
    if (th.stale_reads[w] == 0 || th.stale_at[w] != index) {
      th.stale_reads[w] = 0;
      th.stale_at[w] = static_cast<std::uint16_t>(index);
    }
    ++th.stale_reads[w];
    remember(static_cast<std::uint64_t>(index) + 1);
  }
  return index;
}

std::uint64_t engine::read_message(int where, int index, std::memory_order order) {
  message &m = place(where).history[static_cast<std::size_t>(index)];
  raise(me().knows.view, where, index);
  if (acquires(order))
    me().knows.join(m.carried);
  remember(m.value);
  return m.value;
}

void engine::append(int where, std::uint64_t value, std::memory_order order, bool continues) {
  location &l = place(where);
  const int index = l.count++;
  if (static_cast<std::size_t>(index) == l.history.size())
    l.history.emplace_back();
  message &m = l.history[static_cast<std::size_t>(index)];
  m.value = value;
  m.carried.clear();
  ++m_stores;
  ++me().own_stores;
  if (is_seq_cst(order))
    l.last_seq_cst = index;
  raise(me().knows.view, where, index);
  if (continues) // a read-modify-write continues the release sequence
    m.carried.join(l.history[static_cast<std::size_t>(index) - 1].carried);
  if (releases(order)) {
    m.carried.join(me().knows);
    ++me().knows.clock[static_cast<std::size_t>(m_current)];
  }
  m.digest = digest_of(m);
}

std::uint64_t engine::load(int where, std::memory_order order, const std::source_location &at) {
  location &l = place(where);
  if (m_dying)
    return l.history[static_cast<std::size_t>(l.count) - 1].value;
  step(op::load, where, at);
  must_be_visible(where);
  order = effective(order, 'o', at);
  const int index = choose_message(where, is_seq_cst(order), [](std::uint64_t) { return true; });
  const std::uint64_t value = read_message(where, index, order);
  note("load", where, value, at, index == place(where).count - 1 ? "" : " (stale)");
  return value;
}

void engine::store(int where, std::uint64_t value, std::memory_order order,
                   const std::source_location &at) {
  if (m_dying)
    return;
  step(op::store, where, at);
  must_be_visible(where);
  append(where, value, effective(order, 'o', at), false);
  note("store", where, value, at);
}

std::uint64_t engine::begin_rmw(int where, std::memory_order &order,
                                const std::source_location &at) {
  if (!m_dying) {
    step(op::rmw, where, at);
    must_be_visible(where);
    order = effective(order, 'o', at);
  }
  return read_message(where, place(where).count - 1, order);
}

void engine::end_rmw(int where, std::uint64_t value, std::memory_order order,
                     const std::source_location &at) {
  append(where, value, order, true);
  note("rmw", where, value, at);
}

bool engine::compare_exchange(int where, std::uint64_t &expected, std::uint64_t desired,
                              std::memory_order success, std::memory_order failure, bool weak,
                              const std::source_location &at) {
  location &l = place(where);
  if (m_dying)
    return true;
  step(op::rmw, where, at);
  must_be_visible(where);
  success = effective(success, 'o', at);
  failure = effective(failure, 'f', at);
  const bool could = l.history[static_cast<std::size_t>(l.count) - 1].value == expected;
  thread &th = me();
  if (could) {
    const bool may_miss = weak && th.may_fail_spuriously;
    if (!may_miss || choose(2) == 0) {
      read_message(where, l.count - 1, success);
      remember(1);
      append(where, desired, success, true);
      note("compare-exchange", where, desired, at);
      return true;
    }
    th.may_fail_spuriously = false;
    remember(2);
    th.read_stale = true; // another try may differ
    read_message(where, l.count - 1, failure);
    note("compare-exchange", where, expected, at, " fails for no reason");
    return false;
  }
  const std::uint64_t wanted = expected;
  const int index =
      choose_message(where, is_seq_cst(failure), [&](std::uint64_t v) { return v != wanted; });
  expected = read_message(where, index, failure);
  note("compare-exchange", where, expected, at, " fails");
  return false;
}

std::uint64_t engine::await(int where, bool (*wanted)(void *, std::uint64_t), void *argument,
                            std::memory_order order, const std::source_location &at) {
  if (m_dying || (!m_running && !m_starting)) {
    const std::uint64_t value = load(where, order, at);
    if (!m_dying && !wanted(argument, value))
      fail("the main thread would wait for ever");
    return value;
  }
  order = effective(order, 'o', at);
  pending &next = me().next;
  next.wanted = wanted;
  next.argument = argument;
  next.seq_cst = is_seq_cst(order);
  must_be_visible(where);
  step(op::await, where, at);
  thread &th = me();
  th.stale_reads[static_cast<std::size_t>(where)] = 0;
  const int index = choose_message(where, is_seq_cst(order),
                                   [&](std::uint64_t v) { return wanted(argument, v); });
  const std::uint64_t value = read_message(where, index, order);
  note("await", where, value, at);
  return value;
}

/// Waits for a change if the thread has looked twice since anything changed; else a pause is no
/// step. The thread's own stores (a lock taken and given back) are no change: a round that ends in
/// a pause has achieved nothing.
void engine::pause(const std::source_location &at) {
  if (m_dying || !m_running)
    return;
  thread &th = me();
  if (m_limits.how == search::pct) // the thread that it waits for must run
    fall_behind();
  if (th.stores_at_pause == stores_of_others(th) && !th.read_stale)
    step(op::pause, -1, at);
  th.stores_at_pause = stores_of_others(th);
  th.read_stale = false;
}

void engine::light_barrier(const std::source_location &at) {
  if (m_dying)
    return;
  step(op::light, -1, at);
  if (effective(std::memory_order_seq_cst, 'l', at) == std::memory_order_relaxed)
    return;
  me().flushed = me().knows.view;
  me().knows.join_view(m_heavy_view);
  note("light barrier", -1, 0, at);
}

void engine::heavy_barrier(const std::source_location &at) {
  if (m_dying)
    return;
  step(op::heavy, -1, at);
  if (effective(std::memory_order_seq_cst, 'h', at) == std::memory_order_relaxed)
    return;
  join_into(m_heavy_view, me().knows.view);
  me().knows.join_view(m_heavy_view);
  for (int t = 1; t < m_thread_count; ++t)
    me().knows.join_view(m_threads[static_cast<std::size_t>(t)].flushed);
  note("heavy barrier", -1, 0, at);
}

bool engine::futex_wait(int where, std::uint64_t expected, bool has_deadline,
                        const std::source_location &at) {
  if (m_dying)
    return true;
  if (!m_running)
    fail("the main thread would sleep");
  step(op::sleep, where, at);
  must_be_visible(where);
  thread &th = me();
  th.knows.join_view(place(where).parked.view);
  const int index = choose_message(where, false, [](std::uint64_t) { return true; });
  const std::uint64_t value = read_message(where, index, std::memory_order_relaxed);
  note("futex wait", where, value, at, value == expected ? " sleeps" : " returns at once");
  if (value != expected)
    return true;
  th.woken = false;
  th.may_time_out = has_deadline;
  th.next.kind = op::asleep;
  reschedule();
  note("futex wait", where, 0, at, th.woken ? " woken" : " times out");
  th.may_time_out = false;
  remember(th.woken ? 1 : 2);
  return th.woken;
}

void engine::futex_wake(int where, int count, const std::source_location &at) {
  if (m_dying)
    return;
  step(op::wake, where, at);
  place(where).parked.join_view(me().knows.view);
  int asleep[k_max_threads], n = 0;
  for (int t = 1; t < m_thread_count; ++t) {
    const thread &th = m_threads[static_cast<std::size_t>(t)];
    if (!th.finished && th.next.kind == op::asleep && th.next.where == where && !th.woken)
      asleep[n++] = t;
  }
  for (; n > 0 && count > 0; --count) {
    const int i = n > count ? choose(n) : 0;
    m_threads[static_cast<std::size_t>(asleep[i])].woken = true;
    note("futex wake", where, static_cast<std::uint64_t>(asleep[i]), at);
    asleep[i] = asleep[--n];
  }
}

// --- plain memory

void engine::start_var(access &a, std::uint64_t value) {
  a.id = ++m_var_count;
  remember(a.id);
  set_var(a, value);
}

void engine::set_var(access &a, std::uint64_t value) {
  a.value = value;
  a.writer = m_current;
  a.written = me().knows.clock[static_cast<std::size_t>(m_current)];
  a.read.fill(0);
  digest_var(a);
}

void engine::read_var(access &a, const std::source_location &at) {
  if (m_dying)
    return;
  must_be_alive(a);
  const auto &clock = me().knows.clock;
  if (clock[static_cast<std::size_t>(a.writer)] < a.written)
    fail("data race: reads at " + text_of(at) + " what thread " + std::to_string(a.writer) +
         " writes");
  a.read[static_cast<std::size_t>(m_current)] = clock[static_cast<std::size_t>(m_current)];
  digest_var(a);
  remember(a.value);
}

void engine::write_var(access &a, std::uint64_t value, const std::source_location &at) {
  if (m_dying)
    return;
  must_be_alive(a);
  const auto &clock = me().knows.clock;
  if (clock[static_cast<std::size_t>(a.writer)] < a.written)
    fail("data race: writes at " + text_of(at) + " what thread " + std::to_string(a.writer) +
         " writes");
  for (std::size_t t = 0; t < clock.size(); ++t)
    if (clock[t] < a.read[t])
      fail("data race: writes at " + text_of(at) + " what thread " + std::to_string(t) + " reads");
  set_var(a, value);
}

void engine::end_var(access &a) {
  if (m_dying)
    return;
  m_vars ^= a.digest;
  auto last = a.read;
  auto &writer = last[static_cast<std::size_t>(a.writer)];
  writer = std::max(writer, a.written);
  must_be_past(last);
  a.writer = -1;
}

/// Reports an access after the end of a variable, as far as possible: its memory may hold anything.
void engine::must_be_alive(const access &a) {
  if (a.writer < 0 || a.writer >= k_max_threads)
    fail("a variable is used after its end");
}

void engine::note(const char *what, int where, std::uint64_t value, const std::source_location &at,
                  const char *more) {
  if (!m_tracing)
    return;
  char line[256];
  std::snprintf(line, sizeof line, "    thread %d  %-16s a%-3d %6lld%s  %s", m_current, what, where,
                static_cast<long long>(value), more, text_of(at).c_str());
  m_trace.emplace_back(line);
}

} // namespace weft_model
