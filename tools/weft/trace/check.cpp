// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/check.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace weft_tool {
namespace {

constexpr std::size_t k_sentences = 20;
// The clocks of two processors, read out of order, may differ by less than this on which event came
// first.
constexpr std::int64_t k_slack_ns = 10'000;

void add(type_tally &sum, const type_tally &tally) noexcept {
  sum.created += tally.created;
  sum.executed += tally.executed;
  sum.reruns += tally.reruns;
  sum.rounds += tally.rounds;
  sum.recorded += tally.recorded;
  sum.abandoned += tally.abandoned;
  sum.live += tally.live;
}

} // namespace

void trace_checker::fault(const trace_record &record, const char *what) {
  if (++faults > k_sentences)
    return;
  char line[256];
  std::snprintf(line, sizeof line, "%.9f s: %s of task %u: %s",
                static_cast<double>(m_reader.ns(record.time)) / 1e9,
                event_name(static_cast<trace_event>(record.event)), record.task, what);
  sentences.emplace_back(line);
}

bool trace_checker::is_close(const trace_record &record, const state &own) const noexcept {
  return std::llabs(m_reader.ns(record.time) - m_reader.ns(own.last)) <= k_slack_ns;
}

void trace_checker::create(const trace_record &record, state &own) {
  if (own.created && !own.ended && !own.recorded && complete())
    fault(record, "it was created before and has not ended");
  if (own.early && !is_close(record, own))
    fault(record, "it ran before it was created");
  const bool early = own.early;
  if (!early)
    own = {};
  own.early = false;
  own.created = 1;
  own.type = record.type % k_trace_types;
  own.recorded = (record.a & k_created_for_rounds) != 0;
  ++tally(own).created;
  tally(own).recorded += own.recorded;
}

void trace_checker::begin(const trace_record &record, state &own) {
  const bool knows = m_reader.about().level >= trace_level::tasks;
  if (record.b & k_branch)
    own.implicit = true;
  if (!own.created && !own.implicit && knows)
    own.early = true;
  if (own.type == 0)
    own.type = record.type % k_trace_types;
  if (knows && own.ended && !own.recorded && complete())
    fault(record, "its body has run already");
  if (++own.running > 1 && complete() && !is_close(record, own))
    fault(record, "it is running already");
  if (!knows && !(record.b & k_branch)) {
    ++(record.b & k_round ? tally(own).rounds : tally(own).executed);
    own.running = 0;
  }
}

void trace_checker::end(const trace_record &record, state &own) {
  if (m_reader.about().level < trace_level::tasks)
    return;
  if (--own.running < 0 && complete() && !is_close(record, own))
    fault(record, "it was not running");
  if (own.away != 0 && complete() && !is_close(record, own))
    fault(record, "it was suspended");
  if (std::exchange(own.left, false) && (record.a & k_again) == 0 && complete() &&
      !is_close(record, own))
    fault(record, "a coroutine of it waits");
  if (own.implicit)
    return;
  type_tally &t = tally(own);
  if (record.a & k_round) {
    ++t.rounds;
    return;
  }
  ++t.executed;
  t.reruns += (record.a & k_again) != 0;
  own.ended = !(record.a & k_again);
}

void trace_checker::suspend(const trace_record &record, state &own) {
  ++suspended;
  if (++own.away > 1 && complete() && !is_close(record, own))
    fault(record, "it is suspended already");
}

void trace_checker::resume(const trace_record &record, state &own) {
  if (--own.away < 0 && complete() && !is_close(record, own))
    fault(record, "it was not suspended");
}

void trace_checker::leave(const trace_record &record, state &own) {
  if (m_reader.about().level < trace_level::tasks)
    return;
  if (own.running < 1 && complete() && !is_close(record, own))
    fault(record, "it was not running");
  own.left = true;
}

void trace_checker::make_ready(const trace_record &record, state &own) {
  if (!own.created && complete())
    own.early = true;
  if (own.ended && !own.recorded && complete())
    fault(record, "it has ended");
}

void trace_checker::take(const trace_item &item) {
  const trace_record &r = *item.record;
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
  case trace_event::left:
    leave(r, s);
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
void trace_checker::look_at_the_end(std::uint32_t id, const state &own) {
  tally(own).live += own.created && !own.ended && !own.recorded;
  if (!own.early || !complete() || m_reader.about().state != trace_description::exact)
    return;
  trace_record r{};
  r.time = own.last;
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
