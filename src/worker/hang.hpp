// SPDX-License-Identifier: Apache-2.0
// Programs that hang because everybody waits: found when nothing has run for a while, and said on standard error.
#pragma once

#include <atomic>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Keeps workers that are asleep from going on for as long as somebody looks at what they have left.
//
// Roles: the watcher closes and opens; a worker passes on its way out of its sleep. Word: m_closed, also what those who must wait sleep on.
// Invariants: I1 a worker that is still announced in the eventcount after close() does not leave pass() before open().
// Orders: O1 m_closed store, then P::heavy_barrier, with the worker's end of its announcement and then its load: either the watcher sees
//   that it is awake, or it sees the gate closed. O2 open, release, with the load of who waits, acquire: nothing is looked at any more.
// Progress: blocking. Checked by: tests/unit/worker/hang_test.cpp.
class sleep_gate {
public:
  void close() noexcept;
  void open() noexcept;
  void pass() noexcept {
    if (m_closed.load(std::memory_order_acquire)) [[unlikely]] // O1, O2
      wait();
  }

private:
  void wait() noexcept;
  std::atomic<std::uint32_t> m_closed{0};
};

class hang_check {
public:
  explicit hang_check(runtime &rt) : m_runtime(rt) {}
  /// The watcher's thread: reports when nothing can ever go on.
  void examine();
  [[nodiscard]] std::uint64_t examinations() const noexcept { return m_examinations.load(std::memory_order_relaxed); } // a hint

private:
  [[nodiscard]] bool nothing_is_pending() const;
  [[nodiscard]] bool all_sleep() const;
  [[nodiscard]] bool others_may_act() const;
  [[nodiscard]] std::uint64_t progress() const;
  void look();

  runtime &m_runtime;
  std::uint64_t m_reported = 0; // at this progress
  std::atomic<std::uint64_t> m_examinations{0};
};

} // namespace rt
} // namespace weft::inline v0
