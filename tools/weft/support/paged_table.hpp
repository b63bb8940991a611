// SPDX-License-Identifier: Apache-2.0
// Something for each of some tasks, by their numbers, which are dense over a while: pages of 4096 that go when nothing is left in them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace weft_tool {

template <class T>
class paged_table {
 public:
  /// T{} where there is none.
  [[nodiscard]] T get(std::uint32_t i) const noexcept {
    const page *const p = i / k_page < m_pages.size() ? m_pages[i / k_page].get() : nullptr;
    return p ? p->items[i % k_page] : T{};
  }
  /// Not T{}.
  void put(std::uint32_t i, T value) {
    page &p = page_of(i);
    T &place = p.items[i % k_page];
    p.used += place == T{};
    place = value;
  }
  /// What was there, and is no more.
  T take(std::uint32_t i) noexcept {
    page *const p = i / k_page < m_pages.size() ? m_pages[i / k_page].get() : nullptr;
    if (!p || p->items[i % k_page] == T{})
      return T{};
    const T value = std::exchange(p->items[i % k_page], T{});
    if (--p->used == 0)
      m_pages[i / k_page].reset();
    return value;
  }

  /// To be written to; it stays.
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
