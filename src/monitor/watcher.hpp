// SPDX-License-Identifier: Apache-2.0
// The watcher: a thread that keeps stuck workers from stopping the others. It sleeps while a worker
// is without work, or while there is no work for one. Then it is in the eventcount of the idle
// workers, as the last of them: so a thread that adds work for which no worker is free wakes the
// watcher, and pays nothing while the watcher is awake. Awake, the watcher looks every 10 ms, and
// sooner if something is in doubt.
#pragma once

#include "monitor/oversubscription.hpp"
#include "monitor/pace.hpp"
#include "monitor/pool_threads.hpp"
#include "monitor/stall_detector.hpp"
#include "os/thread.hpp"
#include "park/eventcount.hpp"

#include <atomic>
#include <optional>

namespace weft::inline v0 {
namespace rt {

class watcher {
 public:
  /// Creates a watcher without a thread. `seat`: an id of `idle` above those of all workers.
  /// Examinations that may find nothing new are at most `rarest_ns` apart; 0: 64 times
  /// `patience_ns`. `pools`: what pool_thread_policy works on; null: no pool threads are looked for.
  watcher(watched &world, eventcount<> &idle, std::size_t seat, std::uint64_t compute_ns,
          std::uint64_t patience_ns, std::uint64_t rarest_ns = 0,
          pool_thread_world *pools = nullptr)
      : m_world(world), m_stall_detector(world, compute_ns), m_oversubscription(world),
        m_idle(idle), m_seat(seat), m_patience_ns(patience_ns),
        m_rarest_ns(rarest_ns ? rarest_ns : 64 * patience_ns) {
    if (pools)
      m_pool_threads.emplace(*pools);
  }

  /// Starts the thread; returns zero or an errno.
  [[nodiscard]] int start() noexcept;
  void stop();
  [[nodiscard]] bool has_thread() const noexcept {
    return m_has_thread.load(std::memory_order_relaxed);
  } // a number to compare
  /// Makes the watcher's thread call examine() of the world soon. Any thread may call it.
  void examine_soon() noexcept;
  /// Makes the watcher look if it rests. Any thread may call it.
  void look_soon() noexcept;
  /// Makes the watcher look soon, also while it naps. Any thread may call it.
  void pool_threads_have_changed() noexcept;

  [[nodiscard]] std::uint64_t looks() const noexcept {
    return m_looks.load(std::memory_order_relaxed);
  } // hints
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept {
    return m_cpu_ns.load(std::memory_order_relaxed);
  }

 private:
  void run();
  [[nodiscard]] stall_detector::assessment look(std::uint64_t now);
  void rest();
  [[nodiscard]] std::uint64_t end_of_rest() const noexcept;
  void examine_if_asked();
  void nap(std::uint64_t ns);
  void charge(std::uint64_t now, std::uint64_t spent);
  void keep_distance();
  [[nodiscard]] bool is_nudged() const noexcept;
  [[nodiscard]] std::uint64_t pool_pause() const noexcept;
  void look_at_pools_until(std::uint64_t due);
  [[nodiscard]] bool is_stopping() const noexcept;
  [[nodiscard]] std::uint64_t next_nap(const stall_detector::assessment &result, std::uint64_t now);

  watched &m_world;
  stall_detector m_stall_detector;
  oversubscription_policy m_oversubscription;
  std::optional<pool_thread_policy> m_pool_threads;
  pool_thread_policy::assessment m_seen_pools;
  pace m_pace;
  eventcount<> &m_idle;
  const std::size_t m_seat;
  const std::uint64_t m_patience_ns, m_rarest_ns;
  thread m_thread;
  std::atomic<bool> m_has_thread{false};
  std::uint64_t m_oversubscription_rest_ns = 0;
  std::uint64_t m_looked_at = 0, m_charged_at = 0;
  std::int64_t m_nudge_credit = 0; // processor time for looks because of pool threads
  std::uint64_t m_again_ns = 0,
                m_again_at = 0; // examine again: after how long, and when; 0 for not
  static constexpr std::uint32_t k_stops = 1, k_nudged = 2;
  std::atomic<std::uint32_t> m_asked{0}; // the watcher naps on this word, too
  std::atomic<bool> m_examine{false};
  std::atomic<std::uint64_t> m_looks{0};
  std::atomic<std::uint64_t> m_cpu_ns{0};
};

} // namespace rt
} // namespace weft::inline v0
