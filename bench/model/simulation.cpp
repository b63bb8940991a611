// SPDX-License-Identifier: Apache-2.0
// Workers: they take tasks, create children, run bodies, and post or apply what follows.
#include "manager.hpp"

#include "managers/mode_chooser.hpp"

#include <stdexcept>
#include <string>

namespace manager_model {
namespace {

constexpr std::size_t k_ends_at_once = 64; // as src/managers/outbox.hpp

class simulation : public managing_world {
 public:
  simulation(const task_graph &graph, const parameters &p) : managing_world(graph, p) {}
  outcome run();

 private:
  void act(actor w);
  void look(actor w);
  void begin(actor w);
  void create_next(actor w);
  void hand_over_child(actor w);
  void child_is_out(actor w);
  void wait_for_children(actor w);
  void run_body(actor w);
  void end_task(actor w);
  void push_end(actor w);
  void delete_task(actor w);
  void is_deleted(actor w);
  void own_new_is_applied(actor w);
  void own_done_is_applied(actor w);
  void choose_mode();

  bool m_over = false;
  weft::rt::mode_chooser m_choice;
  std::uint64_t m_executed_before = 0;
  double m_chosen_at = 0;
};

/// Lets the actor work, manage, or sleep.
void simulation::look(actor w) {
  worker_state &me = m_actors[w];
  double cost = 0;
  if (me.kept != k_no_task) {
    me.task = me.kept;
    me.kept = k_no_task;
    return after(0, w, step::begin);
  }
  if (me.ready.empty() && applies_own_done(w))
    return;
  if (me.ready.empty() && m_p.backlog > 0 && applies_own_new(w)) {
    me.task = k_no_task;
    return;
  }
  const task_id t = take(w, cost);
  if (t != k_no_task) {
    me.found_nothing = false;
    me.task = t;
    return after(cost, w, step::begin);
  }
  if (may_manage(w))
    return become_manager(w);
  if (!m_held.empty()) { // nothing else can run: a creator continues, with some more space
    m_allowed = static_cast<double>(m_alive) + m_p.throttle / 4 + 1;
    me.task = m_held.front();
    m_held.pop_front();
    return after(m_p.schedule, w, step::begin);
  }
  sleep(w);
}

void simulation::begin(actor w) {
  const task_id t = m_actors[w].task;
  if (!m_tasks[t].started) {
    m_tasks[t].started = true;
    ++m_out.executed;
  }
  if (m_tasks[t].created < m_graph[t].children)
    return create_next(w);
  run_body(w);
}

void simulation::create_next(actor w) {
  const task_id t = m_actors[w].task;
  if (static_cast<double>(m_alive) >= m_allowed) {
    m_held.push_back(t);
    return after(0, w, step::look);
  }
  ++m_alive;
  ++m_tasks[t].outstanding;
  m_out.creator_ns += m_p.create;
  after(m_p.create, w, step::created);
}

/// Enters the child that has been created, or sends a message.
void simulation::hand_over_child(actor w) {
  const task_id t = m_actors[w].task, child = m_graph[t].first_child + m_tasks[t].created;
  if (!pushes_new(w, child) && applies_own_new(w))
    return;
  if (pushes_new(w, child)) {
    m_out.creator_ns += m_p.push;
    return after(m_p.push, w, step::pushed_new);
  }
  const double end = apply_cost(w, child, action::submission);
  m_out.creator_ns += end - m_now;
  at(end, w, step::submitted);
}

void simulation::child_is_out(actor w) {
  const task_id t = m_actors[w].task;
  if (++m_tasks[t].created < m_graph[t].children)
    create_next(w);
  else
    wait_for_children(w);
}

void simulation::wait_for_children(actor w) {
  task_state &s = m_tasks[m_actors[w].task];
  if (s.outstanding == 0)
    return run_body(w);
  s.waits = true;
  look(w);
}

void simulation::run_body(actor w) {
  worker_state &me = m_actors[w];
  const task_node &t = m_graph[me.task];
  if (me.task == 0) {
    m_over = true;
    return;
  }
  double ns = t.body_ns * m_p.body;
  if (m_p.jitter > 0)
    ns *= 1 + m_p.jitter * (static_cast<double>(m_random() >> 11) * 0x1p-52 - 1);
  if (me.polluted && t.children == 0)
    ns *= 1 + m_p.pollution;
  me.polluted = false;
  if (t.children == 0)
    m_out.body_ns.add(ns);
  after(ns, w, step::body_ended);
}

void simulation::end_task(actor w) {
  if (pushes_done(w))
    return after(m_p.push, w, step::pushed_done);
  at(apply_cost(w, m_actors[w].task, action::end), w, step::done_applied);
}

/// Continues when the message that the task is done is in the queue.
void simulation::push_end(actor w) {
  worker_state &me = m_actors[w];
  send(w, {message_kind::done, me.task});
  if (distributed()) // the manager is the second to mark it as a zombie, so it deletes the task
    return me.dones.size() >= k_ends_at_once && applies_own_done(w) ? void() : look(w);
  if (!pushes_delete(w))
    return delete_task(w);
  after(m_p.push, w, step::pushed_delete);
}

void simulation::delete_task(actor w) {
  m_out.delete_ns.add(m_p.remove);
  after(m_p.remove, w, step::deleted);
}

void simulation::is_deleted(actor w) {
  --m_alive;
  let_creators_go(w);
  look(w);
}

void simulation::own_new_is_applied(actor w) {
  worker_state &me = m_actors[w];
  enter(me.current.task, w);
  if (me.task != k_no_task) // the worker is about to hand over another one
    hand_over_child(w);
  else
    look(w);
}

void simulation::own_done_is_applied(actor w) {
  const task_id t = m_actors[w].current.task;
  finish(t, w, successor::queued);
  m_out.delete_ns.add(m_p.remove);
  --m_alive;
  let_creators_go(w);
  if (!applies_own_done(w))
    look(w);
}

void simulation::choose_mode() {
  const auto begun = m_out.executed - m_executed_before;
  m_sends = m_choice.next(begun, static_cast<std::uint64_t>(m_now - m_chosen_at)) ==
            weft::rt::mode_chooser::mode::distributed;
  m_executed_before = m_out.executed;
  m_chosen_at = m_now;
  after(static_cast<double>(m_choice.window_ns()), chooser(), step::choose);
}

void simulation::act(actor w) {
  worker_state &me = m_actors[w];
  switch (me.next) {
  case step::look:
    return look(w);
  case step::begin:
    return begin(w);
  case step::created:
    return hand_over_child(w);
  case step::submitted:
    enter(m_graph[me.task].first_child + m_tasks[me.task].created, w);
    return child_is_out(w);
  case step::pushed_new:
    send(w, {message_kind::fresh, m_graph[me.task].first_child + m_tasks[me.task].created});
    return child_is_out(w);
  case step::body_ended:
    return end_task(w);
  case step::done_applied:
    me.kept = finish(me.task, w, m_p.successor != 0 ? successor::kept : successor::queued);
    return delete_task(w);
  case step::pushed_done:
    return push_end(w);
  case step::pushed_delete:
    send(w, {message_kind::remove, me.task});
    return look(w);
  case step::deleted:
    return is_deleted(w);
  case step::manage:
    return go_on_managing(w);
  case step::popped:
    return apply(w);
  case step::applied:
    return message_applied(w);
  case step::own_new_applied:
    return own_new_is_applied(w);
  case step::own_done_applied:
    return own_done_is_applied(w);
  case step::choose:
    return choose_mode();
  }
}

outcome simulation::run() {
  for (task_id t = 0; t < m_graph.size(); ++t)
    m_tasks[t].pending = m_graph[t].predecessors;
  for (actor w = static_cast<actor>(m_p.workers) - 1; w > 0; --w)
    sleep(w);
  m_actors[manager()].idle = true;
  m_actors[0].task = 0;
  at(0, 0, step::begin);
  if (m_p.mode == manage_mode::automatic)
    after(static_cast<double>(m_choice.window_ns()), chooser(), step::choose);
  while (!m_over) {
    if (m_events.empty())
      throw std::logic_error("the model stands still: a fault in its rules");
    const event e = m_events.top();
    m_events.pop();
    m_now = e.at;
    act(e.who);
  }
  m_out.time_ns = m_now;
  m_out.counts.close({m_now, m_in_graph, m_queued, m_ready});
  return m_out;
}

} // namespace

outcome simulate(const task_graph &graph, const parameters &p) {
  if (p.workers == 0 || p.workers > 4096)
    throw std::invalid_argument("workers = " + std::to_string(p.workers) +
                                " is not a number from 1 to 4096");
  if (p.lower_bound > p.upper_bound)
    throw std::invalid_argument(
        "lower_bound is greater than upper_bound; a worker would never push again");
  return simulation(graph, p).run();
}

} // namespace manager_model
