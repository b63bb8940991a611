// SPDX-License-Identifier: Apache-2.0
// What the listings of Task-Aware LPF (2023) do, by the C interface. Those of chapter 2 and 3 are programs;
// those of chapter 6 are from inside of the library, and a program here does what each is for.
#include "listings.h"

#include <lpf/core.h>
#include <lpf/pthread.h>
#include <lpf/talpf.h>

#include <weft.h>

#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { k_processes = 3, k_most = 8, k_long = 3 << 20 };

static int g_failures; // atomic

static void expect(int holds) {
  if (!holds)
    __atomic_fetch_add(&g_failures, 1, __ATOMIC_RELAXED);
}
static void good(lpf_err_t code) { expect(code == LPF_SUCCESS); }

static int run(lpf_spmd_t spmd) {
  __atomic_store_n(&g_failures, 0, __ATOMIC_RELAXED);
  good(lpf_exec(LPF_ROOT, k_processes, spmd, LPF_NO_ARGS));
  return __atomic_load_n(&g_failures, __ATOMIC_RELAXED);
}

// Holds what a task of these programs does.
struct step {
  lpf_t ctx;
  lpf_memslot_t from, to;
  lpf_pid_t pid;
  size_t offset, size;
  lpf_sync_attr_t how;
  int *done;
};

static int put_body(void *context) {
  const struct step *const s = context;
  good(talpf_put(s->ctx, s->from, 0, s->pid, s->to, s->offset, s->size, LPF_MSG_DEFAULT));
  return 0;
}
static int get_body(void *context) {
  const struct step *const s = context;
  good(talpf_get(s->ctx, s->pid, s->from, s->offset, s->to, 0, s->size, LPF_MSG_DEFAULT));
  return 0;
}
static int sync_body(void *context) {
  const struct step *const s = context;
  good(talpf_sync(s->ctx, s->how));
  return 0;
}
static int note_body(void *context) {
  const struct step *const s = context;
  __atomic_fetch_add(s->done, 1, __ATOMIC_RELEASE);
  return 0;
}

static void spawn(int (*body)(void *), const struct step *s, const weft_access *list,
                  size_t count) {
  expect(weft_spawn(body, s, sizeof *s, list, count, NULL, NULL) == 0);
}
static void spawn_in(int (*body)(void *), const struct step *s, const void *data) {
  const weft_access list[] = {weft_in(data)};
  spawn(body, s, list, 1);
}
static void spawn_out(int (*body)(void *), const struct step *s, void *data) {
  const weft_access list[] = {weft_inout(data)};
  spawn(body, s, list, 1);
}
static lpf_memslot_t global(lpf_t ctx, void *memory, size_t size) {
  lpf_memslot_t slot = LPF_INVALID_MEMSLOT;
  good(lpf_register_global(ctx, memory, size, &slot));
  return slot;
}

// ---- 2.2: numbers go round a ring by gets, here as tasks

static void ring(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  int numbers[k_most];
  lpf_memslot_t slot;
  const lpf_pid_t next = (pid + 1) % nprocs;
  (void)args;
  for (unsigned i = 0; i != nprocs; ++i)
    numbers[i] = (int)pid;
  slot = global(ctx, numbers, nprocs * sizeof(int));
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
  for (unsigned i = 1; i != nprocs; ++i) {
    const size_t at = (pid + i) % nprocs * sizeof(int);
    good(talpf_get(ctx, next, slot, at, slot, at, sizeof(int), LPF_MSG_DEFAULT));
    good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
  }
  for (unsigned i = 0; i != nprocs; ++i)
    expect(numbers[i] == (int)i);
  good(lpf_deregister(ctx, slot));
}
static int listing_2_2(void) { return run(&ring); }

// ---- 2.1: processes that exist run a function

static void *hook_thread(void *number) {
  lpf_init_t init;
  lpf_args_t args = LPF_NO_ARGS;
  good(lpf_pthread_initialize((lpf_pid_t)(uintptr_t)number, k_processes, &init));
  good(lpf_hook(init, &ring, args));
  good(lpf_pthread_finalize(init));
  return NULL;
}
static int listing_2_1(void) {
  pthread_t threads[k_processes];
  __atomic_store_n(&g_failures, 0, __ATOMIC_RELAXED);
  for (uintptr_t i = 0; i != k_processes; ++i)
    expect(pthread_create(&threads[i], NULL, &hook_thread, (void *)i) == 0);
  for (int i = 0; i != k_processes; ++i)
    pthread_join(threads[i], NULL);
  return __atomic_load_n(&g_failures, __ATOMIC_RELAXED);
}

// ---- 3.1: a task that receives holds the buffer until the data are there; the next one uses it

static int consume_body(void *context) {
  const struct step *const s = context;
  for (int i = 0; i != k_most; ++i)
    expect(s->done[i] == 10 * (int)s->pid + i);
  return 0;
}
static void receive(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  int buffer[k_most] = {0}, source[k_most];
  struct step s = {ctx, 0, 0, (pid + 1) % nprocs, 0, sizeof buffer, 0, buffer};
  (void)args;
  for (int i = 0; i != k_most; ++i)
    source[i] = 10 * (int)pid + i;
  s.to = global(ctx, buffer, sizeof buffer);
  s.from = global(ctx, source, sizeof source);
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
  spawn_out(&get_body, &s, buffer);
  spawn_in(&consume_body, &s, buffer);
  expect(weft_taskwait(NULL) == 0);
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
}
static int listing_3_1(void) { return run(&receive); }

// ---- 6.1 and 6.8: a message holds its task's accesses until it has ended

static void holds(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  uint64_t source = pid, target = 99;
  int done = 0;
  struct step s = {ctx, 0, 0, (pid + 1) % nprocs, 0, sizeof source, 0, &done};
  (void)args;
  s.from = global(ctx, &source, sizeof source);
  s.to = global(ctx, &target, sizeof target);
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
  spawn_in(&put_body, &s, &source);
  spawn_out(&note_body, &s, &source); // behind the put: its source may change
  expect(weft_taskwait(NULL) == 0);
  expect(done == 1);
  source = 77;
  good(talpf_sync(ctx, LPF_SYNC_MSG(1)));
  expect(target == (pid + nprocs - 1) % nprocs);
}
static int listing_6_1(void) { return run(&holds); }

// ---- 6.2: a long message is split, and ends once

static unsigned char g_long[k_processes][2][k_long];

static void split(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  struct step s = {ctx, 0, 0, (pid + 1) % nprocs, 0, k_long, 0, NULL};
  (void)args;
  memset(g_long[pid][0], (int)pid + 1, k_long);
  memset(g_long[pid][1], 0, k_long);
  s.from = global(ctx, g_long[pid][0], k_long);
  s.to = global(ctx, g_long[pid][1], k_long);
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
  spawn_in(&put_body, &s, g_long[pid][0]);
  expect(weft_taskwait(NULL) == 0);
  good(talpf_sync(ctx, LPF_SYNC_MSG(1))); // one message, whatever its parts
  for (size_t i = 0; i != k_long; ++i)
    if (g_long[pid][1][i] != (pid + nprocs - 1) % nprocs + 1) {
      expect(0);
      break;
    }
}
static int listing_6_2(void) { return run(&split); }

// ---- 6.3: a message that cannot be posted is an error, and the caller learns it

static void refused(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  uint64_t word = 0;
  const lpf_memslot_t slot = global(ctx, &word, sizeof word);
  (void)args;
  const lpf_err_t first = talpf_sync(ctx, LPF_SYNC_DEFAULT);
  expect(first == LPF_SUCCESS || pid != 0); // another process may still be in it when process 0 fails
  if (pid == 0)
    expect(talpf_get(ctx, nprocs, slot, 0, slot, 0, sizeof word, LPF_MSG_DEFAULT) == LPF_ERR_FATAL);
  expect(talpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_ERR_FATAL);
}
static void *refused_thread(void *number) {
  lpf_init_t init;
  good(lpf_pthread_initialize((lpf_pid_t)(uintptr_t)number, k_processes, &init));
  expect(lpf_hook(init, &refused, LPF_NO_ARGS) == LPF_ERR_FATAL);
  good(lpf_pthread_finalize(init));
  return NULL;
}
static int listing_6_3(void) {
  __atomic_store_n(&g_failures, 0, __ATOMIC_RELAXED);
  pthread_t threads[k_processes];
  for (uintptr_t i = 0; i != k_processes; ++i) // processes that have seen no failure: after one, lpf_exec() runs no more
    expect(pthread_create(&threads[i], NULL, &refused_thread, (void *)i) == 0);
  for (int i = 0; i != k_processes; ++i)
    expect(pthread_join(threads[i], NULL) == 0);
  return __atomic_load_n(&g_failures, __ATOMIC_RELAXED);
}

// ---- 6.4 and 6.10: while processes exchange what a superstep needs, workers run other tasks

static void exchange(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  static int others; // of all processes
  int done = 0;
  struct step s = {ctx, 0, 0, 0, 0, 0, LPF_SYNC_DEFAULT, &done};
  (void)nprocs;
  (void)args;
  if (pid == 0)
    __atomic_store_n(&others, 0, __ATOMIC_RELAXED);
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
  if (pid != 0) {
    spawn_out(&sync_body, &s, &s);
    s.done = &others;
    spawn_in(&note_body, &s, &done); // another datum: it does not wait
    while (__atomic_load_n(&others, __ATOMIC_ACQUIRE) < k_processes - 1)
      sched_yield();
  } else {
    while (__atomic_load_n(&others, __ATOMIC_ACQUIRE) < k_processes - 1)
      sched_yield(); // it calls its talpf_sync when the other tasks of all have run
    spawn_out(&sync_body, &s, &s);
  }
  expect(weft_taskwait(NULL) == 0);
}
static int listing_6_4(void) { return run(&exchange); }

// ---- 6.5: how the modes get the number of messages

static void modes(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  const lpf_sync_attr_t all[] = {LPF_SYNC_DEFAULT, LPF_SYNC_CACHED,  LPF_SYNC_CACHED,
                                 LPF_SYNC_MSG(2),  LPF_SYNC_DEFAULT, LPF_SYNC_CACHED};
  int halves[2][2] = {{0}}, source[2];
  const lpf_memslot_t to = global(ctx, halves, sizeof halves);
  const lpf_memslot_t from = global(ctx, source, sizeof source);
  (void)args;
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
  for (int i = 0; i != (int)(sizeof all / sizeof all[0]); ++i) {
    const lpf_pid_t next = (pid + 1) % nprocs, last = (pid + nprocs - 1) % nprocs;
    source[0] = source[1] = 100 * i + (int)pid;
    for (size_t j = 0; j != 2; ++j)
      good(talpf_put(ctx, from, j * sizeof(int), next, to, ((size_t)i % 2 * 2 + j) * sizeof(int),
                     sizeof(int), LPF_MSG_DEFAULT));
    good(talpf_sync(ctx, all[i]));
    expect(halves[i % 2][0] == 100 * i + (int)last && halves[i % 2][1] == 100 * i + (int)last);
  }
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
}
static int listing_6_5(void) { return run(&modes); }

// ---- 6.6: a second superstep may begin to end while the first one has not: the source aborts there

static void two(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  int words[4] = {0, 0, (int)pid, (int)pid}, done = 0;
  struct step s = {ctx, 0, 0, (pid + 1) % nprocs, 0, sizeof(int), LPF_SYNC_CACHED, &done};
  const int last = (int)((pid + nprocs - 1) % nprocs);
  (void)args;
  s.from = s.to = global(ctx, words, sizeof words);
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
  for (size_t i = 0; i != 2; ++i) {
    good(talpf_put(ctx, s.from, 2 * sizeof(int), s.pid, s.to, i * sizeof(int), sizeof(int),
                   LPF_MSG_DEFAULT));
    spawn_out(&sync_body, &s, &words[i]); // no order between the ends of the two
    while (talpf_superstep(ctx) != 3 + i) // but between their calls
      sched_yield();
  }
  expect(weft_taskwait(NULL) == 0);
  expect(words[0] == last && words[1] == last);
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
}
static int listing_6_6(void) { return run(&two); }

// ---- 6.7: polling begins and ends with what is awaited, in each context anew

static int listing_6_7(void) {
  int failures = 0;
  for (int i = 0; i != 5; ++i)
    failures += run(&ring);
  return failures;
}

// ---- 6.9: remote ends are counted by superstep, also those that come before its talpf_sync

/// Looks for a message while it may be written, as no program should: only talpf_sync() orders the
/// two. A sanitizer of races must not see it.
__attribute__((noinline, no_sanitize("thread"))) static int has_come(const volatile int *word) {
  return *word != 0;
}

static void early(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  int words[3] = {0, 0, 5};
  const lpf_memslot_t slot = global(ctx, words, sizeof words);
  (void)args;
  (void)nprocs;
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
  for (size_t i = 0; i != 2; ++i) {
    if (pid == 0)
      good(talpf_put(ctx, slot, 2 * sizeof(int), 1, slot, i * sizeof(int), sizeof(int),
                     LPF_MSG_DEFAULT));
    if (pid == 1 && i == 0)
      while (!has_come(&words[0]))
        sched_yield(); // the message is there before the call
    good(talpf_sync(ctx, pid == 1 ? LPF_SYNC_MSG(1) : LPF_SYNC_MSG(0)));
    expect(pid != 1 || words[i] == 5);
  }
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
}
static int listing_6_9(void) { return run(&early); }

// ---- 6.11: a superstep without a barrier ends with its messages, one with a barrier behind all

static int g_called;

static void ends(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  (void)args;
  if (pid == 0)
    __atomic_store_n(&g_called, 0, __ATOMIC_RELAXED);
  good(talpf_sync(ctx, LPF_SYNC_DEFAULT));
  if (pid == 0)
    good(talpf_sync(ctx, LPF_SYNC_MSG(0))); // no other process has called it: it does not wait
  __atomic_fetch_add(&g_called, 1, __ATOMIC_RELEASE);
  if (pid != 0) {
    while (__atomic_load_n(&g_called, __ATOMIC_ACQUIRE) < (int)nprocs)
      sched_yield();
    good(talpf_sync(ctx, LPF_SYNC_MSG(0)));
  }
  __atomic_fetch_add(&g_called, 1, __ATOMIC_RELEASE);
  good(talpf_sync(ctx, LPF_SYNC_MSG(0) | LPF_SYNC_BARRIER));
  expect(__atomic_load_n(&g_called, __ATOMIC_ACQUIRE) == 2 * (int)nprocs);
}
static int listing_6_11(void) { return run(&ends); }

const listing listings[listing_count] = {
    {"2.1 processes that exist", &listing_2_1, 0},
    {"2.2 a ring of gets", &listing_2_2, 0},
    {"3.1 a task receives", &listing_3_1, 0},
    {"6.1 and 6.8 the end of a message", &listing_6_1, 0},
    {"6.2 long messages", &listing_6_2, 0},
    {"6.3 a message that is refused", &listing_6_3, 1},
    {"6.4 and 6.10 the exchange", &listing_6_4, 0},
    {"6.5 modes", &listing_6_5, 0},
    {"6.6 two supersteps", &listing_6_6, 0},
    {"6.7 polling", &listing_6_7, 0},
    {"6.9 remote ends", &listing_6_9, 0},
    {"6.11 barriers", &listing_6_11, 0},
};
