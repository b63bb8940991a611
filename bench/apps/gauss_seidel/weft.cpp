// SPDX-License-Identifier: Apache-2.0
#include "gauss_seidel.hpp"

#include <weft/weft.hpp>

#include <numeric>

using weft::in;
using weft::inout;

void gauss_seidel::run_tasks() {
  const auto per_sweep = static_cast<std::size_t>(blocks() * blocks());
  std::vector<double> parts(per_sweep * m_residuals.size());
  double *part = parts.data();
  std::vector<weft::access> all;
  for (double &residual : m_residuals) {
    all.clear();
    for (long i = 0; i < blocks(); ++i)
      for (long j = 0; j < blocks(); ++j, ++part) {
        weft::spawn([this, i, j, part] { *part = relax(i, j); }, in(block(i - 1, j)), in(block(i, j - 1)),
                    inout(block(i, j)), in(block(i, j + 1)), in(block(i + 1, j)), weft::out(*part),
                    weft::label("relax"));
        all.push_back(in(*part));
      }
    weft::spawn([&residual, part, per_sweep] { residual = std::accumulate(part - per_sweep, part, 0.0); },
                weft::accesses(all), weft::out(residual), weft::label("combine"));
  }
  weft::taskwait();
}
