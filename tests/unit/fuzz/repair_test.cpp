// SPDX-License-Identifier: Apache-2.0
// Whatever is cut out of a random program, what the repairer leaves means the same in parallel as one task
// after the other: then a shrunk program that fails shows a fault of Weft.
#include "stress/fuzz/cuts.hpp"
#include "stress/fuzz/generator.hpp"
#include "stress/fuzz/repair.hpp"
#include "stress/fuzz/runner.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>
#include <random>

namespace {

using namespace fuzz;

class cutter {
 public:
  explicit cutter(std::uint64_t seed) : m_random(seed) {}

  void cut(program &p) {
    const auto lists = lists_of(p);
    const std::size_t list = below(lists.size());
    node &n = *p.nodes[below(p.nodes.size())];
    const std::size_t steps = lists[list].steps->size();
    switch (below(4)) {
    case 0:
      if (steps)
        cut_steps(p, list, below(steps), 1 + below(4));
      break;
    case 1:
      if (steps)
        cut_nesting(p, list, below(steps));
      break;
    case 2:
      cut_clause(n, below(k_clauses));
      break;
    case 3:
      if (uses_to_cut(n))
        cut_use(n, below(uses_to_cut(n)));
      break;
    }
  }

 private:
  std::size_t below(std::size_t n) { return m_random() % n; }
  std::mt19937_64 m_random;
};

std::string complaints_of(const program &p, agent &a) {
  return parallel_run(p, a).check(serial_run(p).result());
}

TEST(fuzz_repair, leaves_a_whole_program_alone) {
  for (std::uint64_t seed = 0; seed != 200; ++seed) {
    const program p = generator(seed).make();
    program repaired = clone(p);
    repairer::repair(repaired);
    EXPECT_EQ(size_of(repaired), size_of(p)) << "seed " << seed;
    EXPECT_EQ(serial_run(repaired).result(), serial_run(p).result()) << "seed " << seed;
  }
}

TEST(fuzz_repair, what_is_left_is_right_in_every_order) {
  agent a;
  const std::uint64_t first = test::seed();
  for (std::uint64_t seed = first; seed != first + static_cast<unsigned>(test::scaled(80));
       ++seed) {
    program p = generator(seed).make();
    cutter scissors(seed);
    while (p.nodes.size() > 2) {
      for (int i = 0; i != 12; ++i) {
        scissors.cut(p);
        repairer::repair(p);
      }
      const std::string complaints = complaints_of(p, a);
      ASSERT_EQ(complaints, "") << "seed " << seed << ", " << p.nodes.size() << " tasks";
    }
  }
}

TEST(fuzz_repair, numbering_anew_changes_no_more_than_the_numbers) {
  agent a;
  for (std::uint64_t seed = 0; seed != 20; ++seed) {
    program p = generator(seed).make();
    const std::size_t size = size_of(p);
    renumber(p);
    EXPECT_EQ(size_of(p), size);
    EXPECT_EQ(complaints_of(p, a), "");
  }
}

} // namespace
