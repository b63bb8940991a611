// SPDX-License-Identifier: Apache-2.0
// A library that ends its thread before each fork(), and starts it again in parent and child, as
// libraries with a pool do (OpenBLAS). It waits for the end and for the beginning.
#include "joining.h"

#include <atomic>

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

namespace {

pthread_t g_thread;
sem_t g_ends;
std::atomic<int> g_tid{0};

void start() {
  g_tid = 0;
  sem_init(&g_ends, 0, 0);
  pthread_create(
      &g_thread, nullptr,
      [](void *) -> void * {
        g_tid = gettid();
        sem_wait(&g_ends);
        return nullptr;
      },
      nullptr);
  while (g_tid == 0)
    sched_yield();
}

void stop() {
  sem_post(&g_ends);
  pthread_join(g_thread, nullptr);
}

[[gnu::constructor]] void begin() {
  start();
  pthread_atfork(&stop, &start, &start);
}

} // namespace

int joining_tid() { return g_tid; }
