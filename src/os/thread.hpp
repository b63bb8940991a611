// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <pthread.h>

namespace weft::inline v0 {
namespace rt {

/// Owns a thread of the operating system. It blocks every signal but SEGV, BUS, FPE, ILL and PROF:
/// the program's signals are for the program's threads. It cannot be cancelled.
class thread {
 public:
  using entry = void (*)(void *argument);
  static constexpr std::uint64_t k_no_deadline = ~std::uint64_t{0};

  thread() noexcept = default;
  thread(thread &&other) noexcept;
  thread &operator=(thread &&other) noexcept;
  ~thread();

  /// Starts `run(argument)`. Returns zero, or the errno value that says why no thread could be made
  /// (EAGAIN, ENOMEM, ...). `name` is cut to the kernel's 15 characters. `stack_bytes` is what
  /// `run` may use, beside the program's thread-local data; 0 is the system's default.
  [[nodiscard]] int start(const char *name, entry run, void *argument,
                          std::size_t stack_bytes = 0) noexcept;

  [[nodiscard]] bool joinable() const noexcept { return m_joinable; }
  void join() noexcept;
  /// Joins the thread, if it was not joined before and ends by `deadline_ns` on the clock of
  /// now_ns(); k_no_deadline waits for as long as it takes. Returns whether the thread has ended.
  [[nodiscard]] bool join_by(std::uint64_t deadline_ns) noexcept;

  /// Gives the thread up without joining: for the child of a fork, where it does not exist.
  void forget() noexcept { m_joinable = false; }

 private:
  pthread_t m_handle{};
  bool m_joinable = false;
};

/// Returns the kernel's id of the calling thread.
int this_thread_id() noexcept;
/// Returns whether the caller is inside thread::start(): the thread that is made is Weft's own.
[[nodiscard]] bool makes_own_thread() noexcept;
/// Returns whether the caller runs on a kernel thread that thread::start() has made.
[[nodiscard]] bool on_own_thread() noexcept;
/// Says that the kernel thread is the program's from now on: the child of a fork() has no other one.
void give_to_program() noexcept;

} // namespace rt
} // namespace weft::inline v0
