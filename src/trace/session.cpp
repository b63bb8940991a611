// SPDX-License-Identifier: Apache-2.0
#include "trace/session.hpp"

#include "atomic/atomic.hpp"
#include "base/clock.hpp"
#include "base/log.hpp"
#include "config/load.hpp"
#include "config/process.hpp"
#include "config/settings.hpp"
#include "os/file.hpp"
#include "os/symbols.hpp"
#include "os/thread.hpp"
#include "trace/coroutine_name.hpp"
#include "trace/folder.hpp"
#include "trace/kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <utility>

namespace weft::inline v0 {
namespace rt {

trace_level g_trace_level = trace_level::off;

namespace {

constexpr unsigned k_most_slots = 4096;
constexpr std::uint64_t k_decisions_bytes = 4 * k_packet_bytes;
constexpr std::size_t k_touched =
    16 << 20;             // of a ring, when its worker begins rather than at its records
constexpr std::int64_t k_nap_ns = 20'000'000;           // of a flusher that no worker wakes
constexpr std::uint64_t k_describe_ns = 500'000'000; // how often the flusher writes down new types

struct stream {
  tracer *of;
  packet_file file;
  std::uint64_t reported_discards = 0; // discarded records that the last packet counted
  std::uint64_t next = 0; // packet
  std::uint64_t last = 0; // time
};

struct session {
  trace_options options;
  trace_description what;
  std::atomic<tracer *> slots[k_most_slots]{};
  std::atomic<unsigned> used{0};
  std::atomic<tracer *> of_decisions{nullptr};
  std::vector<stream> streams; // the flusher's
  std::atomic<std::uint32_t> signal{0};
  std::atomic<bool> asleep{false}, stopping{false}, flushing{false};
  bool ended = false;
  unsigned described = 0; // types in the files
  bool is_described = false; // else a full disk has refused the last try
  std::uint64_t tried_ns = 0;
  const trace_place *tried_place = nullptr;
  std::vector<std::pair<unsigned, std::string>> coroutines; // names of types
  std::atomic<bool> warned{false}, warned_of_ring{false};
  thread flusher;
  trace_in_progress in_progress;
};

std::atomic<session *> g_session{nullptr}; // never freed: workers may come late
std::atomic<std::uint32_t> g_ids{0};
std::atomic<const trace_place *> g_place{nullptr}; // never freed: the flusher may be reading

session *the_session() noexcept {
  return g_session.load(std::memory_order_acquire);
} // O1: pairs with open_trace

void complain(session &current) noexcept {
  warn_once(current.warned,
            "trace.dir: '%s' cannot be written (%s); Weft tries again, and discards what does not fit "
            "into memory meanwhile",
            current.options.folder.c_str(), std::strerror(errno));
}

/// Puts the names of coroutines in the place of their addresses. Reads the symbols of the program when
/// there are new ones.
void name_coroutines(session &current) {
  std::vector<std::string> &names = current.what.types;
  std::optional<symbols> functions;
  std::size_t known = 0;
  for (unsigned i = 1; i < names.size(); ++i) {
    if (names[i].empty() || type_table()[i].named != named_by::coroutine)
      continue;
    while (known != current.coroutines.size() && current.coroutines[known].first < i)
      ++known;
    if (known == current.coroutines.size() || current.coroutines[known].first != i) {
      if (!functions)
        functions.emplace();
      current.coroutines.emplace(
          current.coroutines.begin() + static_cast<std::ptrdiff_t>(known), i,
          name_of_coroutine(functions->of_call(
              static_cast<const char *>(coroutine_of(type_table()[i])) + 1)));
    }
    if (!current.coroutines[known].second.empty())
      names[i] = current.coroutines[known].second;
  }
}

/// Returns false if the description cannot be written.
bool describe(session &current) {
  const unsigned types = known_types();
  current.tried_ns = now_ns();
  current.what.types = type_names(type_table());
  name_coroutines(current);
  const trace_place *const place = g_place.load(std::memory_order_acquire); // O4: what it points to
  current.tried_place = place;
  if (place)
    current.what.place = *place;
  if (std::string seen = seen_of_kernel(); !seen.empty())
    current.what.kernel = std::move(seen);
  current.is_described =
      replace_file(current.options.folder + "/metadata", ctf_metadata(current.what)) &&
      replace_file(description_path(current.options.folder), own_description(current.what));
  if (!current.is_described) {
    complain(current);
    return false;
  }
  current.described = types;
  return true;
}

/// Says whether the description is to be written anew: at once for a new place, else after a while.
bool is_outdated(const session &current) noexcept {
  const trace_place *const place = g_place.load(std::memory_order_relaxed);
  if (place != current.tried_place)
    return true;
  const bool is_current = current.is_described && known_types() == current.described;
  return !is_current && now_ns() - current.tried_ns > k_describe_ns;
}

template <class Use>
void for_each_tracer(const session &current, Use use) {
  const unsigned used =
      current.used.load(std::memory_order_acquire); // O2: pairs with tracer_of_slot
  for (unsigned slot = 0; slot < used; ++slot)
    if (tracer *const t = current.slots[slot].load(std::memory_order_acquire)) // O2
      use(t);
  if (tracer *const t = current.of_decisions.load(std::memory_order_acquire)) // O2
    use(t);
}

/// Adds streams for the tracers that are new, and makes the files that could not be made before.
void find_streams(session &current) {
  for_each_tracer(current, [&current](tracer *found) {
    if (std::none_of(current.streams.begin(), current.streams.end(),
                     [found](const stream &x) { return x.of == found; }))
      current.streams.push_back({found, {}});
  });
  for (stream &x : current.streams)
    if (!x.file.is_open() &&
        !x.file.create(stream_path(current.options.folder, x.of->ring.slot())))
      complain(current);
}

/// Returns false if the packet cannot be written; then it is still to be written.
bool write_packet(session &current, stream &to, const char *packet, std::size_t bytes) noexcept {
  if (!to.file.is_open() || !to.file.append(packet, bytes)) {
    complain(current);
    return false;
  }
  packet_header h;
  std::memcpy(&h, packet, sizeof h);
  to.reported_discards = h.discarded;
  to.next = h.number + 1;
  to.last = h.end;
  return true;
}

bool drain(session &current) {
  find_streams(current);
  bool any = false;
  for (stream &to : current.streams)
    for (trace_ring &r = to.of->ring; r.tail() < r.head(); any = true) {
      const std::uint64_t number = r.tail();
      if (!write_packet(current, to, r.packet(number), k_packet_bytes))
        break; // it stays in the ring
      r.done_with(number);
    }
  drain_kernel_events();
  return any;
}

void flush(void *p) noexcept {
  auto &s = *static_cast<session *>(p);
  s.flushing.store(true, std::memory_order_relaxed);
  while (!s.stopping.load(std::memory_order_acquire)) // O3: pairs with end_trace
    try {
      const std::uint32_t seen = s.signal.load(std::memory_order_relaxed);
      if (is_outdated(s))
        describe(s);
      if (drain(s))
        continue;
      s.asleep.store(
          true,
          std::
              memory_order_relaxed); // a packet that the flusher just missed waits for the end of the nap
      os_futex_wait(s.signal, seen, static_cast<std::int64_t>(now_ns()) + k_nap_ns);
      s.asleep.store(false, std::memory_order_relaxed);
    } catch (const std::bad_alloc &) { // next time
    }
  s.flushing.store(false, std::memory_order_relaxed); // before the thread is gone
}

/// Writes the rest of a ring; its owner has stopped, or goes on. Returns false if that cannot be
/// written.
bool write_rest(session &current, stream &to) {
  const auto packet = std::make_unique<char[]>(k_packet_bytes);
  const trace_ring &r = to.of->ring;
  std::uint64_t from = to.next;
  const std::uint64_t head = r.head();
  if (r.mode() == trace_mode::flight && head + 1 > r.packets())
    from = std::max(from, head + 1 - r.packets());
  for (std::uint64_t n = from; n <= head; ++n)
    if (const std::size_t bytes = r.copy(n, packet.get());
        bytes && !write_packet(current, to, packet.get(), bytes))
      return false;
  if (r.discarded() == to.reported_discards)
    return true;
  packet_header h;
  r.make_last_word(h, to.next, to.last);
  std::memcpy(packet.get(), &h, sizeof h);
  return write_packet(current, to, packet.get(), sizeof h);
}

std::unique_ptr<tracer> make_tracer(session &current, unsigned slot, std::uint64_t bytes) noexcept {
  const auto packets = static_cast<unsigned>(std::max<std::uint64_t>(bytes / k_packet_bytes, 4));
  void *const memory =
      map_new_file(ring_path(current.options.folder, slot), k_ring_head + packets * k_packet_bytes);
  if (!memory) {
    warn_once(current.warned_of_ring,
              "trace.dir: '%s' has no room for all rings (%s); the trace is without what they would hold",
              current.options.folder.c_str(), std::strerror(errno));
    return nullptr;
  }
  touch(memory, std::min<std::size_t>(k_ring_head + packets * k_packet_bytes, k_touched));
  return std::unique_ptr<tracer>(new (std::nothrow) tracer{
      {memory, packets, current.options.mode, slot, current.what.uuid}, {}});
}

/// Puts the counters into a stream. Returns false if there is no room.
bool write_counts(session &current, const std::vector<slot_counts> &counts) {
  if (counts.empty())
    return true;
  const std::size_t each = static_cast<std::size_t>(counted_value::limit);
  auto last = make_tracer(current, k_counters_slot,
                          (counts.size() * each / k_packet_records + 1) * k_packet_bytes);
  if (!last)
    return false;
  for (const slot_counts &c : counts)
    for (std::size_t i = 0; i < each; ++i)
      last->ring.put(trace_event::counted, 0, c.slot, i, c.values[i]);
  current.streams.push_back({last.release(), {}});
  return true;
}

/// Writes all that is left, stream by stream. Returns false if something is left even so.
bool write_end(session &current, const std::vector<slot_counts> &counts) {
  bool whole = write_counts(current, counts);
  find_streams(current); // after the counters', too
  for (stream &x : current.streams)
    whole &= write_rest(current, x);
  return whole;
}

/// Says what became of a trace that could not be written for a while.
void say_what_is_lost(const session &current, bool whole) noexcept {
  std::uint64_t discarded = 0;
  for (const stream &x : current.streams)
    discarded += x.of->ring.discarded();
  const auto n = static_cast<unsigned long long>(discarded);
  const char *const folder = current.options.folder.c_str();
  if (!whole)
    warn("trace.dir: the end of the trace in '%s' is not written (%llu records were discarded); it is in "
         "the rings there, of which `weft trace cut` makes a whole trace",
         folder, n);
  else if (current.warned.load(std::memory_order_relaxed))
    warn("trace.dir: '%s' could be written again; %llu records were discarded", folder, n);
}

void remove_rings(session &current) noexcept {
  for (const stream &x : current.streams)
    unlink(ring_path(current.options.folder, x.of->ring.slot()).c_str());
  unlink(types_path(current.options.folder).c_str());
}

std::string first_line_with(const std::string &path, std::string_view key) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char text[4096]; // of a file that is as long as there are processors
  const ssize_t n = file >= 0 ? read(file, text, sizeof text) : 0;
  if (file >= 0)
    close(file);
  std::string found;
  for_each_line({text, static_cast<std::size_t>(std::max<ssize_t>(n, 0))},
                [&](std::string_view line) {
                  if (const auto colon = line.find(':');
                      found.empty() && line.starts_with(key) && colon != std::string_view::npos)
                    found = trim(line.substr(colon + 1));
                });
  return found;
}

std::string command_line() {
  std::string text = read_file("/proc/self/cmdline", 1 << 20).value_or("");
  while (!text.empty() && text.back() == '\0')
    text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  constexpr std::size_t k_most = 2000;
  return text.size() > k_most ? text.substr(0, k_most) + "..." : text;
}

std::string chosen_settings() {
  const loaded_settings all = process_settings();
  std::string text;
  for (std::size_t row = 0; row < k_setting_count; ++row)
    if (all.origin[row] != "default")
      text += (text.empty() ? "" : ", ") + std::string(setting_table()[row].key) + "=" +
              setting_text(all.values, row);
  return text;
}

/// Describes the run to readers of its numbers: machine, load, command, settings.
void describe_run(trace_description &description) {
  utsname system{};
  double load[3];
  char text[96];
  description.command = command_line();
  const std::string model = first_line_with("/proc/cpuinfo", "model name");
  if (uname(&system) == 0)
    description.machine = std::string(system.nodename) + (model.empty() ? "" : ", " + model) +
                          ", " + system.machine + ", Linux " + system.release;
  description.cores = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
  if (getloadavg(load, 3) == 3) {
    std::snprintf(text, sizeof text, "%.2f %.2f %.2f (1, 5 and 15 minutes, when the run began)",
                  load[0], load[1], load[2]);
    description.load = text;
  }
  description.settings = chosen_settings();
}

void start(session &current) {
  describe_run(current.what);
  current.what.level = current.options.level;
  current.what.mode = current.options.mode;
  current.what.workers = current.options.workers;
  current.what.pid = getpid();
  current.what.program = program_invocation_short_name;
  current.what.clock = read_trace_clock();
  current.what.first_ticks = current.what.clock.ticks;
  if (getrandom(current.what.uuid, sizeof current.what.uuid, 0) !=
      static_cast<ssize_t>(sizeof current.what.uuid))
    std::memcpy(current.what.uuid, &current.what.clock, sizeof current.what.uuid);
}

void begin(session &current) noexcept {
  current.what.first_ticks = read_ticks();
  if (current.options.mode == trace_mode::flight)
    return;
  if (const int e = current.flusher.start("weft-trace", &flush, &current))
    warn("no thread to write the trace (%s); what does not fit into memory is discarded",
         std::strerror(e));
}

} // namespace

std::uint32_t reserve_task_ids(std::uint32_t n) noexcept {
  return g_ids.fetch_add(n, std::memory_order_relaxed);
} // names only

void set_place_of_trace(const trace_place &place) {
  const auto *const fresh = new trace_place(place);
  static std::atomic<const trace_place *> former{nullptr}; // keeps one reachable, for leak checkers
  former.store(g_place.exchange(fresh, std::memory_order_acq_rel), // O4
               std::memory_order_relaxed);
}

void packet_is_full() noexcept {
  session *const s = the_session();
  if (!s || !s->asleep.load(std::memory_order_relaxed))
    return;
  s->signal.fetch_add(1, std::memory_order_relaxed); // the nap has an end
  os_futex_wake(s->signal, 1);
}

namespace {

/// Sets the level, which threads that are no workers may be reading.
void set_level(trace_level level) noexcept {
  __atomic_store(&g_trace_level, &level, __ATOMIC_RELAXED);
}

} // namespace

void open_trace(const trace_options &options) noexcept try {
  set_level(trace_level::off);
  if (options.level == trace_level::off)
    return;
  auto fresh = std::make_unique<session>();
  session &s = *fresh;
  s.options = options;
  if (const std::string trouble = s.in_progress.begin(options.folder, s.options.folder);
      !trouble.empty())
    return warn("trace.dir: '%s' cannot be used (%s); nothing is traced", s.options.folder.c_str(),
                trouble.c_str());
  void *const types =
      map_new_file(types_path(s.options.folder), sizeof(trace_type) * k_trace_types);
  if (!types)
    return warn("trace.dir: '%s' has no room for a trace (%s); nothing is traced",
                s.options.folder.c_str(), std::strerror(errno));
  use_type_table(static_cast<trace_type *>(types));
  start(s);
  describe(s);
  s.in_progress.enter(s.options.folder);
  g_session.store(fresh.release(), std::memory_order_release); // O1
  set_level(options.level);
  if (options.kernel)
    watch_kernel(s.options.folder, s.what.uuid, s.what.clock);
} catch (const std::bad_alloc &) {
  warn("no memory for a trace; nothing is traced");
}

tracer *tracer_of_slot(unsigned slot) noexcept {
  session *const s = the_session();
  if (!s || slot >= k_most_slots || g_trace_level == trace_level::off)
    return nullptr;
  tracer *t = s->slots[slot].load(std::memory_order_relaxed); // with the start lock
  if (t)
    return t;
  t = make_tracer(*s, slot, s->options.bytes).release();
  if (s->used.load(std::memory_order_relaxed) == 0) // the first
    begin(*s);
  s->slots[slot].store(t, std::memory_order_release); // O2
  if (s->used.load(std::memory_order_relaxed) <= slot)
    s->used.store(slot + 1, std::memory_order_release); // O2
  return t;
}

tracer *tracer_of_decisions() noexcept {
  session *const s = the_session();
  if (!s || g_trace_level == trace_level::off)
    return nullptr;
  tracer *t = s->of_decisions.load(std::memory_order_relaxed); // with the start lock
  if (!t) {
    t = make_tracer(*s, k_decisions_slot, k_decisions_bytes).release();
    s->of_decisions.store(t, std::memory_order_release); // O2
  }
  return t;
}

void end_trace(const std::vector<slot_counts> &counts,
               std::vector<std::pair<unsigned, std::string>> spawn_sites,
               std::vector<std::pair<std::string, std::uint64_t>> shares) noexcept try {
  session *const s = the_session();
  if (!s || s->ended)
    return;
  s->ended = true;
  s->stopping.store(true, std::memory_order_release); // O3
  s->signal.fetch_add(1, std::memory_order_relaxed);
  os_futex_wake(s->signal, 1);
  if (s->flusher.joinable())
    s->flusher.join();
  if (s->options.mode == trace_mode::stream)
    drain(*s);
  bool whole = write_end(*s, counts);
  s->what.kernel = seen_of_kernel();
  end_kernel_events();
  const trace_clock start = std::exchange(
      s->what.clock, read_trace_clock()); // the longer the run, the better the frequency is known
  s->what.clock = {s->what.clock.frequency, start.ticks, start.monotonic_ns, start.realtime_ns};
  s->what.spawn_sites = std::move(spawn_sites);
  s->what.shares = std::move(shares);
  s->what.discarded = 0;
  for (const stream &x : s->streams)
    s->what.discarded += x.reported_discards;
  if (whole)
    s->what.state = counts.empty() ? trace_description::ended : trace_description::exact;
  whole &= describe(*s);
  say_what_is_lost(*s, whole);
  if (!whole)
    return; // the rings stay, like those of a killed program
  remove_rings(*s);
  s->in_progress.end();
} catch (const std::bad_alloc &) {
  warn("no memory to end the trace; `weft trace cut` makes a whole one of what there is");
}

void forget_trace_in_child() noexcept {
  forget_kernel_events_in_child();
  static std::atomic<session *> of_the_parent; // keeps it reachable, for leak checkers
  of_the_parent.store(g_session.exchange(nullptr, std::memory_order_relaxed),
                      std::memory_order_relaxed);
  set_level(trace_level::off);
}

bool trace_has_thread() noexcept {
  session *const s = the_session();
  return s && s->flushing.load(std::memory_order_relaxed);
}

trace_totals totals_of_trace() noexcept {
  trace_totals sum;
  session *const s = the_session();
  if (!s)
    return sum;
  for_each_tracer(*s, [&sum](const tracer *found) {
    sum.records += found->ring.records();
    sum.discarded += found->ring.discarded();
  });
  return sum;
}

} // namespace rt
} // namespace weft::inline v0
