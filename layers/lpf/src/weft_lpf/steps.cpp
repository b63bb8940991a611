// SPDX-License-Identifier: Apache-2.0
// A superstep ends in these phases; each is begun by the thread that ends the one before:
//
//   open     Messages are issued, and those of others arrive.
//   counts   talpf_sync has closed it. Each process learns how many messages each other one has sent to it: by
//            an exchange of ceil(log2 p) messages, from the cache, or from its caller.
//   data     All of them have arrived, and its own messages have ended.
//   thanks   Where traffic is one-way, the receiver has acknowledged, unless a barrier follows.
//   barrier  A dissemination barrier of ceil(log2 p) messages.
//
// The exchange is a reduce-scatter whose operands stay apart (Bruck et al., 1997): with the same number of
// messages a process learns the count of each sender, so that reports can name pairs.
#include "weft_lpf/steps.hpp"

#include "weft_lpf/report.hpp"
#include "weft_lpf/step_number.hpp"
#include "weft_lpf/steps_records.hpp"
#include "weft_lpf/sync/halves.hpp"

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>
#include <weft/layer/task.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <iterator>
#include <new>
#include <stdexcept>

#include <sched.h>

namespace weft_lpf {

using weft::layer::message_step;

namespace {

/// Is in front of the letters of a superstep.
struct step_head {
  std::uint32_t step = 0; // its sent_number()
  std::uint32_t round = 0;
  std::uint32_t first = 0; // of the counts that follow
};

/// Returns the superstep that a letter belongs to, for people; 0 for none.
std::uint32_t shown_step_of(std::uint32_t id, std::span<const std::byte> bytes) {
  return id == letter_where || id == letter_here || id == letter_counted
             ? 0
             : shown_number(value_of<step_head>(bytes).step);
}

constexpr std::uint32_t k_barrier = 0x80000000U, k_cached = 0x40000000U, k_counted = 0x20000000U;
constexpr int k_rounds = 200; // of progress, before a wait sleeps
constexpr int k_most_rounds = 64; // of progress, in a call that never blocks
// Pauses of one that waits for a lock: those that only let others run, and then how long they are.
constexpr int k_short_pauses = 8, k_most_pauses = 10;
constexpr auto k_least_pause = std::chrono::microseconds(1);

acknowledge acknowledge_of_setting() {
  const std::string text = weft::layer::setting("lpf.acknowledge");
  return text == "all"     ? acknowledge::all
         : text == "never" ? acknowledge::never
                           : acknowledge::one_way;
}

bool checks_of_setting() {
#ifdef NDEBUG
  return weft::layer::setting("lpf.check") == "true";
#else
  return true; // a build that checks
#endif
}

std::size_t size_of_setting(const char *key) {
  const std::string text = weft::layer::setting(key);
  std::size_t end = 0;
  const std::size_t number = std::stoul(text, &end);
  const std::string unit = text.substr(end);
  return number << (unit == "KiB" ? 10 : unit == "MiB" ? 20 : unit == "GiB" ? 30 : 0);
}

} // namespace

steps::steps(link *below, std::uint64_t context, const place &where, slot_table &slots,
             std::mutex &slots_lock)
    : m_link(below), m_context(context), m_where(where),
      m_chunk(below ? size_of_setting("net.chunk") : SIZE_MAX),
      m_acknowledge(below ? acknowledge_of_setting() : acknowledge::never),
      m_checks(below && checks_of_setting()), m_slots(slots), m_slots_lock(slots_lock),
      m_is_used(where.processes), m_is_put_to(where.processes),
      m_outlives(below && !below->below().caps().refuses_removed), m_knows(where.processes),
      m_has_ended(where.processes) {
  while (m_issued.size() != where.processes)
    m_issued.emplace_back(sent_number(m_now));
}

steps::~steps() = default;

void steps::open() {
  if (m_link && m_link->is_own())
    m_link->listen(m_context, static_cast<int>(m_where.processes), shared_from_this());
}

unsigned steps::rounds() const noexcept {
  return static_cast<unsigned>(std::bit_width(m_where.processes - 1));
}

std::uint64_t steps::now() {
  const std::lock_guard guard(m_lock);
  return m_now;
}

steps::record_ref &steps::record_of(std::uint64_t step) {
  const auto found = m_records.find(step);
  if (found != m_records.end())
    return found->second;
  auto made = std::make_shared<record>(step, m_where.processes, rounds()); // before its place, or that would stay empty
  return m_records.try_emplace(step, std::move(made)).first->second;
}

steps::record_ref steps::arriving(std::uint32_t sent) {
  const std::uint64_t step = step_near(m_now, sent);
  const auto found = m_records.find(step);
  if (found != m_records.end())
    return found->second;
  return step < m_now || m_is_broken ? nullptr : record_of(step);
}

std::string steps::name_of(const record &one) const {
  const char *const how = one.how == mode::standard ? "default"
                          : one.how == mode::cached ? "cached"
                                                    : "msg";
  return "talpf_sync " + std::to_string(one.step) + " (" + how + ") of " + who();
}

// ---- supersteps

bool steps::sync(std::uint32_t attributes) {
  if (m_has_failed || is_in_child())
    return wait_for_calm();
  const std::uint32_t chosen = attributes & (k_cached | k_counted);
  if (chosen == (k_cached | k_counted) ||
      (chosen != k_counted && (attributes & ~(k_barrier | k_cached)) != 0)) {
    fail("talpf_sync of " + who() + " got the attributes " + std::to_string(attributes) +
         ", which are none of lpf/talpf.h");
    return wait_for_calm();
  }
  if (weft::layer::who_calls() == weft::layer::caller::between)
    throw weft::error(
        weft::errc::no_block,
        "talpf_sync was called where no task runs and none may wait; call it in a task");
  if (m_link)
    m_link->below().begin_wait();
  if (is_traced()) [[unlikely]]
    m_link->trace().note(message_step::awaited, k_any_process, traced_step(m_context, static_cast<std::uint32_t>(now())), 0,
                         chosen == k_counted ? attributes & (k_counted - 1) : 0, "talpf_sync");
  holder held = holder_of_task();
  bool is_kept = false; // by the superstep
  agenda to_do;
  try {
    if (held.is_task)
      link::fail_at_exit();
    else
      held.thread = std::make_shared<holder::wait>();
    const std::lock_guard guard(m_lock);
    if (!m_is_broken) {
      const record_ref one = record_of(m_now);
      one->held = held;
      one->is_watched = m_link != nullptr;
      is_kept = true;
      one->how = chosen == k_cached    ? mode::cached
                 : chosen == k_counted ? mode::counted
                                       : mode::standard;
      one->has_barrier = chosen == 0 || (attributes & k_barrier) != 0;
      one->counted = attributes & (k_counted - 1);
      one->at = phase::counts;
      ++m_now;
      for (unsigned to = 0; to != m_where.processes; ++to) {
        one->sent[to] = m_issued[to].close(sent_number(m_now));
        one->issued += one->sent[to];
      }
      if (one->how == mode::standard) {
        m_cache.reset();
        begin_counts(one, to_do);
      } else if (one->how == mode::cached) {
        one->fills = !m_cache;
        if (!m_cache)
          m_cache = std::make_shared<counts_cache>();
        one->cache = m_cache;
        if (one->fills || m_checks)
          begin_counts(one, to_do);
        else
          have_counts(one, to_do);
      } else {
        know_counts(one, to_do);
      }
    }
  } catch (const std::bad_alloc &) {
    set_reason(to_do.failure, [&] { return "talpf_sync of " + who() + " has no memory"; });
  }
  const std::shared_ptr<holder::wait> own_wait = held.thread;
  act(to_do);
  if (!is_kept) {
    if (m_link)
      m_link->below().end_wait();
    static_cast<void>(wait_for_calm());
    release(held, false);
  }
  if (!is_kept || !own_wait)
    return !m_has_failed || wait_for_calm();
  for (int i = 0; m_link && i != k_rounds && !own_wait->over.is_set(); ++i)
    m_link->below().progress(k_batch);
  bool waits = true;
  while (!own_wait->over.is_set())
    try {
      if (waits) {
        own_wait->over.wait();
      } else {
        m_link->below().progress(k_batch);
        sched_yield();
      }
    } catch (const weft::error &) { // the caller may not suspend
      waits = false;
    }
  return own_wait->good;
}

void steps::begin_counts(const record_ref &one, agenda &to_do) {
  const unsigned processes = m_where.processes;
  one->block.resize(processes);
  one->exchanges = true; // behind what needs memory: messages that arrive before the failure use the block
  for (unsigned i = 0; i != processes; ++i)
    one->block[i] = one->sent[(m_where.pid + i) % processes];
  if (rounds() != 0)
    send_round(one, to_do);
  advance_counts(one, to_do);
}

void steps::send_round(const record_ref &one, agenda &to_do) {
  const unsigned processes = m_where.processes, bit = 1U << one->round;
  std::vector<std::uint32_t> counts;
  for (unsigned i = 0; i != processes; ++i)
    if ((i & bit) != 0)
      counts.push_back(one->block[i]);
  const std::size_t most = (m_link->most_step_bytes() - sizeof(step_head)) / sizeof(counts[0]);
  for (std::size_t first = 0; first < counts.size(); first += most) {
    const std::size_t count = std::min(most, counts.size() - first);
    std::vector<std::byte> bytes =
        bytes_of(step_head{sent_number(one->step), one->round, static_cast<std::uint32_t>(first)});
    bytes.resize(sizeof(step_head) + count * sizeof(counts[0]));
    std::memcpy(bytes.data() + sizeof(step_head), counts.data() + first, count * sizeof(counts[0]));
    to_do.letters.push_back({(m_where.pid + bit) % processes, letter_counts, std::move(bytes)});
  }
}

void steps::take_counts(std::span<const std::byte> payload, agenda &to_do) {
  const auto head = value_of<step_head>(payload);
  const record_ref one = arriving(head.step);
  if (!one)
    return;
  const std::size_t count = (payload.size() - sizeof head) / sizeof(std::uint32_t);
  std::vector<std::uint32_t> &in = one->in[head.round];
  in.resize(m_where.processes);
  std::memcpy(in.data() + head.first, payload.data() + sizeof head, count * sizeof in[0]);
  one->in_count[head.round] += count;
  if (one->exchanges && one->at == phase::counts)
    advance_counts(one, to_do);
}

void steps::advance_counts(const record_ref &one, agenda &to_do) {
  const unsigned processes = m_where.processes;
  for (; one->round != rounds(); ++one->round) {
    const unsigned bit = 1U << one->round;
    std::size_t needed = 0;
    for (unsigned i = 0; i != processes; ++i)
      needed += (i & bit) != 0;
    if (one->in_count[one->round] != needed)
      return;
    std::size_t next = 0;
    for (unsigned i = 0; i != processes; ++i)
      if ((i & bit) != 0)
        one->block[i] = one->in[one->round][next++];
    if (one->round + 1 != rounds()) {
      ++one->round;
      send_round(one, to_do);
      --one->round;
    }
  }
  have_counts(one, to_do);
}

void steps::have_counts(const record_ref &one, agenda &to_do) {
  const unsigned processes = m_where.processes;
  if (one->exchanges && one->round != rounds())
    return;
  if (one->cache && !one->fills && !one->cache->is_filled)
    return one->cache->waiting.push_back(one);
  if (one->exchanges)
    for (unsigned i = 0; i != processes; ++i)
      one->expected[(m_where.pid + processes - i) % processes] = one->block[i];
  else
    one->expected = one->cache->counts;
  if (one->cache && one->fills) {
    one->cache->is_filled = true;
    one->cache->step = one->step;
    one->cache->counts = one->expected;
  } else if (one->cache && one->exchanges) {
    for (unsigned from = 0; from != processes; ++from)
      if (one->expected[from] != one->cache->counts[from]) {
        to_do.failure = name_of(*one) + " uses the counts of talpf_sync " +
                        std::to_string(one->cache->step) + ": process " + std::to_string(from) +
                        " has sent " + plural(one->expected[from], "message") + " to process " +
                        std::to_string(m_where.pid) + ", and " +
                        std::to_string(one->cache->counts[from]) +
                        " then; end a superstep with LPF_SYNC_DEFAULT where the pattern changes";
        return;
      }
  }
  one->knows = true;
  know_counts(one, to_do);
  if (one->cache && one->fills)
    for (const record_ref &waiting : std::exchange(one->cache->waiting, {}))
      have_counts(waiting, to_do);
}

void steps::know_counts(const record_ref &one, agenda &to_do) {
  std::uint64_t all = one->counted;
  if (one->knows) {
    all = 0;
    for (const std::uint32_t n : one->expected)
      all += n;
  }
  one->at = phase::data;
  if (has_surplus(*one, 0, m_where.processes, to_do))
    return;
  if (one->knows && !one->has_barrier)
    send_thanks(one, to_do);
  if (one->data.close(one->issued + all))
    have_data(one, to_do);
}

void steps::send_thanks(const record_ref &one, agenda &to_do) {
  if (m_acknowledge == acknowledge::never)
    return;
  for (unsigned from = 0; from != m_where.processes; ++from) {
    const std::uint32_t come = one->knows ? one->expected[from] : one->come[from];
    if (from != m_where.pid &&
        (m_acknowledge == acknowledge::all ? come != 0 : is_one_way(come, one->sent[from])))
      to_do.letters.push_back({from, letter_thanks, bytes_of(step_head{sent_number(one->step), 0, 0})});
  }
}

void steps::have_data(const record_ref &one, agenda &to_do) {
  one->at = phase::thanks;
  if (one->has_barrier || m_acknowledge == acknowledge::never)
    return have_thanks(one, to_do);
  if (!one->knows)
    send_thanks(one, to_do);
  std::uint64_t needed = 0;
  for (unsigned to = 0; to != m_where.processes; ++to)
    if (to != m_where.pid &&
        (m_acknowledge == acknowledge::all ? one->sent[to] != 0
                                           : is_one_way(one->sent[to], one->come[to]))) {
      one->awaits_thanks[to] = true;
      ++needed;
    }
  if (one->thanks.close(needed))
    have_thanks(one, to_do);
}

void steps::have_thanks(const record_ref &one, agenda &to_do) {
  if (!one->has_barrier || rounds() == 0)
    return end(one, to_do);
  one->at = phase::barrier;
  send_beat(one, to_do);
  advance_barrier(one, to_do);
}

void steps::send_beat(const record_ref &one, agenda &to_do) {
  to_do.letters.push_back({(m_where.pid + (1U << one->beat)) % m_where.processes, letter_beat,
                           bytes_of(step_head{sent_number(one->step), one->beat, 0})});
}

void steps::advance_barrier(const record_ref &one, agenda &to_do) {
  while ((one->beats >> one->beat & 1) != 0) {
    if (++one->beat == rounds())
      return end(one, to_do);
    send_beat(one, to_do);
  }
}

void steps::end(const record_ref &one, agenda &to_do) {
  to_do.over.push_back(std::move(one->held));
  to_do.waits_over += one->is_watched;
  m_records.erase(one->step);
  look_for_end();
}

// ---- what arrives

void steps::come_with_lock(const record_ref &one, unsigned from, std::uint64_t what,
                           agenda &to_do) {
  const bool is_part = (what & k_part) != 0;
  one->come[from] += !is_part;
  one->all_come += !is_part;
  if (has_surplus(*one, from, from + 1, to_do)) // of the sender alone: a look at all would take their number, each time
    return;
  if (is_part ? one->data.part()
              : one->data.message(static_cast<std::uint32_t>((what & ~(k_part | k_behind)) >> 32)))
    have_data(one, to_do);
}

/// Returns whether more has come than was expected, of the processes from `first` to before `last`.
bool steps::has_surplus(const record &one, unsigned first, unsigned last, agenda &to_do) const {
  if (one.at == phase::open || one.at == phase::counts)
    return false;
  if (!one.knows && one.all_come > one.counted)
    to_do.failure = name_of(one) + ": " + plural(one.all_come, "message") +
                    " have come to it, and " + std::to_string(one.counted) +
                    " were expected; gets and atomic operations of other processes count as well";
  for (unsigned from = first; one.knows && from != last; ++from)
    if (one.come[from] > one.expected[from])
      to_do.failure = name_of(one) + ": process " + std::to_string(from) + " has sent more than " +
                      plural(one.expected[from], "message") + " to process " +
                      std::to_string(m_where.pid) +
                      "; end a superstep with LPF_SYNC_DEFAULT where the pattern changes";
  return !to_do.failure.empty();
}

void steps::has_come(int from, std::uint64_t what) noexcept {
  if (is_traced() && (what & k_part) == 0 && static_cast<unsigned>(from) != m_where.pid)
      [[unlikely]]
    m_link->trace().note(message_step::arrived, from,
                         traced_step(m_context, shown_number(static_cast<std::uint32_t>(what))), 0, 0,
                         (what & k_behind) != 0 ? k_name_behind : name_of_kind(kind::put));
  agenda to_do;
  try {
    const std::lock_guard guard(m_lock);
    const auto sent = static_cast<std::uint32_t>(what);
    if (const record_ref one = arriving(sent))
      come_with_lock(one, static_cast<unsigned>(from), what, to_do);
    else if (!m_is_broken)
      to_do.failure = "talpf_sync " + std::to_string(step_near(m_now, sent)) + " of " + who() +
                      " is over, and a message of process " + std::to_string(from) +
                      " comes behind it; LPF_SYNC_MSG counts the messages of all processes, gets "
                      "and atomic operations included";
  } catch (const std::bad_alloc &) {
    set_reason(to_do.failure, [&] { return who() + " has no memory for a superstep"; });
  }
  act(to_do);
}

void steps::answer_slot(unsigned from, std::span<const std::byte> payload, agenda &to_do) {
  slot_place place;
  place.slot = value_of<std::uint64_t>(payload);
  {
    const std::lock_guard guard(m_slots_lock);
    if (registration *const r = m_slots.find(place.slot); r && !m_is_broken) {
      if (!r->has_key) {
        r->key = m_link->below().add_memory(r->begin, r->bytes);
        r->has_key = true;
      }
      place.is_there = 1;
      place.bytes = r->bytes;
      place.half = r->half;
      place.key = r->key;
      m_knows[from] = from != m_where.pid;
    }
  }
  to_do.letters.push_back({from, letter_here, bytes_of(place)});
}

void steps::take_slot(unsigned from, std::span<const std::byte> payload, agenda &to_do) {
  const auto place = value_of<slot_place>(payload);
  const auto at = m_remotes.try_emplace({place.slot, from}).first;
  at->second.is_known = true;
  at->second.where = place;
  to_do.found = std::exchange(at->second.waiting, {});
  for (own_message *const one : to_do.found)
    one->asks = false;
  if (place.is_there == 0)
    m_remotes.erase(at); // the messages find that it is not there
}

void steps::message(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept {
  const auto sender = static_cast<unsigned>(from);
  if (is_traced()) [[unlikely]]
    m_link->trace().note(message_step::arrived, from, traced_step(m_context, shown_step_of(id, payload)),
                         0, 0, name_of_letter(id));
  agenda to_do;
  try {
    const std::lock_guard guard(m_lock);
    if (m_is_broken && id != letter_where)
      return;
    if (id == letter_counts)
      take_counts(payload, to_do);
    else if (id == letter_where)
      answer_slot(sender, payload, to_do);
    else if (id == letter_here)
      take_slot(sender, payload, to_do);
    else if (id == letter_counted)
      count(value_of<std::uint64_t>(payload), &slot_counts::received, to_do);
    else if (const auto head = value_of<step_head>(payload);
             const record_ref one = arriving(head.step)) {
      if (id == letter_thanks) {
        one->thanked[sender] = true;
        if (one->thanks.message())
          have_thanks(one, to_do);
      } else {
        one->beats |= std::uint64_t{1} << head.round;
        if (one->at == phase::barrier)
          advance_barrier(one, to_do);
      }
    }
  } catch (const std::exception &e) {
    set_reason(to_do.failure, [&] {
      return who() + " cannot take a message of process " + std::to_string(from) + ": " + e.what();
    });
  }
  act(to_do);
}

void steps::act(agenda &to_do) noexcept {
  for (const agenda::letter &one : to_do.letters)
    try {
      m_link->send_step(static_cast<int>(one.to), m_context, one.id, one.bytes,
                        name_of_letter(one.id), shown_step_of(one.id, one.bytes));
    } catch (const std::bad_alloc &) {
      set_reason(to_do.failure, [&] { return who() + " has no memory for a message"; });
    }
  for (own_message *const one : to_do.found)
    start(one);
  if (!to_do.failure.empty())
    fail(to_do.failure);
  for (; to_do.waits_over != 0; --to_do.waits_over)
    m_link->below().end_wait();
  for (const holder &held : to_do.over)
    release(held, true);
  if (to_do.counter)
    to_do.counter->over.set();
}

// ---- ends and failures

void steps::release(const holder &held, bool good) noexcept {
  if (held.thread) {
    held.thread->good = good;
    held.thread->over.set();
  }
  if (!held.is_task)
    return;
  if (!good)
    weft::layer::fail_task(held.task, failure());
  weft::decrease_events(held.task);
}

/// Waits for an event that what arrives sets.
void steps::wait_until(const weft::event &over) noexcept {
  for (int round = 0; m_link && round != k_rounds && !over.is_set(); ++round)
    m_link->below().progress(k_batch);
  if (over.is_set())
    return;
  bool is_polled = false;
  try {
    if (m_link)
      m_link->below().begin_wait();
    is_polled = m_link != nullptr;
  } catch (const std::exception &) { // this thread polls
  }
  bool waits = is_polled || !m_link;
  while (!over.is_set())
    try {
      if (waits) {
        over.wait();
      } else {
        if (m_link)
          m_link->below().progress(k_batch);
        sched_yield();
      }
    } catch (const weft::error &) { // the caller may not suspend
      waits = false;
    }
  if (is_polled)
    m_link->below().end_wait();
}

/// Wakes the caller of finish(), if no message of this process is under way and no superstep. With the lock.
void steps::look_for_end() noexcept {
  if (m_end && m_in_flight == 0 &&
      std::none_of(m_records.begin(), m_records.end(),
                   [](const auto &r) { return r.second->at != phase::open; }))
    std::exchange(m_end, nullptr)->set();
}

void steps::wait_for_end() noexcept {
  weft::event over;
  {
    const std::lock_guard guard(m_lock);
    m_end = &over;
    m_awaits_end = true; // before the look: the last message looks for it after its end
    look_for_end();
  }
  wait_until(over);
}

bool steps::finish() noexcept {
  if (is_in_child())
    return false;
  wait_for_end();
  for (unsigned to = 0; m_link && to != m_where.processes; ++to)
    if (m_is_used[to])
      if (std::unique_ptr<tail> behind(new (std::nothrow) tail); behind)
        submit_flush(to, std::move(behind));
  wait_for_end();
  return !m_has_failed || wait_for_calm();
}

void steps::submit_flush(unsigned to, std::unique_ptr<tail> behind) noexcept {
  behind->owner = shared_from_this();
  behind->what = net::action::flush;
  behind->rank = static_cast<int>(to);
  behind->ended = &tail_ended;
  ++m_in_flight;
  submit(*behind.release());
}

void steps::close() noexcept {
  {
    const std::lock_guard guard(m_lock);
    m_is_closed = m_is_broken = true;
  }
  if (m_has_failed)
    look_for_calm();
}

void steps::forget_slot(std::size_t slot) noexcept {
  const std::lock_guard guard(m_lock);
  for (auto at = m_remotes.lower_bound({slot, 0}); at != m_remotes.end() && at->first.first == slot;)
    at = at->second.is_known ? m_remotes.erase(at) : std::next(at);
  m_counts.erase(slot);
}

void steps::forget_remote(std::size_t slot) noexcept {
  const std::lock_guard guard(m_lock);
  const auto at = m_remotes.find({slot, owner_of(slot)});
  if (at != m_remotes.end() && at->second.is_known)
    m_remotes.erase(at);
}

// ---- messages that are counted by slots

void steps::count(std::size_t slot, std::uint64_t slot_counts::*which, agenda &to_do) {
  ++(m_counts[slot].*which);
  ++(m_counts[k_all_slots].*which);
  wake_counter(to_do);
}

/// Lets the thread look that waits for counts. With the lock.
void steps::wake_counter(agenda &to_do) noexcept {
  if (m_count_wait)
    to_do.counter = std::move(m_count_wait);
}

steps::slot_counts steps::counts_of(std::size_t slot) {
  const std::lock_guard guard(m_lock);
  const auto found = m_counts.find(slot);
  return found != m_counts.end() ? found->second : slot_counts{};
}

void steps::progress() noexcept {
  for (int round = 0; m_link && round != k_most_rounds; ++round)
    if (m_link->below().progress(k_batch) == 0)
      return;
}

bool steps::settle() {
  if (!std::exchange(m_has_counted, false) || !m_link)
    return true;
  const std::string what = "the messages of " + who() + " before its lpf_sync";
  if (!wait_for_counts(what, k_all_slots, 0, 0, true)) // until they are under way, too
    return false;
  for (unsigned to = 0; to != m_where.processes; ++to) {
    if (!m_is_put_to[to])
      continue;
    m_is_put_to[to] = false;
    auto behind = std::make_unique<tail>();
    behind->is_counted = true;
    {
      const std::lock_guard guard(m_lock);
      ++m_counts[k_all_slots].begun;
    }
    submit_flush(to, std::move(behind));
  }
  return wait_for_counts(what, k_all_slots, 0, 0, true);
}

steps::lock_wait::lock_wait(steps &of, std::size_t slot, unsigned pid)
    : m_of(of), m_what("the lock of slot " + std::to_string(slot) + ", which is taken, at"),
      m_owner(of.m_link->name_of(static_cast<int>(pid))), m_who(weft::this_task::label()) {
  m_of.m_link->below().begin_wait();
  const std::lock_guard guard(m_of.m_lock);
  m_of.m_lock_wait = this;
}

steps::lock_wait::~lock_wait() {
  {
    const std::lock_guard guard(m_of.m_lock);
    m_of.m_lock_wait = nullptr;
  }
  m_of.m_link->below().end_wait();
}

void steps::lock_wait::pause() noexcept {
  try {
    if (++m_pauses <= k_short_pauses)
      weft::taskyield(); // the one that has the lock may be a task
    else
      static_cast<void>(m_never.wait_for(
          k_least_pause * (1 << std::min(m_pauses - k_short_pauses, k_most_pauses))));
  } catch (const weft::error &) { // the caller may not suspend
    sched_yield();
  }
}

bool steps::wait_for_counts(const std::string &what, std::size_t slot, std::uint64_t sent,
                            std::uint64_t received, bool all_begun) {
  if (is_in_child())
    return false;
  progress();
  struct polling {
    link *const below;
    explicit polling(link *of) : below(of) {
      if (below)
        below->below().begin_wait();
    }
    polling(const polling &) = delete;
    polling &operator=(const polling &) = delete;
    ~polling() {
      if (below)
        below->below().end_wait();
    }
  } const polled(m_link);
  bool waits = true, good = false;
  for (;;) {
    std::shared_ptr<holder::wait> changed = std::make_shared<holder::wait>();
    {
      const std::lock_guard guard(m_lock);
      const slot_counts &now = m_counts[slot];
      good = now.sent >= sent && now.received >= received &&
             (!all_begun || now.sent + now.got == now.begun);
      if (good || (m_is_broken && (m_was_calm || !m_has_failed)))
        break;
      std::string for_what =
          all_begun ? what + ", of which " + std::to_string(now.sent + now.got) + " of " +
                          std::to_string(now.begun) + " have ended, to"
                    : what + ", of whose puts " + std::to_string(now.sent) + " of " +
                          std::to_string(sent) + " have ended and " +
                          std::to_string(now.received) + " of " + std::to_string(received) +
                          " have come, from";
      m_count_wait_for = std::move(for_what);
      m_count_wait = changed;
    }
    for (int round = 0; m_link && round != k_rounds && !changed->over.is_set(); ++round)
      m_link->below().progress(k_batch);
    while (!changed->over.is_set())
      try {
        if (waits) {
          changed->over.wait();
        } else {
          progress();
          sched_yield();
        }
      } catch (const weft::error &) { // the caller may not suspend
        waits = false;
      }
  }
  return (good && !m_has_failed) || (m_has_failed && wait_for_calm());
}

// ---- reports

/// Adds what ends with a superstep: its task or thread.
void steps::add_waits_of(const record &one, std::vector<weft::layer::outside_wait> &to) const {
  const unsigned processes = m_where.processes;
  const auto wait = [&](const std::string &for_what, std::string owner) {
    const void *const who = one.held.is_task  ? weft::layer::waiter_of(one.held.task)
                            : one.held.thread ? weft::layer::waiter_of(one.held.thread->over)
                                              : nullptr;
    to.push_back({who, name_of(one) + for_what, std::move(owner)});
  };
  const auto process = [this](unsigned pid) { return m_link->name_of(static_cast<int>(pid)); };
  /// Names a process that sends `distance` places on.
  const auto behind = [&](unsigned distance) {
    return process((m_where.pid + processes - distance % processes) % processes);
  };
  switch (one.at) {
  case phase::open:
    break;
  case phase::counts:
    if (one.exchanges && one.round != rounds())
      wait(", to get the counts of its call from", behind(1U << one.round));
    else
      wait(", to know the counts of", "an earlier superstep");
    break;
  case phase::data: {
    std::uint64_t come = 0;
    for (unsigned peer = 0; peer != processes; ++peer) {
      come += one.come[peer];
      if (one.ended[peer] < one.sent[peer])
        wait(", of whose own messages " + std::to_string(one.ended[peer]) + " of " +
                 std::to_string(one.sent[peer]) + " have ended, to",
             process(peer));
      if (one.knows && one.come[peer] < one.expected[peer])
        wait(", of whose messages " + std::to_string(one.come[peer]) + " of " +
                 std::to_string(one.expected[peer]) + " have come, from",
             process(peer));
    }
    if (!one.knows && come < one.counted) {
      std::string of;
      for (unsigned from = 0; from != processes; ++from)
        if (one.come[from] != 0)
          of += (of.empty() ? " (" : ", ") + std::to_string(one.come[from]) + " of process " +
                std::to_string(from);
      wait(", of whose messages " + std::to_string(come) + " of " + std::to_string(one.counted) +
               " have come" + of + (of.empty() ? "" : ")") + ", from",
           "any process");
    }
    break;
  }
  case phase::thanks:
    for (unsigned peer = 0; peer != processes; ++peer)
      if (one.awaits_thanks[peer] && !one.thanked[peer])
        wait(", to get the acknowledgement of", process(peer));
    break;
  case phase::barrier:
    wait(", to meet in its barrier", behind(1U << one.beat));
    break;
  }
}

void steps::add_waits(std::vector<weft::layer::outside_wait> &to, waits which, locks how) {
  std::unique_lock guard(m_lock, std::defer_lock);
  if (how == locks::taken)
    guard.lock();
  else if (!guard.try_lock())
    return;
  for (const auto &[step, one] : m_records)
    add_waits_of(*one, to);
  for (unsigned peer = 0; m_has_failed && m_is_broken && !is_calm() && peer != m_where.processes; ++peer)
    if (m_outlives && m_knows[peer] && !m_has_ended[peer])
      to.push_back({weft::layer::waiter_of(m_calm), "the messages to " + who() + " in a context that has failed, to end, of",
                    m_link->name_of(static_cast<int>(peer))});
  if (m_count_wait || m_lock_wait) {
    const weft::event &on = m_count_wait ? m_count_wait->over : m_lock_wait->m_never;
    const void *const who = weft::layer::waiter_of(on);
    if (m_lock_wait)
      to.push_back({who, m_lock_wait->m_what, m_lock_wait->m_owner, m_lock_wait->m_who});
    else
      to.push_back({who, m_count_wait_for, "any process"});
  }
  if (which == waits::of_supersteps) {
    for (const auto &[name, there] : m_remotes)
      if (!there.waiting.empty())
        to.push_back({nullptr, "the place of slot " + std::to_string(name.first) + " of",
                      m_link->name_of(static_cast<int>(name.second))});
    return;
  }
  if (m_end)
    to.push_back({weft::layer::waiter_of(*m_end),
                  "the last messages and supersteps of " + who() +
                      ", whose function has ended, to end, of",
                  "any process"});
  for (const own_message *one = m_first_own; one; one = one->next) {
    if (!one->held.is_task)
      continue;
    const request &asked = one->asked;
    std::string what = std::string(name_of_kind(asked.what)) + " of " +
                       plural(asked.bytes, "byte") + " by " + who();
    what += one->asks ? ", to know the place of slot " + std::to_string(asked.slot) + " of"
                      : " that has not ended, to";
    to.push_back({weft::layer::waiter_of(one->held.task), std::move(what),
                  m_link->name_of(static_cast<int>(asked.pid))});
  }
}

} // namespace weft_lpf
