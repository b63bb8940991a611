// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace inncabs {

/// Holds the futures of up to `most` calls. A future is made where it stays, because those of some
/// models cannot move: the task writes its result into them.
template <class Model, class T>
class future_list {
 public:
  using future = typename Model::template future<T>;
  using scope = typename Model::scope;

  explicit future_list(std::size_t most)
      : m_most(most), m_first(std::allocator<future>().allocate(most)) {}
  future_list(const future_list &) = delete;
  future_list &operator=(const future_list &) = delete;
  ~future_list() {
    std::destroy_n(m_first, m_count);
    std::allocator<future>().deallocate(m_first, m_most);
  }

  template <class F, class... Arguments>
  void async(scope &here, F f, Arguments... arguments) {
    new (static_cast<void *>(m_first + m_count)) future(here.async(f, std::move(arguments)...));
    ++m_count;
  }
  [[nodiscard]] std::size_t size() const noexcept { return m_count; }
  future *begin() noexcept { return m_first; }
  future *end() noexcept { return m_first + m_count; }
  /// Waits for all calls that return nothing.
  void get() {
    for (future &f : *this)
      f.get();
  }

 private:
  std::size_t m_most, m_count = 0;
  future *m_first;
};

} // namespace inncabs
