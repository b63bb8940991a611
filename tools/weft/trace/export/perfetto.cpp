// SPDX-License-Identifier: Apache-2.0
// Writes Perfetto's own format: a message Trace of protocol buffers, whose packets describe tracks
// (one per worker, one per counter) and the events on them. It has less than half of the size of
// the JSON. Fields are those of perfetto_trace.proto, which is public.
#include "tools/weft/trace/export/export.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

namespace weft_tool {
namespace {

/// Is a message that is being written. `field` is the number of a field in it.
class message {
 public:
  message &number(unsigned field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  message &text(unsigned field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    m_bytes += value;
    return *this;
  }
  message &fixed(unsigned field, std::uint64_t value) {
    varint(field << 3 | 1);
    for (int byte = 0; byte != 8; ++byte, value >>= 8)
      m_bytes += static_cast<char>(value & 0xff);
    return *this;
  }
  message &part(unsigned field, const message &sent) { return text(field, sent.m_bytes); }
  void clear() noexcept { m_bytes.clear(); }
  [[nodiscard]] const std::string &bytes() const noexcept { return m_bytes; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
      m_bytes += static_cast<char>(value | 0x80);
    m_bytes += static_cast<char>(value);
  }
  std::string m_bytes;
};

// Fields of TracePacket, and of the messages in it.
enum : unsigned {
  f_packet = 1,
  f_timestamp = 8,
  f_sequence = 10,
  f_track_event = 11,
  f_interned = 12,
  f_flags = 13,
  f_descriptor = 60
};
enum : unsigned {
  f_annotations = 4,
  f_type = 9,
  f_name_iid = 10,
  f_track = 11,
  f_name = 23,
  f_counter_value = 30,
  f_flow = 47,
  f_last_of_flow = 48
}; // TrackEvent
enum : std::uint64_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 }; // its type
enum : std::uint64_t { state_cleared = 1, needs_state = 2 };
enum : std::uint64_t {
  track_of_process = 1,
  track_of_graph = 2,
  first_track = 16,
  first_of_kernel = 1 << 16,
  first_of_messages = 1 << 17, // of a rank
  tracks_of_trace = 1 << 20
}; // ours
enum : std::uint64_t {
  name_idle = k_trace_types,
  name_away = k_trace_types + 1,
  annotation_task = 1
}; // names below are types

class perfetto_writer {
 public:
  perfetto_writer(rank_traces &traces, std::size_t index, output_file &out)
      : m_traces(traces), m_reader(traces.at(index)), m_index(index), m_out(out) {}
  void begin();
  void describe_messages_of(std::uint16_t rank);
  void put(const message_mark &mark);
  void put(const slice &part);
  void put_graph(std::int64_t ns, std::int64_t tasks);

 private:
  void emit(message &packet);
  void describe_tracks();
  void name_types();
  void describe(const message &track);
  void event(std::int64_t ns, const message &event);
  /// Returns the number of a track of this trace among those of all.
  [[nodiscard]] std::uint64_t track(std::uint64_t own) const noexcept {
    return m_index * tracks_of_trace + own;
  }
  [[nodiscard]] std::uint64_t sequence() const noexcept { return m_index + 1; }

  rank_traces &m_traces;
  const trace_reader &m_reader;
  const std::size_t m_index;
  output_file &m_out;
  message m_event, m_annotation, m_packet, m_whole;
};

/// Writes a packet with the tag and the length that it has in the message Trace.
void perfetto_writer::emit(message &packet) {
  m_whole.clear();
  m_out.put(m_whole.part(f_packet, packet).bytes());
}

void perfetto_writer::describe(const message &track) {
  message packet;
  emit(packet.number(f_sequence, sequence()).part(f_descriptor, track));
}

void perfetto_writer::describe_tracks() {
  message process, graph;
  // Two hosts may use one pid.
  const trace_description &about = m_reader.about();
  process
      .number(1,
              static_cast<std::uint64_t>(m_traces.count() == 1 ? about.pid : about.place.rank + 1))
      .text(6, m_traces.name_of(m_index));
  describe(message()
               .number(1, track(track_of_process))
               .part(3, process)
               .number(11, 3)); // child tracks in the order of their ranks
  const auto describe_track = [&](std::uint64_t own, const std::string &name, std::uint64_t order) {
    describe(message()
                 .number(1, track(own))
                 .text(2, name)
                 .number(5, track(track_of_process))
                 .number(12, order));
  };
  for (const unsigned slot : m_reader.slots()) {
    if (!is_of_worker(slot))
      continue;
    describe_track(first_track + slot, "worker " + std::to_string(slot), 2 * slot + 1);
    if (!m_reader.about().kernel.empty())
      describe_track(first_of_kernel + slot, "worker " + std::to_string(slot) + ": kernel",
                     2 * slot + 2);
  }
  if (m_reader.about().level >= trace_level::tasks)
    describe(message()
                 .number(1, track(track_of_graph))
                 .text(2, "tasks in the graph")
                 .number(5, track(track_of_process))
                 .part(8, graph.number(3, 2)));
}

/// Writes the names once: events refer to them by number.
void perfetto_writer::name_types() {
  message names;
  const auto name = [&names](std::uint64_t iid, std::string_view text) {
    names.part(2, message().number(1, iid).text(2, text));
  };
  for (std::size_t i = 1; i < m_reader.about().types.size(); ++i)
    if (!m_reader.about().types[i].empty())
      name(i + 1, m_reader.about().types[i]);
  name(1, m_reader.type_name(0));
  name(name_idle + 1, "idle");
  name(name_away + 1, "off cpu");
  names.part(3, message().number(1, annotation_task).text(2, "task"));
  emit(message()
           .number(f_sequence, sequence())
           .number(f_flags, state_cleared)
           .part(f_interned, names));
}

void perfetto_writer::begin() {
  describe_tracks();
  name_types();
}

void perfetto_writer::event(std::int64_t ns, const message &event) {
  m_packet.clear();
  m_packet.number(f_timestamp, static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)))
      .number(f_sequence, sequence())
      .number(f_flags, needs_state)
      .part(f_track_event, event);
  emit(m_packet);
}

void perfetto_writer::put(const slice &part) {
  const std::uint64_t name = part.what == slice::body   ? std::uint64_t{part.type}
                             : part.what == slice::idle ? std::uint64_t{name_idle}
                                                        : name_away;
  const std::uint64_t own =
      part.slot + (part.what == slice::away ? std::uint64_t{first_of_kernel}
                                            : first_track); // its slices overlap with bodies
  m_event.clear();
  m_event.number(f_type, slice_begin).number(f_track, track(own)).number(f_name_iid, name + 1);
  if (part.what == slice::body) {
    m_annotation.clear();
    m_event.part(f_annotations, m_annotation.number(1, annotation_task).number(3, part.task));
  }
  const std::int64_t shift = m_traces.shift(m_index);
  event(part.begin + shift, m_event);
  if (const std::string inside = coroutine_text(m_reader, part); !inside.empty()) {
    m_event.clear();
    m_event.number(f_type, slice_begin).number(f_track, track(own)).text(f_name, inside);
    event(part.begin + shift, m_event);
    m_event.clear();
    event(part.end + shift, m_event.number(f_type, slice_end).number(f_track, track(own)));
  }
  m_event.clear();
  event(part.end + shift, m_event.number(f_type, slice_end).number(f_track, track(own)));
}

void perfetto_writer::put_graph(std::int64_t ns, std::int64_t tasks) {
  m_event.clear();
  event(ns + m_traces.shift(m_index),
        m_event.number(f_type, counter)
            .number(f_track, track(track_of_graph))
            .number(f_counter_value, static_cast<std::uint64_t>(tasks)));
}

void perfetto_writer::describe_messages_of(std::uint16_t rank) {
  describe(message()
               .number(1, track(first_of_messages + rank))
               .text(2, "messages of rank " + std::to_string(rank))
               .number(5, track(track_of_process))
               .number(12, first_of_messages + rank));
}

void perfetto_writer::put(const message_mark &mark) {
  m_event.clear();
  m_event.number(f_type, instant)
      .number(f_track, track(first_of_messages + mark.own))
      .text(f_name, m_traces.text(mark));
  if (mark.flow != 0)
    m_event.fixed(mark.what == trace_event::send ? f_flow : f_last_of_flow, mark.flow);
  event(mark.ns, m_event);
}

void export_tasks(trace_reader &reader, perfetto_writer &to) {
  constexpr std::int64_t k_looks = 10'000; // at the tasks in the graph
  to.begin();
  const auto [first, last] = reader.bounds();
  const std::int64_t between = (last - first) / k_looks;
  std::int64_t next = first;
  live_tasks live;
  reader.rewind("writing for Perfetto");
  slice_builder all(reader, [&to](const slice &s) { to.put(s); });
  trace_item i;
  while (reader.next(i)) {
    all.take(i);
    const std::int64_t now = reader.ns(i.record->time);
    if (live.take(*i.record) == 0 || now < next)
      continue;
    to.put_graph(now, live.tasks());
    next = now + between;
  }
  all.finish();
  if (reader.about().level >= trace_level::tasks)
    to.put_graph(last, live.tasks());
}

} // namespace

void export_perfetto(rank_traces &traces, output_file &out) {
  std::deque<perfetto_writer> writers;
  for (std::size_t i = 0; i != traces.count(); ++i)
    export_tasks(traces.at(i), writers.emplace_back(traces, i, out));
  std::set<std::pair<std::uint32_t, std::uint16_t>> described;
  for (const message_mark &mark : traces.read_messages()) {
    perfetto_writer &to = writers[mark.trace];
    if (described.emplace(mark.trace, mark.own).second)
      to.describe_messages_of(mark.own);
    to.put(mark);
  }
}

} // namespace weft_tool
