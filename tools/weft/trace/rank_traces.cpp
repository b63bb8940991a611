// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/rank_traces.hpp"

#include "base/error.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace weft_tool {
namespace {

// Names that layers/net gives to what it records. Those of layers/lpf are the same at both ends.
constexpr std::string_view k_notifying = "put_notify", k_notification = "notification",
                           k_message = "message";
constexpr std::uint16_t k_any_rank = UINT16_MAX;

/// Returns the number of a notification or of a superstep. That of a superstep has a mark of its context above it
/// (layers/lpf, traced_step).
std::uint32_t number_of(const message_mark &mark, const std::string &name) {
  constexpr std::uint32_t k_superstep = (1U << 24) - 1;
  return name.starts_with("lpf_") || name.starts_with("talpf_") ? mark.id & k_superstep : mark.id;
}

/// Returns when a trace began, on the job's clock.
std::int64_t begin_of(const trace_reader &reader) noexcept {
  const trace_description &about = reader.about();
  return static_cast<std::int64_t>(about.clock.realtime_ns) - reader.ns(about.clock.ticks) +
         about.place.offset_ns;
}

bool may_have_messages(const trace_reader &reader) {
  static constexpr std::array<std::string_view, 9> k_names{
      "put",     k_notification, "get",   k_notifying, "fetch_add",
      k_message, "compare_swap", "fence", "flush"};
  return std::ranges::any_of(reader.about().types, [](const std::string &name) {
    return std::ranges::find(k_names, name) != k_names.end() || name.starts_with("lpf_") ||
           name.starts_with("talpf_");
  });
}

/// Returns the name that the arrival of a message has which was sent by a name.
const std::string &name_at_arrival(const std::string &sent) {
  static const std::string notification(k_notification);
  return sent == k_notifying ? notification : sent;
}

} // namespace

rank_traces::rank_traces(const std::vector<std::string> &folders) {
  for (const std::string &folder : folders)
    m_readers.push_back(std::make_unique<trace_reader>(folder));
  std::int64_t first = INT64_MAX;
  for (std::size_t i = 0; i != count(); ++i) {
    const trace_place &place = at(i).about().place;
    if (count() != 1 && place.size == 0)
      throw_error(weft::errc::invalid_argument,
                  "'%s' is the trace of no rank of a job; give it alone", folders[i].c_str());
    if (place.job != at(0).about().place.job)
      throw_error(weft::errc::invalid_argument,
                  "'%s' and '%s' are traces of different jobs; give those of one",
                  folders[0].c_str(), folders[i].c_str());
    for (std::size_t other = 0; other != i; ++other)
      if (at(other).about().place.rank == place.rank)
        throw_error(weft::errc::invalid_argument,
                    "'%s' and '%s' are both of rank %d; give one of them", folders[other].c_str(),
                    folders[i].c_str(), place.rank);
    first = std::min(first, begin_of(at(i)));
  }
  for (const auto &reader : m_readers)
    m_shifts.push_back(begin_of(*reader) - first);
}

std::string rank_traces::name_of(std::size_t index) const {
  const trace_description &about = m_readers[index]->about();
  if (about.place.size == 0)
    return about.program;
  return "rank " + std::to_string(about.place.rank) + " of " + std::to_string(about.place.size) +
         ": " + about.program + " (pid " + std::to_string(about.pid) + " on " + about.place.host +
         ")";
}

std::string rank_traces::text(const message_mark &mark) const {
  const std::string &name = m_readers[mark.trace]->type_name(mark.type);
  const std::string rank =
      mark.peer == k_any_rank ? "any rank" : "rank " + std::to_string(mark.peer);
  const bool has_number = mark.id != 0 || name == k_notifying || name == k_notification;
  const std::string number =
      has_number ? " " + std::to_string(number_of(mark, name)) : std::string();
  if (mark.what == trace_event::arrived)
    return name + number + " from " + rank;
  if (mark.what == trace_event::awaits)
    return "waits for " + (mark.bytes != 0 ? std::to_string(mark.bytes) + " of " : std::string()) +
           name + number + " from " + rank;
  std::string made = name + number + " to " + rank;
  if (mark.bytes != 0)
    made += ": " + std::to_string(mark.bytes) + " bytes";
  if (mark.lasted >= 0) {
    char text[40];
    std::snprintf(text, sizeof text, ", %.3f us", static_cast<double>(mark.lasted) / 1e3);
    made += text;
  }
  return made;
}

void rank_traces::read_messages_of(std::size_t index, std::vector<message_mark> &all) {
  trace_reader &reader = at(index);
  if (!may_have_messages(reader))
    return;
  reader.rewind("reading messages");
  // Operations that have not ended, by the ranks and their number.
  std::unordered_map<std::uint64_t, std::size_t> open;
  const auto operation = [](std::uint64_t ranks, std::uint64_t number) {
    return (ranks & ~std::uint64_t{UINT32_MAX}) | number;
  };
  trace_item item;
  while (reader.next(item)) {
    const trace_record &record = *item.record;
    message_mark mark;
    mark.trace = static_cast<std::uint32_t>(index);
    mark.what = static_cast<trace_event>(record.event);
    mark.type = record.type;
    mark.task = record.task;
    mark.id = static_cast<std::uint32_t>(record.a);
    mark.own = static_cast<std::uint16_t>(record.a >> 32);
    mark.peer = static_cast<std::uint16_t>(record.a >> 48);
    switch (mark.what) {
    case trace_event::send:
      mark.ns = reader.ns(record.time) + shift(index);
      mark.bytes = record.b & k_message_bytes;
      if (const std::uint64_t number = record.b >> 40; number != 0)
        open[operation(record.a, number)] = all.size();
      break;
    case trace_event::began:
      if (const auto found = open.find(operation(record.a, mark.id)); found != open.end())
        all[found->second].ns = reader.ns(record.b) + shift(index);
      continue;
    case trace_event::landed:
      if (const auto found = open.find(operation(record.a, mark.id)); found != open.end()) {
        message_mark &begun = all[found->second];
        begun.lasted = std::max<std::int64_t>(reader.ns(record.b) + shift(index) - begun.ns, 0);
        open.erase(found);
      }
      continue;
    case trace_event::arrived:
      mark.ns = reader.ns(record.b) + shift(index);
      break;
    case trace_event::awaits:
      mark.ns = reader.ns(record.time) + shift(index);
      mark.bytes = record.b;
      break;
    default:
      continue;
    }
    all.push_back(mark);
  }
}

std::vector<message_mark> rank_traces::read_messages() {
  std::vector<message_mark> all;
  for (std::size_t i = 0; i != count(); ++i)
    read_messages_of(i, all);
  std::ranges::sort(all, {}, [](const message_mark &mark) {
    return std::tuple(mark.ns, mark.trace, mark.what, mark.own, mark.peer, mark.id);
  });
  // Sends by the ranks, the number, and the name, of those that arrive. An arrival may have an earlier time
  // than its send, because clocks are not exact; so all sends come first.
  std::set<std::string_view> arriving;
  for (const message_mark &mark : all)
    if (mark.what == trace_event::arrived)
      arriving.insert(at(mark.trace).type_name(mark.type));
  std::map<std::tuple<std::uint16_t, std::uint16_t, std::uint32_t, std::string_view>,
           std::deque<std::size_t>>
      sent;
  for (std::size_t i = 0; i != all.size(); ++i) {
    const message_mark &mark = all[i];
    const std::string_view name = name_at_arrival(at(mark.trace).type_name(mark.type));
    if (mark.what == trace_event::send && arriving.contains(name))
      sent[{mark.own, mark.peer, mark.id, name}].push_back(i);
  }
  std::uint64_t flows = 0;
  for (message_mark &mark : all) {
    if (mark.what != trace_event::arrived)
      continue;
    const auto found =
        sent.find({mark.peer, mark.own, mark.id, at(mark.trace).type_name(mark.type)});
    if (found == sent.end() || found->second.empty())
      continue;
    all[found->second.front()].flow = mark.flow = ++flows;
    found->second.pop_front();
  }
  return all;
}

std::vector<std::string> rank_traces::doubts() const {
  std::vector<std::string> all;
  std::uint64_t worst = 0;
  for (const auto &reader : m_readers) {
    worst = std::max(worst, reader->about().place.uncertain_ns);
    if (reader->discarded() != 0 && count() != 1)
      all.push_back("rank " + std::to_string(reader->about().place.rank) +
                    " has discarded records: messages may be linked wrongly");
  }
  if (worst != 0)
    all.push_back("clocks of different hosts agree to " + std::to_string((worst + 999) / 1000) +
                  " us");
  return all;
}

} // namespace weft_tool
