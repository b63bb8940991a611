// SPDX-License-Identifier: Apache-2.0
#include "weft_lpf/reads.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace weft_lpf {

namespace {

bool overlap(const std::vector<long_read> &reads) {
  std::vector<const long_read *> sorted;
  sorted.reserve(reads.size());
  for (const long_read &r : reads)
    sorted.push_back(&r);
  std::sort(sorted.begin(), sorted.end(),
            [](const long_read *a, const long_read *b) { return a->to < b->to; });
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i - 1]->to + sorted[i - 1]->bytes > sorted[i]->to)
      return true;
  return false;
}

/// Holds bytes that have a writer, as intervals that neither overlap nor touch.
class taken_bytes {
 public:
  /// Takes [begin, end), and calls `f(begin, end)` for each part that was not taken.
  template <class F>
  void take(std::byte *begin, std::byte *end, F f) {
    auto at = m_intervals.upper_bound(begin);
    if (at != m_intervals.begin() && std::prev(at)->second >= begin)
      --at;
    std::byte *first = begin, *last = end, *from = begin;
    while (at != m_intervals.end() && at->first <= end) {
      if (from < at->first)
        f(from, std::min(at->first, end));
      first = std::min(first, at->first);
      last = std::max(last, at->second);
      from = std::max(from, at->second);
      at = m_intervals.erase(at);
    }
    if (from < end)
      f(from, end);
    m_intervals.emplace(first, last);
  }

 private:
  std::map<std::byte *, std::byte *> m_intervals;
};

} // namespace

void make_disjoint(std::vector<long_read> &reads) {
  if (!overlap(reads))
    return;
  std::vector<long_read> parts;
  taken_bytes taken;
  for (const long_read &r : reads)
    taken.take(r.to, r.to + r.bytes, [&](std::byte *begin, std::byte *end) {
      parts.push_back({begin, static_cast<std::size_t>(end - begin), r.from, r.key,
                       r.offset + static_cast<std::uint64_t>(begin - r.to)});
    });
  reads = std::move(parts);
}

} // namespace weft_lpf
