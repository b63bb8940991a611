// SPDX-License-Identifier: Apache-2.0
// Holds a value for each of some tasks, by their numbers, which are dense over a while: pages of
// 4096, freed when nothing is left in them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace weft_tool {

template <class T>
class paged_table {
 public:
  /// Returns the value of a task; T{} for none.
  [[nodiscard]] T get(std::uint32_t i) const noexcept {
    const page *const p = i / k_page < m_pages.size() ? m_pages[i / k_page].get() : nullptr;
    return p ? p->items[i % k_page] : T{};
  }
  /// Sets a value, which must not be T{}.
  void put(std::uint32_t i, T value) {
    page &p = page_of(i);
    T &place = p.items[i % k_page];
    p.used += place == T{};
    place = value;
  }
  /// Removes a value and returns it.
  T take(std::uint32_t i) noexcept {
    page *const p = i / k_page < m_pages.size() ? m_pages[i / k_page].get() : nullptr;
    if (!p || p->items[i % k_page] == T{})
      return T{};
    const T value = std::exchange(p->items[i % k_page], T{});
    if (--p->used == 0)
      m_pages[i / k_page].reset();
    return value;
  }

  /// Returns a place to write to, which stays.
  [[nodiscard]] T &at(std::uint32_t i) { return page_of(i).items[i % k_page]; }
  template <class F>
  void for_each(F f) const {
    for (std::size_t p = 0; p < m_pages.size(); ++p)
      for (std::uint32_t i = 0; m_pages[p] && i < k_page; ++i)
        f(static_cast<std::uint32_t>(p * k_page + i), m_pages[p]->items[i]);
  }

 private:
  static constexpr std::uint32_t k_page = 4096;
  struct page {
    std::uint32_t used = 0;
    T items[k_page]{};
  };
  page &page_of(std::uint32_t i) {
    if (i / k_page >= m_pages.size())
      m_pages.resize(i / k_page + 1);
    auto &p = m_pages[i / k_page];
    if (!p)
      p = std::make_unique<page>();
    return *p;
  }
  std::vector<std::unique_ptr<page>> m_pages;
};

} // namespace weft_tool
