/* SPDX-License-Identifier: Apache-2.0
   Threads are interrupted, and yield, in the middle of their own code: each one sends itself the
   signal that the layer sends to threads that keep others waiting.
   In nested regions of 8 x 8 threads each one must find its threadprivate, thread-local and errno
   values, its pthread_self() and its registers as it left them, on whatever kernel thread it goes
   on. */
#define _GNU_SOURCE
#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

static int kept;
#pragma omp threadprivate(kept)
static __thread int local;
static __thread double reals[8];
static long carriers_changed;

static void require(int good, const char *what) {
  if (!good) {
    fprintf(stderr, "preempted: %s\n", what);
    abort();
  }
}

/* Makes a system call from this program's code, because the layer interrupts no thread in the C
   library's code. */
static inline long call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}
static long interrupt_myself(void) {
  const long before = call(SYS_gettid, 0, 0, 0);
  call(SYS_tgkill, call(SYS_getpid, 0, 0, 0), before, SIGURG);
  return call(SYS_gettid, 0, 0, 0) != before;
}

static void check(int tag, int rounds) {
  const pthread_t me = pthread_self();
  kept = tag;
  local = -tag;
  for (int i = 0; i < 8; ++i)
    reals[i] = tag + i * 0.5;
  double sum = 0;
  long moved = 0;
  for (int r = 0; r < rounds; ++r) {
    errno = tag % 100 + 1;
    if (r % 3 == 0)
      sched_yield();
    else
      moved += interrupt_myself();
    require(errno == tag % 100 + 1, "errno");
    require(kept == tag && local == -tag, "threadprivate and thread_local");
    require(pthread_equal(pthread_self(), me), "pthread_self");
    for (int i = 0; i < 8; ++i)
      sum += reals[i];
  }
  require(sum == rounds * (8.0 * tag + 14.0), "registers");
  __atomic_fetch_add(&carriers_changed, moved, __ATOMIC_RELAXED);
}

int main(void) {
  omp_set_max_active_levels(2);
  for (int round = 0; round < 3; ++round) {
#pragma omp parallel num_threads(8)
    {
      const int outer = omp_get_thread_num();
      check(1000 + outer, 50);
#pragma omp parallel num_threads(8)
      {
        check((outer + 1) * 8 + omp_get_thread_num(), 100);
#pragma omp barrier
        require(kept == (outer + 1) * 8 + omp_get_thread_num(), "over a barrier");
      }
      check(2000 + outer, 50);
    }
  }
  printf("preempted: ok, %s\n",
         carriers_changed ? "some went on elsewhere" : "none went on elsewhere");
  return 0;
}
