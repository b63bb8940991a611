// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <algorithm>

namespace manager_model {

world::world(const task_graph &graph, const parameters &p)
    : m_graph(graph), m_p(p), m_actors(p.workers + 2), m_tasks(graph.size()),
      m_graphs(graph.size()), m_place(graph.size(), k_nobody), m_before(graph.size()),
      m_allowed(p.throttle > 0 ? p.throttle : std::numeric_limits<double>::infinity()),
      m_random(static_cast<std::uint64_t>(p.seed)) {
  for (worker_state &w : m_actors) {
    w.low = p.lower_bound;
    w.high = p.upper_bound;
  }
  if (p.graph_lock == 0)
    for (task_id t = 0; t < graph.size(); ++t)
      for (const task_id s : graph.successors(t))
        m_before[s].push_back(t);
}

void world::at(double when, actor who, step what) {
  m_actors[who].next = what;
  m_events.push({when, m_numbers++, who});
}

void world::note() { m_out.counts.note(m_now, {m_now, m_in_graph, m_queued, m_ready}); }

/// Returns when an action on the graph of the task's siblings is over. The actor that asks first
/// gets the lock first: requests come in the order of time.
double world::apply_cost(actor who, task_id child, action what) {
  const double per_access = what == action::submission ? m_p.submit : m_p.done;
  graph_state &g = m_graphs[m_graph[child].parent];
  const bool locks = m_p.graph_lock != 0 && !(m_p.mode == manage_mode::central && m_p.forced != 0);
  double start = m_now;
  if (locks) {
    start = std::max(m_now, g.free_at) + m_p.lock;
    m_out.lock_ns.add(start - m_now);
  }
  const double end = start + (brings_lines(who, child, what) ? m_p.transfer : 0) +
                     per_access * m_graph[child].accesses;
  g.free_at = end;
  m_actors[who].polluted = true;
  (what == action::submission ? m_out.new_ns : m_out.done_ns).add(end - m_now);
  return end;
}

/// Returns whether data that the action writes are in other caches; they are in those of `who` from
/// now on. A graph with a lock counts as one datum. Without a lock, a task touches its predecessors
/// when it is entered, and its successors when it ends.
bool world::brings_lines(actor who, task_id child, action what) {
  graph_state &g = m_graphs[m_graph[child].parent];
  if (m_p.graph_lock != 0) {
    const bool moves = g.last != who && g.last != k_nobody;
    g.last = who;
    return moves;
  }
  bool moves = is_elsewhere(child, who);
  const auto touch = [&](task_id t) {
    moves = moves || is_elsewhere(t, who);
    m_place[t] = who;
  };
  if (what == action::submission) {
    moves = moves || (g.last != who && g.last != k_nobody);
    g.last = who;
    for (const task_id before : m_before[child])
      touch(before);
  } else {
    for (const task_id behind : m_graph.successors(child))
      if (m_tasks[behind].submitted)
        touch(behind);
  }
  m_place[child] = who;
  return moves;
}

/// Puts the task into the graph.
void world::enter(task_id t, actor by) {
  task_state &s = m_tasks[t];
  s.submitted = true;
  ++m_in_graph;
  if (s.pending == 0)
    make_ready(t, by);
  note();
}

/// Takes the task out of the graph. Returns the successor that `by` runs next.
task_id world::finish(task_id t, actor by, successor next) {
  m_tasks[t].done = true;
  --m_in_graph;
  task_id kept = k_no_task;
  for (task_id s : m_graph.successors(t)) {
    if (--m_tasks[s].pending != 0 || !m_tasks[s].submitted)
      continue;
    if (next == successor::kept && kept == k_no_task)
      kept = s;
    else
      make_ready(s, by);
  }
  const task_id parent = m_graph[t].parent;
  task_state &p = m_tasks[parent];
  if (--p.outstanding == 0 && p.waits) {
    p.waits = false;
    make_ready(parent, by);
  }
  note();
  return kept;
}

/// Queues a ready task: a worker puts it into its own queue; the manager gives it to the worker
/// with the least work.
void world::make_ready(task_id t, actor by) {
  actor to = by;
  if (by == manager()) {
    to = 0;
    const auto load = [this](actor w) { return m_actors[w].ready.size() * 2 + !m_actors[w].idle; };
    for (actor w = 1; w < m_p.workers; ++w)
      if (load(w) < load(to))
        to = w;
  }
  m_actors[to].ready.push_back(t);
  ++m_ready;
  if (m_actors[to].idle)
    wake(to);
  else
    wake_one();
}

task_id world::take(actor w, double &cost) {
  if (m_ready == 0)
    return k_no_task;
  actor from = w;
  if (m_actors[w].ready.empty()) {
    const auto n = static_cast<actor>(m_p.workers);
    from = static_cast<actor>(m_random() % n);
    while (m_actors[from].ready.empty())
      from = from + 1 == n ? 0 : from + 1;
    cost += m_p.steal;
    ++m_out.steals;
  }
  const task_id t = m_actors[from].ready.front();
  m_actors[from].ready.pop_front();
  --m_ready;
  cost += m_p.schedule;
  if (m_p.graph_lock == 0) {
    cost += is_elsewhere(t, w) ? m_p.transfer : 0;
    m_place[t] = w;
  }
  note();
  return t;
}

void world::sleep(actor w) {
  m_actors[w].idle = true;
  m_actors[w].found_nothing = false;
  m_idle.push_back(w);
}

void world::wake(actor w) {
  m_actors[w].idle = false;
  std::erase(m_idle, w);
  after(m_p.wake, w, step::look);
}

void world::wake_one() {
  if (!m_idle.empty())
    wake(m_idle.back());
}

/// Lets creators continue after tasks were deleted, below three quarters of the throttle.
void world::let_creators_go(actor by) {
  if (m_p.throttle <= 0 || static_cast<double>(m_alive) > 0.75 * m_p.throttle)
    return;
  m_allowed = m_p.throttle;
  for (; !m_held.empty(); m_held.pop_front())
    make_ready(m_held.front(), by);
}

} // namespace manager_model
