// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/replay.hpp"

#include "tools/weft/support/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <queue>
#include <unordered_map>
#include <utility>

namespace weft_tool {
namespace {

constexpr std::uint64_t k_steps = 8192; // between two signs of life

/// Is a task in the simulation.
struct simulated {
  std::uint32_t at = 0;         // its next action
  std::uint32_t holding = 0;    // predecessors that have not ended, plus one until it is created
  std::uint32_t children = 0;   // those that are not complete
  bool waits = false, ended = false;
  std::uint32_t cause = k_nobody; // the step before: an index into the steps
};

/// Is a part of a body, for the path.
struct step {
  std::uint32_t task, before;
  float ns;
};

/// Is an event: the task has come to its next action; or, without a task, the worker looks for one.
struct sim_event {
  double when;
  std::uint32_t task;
  unsigned worker;
  bool operator>(const sim_event &other) const noexcept {
    return when != other.when ? when > other.when : task > other.task;
  }
};

struct simulated_worker {
  std::deque<std::uint32_t> ready;
  std::deque<std::uint32_t> frames; // of the thread: no other worker may continue them
  bool idle = false;
};

class simulation {
 public:
  simulation(const trace_graph &graph, const replay_options &options)
      : m_graph(graph), m_options(options), m_tasks(graph.tasks.size()),
        m_workers(options.workers) {}
  replayed run();

 private:
  [[nodiscard]] double scale_of(const graph_task &task) const noexcept {
    return task.type < m_options.scale.size() ? m_options.scale[task.type] : 1.0;
  }
  /// Returns whether nothing but its predecessors holds it: a promise that no body gives its result has none.
  [[nodiscard]] bool only_follows(std::uint32_t task) const noexcept {
    const graph_task &t = m_graph.tasks[task];
    return t.is_join && t.parent == k_nobody && t.predecessors != 0;
  }
  void release(std::uint32_t task, std::uint32_t cause);
  void make_ready(std::uint32_t task, std::uint32_t cause);
  void start(std::uint32_t task, unsigned worker, double extra);
  void start_ready();
  void look(unsigned worker);
  [[nodiscard]] std::uint32_t steal(unsigned thief);
  void wake(unsigned worker);
  void begin();
  void go_on(std::uint32_t task, unsigned worker, double extra);
  void act(const sim_event &event);
  void end(std::uint32_t task);
  void complete(std::uint32_t task, std::uint32_t cause);
  void notify_successors(std::uint32_t task, std::uint32_t cause);
  [[nodiscard]] bool wait(std::uint32_t task, const action &what);
  void wake_waiters(std::uint32_t task, std::uint32_t cause);
  [[nodiscard]] bool free_waiters();

  const trace_graph &m_graph;
  const replay_options &m_options;
  std::vector<simulated> m_tasks;
  std::vector<step> m_steps;
  std::vector<simulated_worker> m_workers; // empty: there are as many workers as there is work for
  std::vector<std::uint32_t> m_ready; // used if m_workers is empty
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> m_waiters; // for the end of a task
  std::vector<unsigned> m_idle;
  std::size_t m_listed = 0; // in the lists of all workers
  unsigned m_at = 0; // the worker that acts
  unsigned m_victim = 0; // had something the last time
  bool m_ending = false; // the worker m_at ends a task
  std::uint32_t m_successor = k_nobody; // and continues with this one
  std::priority_queue<sim_event, std::vector<sim_event>, std::greater<>> m_events;
  double m_now = 0;
  std::uint32_t m_last_step = k_nobody;
};

void simulation::make_ready(std::uint32_t task, std::uint32_t cause) {
  m_tasks[task].cause = cause;
  if (m_workers.empty())
    return m_ready.push_back(task);
  if (m_graph.tasks[task].is_root) {
    const auto home = static_cast<unsigned>(m_graph.tasks[task].slot % m_workers.size());
    m_workers[home].frames.push_back(task);
    return wake(home);
  }
  if (m_ending && m_successor == k_nobody) {
    m_successor = task;
    return;
  }
  m_workers[m_at].ready.push_back(task);
  ++m_listed;
  if (!m_idle.empty())
    wake(m_idle.back());
}

void simulation::wake(unsigned worker) {
  if (!std::exchange(m_workers[worker].idle, false))
    return;
  m_idle.erase(std::find(m_idle.begin(), m_idle.end(), worker));
  m_events.push({m_now + m_options.wake_ns, k_nobody, worker});
}

void simulation::release(std::uint32_t task, std::uint32_t cause) {
  simulated &s = m_tasks[task];
  if (--s.holding != 0)
    return;
  if (!m_graph.tasks[task].is_join)
    return make_ready(task, cause);
  s.ended = true;
  notify_successors(task, cause);
  wake_waiters(task, cause);
}

void simulation::notify_successors(std::uint32_t task, std::uint32_t cause) {
  const graph_task &g = m_graph.tasks[task];
  for (std::uint32_t e = 0; e < g.edges; ++e)
    release(m_graph.edges[g.first_edge + e], cause);
}

/// Lets the task compute up to its next action.
void simulation::go_on(std::uint32_t task, unsigned worker, double extra) {
  const graph_task &g = m_graph.tasks[task];
  simulated &s = m_tasks[task];
  const double ns =
      s.at < g.actions
          ? static_cast<double>(m_graph.actions[g.first_action + s.at].ns) * scale_of(g)
          : 0;
  if (m_options.workers == 0) {
    m_steps.push_back({task, s.cause, static_cast<float>(ns)});
    s.cause = static_cast<std::uint32_t>(m_steps.size() - 1);
  }
  m_events.push({m_now + ns + extra, task, worker});
}

void simulation::start(std::uint32_t task, unsigned worker, double extra) {
  const bool fresh = m_tasks[task].at == 0 && !m_graph.tasks[task].is_root;
  go_on(task, worker, (fresh ? m_options.overhead_ns : 0) + m_options.burden_ns + extra);
}

void simulation::start_ready() {
  for (const std::uint32_t t : std::exchange(m_ready, {}))
    start(t, 0, 0);
}

/// Takes the oldest task of a victim that has one.
std::uint32_t simulation::steal(unsigned thief) {
  for (unsigned i = 0; m_listed != 0 && i < m_workers.size();
       ++i, m_victim = (m_victim + 1) % static_cast<unsigned>(m_workers.size()))
    if (auto &list = m_workers[m_victim].ready; m_victim != thief && !list.empty()) {
      const std::uint32_t t = list.front();
      list.pop_front();
      --m_listed;
      return t;
    }
  return k_nobody;
}

void simulation::look(unsigned worker) {
  simulated_worker &w = m_workers[worker];
  if (!w.frames.empty()) {
    const std::uint32_t t = w.frames.front();
    w.frames.pop_front();
    return start(t, worker, 0);
  }
  if (!w.ready.empty()) {
    const std::uint32_t t = w.ready.back();
    w.ready.pop_back();
    --m_listed;
    return start(t, worker, 0);
  }
  if (const std::uint32_t t = steal(worker); t != k_nobody)
    return start(t, worker, m_options.steal_ns);
  w.idle = true;
  m_idle.push_back(worker);
}

void simulation::complete(std::uint32_t task, std::uint32_t cause) {
  for (;;) {
    if (m_graph.tasks[task].is_round)
      notify_successors(task, cause);
    const std::uint32_t parent = m_graph.tasks[task].parent;
    if (parent == k_nobody)
      return;
    simulated &p = m_tasks[parent];
    if (p.children != 0 && --p.children != 0)
      return;
    if (p.waits) {
      p.waits = false;
      return make_ready(parent, cause);
    }
    if (!p.ended)
      return;
    task = parent;
  }
}

void simulation::end(std::uint32_t task) {
  simulated &s = m_tasks[task];
  s.ended = true;
  m_last_step = s.cause;
  m_ending = true;
  if (!m_graph.tasks[task].is_round)
    notify_successors(task, s.cause);
  wake_waiters(task, s.cause);
  if (s.children == 0)
    complete(task, s.cause);
  m_ending = false;
}

void simulation::wake_waiters(std::uint32_t task, std::uint32_t cause) {
  if (m_waiters.empty())
    return;
  if (const auto all = m_waiters.extract(task); !all.empty())
    for (const std::uint32_t t : all.mapped())
      make_ready(t, cause);
}

/// Lets all go on whose waits the graph contradicts, as where a task has released its data before it
/// ended. Returns whether there were any.
bool simulation::free_waiters() {
  if (m_waiters.empty())
    return false;
  m_ending = false;
  std::vector<std::uint32_t> all;
  for (const auto &[task, waiters] : std::exchange(m_waiters, {}))
    all.insert(all.end(), waiters.begin(), waiters.end());
  std::sort(all.begin(), all.end());
  for (const std::uint32_t t : all)
    make_ready(t, m_tasks[t].cause);
  start_ready();
  return true;
}

/// Returns whether the body has to wait.
bool simulation::wait(std::uint32_t task, const action &what) {
  simulated &s = m_tasks[task];
  if (what.awaits_one()) {
    if (m_tasks[what.awaited()].ended)
      return false;
    m_waiters[what.awaited()].push_back(task);
    return true;
  }
  return s.waits = s.children != 0;
}

void simulation::act(const sim_event &event) {
  m_at = event.worker;
  if (event.task == k_nobody)
    return look(event.worker);
  const graph_task &g = m_graph.tasks[event.task];
  simulated &s = m_tasks[event.task];
  const action what = s.at < g.actions ? m_graph.actions[g.first_action + s.at] : action{};
  ++s.at;
  if (what.creates()) {
    s.children += !m_graph.tasks[what.what].is_join; // a promise is no child
    release(what.what, s.cause);
    return go_on(event.task, event.worker, 0);
  }
  if (what.what == action::k_ends)
    end(event.task);
  else if (!wait(event.task, what))
    return go_on(event.task, event.worker, 0);
  if (m_workers.empty())
    return;
  if (const std::uint32_t t = std::exchange(m_successor, k_nobody);
      t != k_nobody && m_workers[event.worker].frames.empty())
    return start(t, event.worker, 0);
  else if (t != k_nobody) { // the thread's own frame goes first
    m_workers[event.worker].ready.push_back(t);
    ++m_listed;
    if (!m_idle.empty())
      wake(m_idle.back());
  }
  look(event.worker);
}

/// Begins: the program's threads continue with what they ran; all other workers have nothing.
void simulation::begin() {
  for (unsigned w = static_cast<unsigned>(m_workers.size()); w-- > 0;) {
    m_workers[w].idle = true;
    m_idle.push_back(w);
  }
  for (std::uint32_t t = 0; t < m_tasks.size(); ++t)
    if (m_graph.tasks[t].is_root || (m_graph.tasks[t].parent == k_nobody && !only_follows(t)))
      release(t, k_nobody);
  start_ready();
}

replayed simulation::run() {
  for (std::size_t t = 0; t < m_tasks.size(); ++t)
    m_tasks[t].holding = m_graph.tasks[t].predecessors + (only_follows(static_cast<std::uint32_t>(t)) ? 0 : 1);
  begin();
  char what[64];
  if (m_options.workers)
    std::snprintf(what, sizeof what, "replaying on %u workers", m_options.workers);
  begin_phase(m_options.workers ? what : "looking for the critical path", m_graph.actions.size());
  for (std::uint64_t n = 1; !m_events.empty() || free_waiters(); ++n) {
    if (n % k_steps == 0)
      advance(k_steps);
    const sim_event h = m_events.top();
    m_events.pop();
    m_now = h.when;
    act(h);
    start_ready();
  }
  replayed r;
  r.ns = m_now;
  for (std::size_t t = 0; t < m_tasks.size(); ++t)
    r.unfinished += !m_tasks[t].ended && !m_graph.tasks[t].is_join;
  for (std::uint32_t at = m_last_step; at != k_nobody; at = m_steps[at].before)
    if (!r.path.empty() && r.path.back().task == m_steps[at].task)
      r.path.back().ns += m_steps[at].ns;
    else
      r.path.push_back({m_steps[at].task, m_steps[at].ns});
  return r;
}

} // namespace

replayed replay(const trace_graph &graph, const replay_options &options) {
  return simulation(graph, options).run();
}

} // namespace weft_tool
