// SPDX-License-Identifier: Apache-2.0
// What stands for a thread of the program where a task would: the first thread, and each that has used Weft. It lasts until the thread ends, which waits for its
// events.
#pragma once

#include <weft/block.hpp>

#include <atomic>
#include <cstdint>

namespace weft_alpi {

struct alignas(16) thread_task {
  thread_task() : self(weft::this_task::self()) {}
  ~thread_task();
  thread_task(const thread_task &) = delete;
  thread_task &operator=(const thread_task &) = delete;

  void increase(std::uint64_t n) noexcept { m_events.fetch_add(n, std::memory_order_relaxed); }
  /// Any thread; the last touch of it. False: there are fewer.
  [[nodiscard]] bool decrease(std::uint64_t n) noexcept;
  [[nodiscard]] bool has_events() const noexcept { return m_events.load(std::memory_order_acquire) != 0; } // O1: what came before the decrease

  const weft::task_ref self;

 private:
  std::atomic<std::uint64_t> m_events{0};
};

/// The calling thread's, made on first use. Throws as weft::task_local does.
thread_task &this_thread_task();

} // namespace weft_alpi
