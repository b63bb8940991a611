// SPDX-License-Identifier: Apache-2.0
// Messages, the policies that decide on them, and managers: chapters 4 and 6 of Bosch Pons' thesis
// (2017).
#pragma once

#include "world.hpp"

namespace manager_model {

class managing_world : public world {
 public:
  managing_world(const task_graph &graph, const parameters &p)
      : world(graph, p), m_sends(p.mode == manage_mode::distributed) {}

 protected:
  // A worker asks these before it acts itself.
  [[nodiscard]] bool pushes_new(actor w, task_id child);
  [[nodiscard]] bool pushes_done(actor w);
  [[nodiscard]] bool pushes_delete(actor w) const;
  void send(actor from, message m);
  // A worker applies what it has posted itself.
  [[nodiscard]] bool applies_own_new(actor w);
  [[nodiscard]] bool applies_own_done(actor w);
  [[nodiscard]] bool has_little(actor w) const noexcept;
  [[nodiscard]] bool acts_locally(actor w) const noexcept;

  bool m_sends; // workers post messages, except when they have few ready tasks

  // Managers: a worker, or the central one.
  [[nodiscard]] bool may_manage(actor w) const noexcept;
  void become_manager(actor w);
  void go_on_managing(actor w);
  void apply(actor w);
  void message_applied(actor w);

 private:
  [[nodiscard]] bool next_message_central(worker_state &me, double &cost);
  [[nodiscard]] bool next_message_distributed(worker_state &me, double &cost);
  void stop_managing(actor w, double cost);
  void next_queue(worker_state &me) noexcept;
  [[nodiscard]] std::uint32_t ready_for(actor w) const noexcept;

  // Hybrid: the parent of the queued submissions.
  std::uint64_t m_registrations_queued = 0;
  task_id m_registrations_parent = k_no_task;
};

} // namespace manager_model
