// SPDX-License-Identifier: Apache-2.0
#include "inncabs.hpp"

namespace bench::inncabs {

const std::vector<program> &all_programs() {
  static const char loop[] = "loop-like", balanced[] = "recursive balanced",
                    unbalanced[] = "recursive unbalanced", dependent[] = "co-dependent";
  static const std::vector<program> all{
      {"alignment", loop, "none", 2748, "C", "20", "15.4", 20, 17.3},
      {"health", loop, "none", 1, "VF", "fails", "-", 10, 2.8},
      {"sparselu", loop, "none", 980, "C", "20", "12.2", 20, 15.6},
      {"fft", balanced, "none", 1, "VF", "6", "1.3", 6, 1.5},
      {"fib", balanced, "none", 1, "VF", "fails", "-", 10, 3.8},
      {"pyramids", balanced, "none", 246, "M", "20", "8.0", 20, 12.9},
      {"sort", balanced, "none", 52, "F", "10", "3.0", 20, 11.9},
      {"strassen", balanced, "none", 107, "F", "8, some fail", "3.1", 20, 11.1},
      {"floorplan", unbalanced, "atomic pruning", 5, "VF", "8", "1.2", 10, 2.1},
      {"nqueens", unbalanced, "none", 28, "F", "fails", "-", 20, 11.2},
      {"qap", unbalanced, "atomic pruning", 1, "VF", "6", "1.1", 20, 7.8},
      {"uts", unbalanced, "none", 1, "VF", "fails", "-", 10, 3.2},
      {"intersim", dependent, "several mutexes", 3, "VF", "fails", "-", 12, 2.7},
      {"round", dependent, "two mutexes", 9671, "C", "20", "20", 20, 18.7},
  };
  return all;
}

const std::vector<contender> &all_contenders() {
  static const std::vector<contender> all{
      {"serial", "weft-inncabs-serial"},
      {"weft", "weft-inncabs-weft", "", "async,deferred,optional,fork"},
      {"weft-group", "weft-inncabs-weft-group"},
      {"hpx", "weft-inncabs-hpx", "", "async,deferred,optional,fork"},
      {"std", "weft-inncabs-std", "", "async,deferred,optional"},
      {"tbb", "weft-inncabs-tbb"},
      {"libgomp", "weft-inncabs-openmp"},
      {"weft-omp", "weft-inncabs-openmp", "weft-omp"},
      {"boost-fiber", "weft-inncabs-boost-fiber"},
  };
  return all;
}

} // namespace bench::inncabs
