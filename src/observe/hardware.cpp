// SPDX-License-Identifier: Apache-2.0
#include "observe/hardware.hpp"

#include "base/clock.hpp"
#include "base/log.hpp"
#include "observe/power.hpp"
#include "observe/store.hpp"
#include "os/thread.hpp"
#include "os/thread_state.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <linux/perf_event.h>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

// A read takes 0.3 us per event and worker: five times per second costs nothing, a hundred times
// would show.
constexpr std::uint64_t k_least_ns = 200'000'000;
std::atomic<std::uint64_t> g_longest_pause_ns{0}; // a number
constexpr char k_off[] = "not counted: set counters.hardware=true";

/// Lists the ways to count an event, from the best to the worst.
enum class way { all, user_only, proc, none };

struct event {
  const char *name;
  std::uint64_t counter_block::*field;
  std::uint32_t type;
  std::uint64_t config;
  std::initializer_list<way>
      ways; // to be tried in this order; the scheduler's events would always be 0 without the kernel's part
  way how = way::none;
};
event g_events[] = {
    {"/hardware/cycles",
     &counter_block::cycles,
     PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_CPU_CYCLES,
     {way::user_only}},
    {"/hardware/instructions",
     &counter_block::instructions,
     PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_INSTRUCTIONS,
     {way::user_only}},
    {"/hardware/cache-misses",
     &counter_block::cache_misses,
     PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_CACHE_MISSES,
     {way::user_only}},
    {"/hardware/branch-misses",
     &counter_block::branch_misses,
     PERF_TYPE_HARDWARE,
     PERF_COUNT_HW_BRANCH_MISSES,
     {way::user_only}},
    {"/hardware/page-faults",
     &counter_block::page_faults,
     PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_PAGE_FAULTS,
     {way::all, way::user_only}},
    {"/hardware/context-switches",
     &counter_block::context_switches,
     PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_CONTEXT_SWITCHES,
     {way::all, way::proc}},
    {"/hardware/migrations",
     &counter_block::migrations,
     PERF_TYPE_SOFTWARE,
     PERF_COUNT_SW_CPU_MIGRATIONS,
     {way::all}},
};
constexpr std::size_t k_events = sizeof g_events / sizeof g_events[0];

struct slot {
  unsigned id;
  counter_block *block;
  int tid = 0;
  int files[k_events];
  std::uint64_t before[k_events]{}; // of threads that were there earlier
};

std::mutex g_lock;
std::vector<std::unique_ptr<slot>> *g_slots =
    nullptr; // guarded by the lock; never freed: threads may come late
/// Holds the meters of the publisher from before main() on, and never destroys them: it may work while the process ends.
union lasting_meters {
  struct {
    std::vector<energy_domain> package, memory;
  } all;
  constexpr lasting_meters() : all() {}
  constexpr ~lasting_meters() {}
};
constinit lasting_meters g_meters;
constexpr auto &g_package = g_meters.all.package, &g_memory = g_meters.all.memory;
hardware_wishes g_wanted;
std::uint64_t g_published = 0;

/// Opens an event of the calling thread.
int open_event(const event &counted, way how) noexcept {
  perf_event_attr a{};
  a.size = sizeof a;
  a.type = counted.type;
  a.config = counted.config;
  a.exclude_kernel = how == way::user_only;
  a.exclude_hv = 1;
  a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string why_not(int failure) {
  if (failure == EACCES || failure == EPERM)
    return "not allowed here: lower kernel.perf_event_paranoid";
  if (failure == ENOENT || failure == EOPNOTSUPP || failure == ENODEV)
    return "this machine does not count it (a virtual machine?)";
  if (failure == EMFILE || failure == ENFILE)
    return "no file descriptor is left for one of the threads: raise the limit (ulimit -n)";
  return std::string("perf_event_open: ") + std::strerror(failure);
}

/// Finds the first way that works here; returns why none does, "" if one does.
std::string find_way(event &counted) {
  for (const way w : counted.ways) {
    const int file = w == way::proc ? -1 : open_event(counted, w);
    if (file < 0 && w != way::proc)
      continue;
    if (file >= 0)
      close(file);
    else if (!thread_switches(this_thread_id())) {
      errno = EACCES;
      return "neither perf_event_open nor /proc counts it";
    }
    counted.how = w;
    return "";
  }
  return why_not(errno);
}

/// Reads an event. Scales one that had to share the processor's counters to the whole time.
std::uint64_t read_event(int file) noexcept {
  struct {
    std::uint64_t value, enabled, running;
  } r{};
  if (read(file, &r, sizeof r) != sizeof r || r.running == 0)
    return 0;
  return r.running == r.enabled ? r.value
                                : static_cast<std::uint64_t>(static_cast<double>(r.value) *
                                                             static_cast<double>(r.enabled) /
                                                             static_cast<double>(r.running));
}

std::uint64_t count_of(const slot &counter, std::size_t i) noexcept {
  if (g_events[i].how == way::proc)
    return counter.tid ? thread_switches(counter.tid).value_or(0) : 0;
  return counter.files[i] >= 0 ? read_event(counter.files[i]) : 0;
}

slot &slot_of(unsigned id, counter_block &block) {
  if (!g_slots)
    g_slots = new std::vector<std::unique_ptr<slot>>;
  for (auto &s : *g_slots)
    if (s->id == id)
      return *s;
  g_slots->push_back(std::make_unique<slot>());
  slot &s = *g_slots->back();
  s.id = id;
  s.block = &block;
  for (int &file : s.files)
    file = -1;
  return s;
}

/// Stops counting an event that a thread could not open: a sum without that thread would be too
/// small. Gives back the descriptors of the others, so that another event may be counted. The caller
/// has the lock.
void give_up(std::size_t event_number, int failure) {
  event &e = g_events[event_number];
  e.how = way::none;
  for (auto &s : *g_slots)
    if (int &file = s->files[event_number]; file >= 0) {
      close(file);
      file = -1;
    }
  const std::string why = why_not(failure);
  mark_absent(e.name, why.c_str());
  warn("counters.hardware: %s is not counted any more: %s", e.name, why.c_str());
}

} // namespace

void open_hardware(hardware_wishes wanted, const char *powercap) noexcept try {
  g_wanted = wanted;
  for (event &e : g_events) {
    e.how = way::none;
    if (const std::string why = wanted.events ? find_way(e) : k_off; !why.empty())
      mark_absent(e.name, why.c_str());
  }
  const auto find = [wanted, powercap](const char *counter, const char *prefix) {
    energy_domains all = wanted.energy ? find_energy(powercap, prefix) : energy_domains{{}, k_off};
    if (all.found.empty())
      mark_absent(counter, all.why.c_str());
    return std::move(all.found);
  };
  g_package = find("/power/package", "package");
  g_memory = find("/power/memory", "dram");
  std::vector<energy_domain> all = g_package;
  all.insert(all.end(), g_memory.begin(), g_memory.end());
  const std::uint64_t pause = longest_pause_ns(all);
  g_longest_pause_ns.store(pause == 0 ? 0 : std::max(pause, k_least_ns), std::memory_order_relaxed);
} catch (const std::bad_alloc &) {
  g_wanted = {};
}

void count_hardware(unsigned id, counter_block &block) noexcept {
  if (!g_wanted.events)
    return;
  const std::lock_guard guard(g_lock);
  slot &s = slot_of(id, block);
  for (std::size_t i = 0; i < k_events; ++i) {
    const event &e = g_events[i];
    if (e.how == way::none)
      continue;
    if (e.how ==
        way::proc) // /proc has nothing of a thread that has ended: the last published count stays
      s.before[i] = peek(block.*e.field);
    else if (s.files[i] >= 0) {
      s.before[i] += read_event(s.files[i]);
      close(s.files[i]);
    }
    s.files[i] = e.how == way::proc ? -1 : open_event(e, e.how);
    if (e.how != way::proc && s.files[i] < 0)
      give_up(i, errno);
  }
  s.tid = this_thread_id();
}

std::uint64_t longest_pause_of_hardware_ns() noexcept {
  return g_longest_pause_ns.load(std::memory_order_relaxed);
}

void publish_hardware(bool now) noexcept {
  if (!g_wanted.events && !g_wanted.energy)
    return;
  const std::uint64_t time = now_ns();
  if (!now && time - g_published < k_least_ns)
    return;
  g_published = time;
  const std::lock_guard guard(g_lock);
  if (g_slots)
    for (const auto &s : *g_slots)
      for (std::size_t i = 0; i < k_events; ++i)
        if (std::uint64_t &field = s->block->*g_events[i].field; g_events[i].how != way::none)
          put(field,
              std::max(peek(field), s->before[i] + count_of(*s, i))); // a scaled count might fall
  count(process_counters().energy_package, spent_energy(g_package));
  count(process_counters().energy_memory, spent_energy(g_memory));
}

void forget_hardware_in_child() noexcept {
  ::new (&g_lock) std::mutex;
  if (g_slots)
    for (const auto &s : *g_slots)
      for (const int file : s->files)
        if (file >= 0)
          close(file);
  g_slots = nullptr;
}

} // namespace rt
} // namespace weft::inline v0
