// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/graph.hpp"

#include "tools/weft/support/progress.hpp"

#include "base/error.hpp"

#include "trace/structure.hpp"
#include "ult/thread_context.hpp"

#include <weft/access.hpp>
#include <weft/error.hpp>

#include <algorithm>
#include <utility>

namespace weft_tool {
namespace {

/// Lists how accesses relate: tasks with compatible accesses may run at the same time.
enum how : std::uint8_t { reads, writes, concurrent, commutes, reduces };
std::uint8_t how_of(std::uint8_t mode) noexcept {
  using enum weft::access_mode;
  switch (static_cast<weft::access_mode>(mode)) {
  case in:
  case weak_in:
    return reads;
  case weft::access_mode::concurrent:
  case weak_concurrent:
    return how::concurrent;
  case commutative:
  case weak_commutative:
    return commutes;
  case reduction:
  case weak_reduction:
    return reduces;
  default:
    return writes;
  }
}

constexpr std::int64_t k_longest_gap =
    100'000; // between tasks; more is no overhead but a thread without a processor

} // namespace

std::uint32_t trace_graph::index_of(std::uint32_t id) {
  std::uint32_t &at = m_index.at(id);
  if (at == 0) {
    tasks.emplace_back();
    tasks.back().id = id;
    at = static_cast<std::uint32_t>(tasks.size());
  }
  return at - 1;
}

/// Adds the time that the innermost body of the worker has used.
void trace_graph::advance(worker &w, std::int64_t now) {
  if (!w.stack.empty() && now > w.since) {
    w.stack.back().computed += now - w.since;
    tasks[w.stack.back().task].exec += now - w.since;
  }
  w.since = now;
}

void trace_graph::act(worker &w, std::uint32_t what) {
  if (w.stack.empty())
    return;
  running &r = w.stack.back();
  if (what == action::k_waits && r.before_others >= 0) { // between those it looked for more of them
    tasks[r.task].exec -= r.computed - r.before_others;
    r.computed = r.before_others;
  }
  r.before_others = -1;
  m_log.push_back({r.task, {static_cast<float>(std::exchange(r.computed, 0)), what}});
}

void trace_graph::add_access(std::uint32_t task, std::uint8_t mode, std::uint64_t address) {
  const auto entry = static_cast<std::uint32_t>(m_accesses.size());
  const auto [at, is_new] =
      m_chains.try_emplace({tasks[task].parent, address}, chain{entry, entry, entry});
  chain &c = at->second;
  const std::uint8_t h = how_of(mode);
  const bool begins = !is_new && (h == writes || m_accesses[c.last].how != h);
  m_accesses.push_back({task, k_nobody, h, begins});
  if (is_new)
    return;
  m_accesses[c.last].next = entry;
  c.last = entry;
  if (begins)
    c.group_before = std::exchange(c.last_group, entry);
}

bool trace_graph::is_reading(std::uint32_t entry) const { return m_accesses[entry].how == reads; }

/// Splits the segment that contains `at`. The second part needs only the newest group, and the one
/// before it if more tasks may join the newest: the first part links the older ones.
void trace_graph::cut(segments &all, std::uint64_t at) {
  auto before = all.upper_bound(at);
  if (before == all.begin() || (--before)->first == at || before->second.end <= at)
    return;
  const std::vector<group> &groups = before->second.groups;
  const std::size_t kept =
      groups.back().how == writes ? 1 : std::min<std::size_t>(groups.size(), 2);
  segment rest{before->second.end,
               {groups.end() - static_cast<std::ptrdiff_t>(kept), groups.end()}};
  before->second.end = at;
  all.emplace(at, std::move(rest));
}

/// Adds bytes in the order of regions: commutative and reducing accesses in the order of creation.
void trace_graph::add_bytes(std::uint32_t task, std::uint8_t mode, std::uint64_t low,
                            std::uint64_t bytes) {
  segments &all = m_segments[tasks[task].parent];
  const std::uint64_t end = low + std::max<std::uint64_t>(bytes, 1);
  std::uint8_t h = how_of(mode);
  h = h == commutes || h == reduces ? std::uint8_t{writes} : h;
  cut(all, low);
  cut(all, end);
  for (std::uint64_t at = low; at < end;) {
    auto here = all.lower_bound(at);
    if (here == all.end() || here->first > at) // no task has named these yet
      here =
          all.emplace(at, segment{here == all.end() ? end : std::min(end, here->first), {}}).first;
    std::vector<group> &groups = here->second.groups;
    if (groups.empty() || h == writes || groups.back().how != h)
      groups.push_back({{}, h});
    groups.back().members.push_back(task);
    at = here->second.end;
  }
}

void trace_graph::begin_root(worker &w, const trace_record &record, std::int64_t now,
                             unsigned slot) {
  const std::uint32_t t = index_of(record.task);
  tasks[t].is_root = true;
  tasks[t].slot = tasks[t].at = static_cast<std::uint16_t>(slot);
  tasks[t].type = record.type;
  tasks[t].begun = now;
  w.stack.assign(1, {t});
}

void trace_graph::create(worker &w, const trace_record &record, std::int64_t now, unsigned slot) {
  if (record.a & k_created_for_rounds)
    return record_task(record, now, slot);
  const std::uint32_t t = index_of(record.task), id = static_cast<std::uint32_t>(record.a);
  const std::uint32_t parent = id ? index_of(id) : k_nobody;
  tasks[t].type = record.type;
  tasks[t].parent = parent;
  if (!tasks[t].has_ready_event) { // until those before it are known
    tasks[t].ready = now;
    tasks[t].ready_slot = static_cast<std::uint16_t>(slot);
  }
  act(w, t);
}

void trace_graph::make_ready(graph_task &task, std::int64_t now, unsigned slot) {
  task.ready = now;
  task.ready_slot = static_cast<std::uint16_t>(slot);
  task.has_ready_event = true;
}

/// Adds the edge from what a task, or a result, waits for. Of a task that ends with another one, a join is the end.
void trace_graph::order_after(const trace_record &record) {
  if (record.task == 0 || static_cast<std::uint32_t>(record.a) == 0) // no record of a program
    return;
  std::uint32_t to = index_of(record.task);
  const std::uint32_t from = index_of(static_cast<std::uint32_t>(record.a));
  tasks[to].is_join |= (record.b & k_is_result) != 0;
  tasks[from].is_join |= (record.b & k_awaits_result) != 0;
  if (record.b & k_ends_after) {
    const auto [end, is_new] = m_ends.try_emplace(to, static_cast<std::uint32_t>(tasks.size()));
    if (is_new) {
      tasks.emplace_back();
      tasks.back().is_join = true;
    }
    to = end->second;
  }
  if (from != to)
    m_edges.emplace_back(from, to);
}

/// Lets a body give a promise its result. What no body gives comes after the task that ended last.
void trace_graph::give(worker &w, const trace_record &record, std::int64_t now, unsigned slot) {
  const std::uint32_t t = index_of(record.task);
  if (tasks[t].ready >= 0) // once
    return;
  tasks[t].is_join = true;
  make_ready(tasks[t], now, slot);
  const std::uint32_t by = m_index.get(static_cast<std::uint32_t>(record.a)); // plus one
  if (!w.stack.empty() && w.stack.back().task != t) {
    tasks[t].parent = w.stack.back().task;
    act(w, t);
  } else if (w.stack.empty() && by != 0 && by - 1 != t) {
    m_edges.emplace_back(by - 1, t);
  }
}

/// Keeps a task that a taskiter records. It does not run itself: its rounds do.
void trace_graph::record_task(const trace_record &record, std::int64_t now, unsigned slot) {
  const std::uint32_t taskiter = index_of(static_cast<std::uint32_t>(record.a));
  recording &whole = m_recordings[taskiter];
  whole.tasks.push_back(static_cast<std::uint32_t>(m_recorded.size()));
  whole.over = now;
  whole.slot = static_cast<std::uint16_t>(slot);
  m_recorded_index[record.task] = whole.tasks.back();
  m_recorded.push_back({taskiter, record.type, {}, {}});
}

trace_graph::recorded_task *trace_graph::find_recorded(std::uint32_t id) {
  if (m_recorded_index.empty())
    return nullptr;
  const auto found = m_recorded_index.find(id);
  return found == m_recorded_index.end() ? nullptr : &m_recorded[found->second];
}

/// Returns the task that a new round is; from now on it has the number of the recorded task.
std::uint32_t trace_graph::begin_round(recorded_task &of, std::uint32_t id) {
  const auto t = static_cast<std::uint32_t>(tasks.size());
  const recording &whole = m_recordings[of.taskiter];
  of.rounds.push_back(t);
  graph_task &round = tasks.emplace_back();
  round.id = id;
  round.parent = of.taskiter;
  round.is_round = true;
  round.ready = whole.over;
  round.ready_slot = whole.slot;
  m_index.at(id) = t + 1;
  return t;
}

void trace_graph::use(std::uint32_t task, std::uint64_t address, std::uint64_t extent) {
  const auto mode = static_cast<std::uint8_t>(extent >> 32);
  if (extent & k_by_bytes)
    add_bytes(task, mode, address, extent & UINT32_MAX);
  else
    add_access(task, mode, address);
}

/// Orders the rounds as if the program had created the tasks in each of them anew. Where a condition
/// comes between them, all others read what it writes.
void trace_graph::use_rounds() {
  for (const auto &[taskiter, whole] : m_recordings) {
    std::size_t most = 0;
    bool has_condition = false;
    const auto is_condition = [](const recorded_task &t) {
      return !t.uses.empty() && t.uses.back().address == k_all_data;
    };
    for (const std::uint32_t r : whole.tasks) {
      most = std::max(most, m_recorded[r].rounds.size());
      has_condition |= is_condition(m_recorded[r]);
    }
    for (std::size_t round = 0; round != most; ++round)
      for (const std::uint32_t r : whole.tasks) {
        const recorded_task &task = m_recorded[r];
        if (task.rounds.size() <= round) // the taskiter was stopped
          continue;
        for (const recorded_task::use &u : task.uses)
          use(task.rounds[round], u.address, u.extent);
        if (has_condition && !is_condition(task))
          use(task.rounds[round], k_all_data, 0);
        if (round != 0)
          m_edges.emplace_back(task.rounds[round - 1], task.rounds[round]);
      }
  }
}

void trace_graph::begin_body(worker &w, const trace_record &record, std::int64_t now,
                             unsigned slot) {
  recorded_task *const recorded = find_recorded(record.task);
  const std::uint32_t known = m_index.get(record.task); // plus one
  const auto part = known ? m_paused.find(known - 1) : m_paused.end();
  const bool goes_on = part != m_paused.end();
  const std::uint32_t t = goes_on    ? known - 1
                          : recorded ? begin_round(*recorded, record.task)
                                     : index_of(record.task);
  tasks[t].at = static_cast<std::uint16_t>(slot);
  if (tasks[t].begun < 0) {
    tasks[t].begun = now;
    tasks[t].slot = static_cast<std::uint16_t>(slot);
    tasks[t].type = record.type;
  }
  if (const std::int64_t gap = now - w.free_since; w.free_since >= 0 && gap < k_longest_gap) {
    ++m_gaps;
    m_gap_ns += gap;
  }
  const bool is_branch = (record.b & k_branch) != 0;
  if (w.idle_since >= 0 && w.stack.empty() && !goes_on && !is_branch) // of these it is known when they were ready
    m_woken.emplace_back(t, w.idle_since);
  w.free_since = w.idle_since = -1;
  if (is_branch)
    begin_branch(t, joiner_of(record.b), now);
  if (!w.stack.empty() && w.stack.back().before_others < 0)
    w.stack.back().before_others = w.stack.back().computed;
  w.stack.push_back({t, goes_on ? part->second : 0});
  if (goes_on)
    m_paused.erase(part);
}

/// Makes the task that joins a branch the one that creates it: when a thief takes it.
void trace_graph::begin_branch(std::uint32_t branch, std::uint32_t joiner, std::int64_t now) {
  if (joiner == 0) // no task, or a trace that does not tell
    return;
  const std::uint32_t parent = index_of(joiner);
  tasks[branch].parent = parent;
  m_branches[parent].push_back(branch);
  if (running *body = find_body(parent, now)) {
    m_log.push_back({parent, {static_cast<float>(std::exchange(body->computed, 0)), branch}});
    body->before_others = std::min<std::int64_t>(body->before_others, 0);
  } else {
    m_log.push_back({parent, {0, branch}});
  }
}

/// Returns the body of a task that has begun and has not ended, with what it has computed by now; null
/// if it stands still below another one.
trace_graph::running *trace_graph::find_body(std::uint32_t task, std::int64_t now) {
  if (const auto still = m_suspended.find(tasks[task].id); still != m_suspended.end())
    return still->second.empty() ? nullptr : &still->second.back();
  if (tasks[task].at >= m_workers.size())
    return nullptr;
  worker &w = m_workers[tasks[task].at];
  advance(w, now);
  const auto found = std::find_if(w.stack.rbegin(), w.stack.rend(),
                                  [task](const running &r) { return r.task == task; });
  return found == w.stack.rend() ? nullptr : &*found;
}

void trace_graph::end_body(worker &w, const trace_record &record, std::int64_t now) {
  if (!w.stack.empty() && (record.a & k_again)) {
    pause_body(w);
  } else if (!w.stack.empty()) {
    act(w, action::k_ends);
    tasks[w.stack.back().task].ended = now;
    w.stack.pop_back();
  }
  if (!w.stack.empty()) // it may have moved below the other one
    tasks[w.stack.back().task].at = static_cast<std::uint16_t>(&w - m_workers.data());
  w.free_since = w.stack.empty() ? now : -1;
}

/// Ends a part of a body. What is not known to be a wait for tasks takes no time.
void trace_graph::pause_body(worker &w) {
  const std::uint32_t t = w.stack.back().task;
  if (const auto why = m_left.find(t); why != m_left.end()) {
    w.stack.back().before_others = -1; // it has not looked for others
    act(w, why->second);
    m_left.erase(why);
  }
  m_paused[t] = w.stack.back().computed;
  w.stack.pop_back();
}

void trace_graph::leave(const trace_record &record) {
  const auto reason = static_cast<waits_for>(left_of_word(record.a).reason);
  const std::uint32_t t = index_of(record.task);
  if (reason == waits_for::children || reason == waits_for::group)
    m_left[t] = action::k_waits;
  else if (reason == waits_for::end_of_task)
    if (const std::uint32_t awaited = m_index.get(static_cast<std::uint32_t>(record.b)))
      m_left[t] = action::k_awaits | (awaited - 1);
}

/// Returns one more than the task for whose end this one stands still; 0 if it is for none, or an older
/// library has written the address of the task.
std::uint32_t trace_graph::awaited_by(const trace_record &suspend) const {
  return static_cast<waits_for>(suspend.a) == waits_for::end_of_task && suspend.b <= UINT32_MAX
             ? m_index.get(static_cast<std::uint32_t>(suspend.b))
             : 0;
}

void trace_graph::end_wait(worker &w, const trace_record &record) {
  if (record.b != k_branch_of_join)
    return act(w, action::k_waits);
  const auto branches =
      w.stack.empty() ? m_branches.end() : m_branches.find(w.stack.back().task);
  if (branches == m_branches.end())
    return;
  act(w, action::k_awaits | branches->second.back());
  branches->second.pop_back();
  if (branches->second.empty())
    m_branches.erase(branches);
}

void trace_graph::take(trace_reader &reader, const trace_item &item) {
  const trace_record &x = *item.record;
  const auto e = static_cast<trace_event>(x.event);
  if (e == trace_event::counted || e == trace_event::decided || is_of_kernel(e))
    return;
  const std::int64_t now = reader.ns(x.time);
  // Idle workers have these events after the last task, too.
  if (e != trace_event::idle && e != trace_event::busy && e != trace_event::sleep &&
      e != trace_event::wake)
    last = std::max(last, now);
  if (m_workers.size() <= item.slot)
    m_workers.resize(item.slot + 1);
  advance(m_workers[item.slot], now);
  worker &w = m_workers[item.slot];
  switch (e) {
  case trace_event::root:
    begin_root(w, x, now, item.slot);
    break;
  case trace_event::create:
    create(w, x, now, item.slot);
    break;
  case trace_event::access:
    if (recorded_task *const recorded = find_recorded(x.task))
      recorded->uses.push_back({x.a, x.b});
    else
      use(index_of(x.task), x.a, x.b);
    break;
  case trace_event::after:
    order_after(x);
    break;
  case trace_event::given:
    give(w, x, now, item.slot);
    break;
  case trace_event::ready:
    make_ready(tasks[index_of(x.task)], now, item.slot);
    break;
  case trace_event::begin:
    begin_body(w, x, now, item.slot);
    break;
  case trace_event::end:
    end_body(w, x, now);
    break;
  case trace_event::left:
    leave(x);
    break;
  case trace_event::waited:
    end_wait(w, x);
    break;
  case trace_event::suspend:
    if (const std::uint32_t awaited = awaited_by(x))
      act(w, action::k_awaits | (awaited - 1));
    m_suspended[x.task] = std::exchange(w.stack, {});
    break;
  case trace_event::resume:
    if (auto below = m_suspended.extract(x.task); !below.empty())
      w.stack = std::move(below.mapped());
    if (!w.stack.empty())
      tasks[w.stack.back().task].at = static_cast<std::uint16_t>(item.slot);
    w.idle_since = -1;
    break;
  case trace_event::idle:
    w.free_since = -1;
    w.idle_since = now;
    break;
  default:
    break;
  }
}

void trace_graph::store(const logged &entry) {
  graph_task &t = tasks[entry.task];
  actions[t.first_action + t.actions++] = entry.what;
}

/// Lets a taskiter create its rounds where its body ends.
void trace_graph::store_rounds(const logged &end) {
  float ns = end.what.ns;
  const auto whole = m_recordings.extract(end.task); // once, whatever the trace says
  for (const std::uint32_t r : whole.mapped().tasks)
    for (const std::uint32_t round : m_recorded[r].rounds)
      store({end.task, {std::exchange(ns, 0.0f), round}});
  store({end.task, {ns, action::k_ends}});
}

void trace_graph::store_actions() {
  for (worker &w : m_workers) // a body that runs at the end of the trace ends there
    while (!w.stack.empty()) {
      act(w, action::k_ends);
      w.stack.pop_back();
    }
  for (const auto &[t, computed] : m_paused) // and so does one that stands still
    m_log.push_back({t, {static_cast<float>(computed), action::k_ends}});
  for (const auto &[id, stack] : m_suspended)
    for (const running &r : stack)
      m_log.push_back({r.task, {static_cast<float>(r.computed), action::k_ends}});
  for (const logged &l : m_log)
    ++tasks[l.task].actions;
  for (const recorded_task &r : m_recorded)
    tasks[r.taskiter].actions += static_cast<std::uint32_t>(r.rounds.size());
  std::uint32_t at = 0;
  for (graph_task &t : tasks) {
    t.first_action = at;
    at += std::exchange(t.actions, 0);
  }
  actions.resize(at);
  for (const logged &l : m_log) {
    if (l.what.what == action::k_ends && m_recordings.contains(l.task))
      store_rounds(l);
    else
      store(l);
  }
  std::vector<logged>().swap(m_log);
}

trace_graph::trace_graph(trace_reader &reader) {
  if (reader.about().level < trace_level::graph)
    throw_error(
        weft::errc::invalid_argument,
        "the trace is of a level that does not hold the graph of tasks; write one with trace.level=graph");
  reader.rewind("reading the graph");
  trace_item i;
  while (reader.next(i)) {
    m_live.take(*i.record);
    take(reader, i);
  }
  if (reader.discarded() == 0) // else some of their records may be among these
    unfinished = static_cast<std::uint64_t>(std::max<std::int64_t>(m_live.tasks(), 0));
  use_rounds();
  link_all();
  m_chains.clear();
  std::vector<access_entry>().swap(m_accesses);
  move_ends();
  store_actions();
  store_edges();
  infer_readiness();
  measure_moves();
  first = last;
  for (const graph_task &t : tasks) {
    if (t.begun >= 0)
      first = std::min(first, t.begun);
    if (!t.is_root && !t.is_join && t.ended >= 0) {
      ++executed;
      work += t.exec;
    }
  }
  overhead = m_gaps ? m_gap_ns / static_cast<std::int64_t>(m_gaps) : 0;
}

} // namespace weft_tool
