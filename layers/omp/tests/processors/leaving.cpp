/* SPDX-License-Identifier: Apache-2.0
   leaving [THREADS], or as many as LEAVING says: threads of the program use OpenMP and end, a few
   at a time. Later threads use what their teams had: memory, mappings and kernel threads stay as
   they are after the first ones.
   The members of a thread's teams end with the thread, as they do in GCC's runtime: their variables
   are destroyed, and those of the next thread's members have their initial values. */
#include "../footprint.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <pthread.h>
#include <unistd.h>

extern "C" int omp_get_thread_num(void);
extern "C" int omp_get_num_threads(void);
extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int);
extern "C" void omp_set_max_active_levels(int);

#if !defined(LEAVING)
#define LEAVING 2000
#endif

namespace {

void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "leaving: %s\n", what);
  std::_Exit(1);
}

std::atomic<long> g_made{0}, g_destroyed{0}, g_set{0}, g_freed{0};

struct object {
  object() { g_made.fetch_add(1); }
  ~object() {
    g_destroyed.fetch_add(1);
    delete[] room;
  }
  char *room = new char[300];
};
thread_local object t_object;
thread_local int t_value = 5;
int g_private = 5;
#pragma omp threadprivate(g_private)
pthread_key_t g_key;

constexpr int k_members = 3;

/// Runs two regions of one size, with nothing between them that could change the team.
void look_at_variables() {
#pragma omp parallel num_threads(k_members)
  {
    require(t_value == 5 && g_private == 5,
            "variables of a new thread's members have their initial values");
    t_value = g_private = 6 + omp_get_thread_num();
    t_object.room[0] = 1;
    require(!pthread_getspecific(g_key), "a new thread has no data of its own");
    require(pthread_setspecific(g_key, new int(3)) == 0, "pthread_setspecific");
    g_set.fetch_add(1);
  }
#pragma omp parallel num_threads(k_members)
  require(t_value == 6 + omp_get_thread_num() && g_private == t_value,
          "variables last from one region to the next");
}

long sum_of_region() {
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(k_members)
  for (int i = 0; i < 100; ++i)
    sum += i;
  return sum;
}

void nested() {
  omp_set_max_active_levels(2);
  std::atomic<int> inner{0};
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
  inner.fetch_add(1);
  require(inner == 4, "nested regions");
}

void tasks() {
  int chain = 0, done = 0;
#pragma omp parallel num_threads(k_members)
#pragma omp single
  for (int i = 0; i < 20; ++i) {
#pragma omp task depend(inout : chain) shared(chain)
    ++chain;
#pragma omp task shared(done)
#pragma omp atomic
    ++done;
  }
  require(chain == 20 && done == 20, "tasks");
#pragma omp task shared(done)
  ++done;
#pragma omp taskwait
  require(done == 21, "a task outside of a region");
}

void errors() {
  int caught = 0;
#pragma omp parallel num_threads(k_members) reduction(+ : caught)
  try {
    throw std::runtime_error(std::to_string(omp_get_thread_num()));
  } catch (const std::exception &e) {
    caught += e.what() == std::to_string(omp_get_thread_num());
  }
  require(caught == k_members, "exceptions");
  int after = 0;
#pragma omp parallel num_threads(k_members) shared(after)
  {
#pragma omp cancel parallel
#pragma omp barrier
#pragma omp atomic
    ++after;
  }
  require(after == 0, "a cancelled region");
}

void settings() {
  omp_set_num_threads(2);
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  ++threads;
  require(threads == 2 && omp_get_max_threads() == 2, "settings of the thread");
  pthread_exit(nullptr);
}

struct late {
  bool wanted = false;
  ~late() {
    if (wanted)
      require(sum_of_region() == 4950, "a region in a destructor of the thread");
  }
};
thread_local late t_late;

void *live(void *p) {
  const int kind = static_cast<int>(reinterpret_cast<std::size_t>(p) % 6);
  static const int usual = omp_get_max_threads();
  require(omp_get_max_threads() == usual, "settings of another thread are forgotten");
  look_at_variables();
  if (kind == 0)
    require(sum_of_region() == 4950, "a region");
  else if (kind == 1)
    nested();
  else if (kind == 2)
    tasks();
  else if (kind == 3)
    errors();
  else if (kind == 4)
    settings();
  else
    t_late.wanted = true;
  return nullptr;
}

void live_and_leave(long threads) {
  constexpr int k_at_once = 4;
  for (long begun = 0; begun < threads;) {
    pthread_t all[k_at_once];
    int n = 0;
    for (; n < k_at_once && begun < threads; ++n, ++begun)
      require(pthread_create(&all[n], nullptr, &live, reinterpret_cast<void *>(begun)) == 0,
              "pthread_create");
    for (int i = 0; i < n; ++i)
      require(pthread_join(all[i], nullptr) == 0, "pthread_join");
  }
  while (g_destroyed != g_made ||
         g_freed != g_set) // members end on their own; there may be no worker but this thread
    require(sum_of_region() == 4950, "a region of the first thread");
}

} // namespace

int main(int argc, char **argv) {
  const long threads = argc > 1 ? std::atol(argv[1]) : LEAVING;
  require(pthread_key_create(&g_key,
                             [](void *p) {
                               delete static_cast<int *>(p);
                               g_freed.fetch_add(1);
                             }) == 0,
          "pthread_key_create");
  live_and_leave(threads /
                 2); // as many threads at once as there ever are: the first ones take memory
  const footprint before = look("leaving");
  live_and_leave(threads);
  const footprint after = look("leaving");
  require(after.resident_kib - before.resident_kib < 3 * 1024,
          "resident memory grows with the threads that have ended");
  require(after.heap_kib - before.heap_kib < 1024,
          "the heap grows with the threads that have ended");
  require(after.maps - before.maps < 24 && after.files == before.files,
          "mappings, or files, are left by threads that have ended");
  std::puts("leaving: ok");
}
