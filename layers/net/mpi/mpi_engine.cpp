// SPDX-License-Identifier: Apache-2.0
// The engine mpi: ranks are processes that an MPI's launcher has started. All travels as messages of
// both sides, on a communicator of the engine's own. One thread at a time is inside.
//
// - The target does what a packet says, as it makes progress: MPI's own puts wait for that as well.
//   A thread looks for packets while no worker does: at once after one has come, then ever more seldom, at
//   last once in a millisecond.
// - Packets of a rank come in their order. So a fence without long data before it costs nothing; else,
//   and for a flush, the target answers when the data are there.
// - Longer data follow their packet, and MPI writes them where they belong. Data of a put, and of a get,
//   have one tag each: packets and data come in one order, so both sides count alike.
// - A packet of an operation without an answer takes a credit of its sender, which the target gives back.
// - The first operation on memory asks its rank whether there is such memory, and waits in the
//   transport's queue.
// - MPI reports no losses: they come from where the ranks have met.
#include "mpi/process.hpp"
#include "mpi/wire.hpp"
#include "watch/watch_thread.hpp"

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>
#include <weft/net/port.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>

namespace weft_net_mpi {

namespace net = weft::net;
using net::action;
using net::memory_key;
using net::operation;
using net::outcome;

namespace {

constexpr std::size_t k_most_message = k_most_inline;
constexpr std::size_t k_most_part = std::size_t{1} << 30; // bytes of one message of MPI
constexpr auto k_most_close = std::chrono::seconds(1);
constexpr int k_most_fruitless =
    1000; // looks for parts of long data that follow each other at once
constexpr int k_group_tag = 7713; // of the making of the communicator

std::size_t parts_of(std::size_t bytes) noexcept { return (bytes + k_most_part - 1) / k_most_part; }

/// Is a packet while MPI sends it.
struct outgoing {
  packet_bytes bytes;
  outgoing *next = nullptr; // among the free ones
};

struct peer;

/// Is an operation that an answer ends.
struct asked {
  operation *op = nullptr; // null: the token is free
  peer *with = nullptr;
};

/// Is long data on the way.
struct transfer {
  enum class is { put_out, get_out, put_in, get_in } kind;
  peer *with;
  operation *op = nullptr; // of put_out and get_in; null: ended before
  std::size_t parts = 0; // messages of MPI that have not ended
  std::size_t bytes = 0; // of get_in: that are still to come
  bool has_failed = false;
  // Of put_in:
  bool has_landed = false, is_known = false, notifies = false;
  std::uint32_t id = 0;
  std::uint64_t count = 0;
  std::vector<std::byte> dropped = {}; // data for memory that is no longer shared
};

/// Is a question for the data of all that came before it.
struct question {
  std::uint64_t before; // the number of the first transfer that does not count
  std::uint64_t token;
};

enum class memory_is { asked_for, known, absent };

struct peer {
  int rank = 0;
  bool is_lost = false, has_left = false;
  bool is_fenced = false; // a fence is under way
  bool has_unanswered = false; // puts or atomic operations since the last question
  bool has_long = false; // among them long data
  std::size_t under_way = 0; // operations
  std::size_t gets = 0; // long ones among them
  std::size_t borders = 0; // fences and flushes that wait for an answer
  std::size_t credits = 0; // packets that may be sent
  std::uint64_t handled = 0; // packets whose credits are to be given back
  std::map<std::uint64_t, memory_is> memory; // by number
  std::deque<transfer *> landing; // long data that come here, the oldest first
  std::uint64_t landed = 0; // transfers that have left the list
  std::deque<question> questions;
};

/// Is memory of this rank.
struct own_memory {
  std::byte *begin = nullptr;
  std::size_t bytes = 0;
  std::vector<int> holders; // ranks that know it
};

class mpi_engine final : public net::engine {
 public:
  mpi_engine(MPI_Comm comm, int rank, int size, std::size_t queue, std::string name);
  ~mpi_engine() override;

  const net::capabilities &caps() const noexcept override { return m_caps; }
  int rank() const noexcept override { return m_rank; }
  int size() const noexcept override { return static_cast<int>(m_peers.size()); }
  void attach(net::engine_events *to) noexcept override;
  memory_key add_memory(void *begin, std::size_t bytes) override;
  void remove_memory(const memory_key &key) noexcept override;
  std::string path_to(int rank) override { return at(rank).is_lost ? "lost" : m_name; }
  void lose(int rank) noexcept override;
  bool begin(operation &op) noexcept override;
  std::size_t progress(std::size_t budget) noexcept override;

 private:
  enum class usable { yes, not_yet, no };
  /// Is what a request of MPI belongs to: one of the two.
  struct owner {
    outgoing *sent = nullptr;
    transfer *moved = nullptr;
  };

  peer &at(int rank) noexcept { return m_peers[static_cast<std::size_t>(rank)]; }

  // Messages of MPI.
  void reserve(std::size_t requests);
  void send(peer &to, const header &head, const void *data = nullptr, std::size_t bytes = 0);
  void send_parts(transfer &of, const void *data, std::size_t bytes, int tag);
  void receive_parts(transfer &of, void *data, std::size_t bytes, int tag);
  void send_nothing(transfer &of, std::size_t parts, int tag);
  void finish_requests() noexcept;
  void finished(transfer &of) noexcept;

  // Operations.
  usable look_up(peer &other, const operation &op);
  bool begin_checked(peer &other, operation &op);
  bool begin_send(peer &other, operation &op, packet inside, packet before);
  bool begin_get(peer &other, operation &op);
  void begin_border(peer &other, operation &op);
  header head_of(const operation &op, packet what) const noexcept;
  std::uint64_t wait_for_answer(peer &other, operation &op);
  operation *answered(peer &other, std::uint64_t token) noexcept;
  void end(peer &other, operation &op, outcome how) noexcept;
  [[nodiscard]] bool comes(const transfer &of) const noexcept;
  void end_all(peer &other, outcome how) noexcept;

  // Arrivals.
  void came(peer &from, const header &head, std::span<const std::byte> payload);
  std::byte *find(const header &head, std::size_t bytes) noexcept;
  bool store(const header &head, std::span<const std::byte> data) noexcept;
  void begin_put_in(peer &from, const header &head);
  void answer_get(peer &from, const header &head);
  void answer_atomic(peer &from, const header &head);
  void answer_key(peer &from, const header &head);
  void answer_questions(peer &from);
  void take_value(peer &from, const header &head) noexcept;
  void return_credits();
  void announce_removed();
  void wait_for_sends() noexcept;
  void close() noexcept;

  net::capabilities m_caps;
  MPI_Comm m_comm;
  const int m_rank;
  const std::size_t m_queue;
  const std::string m_name;
  std::vector<peer> m_peers;
  net::engine_events *m_events = nullptr;
  bool m_is_closing = false;
  inbox m_inbox;
  std::vector<MPI_Request> m_requests;
  std::vector<owner> m_owners; // of the requests
  std::vector<std::unique_ptr<transfer>> m_transfers;
  std::vector<int> m_indices;
  std::vector<MPI_Status> m_statuses;
  std::vector<asked> m_asked; // by token
  std::vector<std::uint64_t> m_free_tokens;
  outgoing *m_free = nullptr;
  std::vector<peer *> m_ended; // left or lost: their operations end after progress
  std::size_t m_arrived = 0; // since progress() began
  int m_fruitless = 0; // calls of progress() without a packet

  std::mutex m_lock; // of what follows
  std::map<std::uint64_t, own_memory> m_memory;
  std::vector<std::pair<int, std::uint64_t>> m_removed; // to be announced: rank, number
  std::atomic<bool> m_has_removed{false};
  std::uint64_t m_next_number = 1;

  weft_net_watch::watch_thread m_watch;
};

[[noreturn]] void fail(const std::string &what, int error) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(error, text, &length);
  throw weft::error(weft::errc::out_of_resources, "mpi: " + what + ": " + text);
}

// ---- construction

mpi_engine::mpi_engine(MPI_Comm comm, int rank, int size, std::size_t queue, std::string name)
    : m_comm(comm), m_rank(rank), m_queue(queue), m_name(std::move(name)),
      m_peers(static_cast<std::size_t>(size)), m_inbox(comm) {
  m_caps.name = "mpi";
  m_caps.needs_target_progress = true;
  m_caps.detects_loss = false;
  m_caps.most_message = k_most_message;
  for (std::size_t r = 0; r < m_peers.size(); ++r) {
    m_peers[r].rank = static_cast<int>(r);
    m_peers[r].credits = queue;
  }
  m_watch.prepare(-1, "mpi");
}

mpi_engine::~mpi_engine() {
  if (!m_is_closing)
    close();
  while (m_free)
    delete std::exchange(m_free, m_free->next);
}

void mpi_engine::attach(net::engine_events *to) noexcept {
  if (to) {
    m_events = to;
    m_caps.wakes = m_watch.start(*to);
    return;
  }
  m_watch.stop();
  close();
  m_events = nullptr;
}

// ---- memory

memory_key mpi_engine::add_memory(void *begin, std::size_t bytes) {
  const std::lock_guard guard(m_lock);
  memory_key key;
  key.words[0] = m_next_number++;
  key.words[1] = reinterpret_cast<std::uintptr_t>(begin);
  key.words[2] = bytes;
  m_memory.emplace(key.words[0], own_memory{static_cast<std::byte *>(begin), bytes, {}});
  return key;
}

void mpi_engine::remove_memory(const memory_key &key) noexcept {
  const std::lock_guard guard(m_lock);
  const auto found = m_memory.find(key.words[0]);
  if (found == m_memory.end())
    return;
  for (const int holder : found->second.holders)
    m_removed.emplace_back(holder, key.words[0]);
  m_has_removed.store(!m_removed.empty(), std::memory_order_relaxed);
  m_memory.erase(found);
}

/// Looks whether an operation may use its memory, and asks the rank at the first use.
mpi_engine::usable mpi_engine::look_up(peer &other, const operation &op) {
  const bool is_atomic = op.what == action::fetch_add || op.what == action::compare_swap;
  const std::size_t bytes = is_atomic ? sizeof(std::uint64_t) : op.bytes;
  const std::uint64_t size = op.key.words[2];
  if (op.offset > size || bytes > size - op.offset ||
      (is_atomic && (op.key.words[1] + op.offset) % sizeof(std::uint64_t) != 0))
    return usable::no;
  const auto [found, is_first] = other.memory.try_emplace(op.key.words[0], memory_is::asked_for);
  if (is_first) {
    header question;
    question.what = packet::want_key;
    question.number = op.key.words[0];
    send(other, question);
  }
  return found->second == memory_is::known       ? usable::yes
         : found->second == memory_is::asked_for ? usable::not_yet
                                                 : usable::no;
}

void mpi_engine::answer_key(peer &from, const header &head) {
  header answer = head;
  answer.what = packet::has_key;
  {
    const std::lock_guard guard(m_lock);
    const auto found = m_memory.find(head.number);
    answer.count = found == m_memory.end() ? 0 : 1;
    if (found != m_memory.end())
      found->second.holders.push_back(from.rank);
  }
  send(from, answer);
}

/// Tells the ranks that know memory that it is no longer shared.
void mpi_engine::announce_removed() {
  if (!m_has_removed.exchange(false, std::memory_order_relaxed))
    return;
  std::vector<std::pair<int, std::uint64_t>> now;
  {
    const std::lock_guard guard(m_lock);
    now.swap(m_removed);
  }
  for (const auto &[holder, number] : now) {
    header word;
    word.what = packet::removed;
    word.number = number;
    send(at(holder), word);
  }
}

/// Returns the memory that a packet names; null if it is no longer shared. The caller has the lock.
std::byte *mpi_engine::find(const header &head, std::size_t bytes) noexcept {
  const auto found = m_memory.find(head.number);
  if (found == m_memory.end() || head.offset > found->second.bytes ||
      bytes > found->second.bytes - head.offset)
    return nullptr;
  return found->second.begin + head.offset;
}

bool mpi_engine::store(const header &head, std::span<const std::byte> data) noexcept {
  if (data.empty())
    return true;
  const std::lock_guard guard(m_lock);
  std::byte *const there = find(head, data.size());
  if (there)
    std::memcpy(there, data.data(), data.size());
  return there != nullptr;
}

// ---- messages of MPI

/// Makes room for requests and a packet, so that what has begun is not lost for want of memory.
void mpi_engine::reserve(std::size_t requests) {
  if (!m_free)
    m_free = new outgoing;
  const std::size_t needed = m_requests.size() + requests;
  if (needed <= m_statuses.size())
    return;
  m_requests.reserve(2 * needed);
  m_owners.reserve(2 * needed);
  m_indices.resize(2 * needed);
  m_statuses.resize(2 * needed);
}

void mpi_engine::send(peer &to, const header &head, const void *data, std::size_t bytes) {
  // A rank that has left waits for the goodbyes of the others.
  if (to.is_lost || (to.has_left && head.what != packet::goodbye))
    return;
  reserve(1);
  outgoing *const o = std::exchange(m_free, m_free->next);
  o->bytes.head = head;
  if (bytes != 0)
    std::memcpy(o->bytes.payload, data, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  int is_over = 0;
  if (PMPI_Isend(&o->bytes, static_cast<int>(sizeof(header) + bytes), MPI_BYTE, to.rank,
                 k_packet_tag, m_comm, &request) != MPI_SUCCESS ||
      PMPI_Test(&request, &is_over, MPI_STATUS_IGNORE) != MPI_SUCCESS || is_over) {
    o->next = std::exchange(m_free, o);
    return;
  }
  m_requests.push_back(request);
  m_owners.push_back({o, nullptr});
}

void mpi_engine::send_parts(transfer &of, const void *data, std::size_t bytes, int tag) {
  const auto *at = static_cast<const std::byte *>(data);
  for (std::size_t left = bytes; left != 0;) {
    const std::size_t now = std::min(left, k_most_part);
    MPI_Request request = MPI_REQUEST_NULL;
    of.has_failed |= PMPI_Isend(at, static_cast<int>(now), MPI_BYTE, of.with->rank, tag, m_comm,
                                &request) != MPI_SUCCESS;
    m_requests.push_back(request);
    m_owners.push_back({nullptr, &of});
    ++of.parts;
    at += now;
    left -= now;
  }
}

/// Answers a get of memory that is not there: its receives end without data.
void mpi_engine::send_nothing(transfer &of, std::size_t parts, int tag) {
  for (; parts != 0; --parts) {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Isend(nullptr, 0, MPI_BYTE, of.with->rank, tag, m_comm, &request);
    m_requests.push_back(request);
    m_owners.push_back({nullptr, &of});
    ++of.parts;
  }
}

void mpi_engine::receive_parts(transfer &of, void *data, std::size_t bytes, int tag) {
  auto *at = static_cast<std::byte *>(data);
  for (std::size_t left = bytes; left != 0;) {
    const std::size_t now = std::min(left, k_most_part);
    MPI_Request request = MPI_REQUEST_NULL;
    of.has_failed |= PMPI_Irecv(at, static_cast<int>(now), MPI_BYTE, of.with->rank, tag, m_comm,
                                &request) != MPI_SUCCESS;
    m_requests.push_back(request);
    m_owners.push_back({nullptr, &of});
    ++of.parts;
    at += now;
    left -= now;
  }
}

/// Ends what MPI has ended.
void mpi_engine::finish_requests() noexcept {
  if (m_requests.empty())
    return;
  int count = 0;
  const int error = PMPI_Testsome(static_cast<int>(m_requests.size()), m_requests.data(), &count,
                                  m_indices.data(), m_statuses.data());
  if (count == MPI_UNDEFINED || count <= 0)
    return;
  std::vector<transfer *> over;
  for (int i = 0; i != count; ++i) {
    const auto index = static_cast<std::size_t>(m_indices[static_cast<std::size_t>(i)]);
    const MPI_Status &status = m_statuses[static_cast<std::size_t>(i)];
    const owner of = m_owners[index];
    m_requests[index] = MPI_REQUEST_NULL;
    if (of.sent) {
      of.sent->next = std::exchange(m_free, of.sent);
      continue;
    }
    transfer &t = *of.moved;
    t.has_failed |= error != MPI_SUCCESS && status.MPI_ERROR != MPI_SUCCESS;
    int bytes = 0;
    if (t.kind == transfer::is::get_in &&
        PMPI_Get_count(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0)
      t.bytes -= static_cast<std::size_t>(bytes);
    if (--t.parts == 0)
      over.push_back(&t);
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i != m_requests.size(); ++i)
    if (m_requests[i] != MPI_REQUEST_NULL) {
      m_requests[kept] = m_requests[i];
      m_owners[kept++] = m_owners[i];
    }
  m_requests.resize(kept);
  m_owners.resize(kept);
  m_watch.note_found();
  for (transfer *const t : over) // these may send
    finished(*t);
}

void mpi_engine::finished(transfer &of) noexcept {
  peer &p = *of.with;
  if (of.kind == transfer::is::get_in)
    --p.gets;
  if (of.op) {
    const outcome how = of.has_failed   ? outcome::rank_lost
                        : of.bytes != 0 ? outcome::bad_memory
                                        : outcome::done;
    end(p, *std::exchange(of.op, nullptr), how);
  }
  if (of.kind == transfer::is::put_in) {
    if (of.notifies && of.is_known && !of.has_failed && !m_is_closing && !p.is_lost) {
      ++m_arrived;
      m_events->notified(p.rank, of.id, of.count);
    }
    of.has_landed = true; // it is in the list until those before it have landed
    while (!p.landing.empty() && p.landing.front()->has_landed) {
      transfer *const first = p.landing.front();
      p.landing.pop_front();
      ++p.landed;
      std::erase_if(m_transfers, [first](const auto &one) { return one.get() == first; });
    }
    return answer_questions(p);
  }
  std::erase_if(m_transfers, [&of](const auto &one) { return one.get() == &of; });
}

// ---- operations

bool mpi_engine::begin(operation &op) noexcept {
  peer &p = at(op.rank);
  if (p.is_lost || p.has_left) {
    m_events->end(op, outcome::rank_lost);
    return true;
  }
  if (p.is_fenced || p.under_way >= m_queue)
    return false;
  try {
    return begin_checked(p, op);
  } catch (const std::bad_alloc &) {
    return false; // it waits; others end meanwhile
  }
}

header mpi_engine::head_of(const operation &op, packet what) const noexcept {
  header made;
  made.what = what;
  made.id = op.id;
  made.count = op.count;
  made.number = op.key.words[0];
  made.offset = op.offset;
  made.bytes = op.bytes;
  return made;
}

bool mpi_engine::begin_checked(peer &other, operation &op) {
  if (op.what == action::fence || op.what == action::flush) {
    if (other.gets != 0)
      return false; // the data of a get are read until it ends
    begin_border(other, op);
    return true;
  }
  if (op.what == action::message) {
    if (op.bytes > k_most_message) {
      m_events->end(op, outcome::too_long);
      return true;
    }
    return begin_send(other, op, packet::message, packet::message);
  }
  const bool is_atomic = op.what == action::fetch_add || op.what == action::compare_swap;
  if (is_atomic || op.bytes != 0)
    switch (look_up(other, op)) {
    case usable::not_yet:
      return false;
    case usable::no:
      m_events->end(op, outcome::bad_memory);
      return true;
    case usable::yes:
      break;
    }
  if (op.what == action::put_notify)
    return begin_send(other, op, packet::notify, packet::notify_long);
  if (!is_atomic && op.bytes == 0) {
    m_events->end(op, outcome::done);
    return true;
  }
  if (op.what == action::put)
    return begin_send(other, op, packet::put, packet::put_long);
  if (op.what == action::get)
    return begin_get(other, op);
  header head = head_of(op, op.what == action::fetch_add ? packet::add : packet::swap);
  head.count = op.value;
  head.bytes = op.expected;
  reserve(1);
  head.token = wait_for_answer(other, op);
  other.has_unanswered = true;
  send(other, head);
  return true;
}

/// Begins an operation that sends data, inside of its packet or behind it.
bool mpi_engine::begin_send(peer &other, operation &op, packet inside, packet before) {
  if (other.credits == 0)
    return false;
  if (op.bytes <= k_most_inline) {
    send(other, head_of(op, inside), op.local, op.bytes);
    --other.credits;
    other.has_unanswered = other.has_unanswered || op.bytes != 0;
    m_events->end(op, outcome::done); // the packet has a copy
    return true;
  }
  reserve(1 + parts_of(op.bytes));
  transfer &made = *m_transfers.emplace_back(
      std::make_unique<transfer>(transfer{transfer::is::put_out, &other, &op}));
  send(other, head_of(op, before));
  --other.credits;
  other.has_unanswered = other.has_long = true;
  ++other.under_way;
  send_parts(made, op.local, op.bytes, k_put_tag);
  return true;
}

bool mpi_engine::begin_get(peer &other, operation &op) {
  header head = head_of(op, packet::get);
  if (op.bytes <= k_most_inline) {
    reserve(1);
    head.token = wait_for_answer(other, op);
    send(other, head);
    return true;
  }
  reserve(1 + parts_of(op.bytes));
  transfer &made = *m_transfers.emplace_back(
      std::make_unique<transfer>(transfer{transfer::is::get_in, &other, &op, 0, op.bytes}));
  ++other.under_way;
  ++other.gets;
  receive_parts(made, op.local, op.bytes, k_get_tag);
  send(other, head);
  return true;
}

void mpi_engine::begin_border(peer &other, operation &op) {
  const bool is_fence = op.what == action::fence;
  const bool is_needed = is_fence ? other.has_long || other.borders != 0 // what these asked for
                                  : other.has_unanswered || other.under_way != 0;
  if (!is_needed)
    return m_events->end(op, outcome::done);
  reserve(1);
  header head;
  head.what = packet::ask;
  head.token = wait_for_answer(other, op);
  other.is_fenced = is_fence;
  ++other.borders;
  other.has_unanswered = other.has_long = false;
  send(other, head);
}

/// Notes that an answer ends the operation. Returns its token.
std::uint64_t mpi_engine::wait_for_answer(peer &other, operation &op) {
  if (m_free_tokens.empty()) {
    m_free_tokens.reserve(m_asked.size() + 1); // so that answered() needs no memory
    m_asked.emplace_back();
    m_free_tokens.push_back(m_asked.size() - 1);
  }
  const std::uint64_t token = m_free_tokens.back();
  m_free_tokens.pop_back();
  m_asked[token] = {&op, &other};
  ++other.under_way;
  return token;
}

/// Returns what waits for an answer, which has come; null if it waits no longer.
operation *mpi_engine::answered(peer &other, std::uint64_t token) noexcept {
  if (token >= m_asked.size() || m_asked[token].with != &other)
    return nullptr;
  m_free_tokens.push_back(token);
  return std::exchange(m_asked[token], {}).op;
}

void mpi_engine::end(peer &other, operation &op, outcome how) noexcept {
  --other.under_way;
  if (op.what == action::fence)
    other.is_fenced = false;
  if (op.what == action::fence || op.what == action::flush)
    --other.borders;
  m_events->end(op, how);
}

/// Returns whether MPI is to go on with a transfer of a rank that has left or is lost: a rank that leaves
/// has sent what it puts.
bool mpi_engine::comes(const transfer &of) const noexcept {
  return of.kind == transfer::is::put_out || of.kind == transfer::is::get_out ||
         (of.kind == transfer::is::put_in && !of.with->is_lost && !m_is_closing);
}

void mpi_engine::end_all(peer &other, outcome how) noexcept {
  for (std::uint64_t token = 0; token != m_asked.size(); ++token)
    if (m_asked[token].with == &other)
      if (operation *const op = answered(other, token))
        end(other, *op, how);
  for (std::size_t i = 0; i != m_transfers.size(); ++i) { // callbacks only submit
    transfer &t = *m_transfers[i];
    if (t.with == &other && t.op)
      end(other, *std::exchange(t.op, nullptr), how);
  }
  for (std::size_t i = 0; i != m_owners.size(); ++i)
    if (const transfer *const t = m_owners[i].moved; t && t->with == &other && !comes(*t))
      PMPI_Cancel(&m_requests[i]); // nothing is written after this
}

// ---- arrivals

void mpi_engine::came(peer &from, const header &head, std::span<const std::byte> payload) {
  if (from.is_lost)
    return;
  switch (head.what) {
  case packet::message:
  case packet::notify:
    ++m_arrived;
    ++from.handled;
    if (m_is_closing)
      return;
    if (head.what == packet::message)
      m_events->arrived(from.rank, head.id, payload);
    else if (store(head, payload))
      m_events->notified(from.rank, head.id, head.count);
    return;
  case packet::put:
    ++from.handled;
    store(head, payload);
    return;
  case packet::notify_long:
  case packet::put_long:
    ++from.handled;
    return begin_put_in(from, head);
  case packet::get:
    return answer_get(from, head);
  case packet::add:
  case packet::swap:
    return answer_atomic(from, head);
  case packet::got:
    if (operation *const op = answered(from, head.token)) {
      std::memcpy(op->local, payload.data(), std::min(payload.size(), op->bytes));
      end(from, *op, outcome::done);
    }
    return;
  case packet::value:
  case packet::refused:
  case packet::answer:
    return take_value(from, head);
  case packet::want_key:
    return answer_key(from, head);
  case packet::has_key:
    from.memory[head.number] = head.count != 0 ? memory_is::known : memory_is::absent;
    return;
  case packet::removed:
    from.memory.erase(head.number); // a later operation asks again
    return;
  case packet::credits:
    from.credits += head.count;
    return;
  case packet::ask:
    from.questions.push_back({from.landed + from.landing.size(), head.token});
    return answer_questions(from);
  case packet::goodbye:
    from.has_left = true;
    m_ended.push_back(&from);
    return;
  }
}

void mpi_engine::take_value(peer &from, const header &head) noexcept {
  operation *const op = answered(from, head.token);
  if (!op)
    return;
  if (head.what == packet::value)
    op->value = head.count;
  end(from, *op, head.what == packet::refused ? outcome::bad_memory : outcome::done);
}

/// Posts receives for the data that follow a packet: where they belong, or where they are dropped.
void mpi_engine::begin_put_in(peer &from, const header &head) {
  reserve(parts_of(head.bytes));
  transfer &made =
      *m_transfers.emplace_back(std::make_unique<transfer>(transfer{transfer::is::put_in, &from}));
  made.notifies = head.what == packet::notify_long;
  made.id = head.id;
  made.count = head.count;
  std::byte *there = nullptr;
  {
    const std::lock_guard guard(m_lock);
    there = find(head, head.bytes);
  }
  made.is_known = there != nullptr;
  if (!there) {
    made.dropped.resize(head.bytes);
    there = made.dropped.data();
  }
  from.landing.push_back(&made);
  receive_parts(made, there, head.bytes, k_put_tag);
}

void mpi_engine::answer_get(peer &from, const header &head) {
  if (head.bytes <= k_most_inline) {
    header answer = head;
    std::byte copy[k_most_inline];
    bool is_there = false;
    {
      const std::lock_guard guard(m_lock);
      if (const std::byte *const here = find(head, head.bytes)) {
        std::memcpy(copy, here, head.bytes);
        is_there = true;
      }
    }
    answer.what = is_there ? packet::got : packet::refused;
    return send(from, answer, copy, is_there ? head.bytes : 0);
  }
  reserve(parts_of(head.bytes));
  transfer &made =
      *m_transfers.emplace_back(std::make_unique<transfer>(transfer{transfer::is::get_out, &from}));
  const std::byte *here = nullptr;
  {
    const std::lock_guard guard(m_lock);
    here = find(head, head.bytes);
  }
  if (here)
    send_parts(made, here, head.bytes, k_get_tag);
  else
    send_nothing(made, parts_of(head.bytes), k_get_tag);
}

void mpi_engine::answer_atomic(peer &from, const header &head) {
  header answer = head;
  answer.what = packet::refused;
  {
    const std::lock_guard guard(m_lock);
    if (auto *const word = reinterpret_cast<std::uint64_t *>(find(head, sizeof(std::uint64_t)))) {
      answer.what = packet::value;
      if (head.what == packet::add) {
        answer.count = __atomic_fetch_add(word, head.count, __ATOMIC_SEQ_CST);
      } else {
        std::uint64_t seen = head.bytes;
        __atomic_compare_exchange_n(word, &seen, head.count, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST);
        answer.count = seen;
      }
    }
  }
  send(from, answer);
}

/// Answers the questions before which all data are there.
void mpi_engine::answer_questions(peer &from) {
  while (!from.questions.empty() && from.questions.front().before <= from.landed) {
    header answer;
    answer.what = packet::answer;
    answer.token = from.questions.front().token;
    from.questions.pop_front();
    send(from, answer);
  }
}

void mpi_engine::return_credits() {
  const std::uint64_t enough = std::max<std::size_t>(m_queue / 2, 1);
  for (peer &p : m_peers)
    if (p.handled >= enough) {
      header word;
      word.what = packet::credits;
      word.count = std::exchange(p.handled, 0);
      send(p, word);
    }
}

std::size_t mpi_engine::progress(std::size_t budget) noexcept {
  m_watch.note_progress();
  m_arrived = 0;
  const auto take = [this](int from, const header &head, std::span<const std::byte> payload) {
    came(at(from), head, payload);
  };
  std::size_t packets = 0;
  while (packets < budget && m_inbox.next(take))
    ++packets;
  finish_requests();
  if (packets != 0)
    return_credits();
  m_fruitless = packets != 0 ? 0 : m_fruitless + 1;
  if (packets != 0 || (!m_transfers.empty() && m_fruitless < k_most_fruitless))
    m_watch.note_found(); // MPI moves long data in parts, one in each call
  announce_removed();
  while (!m_ended.empty()) {
    peer &p = *m_ended.back();
    m_ended.pop_back();
    end_all(p, outcome::rank_lost);
  }
  return m_arrived;
}

// ---- loss and end

void mpi_engine::lose(int rank) noexcept {
  peer &p = at(rank);
  if (p.is_lost)
    return;
  p.is_lost = true;
  end_all(p, outcome::rank_lost);
  ++m_arrived; // also of one that has said goodbye to the engines, and not to the job: it has failed
  m_events->lost(rank);
}

/// Makes progress until MPI has sent what this rank sends, for a while.
void mpi_engine::wait_for_sends() noexcept {
  const auto end = std::chrono::steady_clock::now() + k_most_close;
  const auto sends = [](const owner &of) {
    return of.sent || of.moved->kind == transfer::is::put_out ||
           of.moved->kind == transfer::is::get_out;
  };
  while (std::ranges::any_of(m_owners, sends) && std::chrono::steady_clock::now() < end) {
    progress(inbox::k_slots);
    sched_yield();
  }
}

/// Leaves: what has been begun goes out, the others learn of it, and what is left ends as closed.
void mpi_engine::close() noexcept {
  m_is_closing = true;
  wait_for_sends();
  for (peer &p : m_peers) {
    header word;
    word.what = packet::goodbye;
    send(p, word);
  }
  wait_for_sends();
  for (peer &p : m_peers)
    end_all(p, outcome::closed);
  for (MPI_Request &request : m_requests)
    PMPI_Request_free(&request);
  for (auto &one : m_transfers)
    if (one->parts != 0)
      static_cast<void>(one.release()); // MPI may still look at it
  parting left{m_comm, std::move(m_inbox), {}};
  bool is_whole = true;
  for (const peer &p : m_peers) {
    left.has_left.push_back(p.has_left || p.is_lost);
    is_whole = is_whole && !p.is_lost;
  }
  keep(std::move(left));
  if (is_whole)
    end_port();
}

// ---- the port

std::string name_of_mpi() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
#if defined(OPEN_MPI)
  std::string_view all = text; // "Open MPI v4.1.4, package: ..."
  return std::string(all.substr(0, all.find(',')));
#else
  return std::string("MPICH ") + MPICH_VERSION;
#endif
}

class mpi_port final : public net::port {
 public:
  explicit mpi_port(const net::port_options &options)
      : m_queue(options.queue != 0 ? options.queue
                                   : std::stoul(weft::layer::setting("net.queue"))) {
    begin_mpi();
    PMPI_Comm_rank(MPI_COMM_WORLD, &m_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &m_size);
  }
  std::string address() const override {
    return std::to_string(m_rank) + " of " + std::to_string(m_size);
  }
  std::unique_ptr<net::engine> connect(int rank,
                                       const std::vector<std::string> &addresses) override;
  std::optional<std::string> share(const std::string &text) override;
  void give_up() noexcept override { weft_net_mpi::give_up(); }

 private:
  std::size_t m_queue;
  int m_rank = 0, m_size = 0;
};

/// Makes a communicator of the ranks, in their order, wherever they are in MPI's.
std::unique_ptr<net::engine> mpi_port::connect(int rank,
                                               const std::vector<std::string> &addresses) {
  std::vector<int> ranks;
  for (const std::string &one : addresses)
    ranks.push_back(std::stoi(one));
  std::vector<int> sorted = ranks;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end() || sorted.back() >= m_size)
    throw weft::error(weft::errc::not_supported,
                      "the engine mpi: MPI does not connect the ranks of this job: it knows " +
                          std::to_string(m_size) + ", and the job has " +
                          std::to_string(ranks.size()) +
                          "; start all of them by one launcher of the MPI, or by `weft launch "
                          "--engine mpi`");
  free_left();
  MPI_Group world, group;
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  const int error = PMPI_Comm_create_group(MPI_COMM_WORLD, group, k_group_tag, &comm);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  if (error != MPI_SUCCESS)
    fail("cannot make a communicator", error);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return std::make_unique<mpi_engine>(comm, rank, static_cast<int>(ranks.size()), m_queue,
                                      name_of_mpi());
}

std::optional<std::string> mpi_port::share(const std::string &text) {
  char all[256] = "";
  std::copy_n(text.data(), std::min(text.size(), sizeof all - 1), all);
  if (const int error = PMPI_Bcast(all, sizeof all, MPI_BYTE, 0, MPI_COMM_WORLD);
      error != MPI_SUCCESS)
    fail("cannot tell the ranks where they meet", error);
  return all;
}

} // namespace

} // namespace weft_net_mpi

extern "C" WEFT_API weft::net::port *weft_net_open_port(const weft::net::port_options &options) {
  return new weft_net_mpi::mpi_port(options);
}
