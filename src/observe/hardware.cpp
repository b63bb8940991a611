// SPDX-License-Identifier: Apache-2.0
#include "observe/hardware.hpp"

#include "base/clock.hpp"
#include "observe/store.hpp"
#include "os/file.hpp"

#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <memory>
#include <mutex>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

// A read takes 0.3 us per event and worker: five times per second is nothing, a hundred times would show.
constexpr std::uint64_t k_least_ns = 200'000'000;
constexpr char k_off[] = "not counted: set counters.hardware=true";

struct event {
  const char *name;
  std::uint64_t counter_block::*field;
  std::uint32_t type;
  std::uint64_t config;
  bool available;
};
event g_events[] = {
    {"/hardware/cycles", &counter_block::cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
    {"/hardware/instructions", &counter_block::instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
    {"/hardware/cache-misses", &counter_block::cache_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, false},
    {"/hardware/page-faults", &counter_block::page_faults, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
    {"/hardware/migrations", &counter_block::migrations, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false},
};
constexpr std::size_t k_events = sizeof g_events / sizeof g_events[0];

struct slot {
  unsigned id;
  counter_block *block;
  int files[k_events];
  std::uint64_t before[k_events]{}; // of threads that stood there earlier
};

struct domain {
  std::string file;
  std::uint64_t last, range;
};

std::mutex g_lock;
std::vector<std::unique_ptr<slot>> *g_slots = nullptr; // guarded by the lock; never freed: threads may come late
std::vector<domain> g_package, g_memory;               // of the publisher
bool g_wanted = false;
std::uint64_t g_published = 0;

/// Of the calling thread. Software events without the kernel's part would always be 0.
int open_event(const event &e) noexcept {
  perf_event_attr a{};
  a.size = sizeof a;
  a.type = e.type;
  a.config = e.config;
  a.exclude_kernel = e.type == PERF_TYPE_HARDWARE;
  a.exclude_hv = 1;
  return static_cast<int>(syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string why_not(int failure) {
  if (failure == EACCES || failure == EPERM)
    return "not allowed here: lower kernel.perf_event_paranoid";
  if (failure == ENOENT || failure == EOPNOTSUPP || failure == ENODEV)
    return "this machine does not count it (a virtual machine?)";
  return std::string("perf_event_open: ") + std::strerror(failure);
}

std::uint64_t number_in(const std::string &file) noexcept {
  const auto text = read_file(file);
  return text ? parse_unsigned(trim(*text)).value_or(0) : 0;
}

/// The domains of that name below the first two levels of powercap.
void find_domains(std::vector<domain> &found, std::string_view prefix) {
  found.clear();
  const auto look = [&](const std::string &folder) {
    const auto name = read_file(folder + "/name");
    if (name && trim(*name).starts_with(prefix) && read_file(folder + "/energy_uj"))
      found.push_back({folder + "/energy_uj", number_in(folder + "/energy_uj"), number_in(folder + "/max_energy_range_uj")});
    return name.has_value();
  };
  for (int package = 0;; ++package) {
    const std::string folder = "/sys/class/powercap/intel-rapl:" + std::to_string(package);
    if (!look(folder))
      return;
    for (int part = 0; look(folder + ":" + std::to_string(part)); ++part) {
    }
  }
}

void add_energy(std::vector<domain> &domains, std::uint64_t &sum) noexcept {
  for (domain &d : domains) {
    const std::uint64_t now = number_in(d.file);
    count(sum, now >= d.last ? now - d.last : d.range - d.last + now);
    d.last = now;
  }
}

std::uint64_t read_event(int file) noexcept {
  std::uint64_t n = 0;
  return file >= 0 && read(file, &n, sizeof n) == sizeof n ? n : 0;
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

} // namespace

void open_hardware(bool wanted) noexcept {
  g_wanted = wanted;
  for (event &e : g_events) {
    const int file = wanted ? open_event(e) : -1;
    e.available = file >= 0;
    if (!e.available)
      mark_absent(e.name, wanted ? why_not(errno).c_str() : k_off);
    else
      close(file);
  }
  if (wanted) {
    find_domains(g_package, "package");
    find_domains(g_memory, "dram");
  }
  const char *why = wanted ? "no powercap of this processor can be read (/sys/class/powercap)" : k_off;
  if (g_package.empty())
    mark_absent("/power/package", why);
  if (g_memory.empty())
    mark_absent("/power/memory", why);
}

void count_hardware(unsigned id, counter_block &block) noexcept {
  if (!g_wanted)
    return;
  const std::lock_guard guard(g_lock);
  slot &s = slot_of(id, block);
  for (std::size_t i = 0; i < k_events; ++i) {
    if (s.files[i] >= 0) {
      s.before[i] += read_event(s.files[i]);
      close(s.files[i]);
    }
    s.files[i] = g_events[i].available ? open_event(g_events[i]) : -1;
  }
}

void publish_hardware(bool now) noexcept {
  if (!g_wanted)
    return;
  const std::uint64_t time = now_ns();
  if (!now && time - g_published < k_least_ns)
    return;
  g_published = time;
  const std::lock_guard guard(g_lock);
  if (g_slots)
    for (const auto &s : *g_slots)
      for (std::size_t i = 0; i < k_events; ++i)
        if (g_events[i].available)
          put(s->block->*g_events[i].field, s->before[i] + read_event(s->files[i]));
  add_energy(g_package, process_counters().energy_package);
  add_energy(g_memory, process_counters().energy_memory);
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
