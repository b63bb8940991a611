// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/check.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace weft_tool {
namespace {

constexpr std::size_t k_sentences = 20;
// The clocks of two processors, read out of order, may differ by less than this on which event came
// first.
constexpr std::int64_t k_slack_ns = 10'000;

void add(type_tally &sum, const type_tally &t) noexcept {
  sum.created += t.created;
  sum.executed += t.executed;
  sum.reruns += t.reruns;
  sum.rounds += t.rounds;
  sum.recorded += t.recorded;
  sum.abandoned += t.abandoned;
  sum.live += t.live;
}

} // namespace

void trace_checker::fault(const trace_record &r, const char *what) {
  if (++faults > k_sentences)
    return;
  char line[256];
  std::snprintf(line, sizeof line, "%.9f s: %s of task %u: %s",
                static_cast<double>(m_reader.ns(r.time)) / 1e9,
                event_name(static_cast<trace_event>(r.event)), r.task, what);
  sentences.emplace_back(line);
}

bool trace_checker::is_close(const trace_record &r, const state &s) const noexcept {
  return std::llabs(m_reader.ns(r.time) - m_reader.ns(s.last)) <= k_slack_ns;
}

void trace_checker::create(const trace_record &r, state &s) {
  if (s.created && !s.ended && !s.recorded && complete())
    fault(r, "it was created before and has not ended");
  if (s.early && !is_close(r, s))
    fault(r, "it ran before it was created");
  const bool early = s.early;
  if (!early)
    s = {};
  s.early = false;
  s.created = 1;
  s.type = r.type % k_trace_types;
  s.recorded = (r.a & k_created_for_rounds) != 0;
  ++tally(s).created;
  tally(s).recorded += s.recorded;
}

void trace_checker::begin(const trace_record &r, state &s) {
  const bool knows = m_reader.about().level >= trace_level::tasks;
  if (r.b & k_branch)
    s.implicit = true;
  if (!s.created && !s.implicit && knows)
    s.early = true;
  if (s.type == 0)
    s.type = r.type % k_trace_types;
  if (knows && s.ended && !s.recorded && complete())
    fault(r, "its body has run already");
  if (++s.running > 1 && complete() && !is_close(r, s))
    fault(r, "it is running already");
  if (!knows && !(r.b & k_branch)) {
    ++(r.b & k_round ? tally(s).rounds : tally(s).executed);
    s.running = 0;
  }
}

void trace_checker::end(const trace_record &r, state &s) {
  if (m_reader.about().level < trace_level::tasks)
    return;
  if (--s.running < 0 && complete() && !is_close(r, s))
    fault(r, "it was not running");
  if (s.away != 0 && complete() && !is_close(r, s))
    fault(r, "it was suspended");
  if (s.implicit)
    return;
  type_tally &t = tally(s);
  if (r.a & k_round) {
    ++t.rounds;
    return;
  }
  ++t.executed;
  t.reruns += (r.a & k_again) != 0;
  s.ended = !(r.a & k_again);
}

void trace_checker::suspend(const trace_record &r, state &s) {
  ++suspended;
  if (++s.away > 1 && complete() && !is_close(r, s))
    fault(r, "it is suspended already");
}

void trace_checker::resume(const trace_record &r, state &s) {
  if (--s.away < 0 && complete() && !is_close(r, s))
    fault(r, "it was not suspended");
}

void trace_checker::make_ready(const trace_record &r, state &s) {
  if (!s.created && complete())
    s.early = true;
  if (s.ended && !s.recorded && complete())
    fault(r, "it has ended");
}

void trace_checker::take(const trace_item &i) {
  const trace_record &r = *i.record;
  ++events[r.event];
  last_ns = std::max(last_ns, m_reader.ns(r.time));
  const auto e = static_cast<trace_event>(r.event);
  if (e == trace_event::counted) {
    has_counters = true;
    if (r.a < static_cast<std::uint64_t>(counted_value::limit))
      m_counted[r.a] += r.b;
    return;
  }
  if (r.task == 0)
    return;
  state &s = m_tasks.at(r.task);
  switch (e) {
  case trace_event::create:
    create(r, s);
    break;
  case trace_event::abandon:
    ++tally(s).abandoned;
    s.ended = 1;
    break;
  case trace_event::begin:
    begin(r, s);
    break;
  case trace_event::end:
    end(r, s);
    break;
  case trace_event::root:
    s.implicit = true;
    s.running = 1;
    break;
  case trace_event::suspend:
    suspend(r, s);
    break;
  case trace_event::resume:
    resume(r, s);
    break;
  case trace_event::ready:
    make_ready(r, s);
    break;
  default:
    break;
  }
  s.last = r.time;
}

void trace_checker::compare_with_counters() {
  const auto counted = [this](counted_value v) { return m_counted[static_cast<std::size_t>(v)]; };
  const auto compare = [this](const char *what, std::uint64_t counter, std::uint64_t trace) {
    if (counter == trace)
      return;
    ++faults;
    char line[160];
    std::snprintf(line, sizeof line, "the counters say %llu %s, the trace shows %llu",
                  static_cast<unsigned long long>(counter), what,
                  static_cast<unsigned long long>(trace));
    sentences.emplace_back(line);
  };
  compare("tasks executed", counted(counted_value::executed), all.executed);
  compare("rounds of recorded tasks", counted(counted_value::rounds), all.rounds);
  if (m_reader.about().level < trace_level::tasks)
    return;
  compare("tasks created", counted(counted_value::created),
          all.created - all.recorded - all.abandoned);
  compare("ends of bodies that run again", counted(counted_value::reruns), all.reruns);
}

/// Checks the state in which the last record of a task leaves it.
void trace_checker::look_at_the_end(std::uint32_t id, const state &s) {
  tally(s).live += s.created && !s.ended && !s.recorded;
  if (!s.early || !complete() || m_reader.about().state != trace_description::exact)
    return;
  trace_record r{};
  r.time = s.last;
  r.task = id;
  fault(r, "it was never created");
}

/// Checks, type by type, that each created task has ended or is alive.
void trace_checker::add_up() {
  for (std::size_t i = 0; i < m_tallies.size(); ++i)
    if (m_tallies[i].created || m_tallies[i].executed || m_tallies[i].rounds)
      add(types[m_reader.type_name(static_cast<std::uint16_t>(i))], m_tallies[i]);
  const bool knows = complete() && m_reader.about().level >= trace_level::tasks &&
                     m_reader.about().state != trace_description::running;
  for (const auto &[name, t] : types) {
    add(all, t);
    if (!knows || t.adds_up())
      continue;
    ++faults;
    char line[256];
    std::snprintf(
        line, sizeof line,
        "of type '%.100s' %llu tasks were created, which is not %llu executed + %llu live",
        name.c_str(), static_cast<unsigned long long>(t.created - t.abandoned - t.recorded),
        static_cast<unsigned long long>(t.executed - t.reruns),
        static_cast<unsigned long long>(t.live));
    sentences.emplace_back(line);
  }
}

void trace_checker::run() {
  m_tallies.resize(k_trace_types);
  m_reader.rewind("checking the trace");
  trace_item i;
  while (m_reader.next(i))
    take(i);
  m_tasks.for_each([this](std::uint32_t id, const state &s) { look_at_the_end(id, s); });
  add_up();
  if (has_counters && complete())
    compare_with_counters();
}

} // namespace weft_tool
