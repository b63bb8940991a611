// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: iterators over numbers.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>

namespace hpx::util {

/// Is the number that it points to.
template <class T>
class counting_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T *;
  using reference = T;

  counting_iterator() = default;
  explicit counting_iterator(T value) : m_value(value) {}
  T operator*() const { return m_value; }
  T operator[](difference_type n) const { return *(*this + n); }
  counting_iterator &operator++() { return *this += 1; }
  counting_iterator &operator--() { return *this -= 1; }
  counting_iterator operator++(int) {
    counting_iterator before = *this;
    ++*this;
    return before;
  }
  counting_iterator operator--(int) {
    counting_iterator before = *this;
    --*this;
    return before;
  }
  counting_iterator &operator+=(difference_type n) {
    m_value = static_cast<T>(m_value + static_cast<T>(n));
    return *this;
  }
  counting_iterator &operator-=(difference_type n) { return *this += -n; }
  friend counting_iterator operator+(counting_iterator it, difference_type n) { return it += n; }
  friend counting_iterator operator+(difference_type n, counting_iterator it) { return it += n; }
  friend counting_iterator operator-(counting_iterator it, difference_type n) { return it -= n; }
  friend difference_type operator-(counting_iterator a, counting_iterator b) {
    return static_cast<difference_type>(a.m_value - b.m_value);
  }
  friend auto operator<=>(const counting_iterator &, const counting_iterator &) = default;

 private:
  T m_value{};
};
template <class T>
counting_iterator<T> make_counting_iterator(T value) {
  return counting_iterator<T>(value);
}

/// Is a range of two iterators.
template <class I>
class iterator_range {
 public:
  iterator_range(I first, I last) : m_first(first), m_last(last) {}
  [[nodiscard]] I begin() const { return m_first; }
  [[nodiscard]] I end() const { return m_last; }
  [[nodiscard]] std::ptrdiff_t size() const { return m_last - m_first; }

 private:
  I m_first, m_last;
};
/// Returns the numbers from `first` on, without `last`; from 0 on, as many as `n`.
template <class T>
iterator_range<counting_iterator<T>> counting_shape(T first, T last) {
  return {counting_iterator<T>(first), counting_iterator<T>(last)};
}
template <class T>
iterator_range<counting_iterator<T>> counting_shape(T count) {
  return counting_shape(T{}, count);
}

} // namespace hpx::util
