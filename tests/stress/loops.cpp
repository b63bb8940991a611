// SPDX-License-Identifier: Apache-2.0
// Random sequences of taskloop, taskfor and taskiter over shared cells, held against the same loops run one after the other; some
// of them are stopped by an exception, and then nothing may be lost or run too late.
//
// usage: weft_stress_loops                         every policy with 1, 2 and 8 workers, a few seconds each
//        weft_stress_loops --seconds N --seed S    this configuration (of the environment)
#include "support/random_programs.hpp"

#include <weft/weft.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <stdexcept>
#include <vector>

namespace {

using cells = std::vector<std::uint64_t>;

using test::dice;

/// A task of an iteration: mixes what it reads into the cell that it writes, or reduces it to that.
struct step {
  std::vector<std::size_t> reads;
  std::size_t reach =
      0; // reads that many cells from each on, as a region; 0: the cell, as an object
  std::size_t writes;
  enum class manner { plain, nested, yielding, shared } how;
  enum class effect { mixes, sums, toggles } does;

  [[nodiscard]] bool reduces() const { return does != effect::mixes; }
  void run(cells &c, std::uint64_t salt) const { apply(c, salt, c[writes]); }
  void run_as_task(cells &c, std::uint64_t salt) const {
    apply(c, salt, reduces() ? weft::reduction_local(c[writes]) : c[writes]);
  }

 private:
  void apply(const cells &c, std::uint64_t salt, std::uint64_t &into) const {
    std::uint64_t v = salt;
    for (const std::size_t r : reads)
      for (std::size_t i = r; i < std::min(r + std::max<std::size_t>(reach, 1), c.size()); ++i)
        v = v * 31 + c[i];
    into = does == effect::sums ? into + v : does == effect::toggles ? into ^ v : into * 33 + v;
  }
};

/// The access to the cell that a step writes; valid while this is there.
class target {
 public:
  enum class strength { strong, weak };
  target(cells &c, const step &s, strength how = strength::strong)
      : m_reduction(reduction_of(c[s.writes], s, how)),
        m_access(s.reduces() ? m_reduction.as_access() : weft::inout(c[s.writes])) {}
  target(const target &) = delete;
  target &operator=(const target &) = delete;
  [[nodiscard]] weft::access access() const { return m_access; }

 private:
  using clause = weft::reduction_clause<std::uint64_t>;
  static clause reduction_of(std::uint64_t &cell, const step &s, strength how) {
    const bool sums = s.does == step::effect::sums;
    if (how == strength::weak)
      return sums ? weft::weak_reduction(cell, weft::sum)
                  : weft::weak_reduction(cell, weft::bit_xor);
    return sums ? weft::reduction(cell, weft::sum) : weft::reduction(cell, weft::bit_xor);
  }
  clause m_reduction;
  weft::access m_access;
};

void spawn_step(cells &c, const step &s, std::uint64_t salt) {
  const bool below = s.how == step::manner::nested || s.how == step::manner::shared;
  const target own(c, s, below ? target::strength::weak : target::strength::strong);
  std::vector<weft::access> list{own.access()};
  std::vector<weft::region_access> parts;
  for (const std::size_t r : s.reads)
    if (s.reach == 0)
      list.push_back(weft::in(c[r]));
    else
      parts.push_back(weft::in(
          weft::region(c).span(static_cast<std::ptrdiff_t>(r),
                               static_cast<std::ptrdiff_t>(std::min(s.reach, c.size() - r)))));
  const auto body = [&c, &s, salt] {
    const target mine(c, s);
    switch (s.how) {
    case step::manner::plain:
      return s.run_as_task(c, salt);
    case step::manner::nested:
      return weft::spawn([&c, &s, salt] { s.run_as_task(c, salt); }, mine.access());
    case step::manner::yielding:
      weft::taskyield();
      return s.run_as_task(c, salt);
    case step::manner::shared:
      weft::taskfor(
          weft::range(4),
          [&c, &s, salt](int i) {
            if (i == 2)
              s.run_as_task(c, salt);
          },
          weft::grain_size(1), mine.access());
    }
  };
  const auto urgency = weft::priority(static_cast<int>(salt % 7) / 6);
  if (parts.empty())
    weft::spawn(body, weft::accesses(list), urgency);
  else
    weft::spawn(body, weft::accesses(list), weft::regions(parts), urgency);
}

std::vector<step> draw_iteration(dice &d, std::size_t n) {
  std::vector<step> tasks(1 + d(30));
  const bool with_regions = d(3) == 0;
  for (step &s : tasks) {
    for (std::uint64_t r = d(4); r != 0; --r)
      s.reads.push_back(d(n));
    s.writes = d(n);
    if (with_regions && d(3) == 0)
      s.reach = 1 + d(4);
    s.how = d(4) ? step::manner::plain : static_cast<step::manner>(d(4));
    s.does = d(2) ? step::effect::mixes : static_cast<step::effect>(d(3));
    if (s.reduces())
      std::erase_if(s.reads, [&s](std::size_t r) {
        return r <= s.writes && s.writes < r + std::max<std::size_t>(s.reach, 1);
      });
  }
  return tasks;
}

/// One loop, of Weft over `real` and serial over `expected`; the former is an inout of all cells.
void add_loop(dice &d, cells &real, cells &expected, std::vector<std::vector<step>> &keep) {
  const std::size_t n = real.size();
  const auto grain = weft::grain_size(1 + d(5));
  const std::uint64_t factor = d(100);
  const auto serially = [&](auto f) {
    for (std::size_t i = 0; i != n; ++i)
      f(i);
  };
  const auto kind = d(4);
  if (kind == 0) {
    weft::taskloop(
        weft::range(n), [&real, factor](std::size_t i) { real[i] = real[i] * 3 + factor + i; },
        grain, weft::nogroup, weft::chunk_accesses([&real](weft::range<std::size_t> c) {
          std::vector<weft::access> list;
          for (const std::size_t i : c)
            list.push_back(weft::inout(real[i]));
          return list;
        }));
    return serially([&](std::size_t i) { expected[i] = expected[i] * 3 + factor + i; });
  }
  std::vector<weft::access> all;
  for (auto &cell : real)
    all.push_back(weft::inout(cell));
  if (kind == 1) {
    weft::taskfor(
        weft::range(n), [&real, factor](std::size_t i) { real[i] = real[i] * 5 + factor; }, grain,
        weft::accesses(all));
    return serially([&](std::size_t i) { expected[i] = expected[i] * 5 + factor; });
  }
  const std::vector<step> &tasks = keep.emplace_back(draw_iteration(d, n));
  const std::uint64_t rounds = d(40);
  const auto record = [&real, &tasks] {
    for (std::size_t t = 0; t != tasks.size(); ++t)
      spawn_step(real, tasks[t], t);
  };
  if (kind == 2)
    weft::taskiter(rounds, record, weft::accesses(all));
  else
    weft::taskiter([left = rounds]() mutable { return left-- != 0; }, record, weft::accesses(all));
  for (std::uint64_t r = 0; r != rounds; ++r)
    for (std::size_t t = 0; t != tasks.size(); ++t)
      tasks[t].run(expected, t);
}

bool sequence(std::uint64_t seed) {
  dice d(seed);
  cells real(1 + d(12), 1), expected = real;
  std::vector<std::vector<step>> keep;
  keep.reserve(10); // the tasks refer to what is in it
  for (std::uint64_t loops = 1 + d(8); loops != 0; --loops)
    add_loop(d, real, expected, keep);
  weft::taskwait();
  return real == expected;
}

/// A taskiter that a task stops: each task has run in one round more or less than its neighbours at most.
bool stopped(std::uint64_t seed) {
  dice d(seed);
  const std::size_t n = 2 + d(10), at = d(n);
  const long round = 1 + static_cast<long>(d(20));
  std::vector<long> runs(n);
  std::atomic<bool> over{false};
  std::atomic<int> late{0};
  weft::handle<void> h = weft::taskiter(
      1'000'000'000,
      [&] {
        for (std::size_t i = 0; i != n; ++i)
          weft::spawn(
              [&, i] {
                late += over;
                if (++runs[i] == round && i == at)
                  throw std::runtime_error("stop");
              },
              weft::inout(runs[i]), weft::in(runs[(i + 1) % n]));
      },
      weft::tracked);
  bool thrown = false;
  try {
    h.get();
  } catch (const std::runtime_error &) {
    thrown = true;
  }
  over = true;
  bool level = true;
  for (std::size_t i = 0; i != n; ++i)
    level &= std::abs(runs[i] - runs[(i + 1) % n]) <= 1;
  weft::taskwait();
  return thrown && level && runs[at] == round && late == 0;
}

void program(std::uint64_t seed) {
  test::require(seed % 8 ? sequence(seed) : stopped(seed), "another result");
}

} // namespace

int main(int argc, char **argv) { return test::run_programs(argc, argv, program); }
