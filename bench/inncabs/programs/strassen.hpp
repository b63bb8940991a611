// SPDX-License-Identifier: Apache-2.0
// strassen: multiplies matrices by Strassen's seven products, a task per product.
#pragma once

#include "../support/sizes.hpp"

#include <memory>
#include <string>
#include <vector>

namespace inncabs {

class strassen {
 public:
  static constexpr const char *k_name = "strassen";
  static constexpr parameter k_parameters[] = {
      {"log2n", 10, 6, 1, 14, "the binary logarithm of rows and columns"},
      {"leaf", 64, 16, 1, 4096, "rows of a product that is not divided"}};

  explicit strassen(const sizes &s);
  void reset();
  template <class M>
  void run() {
    const part a{m_a.data(), m_n}, b{m_b.data(), m_n};
    multiply<M>(a, b, m_c.data(), m_n, m_n, m_leaf);
  }
  void remember() {}
  [[nodiscard]] std::string check() const;

 private:
  /// Is a square part of a matrix, whose rows are `stride` apart.
  struct part {
    const double *first;
    std::size_t stride;

    [[nodiscard]] part quarter(std::size_t row, std::size_t column, std::size_t half) const {
      return {first + row * half * stride + column * half, stride};
    }
  };
  /// Is a factor of one of the seven products: a quarter, or the sum or difference of two.
  struct factor {
    part one, two;
    double sign; // of `two`; 0: `one` alone
  };
  using buffer = std::unique_ptr<double[]>;

  static void multiply_leaf(part a, part b, double *c, std::size_t c_stride, std::size_t n);
  static void add(factor f, double *to, std::size_t n);
  static void combine(const buffer *products, double *c, std::size_t c_stride, std::size_t half);

  template <class M>
  static buffer product(factor f, factor g, std::size_t n, std::size_t leaf) {
    buffer c(new double[n * n]);
    buffer left, right;
    if (f.sign != 0) {
      left.reset(new double[n * n]);
      add(f, left.get(), n);
      f.one = {left.get(), n};
    }
    if (g.sign != 0) {
      right.reset(new double[n * n]);
      add(g, right.get(), n);
      g.one = {right.get(), n};
    }
    multiply<M>(f.one, g.one, c.get(), n, n, leaf);
    return c;
  }

  template <class M>
  static void multiply(part a, part b, double *c, std::size_t c_stride, std::size_t n,
                       std::size_t leaf) {
    if (n <= leaf || n == 1)
      return multiply_leaf(a, b, c, c_stride, n);
    const std::size_t half = n / 2;
    const part a11 = a.quarter(0, 0, half), a12 = a.quarter(0, 1, half),
               a21 = a.quarter(1, 0, half), a22 = a.quarter(1, 1, half);
    const part b11 = b.quarter(0, 0, half), b12 = b.quarter(0, 1, half),
               b21 = b.quarter(1, 0, half), b22 = b.quarter(1, 1, half);
    const auto start = [&](typename M::scope &here, factor f, factor g) {
      return here.async(product<M>, f, g, half, leaf);
    };
    typename M::scope here;
    auto p1 = start(here, {a11, a22, 1}, {b11, b22, 1});
    auto p2 = start(here, {a21, a22, 1}, {b11, b11, 0});
    auto p3 = start(here, {a11, a11, 0}, {b12, b22, -1});
    auto p4 = start(here, {a22, a22, 0}, {b21, b11, -1});
    auto p5 = start(here, {a11, a12, 1}, {b22, b22, 0});
    auto p6 = start(here, {a21, a11, -1}, {b11, b12, 1});
    auto p7 = start(here, {a12, a22, -1}, {b21, b22, 1});
    const buffer products[] = {p1.get(), p2.get(), p3.get(), p4.get(),
                               p5.get(), p6.get(), p7.get()};
    combine(products, c, c_stride, half);
  }

  std::size_t m_n, m_leaf;
  std::vector<double> m_a, m_b, m_c;
};

} // namespace inncabs
