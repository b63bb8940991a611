// SPDX-License-Identifier: Apache-2.0
// Recursions without a cut-off, and with one below which they are the serial program.
#include "../glto/uts.hpp"
#include "ways.hpp"

#include <weft/join.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <type_traits>

namespace adapt {

namespace {

// How a recursion forks: `f(fork, i)` does branch i, and forks in the way of `fork` below. `work(i)` is
// what a branch costs, in a unit of the recursion's own.
// Another way to fork is one class here and one line in all_ways::made().

/// Calls, one after the other.
struct serially {
  template <class F, class Work>
  static void each(std::size_t branches, F f, Work) {
    for (std::size_t i = 0; i < branches; ++i)
      f(serially{}, i);
  }
};

/// Forks by branches of a join.
struct by_join {
  template <class F, class Work>
  static void each(std::size_t branches, F f, Work) {
    if (branches != 0)
      part(0, branches, f);
  }

 private:
  template <class F>
  static void part(std::size_t first, std::size_t count, F &f) {
    if (count == 1)
      return f(by_join{}, first);
    const std::size_t half = count / 2;
    weft::join([&] { part(first, half, f); }, [&] { part(first + half, count - half, f); });
  }
};

/// Forks by tasks of a group; the last branch is the caller's.
struct by_spawn {
  template <class F, class Work>
  static void each(std::size_t branches, F f, Work) {
    weft::task_group group;
    for (std::size_t i = 0; i + 1 < branches; ++i)
      group.spawn([&f, i] { f(by_spawn{}, i); });
    f(by_spawn{}, branches - 1);
    group.wait();
  }
};

enum class below { calls, serial };

/// Forks by branches of a join that says what it costs. In place its branches are calls that ask as it
/// did, or the serial program.
template <below InPlace>
struct by_cost {
  template <class F, class Work>
  static void each(std::size_t branches, F f, Work work) {
    if (branches != 0)
      part(0, branches, f, work);
  }

 private:
  template <class F, class Work>
  static void part(std::size_t first, std::size_t count, F &f, Work &work) {
    if (count == 1)
      return f(by_cost{}, first);
    std::uint64_t all = 0;
    for (std::size_t i = first; i < first + count; ++i)
      all += work(i);
    const std::size_t half = count / 2;
    const auto low = [&] { part(first, half, f, work); };
    const auto high = [&] { part(first + half, count - half, f, work); };
    if constexpr (InPlace == below::calls)
      weft::join(weft::cost(all), low, high);
    else
      weft::join(weft::cost(all), low, high, [&] {
        for (std::size_t i = first; i < first + count; ++i)
          f(serially{}, i);
      });
  }
};

/// Forks by tasks that say what they cost, and may run in place.
struct by_inline {
  template <class F, class Work>
  static void each(std::size_t branches, F f, Work work) {
    for (std::size_t i = 0; i + 1 < branches; ++i)
      weft::spawn([&f, i] { f(by_inline{}, i); }, weft::cost(work(i)), weft::may_inline);
    f(by_inline{}, branches - 1);
    weft::taskwait();
  }
};

/// Holds the powers of a number, which are costs.
template <std::uint64_t Thousandths>
struct powers_of {
  std::uint64_t of[64] = {};
  constexpr powers_of() {
    double power = 1;
    for (std::uint64_t &p : of) {
      p = power < 1e18 ? static_cast<std::uint64_t>(power) : UINT64_MAX / 64;
      power *= static_cast<double>(Thousandths) / 1000;
    }
  }
};
template <std::uint64_t Thousandths>
inline constexpr powers_of<Thousandths> k_powers{};

/// Computes Fibonacci's numbers; calls below fib(cut) are serial.
struct fib {
  static constexpr std::uint64_t k_cuts[] = {10, 15, 20, 25};
  std::uint64_t n;

  template <class Fork>
  static std::uint64_t value(std::uint64_t k, std::uint64_t cut) {
    if (k < 2)
      return k;
    if constexpr (!std::is_same_v<Fork, serially>)
      if (k < cut)
        return value<serially>(k, cut);
    std::uint64_t parts[2];
    Fork::each(
        2, [&](auto fork, std::size_t i) { parts[i] = value<decltype(fork)>(k - 1 - i, cut); },
        [&](std::size_t i) { return k_powers<1618>.of[k - 1 - i]; });
    return parts[0] + parts[1];
  }
  void reset() {}
  template <class Fork>
  std::uint64_t run(std::uint64_t cut) {
    return value<Fork>(n, cut);
  }
  [[nodiscard]] std::uint64_t outcome(std::uint64_t returned) const { return returned; }
};

/// Counts the ways to place n queens; where at most `cut` rows are left it is serial.
struct nqueens {
  static constexpr std::uint64_t k_cuts[] = {4, 6, 8, 10};
  std::uint64_t n;

  struct board {
    std::uint32_t columns = 0, left = 0, right = 0;
  };
  template <class Fork>
  [[nodiscard]] std::uint64_t ways(board above, std::uint64_t cut) const {
    const auto left = n - static_cast<std::uint64_t>(std::popcount(above.columns));
    if (left == 0)
      return 1;
    if constexpr (!std::is_same_v<Fork, serially>)
      if (left <= cut)
        return ways<serially>(above, cut);
    std::uint32_t queens[32];
    std::size_t count = 0;
    for (std::uint32_t open = ~(above.columns | above.left | above.right) & ((1U << n) - 1); open;
         open &= open - 1)
      queens[count++] = open & -open;
    if (count == 0)
      return 0;
    std::uint64_t parts[32];
    Fork::each(
        count,
        [&](auto fork, std::size_t i) {
          const std::uint32_t queen = queens[i];
          parts[i] = ways<decltype(fork)>(
              {above.columns | queen, (above.left | queen) << 1, (above.right | queen) >> 1}, cut);
        },
        [&](std::size_t) { return k_powers<3000>.of[left - 1]; });
    return std::accumulate(parts, parts + count, std::uint64_t(0));
  }
  void reset() {}
  template <class Fork>
  [[nodiscard]] std::uint64_t run(std::uint64_t cut) const {
    return ways<Fork>({}, cut);
  }
  [[nodiscard]] std::uint64_t outcome(std::uint64_t returned) const { return returned; }
};

/// Sorts n numbers by merging, whose merges fork, too; parts of at most `cut` numbers are serial.
struct sort {
  static constexpr std::uint64_t k_cuts[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18};
  static constexpr std::size_t k_by_insertion = 16;
  std::uint64_t n;
  std::vector<std::uint64_t> numbers{}, space{};

  static void by_insertion(std::uint64_t *first, std::size_t count) {
    for (std::size_t i = 1; i < count; ++i)
      for (std::size_t k = i; k != 0 && first[k] < first[k - 1]; --k)
        std::swap(first[k], first[k - 1]);
  }
  /// Sorts numbers into their own place, or into `space`.
  template <class Fork>
  static void part(std::uint64_t *first, std::size_t count, std::uint64_t *space, bool into_space,
                   std::uint64_t cut) {
    if constexpr (!std::is_same_v<Fork, serially>)
      if (count <= cut)
        return part<serially>(first, count, space, into_space, cut);
    if (count <= k_by_insertion) {
      by_insertion(first, count);
      if (into_space)
        std::copy(first, first + count, space);
      return;
    }
    const std::size_t half = count / 2;
    Fork::each(
        2,
        [&](auto fork, std::size_t i) {
          part<decltype(fork)>(first + i * half, i == 0 ? half : count - half, space + i * half, !into_space,
                     cut);
        },
        [&](std::size_t) { return half * static_cast<std::uint64_t>(std::bit_width(half)); });
    const std::uint64_t *const from = into_space ? first : space;
    merge<Fork>(from, half, from + half, count - half, into_space ? space : first, cut);
  }
  /// Merges two sorted parts. The middle of the longer one divides both.
  template <class Fork>
  static void merge(const std::uint64_t *a, std::size_t in_a, const std::uint64_t *b, std::size_t in_b,
                    std::uint64_t *to, std::uint64_t cut) {
    if constexpr (!std::is_same_v<Fork, serially>)
      if (in_a + in_b <= cut)
        return merge<serially>(a, in_a, b, in_b, to, cut);
    if (in_a + in_b <= 2 * k_by_insertion || std::is_same_v<Fork, serially>) {
      std::merge(a, a + in_a, b, b + in_b, to);
      return;
    }
    if (in_a < in_b)
      std::swap(a, b), std::swap(in_a, in_b);
    const std::size_t half = in_a / 2;
    const auto below = static_cast<std::size_t>(std::lower_bound(b, b + in_b, a[half]) - b);
    const std::size_t sizes[] = {half + below, in_a + in_b - half - below};
    Fork::each(
        2,
        [&](auto fork, std::size_t i) {
          if (i == 0)
            merge<decltype(fork)>(a, half, b, below, to, cut);
          else
            merge<decltype(fork)>(a + half, in_a - half, b + below, in_b - below, to + half + below, cut);
        },
        [&](std::size_t i) { return std::uint64_t{sizes[i]}; });
  }
  void reset() {
    space.resize(n);
    numbers.resize(n);
    for (std::uint64_t i = 0; i < n; ++i)
      numbers[i] = mixed(i + 1);
  }
  template <class Fork>
  std::uint64_t run(std::uint64_t cut) {
    part<Fork>(numbers.data(), n, space.data(), false, cut);
    return 0;
  }
  [[nodiscard]] std::uint64_t outcome(std::uint64_t) const {
    std::uint64_t seen = 0;
    for (const std::uint64_t x : numbers)
      seen = mixed(seen + x); // another order is another number
    return std::is_sorted(numbers.begin(), numbers.end()) ? seen : 0;
  }
};

/// Counts the nodes of an unbalanced tree of depth n; below depth n - cut it is serial.
struct uts {
  static constexpr std::uint64_t k_cuts[] = {2, 4, 6};
  std::uint64_t n;

  template <class Fork>
  static std::uint64_t nodes(const ::uts::tree &of, const ::uts::node &at, std::uint64_t cut) {
    if constexpr (!std::is_same_v<Fork, serially>)
      if (static_cast<std::uint64_t>(of.size) <= static_cast<std::uint64_t>(at.depth) + cut)
        return nodes<serially>(of, at, cut);
    const auto children = static_cast<std::size_t>(of.children_of(at));
    if (children == 0)
      return 1;
    std::uint64_t parts[100];
    Fork::each(
        children,
        [&](auto fork, std::size_t i) {
          parts[i] = nodes<decltype(fork)>(of, ::uts::child_of(at, static_cast<int>(i)), cut);
        },
        [&](std::size_t) { return k_powers<4000>.of[static_cast<std::size_t>(of.size - at.depth - 1)]; });
    return std::accumulate(parts, parts + children, std::uint64_t(1));
  }
  void reset() {}
  template <class Fork>
  std::uint64_t run(std::uint64_t cut) {
    const ::uts::tree of{false, static_cast<int>(n)};
    return nodes<Fork>(of, of.root(), cut);
  }
  [[nodiscard]] std::uint64_t outcome(std::uint64_t returned) const { return returned; }
};

/// Simulates the hospitals of a tree of villages, n levels of four below each; a step visits a
/// village after those below it. The lowest `cut` levels are serial.
struct health {
  static constexpr std::uint64_t k_cuts[] = {1, 2, 3};
  static constexpr std::size_t k_below = 4, k_people = 40;
  std::uint64_t n, times;

  struct village {
    std::uint64_t random = 0, healthy = k_people, referred = 0, treated = 0;
    std::vector<std::uint32_t> ill{}; // days until each is well or is referred
    std::vector<village> below{};
  };
  village top{};

  static void build(village &v, std::uint64_t level, std::uint64_t number) {
    v = village{};
    v.random = mixed(number);
    if (level > 1)
      v.below.resize(k_below);
    for (std::size_t i = 0; i < v.below.size(); ++i)
      build(v.below[i], level - 1, k_below * number + i + 1);
  }
  static void live(village &v) {
    for (village &lower : v.below)
      for (; lower.referred != 0; --lower.referred)
        v.ill.push_back(5);
    std::size_t kept = 0;
    for (const std::uint32_t days : v.ill) {
      if (days > 1) {
        v.ill[kept++] = days - 1;
        continue;
      }
      v.random = mixed(v.random + 1);
      (v.random % 8 == 0 ? v.referred : v.random % 8 < 4 ? v.healthy : v.treated) += 1;
    }
    v.ill.resize(kept);
    for (std::uint64_t i = v.healthy; i != 0; --i) {
      v.random = mixed(v.random + 1);
      if (v.random % 64 == 0) {
        --v.healthy;
        v.ill.push_back(3 + v.random / 64 % 8);
      }
    }
  }
  template <class Fork>
  static void step(village &v, std::uint64_t level, std::uint64_t cut) {
    if constexpr (!std::is_same_v<Fork, serially>)
      if (level <= cut)
        return step<serially>(v, level, cut);
    if (!v.below.empty())
      Fork::each(
          k_below, [&](auto fork, std::size_t i) { step<decltype(fork)>(v.below[i], level - 1, cut); },
          [&](std::size_t) { return k_powers<4000>.of[level - 1]; });
    live(v);
  }
  void reset() { build(top, n, 1); }
  template <class Fork>
  std::uint64_t run(std::uint64_t cut) {
    for (std::uint64_t t = 0; t < times; ++t)
      step<Fork>(top, n, cut);
    return 0;
  }
  [[nodiscard]] static std::uint64_t state(const village &v) {
    std::uint64_t seen = mixed(v.random + 3 * v.healthy + 5 * v.referred + 7 * v.treated);
    for (const std::uint32_t days : v.ill)
      seen = mixed(seen + days);
    for (const village &lower : v.below)
      seen = mixed(seen + state(lower));
    return seen;
  }
  [[nodiscard]] std::uint64_t outcome(std::uint64_t) const { return state(top); }
};

template <class Recursion>
class all_ways {
 public:
  explicit all_ways(Recursion of) : m_of(std::make_shared<Recursion>(std::move(of))) {}

  std::vector<way> made() {
    add<serially>("serial", 0);
    add<by_join>("join", 0);
    add<by_spawn>("spawn", 0);
    add<by_cost<below::serial>>("cost", 0);
    add<by_cost<below::calls>>("cost-calls", 0);
    add<by_inline>("inline", 0);
    for (const std::uint64_t cut : Recursion::k_cuts) {
      add<by_join>("join/" + std::to_string(cut), cut);
      add<by_spawn>("spawn/" + std::to_string(cut), cut);
    }
    return std::move(m_ways);
  }

 private:
  template <class Fork>
  void add(const std::string &name, std::uint64_t cut) {
    const auto returned = std::make_shared<std::uint64_t>(0);
    m_ways.push_back({name, [of = m_of, cut, returned] { return *returned = of->template run<Fork>(cut); },
                      [of = m_of] { of->reset(); },
                      [of = m_of, returned] { return of->outcome(*returned); }});
  }
  std::shared_ptr<Recursion> m_of;
  std::vector<way> m_ways;
};

} // namespace

const std::vector<std::string> &recursion_names() {
  static const std::vector<std::string> all{"fib", "nqueens", "sort", "uts", "health"};
  return all;
}

std::vector<way> ways_of_recursion(const std::string &name, std::uint64_t n, std::uint64_t cost) {
  if (name == "fib")
    return all_ways(fib{n}).made();
  if (name == "nqueens")
    return all_ways(nqueens{n}).made();
  if (name == "sort")
    return all_ways(sort{n}).made();
  if (name == "uts")
    return all_ways(uts{n}).made();
  return all_ways(health{n, cost}).made();
}

} // namespace adapt
