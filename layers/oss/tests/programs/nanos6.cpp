// SPDX-License-Identifier: Apache-2.0
// The calls of <nanos6.h>: blocking, events, spawning, polling, locks, the machine.
#include "check.hpp"

#include <nanos6.h>
#include <nanos6/debug.h>
#include <nodes.h>

#include <atomic>

static void blocking() {
  std::atomic<void *> context = nullptr;
  int x = 0, seen = 0;
#pragma oss task out(x) shared(context)
  {
    void *const mine = nanos6_get_current_blocking_context();
    context = mine;
    nanos6_block_current_task(mine);
    x = 5;
  }
#pragma oss task in(x)shared(seen)
  seen = x;
#pragma oss task shared(context, seen)
  {
    while (!context) {
#pragma oss taskyield
    }
    CHECK(seen == 0);
    nanos6_unblock_task(context);
  }
#pragma oss taskwait
  CHECK(seen == 5);
#pragma oss task
  CHECK(nanos6_wait_for(2000) >= 2000);
#pragma oss taskwait
}

static void events() {
  int x = 0, seen = 0;
  std::atomic<void *> counter = nullptr;
#pragma oss task out(x) shared(counter)
  {
    void *const mine = nanos6_get_current_event_counter();
    nanos6_increase_current_task_event_counter(mine, 3);
    nanos6_increase_current_task_event_counter(mine, 0);
    counter = mine;
  }
#pragma oss task in(x)shared(seen)
  seen = x;
#pragma oss task shared(counter, x, seen)
  {
    while (!counter) {
#pragma oss taskyield
    }
    nanos6_decrease_task_event_counter(counter, 0);
    nanos6_decrease_task_event_counter(counter, 1);
    be_late();
    CHECK(seen == 0);
    x = 7;
    nanos6_decrease_task_event_counter(counter, 2);
  }
#pragma oss taskwait
  CHECK(seen == 7);
}

struct spawned {
  std::atomic<int> ran = 0, over = 0;
};
static void spawning() {
  spawned s;
  for (int i = 0; i < 10; ++i)
    nanos6_spawn_function(
        [](void *p) {
          auto *const mine = static_cast<spawned *>(p);
#pragma oss task
          {
            be_late();
            ++mine->ran;
          }
        },
        &s,
        [](void *p) {
          CHECK(static_cast<spawned *>(p)->ran > 0);
          ++static_cast<spawned *>(p)->over;
        },
        &s, "spawned");
  while (s.over < 10) {
#pragma oss taskyield
  }
  CHECK(s.ran == 10);
  nanos6_spawn_function([](void *p) { ++static_cast<spawned *>(p)->over; }, &s, nullptr, nullptr,
                        nullptr);
  while (s.over < 11) {
#pragma oss taskyield
  }
}

static std::atomic<int> g_calls[3];
static int three_times(void *data) { return ++*static_cast<std::atomic<int> *>(data) == 3; }
static int for_ever(void *data) {
  ++*static_cast<std::atomic<int> *>(data);
  return 0;
}
static void wait_for_calls(int service, int calls) {
  while (g_calls[service] < calls)
    nanos6_wait_for(100);
}
static void polling() {
  nanos6_register_polling_service("three", three_times, &g_calls[0]);
  nanos6_register_polling_service("ever", for_ever, &g_calls[1]);
  nanos6_register_polling_service("ever", for_ever, &g_calls[2]);
  wait_for_calls(0, 3);
  wait_for_calls(1, 5);
  nanos6_unregister_polling_service("ever", for_ever, &g_calls[1]);
  const int last = g_calls[1], other = g_calls[2];
  wait_for_calls(2, other + 5);
  CHECK(g_calls[1] == last && g_calls[0] == 3);
  nanos6_unregister_polling_service("ever", for_ever, &g_calls[2]);
  // It may come again, and one that is not there is no error.
  nanos6_unregister_polling_service("ever", for_ever, &g_calls[2]);
  g_calls[0] = 0;
  nanos6_register_polling_service("three", three_times, &g_calls[0]);
  wait_for_calls(0, 3);
}

static void locks() {
  static void *lock = nullptr; // Nanos6 has no call that frees one
  int n = 0;
  for (int i = 0; i < 100; ++i) {
#pragma oss task shared(lock, n)
    {
      nanos6_user_lock(&lock, "here");
      const int old = n;
      if (i % 25 == 0)
        be_late();
      n = old + 1;
      nanos6_user_unlock(&lock);
    }
  }
#pragma oss taskwait
  CHECK(n == 100 && lock != nullptr);
}

int main() {
  nanos6_wait_for_full_initialization();
  CHECK(nanos6_get_num_cpus() >= 1);
#pragma oss task
  {
    CHECK(nanos6_get_current_virtual_cpu() < nanos6_get_num_cpus());
    CHECK(nanos6_get_current_system_cpu() >= 0 && !nanos6_in_final());
  }
#pragma oss task final(true)
  CHECK(nanos6_in_final());
#pragma oss taskwait
  CHECK(nanos6_get_runtime_version()[0] != '\0');
  blocking();
  events();
  spawning();
  polling();
  locks();
}
