// SPDX-License-Identifier: Apache-2.0
#include "../support/backend.hpp"

namespace app::backend {

const char *const name = "openmp";

void inside(int workers, const std::function<void()> &body) {
#pragma omp parallel num_threads(workers)
#pragma omp single
  body();
}

} // namespace app::backend
