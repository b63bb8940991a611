// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <utility>

namespace inncabs {

/// Keeps the result of a call where its future is, for models whose tasks return nothing.
template <class T>
class slot {
 public:
  template <class F>
  void fill(F &f) {
    m_value.emplace(f());
  }
  T take() { return std::move(*m_value); }

 private:
  std::optional<T> m_value;
};

template <>
class slot<void> {
 public:
  template <class F>
  void fill(F &f) {
    f();
  }
  void take() noexcept {}
};

} // namespace inncabs
