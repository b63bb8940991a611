// SPDX-License-Identifier: Apache-2.0
#include "weft_net/team/started.hpp"

#include <weft/layer/task.hpp>
#include <weft/net/team.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <sched.h>

namespace weft_net {

namespace net = weft::net;
using net::action;
using net::outcome;

namespace {

std::size_t parts_of(const operation &whole, std::size_t chunk) noexcept {
  const bool is_long =
      whole.what == action::put || whole.what == action::get || whole.what == action::put_notify;
  if (!is_long || whole.bytes <= chunk)
    return 1;
  const std::size_t pieces = (whole.bytes + chunk - 1) / chunk;
  return whole.what == action::put_notify ? pieces + 2 : pieces; // a fence and the notification
}

} // namespace

void take_place(places &of, net::transport &to, int rank) {
  if (of.try_take())
    return;
  if (weft::layer::who_calls() == weft::layer::caller::between)
    throw weft::error(
        weft::errc::no_block,
        "the queue to rank " + std::to_string(rank) +
            " is full, and a callback may not wait for it; start the operation in a task, or "
            "raise net.queue");
  queued_caller self;
  self.name = name_of_caller();
  if (of.take(self))
    return;
  try {
    self.has_place.wait();
  } catch (const weft::error &) { // it cannot suspend: the place comes nevertheless
    while (!self.has_place.is_set()) {
      to.progress(1);
      sched_yield();
    }
  }
}

void return_place(places &of) noexcept {
  if (queued_caller *const next = of.give())
    next->has_place.set();
}

started::started(const operation &whole, std::size_t chunk, places &of, completion &ends,
                 names_of_ranks &names, started_list &all)
    : m_places(of), m_names(names), m_bytes(whole.bytes), m_what(whole.what),
      m_count(parts_of(whole, chunk)), m_parts(std::make_unique<part[]>(m_count)),
      m_left(static_cast<std::uint32_t>(m_count)), m_all(all) {
  m_ends = std::move(ends);
  for (std::size_t i = 0; i < m_count; ++i) {
    part &p = m_parts[i];
    static_cast<operation &>(p) = whole;
    p.whole = this;
    p.ended = &part_ended;
    if (m_count == 1)
      break;
    const std::size_t first = std::min(i * chunk, whole.bytes);
    p.what = whole.what == action::get ? action::get : action::put;
    p.local = static_cast<std::byte *>(whole.local) + first;
    p.offset += first;
    p.bytes = std::min(chunk, whole.bytes - first);
  }
  if (m_count != 1 && whole.what == action::put_notify) {
    m_parts[m_count - 2].what = action::fence;
    m_parts[m_count - 1].what = action::put_notify; // without bytes
  }
}

void started_list::add(started &one) noexcept {
  m_lock.lock();
  one.m_next = m_first;
  if (m_first)
    m_first->m_before = &one;
  m_first = &one;
  m_lock.unlock();
}

void started_list::remove(started &one) noexcept {
  m_lock.lock();
  (one.m_before ? one.m_before->m_next : m_first) = one.m_next;
  if (one.m_next)
    one.m_next->m_before = one.m_before;
  m_lock.unlock();
}

void started::submit(net::transport &to) {
  std::exception_ptr failed;
  m_all.add(*this);
  const std::size_t count = m_count; // the last part may delete the object
  part *const parts = m_parts.get();
  for (std::size_t i = 0; i < count; ++i)
    try {
      to.submit(parts[i]);
    } catch (const weft::error &) {
      failed = std::current_exception();
    }
  if (failed)
    std::rethrow_exception(failed);
}

void started::part_ended(operation &self) noexcept {
  started *const whole = static_cast<part &>(self).whole;
  if (whole->m_left.end_one())
    whole->end();
}

const started::part *started::first_failure() const noexcept {
  for (std::size_t i = 0; i < m_count; ++i)
    if (m_parts[i].result != outcome::done)
      return &m_parts[i];
  return nullptr;
}

void started::end() noexcept {
  m_all.remove(*this);
  completion ends = std::move(m_ends);
  std::exception_ptr error;
  if (const part *const failed = first_failure())
    error = failure_of(*failed, m_what, m_bytes, m_names);
  const std::uint64_t value = m_parts[0].value;
  places &of = m_places;
  m_names.note_end(m_parts[0].rank, m_what, m_trace_number);
  delete this;
  return_place(of);
  if (error)
    ends.fail(std::move(error));
  else
    ends.succeed(value);
}

const char *name_of(action what) noexcept {
  switch (what) {
  case action::put:
    return "put";
  case action::get:
    return "get";
  case action::fetch_add:
    return "fetch_add";
  case action::compare_swap:
    return "compare_swap";
  case action::put_notify:
    return "put_notify";
  case action::message:
    return "message";
  case action::fence:
    return "fence";
  case action::flush:
    return "flush";
  }
  return "operation";
}

std::string name_of(action what, std::size_t bytes) {
  const bool notifies_only = what == action::put_notify && bytes == 0;
  return std::string(notifies_only ? "notify" : name_of(what)) +
         (bytes != 0 ? " of " + std::to_string(bytes) + " bytes" : "");
}

std::exception_ptr failure_of(const operation &op, action what, std::size_t bytes,
                              const names_of_ranks &names) {
  std::string text = name_of(what, bytes) + " from rank " + std::to_string(names.own_number()) +
                     " to rank " + std::to_string(op.rank);
  switch (op.result) {
  case outcome::rank_lost:
    text = names.name_of_rank(op.rank) + " is lost, or has left: " + text +
           " has not ended; catch weft::net::lost_rank to go on without it";
    return std::make_exception_ptr(net::lost_rank(op.rank, text));
  case outcome::closed:
    text += " was in flight when its team ended; wait for operations before";
    break;
  case outcome::too_long:
    text += " is longer than a message may be";
    break;
  default:
    text +=
        " names memory that the rank does not share (any more), or that is not aligned; keep the "
        "shared array until a barrier after the last use";
    break;
  }
  return std::make_exception_ptr(weft::error(weft::errc::invalid_argument, text));
}

} // namespace weft_net
