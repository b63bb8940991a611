// SPDX-License-Identifier: Apache-2.0
#include "weft_lpf/link.hpp"

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>
#include <weft/layer/runtime_phase.hpp>
#include <weft/layer/trace.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>

#include <pthread.h>
#include <sched.h>

namespace weft_lpf {

namespace net = weft::net;
using weft::layer::message_step;

namespace {

constexpr std::uint32_t k_failure = k_streams; // the number of a message about a context
constexpr std::uint32_t k_first_step = 16; // from here on: messages of step_listener
constexpr std::uint32_t k_notified = UINT32_MAX;
constexpr std::size_t k_most_read = std::size_t{1} << 20; // longer reads are split
constexpr int k_rounds = 200; // of progress, before a wait sleeps

/// Returns whether the settings ask for a trace, which begins with the runtime.
bool is_process_traced() { return weft::layer::setting("trace.level") != "off"; }

/// Returns what a stream is called in traces; null for what is not in them.
const char *name_of_stream(stream what) {
  constexpr const char *k_names[k_streams] = {"lpf_sync", "lpf_sync answers", "lpf_sync thanks",
                                              "lpf_exec"};
  const auto kind = static_cast<std::size_t>(what);
  return kind < k_streams ? k_names[kind] : nullptr;
}

/// Returns the number that is in traces.
std::uint32_t number_of(const superstep &step, stream what) {
  return what == stream::order ? 0 : traced_step(step.context, traced_number(step));
}

// The links of this process; neither has a destructor. Of other locks, only m_lock of a link is taken with this one.
constinit std::mutex g_links_lock;
constinit link *g_first_link = nullptr;
void lock_links() { g_links_lock.lock(); }
void unlock_links() { g_links_lock.unlock(); }

/// Is in front of each message.
struct head {
  superstep of;
  std::uint64_t total = 0;  // bytes of the stream
  std::uint64_t offset = 0; // of those that follow
};

} // namespace

struct link::own_message : net::operation {
  link *owner = nullptr;
  std::unique_ptr<std::byte[]> data;
  std::uint32_t number = 0; // in the trace; 0: none
  const char *name = "";
};

struct link::own_read : net::operation {
  link *owner = nullptr;
  superstep of;
};

struct link::reserve_message : net::operation {
  explicit reserve_message(link &of) noexcept : owner(&of) {
    what = net::action::message;
    id = k_failure;
    local = &data;
    bytes = sizeof data;
    ended = &reserve_sent;
  }
  link *owner;
  head data;
};

link::link(std::unique_ptr<net::engine> below, messages how, std::vector<std::string> places)
    : m_most_bytes(below->caps().most_message - sizeof(head)), m_world(below->world()),
      m_places(std::move(places)), m_lost(static_cast<std::size_t>(below->size())),
      m_reserve(std::make_unique<reserve_message>(*this)), m_messages(how), m_trace(below->rank()),
      m_below(std::move(below), *this) {
  announce();
  watch();
  static const int once = pthread_atfork(&lock_links, &unlock_links, &unlock_links); // a child finds the list whole
  static_cast<void>(once);
  const std::lock_guard guard(g_links_lock);
  m_next = g_first_link;
  if (m_next)
    m_next->m_before = this;
  g_first_link = this;
}

link::~link() {
  {
    const std::lock_guard guard(g_links_lock);
    (m_before ? m_before->m_next : g_first_link) = m_next;
    if (m_next)
      m_next->m_before = m_before;
  }
  unwatch();
  withdraw();
  while (m_sending != 0) {
    m_below.progress(k_batch);
    sched_yield();
  }
  m_below.close();
  if (is_traced())
    m_trace.settle();
}

std::string link::refusal() const {
  return "process " + std::to_string(rank()) + " is the process " + std::to_string(m_process) +
         " of the system, and this one is a child of fork(), which takes no part; leave LPF to it, or end "
         "the child by exec or _exit";
}

void link::begin_trace() noexcept {
  try {
    if (m_messages == messages::traced && is_process_traced())
      weft::start();
  } catch (const weft::error &) { // what it does waits for a worker
  } catch (const std::bad_alloc &) { // so it does here
  }
}

mail &link::mail_with_lock(const superstep &step) {
  return m_mail.try_emplace(step, m_lost.size()).first->second;
}

mail &link::mail_of(const superstep &step) {
  const std::lock_guard guard(m_lock);
  return mail_with_lock(step);
}

void link::drop(const superstep &step) noexcept {
  const std::lock_guard guard(m_lock);
  m_mail.erase(step);
}

void link::submit(net::operation &op) noexcept {
  try {
    m_below.submit(op);
  } catch (const std::exception &) { // there is no polling service: waits poll
  }
}

void link::message_ended(net::operation &self) noexcept {
  const std::unique_ptr<own_message> one(static_cast<own_message *>(&self));
  one->owner->note_arrival();
  if (one->number != 0)
    one->owner->m_trace.note(message_step::landed, one->rank, 0, one->number, 0, one->name);
  --one->owner->m_sending;
}

/// Makes a message of a stream: the part at `offset`.
std::unique_ptr<link::own_message> link::make_part(int to, const superstep &step, stream what,
                                                   std::span<const std::byte> bytes,
                                                   std::size_t offset) {
  const std::size_t part = std::min(m_most_bytes, bytes.size() - offset);
  const head h{step, bytes.size(), offset};
  auto one = std::make_unique<own_message>();
  one->data = std::make_unique_for_overwrite<std::byte[]>(sizeof h + part);
  std::memcpy(one->data.get(), &h, sizeof h);
  if (part != 0)
    std::memcpy(one->data.get() + sizeof h, bytes.data() + offset, part);
  one->what = net::action::message;
  one->id = static_cast<std::uint32_t>(what);
  one->rank = to;
  one->local = one->data.get();
  one->bytes = sizeof h + part;
  one->ended = &message_ended;
  one->owner = this;
  return one;
}

std::size_t link::send(int to, const superstep &step, stream what, std::span<const std::byte> bytes,
                       std::size_t data) {
  const char *const name = name_of_stream(what);
  std::uint32_t number = 0;
  if (name && is_traced()) [[unlikely]]
    number = m_trace.note_start(to, number_of(step, what), bytes.size() - data, name);
  std::size_t sent = 0, offset = 0;
  do {
    auto one = make_part(to, step, what, bytes, offset);
    offset += one->bytes - sizeof(head);
    if (offset == bytes.size()) {
      one->number = number;
      one->name = name;
    }
    ++m_sending;
    submit(*one.release());
    ++sent;
  } while (offset != bytes.size());
  return sent;
}

void link::send_order(std::uint64_t name, int count, std::span<const std::byte> bytes) {
  std::vector<std::unique_ptr<own_message>> all;
  for (int to = 1; to < count; ++to)
    for (std::size_t offset = 0; offset != bytes.size(); offset += all.back()->bytes - sizeof(head))
      all.push_back(make_part(to, {name, static_cast<std::uint64_t>(to)}, stream::order, bytes, offset));
  for (std::unique_ptr<own_message> &one : all) {
    head h;
    std::memcpy(&h, one->data.get(), sizeof h);
    if (h.offset + one->bytes - sizeof h == bytes.size() && is_traced()) [[unlikely]] {
      one->name = name_of_stream(stream::order);
      one->number = m_trace.note_start(one->rank, 0, bytes.size(), one->name);
    }
    ++m_sending;
    submit(*one.release());
  }
}

void link::read_ended(net::operation &self) noexcept {
  const std::unique_ptr<own_read> one(static_cast<own_read *>(&self));
  link &owner = *one->owner;
  owner.note_arrival();
  const std::lock_guard guard(owner.m_lock);
  mail &in = owner.m_mail.find(one->of)->second; // it stays while there are reads
  --in.reads;
  --in.reads_of[static_cast<std::size_t>(one->rank)];
  if (one->result != net::outcome::done)
    in.has_failed_read = true;
  owner.wake();
}

std::size_t link::read(const superstep &step, int from, const net::memory_key &key,
                       std::uint64_t offset, void *to, std::size_t bytes) {
  std::size_t started = 0;
  for (std::size_t first = 0; first < bytes; first += k_most_read, ++started) {
    auto one = std::make_unique<own_read>();
    one->owner = this;
    one->of = step;
    one->what = net::action::get;
    one->rank = from;
    one->key = key;
    one->offset = offset + first;
    one->local = static_cast<std::byte *>(to) + first;
    one->bytes = std::min(k_most_read, bytes - first);
    one->ended = &read_ended;
    {
      const std::lock_guard guard(m_lock);
      mail &in = mail_with_lock(step);
      ++in.reads;
      ++in.reads_of[static_cast<std::size_t>(from)];
    }
    submit(*one.release());
  }
  return started;
}

bool link::is_failure(std::uint64_t context, int processes) const {
  return m_failed.contains(context) || lost_with_lock(processes) >= 0;
}

std::map<std::uint32_t, link::listening>::iterator link::open_context(std::uint64_t context) {
  const auto found = m_listening.find(tag_of(context));
  return found != m_listening.end() && found->second.context == context ? found : m_listening.end();
}

/// Notes that a context has failed. Returns what is known of it; null without memory, where it is not open here.
link::failure *link::note_failure(std::uint64_t context) noexcept {
  const auto known = m_failed.find(context);
  if (known != m_failed.end())
    return &known->second;
  const auto open = open_context(context);
  if (open != m_listening.end())
    return &m_failed.insert(std::move(open->second.its_failure)).position->second;
  try {
    return &m_failed[context];
  } catch (const std::bad_alloc &) {
    m_has_missed = true;
    return nullptr;
  }
}

int link::lost_with_lock(int processes) const {
  if (!m_has_lost)
    return -1;
  const auto end = m_lost.begin() + processes;
  const auto found = std::find(m_lost.begin(), end, true);
  return found == end ? -1 : static_cast<int>(found - m_lost.begin());
}

/// Returns whether a process has ended its reads of the memory of this one, after a failure.
bool link::reads_no_more(const waiter &waiting, std::size_t which) const {
  const auto thanks = static_cast<std::size_t>(stream::thanks);
  const auto found = m_failed.find(waiting.step.context);
  return m_lost[which] || waiting.in->from[thanks][which].is_whole ||
         (found != m_failed.end() && !found->second.reads_no_more.empty() &&
          found->second.reads_no_more[which]);
}

bool link::has_all(const waiter &waiting) const {
  if (waiting.what == stream::order)
    return !m_orders.empty();
  if (waiting.count == k_reads)
    return waiting.in->reads == 0 && !waiting.in->has_failed_read;
  if (waiting.count == k_readers) {
    for (std::size_t which = 0; which != waiting.from->size(); ++which)
      if ((*waiting.from)[which] && !reads_no_more(waiting, which))
        return false;
    return true;
  }
  return waiting.in->whole[static_cast<std::size_t>(waiting.what)] >= waiting.count;
}

bool link::is_over(const waiter &waiting) const {
  if (waiting.count == k_reads)
    return waiting.in->reads == 0; // also after a failure: they end
  if (waiting.count == k_readers)
    return has_all(waiting);
  return has_all(waiting) || is_failure(waiting.step.context, waiting.processes);
}

void link::wake() {
  if (m_waiter && is_over(*m_waiter))
    std::exchange(m_waiter, nullptr)->is_over.set();
}

bool link::wait(waiter &waiting) {
  if (!is_own())
    return false;
  if (waiting.in && is_traced()) [[unlikely]]
    m_trace.note(message_step::awaited, k_any_process, number_of(waiting.step, waiting.what), 0,
                 waiting.count >= k_readers ? 0 : waiting.count,
                 waiting.count == k_reads ? "lpf_sync data" : name_of_stream(waiting.what));
  bool is_polled = false;
  for (int i = 0; i != k_rounds; ++i) {
    {
      const std::lock_guard guard(m_lock);
      if (is_over(waiting))
        return has_all(waiting);
    }
    m_below.progress(k_batch);
  }
  try {
    m_below.begin_wait();
    is_polled = true;
  } catch (const std::exception &) { // this thread polls
  }
  {
    const std::lock_guard guard(m_lock);
    if (is_over(waiting))
      waiting.is_over.set();
    else
      m_waiter = &waiting;
  }
  bool waits = is_polled;
  while (!waiting.is_over.is_set())
    try {
      if (waits) {
        waiting.is_over.wait();
      } else {
        m_below.progress(k_batch);
        sched_yield();
      }
    } catch (const weft::error &) { // the caller may not suspend
      waits = false;
    }
  if (is_polled)
    m_below.end_wait();
  const std::lock_guard guard(m_lock); // behind the waker
  return has_all(waiting);
}

bool link::wait_for(const superstep &step, int processes, stream what,
                    const std::vector<bool> &from) {
  const auto count = static_cast<std::size_t>(std::count(from.begin(), from.end(), true));
  waiter waiting{step, processes, &mail_of(step), what, count, &from, {}};
  return wait(waiting);
}

std::optional<std::vector<std::byte>> link::wait_for_order() {
  waiter waiting{{}, 1, nullptr, stream::order, 1, nullptr, {}}; // of process 0 alone
  if (!wait(waiting))
    return std::nullopt;
  const std::lock_guard guard(m_lock);
  std::vector<std::byte> order = std::move(m_orders.front());
  m_orders.pop_front();
  return order;
}

bool link::wait_for_reads(const superstep &step, int processes) {
  waiter waiting{step, processes, &mail_of(step), stream::requests, k_reads, nullptr, {}};
  return wait(waiting);
}

void link::wait_for_readers(const superstep &step, int processes, const std::vector<bool> &who) {
  waiter waiting{step, processes, &mail_of(step), stream::thanks, k_readers, &who, {}};
  static_cast<void>(wait(waiting));
}

void link::fail(std::uint64_t context, int processes, reads own) noexcept {
  {
    const std::lock_guard guard(m_lock);
    static_cast<void>(note_failure(context));
  }
  send_notice(context, 0, processes, own == reads::none ? notice::failed : notice::failed_and_reads);
}

/// Sends a notice to the processes from `first` to before `last`.
void link::send_notice(std::uint64_t context, int first, int last, notice what) noexcept {
  for (int to = first; to != last; ++to)
    if (to != rank())
      try {
        send(to, {context, static_cast<std::uint64_t>(what)}, static_cast<stream>(k_failure), {});
      } catch (const std::bad_alloc &) {
        return send_later(context, to, last, what);
      }
}

void link::send_later(std::uint64_t context, int first, int last, notice what) noexcept {
  {
    const std::lock_guard guard(m_lock);
    unsent_notice *one = nullptr;
    if (const auto open = open_context(context); open != m_listening.end())
      one = open->second.unsent.get();
    else if (!m_unsent.is_listed || m_unsent.context == context)
      one = &m_unsent;
    else
      return; // a second context that is not open here: the report of a stall names this process
    const bool is_new = !std::exchange(one->is_listed, true);
    one->context = context;
    one->first = is_new ? first : std::min(one->first, first);
    one->next = is_new ? first : std::min(one->next, first);
    one->last = is_new ? last : std::max(one->last, last);
    one->what |= 1U << static_cast<unsigned>(what);
    if (is_new)
      one->behind = std::exchange(m_first_unsent, one);
    if (std::exchange(m_uses_reserve, true))
      return;
  }
  ++m_sending;
  send_unsent();
}

/// Sends what is next of all notices that were not sent.
void link::send_unsent() noexcept {
  bool has_more = false;
  {
    const std::lock_guard guard(m_lock);
    while (m_first_unsent) {
      unsent_notice &one = *m_first_unsent;
      one.next += one.next == rank();
      if (one.next < one.last)
        break;
      one.next = one.first;
      one.what &= one.what - 1; // the lowest one is sent
      if (one.what != 0)
        continue;
      m_first_unsent = one.behind;
      one.is_listed = false;
      if (one.is_left)
        delete &one;
    }
    has_more = m_uses_reserve = m_first_unsent != nullptr;
    if (has_more) {
      unsent_notice &one = *m_first_unsent;
      m_reserve->data = {{one.context, static_cast<std::uint64_t>(std::countr_zero(one.what))}, 0, 0};
      m_reserve->rank = one.next++;
    }
  }
  if (has_more)
    submit(*m_reserve);
  else
    --m_sending; // the last use: the link may end
}

void link::reserve_sent(net::operation &self) noexcept {
  static_cast<reserve_message &>(self).owner->send_unsent();
}

std::uint32_t link::tag_of(std::uint64_t context) noexcept {
  context = (context ^ (context >> 33)) * 0xff51afd7ed558ccdU; // as MurmurHash3 ends
  return static_cast<std::uint32_t>((context ^ (context >> 33)) & 0x7fffffffU);
}

std::uint32_t traced_step(std::uint64_t context, std::uint32_t number) noexcept {
  constexpr unsigned k_number_bits = 24;
  return link::tag_of(context) << k_number_bits | (number & ((1U << k_number_bits) - 1));
}

void link::listen(std::uint64_t context, int processes, std::shared_ptr<step_listener> to) {
  const std::uint32_t tag = tag_of(context);
  failures made; // all that needs memory comes first
  made[context].reads_no_more.resize(m_lost.size());
  listening opened{context, processes, to, made.extract(context), std::make_unique<unsent_notice>()};
  std::vector<early> before;
  bool has_failed = false; // before it was opened here
  int lost = -1;
  {
    const std::lock_guard guard(m_lock);
    has_failed = is_failure(context, processes) || m_has_missed;
    lost = lost_with_lock(processes);
    if (is_tag_of_past(tag, context) || !m_listening.try_emplace(tag, std::move(opened)).second)
      throw std::runtime_error("two contexts have the tag " + std::to_string(tag));
    if (m_has_missed)
      static_cast<void>(note_failure(context));
    const auto found = m_early.find(tag);
    if (found != m_early.end()) {
      before = std::move(found->second);
      m_early.erase(found);
    }
  }
  for (const early &e : before)
    if (e.id == k_notified)
      to->has_come(e.from, e.what);
    else
      to->message(e.from, e.id, e.payload);
  if (has_failed)
    to->failed(lost);
}

std::shared_ptr<step_listener> link::listener_of(std::uint32_t tag, int from, std::uint32_t id,
                                                 std::uint64_t what,
                                                 std::span<const std::byte> payload) {
  const std::lock_guard guard(m_lock);
  const auto found = m_listening.find(tag);
  if (found != m_listening.end())
    return found->second.to;
  if (is_tag_of_past(tag, 0))
    return nullptr; // it comes late
  m_early[tag].push_back({from, id, what, {payload.begin(), payload.end()}});
  return nullptr;
}

/// Returns whether a context has failed and is over here that has the tag, but for `but`. There are few.
bool link::is_tag_of_past(std::uint32_t tag, std::uint64_t but) const noexcept {
  return std::ranges::any_of(m_failed, [tag, but](const auto &one) {
    return one.second.is_over && one.first != but && tag_of(one.first) == tag;
  });
}

void link::fail_at_exit() {
  static const int once = std::atexit(&fail_all_here);
  static_cast<void>(once);
  if (weft::layer::phase_of_runtime() == weft::layer::runtime_phase::exits)
    fail_all_here(); // the handler would come behind that which waits for the task
}

void link::append_listeners(std::vector<std::shared_ptr<step_listener>> &to) {
  const std::lock_guard guard(m_lock);
  for (const auto &[tag, one] : m_listening)
    to.push_back(one.to);
}

/// Lets the tasks of all contexts end that are open here.
void link::fail_all_here() {
  std::vector<std::shared_ptr<step_listener>> all;
  {
    const std::lock_guard guard(g_links_lock);
    for (link *one = g_first_link; one; one = one->m_next)
      if (one->is_own())
        one->append_listeners(all);
  }
  for (const auto &to : all)
    to->exits();
}

void link::send_step(int to, std::uint64_t context, std::uint32_t id,
                     std::span<const std::byte> bytes, const char *name, std::uint32_t step) {
  const std::uint32_t tag = tag_of(context);
  auto one = std::make_unique<own_message>();
  one->data = std::make_unique_for_overwrite<std::byte[]>(sizeof tag + bytes.size());
  std::memcpy(one->data.get(), &tag, sizeof tag);
  std::memcpy(one->data.get() + sizeof tag, bytes.data(), bytes.size());
  one->what = net::action::message;
  one->id = k_first_step + id;
  one->rank = to;
  one->local = one->data.get();
  one->bytes = sizeof tag + bytes.size();
  one->ended = &message_ended;
  one->owner = this;
  one->name = name;
  if (is_traced()) [[unlikely]]
    one->number = m_trace.note_start(to, traced_step(context, step), bytes.size(), name);
  ++m_sending;
  submit(*one.release());
}

void link::forget(std::uint64_t context) noexcept {
  const std::lock_guard guard(m_lock);
  if (const auto found = open_context(context); found != m_listening.end()) {
    if (unsent_notice *const left = found->second.unsent.get(); left->is_listed) {
      left->is_left = true;
      static_cast<void>(found->second.unsent.release());
    }
    m_listening.erase(found);
  }
  m_early.erase(tag_of(context));
  if (const auto failed = m_failed.find(context); failed != m_failed.end())
    failed->second = {{}, true};
  m_mail.erase(m_mail.lower_bound({context, 0}), m_mail.upper_bound({context, UINT64_MAX}));
}

int link::lost_among(int processes) {
  const std::lock_guard guard(m_lock);
  return lost_with_lock(processes);
}

void link::take(int from, stream what, const superstep &step, std::uint64_t total,
                std::uint64_t offset, std::span<const std::byte> bytes) {
  mail &in = mail_with_lock(step);
  const auto kind = static_cast<std::size_t>(what);
  mail::letter &l = in.from[kind][static_cast<std::size_t>(from)];
  if (l.bytes.size() != total)
    l.bytes.resize(total);
  if (!bytes.empty())
    std::memcpy(l.bytes.data() + offset, bytes.data(), bytes.size());
  l.come += bytes.size();
  if (l.come != total)
    return;
  l.is_whole = true;
  ++in.whole[kind];
  if (is_traced()) [[unlikely]]
    m_trace.note(message_step::arrived, from, number_of(step, what), 0, 0, name_of_stream(what));
  if (what == stream::order) {
    m_orders.push_back(std::move(l.bytes));
    m_mail.erase(step);
  }
}

void link::take_notice(std::uint64_t context, int from, notice what) noexcept {
  std::shared_ptr<step_listener> to;
  {
    const std::lock_guard guard(m_lock);
    // The end of messages says nothing of this process: it learns of a failure, or of a loss, by itself.
    failure *const known = what == notice::messages_ended ? nullptr : note_failure(context);
    if (known && what == notice::failed && !known->is_over)
      try {
        known->reads_no_more.resize(m_lost.size());
        known->reads_no_more[static_cast<std::size_t>(from)] = true;
      } catch (const std::bad_alloc &) { // it is not open here: it shows no memory
      }
    if (const auto open = open_context(context); open != m_listening.end())
      to = open->second.to;
    wake();
  }
  if (!to && what != notice::messages_ended && !m_below.caps().refuses_removed)
    return send_notice(context, from, from + 1, notice::messages_ended); // it has ended here, or not begun
  if (to && what == notice::messages_ended)
    to->has_ended(from);
  else if (to)
    to->failed(-1);
}

void link::arrived(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept {
  note_arrival();
  if (id >= k_first_step) {
    std::uint32_t tag;
    std::memcpy(&tag, payload.data(), sizeof tag);
    payload = payload.subspan(sizeof tag);
    id -= k_first_step;
    try {
      if (const auto to = listener_of(tag, from, id, 0, payload))
        to->message(from, id, payload);
    } catch (const std::bad_alloc &) { // it is missed: the report of the stall names it
    }
    return;
  }
  head h;
  std::memcpy(&h, payload.data(), sizeof h);
  try {
    if (id == k_failure)
      return take_notice(h.of.context, from, static_cast<notice>(h.of.number));
    const std::lock_guard guard(m_lock);
    const bool is_thanks = id == static_cast<std::uint32_t>(stream::thanks);
    if (!m_failed.contains(h.of.context) || (is_thanks && m_mail.contains(h.of)))
      take(from, static_cast<stream>(id), h.of, h.total, h.offset, payload.subspan(sizeof h));
    wake();
  } catch (const std::bad_alloc &) {
    const std::lock_guard guard(m_lock);
    static_cast<void>(note_failure(h.of.context));
    wake();
  }
}

void link::notified(int from, std::uint32_t id, std::uint64_t count) noexcept {
  note_arrival();
  try {
    if (const auto to = listener_of(id, from, k_notified, count, {}))
      to->has_come(from, count);
  } catch (const std::bad_alloc &) { // as above
  }
}

void link::lost(int rank) noexcept {
  note_arrival();
  std::vector<std::shared_ptr<step_listener>> all;
  {
    const std::lock_guard guard(m_lock);
    m_lost[static_cast<std::size_t>(rank)] = true;
    m_has_lost = true;
    for (const auto &[tag, one] : m_listening)
      if (rank < one.processes)
        all.push_back(one.to);
    wake();
  }
  for (const auto &to : all)
    to->failed(rank);
}

// ---- what is waited for

std::string link::name_of(int process) const {
  const auto i = static_cast<std::size_t>(process);
  return "process " + std::to_string(process) +
         (i < m_places.size() ? " (" + m_places[i] + ")" : "");
}

/// Adds what the process waits for itself. With the lock.
void link::add_own_wait(std::vector<weft::layer::outside_wait> &to,
                        step_listener::waits which) const {
  // That process 0 does something else than lpf_exec is no stall.
  if (!m_waiter || (!m_waiter->in && which == step_listener::waits::of_supersteps))
    return;
  const waiter &w = *m_waiter;
  const void *const who = weft::layer::waiter_of(w.is_over);
  const std::string own = " of process " + std::to_string(m_below.rank());
  if (!w.in)
    return to.push_back(
        {who, "an order of lpf_exec to process " + std::to_string(m_below.rank()) + " from",
         name_of(0)});
  const std::string in = "lpf_sync " + std::to_string(traced_number(w.step)) + own;
  if (w.count == k_reads) {
    for (int from = 0; from != w.processes; ++from)
      if (w.in->reads_of[static_cast<std::size_t>(from)] != 0)
        to.push_back({who, in + ", to read the memory of", name_of(from)});
    return;
  }
  constexpr const char *k_whats[] = {", to see it called by",
                                     ", to get the answers to its gets from",
                                     ", to have its memory read by"};
  const auto kind = static_cast<std::size_t>(w.what);
  for (std::size_t from = 0; from != w.from->size(); ++from)
    if ((*w.from)[from] && !w.in->from[kind][from].is_whole &&
        (w.count != k_readers || !reads_no_more(w, from)))
      to.push_back({who, in + k_whats[kind], name_of(static_cast<int>(from))});
}

void link::add_waits(std::vector<weft::layer::outside_wait> &to, step_listener::waits which,
                     step_listener::locks how) {
  std::vector<std::shared_ptr<step_listener>> all;
  {
    std::unique_lock guard(m_lock, std::defer_lock);
    if (how == step_listener::locks::taken)
      guard.lock();
    else if (!guard.try_lock())
      return;
    add_own_wait(to, which);
    for (const auto &[tag, one] : m_listening)
      all.push_back(one.to);
  }
  for (const auto &listener : all)
    listener->add_waits(to, which, how);
}

void link::list_waits(std::vector<weft::layer::outside_wait> &to) {
  add_waits(to, step_listener::waits::of_messages_too, step_listener::locks::tried);
}

std::string link::waits() {
  std::vector<weft::layer::outside_wait> all;
  add_waits(all, step_listener::waits::of_supersteps, step_listener::locks::taken);
  std::string text;
  for (const weft::layer::outside_wait &one : all)
    text += "waits for " + one.what + " " + one.owner + "\n";
  return text;
}

} // namespace weft_lpf
