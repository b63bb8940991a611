// SPDX-License-Identifier: Apache-2.0
// Spare workers: threads that stand in for workers whose tasks block their thread. They are workers like any other but for their
// end: when a spare is not needed any more, or has found nothing to run for a while, it continues its thread's own stack and parks
// there; after a longer while the thread ends.
//
// Roles: the watcher's thread adds, retires and recalls; each spare parks and ends itself; who stops the runtime ends them all.
// Word: seat, see spare_seat.hpp; g_ask. Orders: O4 the function that asks, release; acquire: what it uses is there.
// Progress: the spare parks at its next scheduling point. Reclamation: none; a slot that was a spare's stays one.
// Checked by: tests/unit/worker/spares_test.cpp, bursts_test.cpp.
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
  spare_seat<> seat;
  worker *is = nullptr;
  spare_pool *pool = nullptr;
};

/// How a thread that keeps others waiting is asked to let go, which returns false where it cannot hear; null: nobody is asked. Of layers.
void set_preempt(bool (*ask)(int tid)) noexcept;
[[nodiscard]] bool can_preempt() noexcept;
/// Threads of the program that layers have told of.
[[nodiscard]] external_list<layer::external_thread> &known_external_threads() noexcept;
/// Of them, those that are suspended. A hint.
[[nodiscard]] std::atomic<unsigned> &suspended_external_threads() noexcept;

/// How long a spare that has nothing to do is kept.
[[nodiscard]] inline std::uint64_t kept_ns(const settings &cfg) noexcept { return static_cast<std::uint64_t>(cfg.watch_spare_idle.count()) * 1000u; }

/// What the watcher sees of a runtime, and does to it.
class spare_pool final : public watched {
 public:
  spare_pool(runtime &rt, unsigned most) : m_runtime(rt), m_allowed(most > 0) {}

  unsigned slots() const override;
  bool read(unsigned slot, reading &r) const override;
  bool any_worker_searches() const override;
  bool work_waits() const override { return m_allowed && has_work(); }
  bool chores_wait() const override;
  [[nodiscard]] bool has_work() const;
  std::uint64_t cpu_ns(int tid) const override;
  bool sleeps(int tid) const override;
  thread_wait waits_for(int tid) const override;
  lock_holder holder(const thread_wait &lock) const override;
  void publish() override;
  unsigned spares() const override { return m_running.load(std::memory_order_relaxed); } // a count; orders nothing
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
  void answer() override;

  /// A spare's own thread, when it has found nothing to run: true, it must continue its thread's own stack. False: the watcher was
  /// faster, and it will find that stack ready.
  [[nodiscard]] bool leaves(spare &s) noexcept;
  /// How many threads have been started.
  [[nodiscard]] std::uint64_t started() const noexcept { return m_started.load(std::memory_order_relaxed); } // a hint

  /// When the watcher has ended.
  void stop();

 private:
  [[nodiscard]] bool add(spare &s);
  [[nodiscard]] bool recall(spare &s);
  [[nodiscard]] bool start_thread(spare &s);
  [[nodiscard]] bool recruit();
  void main(spare &s) noexcept;
  [[nodiscard]] bool stand_in(spare &s) noexcept;
  [[nodiscard]] bool park(spare &s) noexcept;

  runtime &m_runtime;
  const bool m_allowed; // else nobody minds who is stuck
  std::vector<std::unique_ptr<spare>> m_all; // of the watcher's thread
  std::atomic<unsigned> m_running{0};
  std::atomic<std::uint64_t> m_started{0};
  std::atomic<std::uint64_t> m_failed_at{0};
};

} // namespace rt
} // namespace weft::inline v0
