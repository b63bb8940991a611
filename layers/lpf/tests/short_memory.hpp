// SPDX-License-Identifier: Apache-2.0
// Lets one allocation of a thread fail, and keeps the largest one. A program includes this in one file.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace test {

inline thread_local long t_before_failure = -1; // allocations; below 0: none fails
inline thread_local bool t_has_failed = false;
inline std::atomic<std::size_t> g_largest{0}; // bytes of an allocation, of all threads

/// Lets the allocation behind the next `count` ones of this thread fail, once.
inline void fail_allocation_behind(long count) {
  t_before_failure = count;
  t_has_failed = false;
}
/// Lets none fail any more. Returns whether one has, since fail_allocation_behind().
inline bool has_failed_allocation() {
  t_before_failure = -1;
  return t_has_failed;
}

} // namespace test

// Not inlined: GCC 12 takes a free() of memory from operator new for a mistake.
__attribute__((noinline)) void *operator new(std::size_t bytes) {
  if (test::t_before_failure >= 0 && test::t_before_failure-- == 0) {
    test::t_has_failed = true;
    throw std::bad_alloc();
  }
  std::size_t largest = test::g_largest;
  while (largest < bytes && !test::g_largest.compare_exchange_weak(largest, bytes)) {
  }
  if (void *const p = std::malloc(std::max<std::size_t>(bytes, 1)))
    return p;
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void *p) noexcept { std::free(p); }
__attribute__((noinline)) void operator delete(void *p, std::size_t) noexcept { std::free(p); }
