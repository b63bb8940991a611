// SPDX-License-Identifier: Apache-2.0
// The managers: the threads that apply the dependency work that workers post, and the outboxes of
// these workers. docs/design/managers.md
// Bodies: managers.cpp, choose_managers.cpp
#pragma once

#include "config/settings.hpp"
#include "managers/hooks.hpp"
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

enum class posted_end; // deps/hooks.hpp

class mode_chooser;

class managers {
 public:
  /// Serves workers with ids below `slots`.
  managers(const settings &chosen, const machine &host, unsigned workers, unsigned slots);

  /// Returns the outbox in which worker `id` puts its messages; it stays the same. Null in mode
  /// direct. Throws std::bad_alloc. The caller holds the start lock.
  outbox *attach(unsigned id);
  /// Starts the thread of a central manager, or that of mode auto. If it cannot be started, warns;
  /// the workers then apply their work themselves, because no other thread would take the messages.
  void start();
  /// Ends the thread after it has applied what is queued. Called when no task is left.
  void stop();

  // Of deps/hooks.hpp:
  [[nodiscard]] bool send_new(thread_context &e, task &t, domain &home);
  [[nodiscard]] bool send_end(thread_context &e, task &t, posted_end which);
  void apply_below(domain &home) noexcept;
  [[nodiscard]] bool chooses_to_act_locally(thread_context &e) noexcept;
  bool serve(thread_context &e);
  /// Says whether messages are queued that `e` may apply now, between tasks or while a task waits.
  [[nodiscard]] bool may_serve(const thread_context &e) const noexcept;
  /// Says whether `e` applies messages of its own before it runs another task: it has posted some
  /// that no manager has applied yet.
  [[nodiscard]] bool serves_own_messages_first(const thread_context &e) const noexcept;

  // Guesses, of the messages of all workers.
  [[nodiscard]] std::size_t queued() const noexcept;
  [[nodiscard]] std::size_t registrations_queued() const noexcept;
  [[nodiscard]] bool nothing_queued() const noexcept;
  // For the watcher: whether there is a thread that only manages, and whether it is applying
  // messages.
  [[nodiscard]] bool has_thread() const noexcept {
    return m_has_thread.load(std::memory_order_acquire);
  } // O3
  [[nodiscard]] bool is_active() const noexcept {
    return is_central() && has_thread() && !m_bell.announced(0);
  }
  // Whether only some workers may manage, and which.
  [[nodiscard]] bool is_restricted() const noexcept { return !m_chosen.empty(); }
  [[nodiscard]] const std::vector<unsigned> &chosen() const noexcept { return m_chosen; }
  /// Takes the values of manage.max_*, manage.min_ready, manage.backlog and spin.us. Any thread, while
  /// tasks run.
  void change(const settings &now) noexcept;
  /// Moves between direct and distributed, in mode auto. At any time, by one thread at a time.
  static void send_messages(bool on) noexcept;
  /// Ends a window of mode auto, in which `tasks` began within `ns`: moves to the mode of the next one, and
  /// notes a decision where the better mode has changed. By one thread at a time.
  static void end_window(mode_chooser &chooser, std::uint64_t tasks, std::uint64_t ns) noexcept;

 private:
  [[nodiscard]] bool is_central() const noexcept;
  void run_auto();
  [[nodiscard]] bool push(thread_context &e, message_queue<request> &queue, request wish) noexcept;
  void wake() noexcept;
  void apply(outbox &box, request wish, ready_list &ready) noexcept;
  [[nodiscard]] std::size_t sum(std::size_t (*of)(const outbox &)) const noexcept;
  unsigned serve(outbox &box, unsigned most, std::size_t &made);
  unsigned serve_ends(outbox &box, unsigned most, std::size_t &made);
  unsigned enter_own(outbox &box, std::size_t wanted);
  unsigned serve_own(thread_context &e);
  void apply_own_ends(thread_context &e);
  void delete_sent(outbox &box, task &t);
  bool serve_all(thread_context &e);
  [[nodiscard]] bool is_asked(const thread_context &e) const noexcept;
  [[nodiscard]] bool has_enough(std::size_t made) const noexcept;
  void run();

  const manage_kind m_mode;
  const bool m_forced;
  // Knobs: any thread may change them, and a manager may go on for a while by an old value.
  std::atomic<unsigned> m_max_managers; // 0: any number
  std::atomic<unsigned> m_max_spins;
  std::atomic<unsigned> m_max_ops;
  std::atomic<std::size_t> m_min_ready;
  std::atomic<std::size_t> m_backlog;
  std::atomic<std::uint64_t> m_spin_ns;
  const std::vector<unsigned> m_chosen; // empty: all
  std::vector<std::atomic<outbox *>> m_outboxes;
  std::atomic<unsigned> m_used{0};
  alignas(k_apart) std::atomic<std::uint32_t> m_inside{0};
  sibling_policy m_siblings; // of a central manager
  eventcount<> m_bell{1};
  thread m_thread;
  std::atomic<bool> m_has_thread{false};
  std::atomic<bool> m_stopping{false};
};

/// Returns the workers that may manage, by setting manage.workers; an empty list means all of them.
/// Throws weft::error if no worker matches.
std::vector<unsigned> choose_managers(const settings &chosen, const machine &host,
                                      unsigned workers);

/// Makes `all` the managers of the process, before any task. From now on workers post as their mode
/// says.
void set_managers(managers &all, const settings &chosen) noexcept;

} // namespace rt
} // namespace weft::inline v0
