// SPDX-License-Identifier: Apache-2.0
// The dense routines of the demo, each implementation that runs here against the textbook's loops.
#include "examples/cholesky/kernels/kernels.hpp"

#include "examples/cholesky/error.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace {

using namespace demo;

constexpr double k_beside =
    -77; // what lies between the columns of a matrix, and no routine may touch

/// A matrix with a gap of three elements below each column.
struct matrix {
  int rows, columns, ld;
  std::vector<double> data;
  matrix(int m, int n)
      : rows(m), columns(n), ld(m + 3), data(static_cast<std::size_t>(ld) * n + 1, k_beside) {}
  double &operator()(int i, int j) { return data[static_cast<std::size_t>(j) * ld + i]; }
  double operator()(int i, int j) const { return data[static_cast<std::size_t>(j) * ld + i]; }
  [[nodiscard]] double at(transposed t, int i, int j) const {
    return t == transposed::yes ? (*this)(j, i) : (*this)(i, j);
  }
  double *pointer() { return data.data(); }
};

std::mt19937 engine;

matrix random_matrix(int m, int n) {
  std::uniform_real_distribution<double> values(-1, 1);
  matrix a(m, n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i)
      a(i, j) = values(engine);
  return a;
}

/// A lower triangle whose solves do not blow up; above the diagonal lies what no routine may read.
matrix random_triangle(int n) {
  matrix l = random_matrix(n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i)
      l(i, j) = std::numeric_limits<double>::quiet_NaN();
    for (int i = j; i < n; ++i)
      l(i, j) = i == j ? 2 + l(i, j) : l(i, j) / n;
  }
  return l;
}

void expect_equal(const matrix &is, const matrix &should) {
  for (int j = 0; j < is.columns; ++j) {
    for (int i = 0; i < is.rows; ++i)
      ASSERT_NEAR(is(i, j), should(i, j), 1e-11 * (1 + std::fabs(should(i, j))))
          << "row " << i << ", column " << j;
    for (int i = is.rows; i < is.ld; ++i)
      ASSERT_EQ(is(i, j), k_beside) << "behind column " << j;
  }
}

const int k_sizes[] = {0, 1, 2, 5, 8, 23, 24, 25, 49, 95, 97, 200};

class demo_kernels : public testing::TestWithParam<const kernel_set *> {
 protected:
  const kernel_set &k = *GetParam();
};

matrix product(transposed ta, transposed tb, double alpha, const matrix &a, const matrix &b,
               int depth, double beta, matrix c) {
  for (int j = 0; j < c.columns; ++j)
    for (int i = 0; i < c.rows; ++i) {
      double sum = 0;
      for (int p = 0; p < depth; ++p)
        sum += a.at(ta, i, p) * b.at(tb, p, j);
      c(i, j) = alpha * sum + (beta == 0 ? 0 : beta * c(i, j));
    }
  return c;
}

TEST_P(demo_kernels, multiply_in_every_form) {
  for (int m : {1, 7, 48, 100})
    for (int n : {1, 3, 9, 97})
      for (int depth : {0, 1, 65, 193})
        for (transposed ta : {transposed::no, transposed::yes})
          for (transposed tb : {transposed::no, transposed::yes})
            for (double beta : {0.0, 1.0, -0.5}) {
              matrix a = ta == transposed::yes ? random_matrix(depth, m) : random_matrix(m, depth);
              matrix b = tb == transposed::yes ? random_matrix(n, depth) : random_matrix(depth, n),
                     c = random_matrix(m, n);
              const matrix should = product(ta, tb, -1.5, a, b, depth, beta, c);
              k.gemm(ta, tb, m, n, depth, -1.5, a.pointer(), a.ld, b.pointer(), b.ld, beta,
                     c.pointer(), c.ld);
              expect_equal(c, should);
            }
}

TEST_P(demo_kernels, with_beta_zero_what_was_there_does_not_count) {
  matrix a = random_matrix(5, 5), b = random_matrix(5, 5), c = random_matrix(5, 5);
  c(2, 3) = std::numeric_limits<double>::quiet_NaN();
  k.gemm(transposed::no, transposed::no, 5, 5, 5, 1, a.pointer(), a.ld, b.pointer(), b.ld, 0,
         c.pointer(), c.ld);
  expect_equal(c, product(transposed::no, transposed::no, 1, a, b, 5, 0, c));
}

TEST_P(demo_kernels, update_a_lower_triangle_alone) {
  for (int n : k_sizes)
    for (int depth : {0, 1, 31, 200}) {
      matrix a = random_matrix(n, depth), c = random_matrix(n, n),
             should = product(transposed::no, transposed::yes, -1, a, a, depth, 1, c);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < j; ++i)
          should(i, j) = c(i, j);
      k.syrk(n, depth, a.pointer(), a.ld, c.pointer(), c.ld);
      expect_equal(c, should);
    }
}

TEST_P(demo_kernels, solve_from_the_right) {
  for (int n : k_sizes)
    for (int m : {1, 30, 101}) {
      matrix l = random_triangle(n), x = random_matrix(m, n), b(m, n);
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          b(i, j) = 0;
          for (int p = 0; p <= j; ++p)
            b(i, j) += x(i, p) * l(j, p);
        }
      k.trsm_right(m, n, l.pointer(), l.ld, b.pointer(), b.ld);
      expect_equal(b, x);
    }
}

TEST_P(demo_kernels, solve_from_the_left) {
  for (transposed t : {transposed::no, transposed::yes})
    for (int n : k_sizes) {
      matrix l = random_triangle(n), x = random_matrix(n, 10), b(n, 10);
      for (int j = 0; j < 10; ++j)
        for (int i = 0; i < n; ++i) {
          b(i, j) = 0;
          for (int p = t == transposed::yes ? i : 0; p <= (t == transposed::yes ? n - 1 : i); ++p)
            b(i, j) += l.at(t, i, p) * x(p, j);
        }
      k.trsm_left(t, n, 10, l.pointer(), l.ld, b.pointer(), b.ld);
      expect_equal(b, x);
    }
}

/// L L^T, and NaN above its diagonal.
matrix square_of(const matrix &l) {
  matrix a(l.rows, l.rows);
  for (int j = 0; j < l.rows; ++j)
    for (int i = 0; i < l.rows; ++i) {
      a(i, j) = i < j ? std::numeric_limits<double>::quiet_NaN() : 0;
      for (int p = 0; p <= j && i >= j; ++p)
        a(i, j) += l(i, p) * l(j, p);
    }
  return a;
}

TEST_P(demo_kernels, factorise) {
  for (int n : k_sizes) {
    const matrix l = random_triangle(n);
    matrix a = square_of(l);
    ASSERT_EQ(k.potrf(n, a.pointer(), a.ld), 0) << "order " << n;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i)
        if (i < j)
          ASSERT_TRUE(std::isnan(a(i, j))) << "above the diagonal";
        else
          ASSERT_NEAR(a(i, j), l(i, j), 1e-10)
              << "order " << n << ", row " << i << ", column " << j;
  }
}

TEST_P(demo_kernels, name_the_pivot_that_is_not_positive) {
  for (int bad : {0, 1, 23, 24, 60})
    for (double pivot : {0.0, -3.0}) {
      matrix l = random_triangle(61), a = square_of(l);
      double above = 0; // what the columns before take from this pivot
      for (int p = 0; p < bad; ++p)
        above += l(bad, p) * l(bad, p);
      a(bad, bad) = above + pivot - (pivot == 0 ? 1e-12 : 0);
      ASSERT_EQ(k.potrf(61, a.pointer(), a.ld), bad + 1) << "pivot " << pivot;
    }
}

TEST_P(demo_kernels, multiply_vectors) {
  for (int n : k_sizes) {
    matrix x = random_matrix(n, 1), y = random_matrix(n, 1);
    double should = 0;
    for (int i = 0; i < n; ++i)
      should += x(i, 0) * y(i, 0);
    ASSERT_NEAR(k.dot(n, x.pointer(), y.pointer()), should, 1e-12 * (1 + n));
    for (transposed t : {transposed::no, transposed::yes}) {
      matrix l = random_triangle(n), product_of_l(n, 1);
      for (int i = 0; i < n; ++i) {
        product_of_l(i, 0) = 0;
        for (int p = t == transposed::yes ? i : 0; p <= (t == transposed::yes ? n - 1 : i); ++p)
          product_of_l(i, 0) += l.at(t, i, p) * x(p, 0);
      }
      matrix z = x;
      k.trmv(t, n, l.pointer(), l.ld, z.pointer());
      expect_equal(z, product_of_l);

      matrix a = random_matrix(n, 13), from = random_matrix(t == transposed::yes ? n : 13, 1),
             to = random_matrix(t == transposed::yes ? 13 : n, 1);
      const matrix sum = product(t, transposed::no, 1, a, from, from.rows, 1, to);
      k.gemv(t, n, 13, a.pointer(), a.ld, from.pointer(), to.pointer());
      expect_equal(to, sum);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(each, demo_kernels, testing::ValuesIn(available_kernels()),
                         [](const auto &param) { return std::string(param.param->name); });

TEST(demo_kernels_choice, goes_by_name) {
  for (const kernel_set *set : available_kernels()) {
    choose_kernels(set->name);
    EXPECT_EQ(&kernels(), set);
  }
  EXPECT_STREQ(available_kernels().back()->name, "baseline");
}

TEST(demo_kernels_choice, refuses_other_names_and_lists_those_that_exist) {
  try {
    choose_kernels("mkl");
    FAIL() << "accepted";
  } catch (const input_error &e) {
    EXPECT_NE(std::string(e.what()).find("baseline, not 'mkl'"), std::string::npos) << e.what();
  }
}

} // namespace
