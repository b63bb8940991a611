// SPDX-License-Identifier: Apache-2.0
// Lets one allocation of a thread fail, or all from one on, keeps the largest one, and counts what is in use. A program includes this in one file.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace test {

inline thread_local long t_before_failure = -1; // allocations; below 0: none fails
inline thread_local bool t_has_failed = false;
inline thread_local bool t_goes_on = false; // all behind it fail, too
inline std::atomic<std::size_t> g_largest{0}; // bytes of an allocation, of all threads
inline std::atomic<std::size_t> g_in_use{0}; // bytes, of all threads
inline std::atomic<std::size_t> g_allocations{0}; // ever, of all threads

/// Lets the allocation behind the next `count` ones of this thread fail, once.
inline void fail_allocation_behind(long count) {
  t_before_failure = count;
  t_has_failed = t_goes_on = false;
}
/// Lets all fail behind the next `count` ones, until has_failed_allocation().
inline void fail_allocations_behind(long count) {
  fail_allocation_behind(count);
  t_goes_on = true;
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
    if (test::t_goes_on)
      test::t_before_failure = 0;
    throw std::bad_alloc();
  }
  std::size_t largest = test::g_largest;
  while (largest < bytes && !test::g_largest.compare_exchange_weak(largest, bytes)) {
  }
  if (void *const p = std::malloc(std::max<std::size_t>(bytes, 1))) {
    test::g_in_use += malloc_usable_size(p);
    ++test::g_allocations;
    return p;
  }
  throw std::bad_alloc();
}
__attribute__((noinline)) void operator delete(void *p) noexcept {
  test::g_in_use -= malloc_usable_size(p);
  std::free(p);
}
__attribute__((noinline)) void operator delete(void *p, std::size_t) noexcept { operator delete(p); }
