// SPDX-License-Identifier: Apache-2.0
// A thread-local block for a stack that is to have one of its own. The block belongs to a thread,
// the donor, which sleeps as long as the block is donated. docs/design/tls.md says why, and what
// such a block cannot do.
#pragma once

#include <pthread.h>

namespace weft::inline v0 {
namespace rt {

/// Owns one block. It costs a thread: about 60 us and 32 KiB. Keep blocks for reuse; what
/// thread_local variables hold stays in them.
class tls_block {
 public:
  tls_block() noexcept = default;
  tls_block(const tls_block &) = delete;
  tls_block &operator=(const tls_block &) = delete;
  /// Closes the block. Destructors of its thread_local variables run, on the donor. No stack may be
  /// using the block.
  ~tls_block() { close(); }

  /// Starts the donor. Returns zero, or the errno value that says why no thread could be made.
  [[nodiscard]] int open() noexcept;
  void close() noexcept;

  /// Returns the value for context_switch_with_tp(); null while closed.
  [[nodiscard]] void *thread_pointer() const noexcept { return m_thread_pointer; }

 private:
  static void *donate(void *self);

  pthread_t m_donor{};
  void *m_thread_pointer = nullptr; // what follows is guarded by the mutex
  bool m_wanted = false;
  pthread_mutex_t m_mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t m_changed = PTHREAD_COND_INITIALIZER;
};

} // namespace rt
} // namespace weft::inline v0
