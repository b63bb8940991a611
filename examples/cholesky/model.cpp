// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include "factor.hpp"
#include "kernels/kernels.hpp"

#include <cmath>
#include <memory>

namespace demo {

samples::samples(const std::vector<const image *> &images) {
  for (const image *i : images) {
    pixels.insert(pixels.end(), i->pixels.begin(), i->pixels.end());
    squares.push_back(kernels().dot(k_pixels, i->pixels.data(), i->pixels.data()));
    digits.push_back(i->digit);
  }
}

namespace {

/// Returns what the model should answer for a digit: 1 for its own class, -1 for the others.
double target(int digit, int c) {
  return digit == c ? 1.0 : -1.0;
}

/// Computes kernel(a[i], b[j]) for `rows` samples of a and `columns` of b.
void fill_kernel(const samples &a, int i0, int rows, const samples &b, int j0, int columns, double gamma,
                 double *out, int stride) {
  kernels().gemm(transposed::yes, transposed::no, rows, columns, k_pixels, 1.0, &a.pixels[i0 * k_pixels], k_pixels, &b.pixels[j0 * k_pixels],
                 k_pixels, 0.0, out, stride);
  for (int j = 0; j < columns; ++j) {
    double *column = out + j * stride;
    const double square = b.squares[j0 + j];
    for (int i = 0; i < rows; ++i)
      column[i] = std::exp(-gamma * (a.squares[i0 + i] + square - 2 * column[i]));
  }
}

void fill_tile(const samples &train, parameters p, const tiles &kernel, int i, int j) {
  const blocking &b = kernel.blocks();
  double *tile = &kernel(i, j);
  fill_kernel(train, b.first(i), b.rows(i), train, b.first(j), b.rows(j), p.gamma, tile, b.tile);
  if (i == j)
    for (int d = 0; d < b.rows(i); ++d)
      tile[d * (b.tile + 1)] += p.lambda;
}

void fill_targets(const samples &train, const panel &targets, int block) {
  const blocking &b = targets.blocks();
  double *out = &targets(block);
  for (int c = 0; c < k_classes; ++c)
    for (int i = 0; i < b.rows(block); ++i)
      out[c * b.tile + i] = target(train.digits[b.first(block) + i], c);
}

std::vector<weft::access> reads(const panel &p) {
  std::vector<weft::access> list;
  for (int i = 0; i < p.blocks().count(); ++i)
    list.push_back(weft::in(p(i)));
  return list;
}

} // namespace

void model::learn(work &w, const samples &train, parameters p, int tile) {
  m_train = &train;
  m_parameters = p;
  const blocking b{train.count(), tile};
  m_kernel.reset(b);
  m_weights.reset(b, k_classes);
  for (int j = 0; j < b.count(); ++j)
    for (int i = j; i < b.count(); ++i)
      w.spawn(
          "kernel", [this, i, j] { fill_tile(*m_train, m_parameters, m_kernel, i, j); },
          weft::out(m_kernel(i, j)));
  for (int i = 0; i < b.count(); ++i)
    w.spawn("targets", [this, i] { fill_targets(*m_train, m_weights, i); }, weft::out(m_weights(i)));
  factorise(w, m_kernel);
  solve(w, m_kernel, m_weights);
}

void model::test(work &w, const samples &test, std::atomic<int> &misread) const {
  const std::vector<weft::access> weights = reads(m_weights);
  const blocking b{test.count(), m_kernel.blocks().tile};
  for (int i = 0; i < b.count(); ++i)
    w.spawn("test", [this, &test, &misread, i] { test_block(test, i, misread); }, weft::accesses(weights));
}

void model::residual(work &w, std::vector<double> &squares) const {
  const std::vector<weft::access> weights = reads(m_weights);
  const int n = m_weights.blocks().count();
  squares.assign(n, 0.0);
  for (int i = 0; i < n; ++i)
    w.spawn("residual", [this, &squares, i] { squares[i] = residual_of_block(i); }, weft::accesses(weights));
}

/// Computes scores = kernel(test, train) weights, one column per class.
void model::predict(const samples &test, int first, int count, double *scores) const {
  const blocking &b = m_kernel.blocks();
  buffer kernel;
  kernel.reserve(count * b.tile);
  for (int j = 0; j < b.count(); ++j) {
    fill_kernel(test, first, count, *m_train, b.first(j), b.rows(j), m_parameters.gamma, &kernel[0], count);
    kernels().gemm(transposed::no, transposed::no, count, k_classes, b.rows(j), 1.0, &kernel[0], count, &m_weights(j), b.tile, j == 0 ? 0.0 : 1.0,
                   scores, count);
  }
}

void model::test_block(const samples &test, int block, std::atomic<int> &misread) const {
  const blocking b{test.count(), m_kernel.blocks().tile};
  const int n = b.rows(block);
  std::vector<double> scores(n * k_classes);
  predict(test, b.first(block), n, scores.data());
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    int best = 0;
    for (int c = 1; c < k_classes; ++c)
      if (scores[c * n + i] > scores[best * n + i])
        best = c;
    wrong += best != test.digits[b.first(block) + i];
  }
  misread += wrong;
}

double model::residual_of_block(int block) const {
  const blocking &b = m_weights.blocks();
  const int n = b.rows(block);
  std::vector<double> scores(n * k_classes);
  predict(*m_train, b.first(block), n, scores.data());
  const double *weights = &m_weights(block);
  double sum = 0;
  for (int c = 0; c < k_classes; ++c)
    for (int i = 0; i < n; ++i) {
      const double answer = scores[c * n + i] + m_parameters.lambda * weights[c * b.tile + i];
      const double r = target(m_train->digits[b.first(block) + i], c) - answer;
      sum += r * r;
    }
  return sum;
}

} // namespace demo
