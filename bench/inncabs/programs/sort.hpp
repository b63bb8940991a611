// SPDX-License-Identifier: Apache-2.0
// sort: merge sort of four parts, whose merges are divided as well.
#pragma once

#include "../support/sizes.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace inncabs {

class sort {
 public:
  static constexpr const char *k_name = "sort";
  static constexpr parameter k_parameters[] = {
      {"n", 4'000'000, 5000, 1, 1'000'000'000, "numbers"},
      {"leaf", 16'384, 64, 4, 1'000'000, "numbers that one task sorts or merges"}};
  using number = std::uint32_t;

  explicit sort(const sizes &s);
  void reset();
  template <class M>
  void run() {
    part<M>(m_numbers.data(), m_numbers.size(), m_space.data(), m_leaf);
  }
  void remember() {}
  [[nodiscard]] std::string check() const;

 private:
  template <class M>
  static void part(number *first, std::size_t n, number *space, std::size_t leaf) {
    if (n <= leaf)
      return std::sort(first, first + n);
    const std::size_t a = n / 4, b = n / 2, c = b + n / 4;
    {
      typename M::scope here;
      auto one = here.async(part<M>, first, a, space, leaf);
      auto two = here.async(part<M>, first + a, b - a, space + a, leaf);
      auto three = here.async(part<M>, first + b, c - b, space + b, leaf);
      auto four = here.async(part<M>, first + c, n - c, space + c, leaf);
      one.get(), two.get(), three.get(), four.get();
    }
    {
      typename M::scope here;
      auto low = here.async(merge<M>, first, a, first + a, b - a, space, leaf);
      auto high = here.async(merge<M>, first + b, c - b, first + c, n - c, space + b, leaf);
      low.get(), high.get();
    }
    merge<M>(space, b, space + b, n - b, first, leaf);
  }

  /// Merges two sorted parts. The middle of the longer one divides both.
  template <class M>
  static void merge(const number *a, std::size_t in_a, const number *b, std::size_t in_b,
                    number *to, std::size_t leaf) {
    if (in_a + in_b <= leaf) {
      std::merge(a, a + in_a, b, b + in_b, to);
      return;
    }
    if (in_a < in_b)
      std::swap(a, b), std::swap(in_a, in_b);
    const std::size_t half = in_a / 2;
    const auto below = static_cast<std::size_t>(std::lower_bound(b, b + in_b, a[half]) - b);
    typename M::scope here;
    auto low = here.async(merge<M>, a, half, b, below, to, leaf);
    auto high = here.async(merge<M>, a + half, in_a - half, b + below, in_b - below,
                           to + half + below, leaf);
    low.get(), high.get();
  }

  std::size_t m_leaf;
  std::vector<number> m_numbers, m_space;
  std::uint64_t m_sum = 0; // of a mix of each number
};

} // namespace inncabs
