// SPDX-License-Identifier: Apache-2.0
#include "observe/reading.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "observe/segment.hpp"
#include "os/file.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <unistd.h>
#include <unordered_map>

namespace weft::inline v0 {
namespace rt {
namespace {

std::string text_of(const char *field, std::size_t size) { return {field, strnlen(field, size)}; }

/// Returns a text that the program may replace meanwhile (mark_absent).
std::string text_in_use(const char *field, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    if (const char c = __atomic_load_n(field + i, __ATOMIC_RELAXED))
      text += c;
    else
      break;
  return text;
}

std::uint64_t word_at(const char *block, std::uint32_t offset) noexcept {
  return peek(*reinterpret_cast<const std::uint64_t *>(block + offset));
}

/// Holds where the parts of a segment are (of another program's, in a copy), and what changes.
struct view {
  const char *base;
  const segment_header &h;
  const segment_header &live;
  [[nodiscard]] const catalogue_entry &entry(std::uint32_t i) const noexcept {
    return *reinterpret_cast<const catalogue_entry *>(base + h.catalogue_offset +
                                                      std::size_t{h.entry_bytes} * i);
  }
  [[nodiscard]] const char *block(unsigned slot) const noexcept {
    return base + h.block_offset + std::size_t{h.block_bytes} * slot;
  }
  [[nodiscard]] const counter_block &known(unsigned slot) const noexcept {
    return *reinterpret_cast<const counter_block *>(block(slot));
  }
};

/// Holds what an entry says of its words: read once, because another program may change it.
struct placed {
  counter_kind kind;
  counter_scope scope;
  std::uint32_t worker_offset, process_offset, words;

  explicit placed(const catalogue_entry &entry) noexcept {
    __atomic_load(&entry.kind, &kind, __ATOMIC_RELAXED);
    __atomic_load(&entry.scope, &scope, __ATOMIC_RELAXED);
    __atomic_load(&entry.worker_offset, &worker_offset, __ATOMIC_RELAXED);
    __atomic_load(&entry.process_offset, &process_offset, __ATOMIC_RELAXED);
    __atomic_load(&entry.words, &words, __ATOMIC_RELAXED);
  }
};

/// Returns false if an entry lies outside of its block.
bool fits(const view &source, const placed &entry) noexcept {
  const std::size_t bytes = std::size_t{entry.words} * 8;
  return entry.words != 0 && entry.words <= k_duration_buckets && entry.worker_offset % 8 == 0 &&
         entry.process_offset % 8 == 0 &&
         (entry.scope == counter_scope::process ||
          entry.worker_offset + bytes <= source.h.block_bytes) &&
         (entry.scope == counter_scope::worker ||
          entry.process_offset + bytes <= source.h.process_bytes);
}

void read_header(reading &numbers, const segment_header &header, const segment_header &live) {
  numbers.pid = header.pid;
  numbers.program = text_of(header.program, sizeof header.program);
  numbers.library = text_of(header.library, sizeof header.library);
  numbers.workers = std::min(header.workers, header.block_limit);
  numbers.cpus = header.cpus;
  numbers.exact_time = header.exact_time != 0;
  numbers.started_ns = header.started_ns;
  numbers.ended = __atomic_load_n(&live.state, __ATOMIC_ACQUIRE) ==
                  static_cast<std::uint32_t>(segment_state::ended); // O1
  numbers.missing_blocks = __atomic_load_n(&live.missing_blocks, __ATOMIC_RELAXED);
  numbers.reference_task_ns = header.reference_task_ns;
  numbers.reference_run_ns = header.reference_run_ns;
}

/// Returns the moment of the reading; of a dead program, that of its latest sign of life.
std::uint64_t moment(const reading &numbers, const view &source, std::uint32_t blocks) noexcept {
  if (numbers.alive && !numbers.ended)
    return now_ns();
  std::uint64_t last =
      std::max(numbers.started_ns, __atomic_load_n(&source.live.ended_ns, __ATOMIC_RELAXED));
  for (unsigned i = 0; i < blocks && !numbers.ended; ++i)
    last = std::max(last, peek(source.known(i).last_seen));
  return last;
}

std::int64_t shown(const placed &entry, std::uint64_t word, std::uint64_t now) noexcept {
  return static_cast<std::int64_t>(entry.kind == counter_kind::stopwatch ? elapsed(word, now)
                                                                         : word);
}

void read_cells(reading &numbers, const view &source) {
  const char *process = source.base + source.h.process_offset;
  for (std::uint32_t i = 0; i < numbers.catalogue.size(); ++i) {
    const placed e(source.entry(i));
    const bool single = e.kind != counter_kind::histogram && fits(source, e);
    numbers.cells.push_back(single && e.scope != counter_scope::worker
                                ? shown(e, word_at(process, e.process_offset), numbers.taken_ns)
                                : 0);
    for (const auto &s : numbers.slots)
      numbers.cells.push_back(
          single && e.scope != counter_scope::process
              ? shown(e, word_at(source.block(s.id), e.worker_offset), numbers.taken_ns)
              : 0);
    if (e.kind == counter_kind::histogram && e.scope == counter_scope::worker && fits(source, e) &&
        numbers.durations.empty())
      for (const auto &s : numbers.slots) {
        auto &d = numbers.durations.emplace_back();
        for (std::uint32_t k = 0; k < e.words; ++k)
          d[k] = word_at(source.block(s.id), e.worker_offset + 8 * k);
      }
  }
  numbers.durations.resize(numbers.slots.size());
}

void read_types(reading &numbers, const view &source) {
  const std::size_t bytes = std::size_t{source.h.types} * source.h.type_bytes;
  if (source.h.types == 0 || source.h.type_bytes < sizeof(type_time) ||
      source.h.types_offset % 8 != 0 || source.h.types_offset + bytes > source.h.block_bytes)
    return;
  std::map<std::string, reading::type> all;
  for (const auto &s : numbers.slots)
    for (std::uint32_t i = 0; i < source.h.types; ++i) {
      const auto &t = *reinterpret_cast<const type_time *>(
          source.block(s.id) + source.h.types_offset + std::size_t{source.h.type_bytes} * i);
      if (!__atomic_load_n(&t.ready, __ATOMIC_ACQUIRE)) // O1 of type_times.hpp
        break;
      reading::type &sum = all[text_of(t.name, sizeof t.name)];
      sum.tasks += peek(t.tasks);
      sum.timed += peek(t.timed);
      sum.ns += peek(t.ns);
    }
  for (auto &[name, t] : all)
    numbers.types.push_back({name, t.tasks, t.timed, t.ns});
}

/// Computes the levels that follow from counts since the start. A difference of readings keeps
/// them.
void read_levels(reading &numbers) {
  const auto total = [&numbers](const char *name) {
    const std::size_t e = numbers.find(name);
    return e == numbers.catalogue.size() ? 0 : numbers.total(e);
  };
  const std::int64_t created = total("/dependencies/count/without-accesses") +
                               total("/dependencies/count/waited") +
                               total("/dependencies/count/free-at-once");
  const std::int64_t begun = total("/threads/count/executed") - total("/threads/count/reruns");
  numbers.in_graph = std::max<std::int64_t>(0, created - begun - total("/managers/queue/new"));
  numbers.suspended = std::max<std::int64_t>(0, total("/threads/count/suspended") -
                                                    total("/threads/count/resumed"));
}

std::uint64_t resident_bytes_of(unsigned pid) {
  const auto statm = read_file("/proc/" + std::to_string(pid) + "/statm");
  if (!statm)
    return 0;
  const std::string_view text = *statm;
  const auto begin = text.find(' ') + 1;
  const auto pages = parse_unsigned(text.substr(begin, text.find(' ', begin) - begin));
  return pages ? *pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

} // namespace

std::size_t reading::find(std::string_view name) const noexcept {
  std::size_t i = 0;
  while (i < catalogue.size() && catalogue[i].name != name)
    ++i;
  return i;
}

std::int64_t reading::total(std::size_t entry) const noexcept {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i <= slots.size(); ++i)
    sum += cells[entry * (slots.size() + 1) + i];
  return sum;
}

reading::buckets reading::all_durations() const noexcept {
  buckets sum{};
  for (const auto &d : durations)
    for (unsigned i = 0; i < k_duration_buckets; ++i)
      sum[i] += d[i];
  return sum;
}

namespace {

reading read_view(const view &source, program_state state) {
  reading r;
  r.alive = state == program_state::running;
  read_header(r, source.h, source.live);
  const std::uint32_t entries =
      std::min(__atomic_load_n(&source.live.entries, __ATOMIC_ACQUIRE), source.h.entry_limit); // O1
  const std::uint32_t blocks =
      std::min(__atomic_load_n(&source.live.blocks, __ATOMIC_ACQUIRE), source.h.block_limit);   // O1
  r.taken_ns = moment(r, source, blocks);
  r.span_ns = r.taken_ns - std::min(r.started_ns, r.taken_ns);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const catalogue_entry &e = source.entry(i);
    const bool absent = __atomic_load_n(&e.absent, __ATOMIC_ACQUIRE) != 0; // O1: then `help` says why
    const placed at(e);
    r.catalogue.push_back({text_of(e.name, sizeof e.name), text_of(e.unit, sizeof e.unit),
                           text_in_use(e.help, sizeof e.help), at.kind, at.scope, absent});
  }
  for (unsigned i = 0; i < blocks; ++i) {
    const counter_block &b = source.known(i);
    if (const auto kind = static_cast<block_kind>(peek(b.kind)); kind != block_kind::none)
      r.slots.push_back({i, kind, is_running(peek(b.overall)), is_running(peek(b.idle))});
  }
  read_cells(r, source);
  read_types(r, source);
  read_levels(r);
  if (r.alive)
    r.resident_bytes = resident_bytes_of(r.pid);
  return r;
}

} // namespace

reading read_segment(const char *base, program_state state) {
  const auto &header = *reinterpret_cast<const segment_header *>(base);
  return read_view({base, header, header}, state);
}

reading read_segment(const segment &area, program_state state) {
  const segment_header copy = checked_header(area);
  return read_view({area.base, copy, *reinterpret_cast<const segment_header *>(area.base)}, state);
}

namespace {

constexpr std::size_t k_new = ~std::size_t{0};

/// Returns where each slot of `later` is in `earlier`; k_new for one that has come since.
std::vector<std::size_t> places_in(const reading &earlier, const reading &later) {
  std::unordered_map<unsigned, std::size_t> places;
  for (std::size_t i = 0; i < earlier.slots.size(); ++i)
    places.emplace(earlier.slots[i].id, i);
  std::vector<std::size_t> found;
  for (const reading::slot &s : later.slots) {
    const auto at = places.find(s.id);
    found.push_back(at == places.end() ? k_new : at->second);
  }
  return found;
}

void subtract_types(reading &later, const reading &earlier) {
  std::unordered_map<std::string_view, const reading::type *> before;
  for (const reading::type &t : earlier.types)
    before.emplace(t.name, &t);
  for (reading::type &t : later.types)
    if (const auto at = before.find(t.name); at != before.end()) {
      t.tasks -= std::min(t.tasks, at->second->tasks);
      t.timed -= std::min(t.timed, at->second->timed);
      t.ns -= std::min(t.ns, at->second->ns);
    }
}

} // namespace

reading difference(const reading &later, const reading &earlier) {
  if (later.pid != earlier.pid || later.started_ns != earlier.started_ns)
    throw_error(errc::invalid_argument,
                "two snapshots of different programs (pid %u and %u) have no difference", later.pid,
                earlier.pid);
  reading d = later;
  d.span_ns = later.taken_ns - std::min(later.taken_ns, earlier.taken_ns);
  const std::size_t columns = later.slots.size() + 1;
  const std::vector<std::size_t> then = places_in(earlier, later);
  for (std::size_t e = 0; e < later.catalogue.size() && e < earlier.catalogue.size(); ++e) {
    if (later.catalogue[e].kind == counter_kind::level)
      continue;
    d.cells[e * columns] -= earlier.of_process(e);
    for (std::size_t now = 0; now < then.size(); ++now)
      if (then[now] != k_new)
        d.cells[e * columns + 1 + now] =
            std::max<std::int64_t>(0, later.of_slot(e, now) - earlier.of_slot(e, then[now]));
  }
  for (std::size_t now = 0; now < then.size(); ++now)
    if (then[now] != k_new)
      for (unsigned i = 0; i < k_duration_buckets; ++i)
        d.durations[now][i] -= std::min(d.durations[now][i], earlier.durations[then[now]][i]);
  subtract_types(d, earlier);
  return d;
}

namespace {

/// Says whether the process exists and has not ended: a zombie has ended, and its counters are
/// final.
bool goes_on(long pid) {
  const auto stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
  return name_end != std::string::npos && name_end + 2 < stat->size() &&
         (*stat)[name_end + 2] != 'Z' && (*stat)[name_end + 2] != 'X';
}

} // namespace

reading read_program(long pid) {
  const std::string path = segment_path(pid);
  const bool is_there = access(path.c_str(), F_OK) == 0;
  if (!is_there && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH)
    throw_error(errc::invalid_argument,
                "there is no program with pid %ld, and none has left counters", pid);
  segment s = is_there ? map_segment(path) : segment{};
  const bool lives = is_there && owner_lives(s);
  if (!is_there || (!lives && goes_on(pid))) { // an earlier program with this pid has left the file
    if (is_there)
      unmap(s);
    throw_error(
        errc::invalid_argument,
        "program %ld shows no counters: it does not use Weft, has not started it yet, or has counters.share=false",
        pid);
  }
  try {
    reading r = read_segment(s, lives ? program_state::running : program_state::gone);
    unmap(s);
    return r;
  } catch (...) { // the program has made another file of it
    unmap(s);
    throw;
  }
}

} // namespace rt
} // namespace weft::inline v0
