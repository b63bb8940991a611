// SPDX-License-Identifier: Apache-2.0
// Finds programs that hang because all tasks wait. Examines when nothing has run for a while, and
// reports on standard error.
#pragma once

#include "park/sleep_gate.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace weft::inline v0 {
namespace rt {

class runtime;
struct seen_externals;
struct settings;

/// Returns how long a worker idles before it asks whether anything can go on.
[[nodiscard]] std::uint64_t hang_patience_ns(const settings &cfg) noexcept;

/// Keeps the calling thread inside the gate while it changes tasks from outside of the workers, for
/// instance makes one ready or takes back its last event. Does nothing on a worker.
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
  /// Reports if nothing can ever go on; on the watcher's thread. Returns true if it must be called
  /// again, because active threads may end or fall asleep without asking.
  [[nodiscard]] bool examine();
  /// Writes a dump of all live tasks for the command `weft dump`, if the command has asked for one;
  /// on the watcher's thread. Stops the workers for a moment.
  void answer() noexcept;
  [[nodiscard]] std::uint64_t examinations() const noexcept {
    return m_examinations.load(std::memory_order_relaxed);
  } // a hint
  /// Returns how many walks of all live tasks found nothing to report, and their time.
  [[nodiscard]] std::uint64_t fruitless_walks() const noexcept {
    return m_fruitless.load(std::memory_order_relaxed);
  } // a hint
  [[nodiscard]] std::uint64_t fruitless_ns() const noexcept {
    return m_fruitless_ns.load(std::memory_order_relaxed);
  } // a hint

 private:
  [[nodiscard]] bool time_may_act() const;
  [[nodiscard]] bool work_is_left() const;
  [[nodiscard]] bool any_thread_active(const seen_externals &externals) const;
  [[nodiscard]] bool others_may_act(const seen_externals &externals) const;
  [[nodiscard]] bool limit_is_over() const;
  [[nodiscard]] bool walk_is_needless(const seen_externals &externals) const;
  void note_quiet();
  void note_fruitless(std::uint64_t walked, std::uint64_t began);
  [[nodiscard]] std::uint64_t progress() const;
  struct sight;
  [[nodiscard]] bool look(std::optional<sight> &seen);
  [[nodiscard]] bool judge(sight &seen);
  [[nodiscard]] bool all_sleep() const;
  void report(sight &seen, bool certain, std::vector<std::size_t> cycle);

  runtime &m_runtime;
  std::uint64_t m_reported = 0; // the progress at the last report
  std::uint64_t m_doubted = 0; // the progress when nothing seemed to go on
  std::map<int, std::uint64_t> m_asleep; // and the threads of layers that slept in the kernel then
  std::uint64_t m_left = 0; // the progress when the last dump was left for the command
  std::uint64_t m_quiet = 0, m_quiet_since = 0; // the last progress, and when it was first seen: ns
  std::uint64_t m_harmless = 0; // the progress when the last walk found nothing to report
  std::uint64_t m_walk_again_at = 0; // ns
  std::set<const void *> m_told; // what is in the circles of reports: for ever
  std::atomic<std::uint64_t> m_examinations{0}, m_fruitless{0}, m_fruitless_ns{0};
};

} // namespace rt
} // namespace weft::inline v0
