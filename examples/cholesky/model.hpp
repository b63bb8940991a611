// SPDX-License-Identifier: Apache-2.0
// Kernel ridge regression that tells ten classes apart, one against all others, with a radial kernel.
#pragma once

#include "digits.hpp"
#include "tiles.hpp"
#include "work.hpp"

#include <vector>

namespace demo {

/// Holds images as the kernel wants them: one column of pixels each.
struct samples {
  explicit samples(const std::vector<const image *> &images);
  [[nodiscard]] int count() const { return static_cast<int>(digits.size()); }

  std::vector<double> pixels;  // k_pixels x count
  std::vector<double> squares; // squared length of each column
  std::vector<int> digits;
};

/// Holds the parameters of kernel(x, y) = exp(-gamma |x - y|^2), regularised by lambda on the diagonal.
struct parameters {
  double gamma = 0;
  double lambda = 0;
};

/// Holds one model. Every function spawns tasks and returns; the model, the samples and the targets
/// of results must live until work::wait(). Memory is kept from one learn() to the next.
class model {
 public:
  /// Solves (K + lambda I) weights = targets for the training set.
  void learn(work &w, const samples &train, parameters p, int tile);
  /// Adds the number of test images that the model misreads.
  void test(work &w, const samples &test, std::atomic<int> &misread) const;
  /// Gives each block of rows its share of the squared residual of learn().
  void residual(work &w, std::vector<double> &squares) const;

 private:
  void test_block(const samples &test, int block, std::atomic<int> &misread) const;
  [[nodiscard]] double residual_of_block(int block) const;
  void predict(const samples &test, int first, int count, double *scores) const;

  const samples *m_train = nullptr;
  parameters m_parameters;
  tiles m_kernel; // overwritten by its factor
  panel m_weights;
};

} // namespace demo
