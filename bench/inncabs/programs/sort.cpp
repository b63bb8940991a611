// SPDX-License-Identifier: Apache-2.0
#include "sort.hpp"

#include "../support/random.hpp"

namespace inncabs {

namespace {

std::uint64_t sum_of(const std::vector<sort::number> &numbers) {
  std::uint64_t sum = 0;
  for (const sort::number n : numbers)
    sum += mix(n);
  return sum;
}

} // namespace

sort::sort(const sizes &s)
    : m_leaf(s.count("leaf")), m_numbers(s.count("n")), m_space(m_numbers.size()) {}

void sort::reset() {
  random_stream random(7);
  for (number &n : m_numbers)
    n = static_cast<number>(random.next());
  m_sum = sum_of(m_numbers);
}

std::string sort::check() const {
  if (!std::is_sorted(m_numbers.begin(), m_numbers.end()))
    return "sort left the numbers unsorted";
  return sum_of(m_numbers) == m_sum ? "" : "sort lost numbers";
}

} // namespace inncabs
