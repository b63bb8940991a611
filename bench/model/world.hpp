// SPDX-License-Identifier: Apache-2.0
// The common parts of the simulation: the clock and its events, workers, tasks, graphs, messages.
#pragma once

#include "simulation.hpp"

#include <deque>
#include <limits>
#include <queue>
#include <random>
#include <vector>

namespace manager_model {

using actor = std::uint32_t; // a worker; the central manager comes after them
inline constexpr actor k_nobody = std::numeric_limits<actor>::max();
inline constexpr task_id k_no_task = std::numeric_limits<task_id>::max();

enum class message_kind : std::uint8_t { fresh, done, remove };
struct message {
  message_kind what;
  task_id task;
};

/// Lists what an actor does at its next event.
enum class step : std::uint8_t {
  look,         // for work
  begin,        // with a task that it has taken
  created,      // a child is made
  submitted,    // a child is entered, by its creator
  pushed_new,   //
  body_ended,   //
  done_applied, // by the worker that ran the task
  pushed_done,  //
  pushed_delete,
  deleted, // by the worker that ran the task
  manage,  // continue as a manager
  popped,  // a manager has got a message
  applied, // and has applied it
  own_new_applied, // by the worker that had posted it
  own_done_applied,
  choose, // of mode auto
};

struct worker_state {
  step next = step::look;
  task_id task = k_no_task;
  task_id kept = k_no_task; // the immediate successor
  bool idle = false;
  bool polluted = false; // has worked on the graph since its last body
  std::deque<task_id> ready;
  std::deque<message> submits; // in the central modes all messages
  std::deque<message> dones;
  bool submits_taken = false; // by a manager
  // hybrid: the hysteresis
  double low = 0, high = 0;
  bool waits_for_low = false, just_turned_on = false;
  // as a manager
  bool manages = false, found_nothing = false;
  bool in_submits = false;
  actor queue = 0;
  double ops = 0, round_ops = 0, spins = 0;
  double managing_since = 0;
  message current{};
};

struct task_state {
  std::uint32_t pending = 0;     // predecessors; valid once submitted
  std::uint32_t created = 0;     // children
  std::uint32_t outstanding = 0; // children that are not done
  bool submitted = false, done = false, started = false, waits = false;
};

struct graph_state { // of the children of one task
  double free_at = 0;
  /// The actor whose caches hold it; without a lock, the record of the last task at each datum.
  actor last = k_nobody;
};

enum class action { submission, end };

class world {
 public:
  world(const task_graph &graph, const parameters &p);

 protected:
  struct event {
    double at;
    std::uint64_t number;
    actor who;
    friend bool operator<(const event &a, const event &b) noexcept { // the queue gives the greatest
      return a.at > b.at || (a.at == b.at && a.number > b.number);
    }
  };
  void at(double when, actor who, step what);
  void after(double ns, actor who, step what) { at(m_now + ns, who, what); }
  void note();

  // The graph: an action takes its time first, and has its effects at its end.
  double apply_cost(actor who, task_id child, action what);
  [[nodiscard]] bool is_elsewhere(task_id t, actor who) const noexcept {
    return m_place[t] != who && m_place[t] != k_nobody;
  }
  [[nodiscard]] bool brings_lines(actor who, task_id child, action what);
  void enter(task_id t, actor by);
  /// Says whether an actor runs a task next that the end of its task made ready.
  enum class successor { kept, queued };
  task_id finish(task_id t, actor by, successor next);

  // ready tasks
  void make_ready(task_id t, actor by);
  task_id take(actor w, double &cost);
  void sleep(actor w);
  void wake_one();
  void wake(actor w);
  void let_creators_go(actor by);

  [[nodiscard]] bool central() const noexcept {
    return m_p.mode == manage_mode::central || m_p.mode == manage_mode::hybrid;
  }
  /// Returns whether workers manage.
  [[nodiscard]] bool distributed() const noexcept {
    return m_p.mode == manage_mode::distributed || m_p.mode == manage_mode::automatic;
  }
  [[nodiscard]] actor manager() const noexcept { return static_cast<actor>(m_p.workers); }
  [[nodiscard]] actor chooser() const noexcept { return manager() + 1; }

  const task_graph &m_graph;
  const parameters m_p;
  outcome m_out;
  double m_now = 0;
  std::priority_queue<event> m_events;
  std::uint64_t m_numbers = 0;
  std::vector<worker_state> m_actors;
  std::vector<task_state> m_tasks;
  std::vector<graph_state> m_graphs; // by parent
  std::vector<actor> m_place; // the actor whose caches hold a task; without locks
  std::vector<std::vector<task_id>> m_before;
  std::vector<actor> m_idle;
  std::deque<task_id> m_held; // creators that the throttle has suspended
  double m_allowed;
  std::mt19937_64 m_random;
  std::int64_t m_in_graph = 0, m_queued = 0, m_ready = 0, m_alive = 0;
  unsigned m_managers = 0;
};

} // namespace manager_model
