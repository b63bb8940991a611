// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/export/export.hpp"

#include <algorithm>

namespace weft_tool {
namespace {

constexpr std::size_t k_most_pending = 1 << 20; // records that wait to be sorted
enum paraver_state : unsigned { state_idle = 0, state_running = 1, state_away = 2 };
constexpr unsigned k_type_of_task = 6400000, k_type_of_id = 6400001;

/// Sorts records for Paraver, which wants them in the order of their times, while slices come in
/// the order of their ends. So slices are cut from time to time: all that began before a cut is
/// then known.
class sorter {
 public:
  sorter(trace_reader &reader, output_file &out)
      : m_out(out), m_all(reader, [this](const slice &s) { take(s); }) {}
  void run(trace_reader &reader) {
    reader.rewind("writing for Paraver");
    trace_item i;
    while (reader.next(i)) {
      m_all.take(i);
      if (m_pending.size() >= k_most_pending) {
        m_all.cut();
        write();
      }
    }
    m_all.finish();
    write();
  }

 private:
  struct line {
    std::int64_t at, end; // end: of a state, else -1
    unsigned thread, value;
    std::uint32_t task, order; // order: of those at one time
  };
  void take(const slice &part) {
    static constexpr unsigned k_states[] = {state_running, state_idle, state_away};
    const std::int64_t begin = std::max<std::int64_t>(part.begin, 0);
    put({begin, part.end, part.slot + 1, k_states[part.what], 0, 0});
    if (part.what != slice::body)
      return;
    put({begin, -1, part.slot + 1, part.type, part.task, 0});
    put({part.end, -1, part.slot + 1, 0, 0, 0});
  }
  void write() {
    std::sort(m_pending.begin(), m_pending.end(), [](const line &a, const line &b) {
      return a.at != b.at ? a.at < b.at : a.order < b.order;
    });
    for (const line &l : m_pending) {
      put(l.end >= 0 ? "1:" : "2:", l.thread);
      put(":1:1:", l.thread);
      put(":", static_cast<std::uint64_t>(l.at));
      if (l.end >= 0) {
        put(":", static_cast<std::uint64_t>(l.end));
        put(":", l.value);
      } else {
        put(":", k_type_of_task);
        put(":", l.value);
        put(":", k_type_of_id);
        put(":", l.task);
      }
      m_out.put('\n');
    }
    m_pending.clear();
  }
  void put(line text) {
    text.order = static_cast<std::uint32_t>(m_pending.size());
    m_pending.push_back(text);
  }
  void put(std::string_view text, std::uint64_t n) {
    m_out.put(text);
    m_out.number(n);
  }

  output_file &m_out;
  std::vector<line> m_pending;
  slice_builder m_all;
};

unsigned threads_of(const trace_reader &reader) {
  unsigned threads = 1;
  for (const unsigned slot : reader.slots())
    if (is_of_worker(slot))
      threads = std::max(threads, slot + 1);
  return threads;
}

void write_pcf(const trace_reader &reader, output_file &out) {
  out.put(
      "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n0    Idle\n1    Running\n2    Taken off the CPU\n\n"
      "STATES_COLOR\n0    {117,195,255}\n1    {0,0,255}\n2    {255,0,174}\n\n");
  out.print("EVENT_TYPE\n0    %u    Task type\nVALUES\n0      none\n", k_type_of_task);
  for (std::size_t i = 1; i < reader.about().types.size(); ++i)
    if (!reader.about().types[i].empty())
      out.print("%zu      %s\n", i, reader.about().types[i].c_str());
  out.print("\nEVENT_TYPE\n0    %u    Task number\n", k_type_of_id);
}

void write_row(unsigned threads, output_file &out) {
  for (const char *level : {"CPU", "THREAD"}) {
    out.print("%sLEVEL %s SIZE %u\n", *level == 'T' ? "\n" : "", level, threads);
    for (unsigned t = 0; t < threads; ++t)
      out.print("worker %u\n", t);
  }
}

} // namespace

void export_paraver(trace_reader &reader, const std::string &path) {
  output_file prv(path + ".prv"), pcf(path + ".pcf"), row(path + ".row");
  const unsigned threads = threads_of(reader);
  prv.print("#Paraver (01/01/2000 at 00:00):%lld_ns:1(%u):1:1(%u:1)\n",
            static_cast<long long>(reader.bounds().last), threads, threads);
  sorter(reader, prv).run(reader);
  write_pcf(reader, pcf);
  write_row(threads, row);
  for (output_file *f : {&prv, &pcf, &row})
    f->finish();
}

} // namespace weft_tool
