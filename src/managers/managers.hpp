// SPDX-License-Identifier: Apache-2.0
// The managers: who applies what workers post, and what they post. docs/design/managers.md
#pragma once

#include "config/settings.hpp"
#include "managers/outbox.hpp"
#include "os/thread.hpp"
#include "park/eventcount.hpp"
#include "topo/machine.hpp"
#include "ult/thread_context.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace weft::inline v0 {
namespace rt {

// What the module worker supplies.

/// There is a message: wakes a worker that may manage.
void wake_for_message() noexcept;
/// A worker sleeps for want of work, or looks for some. A guess.
[[nodiscard]] bool any_worker_idles() noexcept;
/// Tasks that all workers have begun.
[[nodiscard]] std::uint64_t tasks_begun() noexcept;
/// How many ready tasks are in the worker's own queue; ~0 when it has none of its own.
[[nodiscard]] std::size_t ready_at(const thread_context &e) noexcept;

class managers {
 public:
  /// For worker ids below `slots`.
  managers(const settings &s, const machine &m, unsigned workers, unsigned slots);

  /// Where worker `id` puts its messages, from now on for ever; null in mode direct. Throws std::bad_alloc. With the start lock.
  outbox *attach(unsigned id);
  /// The thread of a central manager. Its messages go to nobody else, so that it cannot be had is an error: then workers act themselves.
  void start();
  /// When no task is left: ends the thread. What is queued is applied before.
  void stop();

  // Of deps/messages.hpp:
  [[nodiscard]] bool send_new(thread_context &e, task &t, domain &d);
  [[nodiscard]] bool send_end(thread_context &e, task &t, bool childless);
  void apply_below(domain &d) noexcept;
  [[nodiscard]] bool chooses_to_act_locally(thread_context &e) noexcept;
  bool serve(thread_context &e);
  /// There is something to be served by `e`, between tasks or where one waits.
  [[nodiscard]] bool may_serve(const thread_context &e) const noexcept;
  /// It has posted something that nobody has applied, and has little to go on with.
  [[nodiscard]] bool serves_own_messages_first(const thread_context &e) const noexcept;

  /// Guesses.
  [[nodiscard]] std::size_t queued() const noexcept;
  [[nodiscard]] std::size_t registrations_queued() const noexcept;
  [[nodiscard]] bool nothing_queued() const noexcept;
  /// There is a thread that only manages; it has messages in hand. For the watcher.
  [[nodiscard]] bool has_thread() const noexcept { return m_has_thread.load(std::memory_order_acquire); } // O3
  [[nodiscard]] bool is_active() const noexcept { return is_central() && has_thread() && !m_bell.announced(0); }
  /// Not every worker may manage; those that may.
  [[nodiscard]] bool is_restricted() const noexcept { return !m_chosen.empty(); }
  [[nodiscard]] const std::vector<unsigned> &chosen() const noexcept { return m_chosen; }
  /// Moves between direct and distributed; in mode auto. At any time, by one thread at a time.
  static void send_messages(bool on) noexcept;

 private:
  [[nodiscard]] bool is_central() const noexcept;
  void run_auto();
  [[nodiscard]] bool push(thread_context &e, message_queue<request> &q, request m) noexcept;
  void wake() noexcept;
  void apply(outbox &o, request m, ready_list &ready) noexcept;
  [[nodiscard]] std::size_t sum(std::size_t (*of)(const outbox &)) const noexcept;
  unsigned serve(outbox &o, unsigned most, std::size_t &made);
  unsigned serve_ends(outbox &o, unsigned most, std::size_t &made);
  unsigned enter_own(outbox &o, std::size_t wanted);
  unsigned serve_own(thread_context &e);
  void apply_own_ends(thread_context &e);
  void delete_sent(outbox &o, task &t);
  bool serve_all(thread_context &e);
  [[nodiscard]] bool is_asked(const thread_context &e) const noexcept;
  [[nodiscard]] bool has_enough(std::size_t made) const noexcept;
  void run();

  const manage_kind m_mode;
  const bool m_forced;
  const unsigned m_max_managers; // 0: any number
  const unsigned m_max_spins;
  const unsigned m_max_ops;
  const std::size_t m_min_ready;
  const std::size_t m_backlog;
  const std::uint64_t m_spin_ns;
  const std::vector<unsigned> m_chosen; // empty: all
  std::vector<std::atomic<outbox *>> m_outboxes;
  std::atomic<unsigned> m_used{0};
  alignas(k_apart) std::atomic<std::uint32_t> m_inside{0};
  sibling_policy m_siblings; // of a central one
  eventcount<> m_bell{1};
  thread m_thread;
  std::atomic<bool> m_has_thread{false};
  std::atomic<bool> m_stopping{false};
};

/// The workers that may manage, by setting manage.workers; none for all of them. Throws weft::error when there is no such worker.
std::vector<unsigned> choose_managers(const settings &s, const machine &m, unsigned workers);

/// Those of the process. Before any task; messages are sent and queued from now on as their mode says.
void set_managers(managers &m, const settings &s) noexcept;

} // namespace rt
} // namespace weft::inline v0
