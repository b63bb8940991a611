// SPDX-License-Identifier: Apache-2.0
// Memory, mappings, protections and threads that cannot be had, from the n-th call on or once. The functions are in the
// program and so in the way of every library. Include it in one file of a program; glibc, without sanitizers.
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace test {

enum class call { memory, mapping, protection, thread };
inline constexpr int k_calls = 4;
inline constexpr const char *k_call_names[k_calls] = {"memory", "mapping", "protection", "thread"};

struct failing_calls {
  std::atomic<bool> counting{false};
  std::atomic<bool> ever_after{false};
  std::atomic<long> target[k_calls]{};
  std::atomic<long> count[k_calls]{};

  bool fails(call which) noexcept {
    if (!counting.load(std::memory_order_relaxed))
      return false;
    const auto i = static_cast<std::size_t>(which);
    const long n = count[i].fetch_add(1, std::memory_order_relaxed) + 1;
    const long at = target[i].load(std::memory_order_relaxed);
    return at != 0 && (n == at || (n > at && ever_after.load(std::memory_order_relaxed)));
  }
};
inline constinit failing_calls g_failing{};

/// From now on calls are counted, and the n-th of `which` fails; n = 0: none does.
inline void fail_at(call which, long n, bool ever_after) {
  g_failing.target[static_cast<std::size_t>(which)] = n;
  g_failing.ever_after = ever_after;
  g_failing.counting = true;
}
inline void fail_no_more() { g_failing.counting = false; }

inline long count_of(call which) { return g_failing.count[static_cast<std::size_t>(which)]; }

} // namespace test

extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);

inline void *test_no_memory() {
  errno = ENOMEM;
  return nullptr;
}

void *malloc(std::size_t bytes) {
  return test::g_failing.fails(test::call::memory) ? test_no_memory() : __libc_malloc(bytes);
}
void *calloc(std::size_t n, std::size_t bytes) {
  return test::g_failing.fails(test::call::memory) ? test_no_memory() : __libc_calloc(n, bytes);
}
void *realloc(void *p, std::size_t bytes) {
  return test::g_failing.fails(test::call::memory) ? test_no_memory() : __libc_realloc(p, bytes);
}
void *memalign(std::size_t alignment, std::size_t bytes) {
  return test::g_failing.fails(test::call::memory) ? test_no_memory()
                                                   : __libc_memalign(alignment, bytes);
}
void *aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **to, std::size_t alignment, std::size_t bytes) {
  void *p = memalign(alignment, bytes);
  if (!p)
    return ENOMEM;
  *to = p;
  return 0;
}

void *mmap(void *at, std::size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  if (test::g_failing.fails(test::call::mapping)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void *>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}
int mprotect(void *at, std::size_t bytes, int protection) noexcept {
  if (test::g_failing.fails(test::call::protection)) {
    errno = ENOMEM;
    return -1;
  }
  return static_cast<int>(syscall(SYS_mprotect, at, bytes, protection));
}
int madvise(void *at, std::size_t bytes, int advice) noexcept {
  if (test::g_failing.fails(test::call::protection)) {
    errno = ENOMEM;
    return -1;
  }
  return static_cast<int>(syscall(SYS_madvise, at, bytes, advice));
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument) noexcept {
  using function = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  static const auto real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_create"));
  return test::g_failing.fails(test::call::thread) ? EAGAIN
                                                   : real(thread, attributes, run, argument);
}
}
