// SPDX-License-Identifier: Apache-2.0
// Counters and traces take no memory and no lock where events are: a program asks for either as often with them as without. In each thread, with tasks
// of several kinds, those that suspend among them; with the rings written out or overwritten, with exact time.
#include "support/scale.hpp"

#include <weft/counters.hpp>
#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>

#if !defined(WEFT_TEST_SANITIZED) && defined(__GLIBC__)
#define WEFT_COUNTS_CALLS 1
#endif

namespace {
thread_local bool t_counted = false; // of the thread that spawns and runs
std::atomic<long> g_calls{0};
[[maybe_unused]] void note_call() noexcept { g_calls += t_counted; }
} // namespace

#if WEFT_COUNTS_CALLS
#define FORWARD(result, name, parameters, arguments)                                               \
  result name parameters {                                                                         \
    static const auto real = reinterpret_cast<result(*) parameters>(dlsym(RTLD_NEXT, #name));      \
    note_call();                                                                                   \
    return real arguments;                                                                         \
  }
extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);
void *malloc(std::size_t n) { return note_call(), __libc_malloc(n); }
void *calloc(std::size_t k, std::size_t n) { return note_call(), __libc_calloc(k, n); }
void *realloc(void *p, std::size_t n) { return note_call(), __libc_realloc(p, n); }
void *aligned_alloc(std::size_t a, std::size_t n) { return note_call(), __libc_memalign(a, n); }
FORWARD(void *, mmap, (void *at, std::size_t n, int p, int f, int file, off_t from) noexcept,
        (at, n, p, f, file, from))
FORWARD(int, pthread_mutex_lock, (pthread_mutex_t * m) noexcept, (m))
FORWARD(int, pthread_mutex_trylock, (pthread_mutex_t * m) noexcept, (m))
FORWARD(int, pthread_rwlock_rdlock, (pthread_rwlock_t * l) noexcept, (l))
FORWARD(int, pthread_rwlock_wrlock, (pthread_rwlock_t * l) noexcept, (l))
FORWARD(int, pthread_spin_lock, (pthread_spinlock_t * l) noexcept, (l))
}
#endif

namespace {

weft::counters::counter own("/test/own", "of the test");

/// Each of them blocks until the other one helps.
void spawn_pair(weft::task_ref &blocked) {
  weft::spawn([&blocked] { blocked = weft::this_task::self(), weft::this_task::block(); },
              weft::label("suspends"));
  weft::spawn(
      [&blocked] {
        while (blocked == weft::task_ref{})
          weft::taskyield();
        weft::unblock(std::exchange(blocked, {}));
      },
      weft::label("helps"));
}

/// By a thread that runs them itself.
void run_tasks(int n) {
  int data[4] = {};
  weft::task_ref blocked;
  for (int i = 0; i < n; ++i) {
    weft::spawn([&a = data[i % 4]] { ++a, ++own; }, weft::inout(data[i % 4]),
                weft::in(data[(i + 1) % 4]), weft::label("both"));
    weft::spawn([] {});
    if (i % 16 != 0)
      continue;
    weft::spawn([] { weft::spawn([] {}, weft::label("child")), weft::taskwait(); },
                weft::label("waits"));
    spawn_pair(blocked);
    weft::taskwait();
  }
  weft::taskwait();
}

void count_calls() {
  run_tasks(5000);
  t_counted = true;
  void *volatile control = std::malloc(1); // is counted
  std::free(control);
  run_tasks(20000); // 200,000 records
  t_counted = false;
}

long calls_of_a_program() {
  count_calls();
  std::thread(count_calls).join(); // one that is no worker
  return g_calls;
}

#ifdef WEFT_TEST_EMULATOR
constexpr char k_emulator[] = WEFT_TEST_EMULATOR;
#else
constexpr char k_emulator[] = "";
#endif

[[maybe_unused]] long calls_with(const char *self, const std::string &settings) {
  const std::string command = "WEFT_WORKERS=1 WEFT_WATCH_MAX_SPARES=0 " + settings + " " +
                              k_emulator + " '" + self + "' child";
  std::FILE *out = popen(command.c_str(), "r");
  long calls = -1;
  if (!out || std::fscanf(out, "%ld", &calls) != 1 || pclose(out) != 0)
    return -1;
  return calls;
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::strcmp(argv[1], "child") == 0) {
    std::printf("%ld\n", calls_of_a_program());
    return 0;
  }
#if WEFT_COUNTS_CALLS
  char name[] = "/tmp/weft-quiet-XXXXXX";
  if (!mkdtemp(name))
    return 1;
  const long without = calls_with(argv[0], "WEFT_COUNTERS_TIME=off");
  std::printf("calls for memory and locks: %ld without\n", without);
  bool as_often = without >= 2; // the controls
  for (const char *settings :
       {"WEFT_TRACE_LEVEL=runtime",
        "WEFT_TRACE_LEVEL=runtime WEFT_TRACE_MODE=flight WEFT_TRACE_BUFFER=256KiB",
        "WEFT_COUNTERS_TIME=exact", "WEFT_COUNTERS_TIME=sampled",
        "WEFT_TRACE_LEVEL=switch WEFT_COUNTERS_TIME=exact"}) {
    const long with = calls_with(argv[0], std::string("WEFT_TRACE_DIR=") + name + " " + settings);
    std::printf("%ld with %s\n", with, settings);
    as_often = as_often && with == without;
  }
  std::filesystem::remove_all(name);
  return as_often ? 0 : 1;
#else
  static_cast<void>(argv);
  return 0;
#endif
}
