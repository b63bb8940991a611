// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/job_path.hpp"

#include "tools/weft/trace/graph.hpp"
#include "tools/weft/trace/slices.hpp"

#include "trace/structure.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace weft_tool {
namespace {

constexpr std::int64_t k_never = INT64_MIN;
// What src/ult/thread_context.hpp calls waits_for::children and group.
constexpr std::uint64_t k_for_children = 1, k_for_group = 2;

/// Is a slice of time in which a worker ran a body without a break. Times are the job's.
struct run {
  std::int64_t begin, end;
  std::uint32_t task;
  std::uint16_t type;
  unsigned slot;
  bool ends_task;
};

/// Is what let a run begin: the end of another run of its trace, or of a message.
struct cause {
  enum kind : unsigned char { unknown, of_run, of_message } what = unknown;
  std::uint32_t index = 0; // of the run, or of the mark
  std::int64_t at = k_never;
};

/// Is a wait of a task for messages.
struct wait_mark {
  std::int64_t since;
  std::uint32_t arrival; // the mark that ends it
};

bool is_of_lpf(std::string_view name) {
  return name.starts_with("lpf_") || name.starts_with("talpf_");
}

/// Finds the arrivals that end the waits of all tasks, by trace and task. Waits for one number take
/// what comes in their order. A superstep takes all that comes for it.
std::vector<std::unordered_map<std::uint32_t, std::vector<wait_mark>>>
match_waits(rank_traces &traces, const std::vector<message_mark> &messages) {
  struct queue {
    std::vector<std::uint32_t> arrivals;
    std::size_t taken = 0;
  };
  std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint32_t, std::uint16_t>, queue> queues;
  std::map<std::tuple<std::uint32_t, std::uint16_t, std::uint32_t>, std::uint32_t> newest;
  for (std::uint32_t i = 0; i != messages.size(); ++i)
    if (const message_mark &mark = messages[i]; mark.what == trace_event::arrived) {
      queues[{mark.trace, mark.own, mark.id, mark.type}].arrivals.push_back(i);
      if (is_of_lpf(traces.at(mark.trace).type_name(mark.type)))
        newest[{mark.trace, mark.own, mark.id}] = i;
    }
  std::vector<std::unordered_map<std::uint32_t, std::vector<wait_mark>>> waits(traces.count());
  for (const message_mark &mark : messages) {
    if (mark.what != trace_event::awaits)
      continue;
    auto &of_task = waits[mark.trace][mark.task];
    if (traces.at(mark.trace).type_name(mark.type).starts_with("talpf_")) {
      if (const auto last = newest.find({mark.trace, mark.own, mark.id}); last != newest.end())
        of_task.push_back({mark.ns, last->second});
    } else if (const auto found = queues.find({mark.trace, mark.own, mark.id, mark.type});
               found != queues.end() && mark.bytes != 0) {
      queue &from = found->second;
      from.taken = static_cast<std::size_t>(
          std::min<std::uint64_t>(from.taken + mark.bytes, from.arrivals.size()));
      of_task.push_back({mark.ns, from.arrivals[from.taken - 1]});
    }
  }
  return waits;
}

/// Knows what the workers of one rank ran, and what each run waited for.
class rank_runs {
 public:
  rank_runs(rank_traces &traces, std::size_t index, const std::vector<message_mark> &messages,
            std::unordered_map<std::uint32_t, std::vector<wait_mark>> waits);
  [[nodiscard]] const run &at(std::uint32_t index) const noexcept { return m_runs[index]; }
  [[nodiscard]] std::size_t count() const noexcept { return m_runs.size(); }
  /// Returns the run that ends last; count() where there is none.
  [[nodiscard]] std::uint32_t last() const noexcept;
  /// Returns the run of a task that had begun by then; of task 0, or one without, that of any task.
  [[nodiscard]] std::uint32_t find(std::uint32_t task, std::int64_t by) const;
  /// Returns what let the run begin; of a thread of the program, what it did last before `now`, because no
  /// record says when such a thread waits.
  [[nodiscard]] cause cause_of(std::uint32_t index, std::int64_t now) const;
  [[nodiscard]] bool is_of_thread(std::uint32_t index) const {
    return m_threads.contains(m_runs[index].task);
  }

 private:
  static constexpr std::uint32_t k_no_run = UINT32_MAX;
  /// Is a part of a body in which it waits, though no other record says that it stands still.
  struct pause {
    std::int64_t since, until;
    std::uint32_t arrival; // k_no_mark: for children
  };
  static constexpr std::uint32_t k_no_mark = UINT32_MAX;
  struct creation {
    std::int64_t at;
    unsigned slot;
  };
  /// Is when a thief took a branch of a join, and the task that joins it.
  struct theft {
    std::int64_t at;
    std::uint32_t joiner;
  };
  void read(trace_reader &reader);
  void cut_pauses();
  void sort_runs();
  void use_graph(trace_reader &reader);
  [[nodiscard]] std::uint32_t task_of(const run &of) const;
  [[nodiscard]] bool begins_round(const run &of) const;
  void find_release(std::uint32_t index);
  [[nodiscard]] cause release_of(std::uint32_t index, std::int64_t by) const;
  [[nodiscard]] cause last_predecessor(std::uint32_t index, std::int64_t by) const;
  [[nodiscard]] cause last_child(std::uint32_t task, std::int64_t by) const;
  [[nodiscard]] cause cause_of_first(const run &of) const;
  [[nodiscard]] cause cause_of_going_on(const run &of, const run &before) const;
  [[nodiscard]] cause last_event(std::uint32_t task, std::int64_t after, std::int64_t by) const;
  [[nodiscard]] cause message_ended(std::uint32_t task, std::int64_t after, std::int64_t by) const;
  [[nodiscard]] std::uint32_t on_slot(unsigned slot, std::int64_t by) const;
  [[nodiscard]] std::int64_t end_of(std::uint32_t mark) const {
    const message_mark &m = m_messages[mark];
    return m.what == trace_event::send ? m.ns + m.lasted : m.ns;
  }

  const std::vector<message_mark> &m_messages;
  std::vector<run> m_runs; // by slot, then by time
  std::vector<std::uint32_t> m_slots; // where the runs of a slot begin
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> m_of_task;
  std::set<std::uint32_t> m_threads; // tasks: threads of the program but main()
  std::vector<std::uint32_t> m_by_end; // runs, without those of threads
  std::unordered_map<std::uint32_t, std::vector<pause>> m_pauses;
  std::unordered_map<std::uint32_t, creation> m_created;
  std::unordered_map<std::uint32_t, theft> m_branches;
  // Of a task: when it stood still, and why.
  std::unordered_map<std::uint32_t, std::vector<std::pair<std::int64_t, std::uint64_t>>> m_suspended;
  std::unordered_map<std::uint32_t, std::vector<wait_mark>> m_waits;
  std::vector<std::uint32_t> m_arrivals; // marks, by time
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> m_sent; // that have ended, by task
  std::int64_t m_shift; // from the graph's times to the job's
  std::unique_ptr<trace_graph> m_graph;
  std::vector<std::uint32_t> m_by_number; // the graph's tasks, by number; rounds have one number, and their order
  std::vector<std::uint32_t> m_predecessors, m_first_predecessor;
  std::vector<cause> m_released; // of the graph's tasks: when successors and the parent go on
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> m_children; // by release
};

rank_runs::rank_runs(rank_traces &traces, std::size_t index,
                     const std::vector<message_mark> &messages,
                     std::unordered_map<std::uint32_t, std::vector<wait_mark>> waits)
    : m_messages(messages), m_waits(std::move(waits)), m_shift(traces.shift(index)) {
  trace_reader &reader = traces.at(index);
  for (std::uint32_t i = 0; i != messages.size(); ++i) {
    const message_mark &mark = messages[i];
    if (mark.trace != index)
      continue;
    if (mark.what == trace_event::arrived)
      m_arrivals.push_back(i);
    else if (mark.what == trace_event::send && mark.lasted >= 0 && mark.task != 0)
      m_sent[mark.task].push_back(i);
    else if (mark.what == trace_event::awaits &&
             reader.type_name(mark.type).starts_with("lpf_")) // its thread stands still
      for (const wait_mark &wait :
           std::ranges::equal_range(m_waits[mark.task], mark.ns, {}, &wait_mark::since))
        if (end_of(wait.arrival) > mark.ns)
          m_pauses[mark.task].push_back({mark.ns, end_of(wait.arrival), wait.arrival});
  }
  for (auto &[task, marks] : m_sent)
    std::ranges::sort(marks, {}, [this](std::uint32_t mark) { return end_of(mark); });
  read(reader);
  cut_pauses();
  sort_runs();
  use_graph(reader);
}

void rank_runs::read(trace_reader &reader) {
  reader.rewind("reading what the workers of a rank ran");
  slice_builder slices(reader, [this](const slice &part) {
    if (part.what == slice::body)
      m_runs.push_back({part.begin + m_shift, part.end + m_shift, part.task, part.type, part.slot,
                        part.ends_task});
  });
  trace_item item;
  while (reader.next(item)) {
    slices.take(item);
    const trace_record &record = *item.record;
    const std::int64_t now = reader.ns(record.time) + m_shift;
    switch (static_cast<trace_event>(record.event)) {
    case trace_event::create:
      m_created.try_emplace(record.task, creation{now, item.slot});
      break;
    case trace_event::begin: // no record says that a branch is created
      if ((record.b & k_branch) != 0 && joiner_of(record.b) != 0)
        m_branches.try_emplace(record.task, theft{now, joiner_of(record.b)});
      break;
    case trace_event::root:
      if (reader.type_name(record.type) == "thread")
        m_threads.insert(record.task);
      break;
    case trace_event::waited:
      m_pauses[record.task].push_back({reader.ns(record.a) + m_shift, now, k_no_mark});
      break;
    case trace_event::suspend:
      m_suspended[record.task].emplace_back(now, record.a);
      break;
    default:
      break;
    }
  }
  slices.finish();
}

/// Takes the time of waits out of the runs of the tasks that waited.
void rank_runs::cut_pauses() {
  for (auto &[task, pauses] : m_pauses) {
    std::ranges::sort(pauses, {}, &pause::since);
    std::int64_t until = k_never; // pauses of messages and of children may lie in each other
    for (pause &one : pauses)
      one.until = until = std::max(until, one.until);
  }
  std::vector<run> all;
  for (const run &whole : m_runs) {
    run rest = whole;
    if (const auto found = m_pauses.find(whole.task); found != m_pauses.end()) {
      auto at = std::ranges::lower_bound(found->second, rest.begin, {}, &pause::until);
      for (; at != found->second.end() && at->since < rest.end; ++at) {
        if (at->since > rest.begin)
          all.push_back({rest.begin, at->since, rest.task, rest.type, rest.slot, false});
        rest.begin = std::max(rest.begin, std::min(at->until, rest.end));
      }
    }
    if (rest.begin < rest.end || (rest.begin == whole.begin && rest.end == whole.end) ||
        rest.ends_task)
      all.push_back(rest);
  }
  m_runs = std::move(all);
}

void rank_runs::sort_runs() {
  std::ranges::sort(m_runs, [](const run &a, const run &b) {
    return std::tuple(a.slot, a.begin, a.end, a.task) < std::tuple(b.slot, b.begin, b.end, b.task);
  });
  for (std::uint32_t i = 0; i != m_runs.size(); ++i) {
    while (m_slots.size() <= m_runs[i].slot)
      m_slots.push_back(i);
    m_of_task[m_runs[i].task].push_back(i);
  }
  m_slots.push_back(static_cast<std::uint32_t>(m_runs.size()));
  for (auto &[task, runs] : m_of_task)
    std::ranges::sort(runs, {}, [this](std::uint32_t i) {
      return std::pair(m_runs[i].begin, m_runs[i].end);
    });
  for (std::uint32_t i = 0; i != m_runs.size(); ++i)
    if (!is_of_thread(i))
      m_by_end.push_back(i);
  std::ranges::sort(m_by_end, {}, [this](std::uint32_t i) {
    return std::pair(m_runs[i].end, m_runs[i].begin);
  });
}

void rank_runs::find_release(std::uint32_t index) {
  const graph_task &task = m_graph->tasks[index];
  cause &released = m_released[index];
  if (task.is_join && task.parent != k_nobody) { // a promise
    if (const std::uint32_t giver = on_slot(task.ready_slot, task.ready + m_shift); giver != k_no_run)
      released = {cause::of_run, giver, task.ready + m_shift};
    return;
  }
  const auto runs = m_of_task.find(task.id);
  if (task.is_join || runs == m_of_task.end() || task.ended < 0)
    return;
  const auto behind =
      std::ranges::upper_bound(runs->second, task.ended + m_shift, {},
                               [this](std::uint32_t i) { return m_runs[i].begin; });
  if (behind == runs->second.begin())
    return;
  released = {cause::of_run, *(behind - 1), m_runs[*(behind - 1)].end};
  const auto later = [&](std::uint32_t mark) {
    if (end_of(mark) > released.at)
      released = {cause::of_message, mark, end_of(mark)};
  };
  if (const auto waits = m_waits.find(task.id); waits != m_waits.end())
    for (const wait_mark &wait : waits->second)
      later(wait.arrival);
  if (const auto sent = m_sent.find(task.id); sent != m_sent.end())
    later(sent->second.back());
}

void rank_runs::use_graph(trace_reader &reader) {
  m_graph = std::make_unique<trace_graph>(reader);
  const auto &tasks = m_graph->tasks;
  m_first_predecessor.resize(tasks.size() + 1);
  for (const std::uint32_t to : m_graph->edges)
    ++m_first_predecessor[to + 1];
  std::partial_sum(m_first_predecessor.begin(), m_first_predecessor.end(),
                   m_first_predecessor.begin());
  m_predecessors.resize(m_graph->edges.size());
  std::vector<std::uint32_t> next = m_first_predecessor;
  m_released.resize(tasks.size());
  for (std::uint32_t i = 0; i != tasks.size(); ++i) {
    for (std::uint32_t e = 0; e != tasks[i].edges; ++e)
      m_predecessors[next[m_graph->edges[tasks[i].first_edge + e]]++] = i;
    if (!tasks[i].is_join)
      m_by_number.push_back(i);
    find_release(i);
    if (!tasks[i].is_join && tasks[i].parent != k_nobody)
      m_children[tasks[tasks[i].parent].id].push_back(i);
  }
  std::ranges::stable_sort(m_by_number, {}, [&tasks](std::uint32_t i) { return tasks[i].id; });
  for (auto &[parent, children] : m_children)
    std::ranges::sort(children, {}, [this](std::uint32_t i) { return m_released[i].at; });
}

/// Returns the task, by index, whose run this is: of rounds with one number, the last that had begun; the
/// graph's count where there is none.
std::uint32_t rank_runs::task_of(const run &of) const {
  const auto &tasks = m_graph->tasks;
  const auto all = std::ranges::equal_range(m_by_number, of.task, {},
                                            [&tasks](std::uint32_t i) { return tasks[i].id; });
  if (all.empty())
    return static_cast<std::uint32_t>(tasks.size());
  const auto behind =
      std::ranges::upper_bound(all, of.begin - m_shift, {},
                               [&tasks](std::uint32_t i) { return tasks[i].begun; });
  return behind == all.begin() ? all.front() : *(behind - 1);
}

bool rank_runs::begins_round(const run &of) const {
  const std::uint32_t index = task_of(of);
  return index != m_graph->tasks.size() && m_graph->tasks[index].is_round &&
         m_graph->tasks[index].begun + m_shift == of.begin;
}

std::uint32_t rank_runs::last() const noexcept {
  return m_by_end.empty() ? static_cast<std::uint32_t>(count()) : m_by_end.back();
}

/// Returns the last run on a slot that has begun by then.
std::uint32_t rank_runs::on_slot(unsigned slot, std::int64_t by) const {
  if (slot + 1 >= m_slots.size())
    return k_no_run;
  const auto begin = m_runs.begin() + m_slots[slot], end = m_runs.begin() + m_slots[slot + 1];
  const auto behind = std::upper_bound(
      begin, end, by, [](std::int64_t time, const run &r) { return time < r.begin; });
  return behind == begin ? k_no_run : static_cast<std::uint32_t>(behind - 1 - m_runs.begin());
}

std::uint32_t rank_runs::find(std::uint32_t task, std::int64_t by) const {
  if (const auto found = m_of_task.find(task); task != 0 && found != m_of_task.end()) {
    const auto behind = std::ranges::upper_bound(
        found->second, by, {}, [this](std::uint32_t i) { return m_runs[i].begin; });
    if (behind != found->second.begin())
      return *(behind - 1);
  }
  std::uint32_t best = k_no_run;
  for (unsigned slot = 0; slot + 1 < m_slots.size(); ++slot)
    if (const std::uint32_t i = on_slot(slot, by);
        i != k_no_run && !is_of_thread(i) && (best == k_no_run || m_runs[i].end > m_runs[best].end))
      best = i;
  return best;
}

/// Returns what let the successors of a task go on: its end, or that of a message which the task is tied
/// to. A message that ends after `by` is none of these.
cause rank_runs::release_of(std::uint32_t index, std::int64_t by) const {
  if (m_graph->tasks[index].is_join && m_graph->tasks[index].parent == k_nobody)
    return last_predecessor(index, by);
  const cause &released = m_released[index];
  if (released.at <= by)
    return released;
  const std::uint32_t last_run = find(m_graph->tasks[index].id, by);
  return last_run == k_no_run ? cause()
                              : cause{cause::of_run, last_run, std::min(m_runs[last_run].end, by)};
}

cause rank_runs::last_predecessor(std::uint32_t index, std::int64_t by) const {
  cause last;
  for (std::uint32_t e = m_first_predecessor[index]; e != m_first_predecessor[index + 1]; ++e)
    if (const cause one = release_of(m_predecessors[e], by); one.at > last.at)
      last = one;
  return last;
}

cause rank_runs::last_child(std::uint32_t task, std::int64_t by) const {
  const auto found = m_children.find(task);
  if (found == m_children.end())
    return {};
  const auto behind = std::ranges::upper_bound(
      found->second, by, {}, [this](std::uint32_t i) { return m_released[i].at; });
  return behind == found->second.begin() ? cause() : m_released[*(behind - 1)];
}

/// Returns the last message that has come, or operation of the task that has ended, in that time.
cause rank_runs::message_ended(std::uint32_t task, std::int64_t after, std::int64_t by) const {
  cause last;
  const auto look = [&](const std::vector<std::uint32_t> &marks) {
    const auto behind = std::ranges::upper_bound(
        marks, by, {}, [this](std::uint32_t mark) { return end_of(mark); });
    if (behind != marks.begin() && end_of(*(behind - 1)) > std::max(after, last.at))
      last = {cause::of_message, *(behind - 1), end_of(*(behind - 1))};
  };
  look(m_arrivals);
  if (const auto sent = m_sent.find(task); sent != m_sent.end())
    look(sent->second);
  return last;
}

cause rank_runs::cause_of_first(const run &of) const {
  cause last;
  if (const auto made = m_created.find(of.task); made != m_created.end())
    if (std::uint32_t maker = on_slot(made->second.slot, made->second.at); maker != k_no_run) {
      while (m_runs[maker].task == of.task && maker != m_slots[made->second.slot])
        --maker; // it began on its creator's worker at that very time
      if (m_runs[maker].task != of.task)
        last = {cause::of_run, maker, std::min(made->second.at, of.begin)};
    }
  if (const auto branch = m_branches.find(of.task); branch != m_branches.end()) {
    const std::uint32_t run_there = find(branch->second.joiner, branch->second.at);
    if (run_there != k_no_run && m_runs[run_there].task == branch->second.joiner)
      last = {cause::of_run, run_there, std::min(m_runs[run_there].end, branch->second.at)};
  }
  if (const std::uint32_t index = task_of(of); index != m_graph->tasks.size())
    if (const cause before = last_predecessor(index, of.begin); before.at > last.at)
      last = before;
  return last;
}

/// Returns what a task had stood still for.
cause rank_runs::cause_of_going_on(const run &of, const run &before) const {
  const auto in_time = [&](const cause &one) { return one.at > before.end && one.at <= of.begin; };
  if (const auto pauses = m_pauses.find(of.task); pauses != m_pauses.end()) {
    const auto behind = std::ranges::upper_bound(pauses->second, before.end, {}, &pause::since);
    if (behind != pauses->second.begin() && (behind - 1)->until > before.end) {
      const pause &last = *(behind - 1);
      const cause ended = last.arrival == k_no_mark
                              ? last_child(of.task, of.begin)
                              : cause{cause::of_message, last.arrival, end_of(last.arrival)};
      if (in_time(ended))
        return ended;
    }
  }
  std::uint64_t reason = 0;
  if (const auto stops = m_suspended.find(of.task); stops != m_suspended.end()) {
    const auto behind = std::ranges::upper_bound(stops->second, of.begin, {},
                                                 [](const auto &stop) { return stop.first; });
    if (behind != stops->second.begin() && (behind - 1)->first >= before.end)
      reason = (behind - 1)->second;
  }
  if (reason == k_for_children || reason == k_for_group)
    if (const cause ended = last_child(of.task, of.begin); in_time(ended))
      return ended;
  if (const auto waits = m_waits.find(of.task); waits != m_waits.end()) {
    const auto behind =
        std::ranges::upper_bound(waits->second, before.end, {}, &wait_mark::since);
    if (behind != waits->second.begin()) {
      const std::uint32_t arrival = (behind - 1)->arrival;
      if (const cause ended{cause::of_message, arrival, end_of(arrival)}; in_time(ended))
        return ended;
    }
  }
  return last_event(of.task, before.end, of.begin);
}

/// Returns the last end of a message, or of another task, in that time.
cause rank_runs::last_event(std::uint32_t task, std::int64_t after, std::int64_t by) const {
  const cause last = message_ended(task, after, by);
  const auto behind = std::ranges::upper_bound(
      m_by_end, by, {}, [this](std::uint32_t i) { return m_runs[i].end; });
  for (auto at = behind; at != m_by_end.begin();)
    if (const run &one = m_runs[*--at]; one.end <= std::max(last.at, after))
      break;
    else if (one.ends_task && one.task != task)
      return {cause::of_run, *at, one.end};
  return last;
}

cause rank_runs::cause_of(std::uint32_t index, std::int64_t now) const {
  const run &of = m_runs[index];
  if (is_of_thread(index)) {
    const cause last = last_event(of.task, of.begin, now);
    if (last.what != cause::unknown)
      return last;
    const std::uint32_t before = find(0, of.begin);
    return before == k_no_run ? cause()
                              : cause{cause::of_run, before, std::min(m_runs[before].end, of.begin)};
  }
  const auto &runs = m_of_task.find(of.task)->second;
  auto here = std::ranges::lower_bound(runs, std::pair(of.begin, of.end), {}, [this](std::uint32_t i) {
    return std::pair(m_runs[i].begin, m_runs[i].end);
  });
  here = std::find(here, runs.end(), index); // of those with the same times
  cause last = here == runs.begin() || begins_round(of)
                   ? cause_of_first(of)
                   : cause_of_going_on(of, m_runs[*(here - 1)]);
  // The worker was at something else when the run could have begun.
  if (index != m_slots[of.slot] && !is_of_thread(index - 1) && m_runs[index - 1].end > last.at &&
      m_runs[index - 1].end <= of.begin)
    last = {cause::of_run, index - 1, m_runs[index - 1].end};
  if (last.what == cause::unknown && here != runs.begin())
    last = {cause::of_run, *(here - 1), m_runs[*(here - 1)].end};
  return last;
}

/// Goes back from the end of the job.
class walk {
 public:
  walk(rank_traces &traces, const std::vector<message_mark> &messages) : m_messages(messages) {
    auto waits = match_waits(traces, messages);
    for (std::size_t i = 0; i != traces.count(); ++i)
      m_ranks.push_back(std::make_unique<rank_runs>(traces, i, messages, std::move(waits[i])));
    m_senders.resize(messages.size(), UINT32_MAX);
    std::unordered_map<std::uint64_t, std::uint32_t> sends;
    for (std::uint32_t i = 0; i != messages.size(); ++i)
      if (messages[i].what == trace_event::send && messages[i].flow != 0)
        sends.emplace(messages[i].flow, i);
    for (std::uint32_t i = 0; i != messages.size(); ++i)
      if (messages[i].what == trace_event::send)
        m_senders[i] = i;
      else if (const auto found = sends.find(messages[i].flow);
               messages[i].what == trace_event::arrived && found != sends.end())
        m_senders[i] = found->second;
  }
  job_path find();

 private:
  void add(path_part part) {
    if (part.end > part.begin)
      m_path.parts.push_back(part);
  }
  void add_runtime(std::uint32_t trace, std::int64_t begin, std::int64_t end) {
    path_part part;
    part.what = path_part::runtime;
    part.trace = trace;
    part.begin = begin;
    part.end = end;
    add(part);
  }
  bool step();

  const std::vector<message_mark> &m_messages;
  std::vector<std::unique_ptr<rank_runs>> m_ranks;
  std::vector<std::uint32_t> m_senders; // the send of an arrival; of a send itself
  job_path m_path; // from its end
  std::uint32_t m_trace = 0, m_run = 0; // where the walk is,
  std::int64_t m_now = k_never; // and when
};

bool walk::step() {
  const run &here = m_ranks[m_trace]->at(m_run);
  cause why = m_ranks[m_trace]->cause_of(m_run, m_now);
  const std::int64_t begun = std::min(
      m_ranks[m_trace]->is_of_thread(m_run) ? std::max(here.begin, why.at) : here.begin, m_now);
  add({path_part::computing, m_trace, 0, here.type, here.slot, begun, m_now});
  if (why.what == cause::of_message && m_senders[why.index] == UINT32_MAX) {
    // Its sender is not known: the path goes on here.
    const std::uint32_t before = m_ranks[m_trace]->find(0, why.at);
    why = before == UINT32_MAX || before == m_run
              ? cause()
              : cause{cause::of_run, before, std::min(m_ranks[m_trace]->at(before).end, why.at)};
  }
  if (why.what == cause::unknown)
    return false;
  const std::int64_t released = std::min(why.at, begun);
  add_runtime(m_trace, released, begun);
  if (why.what == cause::of_run) {
    const bool goes_on = m_run != why.index || m_now != released;
    m_run = why.index;
    m_now = released;
    return goes_on;
  }
  const message_mark &sent = m_messages[m_senders[why.index]];
  const std::int64_t left = std::min(sent.ns, released);
  const bool is_own = m_messages[why.index].what == trace_event::send; // which has ended
  add({path_part::message, m_trace, is_own ? sent.peer : sent.own, 0, 0, left, released});
  m_trace = sent.trace;
  m_run = m_ranks[m_trace]->find(sent.task, left);
  if (m_run == UINT32_MAX)
    return false;
  m_now = std::min(m_ranks[m_trace]->at(m_run).end, left);
  add_runtime(m_trace, m_now, left);
  return true;
}

job_path walk::find() {
  std::size_t most = m_messages.size(); // steps: each run and each message is one at most
  for (std::uint32_t i = 0; i != m_ranks.size(); ++i) {
    most += 2 * m_ranks[i]->count();
    const std::uint32_t last = m_ranks[i]->last();
    if (last != m_ranks[i]->count() && m_ranks[i]->at(last).end > m_now) {
      m_trace = i;
      m_run = last;
      m_now = m_ranks[i]->at(last).end;
    }
  }
  if (m_now == k_never)
    return {};
  while (most-- != 0 && step()) {
  }
  std::ranges::reverse(m_path.parts);
  return std::move(m_path);
}

} // namespace

job_path find_job_path(rank_traces &traces, const std::vector<message_mark> &messages) {
  return walk(traces, messages).find();
}

} // namespace weft_tool
