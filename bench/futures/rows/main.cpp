// SPDX-License-Identifier: Apache-2.0
// What one operation of a future or of a synchronization object costs, in the library that the build
// names:
//
//     <program> WORKLOAD WORKERS COUNT
//
// A library that lacks an operation refuses its workload, with exit status 2.
#include "workloads.hpp"

#include WEFT_MODEL_HEADER

#include <exception>

int main(int argc, char **argv) {
  using library = rows::WEFT_MODEL;
  const sample::request r = sample::parse(argc, argv);
  try {
    library::call(r.workers, [&r] {
      rows::run<library>(r.workload, 100, r.workers); // threads and pools
      double ns = -1;
      const double all = sample::time_ns([&] {
        if (rows::run<library>(r.workload, r.count, r.workers))
          ns = 0;
      });
      if (ns < 0)
        sample::refuse(r);
      sample::print("ns", all / static_cast<double>(r.count));
    });
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-rows-%s: %s\n", library::k_name, e.what());
    return 1;
  }
}
