// SPDX-License-Identifier: Apache-2.0
// Programs that hang because everybody waits: found when nothing has run for a while, and said on standard error.
#pragma once

#include "park/sleep_gate.hpp"

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

class runtime;
struct settings;

/// How long a worker idles before it asks whether anything can go on.
[[nodiscard]] std::uint64_t hang_patience_ns(const settings &cfg) noexcept;

/// What a thread that is no worker does to tasks (it makes one ready, or takes its last event back), it does inside of the gate.
class gate_guard {
 public:
  gate_guard() noexcept;
  ~gate_guard() {
    if (m_gate)
      m_gate->leave();
  }
  gate_guard(const gate_guard &) = delete;
  gate_guard &operator=(const gate_guard &) = delete;

 private:
  sleep_gate<> *m_gate; // of workers: null
};

class hang_check {
 public:
  explicit hang_check(runtime &rt) : m_runtime(rt) {}
  /// The watcher's thread: reports when nothing can ever go on. True: threads are about that may yet end or fall asleep without asking.
  [[nodiscard]] bool examine();
  /// The watcher's thread: leaves what lives where the command finds it, if that has asked. Stops the workers for a moment.
  void answer() noexcept;
  [[nodiscard]] std::uint64_t examinations() const noexcept { return m_examinations.load(std::memory_order_relaxed); } // a hint

 private:
  [[nodiscard]] bool nothing_is_pending() const;
  [[nodiscard]] bool any_thread_active() const;
  [[nodiscard]] bool others_may_act() const;
  [[nodiscard]] bool limit_is_over() const;
  [[nodiscard]] std::uint64_t progress() const;
  [[nodiscard]] bool look();

  runtime &m_runtime;
  std::uint64_t m_reported = 0; // at this progress
  std::uint64_t m_doubted = 0; // the same, when all seemed to stand still
  std::uint64_t m_left = 0;     // the same: what waits has been left for the command
  std::uint64_t m_left_at = 0;  // ns
  std::atomic<std::uint64_t> m_examinations{0};
};

} // namespace rt
} // namespace weft::inline v0
