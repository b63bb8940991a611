// SPDX-License-Identifier: Apache-2.0
// Messages of a process (steps.hpp): they are issued at once, in parts if they are long, and each end is
// counted in its superstep.
#include "weft_lpf/step_number.hpp"
#include "weft_lpf/steps_records.hpp"
#include "weft_lpf/sync/halves.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

namespace weft_lpf {

using weft::layer::message_step;

bool steps::issue(const request &asked) {
  if (m_has_failed || is_in_child())
    return wait_for_calm();
  const std::string what = called(asked);
  if (asked.pid >= m_where.processes) {
    fail(what + " names process " + std::to_string(asked.pid) + " of " +
         std::to_string(m_where.processes));
    return wait_for_calm();
  }
  std::byte *own = nullptr;
  std::string why;
  {
    const std::lock_guard guard(m_slots_lock);
    const registration *const r = m_slots.find(asked.own_slot);
    if (r && asked.own_offset <= r->bytes && asked.bytes <= r->bytes - asked.own_offset)
      own = r->begin + asked.own_offset;
    else if (asked.bytes != 0)
      why = what + " of " + who() + ": " + plural(asked.bytes, "byte") + " from " +
            std::to_string(asked.own_offset) + " are not in slot " +
            std::to_string(asked.own_slot) + " of " + who() +
            (r ? ", which has " + plural(r->bytes, "byte") : ", which is not registered");
  }
  if (!why.empty()) {
    fail(why);
    return wait_for_calm();
  }
  auto one = std::make_unique<own_message>();
  one->owner = shared_from_this();
  one->asked = asked;
  one->own = own;
  if (asked.is_counted) {
    m_has_counted = true;
    if (asked.what == kind::put && asked.pid != m_where.pid)
      m_is_put_to[asked.pid] = true;
  } else {
    one->held = holder_of_task();
    if (one->held.is_task)
      link::fail_at_exit();
  }
  ++m_in_flight;
  if (!asked.is_counted)
    one->sent_step = m_issued[asked.pid].add();
  if (asked.pid != m_where.pid && !asked.is_counted && is_traced()) [[unlikely]]
    one->number =
        m_link->trace().note_start(static_cast<int>(asked.pid), traced_step(m_context, shown_number(one->sent_step)),
                                   asked.bytes, called(asked));
  agenda to_do;
  bool is_ready = false;
  own_message *const issued = one.release(); // it ends itself, perhaps as soon as it is in a list
  std::string refusal;
  try {
    const std::lock_guard guard(m_lock);
    if (m_is_broken) {
      refusal = "the context has failed";
    } else {
      if (asked.is_counted) {
        if (asked.what == kind::put && asked.pid == m_where.pid)
          m_counts.try_emplace(asked.slot); // the end has no memory for it
        ++m_counts[asked.own_slot].begun;
        ++m_counts[k_all_slots].begun;
      } else {
        issued->in = record_of(step_near(m_now, issued->sent_step));
      }
      list(*issued);
      is_ready =
          asked.bytes == 0 || (asked.pid == m_where.pid &&
                               (!m_link || asked.what == kind::put || asked.what == kind::get));
      if (!is_ready) {
        const auto [at, is_new] = m_remotes.try_emplace({asked.slot, asked.pid});
        is_ready = at->second.is_known;
        if (is_new)
          to_do.letters.push_back({asked.pid, letter_where, bytes_of(std::uint64_t{asked.slot})});
        if (!is_ready) {
          at->second.waiting.push_back(issued); // the last that needs memory: the failure ends what waits
          issued->asks = true;
        }
      }
    }
  } catch (const std::bad_alloc &) {
    set_reason(refusal, [&] { return what + " of " + who() + " has no memory for its message"; });
  }
  if (!refusal.empty()) {
    issued->why = refusal;
    end_own(issued);
    return wait_for_calm();
  }
  act(to_do);
  if (is_ready)
    start(issued);
  return !m_has_failed || wait_for_calm();
}

void steps::list(own_message &one) noexcept {
  one.next = m_first_own;
  if (m_first_own)
    m_first_own->before = &one;
  m_first_own = &one;
  one.is_listed = true;
}

void steps::unlist(own_message &one) noexcept {
  if (!one.is_listed)
    return;
  (one.before ? one.before->next : m_first_own) = one.next;
  if (one.next)
    one.next->before = one.before;
}

void steps::copy_own(own_message &one) {
  const request &asked = one.asked;
  std::byte *there = nullptr;
  {
    const std::lock_guard guard(m_slots_lock);
    const registration *const r = m_slots.find(asked.slot);
    const std::size_t limit = !r ? 0 : r->half != 0 ? r->half : r->bytes;
    if (!r || asked.offset > limit || asked.bytes > limit - asked.offset)
      one.why = std::string(called(asked)) + " of " + who() + ": " +
                plural(asked.bytes, "byte") + " from " + std::to_string(asked.offset) +
                " are not in slot " + std::to_string(asked.slot) + " of " + who() +
                (r ? ", which has " + plural(limit, "byte") : ", which is not registered");
    else if (r->half != 0 && asked.what != kind::put)
      one.why = std::string(called(asked)) + " of " + who() + " reads slot " +
                std::to_string(asked.slot) +
                ", a double buffer, which takes puts only; register the memory by itself";
    else
      there = r->begin + (r->half != 0 ? half_of(one.sent_step) * r->half : 0) + asked.offset;
  }
  if (!there)
    return;
  if (asked.what == kind::put) {
    std::memmove(there, one.own, asked.bytes);
  } else if (asked.what == kind::get) {
    std::memmove(one.own, there, asked.bytes);
  } else if (reinterpret_cast<std::uintptr_t>(there) % sizeof(std::uint64_t) != 0) {
    one.why = std::string(called(asked)) + " of " + who() + " is not at 8 aligned bytes";
  } else {
    auto *const word = reinterpret_cast<std::uint64_t *>(there);
    std::uint64_t seen = asked.expected;
    if (asked.what == kind::fetch_add)
      seen = __atomic_fetch_add(word, asked.value, __ATOMIC_SEQ_CST);
    else
      __atomic_compare_exchange_n(word, &seen, asked.value, false, __ATOMIC_SEQ_CST,
                                  __ATOMIC_SEQ_CST);
    std::memcpy(one.own, &seen, sizeof seen);
  }
}

void steps::submit(net::operation &op) noexcept { m_link->start(op); }

void steps::start(own_message *one) noexcept {
  const request &asked = one->asked;
  const bool is_copied =
      asked.pid == m_where.pid && (!m_link || asked.what == kind::put || asked.what == kind::get);
  try {
    if (is_copied) {
      if (asked.bytes != 0)
        copy_own(*one);
      if (one->why.empty() && !asked.is_counted)
        has_come(static_cast<int>(m_where.pid), what_of(one->sent_step, 0));
      return end_own(one);
    }
    slot_place where;
    if (asked.bytes != 0) {
      {
        const std::lock_guard guard(m_lock);
        const auto found = m_remotes.find({asked.slot, asked.pid});
        if (found != m_remotes.end())
          where = found->second.where;
      }
      const std::uint64_t limit = where.half != 0 ? where.half : where.bytes;
      const std::string what = std::string(called(asked)) + " of " + who();
      const std::string slot =
          "slot " + std::to_string(asked.slot) + " of process " + std::to_string(asked.pid);
      if (where.is_there == 0)
        one->why = what + " names " + slot +
                   ", which is not registered; a registration holds from "
                   "the next sync of all processes";
      else if (asked.offset > limit || asked.bytes > limit - asked.offset)
        one->why = what + ": " + plural(asked.bytes, "byte") + " from " +
                   std::to_string(asked.offset) + " are not in " + slot + ", which has " +
                   plural(limit, "byte");
      else if (where.half != 0 && asked.what != kind::put)
        one->why = what + " reads " + slot +
                   ", a double buffer, which takes puts only; register the memory by itself";
    }
    const std::size_t count = asked.bytes <= m_chunk ? 1 : (asked.bytes + m_chunk - 1) / m_chunk;
    if (one->why.empty() && count > k_most_parts)
      one->why = std::string(called(asked)) + " of " + who() + " has " +
                 std::to_string(count) + " parts; net.chunk is too small";
    if (!one->why.empty())
      return end_own(one);
    m_is_used[asked.pid] = true;
    one->parts = std::make_unique<own_message::part[]>(count);
    one->left = count;
    const std::uint64_t offset =
        (where.half != 0 ? half_of(one->sent_step) * where.half : 0) + asked.offset;
    for (std::size_t i = 0; i != count; ++i) {
      own_message::part &p = one->parts[i];
      p.whole = one;
      p.rank = static_cast<int>(asked.pid);
      p.key = where.key;
      p.offset = offset + i * m_chunk;
      p.local = one->own + i * m_chunk;
      p.bytes = std::min(m_chunk, asked.bytes - i * m_chunk);
      p.ended = &part_ended;
      p.id = m_link->tag_of(m_context);
      p.value = asked.value;
      p.expected = asked.expected;
      switch (asked.what) {
      case kind::put:
        p.what = asked.is_counted ? net::action::put : net::action::put_notify;
        p.count = i + 1 == count ? what_of(one->sent_step, count - 1) : what_of(one->sent_step, 0) | k_part;
        break;
      case kind::get:
        p.what = net::action::get;
        break;
      case kind::fetch_add:
        p.what = net::action::fetch_add;
        break;
      case kind::compare_swap:
        p.what = net::action::compare_swap;
        break;
      }
    }
    own_message::part *const parts = one->parts.get(); // the end of the last one frees them
    const std::shared_ptr<steps> self = shared_from_this(); // the last one may be the last owner
    const request sent = asked;
    for (std::size_t i = 0; i != count; ++i)
      submit(parts[i]);
    if (sent.is_counted && sent.what == kind::put)
      self->send_count(sent);
  } catch (const std::bad_alloc &) {
    set_reason(one->why, [&] { return std::string(called(asked)) + " has no memory for its parts"; });
    end_own(one);
  }
}

/// Tells the other process, behind the data, to which of its slots a message has come.
void steps::send_count(const request &sent) noexcept {
  if (auto *const between = new (std::nothrow) tail) {
    between->owner = shared_from_this();
    between->what = net::action::fence;
    between->rank = static_cast<int>(sent.pid);
    between->ended = &tail_ended;
    ++m_in_flight;
    submit(*between);
  }
  agenda to_do;
  to_do.letters.push_back({sent.pid, letter_counted, bytes_of(std::uint64_t{sent.slot})});
  act(to_do);
}

void steps::part_ended(net::operation &self) noexcept {
  auto &p = static_cast<own_message::part &>(self);
  own_message *const whole = p.whole;
  if (p.result != net::outcome::done)
    whole->result = p.result;
  else if (p.what == net::action::fetch_add || p.what == net::action::compare_swap)
    std::memcpy(whole->own, &p.value, sizeof p.value);
  if (--whole->left != 0)
    return;
  const std::shared_ptr<steps> owner = whole->owner;
  owner->m_link->note_end();
  if (whole->result == net::outcome::done && whole->asked.what != kind::put &&
      !whole->asked.is_counted) {
    if (auto *const behind = new (std::nothrow) tail) { // the other process counts the message
      behind->owner = owner;
      behind->what = net::action::put_notify;
      behind->rank = p.rank;
      behind->id = owner->m_link->tag_of(owner->m_context);
      behind->count = what_of(whole->sent_step, 0) | k_behind;
      behind->ended = &tail_ended;
      if (whole->number != 0)
        behind->number = owner->m_link->trace().note_start(
            p.rank, traced_step(owner->m_context, shown_number(whole->sent_step)), 0, k_name_behind);
      ++owner->m_in_flight;
      owner->submit(*behind);
    } else {
      set_reason(whole->why, [] { return "a message has no memory for its end"; });
    }
  }
  owner->end_own(whole);
}

void steps::tail_ended(net::operation &self) noexcept {
  const std::unique_ptr<tail> one(static_cast<tail *>(&self));
  const std::shared_ptr<steps> owner = std::move(one->owner);
  if (one->number != 0)
    owner->m_link->trace().note(message_step::landed, one->rank, 0, one->number, 0, k_name_behind);
  if (one->is_counted) {
    agenda to_do;
    {
      const std::lock_guard guard(owner->m_lock);
      ++owner->m_counts[k_all_slots].got;
      owner->wake_counter(to_do);
    }
    owner->act(to_do);
  }
  owner->end_in_flight();
}

void steps::end_own(own_message *ended) noexcept {
  std::unique_ptr<own_message> one(ended);
  const std::shared_ptr<steps> self = std::move(one->owner);
  if (one->number != 0)
    m_link->trace().note(message_step::landed, static_cast<int>(one->asked.pid), 0, one->number, 0,
                         called(one->asked));
  if (one->why.empty() && one->result != net::outcome::done && one->result != net::outcome::closed)
    set_reason(one->why, [&] {
      return std::string(called(one->asked)) + " from " + who() + " to process " +
             std::to_string(one->asked.pid) +
             (one->result == net::outcome::rank_lost
                  ? " has not ended: the process is lost, or has left"
                  : " names memory that is not registered there any more, or is not aligned");
    });
  if (!one->why.empty())
    fail(one->why);
  const bool good = one->why.empty() && one->result == net::outcome::done;
  if (one->in) {
    agenda to_do;
    {
      const std::lock_guard guard(m_lock);
      unlist(*one);
      ++one->in->ended[one->asked.pid];
      if (one->in->data.message() && !m_is_broken)
        have_data(one->in, to_do);
    }
    act(to_do);
  } else if (one->asked.is_counted) {
    agenda to_do;
    {
      const std::lock_guard guard(m_lock);
      unlist(*one);
      const bool is_put = one->asked.what == kind::put;
      if (good)
        count(one->asked.own_slot, is_put ? &slot_counts::sent : &slot_counts::got, to_do);
      if (good && is_put && one->asked.pid == m_where.pid)
        count(one->asked.slot, &slot_counts::received, to_do);
    }
    act(to_do);
  }
  if (!good && m_has_failed) {
    const std::lock_guard guard(m_lock);
    if (!m_was_calm) {
      one->in.reset();
      one->next_failed = m_first_failed;
      m_first_failed = one.release();
    }
  }
  if (one)
    release(one->held, good);
  end_in_flight();
}

void steps::end_in_flight() noexcept {
  if (--m_in_flight != 0)
    return;
  if (m_has_failed)
    end_own_part();
  if (m_awaits_end) {
    const std::lock_guard guard(m_lock);
    look_for_end();
  }
}

} // namespace weft_lpf
