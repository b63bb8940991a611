// SPDX-License-Identifier: Apache-2.0
// Policy `stealing`: one deque per worker. The owner takes its newest item first, a thief the
// oldest. Work with a priority, from outside or yielding is in shared queues.
#include "queue/deque.hpp"
#include "sched/policies.hpp"
#include "sched/shared_queue.hpp"

#include <atomic>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr unsigned k_look_outside_every =
    61; // a prime, as in Go and tokio: shared work must not starve
// Nor must the work of a thread that runs none itself, when all workers have work of their own: some
// thousand tasks later it is stolen.
constexpr unsigned k_steal_every = 16; // requests for shared work

// A thief that takes each item as it comes shares all cache lines with its victim: an empty task of
// a chain costs 110 ns then. It costs 77 ns when a thief that sees little waits for about half a
// microsecond, so that work gathers. A thief that takes a lone frame which the victim would run
// next makes the two workers pass the frame to and fro: a suspension costs 96 ns then, not 32.
constexpr std::size_t k_backlog = 8;
constexpr int k_gathering = 24; // pauses
constexpr std::size_t k_lines_of_a_task = 4; // with its first accesses and a small closure

struct alignas(k_apart) home {
  work_deque<runnable *> deque;
  unsigned until_outside = k_look_outside_every; // of the owner
  unsigned until_steal = k_steal_every; // of the owner
  unsigned seed = 0; // of the owner: where stealing starts
  bool steals_first = true; // of the owner
  counter_block *counts = nullptr;
};

class stealing final : public policy {
 public:
  explicit stealing(unsigned slots) : m_homes(slots) {}
  ~stealing() override {
    for (auto &h : m_homes)
      delete h.load(std::memory_order_relaxed);
  }

  void attach(unsigned id, counter_block &counts) override {
    if (m_homes[id].load(std::memory_order_relaxed))
      return;
    auto *h = new home;
    h->seed = id * 7919 + 1;
    h->counts = &counts;
    m_homes[id].store(h, std::memory_order_release); // O1: pairs with the thief's acquire
    if (m_used.load(std::memory_order_relaxed) <= id)
      m_used.store(id + 1, std::memory_order_release); // O1
  }

  void add(runnable *item, unsigned id, origin from) override {
    if (item->priority > 0) [[unlikely]]
      m_urgent.add(item, id);
    else if (item->priority < 0) [[unlikely]]
      m_patient.add(item);
    else if (id == k_outside || from == origin::yielded) [[unlikely]]
      m_outside.add(item);
    else
      push(id, item);
  }

  runnable *get(unsigned id) override {
    home &h = at(id);
    if (runnable *r = m_urgent.get()) [[unlikely]]
      return r;
    if (--h.until_outside == 0) [[unlikely]] {
      h.until_outside = k_look_outside_every;
      if (runnable *r = m_outside.get())
        return r;
    }
    if (runnable *r = h.deque.pop())
      return r;
    // Outside and victims take turns: work that yields all the time is outside, and a victim may be
    // busy for as long as no thief steals its work.
    h.steals_first = !h.steals_first;
    if (runnable *r = h.steals_first ? steal(h) : m_outside.get())
      return r;
    if (runnable *r = h.steals_first ? m_outside.get() : steal(h))
      return r;
    return m_patient.get();
  }

  runnable *get_shared_first(unsigned id) override {
    home &h = at(id);
    if (--h.until_steal == 0) { // before the rest: work that yields all the time is outside
      h.until_steal = k_steal_every;
      if (runnable *r = steal(h))
        return r;
    }
    if (runnable *r = m_outside.get())
      return r;
    return get(id);
  }

  own_queue own(unsigned id) override { return {&at(id).deque, &m_urgent.size()}; }
  runnable *take_newest(unsigned id, const lineage &waited_for) override {
    if (!m_urgent.empty()) [[unlikely]]
      return m_urgent.take_newest(id, waited_for);
    return own(id).take_newest(waited_for);
  }

  bool has_work() const override {
    for (auto &h : m_homes)
      if (home *p = h.load(std::memory_order_acquire); p && !p->deque.empty()) // O1
        return true;
    return !m_urgent.empty() || !m_outside.empty() || !m_patient.empty();
  }

  bool outranks(std::int16_t priority) const override { return m_urgent.top() > priority; }

  std::size_t length(unsigned id) const override {
    if (id == k_outside)
      return length(m_urgent) + length(m_outside) + length(m_patient);
    const home *h = m_homes[id].load(std::memory_order_acquire); // O1
    return h ? h->deque.size() : 0;
  }

 private:
  static std::size_t length(const shared_queue &queue) noexcept {
    return queue.size().load(std::memory_order_relaxed);
  }
  void push(unsigned id, runnable *item) noexcept {
    try {
      at(id).deque.push(item);
    } catch (const std::bad_alloc &) { // the deque cannot grow
      m_outside.add(item);
    }
  }
  home &at(unsigned id) noexcept { return *m_homes[id].load(std::memory_order_relaxed); }

  /// Returns whether a thief should steal: false if there is nothing, or only one item that came
  /// after the first look. In the second case items go as fast as they come. A notifier wakes a
  /// thief that is about to sleep for an item that was pushed after the thief looked.
  static bool worth_a_steal(const work_deque<runnable *> &from) noexcept {
    const auto seen = from.extent();
    if (seen.size() == 0 || seen.size() >= k_backlog)
      return seen.size() > 0;
    for (int i = 0; i < k_gathering; ++i)
      cpu_pause();
    const auto now = from.extent();
    return now.size() > 0 && !now.is_one_new_since(seen);
  }

  /// Prefetches the lines of a task from its creator's cache, at once rather than one after the
  /// other.
  static void fetch(const runnable *item) noexcept {
    for (std::size_t line = 0; line != k_lines_of_a_task; ++line)
      __builtin_prefetch(reinterpret_cast<const char *>(item) + 64 * line, 1);
  }

  runnable *steal(home &mine) {
    const unsigned used = m_used.load(std::memory_order_acquire); // O1: pairs with attach
    mine.seed = mine.seed * 1664525u + 1013904223u;
    for (bool again = true; again;) {
      again = false;
      for (unsigned i = 0, v = (mine.seed >> 16) % used; i < used;
           ++i, v = v + 1 == used ? 0 : v + 1) {
        home *victim = m_homes[v].load(std::memory_order_acquire); // O1
        if (!victim || victim == &mine || !worth_a_steal(victim->deque))
          continue;
        auto s = victim->deque.steal();
        if (s) {
          fetch(s.item);
          count(mine.counts->stolen);
          return s.item;
        }
        again |= s.outcome == steal_outcome::lost;
      }
    }
    return nullptr;
  }

  std::vector<std::atomic<home *>> m_homes;
  std::atomic<unsigned> m_used{0};
  shared_queue m_urgent, m_outside, m_patient;
};

} // namespace

std::unique_ptr<policy> make_stealing(unsigned slots) { return std::make_unique<stealing>(slots); }

} // namespace rt
} // namespace weft::inline v0
