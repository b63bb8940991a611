// SPDX-License-Identifier: Apache-2.0
// Doubly linked lists of objects that stand in several at once. Guarded by whoever owns the list.
#pragma once

namespace weft_omp {

template <class T>
struct link {
  T *next = nullptr;
  T *previous = nullptr;
  bool in = false;
};

template <class T, link<T> T::*L>
class list {
public:
  [[nodiscard]] T *first() const noexcept { return m_first; }
  [[nodiscard]] bool empty() const noexcept { return !m_first; }

  /// In front of `where`; at the end when that is null.
  void insert_before(T *where, T &x) noexcept {
    link<T> &l = x.*L;
    l.next = where;
    l.previous = where ? (where->*L).previous : m_last;
    (l.previous ? (l.previous->*L).next : m_first) = &x;
    (where ? (where->*L).previous : m_last) = &x;
    l.in = true;
  }
  void push_back(T &x) noexcept { insert_before(nullptr, x); }
  void push_front(T &x) noexcept { insert_before(m_first, x); }

  void remove(T &x) noexcept {
    link<T> &l = x.*L;
    if (!l.in)
      return;
    (l.previous ? (l.previous->*L).next : m_first) = l.next;
    (l.next ? (l.next->*L).previous : m_last) = l.previous;
    l = {};
  }
  T *pop_front() noexcept {
    T *x = m_first;
    if (x)
      remove(*x);
    return x;
  }

private:
  T *m_first = nullptr;
  T *m_last = nullptr;
};

} // namespace weft_omp
