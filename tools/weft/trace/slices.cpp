// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/slices.hpp"

#include "ult/thread_context.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace weft_tool {

std::string awaited_text(const trace_reader &reader, std::uint64_t chain) {
  const left_word left = left_of_word(chain);
  switch (static_cast<waits_for>(left.reason)) {
  case waits_for::children:
    return "children";
  case waits_for::group:
    return "group";
  case waits_for::end_of_task:
    return "end of " + reader.type_name(left.awaited);
  case waits_for::lock:
  case waits_for::mutex:
    return "mutex";
  case waits_for::semaphore:
    return "semaphore";
  case waits_for::latch:
    return "latch";
  case waits_for::barrier:
    return "barrier";
  case waits_for::event:
    return "event";
  case waits_for::notification:
    return "condition variable";
  case waits_for::channel:
    return "channel";
  case waits_for::call_once:
    return "call_once";
  default: // time, a turn, another library; what no coroutine waits for
    return "";
  }
}

std::string coroutine_text(const trace_reader &reader, const slice &part) {
  std::string text = part.began_in ? reader.type_name(part.began_in) : "";
  if (part.left_in && part.left_in != part.began_in)
    text += (text.empty() ? "-> " : " -> ") + reader.type_name(part.left_in);
  const std::string awaited = awaited_text(reader, part.left_for);
  if (awaited.empty())
    return text;
  const auto why = static_cast<waits_for>(left_of_word(part.left_for).reason);
  char object[24] = "";
  if (why == waits_for::end_of_task && part.left_object != 0)
    std::snprintf(object, sizeof object, " %llu",
                  static_cast<unsigned long long>(part.left_object));
  else if (why != waits_for::end_of_task && why != waits_for::children)
    std::snprintf(object, sizeof object, " 0x%llx",
                  static_cast<unsigned long long>(part.left_object));
  return text + " (" + awaited + object + ")";
}

slice_builder::worker &slice_builder::at(unsigned slot) {
  if (m_workers.size() <= slot)
    m_workers.resize(slot + 1);
  return m_workers[slot];
}

std::uint16_t slice_builder::type_of(std::uint32_t task) const noexcept {
  return m_types.get(task);
}

void slice_builder::close(worker &w, unsigned slot, std::int64_t now, body what) {
  if (w.running.empty())
    return;
  const std::uint32_t task = w.running.back();
  const auto found = m_coroutines.empty() ? m_coroutines.end() : m_coroutines.find(task);
  const coroutine known = found == m_coroutines.end() ? coroutine() : found->second;
  if (now >= w.since)
    m_use({slice::body, slot, task, type_of(task), w.since, now, what == body::over,
           known.began_in, known.left_in, known.left_for, known.left_object});
  w.since = now;
  if (!implied() || what != body::over || found == m_coroutines.end())
    return;
  if (known.left_in) // the next run has the same number
    found->second = {known.left_in};
  else
    m_coroutines.erase(found);
}

void slice_builder::end(worker &w, unsigned slot, const trace_record &record, std::int64_t now) {
  const bool again = (record.a & k_again) != 0;
  close(w, slot, now, again ? body::goes_on : body::over);
  if (!w.running.empty())
    w.running.pop_back();
  if (const auto found = m_coroutines.find(record.task); found != m_coroutines.end()) {
    found->second = {found->second.left_in};
    if (!again)
      m_coroutines.erase(found);
  }
  m_types.take(record.task); // the next begin has it again
}

void slice_builder::begin(worker &w, unsigned slot, const trace_record &record, std::int64_t now) {
  if (implied() && record.a == 0 && !w.running.empty()) { // the body before has ended
    close(w, slot, now, body::over);
    w.running.pop_back();
  }
  close(w, slot, now, body::goes_on);
  w.running.push_back(record.task);
  w.since = now;
}

void slice_builder::resume(worker &w, unsigned slot, const trace_record &record, std::int64_t now) {
  if (implied() && !w.running.empty())
    close(w, slot, now, body::over);
  if (auto below = m_suspended.extract(record.task); !below.empty())
    w.running = std::move(below.mapped());
  else
    w.running.assign(1, record.task);
  w.since = now;
}

void slice_builder::take(const trace_item &item) {
  const trace_record &r = *item.record;
  const std::int64_t now = m_reader.ns(r.time);
  const auto e = static_cast<trace_event>(r.event);
  if (e == trace_event::counted)
    return;
  m_last = std::max(m_last, now);
  if (e == trace_event::decided)
    return;
  worker &w = at(item.slot);
  if (r.type && has_type_of_task(e))
    m_types.put(r.task, r.type);
  switch (e) {
  case trace_event::begin:
    begin(w, item.slot, r, now);
    break;
  case trace_event::root:
    w.running.assign(1, r.task);
    w.since = now;
    break;
  case trace_event::end:
    end(w, item.slot, r, now);
    break;
  case trace_event::left: {
    coroutine &known = m_coroutines[r.task];
    if (known.began_in == 0) // its first run
      known.began_in = left_of_word(r.a).first;
    known.left_in = r.type;
    known.left_for = r.a;
    known.left_object = r.b;
    break;
  }
  case trace_event::suspend:
    close(w, item.slot, now, body::goes_on);
    m_suspended[r.task] = std::exchange(w.running, {});
    break;
  case trace_event::resume:
    resume(w, item.slot, r, now);
    break;
  case trace_event::idle:
    if (implied() && w.running.size() == 1) {
      close(w, item.slot, now, body::over);
      w.running.clear();
    }
    w.idle_since = now;
    break;
  case trace_event::busy:
    if (w.idle_since >= 0)
      m_use({slice::idle, item.slot, 0, 0, w.idle_since, now, false});
    w.idle_since = -1;
    break;
  case trace_event::switched_out:
    if (item.record->b) // preempted; a thread that sleeps or waits in the kernel has not lost its processor
      w.away_since = now;
    break;
  case trace_event::switched_in:
    if (w.away_since >= 0)
      m_use({slice::away, item.slot, 0, 0, w.away_since, now, false});
    w.away_since = -1;
    break;
  default:
    break;
  }
}

void slice_builder::cut() {
  finish();
  for (worker &w : m_workers) {
    w.since = m_last;
    if (w.idle_since >= 0)
      w.idle_since = m_last;
    if (w.away_since >= 0)
      w.away_since = m_last;
  }
}

void slice_builder::finish() {
  for (unsigned slot = 0; slot < m_workers.size(); ++slot) {
    worker &w = m_workers[slot];
    close(w, slot, m_last, body::goes_on);
    if (w.idle_since >= 0)
      m_use({slice::idle, slot, 0, 0, w.idle_since, m_last, false});
    if (w.away_since >= 0)
      m_use({slice::away, slot, 0, 0, w.away_since, m_last, false});
  }
}

} // namespace weft_tool
