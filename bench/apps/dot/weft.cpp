// SPDX-License-Identifier: Apache-2.0
#include "dot.hpp"

#include <weft/weft.hpp>

#include <numeric>

void dot::run_tasks() {
  std::vector<double> parts(static_cast<std::size_t>(blocks()));
  std::vector<weft::access> all;
  for (long b = 0; b < blocks(); ++b) {
    double &part = parts[static_cast<std::size_t>(b)];
    weft::spawn([this, b, &part] { part = multiply(b); }, weft::in(x(b)), weft::in(y(b)), weft::out(part),
                weft::label("multiply"));
    all.push_back(weft::in(part));
  }
  weft::spawn([this, &parts] { m_sum = std::accumulate(parts.begin(), parts.end(), 0.0); },
              weft::accesses(all), weft::out(m_sum), weft::label("combine"));
  weft::taskwait();
}
