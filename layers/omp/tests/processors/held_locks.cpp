// SPDX-License-Identifier: Apache-2.0
// Threads yield, or wait in OpenMP, while they hold a lock for which the others wait in the kernel.
// The program's own thread does so, too: it can go on only on its kernel thread, where another
// thread may wait by then.
// Other runs: the first thread blocks all signals after some time (DEAF 1); the program installs
// its own handler for SIGURG later (DEAF 2); the program is started with SIGURG ignored.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>

namespace {

constexpr int k_rounds = 20;
pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;

void fail(const char *what, long found) {
  std::fprintf(stderr, "held_locks: %s: %ld\n", what, found);
  std::exit(1);
}

template <class F>
void with_mutex(const char *what, int threads, F while_held) {
  long taken = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < k_rounds; ++i) {
    pthread_mutex_lock(&g_mutex);
    while_held();
    ++taken;
    pthread_mutex_unlock(&g_mutex);
  }
  if (taken != long{threads} * k_rounds)
    fail(what, taken);
}

void task_yield() {
#pragma omp taskyield
}

/// The holder of the mutex waits for an OpenMP lock, which other threads take without the mutex.
void inside_of_a_lock(int threads) {
  static omp_lock_t lock;
  omp_init_lock(&lock);
  long taken = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < k_rounds; ++i) {
    if (omp_get_thread_num() % 2 == 0)
      pthread_mutex_lock(&g_mutex);
    omp_set_lock(&lock);
    if (omp_get_thread_num() % 2 != 0)
      usleep(10);
    ++taken;
    omp_unset_lock(&lock);
    if (omp_get_thread_num() % 2 == 0)
      pthread_mutex_unlock(&g_mutex);
  }
  omp_destroy_lock(&lock);
  if (taken != long{threads} * k_rounds)
    fail("a lock inside of a mutex", taken);
}

/// The first thread holds the mutex and waits for an OpenMP lock. The lock's holder gives the lock
/// back when a third thread waits for the mutex.
/// With two workers the third thread runs on the first one's kernel thread.
void below_the_first_thread() {
  static omp_lock_t lock;
  std::atomic<bool> locked{false}, held{false}, comes{false};
  omp_init_lock(&lock);
#pragma omp parallel num_threads(3)
  switch (omp_get_thread_num()) {
  case 0:
    while (!locked)
      sched_yield();
    pthread_mutex_lock(&g_mutex);
    held = true;
    omp_set_lock(&lock);
    omp_unset_lock(&lock);
    pthread_mutex_unlock(&g_mutex);
    break;
  case 1: {
    const timespec ms{0, 1'000'000};
    omp_set_lock(&lock);
    locked = true;
    while (!comes) {
    }
    clock_nanosleep(CLOCK_MONOTONIC, 0, &ms, nullptr); // lets no other thread run here
    omp_unset_lock(&lock);
    break;
  }
  default:
    while (!held)
      sched_yield();
    comes = true;
    pthread_mutex_lock(&g_mutex);
    pthread_mutex_unlock(&g_mutex);
  }
  omp_destroy_lock(&lock);
}

/// Requires that `once` calls its argument once, on the first thread that comes, and that the
/// others wait for its end.
template <class Once>
void initialised_once(const char *what, int threads, Once once) {
  static std::atomic<int> begun{0}, ended{0};
  begun = ended = 0;
  bool early = false;
#pragma omp parallel num_threads(threads)
  {
    once([] {
      ++begun;
      for (int i = 0; i < 5; ++i) {
        usleep(100);
        sched_yield();
      }
      ++ended;
    });
    if (ended != 1)
      early = true;
  }
  if (early || begun != 1)
    fail(what, begun);
}

std::atomic<void (*)()> g_initialise;
pthread_once_t g_pthread_once[2] = {PTHREAD_ONCE_INIT, PTHREAD_ONCE_INIT};
std::once_flag g_once[2];

template <int Number>
int &of_function() {
  static int value = (g_initialise.load()(), Number);
  return value;
}

void all_once(int threads, int round) {
  initialised_once("pthread_once", threads,
                   [round](void (*f)()) { pthread_once(&g_pthread_once[round], f); });
  initialised_once("call_once", threads,
                   [round](void (*f)()) { std::call_once(g_once[round], f); });
  initialised_once("a static of a function", threads, [round](void (*f)()) {
    g_initialise = f;
    if ((round == 0 ? of_function<0>() : of_function<1>()) != round)
      fail("a static of a function", round);
  });
}

/// Each thread waits for its turn, on a word that only the kernel reads. The thread whose turn it
/// is yields before it passes the turn on.
void semaphores(int threads) {
  static sem_t turns[64];
  for (int i = 0; i < threads; ++i)
    sem_init(&turns[i], 0, i == threads - 1);
  long passed = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < k_rounds; ++i) {
    const int me = omp_get_thread_num();
    sem_wait(&turns[me]);
    ++passed;
    usleep(10);
    sem_post(&turns[(me + threads - 1) % threads]);
  }
  if (passed != long{threads} * k_rounds)
    fail("semaphores", passed);
}

#if defined(DEAF)
void become_deaf() {
#pragma omp parallel
  usleep(10);
  sigset_t all;
  sigfillset(&all);
  if (DEAF == 1)
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
  else
    std::signal(SIGURG, [](int) {});
}
#else
void become_deaf() {}
#endif

} // namespace

int main() {
  const int threads = omp_get_max_threads();
  become_deaf();
  for (int round = 0; round < 2; ++round) { // all must work the second time, too
    with_mutex("usleep", threads, [] { usleep(10); });
    with_mutex("sched_yield", threads, [] { sched_yield(); });
    with_mutex("taskyield", threads, &task_yield);
    with_mutex("critical", threads, [] {
#pragma omp critical
      usleep(10);
    });
    inside_of_a_lock(threads);
    below_the_first_thread();
    all_once(threads, round);
    semaphores(threads);
  }
  std::puts("held_locks: ok");
}
