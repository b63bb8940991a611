// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/report/data.hpp"

#include "tools/weft/support/progress.hpp"

#include "os/source_lines.hpp"
#include "tools/weft/report/findings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <queue>
#include <set>
#include <tuple>

namespace weft_tool {
namespace {

constexpr std::uint16_t k_none = UINT16_MAX;      // no type
constexpr std::size_t k_what_ifs = 6;            // types, the most expensive
constexpr std::size_t k_most_gains = 40;         // types
constexpr std::size_t k_most_replayed =
    12'000'000; // tasks, in all replays for one purpose: two million take a second

/// Returns the bucket of a duration: there are two per power of two.
std::size_t grain_bucket(double ns) noexcept {
  const auto whole = static_cast<std::uint64_t>(std::max(ns, 64.0));
  const int power = 63 - __builtin_clzll(whole);
  const bool upper = static_cast<double>(whole) >=
                     static_cast<double>(std::uint64_t{1} << power) * 1.4142135623730951;
  return std::min<std::size_t>(static_cast<std::size_t>(2 * (power - 6)) + upper,
                               k_grain_buckets - 1);
}

std::size_t sample_of(const report_data &data, std::int64_t ns) noexcept {
  const double at = (static_cast<double>(ns) - data.begin_ns) / data.duration_ns;
  return static_cast<std::size_t>(std::clamp(at, 0.0, 0.999999) * k_samples);
}

/// Adds up the slices of a trace.
class collector {
 public:
  collector(trace_reader &reader, report_data &data) : m_reader(reader), m_data(data) {}
  void run();

 private:
  void find_bounds();
  void use(const slice &part);
  void count(const trace_item &item);
  void fill(const slice &part);
  void add_running(const slice &part);
  void note_running(const slice &part);
  void finish_running();
  void finish_cells();
  void finish_types();
  void follow_coroutine(const trace_record &record);
  void finish_coroutines();

  trace_reader &m_reader;
  report_data &m_data;
  std::int64_t m_first = 0;
  std::vector<type_row> m_types; // by number
  std::vector<bool> m_is_own;    // the program's own code, which is no type of tasks
  double m_external_ns = 0; // of bodies on such threads
  std::unordered_map<std::uint32_t, double> m_exec; // of tasks that have not ended
  struct raw_cell {
    double tasks = 0, idle = 0, away = 0, most = 0;
    std::uint16_t type = 0;
  };
  std::vector<std::vector<raw_cell>> m_cells;
  std::vector<bool> m_is_thread; // slots of threads of the program
  std::map<std::uint16_t, coroutine_row> m_coroutines; // by the number of the function
  struct wait {
    std::uint16_t in;
    std::int64_t since;
  };
  std::unordered_map<std::uint32_t, wait> m_waiting; // by task
  std::vector<bool> m_is_external; // those on which such threads run tasks
  struct unended {
    std::uint16_t type = 0;
    std::vector<std::uint32_t> columns; // amid which the task ran
  };
  std::unordered_map<std::uint32_t, unended> m_unended; // tasks
  live_tasks m_live;
};

void collector::find_bounds() {
  const auto [first, last] = m_reader.bounds();
  m_first = first;
  m_data.begin_ns = static_cast<double>(first);
  m_data.duration_ns = static_cast<double>(std::max<std::int64_t>(last - first, 1));
}

void collector::fill(const slice &shown) {
  if (m_cells.size() <= shown.slot)
    m_cells.resize(shown.slot + 1, std::vector<raw_cell>(m_data.columns));
  const double width = m_data.duration_ns / static_cast<double>(m_data.columns);
  const double from = static_cast<double>(shown.begin - m_first),
               to = static_cast<double>(shown.end - m_first);
  for (auto c = static_cast<std::size_t>(std::max(from, 0.0) / width);
       c < m_data.columns && static_cast<double>(c) * width < to; ++c) {
    const double part = std::min(to, static_cast<double>(c + 1) * width) -
                        std::max(from, static_cast<double>(c) * width);
    raw_cell &cell = m_cells[shown.slot][c];
    if (shown.what == slice::idle)
      cell.idle += part;
    else if (shown.what == slice::away)
      cell.away += part;
    else {
      cell.tasks += part;
      if (part >= cell.most) {
        cell.most = part;
        cell.type = shown.type;
      }
    }
  }
}

/// Adds the mean number of workers in tasks to each sample.
void collector::add_running(const slice &part) {
  const double width = m_data.duration_ns / static_cast<double>(k_samples);
  const double from = std::max(static_cast<double>(part.begin - m_first), 0.0) / width,
               to = static_cast<double>(part.end - m_first) / width;
  for (auto at = static_cast<std::size_t>(from); at < k_samples && static_cast<double>(at) < to;
       ++at)
    m_data.running[at] +=
        std::min(to, static_cast<double>(at + 1)) - std::max(from, static_cast<double>(at));
}

/// Finds the columns amid which the task runs. Tasks come in the order of their ends, so the first one is
/// that which ended next.
void collector::note_running(const slice &part) {
  const double width = m_data.duration_ns / static_cast<double>(m_data.columns);
  const auto column_behind = [&](std::int64_t ns) { // the first one whose middle is not before that time
    return static_cast<std::size_t>(
        std::max(std::ceil(static_cast<double>(ns - m_first) / width - 0.5), 0.0));
  };
  const std::size_t end = std::min(column_behind(part.end), m_data.columns);
  std::vector<std::uint16_t> &known = m_data.running_at;
  for (std::size_t c = column_behind(part.begin); c < end; ++c)
    if (known[c] != k_none)
      continue;
    else if (part.ends_task)
      known[c] = part.type;
    else
      m_unended[part.task].columns.push_back(static_cast<std::uint32_t>(c));
  const auto earlier = m_unended.empty() ? m_unended.end() : m_unended.find(part.task);
  if (earlier == m_unended.end())
    return;
  earlier->second.type = part.type;
  if (!part.ends_task)
    return;
  for (const std::uint32_t c : earlier->second.columns)
    if (known[c] == k_none)
      known[c] = part.type;
  m_unended.erase(earlier);
}

/// Takes the tasks that have not ended for those that end last.
void collector::finish_running() {
  std::map<std::uint32_t, unended> in_order(m_unended.begin(), m_unended.end());
  for (const auto &[task, ran] : in_order)
    for (const std::uint32_t c : ran.columns)
      if (m_data.running_at[c] == k_none)
        m_data.running_at[c] = ran.type;
}

void collector::use(const slice &part) {
  const double ns = static_cast<double>(part.end - part.begin);
  if (part.what == slice::body) {
    if (m_is_own[part.type % k_trace_types])
      return;
    fill(part);
    add_running(part);
    note_running(part);
    m_data.task_ns += ns;
    if (part.slot < m_data.workers)
      m_data.worker_task_ns += ns;
    if (part.began_in)
      m_coroutines[part.began_in].ran_ns += ns;
    if (part.slot >= m_data.workers && part.slot < m_is_external.size() && m_is_external[part.slot])
      m_external_ns += ns;
    type_row &row = m_types[part.type % k_trace_types];
    row.exec_ns += ns;
    double whole = ns;
    if (const auto before = m_exec.empty() ? m_exec.end() : m_exec.find(part.task);
        before != m_exec.end()) {
      whole += before->second;
      if (part.ends_task)
        m_exec.erase(before);
      else
        before->second = whole;
    } else if (!part.ends_task) {
      m_exec[part.task] = ns;
    }
    if (!part.ends_task)
      return;
    ++row.tasks;
    ++m_data.tasks;
    row.longest_ns = std::max(row.longest_ns, whole);
    ++m_data.grains[grain_bucket(whole)];
    return;
  }
  fill(part);
  if (part.slot >= m_data.workers) // a spare or a thread that rests takes no worker's time
    return;
  (part.what == slice::away ? m_data.away_ns : m_data.idle_ns) += ns;
  m_data.switches += part.what == slice::away;
}

void collector::count(const trace_item &item) {
  const auto event = static_cast<trace_event>(item.record->event);
  const bool is_external =
      event == trace_event::begin && (item.record->b & k_external) && item.record->a == 0;
  if (is_external && item.slot < k_trace_types) {
    m_is_external.resize(std::max<std::size_t>(m_is_external.size(), item.slot + 1));
    m_is_external[item.slot] = true;
  }
  if ((event == trace_event::root || is_external) && item.slot < k_trace_types) {
    m_is_thread.resize(std::max<std::size_t>(m_is_thread.size(), item.slot + 1));
    m_is_thread[item.slot] = true;
  }
  if (event == trace_event::decided)
    m_data.decisions.push_back({static_cast<double>(m_reader.ns(item.record->time) - m_first),
                                m_reader.type_name(item.record->type),
                                static_cast<double>(item.record->a) / 1000});
  follow_coroutine(*item.record);
  if (const int more = m_live.take(*item.record))
    m_data.live[sample_of(m_data, m_reader.ns(item.record->time))] += more;
}

/// Counts the waits of coroutines: each lasts until its task runs again.
void collector::follow_coroutine(const trace_record &record) {
  const auto e = static_cast<trace_event>(record.event);
  const std::int64_t now = m_reader.ns(record.time);
  if (e == trace_event::left) {
    coroutine_row &row = m_coroutines[record.type];
    ++row.waits;
    if (const std::string awaited = awaited_text(m_reader, record.a); !awaited.empty())
      ++row.awaited[awaited];
    m_waiting[record.task] = {record.type, now};
  } else if (e == trace_event::begin && !m_waiting.empty()) {
    const auto found = m_waiting.find(record.task);
    if (found == m_waiting.end())
      return;
    coroutine_row &row = m_coroutines[found->second.in];
    const auto ns = static_cast<double>(now - found->second.since);
    row.waited_ns += ns;
    row.longest_ns = std::max(row.longest_ns, ns);
    m_waiting.erase(found);
  }
}

void collector::finish_coroutines() {
  std::map<std::string, coroutine_row> by_name;
  for (const auto &[type, row] : m_coroutines) {
    coroutine_row &sum = by_name[m_reader.type_name(type)];
    sum.waits += row.waits;
    sum.waited_ns += row.waited_ns;
    sum.longest_ns = std::max(sum.longest_ns, row.longest_ns);
    sum.ran_ns += row.ran_ns;
    for (const auto &[what, waits] : row.awaited)
      sum.awaited[what] += waits;
  }
  for (auto &[name, row] : by_name) {
    row.name = name;
    m_data.coroutines.push_back(row);
  }
  std::sort(m_data.coroutines.begin(), m_data.coroutines.end(), [](auto &a, auto &b) {
    return std::tuple(b.waited_ns, b.waits, a.name) < std::tuple(a.waited_ns, a.waits, b.name);
  });
}

void collector::finish_cells() {
  const double width = m_data.duration_ns / static_cast<double>(m_data.columns);
  for (std::size_t slot = 0; slot < m_cells.size(); ++slot) {
    const bool is_worker = slot < m_data.workers,
               is_thread = slot < m_is_thread.size() && m_is_thread[slot];
    m_data.track_names.push_back((is_worker   ? "worker "
                                  : is_thread ? "thread "
                                              : "spare ") +
                                 std::to_string(slot));
  }
  for (const auto &track : m_cells) {
    m_data.tracks.emplace_back();
    for (const raw_cell &c : track)
      m_data.tracks.back().push_back({c.type, static_cast<float>(std::min(c.tasks / width, 1.0)),
                                      static_cast<float>(std::min(c.idle / width, 1.0)),
                                      static_cast<float>(std::min(c.away / width, 1.0))});
  }
  for (std::size_t s = 1; s < k_samples; ++s) // turns changes into numbers
    m_data.live[s] += m_data.live[s - 1];
}

void collector::finish_types() {
  std::map<std::string, type_row> by_name;
  for (std::size_t i = 0; i < m_types.size(); ++i) {
    if (m_types[i].exec_ns == 0 && m_types[i].tasks == 0)
      continue;
    type_row &sum = by_name[m_reader.type_name(static_cast<std::uint16_t>(i))];
    sum.tasks += m_types[i].tasks;
    sum.exec_ns += m_types[i].exec_ns;
    sum.longest_ns = std::max(sum.longest_ns, m_types[i].longest_ns);
  }
  for (auto &[name, row] : by_name) {
    row.name = name;
    m_data.types.push_back(row);
  }
  std::sort(m_data.types.begin(), m_data.types.end(),
            [](auto &a, auto &b) { return a.exec_ns > b.exec_ns; });
}

void collector::run() {
  find_bounds();
  m_data.running_at.assign(m_data.columns, k_none);
  m_types.resize(k_trace_types);
  for (std::size_t i = 0; i < k_trace_types; ++i) {
    const std::string &name = m_reader.type_name(static_cast<std::uint16_t>(i));
    m_is_own.push_back(name == "main" || name == "thread");
  }
  m_reader.rewind("adding up");
  slice_builder all(m_reader, [this](const slice &s) { use(s); });
  trace_item i;
  while (m_reader.next(i)) {
    all.take(i);
    count(i);
  }
  all.finish();
  if (m_reader.discarded() == 0) // else some of their records may be among these
    m_data.unfinished = static_cast<std::uint64_t>(std::max<std::int64_t>(m_live.tasks(), 0));
  if (m_data.idle_ns > 0) // a worker has nothing to do while such a thread runs a task in its place
    m_data.idle_share = std::max(1 - m_external_ns / m_data.idle_ns, 0.0);
  m_data.worker_task_ns += std::min(m_external_ns, m_data.idle_ns);
  m_data.idle_ns *= m_data.idle_share;
  finish_running();
  finish_cells();
  finish_types();
  finish_coroutines();
}

/// Finds the task that had begun, and ends next, whatever it waits for. Times must not fall.
class begun_tasks {
 public:
  explicit begun_tasks(const trace_graph &graph) : m_graph(graph) {
    for (std::uint32_t t = 0; t < graph.tasks.size(); ++t)
      if (const graph_task &x = graph.tasks[t]; !x.is_root && !x.is_join && x.begun >= 0)
        m_by_begin.push_back(t);
    std::sort(m_by_begin.begin(), m_by_begin.end(), [&graph](std::uint32_t a, std::uint32_t b) {
      return std::pair(graph.tasks[a].begun, a) < std::pair(graph.tasks[b].begun, b);
    });
  }
  [[nodiscard]] const graph_task *at(std::int64_t now) {
    for (; m_next != m_by_begin.size() && m_graph.tasks[m_by_begin[m_next]].begun <= now; ++m_next)
      m_open.emplace(end_of(m_by_begin[m_next]), m_by_begin[m_next]);
    while (!m_open.empty() && m_open.top().first < now)
      m_open.pop();
    return m_open.empty() ? nullptr : &m_graph.tasks[m_open.top().second];
  }

 private:
  [[nodiscard]] std::int64_t end_of(std::uint32_t task) const noexcept {
    const std::int64_t ended = m_graph.tasks[task].ended;
    return ended < 0 ? INT64_MAX : ended;
  }
  using end_of_one = std::pair<std::int64_t, std::uint32_t>;
  const trace_graph &m_graph;
  std::vector<std::uint32_t> m_by_begin;
  std::size_t m_next = 0;
  std::priority_queue<end_of_one, std::vector<end_of_one>, std::greater<>> m_open;
};

/// Explains why workers were idle: nothing was ready while a task ran (of which type?), the tail
/// after the last task became ready, before the first task, after the last. What comes next waits for the
/// task that runs and ends next; while none runs, for one that stands still.
void explain_idleness(const trace_graph &graph, const trace_reader &reader, report_data &data) {
  std::int64_t last_ready = graph.first, first_begin = graph.last, last_end = -1;
  for (const graph_task &x : graph.tasks) {
    if (x.is_root || x.is_join || x.begun < 0)
      continue;
    last_ready = std::max(last_ready, x.ready);
    first_begin = std::min(first_begin, x.begun);
    last_end = std::max(last_end, x.ended);
  }
  if (last_end < 0)
    last_end = graph.last;
  begun_tasks begun(graph);
  const double width = data.duration_ns / static_cast<double>(data.columns);
  const std::size_t tracks = std::min<std::size_t>(data.tracks.size(), data.workers);
  for (std::size_t c = 0; c < data.columns; ++c) {
    double ns = 0;
    for (std::size_t slot = 0; slot < tracks; ++slot)
      ns += static_cast<double>(data.tracks[slot][c].idle) * width * data.idle_share;
    if (ns <= 0)
      continue;
    const auto now =
        static_cast<std::int64_t>(data.begin_ns + (static_cast<double>(c) + 0.5) * width);
    data.idle.ns += ns;
    if (now < first_begin) {
      data.idle.start += ns;
      continue;
    }
    if (now > last_end) {
      data.idle.after += ns;
      continue;
    }
    (now > last_ready ? data.idle.tail : data.idle.no_ready) += ns;
    std::string name = "main";
    if (data.running_at[c] != k_none)
      name = reader.type_name(data.running_at[c]);
    else if (const graph_task *waits = begun.at(now))
      name = reader.type_name(waits->type);
    data.idle.behind[name] += ns;
  }
}

/// Adds the ready tasks over time, and how many were taken by another worker than the one that made
/// them ready.
void add_ready(const trace_graph &graph, report_data &data) {
  std::array<double, k_samples> changes{};
  for (const graph_task &t : graph.tasks) {
    if (t.is_root || t.is_join || t.ready < 0 || t.begun < 0)
      continue;
    ++changes[sample_of(data, t.ready)];
    --changes[sample_of(data, t.begun)];
    data.stolen += t.ready_slot != t.slot;
  }
  double ready = 0;
  for (std::size_t s = 0; s < k_samples; ++s)
    data.ready[s] = ready += changes[s];
}

/// Computes how much shorter the critical path would be if a type took half as long. A type that is
/// not on the path changes nothing. For types that there is no time to replay, the bound is half of
/// their time on the path.
void add_gains(const trace_graph &graph, const trace_reader &reader, report_data &data) {
  std::vector<type_row *> rows;
  for (type_row &row : data.types)
    rows.push_back(&row);
  std::sort(rows.begin(), rows.end(),
            [](auto *a, auto *b) { return a->on_path_ns > b->on_path_ns; });
  std::size_t left = std::clamp<std::size_t>(
      k_most_replayed / std::max<std::size_t>(graph.tasks.size(), 1), 1, k_most_gains);
  for (type_row *row : rows) {
    replay_options faster;
    if (data.bounds.span_ns <= 0 || !scale_type(reader, row->name, 0.5, faster.scale))
      continue;
    row->gain_is_bound = row->on_path_ns > 0 && left == 0;
    if (row->on_path_ns <= 0 || left == 0) {
      row->gain_percent = 50 * row->on_path_ns / data.bounds.span_ns;
      continue;
    }
    --left;
    row->gain_percent = 100 * (1 - replay(graph, faster).ns / data.bounds.span_ns);
  }
}

/// Predicts the whole run if a type took half as long, for the most expensive types.
void add_faster(const trace_graph &graph, const trace_reader &reader, report_data &data) {
  const std::size_t most = std::clamp<std::size_t>(
      k_most_replayed / std::max<std::size_t>(graph.tasks.size(), 1), 1, k_what_ifs);
  for (std::size_t i = 0; i < data.types.size() && i < most; ++i) {
    replay_options timed = measured_costs(graph);
    timed.workers = std::max(data.workers, 1u);
    if (scale_type(reader, data.types[i].name, 0.5, timed.scale))
      data.faster.emplace_back(data.types[i].name, replay(graph, timed).ns);
  }
}

/// Adds the tasks that the user can choose in the timeline, with the arrows between them.
void add_shown(const trace_graph &graph, const trace_reader &reader, report_data &data) {
  constexpr std::size_t k_most = 20'000, k_most_arrows = 60'000, k_most_looks = 5'000'000; // 1.5 MB in the file
  std::vector<long> on_path(graph.tasks.size(), -1);
  for (std::size_t i = 0; i < data.bounds.path.size(); ++i) // from its end
    on_path[data.bounds.path[i].task] = static_cast<long>(data.bounds.path.size() - 1 - i);
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t t = 0; t < graph.tasks.size(); ++t)
    if (const graph_task &x = graph.tasks[t]; !x.is_root && !x.is_join && x.begun >= 0 &&
                                              x.ended >= x.begun && x.slot < data.tracks.size())
      wanted.push_back(t);
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(on_path[a] >= 0, graph.tasks[a].ended - graph.tasks[a].begun) >
           std::pair(on_path[b] >= 0, graph.tasks[b].ended - graph.tasks[b].begun);
  };
  if (wanted.size() > k_most) {
    std::nth_element(wanted.begin(), wanted.begin() + k_most, wanted.end(), before);
    wanted.resize(k_most);
    data.notes.push_back(
        "Of " + std::to_string(data.tasks) +
        " tasks those of the critical path and the longest can be chosen in the timeline, " +
        std::to_string(k_most) + " in all.");
  }
  std::vector<std::size_t> place(graph.tasks.size(), SIZE_MAX);
  for (const std::uint32_t t : wanted) {
    place[t] = data.shown.size();
    const graph_task &x = graph.tasks[t];
    data.shown.push_back({x.slot, reader.type_name(x.type),
                          static_cast<double>(x.begun) - data.begin_ns,
                          static_cast<double>(x.ended - x.begun), on_path[t]});
  }
  std::vector<std::uint32_t> next; // the task, and the joins behind it
  std::set<std::uint32_t> seen;
  std::size_t looks = k_most_looks; // at edges of joins, which may have very many
  for (const std::uint32_t t : wanted) {
    seen.clear();
    for (next.assign(1, t); !next.empty();) {
      const graph_task &from = graph.tasks[next.back()];
      next.pop_back();
      for (std::uint32_t e = 0; e < from.edges && data.arrows.size() < k_most_arrows; ++e)
        if (const std::uint32_t to = graph.edges[from.first_edge + e]; from.is_join && looks-- <= 1)
          return;
        else if (place[to] != SIZE_MAX)
          data.arrows.emplace_back(place[t], place[to]);
        else if (graph.tasks[to].is_join && seen.insert(to).second)
          next.push_back(to);
    }
  }
}

void use_graph(trace_reader &reader, report_data &data) {
  const trace_graph g(reader);
  data.has_graph = true;
  data.gap_ns = static_cast<double>(g.overhead);
  data.graph_ns = static_cast<double>(g.duration());
  replay_options o = measured_costs(g);
  data.bounds = bounds_of(g, o);
  explain_idleness(g, reader, data);
  add_shown(g, reader, data);
  add_ready(g, data);
  std::map<std::string, double> on_path;
  for (const path_step &s : data.bounds.path) {
    on_path[reader.type_name(g.tasks[s.task].type)] += s.ns;
    data.own_on_path_ns += g.tasks[s.task].is_root ? s.ns : 0;
  }
  std::set<unsigned> numbers{std::max(data.workers, 1u), 2 * std::max(data.workers, 1u)};
  for (unsigned n = 1; n <= 256; n *= 2)
    numbers.insert(n);
  for (const unsigned n : numbers) {
    o.workers = n;
    data.predicted.emplace_back(n, replay(g, o).ns);
  }
  replay_options bare = o;
  bare.overhead_ns = 0;
  bare.workers = std::max(data.workers, 1u);
  data.no_overhead_ns = replay(g, bare).ns;
  for (type_row &row : data.types)
    row.on_path_ns = on_path[row.name];
  add_gains(g, reader, data);
  add_faster(g, reader, data);
}

} // namespace

namespace {

std::string date_of(std::uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000u);
  std::tm parts{};
  char text[64];
  return gmtime_r(&seconds, &parts) &&
                 std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts)
             ? text
             : "";
}

void add_head(const trace_description &about, report_data &data) {
  const auto add = [&data](const char *what, const std::string &text) {
    if (!text.empty())
      data.about.emplace_back(what, text);
  };
  add("command", about.command);
  add("machine", about.machine);
  add("cores", about.cores);
  add("date", date_of(about.clock.realtime_ns));
  add("load", about.load);
  add("settings", about.settings.empty() && !about.machine.empty() ? "defaults" : about.settings);
}

void add_warnings(const trace_reader &reader, report_data &data) {
  if (data.switches == 0 && reader.about().kernel.empty())
    data.warnings.emplace_back(
        "What the kernel took from bodies is not recorded: while another program had the processor, a body seems to run. With "
        "trace.kernel=true the page shows it.");
  const auto slash = reader.about().load.find(' ');
  const double load = std::strtod(reader.about().load.substr(0, slash).c_str(), nullptr),
               cores = std::strtod(reader.about().cores.c_str(), nullptr);
  if (cores > 0 && load > cores / 2)
    data.warnings.push_back("The machine was busy when the run began (load " +
                            reader.about().load.substr(0, slash) + " on " +
                            std::to_string(std::lround(cores)) +
                            " cores): times are longer than on a quiet one.");
}

void add_places(const trace_description &about, report_data &data) {
  std::map<std::string, std::string> spawn_sites;
  std::vector<std::string *> texts;
  for (const auto &[type, site] : about.spawn_sites)
    if (type < about.types.size())
      texts.push_back(&(spawn_sites[about.types[type]] = site));
  add_source_lines(texts);
  for (type_row &row : data.types)
    if (const auto found = spawn_sites.find(row.name); found != spawn_sites.end())
      if (const auto at = found->second.rfind(") at "); at != std::string::npos)
        row.spawn_site = found->second.substr(at + 5);
}

} // namespace

std::size_t columns_of(std::size_t tracks) noexcept {
  constexpr std::size_t k_cells = 600'000; // of all tracks: 3 MB in the file
  return std::clamp<std::size_t>(k_cells / std::max<std::size_t>(tracks, 1), 128, 65536);
}

std::size_t tracks_of(const trace_reader &reader) {
  std::size_t tracks = 0;
  for (const unsigned slot : reader.slots())
    if (slot < k_decisions_slot)
      tracks = std::max<std::size_t>(tracks, slot + 1);
  return tracks;
}

report_data analyse(trace_reader &reader) {
  report_data d;
  d.program = reader.about().program;
  add_head(reader.about(), d);
  for (const auto &[name, ns] : reader.about().shares)
    d.shares.push_back({name, ns});
  d.workers = reader.about().workers;
  d.records = reader.records();
  d.discarded = reader.discarded();
  d.notes = reader.troubles();
  d.columns = columns_of(tracks_of(reader));
  collector(reader, d).run();
  add_warnings(reader, d);
  add_places(reader.about(), d);
  d.has_creations = reader.about().level >= trace_level::tasks;
  if (reader.about().level >= trace_level::graph && reader.discarded() == 0)
    use_graph(reader, d);
  else
    d.notes.push_back(
        reader.discarded()
            ? "Without critical path and predictions, because records are missing: a larger trace.buffer keeps more of them."
            : "Without critical path and predictions: these take a trace of level graph (weft run --trace=graph).");
  d.overhead_ns = d.gap_ns * static_cast<double>(d.tasks);
  d.sentences = findings(d);
  return d;
}

} // namespace weft_tool
