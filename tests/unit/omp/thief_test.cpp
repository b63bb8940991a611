// SPDX-License-Identifier: Apache-2.0
// When an idle member of an OpenMP team leaves tasks to who makes them: layers/omp/src/thief.hpp.
#include "layers/omp/src/thief.hpp"

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

class thief_test : public testing::Test {
 protected:
  using thief = weft_omp::basic_thief<fake_owner, fake_clock>;
  fake_owner owner;
  thief patient{true};

  /// Takes as many as it looks at together, which take `each` ns, while the owner makes `made`. Whether that was in vain.
  bool take(thief &who, std::int64_t each, std::int64_t made, unsigned accesses = 0) {
    who.took_from(owner);
    for (unsigned i = 0; i < thief::k_few; ++i)
      EXPECT_EQ(who.has_run(accesses), i + 1 == thief::k_few) << "it looks every few tasks";
    g_now += each * thief::k_few;
    owner.made += made;
    return who.was_in_vain();
  }
  /// How long it stays away; it looks each `step` ns.
  static std::int64_t absence(thief &who, std::int64_t step = 10) {
    std::int64_t away = 0;
    for (; who.stays_away(); away += step)
      g_now += step;
    return away;
  }
};

TEST_F(thief_test, stays_away_from_tiny_tasks_of_who_is_at_work) {
  EXPECT_FALSE(patient.stays_away()) << "at first it takes all it can";
  EXPECT_TRUE(take(patient, 100, 5));
  EXPECT_TRUE(patient.stays_away());
  EXPECT_GT(absence(patient), 0);
  EXPECT_FALSE(patient.stays_away()) << "the time is over";
}

TEST_F(thief_test, stays_away_longer_each_time_up_to_a_share_of_its_time) {
  std::int64_t before = 0, away = 0;
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(take(patient, 100, 5));
    away = absence(patient);
    EXPECT_GE(away, before);
    before = away;
  }
  EXPECT_LE(away, thief::k_fraction * 100 * thief::k_few + 10);
  EXPECT_GE(away, thief::k_fraction * 100 * thief::k_few / 2);
}

TEST_F(thief_test, is_never_away_for_long) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(take(patient, 100'000, 5, 255)); // so many dependences that even these cost more
    EXPECT_LE(absence(patient, 1000), thief::k_longest + 1000);
  }
}

TEST_F(thief_test, takes_all_again_when_a_look_was_worth_it) {
  EXPECT_TRUE(take(patient, 100, 5));
  (void)absence(patient);
  EXPECT_LT(patient.most_at_once(), 2 * thief::k_few) << "few, to see what they are like";
  EXPECT_FALSE(take(patient, 1000, 5));
  EXPECT_EQ(patient.most_at_once(), 2 * thief::k_few);
  EXPECT_FALSE(patient.stays_away());
}

TEST_F(thief_test, never_leaves_an_owner_that_does_nothing) {
  EXPECT_FALSE(take(patient, 100, 0));
  EXPECT_FALSE(patient.stays_away());
  EXPECT_TRUE(take(patient, 100, 1));
  (void)absence(patient);
  EXPECT_FALSE(take(patient, 100, 0)) << "it has fallen asleep";
}

TEST_F(thief_test, expects_more_of_tasks_with_dependences) {
  EXPECT_FALSE(take(patient, 600, 5, 0));
  EXPECT_TRUE(take(patient, 600, 5, 1));
  (void)absence(patient);
  EXPECT_FALSE(take(patient, 1000, 5, 1));
}

TEST_F(thief_test, does_not_wait_on_a_cpu_that_others_need) {
  thief impatient{false};
  EXPECT_FALSE(take(impatient, 100, 5));
  EXPECT_FALSE(impatient.stays_away());
}

TEST_F(thief_test, assesses_no_tasks_that_it_did_not_take) {
  EXPECT_FALSE(patient.was_in_vain());
  EXPECT_FALSE(patient.stays_away());
}

} // namespace
