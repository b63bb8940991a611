// SPDX-License-Identifier: Apache-2.0
// Lightweight threads that wait for a word of memory to change, by its address: what a futex is to
// threads of the kernel.
//
// A word's waiters are in the list (wait_list.hpp) that its address chooses. The child of a fork() has
// none of its parent's waiters, and a list's lock may be held there by a thread which is not there: the
// child begins with empty lists (forget_in_child()).
#pragma once

#include <cstdint>

namespace weft_rayon {

enum class outcome {
  woken,
  another_value, ///< the word's value is not the expected one
  time_is_over,
  not_waited, ///< no stack is left to go on with, or Weft has ended: the caller waits in the kernel
};

/// Waits until wake() is called for `word`, unless its value is not `expected`. The caller is a
/// lightweight thread; its worker runs other work meanwhile.
outcome wait(const std::uint32_t *word, std::uint32_t expected) noexcept;
/// Does that for `ns` nanoseconds at most.
outcome wait_for(const std::uint32_t *word, std::uint32_t expected, std::int64_t ns) noexcept;

/// Forgets all waiters, in the child of a fork(): they are the parent's.
void forget_in_child() noexcept;

/// Wakes at most `most` lightweight threads that wait for `word`; returns how many.
long wake(const std::uint32_t *word, long most) noexcept;

} // namespace weft_rayon
