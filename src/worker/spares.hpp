// SPDX-License-Identifier: Apache-2.0
// Spare workers: threads that stand in for workers whose tasks block their thread.
// They are workers like any other but for their end. A spare that is not needed any more, or that
// has found nothing to run for a while, continues its thread's own stack and parks there. After a
// longer while the thread ends.
//
// Roles       Watcher: adds, retires and recalls.
//             Spare: parks and ends itself.
//             Stopper: the thread that stops the runtime; it ends all spares.
// Words       seat, see spare_seat.hpp; g_ask.
// Orders      O4  the function that asks, release; acquire: the caller sees what the function uses.
// Progress    The spare parks at its next scheduling point.
// Reclamation None; a slot that was a spare's stays one.
// Checked by  tests/unit/worker/spares_test.cpp, bursts_test.cpp.
#pragma once

#include "config/settings.hpp"
#include "monitor/stall_detector.hpp"
#include "os/thread.hpp"
#include "worker/spare_seat.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct worker;
class runtime;
class spare_pool;

struct spare {
  worker *is = nullptr; // its seat says whether it works
  spare_pool *pool = nullptr;
};

/// Sets the function that asks a thread which keeps others waiting to let go. It returns false if
/// the thread cannot hear it; null: no thread is asked. For layers.
void set_preempt(bool (*ask)(int tid)) noexcept;
[[nodiscard]] bool can_preempt() noexcept;
/// Returns the program's threads that layers have registered.
[[nodiscard]] external_list<layer::external_thread> &known_external_threads() noexcept;
/// Returns the number of these threads that are suspended. A hint.
[[nodiscard]] std::atomic<unsigned> &suspended_external_threads() noexcept;

/// Returns how long a spare that has nothing to do is kept.
[[nodiscard]] inline std::uint64_t kept_ns(const settings &cfg) noexcept {
  return static_cast<std::uint64_t>(cfg.watch_spare_idle.count()) * 1000u;
}

/// Shows the watcher a runtime, and changes it for the watcher.
class spare_pool final : public watched {
 public:
  spare_pool(runtime &rt, unsigned most) : m_runtime(rt), m_allowed(most > 0) {}

  unsigned slots() const override;
  bool read(unsigned slot, reading &seen) const override;
  bool any_worker_searches() const override;
  [[nodiscard]] bool any_thread_keeps_to_own() const override;
  bool work_waits() const override { return m_allowed && has_work(); }
  bool chores_wait() const override;
  [[nodiscard]] bool has_work() const;
  std::uint64_t cpu_ns(int tid) const override;
  bool sleeps(int tid) const override;
  thread_wait waits_for(int tid) const override;
  lock_holder holder(const thread_wait &lock) const override;
  void publish() override;
  unsigned spares() const override {
    return m_running.load(std::memory_order_relaxed);
  } // a count; orders nothing
  bool add_spare() override;
  void retire_spare(unsigned slot) override;
  bool can_ask() const override;
  bool ask(int tid) override;
  external_list<layer::external_thread> &external_threads() override;
  unsigned cpus() const override;
  unsigned busy() const override;
  std::uint64_t process_cpu_ns() const override;
  std::uint64_t preemptions() const override;
  bool examine() override;
  bool may_be_asked() const override;
  [[nodiscard]] bool samples() const override;
  void answer() override;
  [[nodiscard]] shared_word bell() const override;

  /// Asks whether a spare that has found nothing to run leaves. Its own thread calls it. True: it
  /// must continue its thread's own stack. False: the watcher was faster, and the spare will find
  /// that stack ready.
  [[nodiscard]] bool leaves(spare &thread) noexcept;
  /// Returns how many threads have been started.
  [[nodiscard]] std::uint64_t started() const noexcept {
    return m_started.load(std::memory_order_relaxed);
  } // a hint

  /// Ends all spares. Called when the watcher has ended. Returns whether all have ended by
  /// `deadline_ns`, as thread::join_by() does.
  [[nodiscard]] bool stop(std::uint64_t deadline_ns);

 private:
  [[nodiscard]] bool add(spare &thread);
  [[nodiscard]] bool recall(spare &thread);
  [[nodiscard]] bool start_thread(spare &thread);
  [[nodiscard]] bool add_one();
  [[nodiscard]] bool recruit();
  void main(spare &thread) noexcept;
  [[nodiscard]] bool stand_in(spare &thread) noexcept;
  [[nodiscard]] bool park(spare &thread) noexcept;

  runtime &m_runtime;
  const bool m_allowed; // false: stuck workers are ignored
  std::vector<std::unique_ptr<spare>> m_all; // of the watcher's thread
  std::atomic<unsigned> m_running{0};
  std::atomic<std::uint64_t> m_started{0};
  std::atomic<std::uint64_t> m_failed_at{0};
};

} // namespace rt
} // namespace weft::inline v0
