// SPDX-License-Identifier: Apache-2.0
// The header in C++: exceptions, destructors, and tasks of Weft beside ULTs.
#include <fast_glt.h>
#include <weft/weft.hpp>

#include "check.h"

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

namespace {
std::atomic<std::size_t> g_largest_allocation{0};
}

void *operator new(std::size_t bytes) {
  std::size_t largest = g_largest_allocation.load(std::memory_order_relaxed);
  while (bytes > largest && !g_largest_allocation.compare_exchange_weak(largest, bytes)) {
  }
  if (void *const p = std::malloc(bytes))
    return p;
  throw std::bad_alloc();
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, std::size_t) noexcept { std::free(p); }

namespace {

struct counts_its_end {
  std::atomic<int> &ends;
  ~counts_its_end() { ++ends; }
};

void leave(void *p) {
  const counts_its_end guard{*static_cast<std::atomic<int> *>(p)};
  try {
    glt_ult_exit();
  } catch (...) {
    ++guard.ends;
    throw; // as it must be
  }
}

void exit_unwinds_the_stack() {
  std::atomic<int> ends{0};
  GLT_ult ult;
  glt_ult_create(leave, &ends, &ult);
  glt_ult_join(&ult);
  CHECK(ends == 2);
}

struct yields_at_its_end {
  std::atomic<int> &ends;
  ~yields_at_its_end() {
    glt_yield();
    ++ends;
  }
};

GLT_key g_yielding_key = nullptr;

void run_until_cancelled(void *p) {
  auto &ends = *static_cast<std::atomic<int> *>(p);
  const yields_at_its_end guard{ends};
  glt_key_set(g_yielding_key, p);
  try {
    ends = 1; // it may be cancelled
    for (;;)
      glt_yield();
  } catch (...) {
    glt_yield();
    ++ends;
    throw;
  }
}

/// Whatever runs at the end of a cancelled ULT may yield: handlers, destructors on its stack, those
/// of its values.
void a_cancelled_ult_ends_once() {
  glt_key_create(
      [](void *value) {
        glt_yield();
        ++*static_cast<std::atomic<int> *>(value);
      },
      &g_yielding_key);
  std::atomic<int> ends{0};
  GLT_ult ult;
  glt_ult_create(run_until_cancelled, &ends, &ult);
  while (ends == 0)
    glt_yield();
  glt_ult_cancel(ult);
  glt_ult_join(&ult);
  CHECK(ends == 4);

  // One that is cancelled as its function ends.
  std::atomic<int> ended{0};
  glt_ult_create(
      [](void *own) {
        glt_key_set(g_yielding_key, own);
        GLT_ult self = nullptr;
        glt_ult_self(&self);
        glt_ult_cancel(self);
      },
      &ended, &ult);
  glt_ult_join(&ult);
  CHECK(ended == 1);
  glt_key_free(&g_yielding_key);
}

/// A ULT that yields while an exception of its own is in flight is cancelled afterwards.
void a_cancelled_ult_is_unwound_by_one_exception() {
  std::atomic<int> ends{0};
  GLT_ult ult;
  glt_ult_create(
      [](void *p) {
        auto &steps = *static_cast<std::atomic<int> *>(p);
        GLT_ult self = nullptr;
        glt_ult_self(&self);
        try {
          const yields_at_its_end guard{steps};
          glt_ult_cancel(self);
          throw 7;
        } catch (int) {
          ++steps;
        }
        glt_yield();
        steps = 100; // not reached
      },
      &ends, &ult);
  glt_ult_join(&ult);
  CHECK(ends == 2);
}

struct shared_state {
  GLT_mutex mutex = nullptr;
  int sum = 0;
  GLT_ult self_of_task = nullptr;
  GLT_tasklet tasklet_of_task = nullptr;
};

void spawn_tasks(void *p) {
  auto &s = *static_cast<shared_state *>(p);
  GLT_ult self = nullptr;
  glt_ult_self(&self);
  CHECK(self);
  for (int i = 0; i < 10; ++i)
    weft::spawn([&s] { // a task waits for what a ULT holds
      glt_mutex_lock(s.mutex);
      ++s.sum;
      glt_yield();
      glt_mutex_unlock(s.mutex);
    });
  weft::join(
      [&] {
        GLT_ult here = nullptr;
        glt_ult_self(&here);
        CHECK(here == self);
      },
      [&] {
        GLT_ult here = nullptr;
        glt_ult_self(&here);
        CHECK(here == self); // also when another worker runs the branch
      });
  weft::taskwait();
}

void tasks_of_weft_take_part() {
  shared_state s;
  glt_mutex_create(&s.mutex);
  std::vector<GLT_ult> ults(10);
  for (GLT_ult &u : ults)
    glt_ult_create(spawn_tasks, &s, &u);
  for (GLT_ult &u : ults)
    glt_ult_join(&u);
  CHECK(s.sum == 100);

  // A task of the program is no ULT. Its values for keys are its own.
  GLT_key key = nullptr;
  glt_key_create([](void *value) { ++*static_cast<int *>(value); }, &key);
  int value = 0;
  weft::spawn([&] {
    glt_ult_self(&s.self_of_task);
    glt_tasklet_self(&s.tasklet_of_task);
    glt_key_set(key, &value);
    GLT_ult child = nullptr;
    glt_ult_create([](void *) {}, nullptr, &child);
    glt_ult_join(&child);
    void *seen = nullptr;
    glt_key_get(key, &seen);
    CHECK(seen == &value);
  });
  weft::taskwait();
  CHECK(!s.self_of_task && !s.tasklet_of_task && value == 1);
  glt_key_free(&key);
  glt_mutex_free(&s.mutex);
}

// As many keys as are in use at a time have room in their owner, not as many as there ever were.
void freed_keys_take_no_room() {
  GLT_key lasting = nullptr;
  int value = 0;
  glt_key_create(nullptr, &lasting);
  glt_key_set(lasting, &value);
  g_largest_allocation = 0;
  for (int i = 0; i < 20'000; ++i) {
    GLT_key key = nullptr;
    glt_key_create(nullptr, &key);
    void *seen = &key;
    glt_key_get(key, &seen);
    CHECK(seen == nullptr);
    glt_key_set(key, &key);
    glt_key_get(key, &seen);
    CHECK(seen == &key);
    glt_key_free(&key);
  }
  CHECK(g_largest_allocation < 64 * 1024);
  void *seen = nullptr;
  glt_key_get(lasting, &seen);
  CHECK(seen == &value);
  glt_key_free(&lasting);
}

void configurations_of_cpp() {
  GLT_sched_config config = nullptr;
  int value = 0;
  const GLT_sched_config_var first = {0, GLT_SCHED_CONFIG_INT};
  CHECK(glt_scheduler_config_create(&config, first, 3, GLT_sched_config_var_end) == GLT_SUCCESS);
  glt_scheduler_config_read(config, 1, &value);
  CHECK(value == 3);
  glt_scheduler_config_free(&config);
}

} // namespace

int main(int argc, char *argv[]) {
  glt_init(argc, argv);
  exit_unwinds_the_stack();
  a_cancelled_ult_ends_once();
  a_cancelled_ult_is_unwound_by_one_exception();
  tasks_of_weft_take_part();
  freed_keys_take_no_room();
  configurations_of_cpp();
  glt_finalize();
  return end_of_checks();
}
