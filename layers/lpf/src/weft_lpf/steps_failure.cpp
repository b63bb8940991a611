// SPDX-License-Identifier: Apache-2.0
// How a context of LPF fails: when its processes, threads and tasks learn of it.
#include "weft_lpf/report.hpp"
#include "weft_lpf/steps.hpp"
#include "weft_lpf/steps_records.hpp"

#include <weft/error.hpp>
#include <weft/layer/task.hpp>

#include <mutex>
#include <utility>

namespace weft_lpf {

std::exception_ptr steps::failure() const {
  try {
    if (m_lost >= 0)
      throw weft::error(weft::errc::rank_lost,
                        "process " + std::to_string(m_lost) +
                            " is lost: the messages and supersteps of " + who() + " cannot end");
    throw weft::error(weft::errc::invalid_argument,
                      "the LPF context of " + who() + " has failed; standard error says why");
  } catch (...) { // or std::bad_alloc
    return std::current_exception();
  }
}

void steps::fail(const std::string &why) noexcept {
  if (!m_has_failed.exchange(true)) {
    report(why);
    if (m_link)
      m_link->fail(m_context, static_cast<int>(m_where.processes), link::reads::under_way);
  }
  fail_all(-1);
}

bool steps::is_in_child() noexcept {
  if (!m_link || m_link->is_own())
    return false;
  if (!m_has_failed.exchange(true)) // a thread that is not here may have a lock
    report(m_link->refusal());
  return true;
}

void steps::failed(int lost) noexcept {
  m_has_failed = true;
  fail_all(lost);
}

void steps::exits() noexcept {
  {
    const std::lock_guard guard(m_lock);
    m_exits = true;
  }
  failed(-1);
}

void steps::has_ended(int process) noexcept {
  {
    const std::lock_guard guard(m_lock);
    m_has_ended[static_cast<unsigned>(process)] = true;
  }
  look_for_calm();
}

/// Makes all fail that waits. Tasks and threads learn of it when the context is calm.
void steps::fail_all(int lost) noexcept {
  own_message *first = nullptr;
  {
    const std::lock_guard guard(m_lock);
    if (!m_is_broken)
      m_lost = lost;
    if (lost >= 0) {
      m_has_ended[static_cast<unsigned>(lost)] = true;
      for (const auto &[step, one] : m_records)
        if (one->at != phase::open)
          report("process " + std::to_string(lost) + " is lost: " + name_of(*one) + " cannot end");
    }
    m_is_broken = true;
    m_failed_records.merge(m_records);
    look_for_end();
    for (auto &[name, there] : m_remotes)
      for (own_message *const one : std::exchange(there.waiting, {})) {
        one->result = net::outcome::closed;
        one->next_failed = std::exchange(first, one);
      }
  }
  while (first)
    end_own(std::exchange(first, first->next_failed));
  end_own_part();
  look_for_calm(); // the process that is lost may be the last one
}

// ---- the calm after a failure
//
// An engine need not stop a message when its memory is removed. So a process that learns of a failure begins no message any
// more; when its own have arrived, it says so to all. Tasks, threads and callers learn of the failure when all processes have
// said so that know memory of this one, or are lost: then nothing reads or writes memory that is freed next. This takes no call
// of any process, and none of these messages waits for another one.

/// Ends the part of this process, if the context has failed and no message of it is under way.
void steps::end_own_part() noexcept {
  {
    const std::lock_guard guard(m_lock);
    if (!m_has_failed || !m_is_broken || m_in_flight != 0 || m_own_part != own_part::under_way)
      return;
    m_own_part = m_outlives ? own_part::is_flushed : own_part::is_over;
  }
  if (!m_outlives)
    return look_for_calm();
  m_flush.owner = shared_from_this();
  m_flush.what = net::action::flush;
  m_flush.ended = &flush_ended;
  m_link->keep(); // also where the context was closed before it has failed
  flush_next();
}

/// Waits for what was sent to the next process, and ends the part of this one behind the last.
void steps::flush_next() noexcept {
  while (m_flush_next != m_where.processes && (m_flush_next == m_where.pid || !m_is_used[m_flush_next]))
    ++m_flush_next;
  if (m_flush_next != m_where.processes) {
    m_flush.rank = static_cast<int>(m_flush_next++);
    return submit(m_flush);
  }
  const std::shared_ptr<steps> self = std::move(m_flush.owner);
  {
    const std::lock_guard guard(m_lock);
    m_own_part = own_part::is_over;
  }
  link *const below = m_link; // a waiter may end the context
  below->end_messages(m_context, static_cast<int>(m_where.processes));
  look_for_calm();
  below->let_end();
}

void steps::flush_ended(net::operation &self) noexcept {
  static_cast<last_flush &>(self).owner->flush_next();
}

bool steps::is_calm() const noexcept {
  if (m_exits || m_is_closed)
    return true;
  for (unsigned peer = 0; peer != m_where.processes; ++peer)
    if (m_outlives && m_knows[peer] && !m_has_ended[peer])
      return false;
  return m_own_part == own_part::is_over;
}

/// Lets all learn of the failure that wait, if the context is calm.
void steps::look_for_calm() noexcept {
  std::map<std::uint64_t, record_ref> records;
  std::shared_ptr<holder::wait> count_wait;
  own_message *first = nullptr;
  {
    const std::lock_guard guard(m_lock);
    if (!m_has_failed || !m_is_broken || m_was_calm || !is_calm())
      return;
    m_was_calm = true;
    hide_memory();
    records.swap(m_failed_records);
    first = std::exchange(m_first_failed, nullptr);
    count_wait = std::move(m_count_wait);
  }
  const std::shared_ptr<steps> self = shared_from_this(); // a waiter may end the context
  if (count_wait)
    count_wait->over.set();
  while (first) {
    const std::unique_ptr<own_message> one(std::exchange(first, first->next_failed));
    release(one->held, false);
  }
  for (const auto &[step, one] : records) {
    if (one->at == phase::open)
      continue;
    if (one->is_watched)
      m_link->below().end_wait();
    release(one->held, false);
  }
  m_calm.set();
}

bool steps::wait_for_calm() noexcept {
  if ((m_link && !m_link->is_own()) ||
      weft::layer::who_calls() == weft::layer::caller::between) // which may not wait
    return false;
  const std::shared_ptr<steps> self = shared_from_this();
  if (m_calm.is_set())
    return false;
  wait_until(m_calm);
  return false;
}

/// Takes memory of the program from the other processes: it may be freed when a failure is known. What lpf_sync has shown is
/// taken when no other process reads it any more.
void steps::hide_memory() noexcept {
  if (m_is_closed || !m_link)
    return;
  const std::lock_guard guard(m_slots_lock);
  m_slots.each([this](registration &one) {
    if (one.half == 0 && !one.is_shown && std::exchange(one.has_key, false))
      m_link->below().remove_memory(one.key);
  });
}

} // namespace weft_lpf
