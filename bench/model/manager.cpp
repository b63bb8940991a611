// SPDX-License-Identifier: Apache-2.0
#include "manager.hpp"

#include <algorithm>

namespace manager_model {

/// Returns whether the worker posts a submission. Listing 4.1: while the queues hold submissions, a
/// worker posts only siblings of their tasks.
bool managing_world::pushes_new(actor w, task_id child) {
  switch (m_p.mode) {
  case manage_mode::direct:
    return false;
  case manage_mode::central:
    return true;
  case manage_mode::distributed:
  case manage_mode::automatic:
    return m_sends && !acts_locally(w);
  case manage_mode::hybrid:
    break;
  }
  const bool pushes =
      m_registrations_queued == 0 || m_registrations_parent == m_graph[child].parent;
  m_out.applied_by_workers += !pushes;
  return pushes;
}

/// Returns whether the worker posts a done. Listing 4.2, the hysteresis: its bounds double when the
/// very next call turns it off, else they are halved.
bool managing_world::pushes_done(actor w) {
  if (distributed())
    return m_sends && !acts_locally(w);
  if (m_p.mode != manage_mode::hybrid)
    return m_p.mode != manage_mode::direct;
  worker_state &me = m_actors[w];
  const auto requests = static_cast<double>(me.submits.size());
  if (me.waits_for_low) {
    const bool off = requests <= me.low;
    if (off || me.just_turned_on) {
      const double factor = off && me.just_turned_on ? 2 : 0.5;
      me.low = std::max(1.0, me.low * factor);
      me.high = std::max(me.low + 1, me.high * factor);
    }
    me.just_turned_on = false;
    if (off)
      me.waits_for_low = false;
  }
  bool pushes = !me.waits_for_low && static_cast<double>(ready_for(w)) > m_p.min_tasks;
  if (requests > me.high) {
    me.just_turned_on = !me.waits_for_low;
    me.waits_for_low = true;
    pushes = false;
  }
  m_out.applied_by_workers += !pushes;
  return pushes;
}

/// Returns whether the worker posts a delete: in mode hybrid only behind its own done.
bool managing_world::pushes_delete(actor w) const {
  const worker_state &me = m_actors[w];
  return m_p.mode == manage_mode::central ||
         std::any_of(me.submits.begin(), me.submits.end(), [&](const message &m) {
           return m.what == message_kind::done && m.task == me.task;
         });
}

std::uint32_t managing_world::ready_for(actor w) const noexcept {
  return static_cast<std::uint32_t>(m_actors[w].ready.size());
}

void managing_world::send(actor from, message m) {
  worker_state &me = m_actors[from];
  (distributed() && m.what == message_kind::done ? me.dones : me.submits).push_back(m);
  if (m.what == message_kind::fresh) {
    ++m_registrations_queued;
    m_registrations_parent = m_graph[m.task].parent;
  }
  ++m_queued;
  note();
  if (!central())
    return wake_one();
  worker_state &manager_state = m_actors[manager()];
  if (manager_state.idle) { // it spins
    manager_state.idle = false;
    after(0, manager(), step::manage);
  }
}

bool managing_world::has_little(actor w) const noexcept { return ready_for(w) < m_p.backlog; }

/// Returns whether the worker acts itself, because it would be the next manager.
bool managing_world::acts_locally(actor w) const noexcept {
  return has_little(w) || (m_p.backlog > 0 && m_idle.empty() && m_managers == 0);
}

/// Lets a worker that is about to act itself first apply what it has posted. Returns true while it
/// does so.
bool managing_world::applies_own_new(actor w) {
  worker_state &me = m_actors[w];
  if (!distributed() || me.submits.empty() || me.submits_taken || (m_sends && !acts_locally(w)))
    return false;
  me.current = me.submits.front();
  me.submits.pop_front();
  --m_queued;
  --m_registrations_queued;
  at(apply_cost(w, me.current.task, action::submission) + m_p.pop, w, step::own_new_applied);
  return true;
}

bool managing_world::applies_own_done(actor w) {
  worker_state &me = m_actors[w];
  if (!distributed() || m_p.backlog <= 0 || me.dones.empty())
    return false;
  me.current = me.dones.front();
  me.dones.pop_front();
  --m_queued;
  at(apply_cost(w, me.current.task, action::end) + m_p.pop + m_p.remove, w, step::own_done_applied);
  return true;
}

bool managing_world::may_manage(actor w) const noexcept {
  if (!distributed() || m_queued == 0 || m_managers >= m_p.max_managers)
    return false;
  return !m_actors[w].found_nothing ||
         std::any_of(m_actors.begin(), m_actors.end(), [](const worker_state &from) {
           return !from.dones.empty() ||
                  (!from.submits.empty() && !from.submits_taken); // posted since
         });
}

void managing_world::become_manager(actor w) {
  worker_state &me = m_actors[w];
  ++m_managers;
  me.manages = true;
  me.managing_since = m_now;
  me.spins = m_p.max_spins;
  me.queue = 0;
  me.in_submits = false;
  me.ops = me.round_ops = 0;
  go_on_managing(w);
}

void managing_world::stop_managing(actor w, double cost) {
  worker_state &me = m_actors[w];
  --m_managers;
  me.manages = false;
  me.found_nothing = me.spins <= 0; // without a task to run either, the worker sleeps
  m_out.manager_ns += m_now + cost - me.managing_since;
  after(cost, w, step::look);
}

void managing_world::next_queue(worker_state &me) noexcept {
  if (me.in_submits)
    m_actors[me.queue].submits_taken = false;
  me.in_submits = false;
  me.ops = 0;
  ++me.queue;
}

/// Takes the manager's next message; returns false when the manager must leave. Listing 6.1.
bool managing_world::next_message_distributed(worker_state &me, double &cost) {
  for (;;) {
    if (me.queue == m_p.workers ||
        (me.ops == 0 && static_cast<double>(m_ready) >= m_p.min_ready)) { // a round is over
      if (me.in_submits)
        m_actors[me.queue].submits_taken = false;
      me.in_submits = false;
      me.spins = me.round_ops == 0 ? me.spins - 1 : m_p.max_spins;
      me.queue = 0;
      me.ops = me.round_ops = 0;
      if (me.spins <= 0 || static_cast<double>(m_ready) >= m_p.min_ready)
        return false;
    }
    worker_state &from = m_actors[me.queue];
    if (me.ops == 0)
      cost += m_p.poll;
    if (!me.in_submits && me.ops == 0 && !from.submits_taken && !from.submits.empty())
      me.in_submits = from.submits_taken = true;
    std::deque<message> *queue = &from.dones;
    if (me.in_submits && !from.submits.empty()) {
      queue = &from.submits;
    } else if (me.in_submits) {
      from.submits_taken = false;
      me.in_submits = false;
    }
    if (queue->empty() || me.ops >= m_p.max_ops) {
      next_queue(me);
      continue;
    }
    me.current = queue->front();
    queue->pop_front();
    ++me.ops;
    ++me.round_ops;
    return true;
  }
}

/// Takes one message from each worker in turn.
bool managing_world::next_message_central(worker_state &me, double &cost) {
  for (unsigned looks = 0; looks < m_p.workers; ++looks) {
    worker_state &from = m_actors[me.queue];
    me.queue = me.queue + 1 == m_p.workers ? 0 : me.queue + 1;
    cost += m_p.poll;
    if (from.submits.empty())
      continue;
    me.current = from.submits.front();
    from.submits.pop_front();
    return true;
  }
  return false;
}

void managing_world::go_on_managing(actor w) {
  worker_state &me = m_actors[w];
  double cost = 0;
  if (w != manager()) {
    if (!next_message_distributed(me, cost))
      return stop_managing(w, cost);
  } else if (!next_message_central(me, cost)) {
    me.idle = true;
    return;
  }
  --m_queued;
  after(cost + m_p.pop, w, step::popped);
}

void managing_world::apply(actor w) {
  worker_state &me = m_actors[w];
  double end = m_now;
  switch (me.current.what) {
  case message_kind::fresh:
    end = apply_cost(w, me.current.task, action::submission);
    break;
  case message_kind::done:
    end = apply_cost(w, me.current.task, action::end);
    break;
  case message_kind::remove:
    end = m_now + m_p.remove;
    m_out.delete_ns.add(m_p.remove);
    break;
  }
  if (w == manager())
    m_out.manager_ns += end - m_now + m_p.pop;
  at(end, w, step::applied);
}

void managing_world::message_applied(actor w) {
  const message m = m_actors[w].current;
  double rest = 0;
  switch (m.what) {
  case message_kind::fresh:
    --m_registrations_queued;
    enter(m.task, w);
    break;
  case message_kind::done:
    finish(m.task, w, successor::queued);
    if (distributed()) {
      --m_alive;
      let_creators_go(w);
      m_out.delete_ns.add(m_p.remove);
      rest = m_p.remove;
    }
    break;
  case message_kind::remove:
    --m_alive;
    let_creators_go(w);
    break;
  }
  after(rest, w, step::manage);
}

} // namespace manager_model
