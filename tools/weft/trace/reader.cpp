// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/reader.hpp"

#include "tools/weft/support/progress.hpp"

#include "base/error.hpp"
#include "base/visible.hpp"
#include "os/file.hpp"
#include "trace/folder.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <map>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft_tool {
namespace {

constexpr unsigned k_kernel_slots = 10000; // streams of the kernel are numbered from here

/// Escapes control characters in what the traced program has named.
void make_visible(trace_description &about) {
  for (std::string *text : {&about.program, &about.command, &about.machine, &about.cores, &about.load,
                            &about.settings, &about.kernel})
    *text = weft::rt::visible(*text);
  for (auto &[type, site] : about.spawn_sites)
    site = visible(site);
  for (auto &[runtime, ns] : about.shares)
    runtime = visible(runtime);
  for (std::string &type : about.types)
    type = visible(type);
}

/// Returns the end of the valid records: older ones may follow in a packet that was being filled.
const trace_record *end_of_valid(const trace_record *from, const trace_record *to,
                                 std::uint64_t begin) noexcept {
  std::uint64_t last = begin;
  while (from != to && from->time >= last &&
         from->event < static_cast<std::uint16_t>(trace_event::limit))
    last = from++->time;
  return from;
}

trace_record end_of(std::uint64_t task_and_type, std::uint64_t time) noexcept {
  return {time,
          static_cast<std::uint16_t>(trace_event::end),
          static_cast<std::uint16_t>(task_and_type >> 32),
          static_cast<std::uint32_t>(task_and_type),
          0,
          0};
}

/// Returns the number of records that `record` stands for; 0: for itself.
unsigned split(const trace_record &record, trace_record (&parts)[2]) noexcept {
  const auto e = static_cast<trace_event>(record.event);
  if (e == trace_event::next) {
    parts[0] = end_of(record.a, std::min(record.b, record.time));
    parts[1] = {record.time, static_cast<std::uint16_t>(trace_event::begin),
                record.type, record.task,
                0,           0};
    return 2;
  }
  if (e == trace_event::create_one) {
    parts[0] = {record.time, static_cast<std::uint16_t>(trace_event::create),  record.type,
                record.task, (record.b & UINT32_MAX) | std::uint64_t{1} << 32, 0};
    parts[1] = {record.time, static_cast<std::uint16_t>(trace_event::access),
                0,           record.task,
                record.a,    (record.b >> 32 & (k_one_bytes - 1)) | record.b >> 56 << 32};
    return 2;
  }
  return 0;
}

} // namespace

trace_reader::mapping trace_reader::map(const std::string &path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat st{};
  if (file < 0)
    return {};
  mapping m;
  if (fstat(file, &st) == 0 && st.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(st.st_size);
    if (void *const p = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0); p != MAP_FAILED)
      m = {static_cast<const char *>(p), bytes};
  }
  close(file);
  if (m.base)
    m_mappings.push_back(m);
  return m;
}

void trace_reader::read_stream(stream &source, const std::string &path) {
  const mapping m = map(path);
  std::size_t at = 0;
  while (at + k_packet_head <= m.bytes) {
    packet_header h;
    std::memcpy(&h, m.base + at, sizeof h);
    const std::size_t whole = h.packet_bits / 8, content = h.content_bits / 8;
    if (h.magic != k_ctf_magic || content < k_packet_head || content > whole)
      break;
    const std::size_t there = std::min(content, m.bytes - at);
    const auto *begin = reinterpret_cast<const trace_record *>(m.base + at + k_packet_head);
    const auto *end =
        end_of_valid(begin, begin + (there - k_packet_head) / sizeof(trace_record), h.begin);
    source.packets.push_back({begin, end, h.number});
    source.discarded = std::max(source.discarded, h.discarded);
    if (there < content) {
      source.packets.back().end = end;
      break;
    }
    at += whole;
  }
  m_cut_off |= m.base && at != m.bytes;
  if (m.base && at != m.bytes)
    m_troubles.push_back(path + " is cut off after " + std::to_string(at) +
                         " bytes; what follows is missing");
}

void trace_reader::read_ring(stream &source, const std::string &path) {
  const mapping m = map(path);
  ring_header h{};
  if (m.bytes < k_ring_head)
    return;
  std::memcpy(&h, m.base, sizeof h);
  if (std::memcmp(h.magic, k_ring_magic, sizeof h.magic) != 0 || h.packets == 0 ||
      h.head == UINT64_MAX || // no program comes to that number, and none is behind it
      m.bytes < k_ring_head + std::size_t{h.packets} * k_packet_bytes)
    return;
  // In a full ring the packet of number `head` has not been begun; its place has the oldest one.
  const std::uint64_t oldest = h.head > h.packets ? h.head - h.packets : 0;
  const std::uint64_t from =
      std::max(oldest, source.packets.empty() ? 0 : source.packets.back().number + 1);
  for (std::uint64_t n = from; n <= h.head; ++n) {
    const char *const at = m.base + k_ring_head + n % h.packets * k_packet_bytes;
    packet_header p;
    std::memcpy(&p, at, sizeof p);
    if (p.magic != k_ctf_magic || p.number != n)
      continue;
    const auto *begin = reinterpret_cast<const trace_record *>(at + k_packet_head);
    const std::uint64_t used =
        n == h.head ? std::min<std::uint64_t>(h.used, k_packet_records) : k_packet_records;
    source.packets.push_back({begin, end_of_valid(begin, begin + used, p.begin), n});
  }
  source.discarded = std::max(source.discarded, h.discarded);
  if (h.ended == 0)
    return;
  source.last = std::make_unique<trace_record>(end_of(h.ended_task, h.ended));
  source.packets.push_back({source.last.get(), source.last.get() + 1, h.head + 1});
}

void trace_reader::find_streams() {
  std::map<unsigned, stream> found;
  DIR *const folder = opendir(m_folder.c_str());
  if (!folder)
    throw_error(weft::errc::invalid_argument,
                "'%s' is no folder; give that of a trace (setting trace.dir)", m_folder.c_str());
  while (const dirent *e = readdir(folder)) {
    const std::string name = e->d_name;
    const std::size_t digits = name.starts_with(".ring")          ? 5
                               : name[0] == 'w' || name[0] == 'k' ? 1
                                                                  : 0;
    if (!digits)
      continue;
    const auto number = parse_unsigned(std::string_view(name).substr(digits));
    if (!number || *number >= k_kernel_slots)
      continue;
    const unsigned slot = static_cast<unsigned>(*number) + (name[0] == 'k' ? k_kernel_slots : 0);
    found[slot].slot = static_cast<unsigned>(*number);
  }
  closedir(folder);
  for (auto &[slot, s] : found) {
    read_stream(s, slot >= k_kernel_slots ? kernel_path(m_folder, s.slot)
                                          : stream_path(m_folder, s.slot));
    if (slot < k_kernel_slots && m_about.state == trace_description::running)
      read_ring(s, ring_path(m_folder, s.slot));
    m_discarded += s.discarded;
    for (const packet &p : s.packets)
      m_records += static_cast<std::uint64_t>(p.end - p.begin);
    m_streams.push_back(std::move(s));
  }
}

trace_reader::trace_reader(const std::string &folder) : m_folder(folder) {
  const auto text = read_file(description_path(folder));
  if (!text || !text->starts_with("weft trace 1\n"))
    throw_error(weft::errc::invalid_argument,
                "'%s' holds no trace of Weft; `weft run --trace -- PROGRAM` writes one",
                folder.c_str());
  m_about = parse_description(*text);
  if (m_about.state == trace_description::running) {
    m_troubles.push_back("the program has not ended its trace: it runs, was killed, or found no room for the end");
    const mapping types = map(types_path(folder));
    if (types.bytes >= sizeof(trace_type) * k_trace_types)
      take_types(reinterpret_cast<const trace_type *>(types.base));
  }
  make_visible(m_about);
  find_streams();
  m_discarded = std::max(m_discarded, m_about.discarded);
  if (m_discarded && m_about.mode == trace_mode::flight)
    m_troubles.push_back(std::to_string(m_discarded) + " older records are not in it");
  else if (m_discarded)
    m_troubles.push_back(
        std::to_string(m_discarded) +
        " records found no room and were discarded; make trace.buffer larger or trace.level lower");
  m_scale = static_cast<std::uint64_t>((wide{1'000'000'000} << k_shift) /
                                       static_cast<std::int64_t>(m_about.clock.frequency));
}

/// Takes the names of types from the table of a program that did not end; those of coroutines that the
/// program has described are in the description alone.
void trace_reader::take_types(const trace_type *table) {
  const std::vector<std::string> described =
      std::exchange(m_about.types, type_names(table));
  for (std::size_t i = 1; i < std::min(described.size(), m_about.types.size()); ++i)
    if (table[i].named == named_by::coroutine && !described[i].empty())
      m_about.types[i] = described[i];
}

trace_reader::~trace_reader() {
  for (const mapping &m : m_mappings)
    munmap(const_cast<char *>(m.base), m.bytes);
}

const std::string &trace_reader::type_name(std::uint16_t type) const noexcept {
  static const std::string unknown = "task";
  return type < m_about.types.size() && !m_about.types[type].empty() ? m_about.types[type]
                                                                     : unknown;
}

std::uint64_t trace_reader::ticks(std::int64_t ns) const noexcept {
  return m_about.first_ticks +
         static_cast<std::uint64_t>(wide{ns} * static_cast<std::int64_t>(m_about.clock.frequency) /
                                    1'000'000'000);
}

std::vector<unsigned> trace_reader::slots() const {
  std::vector<unsigned> all;
  for (const stream &s : m_streams)
    if (all.empty() || std::find(all.begin(), all.end(), s.slot) == all.end())
      all.push_back(s.slot);
  return all;
}

trace_reader::span trace_reader::bounds() const noexcept {
  std::uint64_t first = UINT64_MAX, last = 0;
  const auto happened = [](const trace_record &x) {
    return x.event != static_cast<std::uint16_t>(trace_event::counted);
  };
  for (const stream &s : m_streams)
    for (const packet &p : s.packets) {
      const trace_record *begin = p.begin, *end = p.end;
      while (begin != end && !happened(*begin))
        ++begin;
      while (begin != end && !happened(end[-1]))
        --end;
      if (begin == end)
        continue;
      first = std::min(first, begin->time);
      last = std::max(last, end[-1].time);
    }
  return last == 0 ? span{0, 0} : span{ns(first), ns(last)};
}

void trace_reader::settle(stream &source) noexcept {
  while (source.at < source.packets.size() && source.next == source.packets[source.at].end)
    source.next = ++source.at < source.packets.size() ? source.packets[source.at].begin : nullptr;
}

void trace_reader::look(stream &source) noexcept {
  source.part = 0;
  source.count = split(*source.next, source.parts);
  source.time = source.count ? source.parts[0].time : source.next->time;
}

void trace_reader::rewind(const char *what) {
  begin_phase(what, m_records);
  m_heap.clear();
  for (stream &s : m_streams) {
    s.at = 0;
    s.next = s.packets.empty() ? nullptr : s.packets[0].begin;
    settle(s);
    if (!s.next)
      continue;
    look(s);
    m_heap.push_back(&s);
  }
  for (std::size_t i = m_heap.size(); i-- > 0;)
    sink(i);
}

/// Restores the heap: the stream there may be later than those below it.
void trace_reader::sink(std::size_t at) noexcept {
  stream *const s = m_heap[at];
  const std::uint64_t time = s->time;
  for (std::size_t below = 2 * at + 1; below < m_heap.size(); below = 2 * at + 1) {
    if (below + 1 < m_heap.size() && m_heap[below + 1]->time < m_heap[below]->time)
      ++below;
    if (m_heap[below]->time >= time)
      break;
    m_heap[at] = m_heap[below];
    at = below;
  }
  m_heap[at] = s;
}

bool trace_reader::next(trace_item &item) {
  if (m_heap.empty())
    return false;
  stream &s = *m_heap[0];
  item = {s.next, s.slot};
  if (s.count) {
    s.given = s.parts[s.part];
    item.record = &s.given;
  }
  if (++s.part < s.count) {
    s.time = s.parts[s.part].time;
    sink(0);
    return true;
  }
  ++s.next;
  if (const packet &p = s.packets[s.at]; s.next == p.end) [[unlikely]] {
    advance(static_cast<std::uint64_t>(p.end - p.begin));
    settle(s);
    if (!s.next) {
      m_heap[0] = m_heap.back();
      m_heap.pop_back();
      if (m_heap.empty())
        return true;
    }
  }
  if (s.next)
    look(s);
  sink(0);
  return true;
}

} // namespace weft_tool
