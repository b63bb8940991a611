// SPDX-License-Identifier: Apache-2.0
#include "health.hpp"

namespace inncabs {

namespace {

constexpr std::uint32_t k_falls_ill = 8, k_is_referred = 150, k_is_treated = 300; // of 1000
constexpr int k_days_of_examination = 3, k_days_of_treatment = 10;

} // namespace

health::health(const sizes &s)
    : m_levels(s.integer("levels")), m_branches(s.integer("branches")),
      m_people(s.integer("people")), m_steps(s["steps"]) {}

void health::build(village *v, int level) {
  v->level = level;
  v->staff = 1 + m_people / 10 * level;
  for (int i = 0; i < m_people; ++i) {
    person &p = m_persons.emplace_back();
    p.home = v;
    p.random = random_stream(m_persons.size());
    v->healthy.push_back(&p);
  }
  for (int i = 0; level > 1 && i < m_branches; ++i) {
    village *const lower = &m_villages.emplace_back();
    v->below.push_back(lower);
    build(lower, level - 1);
  }
}

void health::reset() {
  std::size_t villages = 0, on_level = 1;
  for (int level = 0; level < m_levels; ++level, on_level *= static_cast<std::size_t>(m_branches))
    villages += on_level;
  m_villages.clear();
  m_persons.clear();
  m_villages.reserve(villages); // persons and villages are named by their addresses
  m_persons.reserve(villages * static_cast<std::size_t>(m_people));
  build(&m_villages.emplace_back(), m_levels);
}

void health::live(village *v) {
  const auto keep_if = [](people &from, auto &&keeps) {
    std::size_t kept = 0;
    for (person *p : from)
      if (keeps(p))
        from[kept++] = p;
    from.resize(kept);
  };
  for (village *lower : v->below) {
    v->waiting.insert(v->waiting.end(), lower->referred.begin(), lower->referred.end());
    lower->referred.clear();
  }
  keep_if(v->treated, [v](person *p) {
    if (--p->days > 0)
      return true;
    ++v->staff;
    p->home->healthy.push_back(p);
    return false;
  });
  keep_if(v->examined, [v](person *p) {
    if (--p->days > 0)
      return true;
    const std::uint32_t chance = p->random.below(1000);
    if (chance < k_is_treated) {
      p->days = k_days_of_treatment;
      v->treated.push_back(p);
      return false;
    }
    ++v->staff;
    if (chance < k_is_treated + k_is_referred) {
      ++p->referrals;
      v->referred.push_back(p);
    } else {
      p->home->healthy.push_back(p);
    }
    return false;
  });
  keep_if(v->waiting, [v](person *p) {
    if (v->staff == 0)
      return true;
    --v->staff;
    ++p->admissions;
    p->days = k_days_of_examination;
    v->examined.push_back(p);
    return false;
  });
  keep_if(v->healthy, [v](person *p) {
    if (p->random.below(1000) >= k_falls_ill)
      return true;
    v->waiting.push_back(p);
    return false;
  });
}

std::vector<std::uint64_t> health::state() const {
  std::vector<std::uint64_t> all;
  for (const person &p : m_persons)
    all.push_back(p.admissions | static_cast<std::uint64_t>(p.referrals) << 32);
  for (const village &v : m_villages)
    for (const people *list : {&v.healthy, &v.waiting, &v.examined, &v.treated, &v.referred}) {
      all.push_back(list->size());
      for (const person *p : *list)
        all.push_back(static_cast<std::uint64_t>(p - m_persons.data()));
    }
  return all;
}

std::string health::check() const {
  std::vector<int> seen(m_persons.size());
  for (const village &v : m_villages)
    for (const people *list : {&v.healthy, &v.waiting, &v.examined, &v.treated, &v.referred})
      for (const person *p : *list)
        ++seen[static_cast<std::size_t>(p - m_persons.data())];
  for (const int times : seen)
    if (times != 1)
      return "health has a person " + std::to_string(times) + " times";
  return state() == m_expected ? "" : "health differs from the serial run";
}

} // namespace inncabs
