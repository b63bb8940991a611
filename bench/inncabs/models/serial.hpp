// SPDX-License-Identifier: Apache-2.0
// The calls run at once, in place: the program without its tasks. It counts them.
#pragma once

#include <type_traits>
#include <utility>

namespace inncabs {

/// Is a model for the oracle, and the base of the model of the program without tasks.
struct serial {
  template <class T>
  class future {
   public:
    template <class F>
    explicit future(F f) : m_value(f()) {}
    T get() { return std::move(m_value); }

   private:
    T m_value;
  };

  struct scope {
    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      ++tasks;
      return future<std::invoke_result_t<F, Arguments...>>(
          [&] { return f(std::move(arguments)...); });
    }
  };

  struct mutex {
    void lock() noexcept {}
    void unlock() noexcept {}
  };

  static inline long tasks = 0;
};

template <>
class serial::future<void> {
 public:
  template <class F>
  explicit future(F f) {
    f();
  }
  void get() noexcept {}
};

} // namespace inncabs
