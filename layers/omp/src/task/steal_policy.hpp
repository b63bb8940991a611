// SPDX-License-Identifier: Apache-2.0
// The rules by which a member that is idle at a barrier steals tasks that others make.
//
// A task whose body takes less time than its transfer to another cpu is better left to its owner:
// each stolen task also costs
// the owner cache misses. So a thief measures, every few tasks, how long it took to run them:
// - The tasks were long enough: the thief steals all that it can.
// - They were short, and the owner makes or ends tasks meanwhile: the thief abstains from stealing
//   for a while, twice as long
//   each time, up to a 32nd part of its time. One measurement that was worth it ends that.
// - They were short, and the owner does nothing: the thief does not abstain. Such an owner runs a
//   long body, or sleeps.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace weft_omp {

struct steal_clock {
  using nanoseconds = std::int64_t;
  static nanoseconds now() noexcept {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

/// Says whether a thief abstains from stealing for a time when it was unprofitable.
enum class steal_patience : bool { impatient, patient };

/// Decides for one thief. `Owner` has activity(), a number that changes whenever the owner makes or
/// ends a task.
template <class Owner, class Clock = steal_clock>
class basic_steal_policy {
 public:
  static constexpr std::int64_t k_task = 125, k_access = 250; // ns to transfer one to another cpu
  static constexpr std::int64_t k_longest = 250'000; // ns of one abstinence
  static constexpr std::int64_t k_fraction = 32;
  static constexpr unsigned k_few = 8; // tasks from one measurement to the next

  explicit basic_steal_policy(steal_patience patience) noexcept
      : m_patient(patience == steal_patience::patient) {}

  [[nodiscard]] std::uint64_t most_at_once() const noexcept {
    return has_abstained() ? k_few : 2 * k_few;
  }
  /// Notes that the thief has taken tasks of `owner`.
  void took_from(const Owner &owner) noexcept {
    m_owner = &owner;
    m_tasks = m_accesses = 0;
    m_activity = owner.activity();
    m_begin = Clock::now();
  }
  /// Notes that the thief has run a task with so many accesses, which another thread made. True: it
  /// is time for was_unprofitable().
  [[nodiscard]] bool has_run(unsigned accesses) noexcept {
    m_accesses += accesses;
    return ++m_tasks % k_few == 0;
  }
  /// Measures the tasks since the last measurement. True: they were better left to their owner, and
  /// the thief abstains from now on.
  [[nodiscard]] bool was_unprofitable() noexcept {
    if (!m_owner || m_tasks == 0)
      return false;
    const std::int64_t now = Clock::now(), spent = now - std::exchange(m_begin, now);
    const std::int64_t carried = k_task * m_tasks + k_access * m_accesses;
    m_tasks = m_accesses = 0;
    if (spent >= 2 * carried) {
      m_abstinence = 0;
      return false;
    }
    const std::int64_t activity = m_owner->activity();
    if (!m_patient || std::exchange(m_activity, activity) == activity)
      return false;
    m_abstinence = std::clamp(2 * m_abstinence, spent, std::min(k_fraction * spent, k_longest));
    m_until = now + m_abstinence;
    return true;
  }
  [[nodiscard]] bool abstains() noexcept {
    if (m_until != 0 && Clock::now() >= m_until)
      m_until = 0;
    return m_until != 0;
  }
  [[nodiscard]] const Owner *owner() const noexcept { return m_owner; }
  [[nodiscard]] bool has_abstained() const noexcept { return m_abstinence != 0; }

 private:
  const bool m_patient;
  const Owner *m_owner = nullptr; // of the stack that the last tasks were taken from
  std::uint32_t m_tasks = 0, m_accesses = 0; // since the last measurement
  std::int64_t m_activity = 0, m_begin = 0, m_abstinence = 0, m_until = 0;
};

} // namespace weft_omp
