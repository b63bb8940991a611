// SPDX-License-Identifier: Apache-2.0
#include <weft/net/inproc.hpp>

#include "weft_net/engine/setting.hpp"
#include "weft_net/engine/wire.hpp"
#include "weft_net/sync/inbox.hpp"

#include <weft/error.hpp>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace net {

namespace {

constexpr std::size_t k_most_message = 4096;
/// A packet that is kept for the next use keeps its payload's memory up to this size.
constexpr std::size_t k_most_kept = 256;

/// Is a notification or a message on its way. Its sender gets it back when it has been handled: so memory goes with what is
/// under way, and not with the number of pairs.
struct packet {
  packet *next = nullptr;
  int from = 0, to = 0;
  bool is_notification = false;
  std::uint32_t id = 0;
  std::uint64_t count = 0; // notifications
  std::vector<std::byte> payload;
};

void free_all(packet *first) noexcept {
  while (first)
    delete std::exchange(first, first->next);
}

struct registered {
  std::byte *begin;
  std::size_t bytes;
};

} // namespace

/// Holds what the other ranks may touch of a rank. Its lock is shared by those that use its memory
/// or call its events, and taken alone to change either.
struct inproc_rank {
  inproc_rank() = default;
  inproc_rank(const inproc_rank &) = delete;
  inproc_rank &operator=(const inproc_rank &) = delete;
  ~inproc_rank() {
    free_all(arriving.take());
    free_all(handled.take());
  }
  std::shared_mutex lock;
  std::map<std::uint64_t, registered> memory; // by the number in the key
  engine_events *events = nullptr;
  std::uint64_t next_key = 1;
  weft_net::inbox<packet> arriving;
  weft_net::inbox<packet> handled; // its own, which their receivers give back
  std::atomic<bool> has_engine{false};
  std::atomic<bool> is_lost{false};
  std::atomic<bool> is_held{false};
  bool has_left = false; // its transport has ended
  std::atomic<bool> has_losses{false}; // some are announced, and not yet looked for
  std::vector<std::atomic<bool>> loss_announced; // to it, by lost rank
};

struct inproc_world::state {
  state(int ranks, const inproc_options &chosen)
      : options(chosen), all(static_cast<std::size_t>(ranks)) {
    if (options.queue == 0)
      options.queue = weft_net::number_of_setting("net.queue");
    for (inproc_rank &r : all)
      r.loss_announced = std::vector<std::atomic<bool>>(all.size());
  }
  inproc_rank &at(int rank) {
    if (rank < 0 || static_cast<std::size_t>(rank) >= all.size())
      throw error(errc::invalid_argument, "there is no rank " + std::to_string(rank) +
                                              " in a world of " + std::to_string(all.size()) +
                                              "; name one from 0");
    return all[static_cast<std::size_t>(rank)];
  }
  inproc_options options;
  std::vector<inproc_rank> all;
};

namespace {

/// Makes a rank look for the loss of another one, once.
void announce_loss(inproc_rank &to, std::size_t lost) noexcept {
  const std::shared_lock lock(to.lock);
  if (!to.events || to.loss_announced[lost].exchange(true))
    return;
  to.has_losses.store(true, std::memory_order_release);
  to.events->expect();
}

class inproc_engine final : public engine {
 public:
  inproc_engine(std::shared_ptr<inproc_world::state> world, int rank)
      : m_world(std::move(world)), m_rank(rank), m_here(m_world->at(rank)),
        m_reported(m_world->all.size()), m_under_way(m_world->all.size()),
        m_wire(m_world->all.size(), m_world->options.queue,
               {m_world->options.seed + static_cast<std::uint64_t>(rank), m_world->options.delay,
                m_world->options.reorder}) {
    m_caps.name = "inproc";
    m_caps.ordered = !m_wire.has_faults();
    m_caps.detects_loss = true;
    m_caps.refuses_removed = true;
    m_caps.most_message = k_most_message;
  }
  ~inproc_engine() override {
    free_all(m_free);
    free_all(m_arrived);
  }

  const capabilities &caps() const noexcept override { return m_caps; }
  int rank() const noexcept override { return m_rank; }
  int size() const noexcept override { return static_cast<int>(m_world->all.size()); }

  const void *world() const noexcept override { return m_world.get(); }

  void attach(engine_events *to) noexcept override {
    {
      const std::unique_lock lock(m_here.lock);
      m_here.events = to;
      m_here.has_left = !to;
    }
    if (!to)
      m_wire.take_all([this](operation &op) { m_events->end(op, outcome::closed); });
    m_events = to;
    if (to)
      for (std::size_t r = 0; r < m_world->all.size(); ++r)
        if (m_world->all[r].is_lost)
          announce_loss(m_here, r);
  }

  memory_key add_memory(void *begin, std::size_t bytes) override {
    const std::unique_lock lock(m_here.lock);
    const std::uint64_t number = m_here.next_key++;
    m_here.memory[number] = {static_cast<std::byte *>(begin), bytes};
    memory_key key;
    key.words[0] = number;
    return key;
  }
  void remove_memory(const memory_key &key) noexcept override {
    const std::unique_lock lock(m_here.lock);
    m_here.memory.erase(key.words[0]);
  }

  bool begin(operation &op) noexcept override {
    return m_wire.has_faults() ? m_wire.push(op) : deliver(op);
  }

  std::size_t progress(std::size_t budget) noexcept override {
    if (m_here.is_held.load(std::memory_order_relaxed) && !m_here.is_lost)
      return 0;
    const std::size_t losses = report_losses();
    take_handled(); // a rank that sends no more frees its packets, too
    m_wire.deliver(budget, [this](operation &op) { return deliver(op); });
    return losses + receive(budget);
  }

 private:
  inproc_rank &at(int rank) noexcept { return m_world->all[static_cast<std::size_t>(rank)]; }

  /// Does what the operation says. Returns false while the target's queue has no room for it, or the
  /// target has not come yet.
  bool deliver(operation &op) noexcept {
    inproc_rank &target = at(op.rank);
    outcome how = outcome::done;
    {
      const std::shared_lock lock(target.lock);
      if (target.is_lost || m_here.is_lost || target.has_left)
        how = outcome::rank_lost;
      else if (!target.events)
        return false;
      else if (op.what == action::message && op.bytes > k_most_message)
        how = outcome::too_long;
      else if (op.what == action::message || op.what == action::put_notify) {
        packet *const sent = packet_for(op);
        if (!sent)
          return false;
        if (op.what == action::put_notify && op.bytes != 0)
          how = access(target, op);
        if (how == outcome::done)
          send(target, *sent);
        else
          keep(*sent);
      } else if (op.what != action::fence && op.what != action::flush) {
        how = access(target,
                     op); // the wire keeps the order of the others; without it, all has arrived
      }
    }
    m_events->end(op, how);
    return true;
  }

  /// Reads or writes memory of the target, whose lock the caller shares.
  static outcome access(inproc_rank &target, operation &op) noexcept {
    const bool is_atomic = op.what == action::fetch_add || op.what == action::compare_swap;
    const std::size_t bytes = is_atomic ? sizeof(std::uint64_t) : op.bytes;
    const auto found = target.memory.find(op.key.words[0]);
    if (found == target.memory.end() || op.offset > found->second.bytes ||
        bytes > found->second.bytes - op.offset)
      return outcome::bad_memory;
    std::byte *const there = found->second.begin + op.offset;
    if (is_atomic)
      return change(there, op);
    if (bytes != 0 && op.what == action::get)
      std::memcpy(op.local, there, bytes);
    else if (bytes != 0)
      std::memcpy(there, op.local, bytes);
    return outcome::done;
  }

  static outcome change(std::byte *there, operation &op) noexcept {
    if (reinterpret_cast<std::uintptr_t>(there) % sizeof(std::uint64_t) != 0)
      return outcome::bad_memory;
    auto *const word = reinterpret_cast<std::uint64_t *>(there);
    if (op.what == action::fetch_add) {
      op.value = __atomic_fetch_add(word, op.value, __ATOMIC_SEQ_CST);
    } else {
      std::uint64_t seen = op.expected;
      __atomic_compare_exchange_n(word, &seen, op.value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      op.value = seen;
    }
    return outcome::done;
  }

  /// Returns a packet that says what the operation does; null while as many as there may be are under way to the rank, or
  /// without memory.
  packet *packet_for(const operation &op) noexcept {
    const std::uint32_t &under_way = m_under_way[static_cast<std::size_t>(op.rank)];
    if (under_way == m_world->options.queue || !m_free)
      take_handled();
    if (under_way == m_world->options.queue)
      return nullptr;
    packet *made = m_free;
    try {
      if (made) {
        m_free = made->next;
        --m_kept;
      } else {
        made = new packet;
      }
      made->from = m_rank;
      made->to = op.rank;
      made->is_notification = op.what == action::put_notify;
      made->id = op.id;
      made->count = op.count;
      const auto *const bytes = static_cast<const std::byte *>(op.local);
      made->payload.assign(bytes, bytes + (made->is_notification ? 0 : op.bytes));
      return made;
    } catch (const std::bad_alloc &) {
      if (made)
        keep(*made);
      return nullptr;
    }
  }

  /// Hands a packet to the target, whose lock the caller shares, and makes the target look for it.
  void send(inproc_rank &target, packet &sent) noexcept {
    ++m_under_way[static_cast<std::size_t>(sent.to)];
    target.events->expect();
    target.arriving.push(sent);
  }

  /// Takes the packets of this rank that have been handled.
  void take_handled() noexcept {
    if (m_here.handled.is_empty())
      return;
    for (packet *one = m_here.handled.take(); one;) {
      packet &back = *std::exchange(one, one->next);
      --m_under_way[static_cast<std::size_t>(back.to)];
      keep(back);
    }
  }

  /// Keeps a packet for the next use, or frees it if there are as many as may be under way to a rank.
  void keep(packet &unused) noexcept {
    if (m_kept == m_world->options.queue) {
      delete &unused;
      return;
    }
    if (unused.payload.capacity() > k_most_kept)
      unused.payload = {};
    unused.next = m_free;
    m_free = &unused;
    ++m_kept;
  }

  std::size_t receive(std::size_t budget) noexcept {
    std::size_t done = 0;
    for (; done < budget; ++done) {
      if (!m_arrived && !m_here.arriving.is_empty())
        m_arrived = m_here.arriving.take();
      if (!m_arrived)
        break;
      packet &one = *std::exchange(m_arrived, m_arrived->next);
      if (!m_here.is_lost)
        hand_over(one);
      at(one.from).handled.push(one);
      m_events->found();
    }
    return done;
  }

  void hand_over(const packet &received) noexcept {
    if (received.is_notification)
      m_events->notified(received.from, received.id, received.count);
    else
      m_events->arrived(received.from, received.id, received.payload);
  }

  /// Reports ranks that were lost since the last time; if this rank is, all of them.
  std::size_t report_losses() noexcept {
    std::size_t done = 0;
    if (!m_here.has_losses.load(std::memory_order_relaxed) ||
        !m_here.has_losses.exchange(false, std::memory_order_acquire))
      return 0;
    for (int r = 0; r < size(); ++r) {
      const auto i = static_cast<std::size_t>(r);
      if (m_reported[i] || !m_here.loss_announced[i])
        continue;
      m_reported[i] = true;
      m_wire.take_rank(r, [this](operation &op) { m_events->end(op, outcome::rank_lost); });
      m_events->lost(r);
      m_events->found();
      ++done;
    }
    return done;
  }

  const std::shared_ptr<inproc_world::state> m_world;
  const int m_rank;
  inproc_rank &m_here;
  engine_events *m_events = nullptr;
  capabilities m_caps;
  std::vector<bool> m_reported; // by rank: lost
  std::vector<std::uint32_t> m_under_way; // by rank: packets that it has not handled
  packet *m_arrived = nullptr; // and not yet handled, the oldest first
  packet *m_free = nullptr; // for the next use
  std::size_t m_kept = 0; // of these
  weft_net::wire m_wire;
};

} // namespace

inproc_world::inproc_world(int ranks, const inproc_options &options) {
  if (ranks < 1)
    throw error(errc::invalid_argument, "a world of " + std::to_string(ranks) +
                                            " ranks was asked for; it has at least one");
  m_state = std::make_shared<state>(ranks, options);
}

int inproc_world::size() const noexcept { return static_cast<int>(m_state->all.size()); }

std::unique_ptr<engine> inproc_world::make_engine(int rank) const {
  if (m_state->at(rank).has_engine.exchange(true))
    throw error(errc::invalid_argument,
                "rank " + std::to_string(rank) +
                    " of this world has an engine; a rank is one team at a time");
  return std::make_unique<inproc_engine>(m_state, rank);
}

void inproc_world::lose(int rank) const {
  if (m_state->at(rank).is_lost.exchange(true))
    return;
  for (inproc_rank &r : m_state->all)
    announce_loss(r, static_cast<std::size_t>(rank));
}

void inproc_world::hold(int rank, bool held) const {
  m_state->at(rank).is_held.store(held, std::memory_order_relaxed);
}

} // namespace net
} // namespace weft::inline v0
