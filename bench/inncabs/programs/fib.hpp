// SPDX-License-Identifier: Apache-2.0
// fib: the recursive definition of Fibonacci's numbers, a task per call.
#pragma once

#include "../support/sizes.hpp"

#include <string>

namespace inncabs {

class fib {
 public:
  static constexpr const char *k_name = "fib";
  static constexpr parameter k_parameters[] = {{"n", 25, 12, 1, 60, "the argument"}};

  explicit fib(const sizes &s) : m_n(s.integer("n")) {}
  void reset() { m_value = -1; }
  template <class M>
  void run() {
    m_value = value<M>(m_n);
  }
  void remember() {}
  [[nodiscard]] std::string check() const {
    long a = 0, b = 1;
    for (int i = 0; i < m_n; ++i)
      b = std::exchange(a, b) + b;
    return m_value == a ? "" : "fib returned " + std::to_string(m_value);
  }

 private:
  // Not inlined: a task is one call in the serial run, too.
  template <class M>
  [[gnu::noinline]] static long value(int n) {
    if (n < 2)
      return n;
    typename M::scope here;
    auto one = here.async(value<M>, n - 1);
    auto two = here.async(value<M>, n - 2);
    return one.get() + two.get();
  }

  int m_n;
  long m_value = -1;
};

} // namespace inncabs
