// SPDX-License-Identifier: Apache-2.0
// health: simulates a health system. Villages form a tree; each has a hospital. In each time step a
// task simulates a village after those below it, whose hospitals have referred patients to it.
#pragma once

#include "../support/future_list.hpp"
#include "../support/random.hpp"
#include "../support/sizes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace inncabs {

class health {
 public:
  static constexpr const char *k_name = "health";
  static constexpr parameter k_parameters[] = {
      {"levels", 6, 3, 1, 10, "levels of villages"},
      {"branches", 4, 3, 1, 20, "villages below a village"},
      {"people", 150, 10, 1, 10'000, "inhabitants of a village"},
      {"steps", 100, 20, 1, 1'000'000, "time steps"}};

  explicit health(const sizes &s);
  void reset();
  template <class M>
  void run() {
    for (long step = 0; step < m_steps; ++step)
      simulate<M>(&m_villages.front());
  }
  void remember() { m_expected = state(); }
  [[nodiscard]] std::string check() const;

 private:
  struct village;
  struct person {
    village *home = nullptr;
    random_stream random;
    int days = 0; // until the present examination or treatment ends
    std::uint32_t admissions = 0, referrals = 0;
  };
  using people = std::vector<person *>;
  struct village {
    std::vector<village *> below;
    int level = 0, staff = 0; // of the hospital; staff that is free
    people healthy, waiting, examined, treated, referred;
  };

  /// Simulates the hospital of a village and its inhabitants for one step.
  static void live(village *v);
  void build(village *v, int level);
  [[nodiscard]] std::vector<std::uint64_t> state() const;

  template <class M>
  static void simulate(village *v) {
    if (!v->below.empty()) {
      typename M::scope here;
      future_list<M, void> parts(v->below.size());
      for (village *lower : v->below)
        parts.async(here, simulate<M>, lower);
      parts.get();
    }
    live(v);
  }

  int m_levels, m_branches, m_people;
  long m_steps;
  std::vector<village> m_villages;
  std::vector<person> m_persons;
  std::vector<std::uint64_t> m_expected;
};

} // namespace inncabs
