// SPDX-License-Identifier: Apache-2.0
// alignment: aligns each two of some protein sequences, a task per pair: global alignment with
// affine costs of gaps (Gotoh), from which the identical residues are counted.
#pragma once

#include "../support/future_list.hpp"
#include "../support/sizes.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace inncabs {

class alignment {
 public:
  static constexpr const char *k_name = "alignment";
  static constexpr parameter k_parameters[] = {{"sequences", 20, 5, 2, 1000, "how many there are"},
                                               {"length", 750, 40, 1, 20'000, "their mean length"}};

  explicit alignment(const sizes &s);
  void reset() { m_found.assign(m_pairs, {}); }
  template <class M>
  void run() {
    typename M::scope here;
    future_list<M, void> pairs(m_pairs);
    result *to = m_found.data();
    for (std::size_t i = 0; i < m_sequences.size(); ++i)
      for (std::size_t j = i + 1; j < m_sequences.size(); ++j)
        pairs.async(here, align, &m_sequences[i], &m_sequences[j], to++);
    pairs.get();
  }
  void remember() { m_expected = m_found; }
  [[nodiscard]] std::string check() const;

 private:
  using sequence = std::vector<std::uint8_t>; // residues, from 0 to 19

  struct result {
    int score = 0, identical = 0, columns = 0;
    int scored = 0; // of the columns, counted one by one
    bool operator==(const result &) const = default;
  };

  static void align(const sequence *a, const sequence *b, result *to);
  static int best_score(const sequence &a, const sequence &b);

  std::vector<sequence> m_sequences;
  std::size_t m_pairs;
  std::vector<result> m_found, m_expected;
};

} // namespace inncabs
