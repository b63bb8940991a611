// SPDX-License-Identifier: Apache-2.0
// Random trees of loops whose blocks choose their sizes: taskfor, taskloop and the parallel algorithms inside of each other, with
// bodies whose cost changes from one iteration and from one run to the next, that wait, and that throw. Each iteration runs once, or
// at most once where an exception ends its loop, and none after the loop has returned; sums are those of the same loops one after the
// other.
//
// usage: weft_stress_adaptive_loops                         every policy with 1, 2 and 8 workers, a few seconds each
//        weft_stress_adaptive_loops --seconds N --seed S    this configuration (of the environment)
#include "support/random_programs.hpp"

#include <weft/algorithm.hpp>
#include <weft/numeric.hpp>
#include <weft/weft.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

using test::dice;
using test::require;

struct fault {
  std::uint64_t at;
};

/// Describes a loop, and what one iteration of it does.
struct loop {
  enum class kind { taskfor, taskfor_chunk, taskloop, for_each, transform_reduce, count } how;
  enum class cost { nothing, little, random, one_long, rising, count } costs;
  std::uint64_t size = 0;
  std::uint64_t throws_at = k_never; // the iteration that throws
  std::uint64_t waits_each = 0; // 0: never; else every so many iterations suspend
  std::uint64_t nested_at = k_never; // every iteration that this divides runs the loop inside
  std::unique_ptr<loop> inside;

  static constexpr std::uint64_t k_never = ~std::uint64_t{0};

  /// Returns whether an iteration may wait: not those of an algorithm.
  [[nodiscard]] bool is_of_tasks() const { return how <= kind::taskloop; }
  [[nodiscard]] bool runs_inside(std::uint64_t i) const { return inside && i % nested_at == 0; }
  [[nodiscard]] std::uint64_t steps(std::uint64_t i) const {
    switch (costs) {
    case cost::little:
      return 20;
    case cost::random:
      return (i * 2654435761u >> 7) % 300;
    case cost::one_long:
      return i == size / 2 ? 100'000 : 1;
    case cost::rising:
      return i * 200 / size;
    case cost::nothing:
    case cost::count:
      break;
    }
    return 0;
  }
  /// Returns whether an iteration of this loop, or of one inside of it, throws.
  [[nodiscard]] bool fails() const {
    return size != 0 && (throws_at < size || (inside && inside->fails()));
  }
  /// Returns the number of calls, and adds the value of each to `sum`.
  [[nodiscard]] std::uint64_t calls() const {
    std::uint64_t all = size;
    if (inside && size != 0)
      all += ((size - 1) / nested_at + 1) * inside->calls();
    return all;
  }
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (std::uint64_t i = 0; i != size; ++i)
      all += value(i);
    if (inside && size != 0)
      all += ((size - 1) / nested_at + 1) * inside->sum();
    return all;
  }
  [[nodiscard]] std::uint64_t value(std::uint64_t i) const { return i * i + size; }
};

std::unique_ptr<loop> draw_loop(dice &d, int levels, bool may_fail, bool of_tasks) {
  auto l = std::make_unique<loop>();
  const auto kinds = static_cast<std::uint64_t>(loop::kind::count);
  l->how = static_cast<loop::kind>(of_tasks || d(2) ? d(3) : d(kinds));
  l->costs = static_cast<loop::cost>(d(static_cast<std::uint64_t>(loop::cost::count)));
  constexpr std::uint64_t sizes[] = {0, 1, 2, 17, 100, 3000, 20'000};
  l->size = sizes[d(levels == 0 ? 5 : 7)];
  if (levels != 0)
    l->size = std::min<std::uint64_t>(l->size, 3000);
  if (may_fail && l->size != 0 && d(3) == 0)
    l->throws_at = d(l->size);
  if (l->is_of_tasks() && d(4) == 0)
    l->waits_each = 1 + d(50);
  if (levels > 0 && d(4) != 0) {
    l->inside = draw_loop(d, levels - 1, may_fail, false);
    l->nested_at = 1 + l->size / (1 + d(10));
  }
  return l;
}

/// Counts what a run of a tree of loops did.
struct tally {
  std::atomic<std::uint64_t> calls{0}, sum{0};
  std::atomic<bool> over{false};
  std::atomic<bool> late{false};
};

/// Marks the iterations of one run of a loop.
using marks = std::vector<std::atomic<unsigned char>>;

void run(const loop &l, tally &t);

std::uint64_t iterate(const loop &l, tally &t, marks &seen, std::uint64_t i) {
  if (t.over)
    t.late = true;
  require(seen[i].fetch_add(1) == 0, "an iteration ran twice");
  ++t.calls;
  volatile std::uint64_t work = 0;
  for (std::uint64_t k = l.steps(i); k != 0; --k)
    work = work + k;
  if (l.waits_each != 0 && i % l.waits_each == 0)
    weft::taskyield();
  if (l.runs_inside(i))
    run(*l.inside, t);
  if (i == l.throws_at)
    throw fault{i};
  t.sum += l.value(i);
  return l.value(i);
}

void run_once(const loop &l, tally &t, marks &seen) {
  const weft::range<std::uint64_t> all(l.size);
  const auto one = [&](std::uint64_t i) { iterate(l, t, seen, i); };
  switch (l.how) {
  case loop::kind::taskfor:
    return weft::taskfor(all, one);
  case loop::kind::taskfor_chunk:
    return weft::taskfor(all, [&](weft::range<std::uint64_t> part) {
      for (const std::uint64_t i : part)
        one(i);
    });
  case loop::kind::taskloop:
    return weft::taskloop(all, one);
  case loop::kind::for_each: {
    std::vector<std::uint64_t> numbers(l.size);
    for (std::uint64_t i = 0; i != l.size; ++i)
      numbers[i] = i;
    weft::for_each(weft::execution::par, numbers.begin(), numbers.end(), one);
    return;
  }
  case loop::kind::transform_reduce: {
    std::vector<std::uint64_t> numbers(l.size);
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i != l.size; ++i) {
      numbers[i] = i;
      expected += l.value(i);
    }
    const std::uint64_t found = weft::transform_reduce(
        weft::execution::par, numbers.begin(), numbers.end(), std::uint64_t{0}, std::plus<>(),
        [&](std::uint64_t i) { return iterate(l, t, seen, i); });
    require(found == expected, "a reduction has another value");
    return;
  }
  case loop::kind::count:
    break;
  }
}

void run(const loop &l, tally &t) {
  marks seen(l.size);
  run_once(l, t,
           seen); // on an exception the marks are gone: an iteration after it would touch them
  require(std::all_of(seen.begin(), seen.end(), [](const auto &m) { return m == 1; }),
          "an iteration did not run");
}

void program(std::uint64_t seed) {
  dice d(seed);
  const bool may_fail = d(2) == 0;
  const auto l = draw_loop(d, static_cast<int>(d(3)), may_fail, true);
  for (std::uint64_t runs = 1 + d(3); runs != 0; --runs) { // sites remember what an iteration took
    tally t;
    bool thrown = false;
    const auto here = [&] {
      try {
        run(*l, t);
      } catch (const fault &) {
        thrown = true;
      }
      t.over = true;
    };
    if (d(2)) {
      here();
    } else { // several trees side by side
      tally other;
      weft::task_group group;
      group.spawn(here);
      const auto beside = draw_loop(d, 1, false, true);
      run(*beside, other);
      group.wait();
      require(other.sum == beside->sum(), "a loop beside another one has another sum");
    }
    weft::taskwait();
    require(!t.late, "an iteration ran after its loop");
    require(thrown == l->fails(),
            thrown ? "an exception came from nowhere" : "an exception was lost");
    if (!thrown)
      require(t.calls == l->calls() && t.sum == l->sum(), "a tree of loops has another sum");
    l->costs = static_cast<loop::cost>(d(static_cast<std::uint64_t>(loop::cost::count)));
  }
}

} // namespace

int main(int argc, char **argv) { return test::run_programs(argc, argv, program); }
