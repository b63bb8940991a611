// SPDX-License-Identifier: Apache-2.0
// When an idle member of an OpenMP team leaves tasks to their creator:
// layers/omp/src/task/steal_policy.hpp.
#include "layers/omp/src/task/steal_policy.hpp"

#include <cstdint>
#include <gtest/gtest.h>

namespace {

struct fake_owner {
  std::int64_t made = 0;
  [[nodiscard]] std::int64_t activity() const noexcept { return made; }
};
std::int64_t g_now = 1;
struct fake_clock {
  static std::int64_t now() noexcept { return g_now; }
};

class steal_policy_test : public testing::Test {
 protected:
  using steal_policy = weft_omp::basic_steal_policy<fake_owner, fake_clock>;
  fake_owner owner;
  steal_policy patient{weft_omp::steal_patience::patient};

  /// Takes as many as it looks at together, which take `each` ns, while the owner makes `made`. Whether that was unprofitable.
  bool take(steal_policy &policy, std::int64_t each, std::int64_t made, unsigned accesses = 0) {
    policy.took_from(owner);
    for (unsigned i = 0; i < steal_policy::k_few; ++i)
      EXPECT_EQ(policy.has_run(accesses), i + 1 == steal_policy::k_few)
          << "it looks every few tasks";
    g_now += each * steal_policy::k_few;
    owner.made += made;
    return policy.was_unprofitable();
  }
  /// How long it stays away; it looks each `step` ns.
  static std::int64_t absence(steal_policy &policy, std::int64_t step = 10) {
    std::int64_t away = 0;
    for (; policy.abstains(); away += step)
      g_now += step;
    return away;
  }
};

TEST_F(steal_policy_test, abstains_from_tiny_tasks_of_an_owner_at_work) {
  EXPECT_FALSE(patient.abstains()) << "at first it takes all it can";
  EXPECT_TRUE(take(patient, 100, 5));
  EXPECT_TRUE(patient.abstains());
  EXPECT_GT(absence(patient), 0);
  EXPECT_FALSE(patient.abstains()) << "the time is over";
}

TEST_F(steal_policy_test, abstains_longer_each_time_up_to_a_part_of_its_time) {
  std::int64_t before = 0, away = 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(take(patient, 100, 5));
    away = absence(patient);
    EXPECT_GE(away, before);
    before = away;
  }
  EXPECT_LE(away, steal_policy::k_fraction * 100 * steal_policy::k_few + 10);
  EXPECT_GE(away, steal_policy::k_fraction * 100 * steal_policy::k_few / 2);
}

TEST_F(steal_policy_test, is_never_away_for_long) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(take(patient, 100'000, 5, 255)); // so many dependences that even these cost more
    EXPECT_LE(absence(patient, 1000), steal_policy::k_longest + 1000);
  }
}

TEST_F(steal_policy_test, takes_all_again_when_a_look_was_worth_it) {
  EXPECT_TRUE(take(patient, 100, 5));
  (void)absence(patient);
  EXPECT_LT(patient.most_at_once(), 2 * steal_policy::k_few) << "few, to see what they are like";
  EXPECT_FALSE(take(patient, 1000, 5));
  EXPECT_EQ(patient.most_at_once(), 2 * steal_policy::k_few);
  EXPECT_FALSE(patient.abstains());
}

TEST_F(steal_policy_test, never_leaves_an_owner_that_does_nothing) {
  EXPECT_FALSE(take(patient, 100, 0));
  EXPECT_FALSE(patient.abstains());
  EXPECT_TRUE(take(patient, 100, 1));
  (void)absence(patient);
  EXPECT_FALSE(take(patient, 100, 0)) << "it has fallen asleep";
}

TEST_F(steal_policy_test, expects_more_of_tasks_with_dependences) {
  EXPECT_FALSE(take(patient, 600, 5, 0));
  EXPECT_TRUE(take(patient, 600, 5, 1));
  (void)absence(patient);
  EXPECT_FALSE(take(patient, 1000, 5, 1));
}

TEST_F(steal_policy_test, does_not_wait_on_a_cpu_that_others_need) {
  steal_policy impatient{weft_omp::steal_patience::impatient};
  EXPECT_FALSE(take(impatient, 100, 5));
  EXPECT_FALSE(impatient.abstains());
}

TEST_F(steal_policy_test, assesses_no_tasks_that_it_did_not_take) {
  EXPECT_FALSE(patient.was_unprofitable());
  EXPECT_FALSE(patient.abstains());
}

} // namespace
