// SPDX-License-Identifier: Apache-2.0
// Writes a trace of a program that never ran, of any size, to measure readers, exporters and the
// report.
//
// Its tasks step a line of cells: each step of a cell is a task that reads its neighbours. The
// first worker creates tasks; all others run them. There are two types of tasks, whose durations
// vary. The output is deterministic.
#include "os/file.hpp"
#include "trace/folder.hpp"
#include "trace/metadata.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace weft::rt;

constexpr std::uint64_t k_create = 60, k_access = 15,
                        k_gap = 120; // ns: of a creation, of each access, between two tasks
constexpr std::uint16_t k_main = 1, k_inner = 2, k_border = 3;
constexpr unsigned k_last_word_slot = 9999;

/// Is a stream: its records are sorted by time as far as they are known.
class stream {
 public:
  stream(const std::string &folder, unsigned slot)
      : m_file(open(stream_path(folder, slot).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                    0666)) {
    if (m_file < 0)
      throw std::runtime_error("cannot write to " + folder);
    m_head.worker = slot;
  }
  stream(const stream &) = delete;
  stream &operator=(const stream &) = delete;
  ~stream() { close(m_file); }
  void put(std::uint64_t time, trace_event e, std::uint16_t type, std::uint32_t task,
           std::uint64_t a = 0, std::uint64_t b = 0) {
    m_records.push_back({time, static_cast<std::uint16_t>(e), type, task, a, b});
  }
  /// Writes the records before that time: no earlier ones will come.
  void settle(std::uint64_t until) {
    sort();
    const auto end = std::find_if(m_records.begin(), m_records.end(),
                                  [until](const trace_record &r) { return r.time >= until; });
    std::size_t at = 0;
    for (const auto known = static_cast<std::size_t>(end - m_records.begin());
         known - at >= k_packet_records || (until == UINT64_MAX && known > at);) {
      const std::size_t n = std::min(k_packet_records, known - at);
      m_head.begin = m_records[at].time;
      m_head.end = m_records[at + n - 1].time;
      m_head.content_bits = m_head.packet_bits = 8 * (sizeof m_head + n * sizeof(trace_record));
      if (!write_whole(m_file, reinterpret_cast<const char *>(&m_head), sizeof m_head) ||
          !write_whole(m_file, reinterpret_cast<const char *>(&m_records[at]),
                       n * sizeof(trace_record)))
        throw std::runtime_error("no room for the trace");
      ++m_head.number;
      at += n;
    }
    m_records.erase(m_records.begin(), m_records.begin() + static_cast<std::ptrdiff_t>(at));
  }

 private:
  /// Sorts the records, which are nearly sorted, so that each moves a few places; records of one
  /// time stay in their order.
  void sort() {
    for (std::size_t i = 1; i < m_records.size(); ++i)
      for (std::size_t k = i; k > 0 && m_records[k].time < m_records[k - 1].time; --k)
        std::swap(m_records[k], m_records[k - 1]);
  }

  int m_file;
  packet_header m_head;
  std::vector<trace_record> m_records;
};

struct shape {
  std::uint64_t tasks = 100'000;
  unsigned workers = 8;
  std::string folder;
};

struct cell {
  std::uint64_t end = 0; // of its last step
  unsigned worker = 0;   // that ran that step
};

class generator {
 public:
  explicit generator(const shape &s)
      : m_shape(s), m_cells(std::max<std::size_t>(8 * s.workers, 64)) {
    for (unsigned slot = 0; slot < s.workers; ++slot)
      m_streams.push_back(std::make_unique<stream>(s.folder, slot));
    m_free.assign(s.workers, 0);
  }
  void run();
  [[nodiscard]] std::uint64_t executed() const { return m_id - 1; }

 private:
  std::uint64_t duration(std::size_t c) {
    m_seed = m_seed * 1664525u + 1013904223u;
    return (c == 0 || c + 1 == m_cells.size() ? 9000 : 4000) + (m_seed >> 20) % 4000;
  }
  void step(std::size_t cells);
  void describe() const;

  const shape &m_shape;
  std::vector<std::unique_ptr<stream>> m_streams;
  std::vector<cell> m_cells;
  std::vector<std::uint64_t> m_free; // when a worker is done
  std::uint64_t m_creator = 1000;
  std::uint32_t m_id = 1, m_seed = 1;
};

void generator::step(std::size_t cells) {
  const std::vector<cell> before = m_cells;
  std::uint64_t least = *std::min_element(m_free.begin() + 1, m_free.end());
  m_creator = std::max(m_creator, least > 200'000 ? least - 200'000 : 0); // throttled
  for (std::size_t c = 0; c < cells; ++c) {
    const std::uint32_t id = ++m_id;
    const std::uint16_t type = c == 0 || c + 1 == m_cells.size() ? k_border : k_inner;
    stream &creator = *m_streams[0];
    creator.put(m_creator += k_create, trace_event::create, type, id, 1 | std::uint64_t{3} << 32);
    std::uint64_t ready = 0;
    const cell *last = nullptr;
    for (std::size_t n = c ? c - 1 : c; n <= std::min(c + 1, m_cells.size() - 1); ++n) {
      creator.put(m_creator += k_access, trace_event::access, 0, id, 0x10000 + 64 * n,
                  8 | std::uint64_t{n == c ? 2u : 0u} << 32);
      if (before[n].end >= ready) {
        ready = before[n].end;
        last = &before[n];
      }
    }
    const unsigned w = 1 + static_cast<unsigned>(c) % (m_shape.workers - 1);
    if (ready > m_creator)
      m_streams[last->worker]->put(ready, trace_event::ready, 0, id, 1);
    else
      creator.put(ready = m_creator += k_access, trace_event::ready, 0, id);
    std::uint64_t begin = m_free[w] + k_gap;
    if (ready > begin) {
      m_streams[w]->put(begin, trace_event::idle, 0, 0);
      m_streams[w]->put(ready, trace_event::busy, 0, 0);
      begin = ready + k_gap;
    }
    m_streams[w]->put(begin, trace_event::begin, type, id);
    m_free[w] = begin + duration(c);
    m_streams[w]->put(m_free[w], trace_event::end, type, id);
    m_cells[c] = {m_free[w], w};
  }
}

void generator::run() {
  m_streams[0]->put(0, trace_event::root, k_main, 1);
  for (std::uint64_t left = m_shape.tasks; left;) {
    const std::size_t cells = std::min<std::uint64_t>(left, m_cells.size());
    const std::uint64_t before =
        std::min(m_creator, *std::min_element(m_free.begin() + 1, m_free.end()));
    step(cells);
    left -= cells;
    for (auto &s : m_streams)
      s->settle(before);
  }
  const std::uint64_t end = *std::max_element(m_free.begin(), m_free.end());
  m_streams[0]->put(end + 100, trace_event::waited, 0, 1, m_creator);
  m_streams[0]->put(end + 200, trace_event::end, k_main, 1);
  for (auto &s : m_streams)
    s->settle(UINT64_MAX);
  stream last(m_shape.folder, k_last_word_slot);
  last.put(end + 300, trace_event::counted, 0, 0,
           static_cast<std::uint64_t>(counted_value::executed), executed());
  last.put(end + 300, trace_event::counted, 0, 0,
           static_cast<std::uint64_t>(counted_value::created), executed());
  last.settle(UINT64_MAX);
  describe();
}

void generator::describe() const {
  trace_description d;
  d.level = trace_level::graph;
  d.workers = m_shape.workers;
  d.program = "made";
  d.pid = 1;
  d.state = trace_description::exact;
  d.types = {"", "main", "inner", "border"};
  if (!replace_file(m_shape.folder + "/metadata", ctf_metadata(d)) ||
      !replace_file(description_path(m_shape.folder), own_description(d)))
    throw std::runtime_error("cannot write to " + m_shape.folder);
}

int usage() {
  std::fputs(
      "usage: weft-make-trace [--tasks N] [--workers N] FOLDER\n"
      "Writes a trace of level graph of N tasks (100000) on N workers (8; at least 2), some 7 records each, into FOLDER.\n",
      stderr);
  return 2;
}

} // namespace

int main(int argc, char **argv) try {
  shape s;
  for (int at = 1; at < argc; ++at) {
    const std::string word = argv[at];
    const std::uint64_t number = at + 1 < argc ? parse_unsigned(argv[at + 1]).value_or(0) : 0;
    if (word == "--tasks" && number >= 1 && number <= 4'000'000'000u)
      s.tasks = number, ++at;
    else if (word == "--workers" && number >= 2 && number <= 4096)
      s.workers = static_cast<unsigned>(number), ++at;
    else if (word.starts_with("-") || !s.folder.empty())
      return usage();
    else
      s.folder = word;
  }
  if (s.folder.empty())
    return usage();
  if (const std::string trouble = make_trace_folder(s.folder); !trouble.empty())
    throw std::runtime_error(s.folder + ": " + trouble);
  generator g(s);
  g.run();
  std::printf("%llu tasks on %u workers in %s\n", static_cast<unsigned long long>(g.executed()),
              s.workers, s.folder.c_str());
  return 0;
} catch (const std::exception &e) {
  std::fprintf(stderr, "weft-make-trace: %s\n", e.what());
  return 1;
}
