// SPDX-License-Identifier: Apache-2.0
// std::execution::par, over what the build links: TBB, or Weft with weft/pstl.hpp. With
// BENCH_ONEDPL oneDPL's algorithms of the same names, on OpenMP.
#pragma once

#if defined(BENCH_ONEDPL)
#include <oneapi/dpl/execution> // before the others

#include <oneapi/dpl/algorithm>
#include <oneapi/dpl/numeric>
namespace algorithms = oneapi::dpl;
#else
#include <execution>

#include <algorithm>
#include <numeric>
namespace algorithms = std;
#endif

#if defined(WEFT_PSTL)
#include <weft/runtime.hpp>

#include <string>
#elif defined(_OPENMP)
#include <omp.h>
#else
#include <tbb/global_control.h>
#endif
#include <vector>

struct model {
#if defined(WEFT_PSTL)
  explicit model(int workers) {
    weft::configure("workers", std::to_string(workers).c_str());
    weft::start();
  }
#elif defined(_OPENMP)
  explicit model(int workers) { omp_set_num_threads(workers); }
#else
  explicit model(int workers)
      : m_workers(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers)) {
  }
  tbb::global_control m_workers;
#endif
  template <class F>
  void for_each(std::vector<double> &x, F f) {
    algorithms::for_each(algorithms::execution::par, x.begin(), x.end(), f);
  }
  double reduce(const std::vector<double> &x) {
    return algorithms::reduce(algorithms::execution::par, x.begin(), x.end());
  }
  void scan(const std::vector<double> &x, std::vector<double> &y) {
    algorithms::inclusive_scan(algorithms::execution::par, x.begin(), x.end(), y.begin());
  }
  auto find(std::vector<double> &x, double value) {
    return algorithms::find(algorithms::execution::par, x.begin(), x.end(), value);
  }
  void sort(std::vector<unsigned> &v) {
    algorithms::sort(algorithms::execution::par, v.begin(), v.end());
  }
};
