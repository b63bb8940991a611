// SPDX-License-Identifier: Apache-2.0
// A task-aware library that works as published ones do:
// - It finds every function by dlsym() in the running process.
// - One task polls.
// - Each CPU has an array element that a task writes without a lock.
// - The library waits for the end of polling where a program would end its use of MPI.
#include "probe.hpp"

#include <atomic>
#include <dlfcn.h>
#include <mutex>
#include <unistd.h>
#include <vector>

namespace {

struct functions {
#define FUNCTION(name) decltype(&::name) name = nullptr;
#define FUNCTIONS                                                                                  \
  FUNCTION(alpi_error_string)                                                                      \
  FUNCTION(alpi_info_get)                                                                          \
  FUNCTION(alpi_feature_check)                                                                     \
  FUNCTION(alpi_version_check)                                                                     \
  FUNCTION(alpi_version_get)                                                                       \
  FUNCTION(alpi_task_self)                                                                         \
  FUNCTION(alpi_task_block)                                                                        \
  FUNCTION(alpi_task_unblock)                                                                      \
  FUNCTION(alpi_task_waitfor_ns)                                                                   \
  FUNCTION(alpi_task_events_increase)                                                              \
  FUNCTION(alpi_task_events_test)                                                                  \
  FUNCTION(alpi_task_events_decrease)                                                              \
  FUNCTION(alpi_attr_create)                                                                       \
  FUNCTION(alpi_attr_destroy)                                                                      \
  FUNCTION(alpi_attr_init)                                                                         \
  FUNCTION(alpi_attr_size)                                                                         \
  FUNCTION(alpi_task_spawn)                                                                        \
  FUNCTION(alpi_cpu_count)                                                                         \
  FUNCTION(alpi_cpu_logical_id)                                                                    \
  FUNCTION(alpi_cpu_system_id)                                                                     \
  FUNCTION(alpi_task_suspend_mode_set)                                                             \
  FUNCTION(alpi_task_suspend)
  FUNCTIONS
#undef FUNCTION
} f;

const char *resolve() {
#define FUNCTION(name)                                                                             \
  if (f.name = reinterpret_cast<decltype(f.name)>(dlsym(RTLD_DEFAULT, #name)); !f.name)            \
    return #name;
  FUNCTIONS
#undef FUNCTION
  return f.alpi_version_check(ALPI_VERSION_MAJOR, 0) ? "a compatible version" : nullptr;
}

struct pending {
  void *request;
  alpi_task *task;
  bool blocks; // else an event
};

std::mutex g_mutex;
std::vector<pending> g_pending; // guarded by the mutex
probe_test_some g_test_some;
std::uint64_t g_period_ns;
bool g_suspends;
std::atomic<bool> g_stop, g_stopped;
std::atomic<int> g_blocks, g_events, g_rounds, g_clashes;

/// Holds the data of a library per CPU, which tasks write without a lock.
struct alignas(64) place_of_cpu {
  std::atomic<bool> in_use{false};
};
std::vector<place_of_cpu> *g_places;

/// Makes one element per CPU. False: there are more numbers than the machine has CPUs, and a
/// library has no space for these.
bool make_places() {
  std::uint64_t count = 0;
  if (f.alpi_cpu_count(&count) || count > static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_CONF)))
    return false;
  static std::vector<place_of_cpu> places(count);
  g_places = &places;
  return true;
}

int use_place() {
  std::uint64_t cpu = 0;
  if (const int failed = f.alpi_cpu_logical_id(&cpu))
    return failed;
  if (cpu >= g_places->size())
    return ALPI_ERR_UNKNOWN;
  place_of_cpu &mine = (*g_places)[cpu];
  g_clashes += mine.in_use.exchange(true);
  for (int i = 0; i != 500; ++i)
    __asm__ volatile("" ::: "memory");
  mine.in_use = false;
  return ALPI_SUCCESS;
}

void poll_once() {
  ++g_rounds;
  std::vector<pending> ready;
  {
    const std::lock_guard guard(g_mutex);
    std::vector<void *> requests;
    for (const pending &p : g_pending)
      requests.push_back(p.request);
    std::vector<int> done(requests.size());
    const int count = requests.empty() ? 0
                                       : g_test_some(static_cast<int>(requests.size()),
                                                     requests.data(), done.data());
    for (int i = 0; i < count; ++i) {
      pending &p = g_pending[static_cast<std::size_t>(done[static_cast<std::size_t>(i)])];
      ready.push_back(p);
      p.request = nullptr;
    }
    std::erase_if(g_pending, [](const pending &p) { return !p.request; });
  }
  for (const pending &p : ready)
    p.blocks ? f.alpi_task_unblock(p.task) : f.alpi_task_events_decrease(p.task, 1);
}

void poll(void *) {
  alpi_task *self = nullptr;
  f.alpi_task_self(&self);
  if (g_suspends) {
    poll_once();
    if (g_stop)
      return;
    f.alpi_task_suspend_mode_set(self, ALPI_SUSPEND_TIMEOUT_SUBMIT, g_period_ns);
    f.alpi_task_suspend(self);
    return;
  }
  while (!g_stop) {
    poll_once();
    f.alpi_task_waitfor_ns(g_period_ns, nullptr);
  }
}

bool start(probe_test_some test_some, std::uint64_t period_ns, bool suspends) {
  g_test_some = test_some;
  g_period_ns = period_ns;
  g_suspends = suspends;
  g_stop = g_stopped = false;
  g_blocks = g_events = g_rounds = g_clashes = 0;
  return make_places() && f.alpi_task_spawn(
                              &poll, nullptr, [](void *) { g_stopped = true; }, nullptr, "polling",
                              nullptr) == ALPI_SUCCESS;
}

bool stop() {
  g_stop = true;
  while (!g_stopped)
    if (f.alpi_task_waitfor_ns(100'000, nullptr))
      return false;
  return true;
}

int enter(void *request, bool blocks) {
  alpi_task *self = nullptr;
  if (int failed = f.alpi_task_self(&self))
    return failed;
  if (!self)
    return ALPI_ERR_OUTSIDE_TASK;
  if (!blocks)
    if (int failed = f.alpi_task_events_increase(self, 1))
      return failed;
  if (int failed = use_place())
    return failed;
  {
    const std::lock_guard guard(g_mutex);
    g_pending.push_back({request, self, blocks});
  }
  ++(blocks ? g_blocks : g_events);
  return blocks ? f.alpi_task_block(self) : ALPI_SUCCESS;
}

int wait(void *request) { return enter(request, true); }
int bind(void *request) { return enter(request, false); }

int clashes() { return g_clashes; }

void counts(int *blocks, int *events, int *rounds) {
  *blocks = g_blocks;
  *events = g_events;
  *rounds = g_rounds;
}

} // namespace

const probe_library *probe() {
  static const probe_library library{&resolve, &start, &stop, &wait, &bind, &counts, &clashes};
  return &library;
}
