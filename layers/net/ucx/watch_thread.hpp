// SPDX-License-Identifier: Apache-2.0
// A thread that looks after the network while no other thread does: other ranks' gets and puts go on
// while all workers compute, and losses are seen. It sleeps until the network wakes it.
#pragma once

#include <weft/net/transport.hpp>

#include <atomic>
#include <cstdint>
#include <thread>

namespace weft_net_ucx {

class watch_thread {
 public:
  watch_thread() = default;
  watch_thread(const watch_thread &) = delete;
  watch_thread &operator=(const watch_thread &) = delete;
  ~watch_thread() { stop(); }

  /// Takes the descriptor that the network makes readable. Errors. out_of_resources.
  void prepare(int wakes);
  /// Starts the thread. Returns whether it did: without resources for it, the polling service alone
  /// makes progress.
  [[nodiscard]] bool start(weft::net::engine_events &to) noexcept;
  /// Ends the thread, and waits for that.
  void stop() noexcept;

  // From inside:
  void note_progress() noexcept { m_calls.fetch_add(1, std::memory_order_relaxed); }
  /// Returns whether the thread wants to sleep until the network wakes it.
  [[nodiscard]] bool wants_arm() const noexcept {
    return m_wants_arm.load(std::memory_order_relaxed);
  }
  /// Says whether the network will wake it.
  void armed(bool is_armed) noexcept {
    m_is_armed.store(is_armed, std::memory_order_relaxed);
    m_wants_arm.store(false, std::memory_order_relaxed);
  }

 private:
  void run(weft::net::engine_events &to) noexcept;
  bool sleep(bool until_woken, int milliseconds) const noexcept;

  int m_wakes = -1; // of UCX
  int m_stops = -1; // an eventfd: the thread is to end
  std::thread m_thread;
  std::atomic<std::uint64_t> m_calls{0}; // of progress(), ever
  std::atomic<bool> m_wants_arm{false}, m_is_armed{false};
};

} // namespace weft_net_ucx
