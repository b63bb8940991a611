// SPDX-License-Identifier: Apache-2.0
// A superstep ends in at most four steps, of which programs of short puts take one:
//
//   1. Each process sends its requests to each other one, with the data of short puts, and waits for
//      those of all. So all have ended their part of the superstep, and their memory is the library's.
//   2. A process that was asked by gets answers, with the data of short ones.
//   3. Long data are read out of the memory of their process by the process that they go to. What overlaps
//      is cut first (reads.hpp). Then the short data are written, one after the other.
//   4. A process whose memory was read waits for the thanks of the readers.
//
// So the result is that of some order of all writes: first the long ones, then the short ones.
#include "weft_lpf/context.hpp"

#include "weft_lpf/report.hpp"
#include "weft_lpf/sync/halves.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

namespace weft_lpf {

using weft::layer::message_step;

namespace {

/// Longer data are not sent with requests and answers. A message of an engine has 4 KiB or so.
constexpr std::size_t k_most_short = 2048;
constexpr std::align_val_t k_alignment{64};

enum class record : std::uint32_t { put, get, answer };
enum class data : std::uint32_t { follow, are_there };

struct record_head {
  record what = record::put;
  data how = data::follow;
  std::uint64_t slot = 0; // of an answer: the number of the request
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

void append(std::vector<std::byte> &to, const void *from, std::size_t bytes) {
  const auto *const first = static_cast<const std::byte *>(from);
  to.insert(to.end(), first, first + bytes);
}
template <class T>
void append(std::vector<std::byte> &to, const T &value) {
  append(to, &value, sizeof value);
}

std::uint64_t mixed(std::uint64_t value) noexcept { // splitmix64
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

bool is_any(const std::vector<bool> &of) {
  return std::find(of.begin(), of.end(), true) != of.end();
}

const char *name_of(context::direction of) {
  return of == context::direction::put ? "lpf_put" : "lpf_get";
}

} // namespace

class context::reader {
 public:
  explicit reader(std::span<const std::byte> bytes) : m_left(bytes) {}
  [[nodiscard]] bool is_empty() const noexcept { return m_left.empty(); }
  const std::byte *take(std::size_t bytes) noexcept {
    const std::byte *const at = m_left.data();
    m_left = m_left.subspan(bytes);
    return at;
  }
  template <class T>
  T take() noexcept {
    T value;
    std::memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }

 private:
  std::span<const std::byte> m_left;
};

context::context(link *below, std::uint64_t name, const place &where)
    : m_link(below), m_name(name), m_where(where), m_now{name, 0}, m_slots(where.pid),
      m_out(where.processes), m_out_data(where.processes), m_others(where.processes, true),
      m_asks(where.processes), m_shows(where.processes), m_is_read(where.processes),
      m_steps(std::make_shared<steps>(below, name, where, m_slots, m_slots_lock)) {
  m_others[where.pid] = false;
  m_steps->open();
}

context::~context() {
  if (m_link && !m_link->is_own())
    return; // of a child of fork(), where a thread that is not there may have a lock
  m_steps->close();
  remove_keys(memory::all);
  if (m_link)
    m_link->forget(m_name);
}

void context::remove_keys(memory which) noexcept {
  const std::lock_guard guard(m_slots_lock);
  m_slots.each([this, which](registration &one) {
    if (one.half != 0) {
      if (which == memory::all)
        free_double(one);
    } else if (std::exchange(one.has_key, false)) {
      m_link->below().remove_memory(one.key);
    }
  });
}

void context::free_double(registration &one) noexcept {
  if (one.has_key)
    m_link->below().remove_memory(one.key); // frees it if it is fresh
  one.has_key = false;
  if (!one.is_fresh)
    ::operator delete(one.begin, k_alignment);
}

std::size_t context::add(slot_kind kind, void *begin, std::size_t bytes) {
  const std::lock_guard guard(m_slots_lock);
  return m_slots.add(kind, begin, bytes);
}

std::size_t context::add_double(std::size_t bytes) {
  if (bytes == 0 || bytes > SIZE_MAX / 4)
    throw std::length_error("a double buffer of " + std::to_string(bytes) + " bytes");
  const std::size_t half = (bytes + 63) / 64 * 64; // so that halves share no line
  registration made;
  void *begin = m_link ? m_link->below().add_fresh_memory(2 * half, made.key) : nullptr;
  made.is_fresh = made.has_key = begin != nullptr;
  if (!begin) {
    begin = ::operator new(2 * half, k_alignment);
    std::memset(begin, 0, 2 * half);
  }
  made.begin = static_cast<std::byte *>(begin);
  made.half = half;
  const std::lock_guard guard(m_slots_lock);
  try {
    const std::size_t slot = m_slots.add(slot_kind::global, begin, 2 * half);
    registration &r = *m_slots.find(slot);
    r.half = half;
    r.is_fresh = made.is_fresh;
    r.has_key = made.has_key;
    r.key = made.key;
    return slot;
  } catch (const std::bad_alloc &) {
    free_double(made);
    throw;
  }
}

void *context::half(std::size_t slot, std::uint64_t step) {
  const std::lock_guard guard(m_slots_lock);
  const registration *const r = m_slots.find(slot);
  return r && r->half != 0 ? r->begin + half_of(step) * r->half : nullptr;
}

void context::resize_register(std::size_t count) {
  const std::lock_guard guard(m_slots_lock);
  m_slots.reserve(count);
}

std::uint64_t context::next_name() const noexcept { return mixed(m_name + m_children + 1); }

void context::resize_queue(std::size_t count) { m_requests.reserve(count); }

void context::remove(std::size_t slot) noexcept {
  registration *const r = m_slots.find(slot);
  if (!r)
    return fail("lpf_deregister of slot " + std::to_string(slot) + ", which " + who() +
                " does not have");
  m_steps->forget_slot(slot);
  const std::lock_guard guard(m_slots_lock);
  if (r->half != 0)
    free_double(*r);
  else if (r->has_key)
    m_link->below().remove_memory(r->key);
  m_slots.remove(slot);
}

std::string context::who() const { return "process " + std::to_string(m_where.pid); }

void context::fail(const std::string &why) noexcept {
  if (m_has_failed)
    return;
  if (m_steps->is_in_child()) {
    m_has_failed = true;
    return;
  }
  report(why);
  quiet_failure();
}

bool context::quiet_failure() noexcept {
  if (!m_has_failed && m_link) {
    const int gone = m_link->lost_among(static_cast<int>(m_where.processes));
    if (gone >= 0)
      report("process " + std::to_string(gone) + " is lost: lpf_sync of " + who() +
             " cannot end, and returns LPF_ERR_FATAL");
  }
  enter_failure_state();
  return false;
}

void context::enter_failure_state() noexcept {
  if (!m_has_failed && m_link && !m_steps->is_in_child()) {
    m_link->fail(m_name, static_cast<int>(m_where.processes),
                 m_is_reading ? link::reads::under_way : link::reads::none);
    m_steps->failed(-1);
    static_cast<void>(m_steps->wait_for_calm());
    if (!m_mail)
      remove_keys(memory::given);
  }
  m_has_failed = true;
}

std::byte *context::find(std::size_t slot, std::size_t offset, std::size_t bytes, unsigned from,
                         const char *what) {
  const registration *const r = m_slots.find(slot);
  if (r && offset <= r->bytes && bytes <= r->bytes - offset)
    return r->begin + offset;
  fail(std::string(what) + " of process " + std::to_string(from) + ": " + std::to_string(bytes) +
       " bytes from " + std::to_string(offset) + " are not in slot " + std::to_string(slot) +
       " of " + who() +
       (r ? ", which has " + std::to_string(r->bytes) + " bytes" : ", which is not registered"));
  return nullptr;
}

void context::queue(direction to, std::size_t own, std::size_t own_offset, unsigned pid,
                    std::size_t slot, std::size_t offset, std::size_t bytes) {
  const char *const what = name_of(to);
  if (bytes == 0 || m_has_failed)
    return;
  if (pid >= m_where.processes)
    return fail(std::string(what) + " names process " + std::to_string(pid) + " of " +
                std::to_string(m_where.processes));
  std::byte *const at = find(own, own_offset, bytes, m_where.pid, what);
  if (at)
    m_requests.push_back({at, own, slot, offset, bytes, pid, to, 0});
}

bool context::sync(ending how) noexcept {
  if (m_steps->is_in_child())
    m_has_failed = true;
  if (m_has_failed)
    return false;
  m_cost = {};
  bool good = false;
  try {
    good = exchange(how);
  } catch (const std::bad_alloc &) {
    quiet_failure(); // the report needs memory
    report("lpf_sync has no memory");
  } catch (const std::exception &e) {
    fail(who() + " cannot end its superstep: " + e.what());
  }
  if (!good && m_mail)
    keep_from_readers();
  m_mail = nullptr;
  hide_shown();
  m_requests.clear();
  m_reads.clear();
  m_writes.clear();
  m_puts_from.clear();
  if (m_link)
    m_link->drop(m_now);
  ++m_now.number;
  return good;
}

/// Waits, in a superstep that has failed, until no memory of this process is read, and none is written by its own reads: the
/// program may free it next. Each process says that its reads have ended, so none waits for one that waits for it.
void context::keep_from_readers() noexcept {
  const auto processes = static_cast<int>(m_where.processes);
  static_cast<void>(m_link->wait_for_reads(m_now, processes));
  if (std::exchange(m_is_reading, false))
    m_link->end_reads(m_name, processes);
  m_link->wait_for_readers(m_now, processes, m_shows);
  hide_shown();
  remove_keys(memory::given);
}

/// Notes that no other process reads memory any more.
void context::hide_shown() noexcept {
  if (m_shown.empty())
    return;
  const std::lock_guard guard(m_slots_lock);
  for (const std::size_t slot : m_shown)
    if (registration *const r = m_slots.find(slot))
      r->is_shown = false;
  m_shown.clear();
}

bool context::exchange(ending how) {
  if (how == ending::superstep && !m_steps->settle()) // what is not in the superstep ends before it
    return quiet_failure();
  if (m_link) {
    m_mail = &m_link->mail_of(m_now);
    m_asks.assign(m_where.processes, false);
    m_shows.assign(m_where.processes, false);
    m_is_read.assign(m_where.processes, false);
    write_requests(how);
    if (!wait_for(stream::requests, m_others) || !read_requests(how) || !read_answers())
      return quiet_failure();
  }
  for (const request &r : m_requests)
    if (r.pid == m_where.pid && !copy_own(r))
      return false;
  if (!copy())
    return quiet_failure();
  note_ends(direction::put);
  count_superstep();
  return true;
}

// ---- messages that are counted by slots

/// Counts what the superstep has ended.
void context::count_superstep() noexcept {
  for (const request &r : m_requests)
    if (r.to == direction::put) {
      ++m_sent;
      if (registration *const own = m_slots.find(r.own_slot))
        ++own->sent;
      if (r.pid != m_where.pid)
        continue;
      ++m_received;
      if (registration *const there = m_slots.find(r.slot))
        ++there->received;
    }
}

/// Issues what is queued: it ends without a superstep. What could not be issued stays queued.
bool context::issue_queued() {
  struct issued_part {
    std::vector<request> &all;
    std::ptrdiff_t count = 0;
    ~issued_part() { all.erase(all.begin(), all.begin() + count); }
  } issued{m_requests};
  for (const request &r : m_requests) {
    steps::request asked;
    asked.what = r.to == direction::put ? steps::kind::put : steps::kind::get;
    asked.own_slot = r.own_slot;
    const registration *const own = m_slots.find(r.own_slot);
    asked.own_offset = own ? static_cast<std::size_t>(r.own - own->begin) : 0; // issue() finds that it is gone
    asked.pid = r.pid;
    asked.slot = r.slot;
    asked.offset = r.offset;
    asked.bytes = r.bytes;
    asked.is_counted = true;
    asked.name = name_of(r.to);
    if (!m_steps->issue(asked)) {
      issued.count = std::ssize(m_requests);
      return false;
    }
    ++issued.count;
  }
  return !m_has_failed;
}

bool context::counting_sync(std::size_t slot, std::uint64_t sent, std::uint64_t received) {
  if (m_has_failed || !issue_queued())
    return false;
  const registration *const r = m_slots.find(slot);
  if (!r) {
    fail("lpf_counting_sync_per_slot of slot " + std::to_string(slot) + ", which " + who() +
         " does not have");
    return false;
  }
  return m_steps->wait_for_counts("lpf_counting_sync_per_slot of slot " + std::to_string(slot) +
                                      " of " + who(),
                                  slot, sent - std::min(sent, r->sent),
                                  received - std::min(received, r->received), false);
}

bool context::sync_slot(std::size_t slot) {
  if (m_has_failed || !issue_queued())
    return false;
  return m_steps->wait_for_counts("the own messages of " + who(), slot, 0, 0, true);
}

std::uint64_t context::count_of(std::size_t slot, way which) {
  if (!m_has_failed && issue_queued())
    m_steps->progress();
  const steps::slot_counts now = m_steps->counts_of(slot);
  std::uint64_t count = which == way::sent ? now.sent : now.received;
  if (slot == steps::k_all_slots)
    count += which == way::sent ? m_sent : m_received;
  else if (const registration *const r = m_slots.find(slot))
    count += which == way::sent ? r->sent : r->received;
  return count;
}

/// Swaps the lock to a value if it has another one. Returns what it had; nothing if the context has failed.
std::optional<std::uint64_t> context::swap(const char *name, const lock_place &where,
                                           std::uint64_t from, std::uint64_t to) {
  std::uint64_t seen = 0;
  const std::byte *const at = find(where.own, where.own_offset, sizeof seen, m_where.pid, name);
  const steps::request asked{steps::kind::compare_swap, where.own, where.own_offset, where.pid,
                             where.slot, where.offset, sizeof seen, to, from, true, name};
  const std::string what = "the " + std::string(name) + " of " + who();
  if (!at || m_has_failed || !issue_queued() || !m_steps->issue(asked))
    return std::nullopt;
  try {
    if (!m_steps->wait_for_counts(what, where.own, 0, 0, true))
      return std::nullopt;
  } catch (const std::bad_alloc &) { // the lock may have been taken
    quiet_failure();
    return std::nullopt;
  }
  std::memcpy(&seen, at, sizeof seen);
  return seen;
}

bool context::lock(const lock_place &where) {
  constexpr const char *k_name = "lpf_lock_slot";
  std::optional<steps::lock_wait> waits;
  for (;;) {
    const std::optional<std::uint64_t> seen = swap(k_name, where, 0, 1);
    if (!seen)
      return false;
    if (*seen == 0)
      return true;
    if (*seen != 1 || !m_link) { // no lock, or no other process that may give it back
      fail_lock(k_name, where, *seen);
      return false;
    }
    if (!waits)
      waits.emplace(*m_steps, where.slot, where.pid);
    waits->pause();
  }
}

bool context::unlock(const lock_place &where) {
  constexpr const char *k_name = "lpf_unlock_slot";
  const std::optional<std::uint64_t> seen = swap(k_name, where, 1, 0);
  if (seen && *seen != 1)
    fail_lock(k_name, where, *seen);
  return seen && *seen == 1;
}

void context::fail_lock(const char *name, const lock_place &where, std::uint64_t seen) noexcept {
  fail(std::string(name) + " of " + who() + ": the lock in byte " + std::to_string(where.offset) +
       " of slot " + std::to_string(where.slot) + " of process " + std::to_string(where.pid) +
       (seen == 0   ? " is free"
        : seen == 1 ? " is taken, and no other process may give it back"
                    : " is " + std::to_string(seen) + ", neither free (0) nor taken (1)"));
}

/// Notes, where a trace is written, that the puts or the gets of the superstep have ended.
void context::note_ends(direction of) noexcept {
  for (const request &r : m_requests)
    if (r.number != 0 && r.to == of)
      m_link->trace().note(message_step::landed, static_cast<int>(r.pid), 0, r.number, 0,
                           name_of(of));
}

bool context::wait_for(stream what, const std::vector<bool> &from) {
  ++m_cost.steps;
  return m_link->wait_for(m_now, static_cast<int>(m_where.processes), what, from);
}

void context::send(unsigned to, stream what) {
  std::vector<std::byte> &out = m_out[to];
  m_cost.messages +=
      m_link->send(static_cast<int>(to), m_now, what, out, std::exchange(m_out_data[to], 0));
  m_cost.bytes += out.size();
  out.clear();
}

void context::write_data(unsigned to, std::byte *data_begin, std::size_t slot, std::size_t bytes) {
  std::vector<std::byte> &out = m_out[to];
  if (bytes <= k_most_short) {
    m_out_data[to] += bytes;
    return append(out, data_begin, bytes);
  }
  registration &r = *m_slots.find(slot);
  {
    const std::lock_guard guard(m_slots_lock);
    if (!r.has_key) {
      r.key = m_link->below().add_memory(r.begin, r.bytes);
      r.has_key = true;
    }
    if (!r.is_shown) {
      m_shown.push_back(slot);
      r.is_shown = true;
    }
  }
  append(out, r.key);
  append(out, static_cast<std::uint64_t>(data_begin - r.begin));
  m_shows[to] = true;
}

void context::write_requests(ending how) {
  for (std::vector<std::byte> &out : m_out)
    append(out, how);
  const bool is_traced = traces_copies();
  for (std::size_t i = 0; i != m_requests.size(); ++i) {
    request &r = m_requests[i];
    if (r.pid == m_where.pid)
      continue;
    if (is_traced) [[unlikely]]
      r.number = m_link->trace().note_start(static_cast<int>(r.pid),
                                            traced_step(m_now.context, traced_number(m_now)),
                                            r.bytes, name_of(r.to));
    record_head h{record::put, r.bytes <= k_most_short ? data::follow : data::are_there, r.slot,
                  r.offset, r.bytes};
    if (r.to == direction::get) {
      h.what = record::get;
      append(m_out[r.pid], h);
      append(m_out[r.pid], static_cast<std::uint64_t>(i));
      m_asks[r.pid] = true;
    } else {
      append(m_out[r.pid], h);
      write_data(r.pid, r.own, r.own_slot, r.bytes);
    }
  }
  m_out[m_where.pid].clear();
  for (unsigned to = 1; to != m_where.processes; ++to)
    send((m_where.pid + to) % m_where.processes, stream::requests);
}

bool context::read_requests(ending how) {
  const auto &letters = m_mail->from[static_cast<std::size_t>(stream::requests)];
  for (unsigned from = 0; from != m_where.processes; ++from) {
    if (from == m_where.pid)
      continue;
    if (!read_letter(from, letters[from].bytes, how))
      return false;
    if (!m_out[from].empty())
      send(from, stream::answers);
  }
  return true;
}

bool context::read_letter(unsigned from, std::span<const std::byte> bytes, ending how) {
  reader in(bytes);
  const auto theirs = in.take<ending>();
  if (theirs != how) {
    const bool is_own = how == ending::function;
    fail((is_own ? who() : "process " + std::to_string(from)) +
         " has returned from the SPMD function while " +
         (is_own ? "process " + std::to_string(from) : who()) +
         " is in lpf_sync; all processes call it equally often");
    return false;
  }
  while (!in.is_empty()) {
    const auto h = in.take<record_head>();
    const bool is_get = h.what == record::get;
    std::byte *const at = find(h.slot, h.offset, h.bytes, from, is_get ? "lpf_get" : "lpf_put");
    if (!at)
      return false;
    if (is_get) {
      append(m_out[from], record_head{record::answer, h.how, in.take<std::uint64_t>(), 0, h.bytes});
      write_data(from, at, h.slot, h.bytes);
    } else {
      read_data(from, in, at, h.bytes);
      ++m_slots.find(h.slot)->received;
      ++m_received;
      if (traces_copies()) [[unlikely]]
        m_puts_from.push_back(from);
    }
  }
  return true;
}

bool context::read_data(unsigned from, reader &in, std::byte *to, std::size_t bytes) {
  if (bytes <= k_most_short) {
    m_writes.push_back({to, in.take(bytes), bytes});
    return true;
  }
  const auto key = in.take<weft::net::memory_key>();
  m_reads.push_back({to, bytes, static_cast<int>(from), key, in.take<std::uint64_t>()});
  m_is_read[from] = true;
  return true;
}

bool context::read_answers() {
  if (!is_any(m_asks))
    return true;
  if (!wait_for(stream::answers, m_asks))
    return false;
  const auto &letters = m_mail->from[static_cast<std::size_t>(stream::answers)];
  for (unsigned from = 0; from != m_where.processes; ++from) {
    reader in(letters[from].bytes);
    while (!in.is_empty()) {
      const auto h = in.take<record_head>();
      read_data(from, in, m_requests[h.slot].own, h.bytes);
    }
  }
  return true;
}

bool context::copy_own(const request &own) {
  const bool is_put = own.to == direction::put;
  std::byte *const at = find(own.slot, own.offset, own.bytes, m_where.pid, name_of(own.to));
  if (!at)
    return false;
  m_writes.push_back({is_put ? at : own.own, is_put ? own.own : at, own.bytes});
  return true;
}

bool context::copy() {
  const auto processes = static_cast<int>(m_where.processes);
  if (!m_reads.empty()) {
    make_disjoint(m_reads);
    m_is_reading = true;
    for (const long_read &r : m_reads)
      m_cost.reads += m_link->read(m_now, r.from, r.key, r.offset, r.to, r.bytes);
    ++m_cost.steps;
    const bool has_all = m_link->wait_for_reads(m_now, processes);
    m_is_reading = false;
    if (!has_all)
      return false;
  }
  for (const short_write &w : m_writes)
    std::memmove(w.to, w.from, w.bytes);
  if (!m_link)
    return true;
  note_ends(direction::get);
  for (const unsigned from : m_puts_from)
    m_link->trace().note(message_step::arrived, static_cast<int>(from),
                         traced_step(m_now.context, traced_number(m_now)), 0, 0,
                         name_of(direction::put));
  for (unsigned peer = 0; peer != m_where.processes; ++peer)
    if (m_is_read[peer])
      send(peer, stream::thanks);
  return !is_any(m_shows) || wait_for(stream::thanks, m_shows);
}

bool run_spmd(context &self, lpf_spmd_t spmd, const lpf_args_t &args) noexcept {
  const place &where = self.where();
  if (link *const below = self.below())
    below->begin_trace();
  try {
    spmd(&self, where.pid, where.processes, args);
  } catch (const std::exception &e) {
    self.fail("the SPMD function of process " + std::to_string(where.pid) +
              " has thrown an exception: " + e.what());
  } catch (...) {
    self.fail("the SPMD function of process " + std::to_string(where.pid) +
              " has thrown an exception");
  }
  const bool is_whole = self.task_steps().finish(); // what tasks have sent has arrived
  return self.sync(context::ending::function) && is_whole;
}

} // namespace weft_lpf
