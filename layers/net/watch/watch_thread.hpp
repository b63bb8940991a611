// SPDX-License-Identifier: Apache-2.0
// A thread of an engine that looks after the network while no other thread does: other ranks' gets and
// puts go on while all workers compute, and losses are seen. It sleeps until the network wakes it, or
// for some of a millisecond where the network has nothing that could.
#pragma once

#include <weft/net/transport.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

namespace weft_net_watch {

class watch_thread {
 public:
  watch_thread() = default;
  watch_thread(const watch_thread &) = delete;
  watch_thread &operator=(const watch_thread &) = delete;
  ~watch_thread() { stop(); }

  /// Takes the descriptor that the network makes readable, -1 for none, and the name of the engine.
  /// Errors. out_of_resources.
  void prepare(int wakes, const char *engine);
  /// Starts the thread. Returns whether it did: without resources for it, the polling service alone
  /// makes progress.
  [[nodiscard]] bool start(weft::net::engine_events &to) noexcept;
  /// Ends the thread, and waits for that.
  void stop() noexcept;

  // From inside:
  void note_progress() noexcept { m_calls.fetch_add(1, std::memory_order_relaxed); }
  /// Says that something has come, so that more may: the thread looks again at once.
  void note_found() noexcept { m_has_found.store(true, std::memory_order_relaxed); }
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
  bool sleep(bool until_woken, std::chrono::nanoseconds most) const noexcept;

  int m_wakes = -1; // of the network
  int m_stops = -1; // an eventfd: the thread is to end
  std::string m_name; // of the thread
  std::thread m_thread;
  std::atomic<std::uint64_t> m_calls{0}; // of progress(), ever
  std::atomic<bool> m_wants_arm{false}, m_is_armed{false}, m_has_found{false};
};

} // namespace weft_net_watch
