// SPDX-License-Identifier: Apache-2.0
// The job: choose the model's parameters by cross-validation, fit it, read the digits that were held out.
#pragma once

#include "digits.hpp"
#include "model.hpp"
#include "progress.hpp"

#include <array>
#include <vector>

namespace demo {

inline constexpr int k_folds = 5;
inline constexpr std::array k_gammas{0.03, 0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6};
inline constexpr std::array k_lambdas{1.0, 0.3, 0.1, 0.03, 0.01, 0.003};
inline constexpr int k_fits = k_folds * static_cast<int>(k_gammas.size() * k_lambdas.size());

/// Holds some images to learn from and others to test with.
struct split {
  samples train;
  samples test;
};

/// Splits the images as the job uses them: every fifth is held out; the rest is split once more for
/// each fold.
struct dataset {
  explicit dataset(const std::vector<image> &images);
  split whole;
  std::vector<split> folds;
};

struct outcome {
  parameters best;
  int misread_in_folds = 0; // of whole.train
  int misread = 0;          // of whole.test
  double residual = 0;      // |(K + lambda I) weights - targets| / |targets| of the last fit
};

/// Runs the job as one graph of tasks.
outcome search(const dataset &data, int tile, tally &t, progress &p);

} // namespace demo
