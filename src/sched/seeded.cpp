// SPDX-License-Identifier: Apache-2.0
// Policy `seeded`, for one worker: the policy draws each choice from the seed, so the same seed
// gives the same order of tasks. Seed 0 stands for the order of creation. The policy ignores
// priorities, which are only wishes: an order that only a priority keeps is worth breaking.
#include "base/intrusive_list.hpp"
#include "queue/spin_lock.hpp"
#include "sched/policies.hpp"

#include <deque>
#include <mutex>
#include <new>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Says how often, of eight times, the newest or the oldest goes first; else any. Uniform choices
/// alone hardly ever follow one branch to its end.
struct choice_bias {
  unsigned newest, oldest;
};
constexpr choice_bias k_biases[] = {{0, 0}, {7, 0}, {0, 7}, {3, 3}}, k_in_order{0, 8};

class seeded final : public policy {
 public:
  explicit seeded(std::uint64_t seed)
      : m_seed(seed), m_state(seed), m_bias(seed ? k_biases[draw(4)] : k_in_order) {}

  void attach(unsigned, counter_block &) override {}

  void add(runnable *item, unsigned, origin) override {
    std::lock_guard guard(m_lock); // the timer and threads that are no worker add as well
    put(item);
  }

  runnable *get(unsigned) override {
    std::lock_guard guard(m_lock);
    return take();
  }

  /// Takes work that may run on the stack of a waiting frame. Returns null half of the time: the
  /// frame is then suspended.
  runnable *take_newest(unsigned, const lineage &waited_for) override {
    std::lock_guard guard(m_lock);
    if (m_ready.empty() || m_seed == 0 || draw(2) == 0)
      return nullptr;
    runnable *r = take();
    if (waited_for.includes(*r))
      return r;
    put(r);
    return nullptr;
  }

  bool has_work() const override {
    std::lock_guard guard(m_lock);
    return !m_ready.empty();
  }

  unsigned choose(unsigned n) override {
    std::lock_guard guard(m_lock);
    return m_seed ? draw(n) : 0;
  }

  std::size_t length(unsigned id) const override {
    std::lock_guard guard(m_lock);
    return id == k_outside ? m_ready.size() : 0;
  }

 private:
  void put(runnable *item) noexcept {
    try {
      m_ready.push_back(item);
    } catch (const std::bad_alloc &) {
      m_without_place.push_back(item);
    }
  }

  /// Returns the next number of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): neighbouring seeds
  /// have nothing in common.
  unsigned draw(unsigned n) noexcept {
    std::uint64_t z = m_state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<unsigned>((z ^ (z >> 31)) % n);
  }

  /// Draws a number below `n` where there is a choice. Draws nothing else, because it must not
  /// matter how often an idle worker looks.
  runnable *take() {
    if (m_ready.empty())
      return m_without_place.pop_front();
    if (m_ready.size() > 1) {
      const unsigned dice = draw(8);
      if (dice < m_bias.newest)
        return take_newest();
      if (dice >= m_bias.newest + m_bias.oldest)
        std::swap(m_ready.front(), m_ready[draw(static_cast<unsigned>(m_ready.size()))]);
    }
    runnable *r = m_ready.front();
    m_ready.pop_front();
    return r;
  }

  runnable *take_newest() {
    runnable *r = m_ready.back();
    m_ready.pop_back();
    return r;
  }

  mutable spin_lock<> m_lock;
  std::deque<runnable *>
      m_ready; // oldest first, except items that filled the place of one taken from the middle
  intrusive_queue<runnable> m_without_place; // items that there was no memory for
  const std::uint64_t m_seed;
  std::uint64_t m_state;
  choice_bias m_bias;
};

} // namespace

std::unique_ptr<policy> make_seeded(std::uint64_t seed) { return std::make_unique<seeded>(seed); }

} // namespace rt
} // namespace weft::inline v0
