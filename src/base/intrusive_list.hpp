// SPDX-License-Identifier: Apache-2.0
// A FIFO whose links are in its elements. Not thread-safe. Owns nothing. An element is in one queue
// at a
// time.
#pragma once

#include <utility>

namespace weft::inline v0 {
namespace rt {

/// Says where the link is: in the member `next`, of type T* or of a base class of T.
struct link_next {
  template <class T>
  static T *get(const T &item) noexcept {
    return static_cast<T *>(item.next);
  }
  template <class T>
  static void set(T &item, T *next) noexcept {
    item.next = next;
  }
};

/// Says where a link of another name is: link_member<&task::next_ready>.
template <auto Member>
struct link_member {
  template <class T>
  static T *get(const T &item) noexcept {
    return static_cast<T *>(item.*Member);
  }
  template <class T>
  static void set(T &item, T *next) noexcept {
    item.*Member = next;
  }
};

template <class T, class Link = link_next>
class intrusive_queue {
 public:
  intrusive_queue() noexcept = default;
  intrusive_queue(intrusive_queue &&other) noexcept
      : m_first(std::exchange(other.m_first, nullptr)),
        m_last(std::exchange(other.m_last, nullptr)) {}
  intrusive_queue &operator=(intrusive_queue &&other) noexcept {
    m_first = std::exchange(other.m_first, nullptr);
    m_last = std::exchange(other.m_last, nullptr);
    return *this;
  }

  [[nodiscard]] bool empty() const noexcept { return m_first == nullptr; }
  [[nodiscard]] T *front() const noexcept { return m_first; }

  void push_back(T *item) noexcept {
    Link::template set<T>(*item, nullptr);
    if (m_last != nullptr)
      Link::template set<T>(*m_last, item);
    else
      m_first = item;
    m_last = item;
  }

  void push_front(T *item) noexcept {
    Link::template set<T>(*item, m_first);
    m_first = item;
    if (m_last == nullptr)
      m_last = item;
  }

  /// Takes out the oldest element and clears its link; returns nullptr if there is none.
  T *pop_front() noexcept {
    T *t = m_first;
    if (t == nullptr)
      return nullptr;
    m_first = Link::template get<T>(*t);
    if (m_first == nullptr)
      m_last = nullptr;
    Link::template set<T>(*t, nullptr);
    return t;
  }

  /// Appends all of `other`, which is empty afterwards.
  void splice(intrusive_queue &other) noexcept {
    if (other.empty())
      return;
    if (m_last != nullptr)
      Link::template set<T>(*m_last, other.m_first);
    else
      m_first = other.m_first;
    m_last = std::exchange(other.m_last, nullptr);
    other.m_first = nullptr;
  }

 private:
  T *m_first = nullptr;
  T *m_last = nullptr;
};

} // namespace rt
} // namespace weft::inline v0
