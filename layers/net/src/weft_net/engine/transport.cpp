// SPDX-License-Identifier: Apache-2.0
#include <weft/net/transport.hpp>

#include "weft_net/engine/poller.hpp"
#include "weft_net/engine/setting.hpp"
#include "weft_net/sync/submissions.hpp"

#include <weft/error.hpp>

#include <atomic>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace net {

namespace {

/// Bounds the rounds of a submitter that is inside: then the items of others wait for the service.
constexpr int k_most_rounds = 8;
/// Bounds the operations that end as they begin, one by one, before their submitter looks at the
/// network as well: a look takes longer than a short put.
constexpr int k_most_unlooked = 8;

/// Holds the operations of one rank for which the engine has no room, the oldest first.
class waiting_queue {
 public:
  [[nodiscard]] operation *first() const noexcept { return m_first; }
  void push(operation &op) noexcept {
    op.next = nullptr;
    (m_first ? m_last->next : m_first) = &op;
    m_last = &op;
  }
  operation *pop() noexcept { return std::exchange(m_first, m_first->next); }
  /// Puts back what pop() has returned.
  void put_back(operation &op) noexcept {
    op.next = m_first;
    if (!m_first)
      m_last = &op;
    m_first = &op;
  }

 private:
  operation *m_first = nullptr, *m_last = nullptr;
};

} // namespace

struct transport::state final : engine_events, weft_net::polled {
  state(std::unique_ptr<engine> through, listener &listening)
      : below(std::move(through)), to(listening), peers(static_cast<std::size_t>(below->size())) {
    listed.reserve(peers.size());
  }
  ~state() = default;

  struct peer {
    waiting_queue waiting; // of the insider, as the next
    bool is_listed = false; // among those that may have waiting operations
    std::atomic<bool> is_lost{false};
    std::atomic<bool> is_reported{false}; // as lost, from outside
  };

  // Of the engine, from inside.
  void end(operation &op, outcome how) noexcept override {
    ++ended;
    op.result = how;
    const bool was_expected = &op != at_once;
    if (!was_expected)
      at_once = nullptr;
    op.ended(op); // which may give its memory back
    if (was_expected)
      found_one();
  }
  void expect() noexcept override {
    expect_one();
    watch_again();
  }
  void watch_again() noexcept {
    try {
      be_watched();
    } catch (const std::exception &) { // what is expected waits for the next thread that comes
    }
  }
  void found() noexcept override { found_one(); }
  void serve() noexcept override {
    weft_net::poller::note_thread_of_engine();
    look();
  }
  void look() noexcept {
    if (poll() != 0) // more may come: the service is faster
      watch_again();
  }
  [[nodiscard]] bool is_woken() const noexcept override { return below->caps().wakes; }
  void arrived(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept override {
    to.arrived(from, id, payload);
  }
  void notified(int from, std::uint32_t id, std::uint64_t count) noexcept override {
    to.notified(from, id, count);
  }
  void lost(int rank) noexcept override {
    peer &p = peer_of(rank);
    p.is_lost.store(true, std::memory_order_relaxed);
    end_waiting(p, outcome::rank_lost);
    to.lost(rank);
  }

  peer &peer_of(int rank) noexcept { return peers[static_cast<std::size_t>(rank)]; }

  void end_waiting(peer &other, outcome how) noexcept {
    while (other.waiting.first()) {
      --waiting;
      end(*other.waiting.pop(), how);
    }
  }

  void begin_one(operation &op) noexcept {
    peer &p = peer_of(op.rank);
    if (p.is_lost.load(std::memory_order_relaxed))
      return end(op, closing ? outcome::closed : outcome::rank_lost);
    if (!p.waiting.first() && below->begin(op))
      return;
    ++waiting;
    p.waiting.push(op);
    if (!std::exchange(p.is_listed, true))
      listed.push_back(&p); // there is room for all
  }

  void begin_waiting() noexcept {
    if (waiting == 0)
      return;
    std::size_t left = 0;
    for (peer *const p : listed) {
      begin_waiting(*p);
      p->is_listed = p->waiting.first() != nullptr;
      if (p->is_listed)
        listed[left++] = p;
    }
    listed.resize(left);
  }

  void begin_waiting(peer &other) noexcept {
    while (other.waiting.first()) {
      operation &op = *other.waiting.pop(); // begin() may end it
      if (!below->begin(op))
        return other.waiting.put_back(op);
      --waiting;
    }
  }

  /// Hands reports of losses to the engine.
  void take_reports() noexcept {
    if (!has_reports.load(std::memory_order_relaxed) ||
        !has_reports.exchange(false, std::memory_order_acquire))
      return;
    for (std::size_t r = 0; r < peers.size(); ++r)
      if (peers[r].is_reported.load(std::memory_order_relaxed) &&
          !peers[r].is_lost.load(std::memory_order_relaxed))
        below->lose(static_cast<int>(r));
  }

  void begin_submitted(operation *op) noexcept {
    while (op) {
      operation *const next = op->next;
      begin_one(*op);
      op = next;
    }
  }

  /// Begins the operation of a submitter that is inside. Only if it does not end at once is it
  /// something to look for. Returns whether it is.
  bool begin_own(operation &op) noexcept {
    at_once = &op;
    begin_one(op);
    const bool goes_on = at_once != nullptr;
    at_once = nullptr;
    if (goes_on)
      expect_one();
    return goes_on;
  }

  /// Returns whether the submitter of an operation that ended at once has left: what comes has a
  /// thread that it wakes, and nothing waits.
  bool leaves_at_once() noexcept {
    if (!wakes || waiting != 0 || ++unlooked == k_most_unlooked)
      return false;
    return all.leave();
  }

  /// Works inside, first on what has been submitted, until nothing more has been, or for some
  /// rounds. Returns how much was done.
  std::size_t work_inside(std::size_t budget, operation *submitted) noexcept {
    std::size_t done = 0;
    unlooked = 0;
    for (int round = 0;;) {
      const std::size_t before = ended;
      begin_submitted(submitted);
      begin_waiting();
      if (!closing)
        take_reports();
      if (!closing)
        done += below->progress(budget);
      done += ended - before;
      if (all.leave())
        return done;
      if (++round == k_most_rounds)
        break;
      submitted = all.take();
    }
    all.leave_items();
    return done;
  }
  /// Does the same after enter() or push().
  std::size_t take_and_work(std::size_t budget) noexcept {
    operation *const submitted = all.take(); // before all else: it acquires
    return work_inside(budget, submitted);
  }

  /// Goes inside, after a thread of the engine that is there.
  void enter() noexcept {
    while (!all.enter())
      sched_yield();
  }

  void learn_whether_it_wakes() noexcept {
    enter();
    operation *const submitted = all.take();
    wakes = below->caps().wakes;
    work_inside(batch, submitted);
  }

  /// Ends everything, with no other thread in a call, but those of the engine.
  void close() noexcept {
    if (!is_own())
      return;
    leave();
    if (closing)
      return;
    enter();
    begin_submitted(all.take());
    for (peer &p : peers)
      p.is_lost.store(true, std::memory_order_relaxed);
    closing = true;
    below->attach(nullptr);
    for (peer &p : peers)
      end_waiting(p, outcome::closed);
    do
      begin_submitted(all.take());
    while (!all.leave());
    leave(); // a thread of the engine, until it was detached, may have entered it again
  }

  std::size_t poll() noexcept override { return progress(batch); }
  std::size_t progress(std::size_t budget) noexcept {
    if (!is_own())
      return 0;
    if (all.enter_free())
      return work_inside(budget, nullptr);
    return all.enter() ? take_and_work(budget) : 0;
  }
  using polled::is_own;
  void check_own() const {
    if (!is_own())
      throw error(errc::not_supported,
                  weft_net::refusal_in_child("rank " + std::to_string(below->rank()), process));
  }

  const std::unique_ptr<engine> below;
  listener &to;
  const std::size_t batch = weft_net::number_of_setting("net.batch");
  const int process = getpid(); // whose network it is
  weft_net::submissions<operation> all;
  std::vector<peer> peers;
  std::atomic<bool> has_reports{false};
  // Of the insider:
  std::size_t waiting = 0; // operations in the queues
  std::vector<peer *> listed; // which may have some
  std::size_t ended = 0; // operations, ever
  const operation *at_once = nullptr; // begins, and is not expected yet
  bool wakes = false; // the engine a thread, when something comes
  int unlooked = 0; // operations since the last look at the network
  bool closing = false;
};

transport::transport(std::unique_ptr<engine> below, listener &to)
    : m_state(std::make_unique<state>(std::move(below), to)) {
  m_state->below->attach(m_state.get());
  m_state->learn_whether_it_wakes();
}

transport::~transport() {
  if (!m_state->is_own())
    static_cast<void>(m_state.release()); // the engine would say goodbye in the name of its process
  else
    close();
}
void transport::close() noexcept { m_state->close(); }

bool transport::is_own() const noexcept { return m_state->is_own(); }
int transport::rank() const noexcept { return m_state->below->rank(); }
int transport::size() const noexcept { return m_state->below->size(); }
const capabilities &transport::caps() const noexcept { return m_state->below->caps(); }
bool transport::is_lost(int rank) const noexcept {
  return m_state->peer_of(rank).is_lost.load(std::memory_order_relaxed);
}

memory_key transport::add_memory(void *begin, std::size_t bytes) {
  m_state->check_own();
  return m_state->below->add_memory(begin, bytes);
}
void *transport::add_fresh_memory(std::size_t bytes, memory_key &key) {
  m_state->check_own();
  return m_state->below->add_fresh_memory(bytes, key);
}
void transport::remove_memory(const memory_key &key) noexcept {
  if (m_state->is_own())
    m_state->below->remove_memory(key);
}

std::string transport::path_to(int rank) {
  state &s = *m_state;
  s.check_own();
  s.enter();
  std::string path;
  try {
    path = s.below->path_to(rank);
  } catch (...) {
    s.take_and_work(s.batch);
    throw;
  }
  s.take_and_work(s.batch);
  return path;
}

void transport::report_lost(int rank) noexcept {
  state &s = *m_state;
  s.peer_of(rank).is_reported.store(true, std::memory_order_relaxed);
  s.has_reports.store(true, std::memory_order_release); // behind the report
  s.look(); // or the thread that is inside, or the next one
}

void transport::submit(operation &op) {
  if (op.rank < 0 || op.rank >= size())
    throw error(errc::invalid_argument, "there is no rank " + std::to_string(op.rank) +
                                            ": the job has " + std::to_string(size()) +
                                            ", from 0; name one of these");
  state &s = *m_state;
  if (!s.is_own()) {
    op.result = outcome::closed;
    return op.ended(op);
  }
  op.result = outcome::pending;
  if (s.all.enter_free()) {
    const bool goes_on = s.begin_own(op);
    if (!goes_on && s.leaves_at_once())
      return;
    s.work_inside(s.batch, nullptr);
    if (!goes_on)
      return;
  } else {
    s.expect_one();
    if (s.all.push(op))
      s.take_and_work(s.batch);
  }
  s.be_watched();
}

std::size_t transport::progress(std::size_t budget) noexcept {
  return m_state->progress(budget);
}

void transport::begin_wait() { m_state->begin_wait(); }
void transport::end_wait() noexcept { m_state->found_one(); }
std::size_t transport::in_flight() const noexcept { return m_state->awaited(); }

} // namespace net
} // namespace weft::inline v0
