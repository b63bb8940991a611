// SPDX-License-Identifier: Apache-2.0
// Ranks for tests of transports: what arrives is noted, and engines are made by name.
#pragma once

#include <weft/error.hpp>
#include <weft/net/inproc.hpp>
#include <weft/net/port.hpp>
#include <weft/net/transport.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace net_test {

namespace net = weft::net;

/// Describes how the engines of a job are made, and what a test can do to them. A test that needs
/// what is missing is skipped.
struct engine_kind {
  std::string name;
  struct job {
    std::vector<std::unique_ptr<net::engine>> engines;
    std::function<void(int rank)> lose;
    std::function<void(int rank, bool held)> hold;
  };
  std::function<job(int ranks)> make;
  std::size_t queue = 0; // messages between two ranks
};

inline void PrintTo(const engine_kind &kind, std::ostream *to) { *to << kind.name; }

/// Returns the options of a network with short queues and faults.
inline net::inproc_options with(std::size_t queue, unsigned delay, bool reorder) {
  net::inproc_options made;
  made.queue = queue;
  made.delay = delay;
  made.reorder = reorder;
  return made;
}

/// Is what a test and the threads that make progress at a rank share: workers poll it, too.
class gate {
 public:
  /// Sets it, by `set`, while no thread is inside.
  template <class Set>
  void change(Set &&set) {
    const std::unique_lock alone(m_lock);
    set();
  }
  void hold(bool is_held) {
    change([&] { m_is_held = is_held; });
  }
  std::size_t pass(net::engine &to, std::size_t budget) noexcept {
    const std::shared_lock inside(m_lock);
    return m_is_held ? 0 : to.progress(budget);
  }

 private:
  std::shared_mutex m_lock;
  bool m_is_held = false;
};

/// Is an engine that a test stops from making progress.
class held_engine final : public net::engine {
 public:
  held_engine(std::unique_ptr<net::engine> below, std::shared_ptr<gate> g)
      : m_below(std::move(below)), m_gate(std::move(g)) {}
  const net::capabilities &caps() const noexcept override { return m_below->caps(); }
  int rank() const noexcept override { return m_below->rank(); }
  int size() const noexcept override { return m_below->size(); }
  void attach(net::engine_events *to) noexcept override { m_below->attach(to); }
  net::memory_key add_memory(void *begin, std::size_t bytes) override {
    return m_below->add_memory(begin, bytes);
  }
  void *add_fresh_memory(std::size_t bytes, net::memory_key &key) override {
    return m_below->add_fresh_memory(bytes, key);
  }
  void remove_memory(const net::memory_key &key) noexcept override { m_below->remove_memory(key); }
  void lose(int rank) noexcept override { m_below->lose(rank); }
  bool begin(net::operation &op) noexcept override { return m_below->begin(op); }
  std::size_t progress(std::size_t budget) noexcept override {
    return m_gate->pass(*m_below, budget);
  }

 private:
  std::unique_ptr<net::engine> m_below;
  std::shared_ptr<gate> m_gate;
};

inline engine_kind inproc_kind(const std::string &name, const net::inproc_options &options) {
  return {name,
          [options](int ranks) {
            const net::inproc_world world(ranks, options);
            engine_kind::job made;
            std::vector<std::shared_ptr<gate>> gates;
            for (int r = 0; r < ranks; ++r) {
              gates.push_back(std::make_shared<gate>());
              made.engines.push_back(
                  std::make_unique<held_engine>(world.make_engine(r), gates.back()));
            }
            made.lose = [world](int rank) { world.lose(rank); };
            made.hold = [world, gates](int rank, bool held) {
              gates[static_cast<std::size_t>(rank)]->change([&] { world.hold(rank, held); });
            };
            return made;
          },
          options.queue};
}

/// Returns whether the library of an engine can be loaded.
inline bool has_engine(const std::string &name) {
  try {
    static_cast<void>(net::open_port(name));
    return true;
  } catch (const weft::error &e) {
    std::fprintf(stderr, "left out: %s\n", e.what());
    return false;
  }
}

/// Is an engine of a library, whose ranks meet in this process.
inline engine_kind port_kind(const std::string &name, const std::string &engine,
                             const net::port_options &options) {
  return {name,
          [engine, options](int ranks) {
            std::vector<std::unique_ptr<net::port>> ports;
            std::vector<std::string> addresses;
            for (int r = 0; r < ranks; ++r) {
              ports.push_back(net::open_port(engine, options));
              addresses.push_back(ports.back()->address());
            }
            std::vector<std::shared_ptr<gate>> gates;
            engine_kind::job made;
            for (int r = 0; r < ranks; ++r) {
              gates.push_back(std::make_shared<gate>());
              made.engines.push_back(std::make_unique<held_engine>(
                  ports[static_cast<std::size_t>(r)]->connect(r, addresses), gates.back()));
            }
            made.hold = [gates](int rank, bool held) {
              gates[static_cast<std::size_t>(rank)]->hold(held);
            };
            return made;
          },
          options.queue};
}

/// Is one rank: a transport, and what has arrived there.
class test_rank : public net::listener {
 public:
  struct message {
    int from;
    std::uint32_t id;
    std::string text;
  };

  explicit test_rank(std::unique_ptr<net::engine> e)
      : m_transport(std::make_unique<net::transport>(std::move(e), *this)) {}
  virtual ~test_rank() = default;

  net::transport &transport() { return *m_transport; }
  void end() { m_transport.reset(); }

  [[nodiscard]] std::vector<message> messages() {
    const std::lock_guard lock(m_lock);
    return m_messages;
  }
  [[nodiscard]] std::uint64_t notifications(std::uint32_t id) {
    const std::lock_guard lock(m_lock);
    return m_notifications[id];
  }
  [[nodiscard]] std::vector<int> lost_ranks() {
    const std::lock_guard lock(m_lock);
    return m_lost;
  }
  /// Is called, from inside, when something has arrived.
  std::function<void(std::uint32_t id)> on_arrival;

  void arrived(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept override {
    const std::lock_guard lock(m_lock);
    m_messages.push_back(
        {from, id, std::string(reinterpret_cast<const char *>(payload.data()), payload.size())});
    if (on_arrival)
      on_arrival(id);
  }
  void notified(int, std::uint32_t id, std::uint64_t count) noexcept override {
    const std::lock_guard lock(m_lock);
    m_notifications[id] += count;
    if (on_arrival)
      on_arrival(id);
  }
  void lost(int rank) noexcept override {
    const std::lock_guard lock(m_lock);
    m_lost.push_back(rank);
  }

 private:
  std::mutex m_lock;
  std::vector<message> m_messages;
  std::map<std::uint32_t, std::uint64_t> m_notifications;
  std::vector<int> m_lost;
  std::unique_ptr<net::transport> m_transport;
};

/// Is an operation that counts how often it has ended.
struct test_operation : net::operation {
  test_operation() {
    ended = [](net::operation &self) noexcept {
      static_cast<test_operation &>(self).times.fetch_add(1, std::memory_order_release);
    };
  }
  [[nodiscard]] bool is_over() const { return times.load(std::memory_order_acquire) != 0; }
  std::atomic<int> times{0};
};

/// Is the ranks of a job.
class test_job {
 public:
  test_job(const engine_kind &kind, int count) : m_made(kind.make(count)) {
    for (auto &e : m_made.engines)
      m_ranks.push_back(std::make_unique<test_rank>(std::move(e)));
  }
  test_rank &operator[](int rank) { return *m_ranks[static_cast<std::size_t>(rank)]; }
  net::transport &at(int rank) { return (*this)[rank].transport(); }
  [[nodiscard]] const engine_kind::job &made() const { return m_made; }

  /// Makes progress at all ranks until `holds()`. Throws after a minute.
  template <class Holds>
  void until(Holds &&holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!holds()) {
      for (auto &r : m_ranks)
        r->transport().progress(16);
      if (std::chrono::steady_clock::now() > end)
        throw std::runtime_error("what the test waits for does not come");
      std::this_thread::yield();
    }
  }
  void finish(const test_operation &op) {
    until([&op] { return op.is_over(); });
  }
  /// Waits for all of them: what they do has happened at the target before they end.
  void finish_all(const std::deque<test_operation> &all) {
    until([&all] { return std::ranges::all_of(all, &test_operation::is_over); });
  }

 private:
  engine_kind::job m_made;
  std::vector<std::unique_ptr<test_rank>> m_ranks;
};

// What a test writes down about an operation.

inline void put(test_operation &op, int rank, const net::memory_key &key, std::uint64_t offset,
                const void *from, std::size_t bytes) {
  op.what = net::action::put;
  op.rank = rank;
  op.key = key;
  op.offset = offset;
  op.local = const_cast<void *>(from);
  op.bytes = bytes;
}
inline void get(test_operation &op, int rank, const net::memory_key &key, std::uint64_t offset,
                void *to, std::size_t bytes) {
  put(op, rank, key, offset, to, bytes);
  op.what = net::action::get;
}
inline void message(test_operation &op, int rank, std::uint32_t id, const std::string &text) {
  op.what = net::action::message;
  op.rank = rank;
  op.id = id;
  op.local = const_cast<char *>(text.data());
  op.bytes = text.size();
}
inline void only(test_operation &op, net::action what, int rank) {
  op.what = what;
  op.rank = rank;
}

} // namespace net_test
