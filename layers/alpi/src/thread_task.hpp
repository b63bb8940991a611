// SPDX-License-Identifier: Apache-2.0
// Represents a thread of the program as a task: the first thread, and each thread that has used
// Weft. The object lives until the thread ends. The end of the thread waits for its events.
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
  /// Takes `n` events away, on any thread; this is the caller's last access to the object. False:
  /// there are fewer events.
  [[nodiscard]] bool decrease(std::uint64_t n) noexcept;
  [[nodiscard]] bool has_events() const noexcept {
    return m_events.load(std::memory_order_acquire) != 0;
  } // O1: what came before the decrease

  const weft::task_ref self;

 private:
  std::atomic<std::uint64_t> m_events{0};
};

/// Returns the calling thread's object, which is made on first use. Throws as weft::task_local
/// does.
thread_task &this_thread_task();

} // namespace weft_alpi
