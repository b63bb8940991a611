// SPDX-License-Identifier: Apache-2.0
#include "trace/kernel.hpp"

#include "base/log.hpp"
#include "os/file.hpp"
#include "trace/folder.hpp"
#include "trace/tracepoint.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_ring_pages =
    8; // of 40-byte records: 800, or 20 ms of 40,000 switches per second
constexpr std::size_t k_page = 4096;
constexpr std::size_t k_ring_bytes = k_ring_pages * k_page;

/// Holds the events of one thread in a slot.
struct source {
  unsigned slot = 0;
  int file = -1;
  perf_event_mmap_page *page = nullptr;
};

/// Holds the stream of one slot.
struct output {
  unsigned slot = 0;
  packet_file file;
  std::uint64_t number = 0, last = 0, lost = 0;
  std::vector<trace_record> records;
};

struct watching {
  std::mutex lock; // threads add their sources, the flusher reads them
  std::string folder;
  unsigned char uuid[16];
  trace_clock clock;
  std::vector<source> sources;
  std::vector<output> outputs;
  std::vector<char> scratch;
  std::optional<switch_tracepoint> tracepoint;
  std::atomic<bool> warned{false};
  std::string seen; // what the trace contains of the kernel, and what not; in words
};
watching *g_watching = nullptr; // before any worker; never freed
std::atomic<watching *> g_ended{nullptr}; // keeps it reachable, for leak checkers

/// Opens the events of a thread. With the tracepoint, the kernel reports each switch twice: by the
/// tracepoint, and by the record that needs no privilege.
int open_switches(const switch_tracepoint *with) noexcept {
  perf_event_attr a{};
  a.size = sizeof a;
  a.type = with ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE;
  a.config = with ? with->id : std::uint64_t{PERF_COUNT_SW_DUMMY};
  a.sample_period = with ? 1 : 0;
  a.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                  (with ? std::uint64_t{PERF_SAMPLE_RAW} : 0);
  a.context_switch = 1;
  a.sample_id_all = 1;
  a.exclude_kernel = !with;
  a.exclude_hv = 1;
  a.use_clockid = 1;
  a.clockid = CLOCK_MONOTONIC;
  return static_cast<int>(syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::uint64_t ticks_at(const trace_clock &clock, std::uint64_t monotonic_ns) noexcept {
  const double ns =
      static_cast<double>(static_cast<std::int64_t>(monotonic_ns - clock.monotonic_ns));
  return clock.ticks + static_cast<std::uint64_t>(static_cast<std::int64_t>(
                           ns * static_cast<double>(clock.frequency) / 1e9));
}

struct switch_tail {
  std::uint32_t pid, tid;
  std::uint64_t time;
  std::uint32_t cpu, unused;
};

/// Takes a sample of the tracepoint: the same words as at the end of a switch, then the record.
void take_sample(const watching &watch, output &to, const char *body, std::size_t bytes) {
  struct {
    switch_tail t;
    std::uint32_t size;
  } head;
  constexpr std::size_t k_head = sizeof(switch_tail) + sizeof(std::uint32_t);
  if (bytes < k_head)
    return;
  std::memcpy(&head.t, body, sizeof head.t);
  std::memcpy(&head.size, body + sizeof head.t, sizeof head.size);
  const auto facts = read_switch(*watch.tracepoint, body + k_head,
                                 std::min<std::size_t>(head.size, bytes - k_head));
  if (!facts)
    return;
  trace_record r{};
  r.time = ticks_at(watch.clock, head.t.time);
  r.event = static_cast<std::uint16_t>(trace_event::replaced);
  r.a = facts->next_pid;
  r.b = facts->state;
  to.records.push_back(r);
}

void take_event(watching &watch, output &to, const perf_event_header &header, const char *body,
                std::size_t bytes) {
  if (header.type == PERF_RECORD_LOST) {
    std::uint64_t words[2];
    std::memcpy(words, body, std::min(bytes, sizeof words));
    to.lost += words[1];
  }
  if (header.type == PERF_RECORD_SAMPLE && watch.tracepoint)
    return take_sample(watch, to, body, bytes);
  if (header.type != PERF_RECORD_SWITCH || bytes < sizeof(switch_tail))
    return;
  switch_tail t;
  std::memcpy(&t, body + bytes - sizeof t, sizeof t);
  const bool out = header.misc & PERF_RECORD_MISC_SWITCH_OUT;
  constexpr std::uint16_t k_preempted =
      1 << 14; // PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, which older headers do not name
  trace_record r{};
  r.time = ticks_at(watch.clock, t.time);
  r.event = static_cast<std::uint16_t>(out ? trace_event::switched_out : trace_event::switched_in);
  r.a = t.cpu;
  r.b = out && (header.misc & k_preempted);
  to.records.push_back(r);
}

void read_source(watching &watch, const source &from, output &to) {
  const char *const data = reinterpret_cast<const char *>(from.page) + k_page;
  const std::uint64_t head = __atomic_load_n(
      &from.page->data_head, __ATOMIC_ACQUIRE); // O1: pairs with the kernel's barrier
  std::uint64_t tail = from.page->data_tail;
  const auto copy = [&](std::uint64_t at, void *p, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      static_cast<char *>(p)[i] = data[(at + i) % k_ring_bytes];
  };
  while (tail < head) {
    perf_event_header h;
    copy(tail, &h, sizeof h);
    if (h.size < sizeof h)
      break;
    watch.scratch.resize(h.size);
    copy(tail, watch.scratch.data(), h.size);
    take_event(watch, to, h, watch.scratch.data() + sizeof h, h.size - sizeof h);
    tail += h.size;
  }
  __atomic_store_n(&from.page->data_tail, head, __ATOMIC_RELEASE); // O1
}

void write_out(watching &watch, output &to) {
  std::sort(to.records.begin(), to.records.end(), [](auto &a, auto &b) {
    return std::pair(a.time, a.event) < std::pair(b.time, b.event);
  });
  for (trace_record &r : to.records)
    r.time = to.last = std::max(r.time, to.last); // the clocks agree to some ten nanoseconds
  packet_header h;
  std::memcpy(h.uuid, watch.uuid, sizeof h.uuid);
  h.kind = 1;
  h.worker = to.slot;
  h.begin = to.records.front().time;
  h.end = to.records.back().time;
  h.number = to.number;
  h.discarded = to.lost;
  const std::size_t bytes = to.records.size() * sizeof(trace_record);
  h.content_bits = h.packet_bits = 8 * (sizeof h + bytes);
  watch.scratch.resize(sizeof h + bytes);
  std::memcpy(watch.scratch.data(), &h, sizeof h);
  std::memcpy(watch.scratch.data() + sizeof h, to.records.data(), bytes);
  if ((to.file.is_open() || to.file.create(kernel_path(watch.folder, to.slot))) &&
      to.file.append(watch.scratch.data(), watch.scratch.size())) {
    ++to.number;
  } else {
    warn_once(watch.warned,
              "trace.kernel: '%s' cannot be written (%s); context switches are missing from the trace",
              watch.folder.c_str(), std::strerror(errno));
    to.lost += to.records.size();
  }
  to.records.clear();
}

/// Opens the events of the calling thread, those of the tracepoint too if that is allowed.
int open_source(watching &watch) {
  const std::lock_guard guard(watch.lock);
  if (watch.tracepoint) {
    const int file = open_switches(&*watch.tracepoint);
    if (file >= 0) {
      watch.seen =
          "context switches of the workers' threads, and which threads replaced them (sched_switch)";
      return file;
    }
    watch.seen =
        std::string(
            "context switches of the workers' threads; not which threads replaced them: sched_switch: ") +
        std::strerror(errno);
    watch.tracepoint.reset(); // no thread tries it again
  }
  return open_switches(nullptr);
}

output &output_of(watching &watch, unsigned slot) {
  for (output &x : watch.outputs)
    if (x.slot == slot)
      return x;
  output fresh;
  fresh.slot = slot;
  watch.outputs.push_back(fresh);
  return watch.outputs.back();
}

} // namespace

void watch_kernel(const std::string &folder, const unsigned char (&uuid)[16],
                  const trace_clock &clock) noexcept try {
  auto w = std::make_unique<watching>();
  w->folder = folder;
  std::memcpy(w->uuid, uuid, sizeof w->uuid);
  w->clock = clock;
  std::string why;
  w->tracepoint = find_switch_tracepoint("", why);
  w->seen = "context switches of the workers' threads; not which threads replaced them: " + why;
  g_watching = w.release();
} catch (const std::bad_alloc &) { // without
}

void watch_this_thread(unsigned slot) noexcept try {
  watching *const w = g_watching;
  if (!w)
    return;
  source s;
  s.slot = slot;
  s.file = open_source(*w);
  void *const p = s.file < 0 ? MAP_FAILED
                             : mmap(nullptr, k_page + k_ring_bytes, PROT_READ | PROT_WRITE,
                                    MAP_SHARED, s.file, 0);
  if (p == MAP_FAILED) {
    static std::atomic<bool> warned{false};
    const int failure = errno;
    {
      const std::lock_guard guard(w->lock);
      w->seen = std::string("nothing: perf_event_open: ") + std::strerror(failure);
    }
    errno = failure;
    warn_once(
        warned,
        "trace.kernel: context switches cannot be seen (perf_event_open: %s); the trace is without them",
        std::strerror(errno));
    if (s.file >= 0)
      close(s.file);
    return;
  }
  s.page = static_cast<perf_event_mmap_page *>(p);
  const std::lock_guard guard(w->lock);
  w->sources.push_back(s);
} catch (const std::bad_alloc &) { // without
}

void drain_kernel_events() noexcept try {
  watching *const w = g_watching;
  if (!w)
    return;
  const std::lock_guard guard(w->lock);
  for (const source &s : w->sources)
    read_source(*w, s, output_of(*w, s.slot));
  for (output &x : w->outputs)
    if (!x.records.empty())
      write_out(*w, x);
} catch (const std::bad_alloc &) { // the next call tries again
}

void end_kernel_events() noexcept {
  drain_kernel_events();
  if (!g_watching)
    return;
  for (const source &s : g_watching->sources)
    close(s.file);
  g_ended.store(std::exchange(g_watching, nullptr), std::memory_order_relaxed);
}

std::string seen_of_kernel() {
  if (!g_watching)
    return "";
  const std::lock_guard guard(g_watching->lock);
  return g_watching->seen;
}

void forget_kernel_events_in_child() noexcept {
  g_ended.store(std::exchange(g_watching, nullptr), std::memory_order_relaxed);
}

} // namespace rt
} // namespace weft::inline v0
