// SPDX-License-Identifier: Apache-2.0
#include "alignment.hpp"

#include "../support/random.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

namespace inncabs {

namespace {

constexpr int k_residues = 20;
constexpr int k_open = 10, k_extend = 1; // a gap of n residues costs k_open + n * k_extend
constexpr int k_never = std::numeric_limits<int>::min() / 2;

/// Holds what a residue in the place of another one scores: symmetric, best for the same one.
struct score_table {
  std::array<std::array<int, k_residues>, k_residues> at;
  score_table() {
    random_stream random(23);
    for (std::size_t i = 0; i < k_residues; ++i)
      for (std::size_t j = 0; j <= i; ++j)
        at[i][j] = at[j][i] =
            i == j ? 4 + static_cast<int>(random.below(6)) : static_cast<int>(random.below(7)) - 4;
  }
};
const score_table k_scores;

// What a cell of the table was reached from.
enum : std::uint8_t {
  k_diagonal = 0,
  k_from_a = 1,
  k_from_b = 2,
  k_state = 3,
  k_a_opens = 4,
  k_b_opens = 8
};

} // namespace

// Half of the sequences descend from one ancestor, so pairs differ in how much they share.
alignment::alignment(const sizes &s) : m_sequences(s.count("sequences")) {
  const auto length = static_cast<std::uint32_t>(s["length"]);
  random_stream random(29);
  const auto residue = [&] { return static_cast<std::uint8_t>(random.below(k_residues)); };
  sequence ancestor;
  for (std::uint32_t i = 0; i < length; ++i)
    ancestor.push_back(residue());
  for (std::size_t k = 0; k < m_sequences.size(); ++k) {
    sequence &made = m_sequences[k];
    for (const std::uint8_t r : ancestor) {
      const std::uint32_t event = random.below(100);
      if (event < 4) // lost
        continue;
      made.push_back(k % 2 == 0 && event >= 30 ? r : residue());
      if (event >= 96)
        made.push_back(residue());
    }
    if (made.empty())
      made.push_back(residue());
  }
  m_pairs = m_sequences.size() * (m_sequences.size() - 1) / 2;
}

void alignment::align(const sequence *first, const sequence *second, result *to) {
  const sequence &a = *first, &b = *second;
  const std::size_t columns = b.size() + 1;
  const std::unique_ptr<std::uint8_t[]> trace(new std::uint8_t[(a.size() + 1) * columns]);
  // Scores of the row above: of any alignment, and of one that ends with a residue of `a` alone.
  std::vector<int> best(columns), ends_a(columns, k_never);
  best[0] = 0;
  trace[0] = k_diagonal;
  for (std::size_t j = 1; j < columns; ++j) {
    best[j] = -k_open - k_extend * static_cast<int>(j);
    trace[j] = static_cast<std::uint8_t>(k_from_b | (j == 1 ? k_b_opens : 0));
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    const auto &scores = k_scores.at[a[i - 1]];
    std::uint8_t *const row = trace.get() + i * columns;
    int diagonal = best[0], ends_b = k_never;
    best[0] = ends_a[0] = -k_open - k_extend * static_cast<int>(i);
    row[0] = static_cast<std::uint8_t>(k_from_a | (i == 1 ? k_a_opens : 0));
    for (std::size_t j = 1; j < columns; ++j) {
      const int open_a = best[j] - k_open - k_extend, longer_a = ends_a[j] - k_extend;
      const int open_b = best[j - 1] - k_open - k_extend, longer_b = ends_b - k_extend;
      ends_a[j] = std::max(open_a, longer_a);
      ends_b = std::max(open_b, longer_b);
      const int both = diagonal + scores[b[j - 1]];
      const int value = std::max({both, ends_a[j], ends_b});
      row[j] = static_cast<std::uint8_t>((value == both        ? k_diagonal
                                          : value == ends_a[j] ? k_from_a
                                                               : k_from_b) |
                                         (open_a >= longer_a ? k_a_opens : 0) |
                                         (open_b >= longer_b ? k_b_opens : 0));
      diagonal = best[j];
      best[j] = value;
    }
  }
  // The way back, from the last cell to the first, counts the columns and scores them anew.
  result r;
  r.score = best[b.size()];
  std::uint8_t gap = k_diagonal; // in which the way is
  for (std::size_t i = a.size(), j = b.size(); i || j; ++r.columns) {
    const std::uint8_t cell = trace[i * columns + j];
    if (gap == k_diagonal)
      gap = cell & k_state;
    if (gap == k_diagonal) {
      --i, --j;
      r.identical += a[i] == b[j];
      r.scored += k_scores.at[a[i]][b[j]];
      continue;
    }
    const bool opens = cell & (gap == k_from_a ? k_a_opens : k_b_opens);
    r.scored -= k_extend + (opens ? k_open : 0);
    --(gap == k_from_a ? i : j);
    if (opens)
      gap = k_diagonal;
  }
  *to = r;
}

/// Returns the best score by another way: each cell looks at all lengths of gaps.
int alignment::best_score(const sequence &a, const sequence &b) {
  const std::size_t columns = b.size() + 1;
  std::vector<int> best((a.size() + 1) * columns, k_never);
  const auto gap = [](std::size_t length) { return k_open + k_extend * static_cast<int>(length); };
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      int &value = best[i * columns + j];
      if (i == 0 && j == 0)
        value = 0;
      if (i && j)
        value = std::max(value, best[(i - 1) * columns + j - 1] + k_scores.at[a[i - 1]][b[j - 1]]);
      for (std::size_t k = 1; k <= i; ++k)
        value = std::max(value, best[(i - k) * columns + j] - gap(k));
      for (std::size_t k = 1; k <= j; ++k)
        value = std::max(value, best[i * columns + j - k] - gap(k));
    }
  return best[a.size() * columns + b.size()];
}

std::string alignment::check() const {
  for (std::size_t i = 0; i < m_pairs; ++i) {
    if (m_found[i] != m_expected[i])
      return "alignment differs from the serial run in pair " + std::to_string(i);
    if (m_found[i].score != m_found[i].scored)
      return "alignment scores its columns otherwise in pair " + std::to_string(i);
  }
  const auto head = [this](std::size_t i) {
    const sequence &s = m_sequences[i];
    return sequence(s.begin(),
                    s.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(s.size(), 60)));
  };
  for (std::size_t i = 0; i + 1 < m_sequences.size(); ++i) {
    const sequence a = head(i), b = head(i + 1);
    result r;
    align(&a, &b, &r);
    if (r.score != best_score(a, b))
      return "alignment misses the best score of the sequences from " + std::to_string(i);
  }
  return "";
}

} // namespace inncabs
