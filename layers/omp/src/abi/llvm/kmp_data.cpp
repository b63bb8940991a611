// SPDX-License-Identifier: Apache-2.0
// The predefined allocators and memory spaces as variables, which LLVM's library has, too.
#include "abi/llvm/kmpc.hpp"

#define KMP_CONSTANT(NAME, VALUE)                                                                  \
  extern "C" __attribute__((visibility("default"))) const std::uintptr_t NAME = VALUE;
KMP_CONSTANT(omp_null_allocator, 0)
KMP_CONSTANT(omp_default_mem_alloc, 1)
KMP_CONSTANT(omp_large_cap_mem_alloc, 2)
KMP_CONSTANT(omp_const_mem_alloc, 3)
KMP_CONSTANT(omp_high_bw_mem_alloc, 4)
KMP_CONSTANT(omp_low_lat_mem_alloc, 5)
KMP_CONSTANT(omp_cgroup_mem_alloc, 6)
KMP_CONSTANT(omp_pteam_mem_alloc, 7)
KMP_CONSTANT(omp_thread_mem_alloc, 8)
KMP_CONSTANT(omp_default_mem_space, 0)
KMP_CONSTANT(omp_large_cap_mem_space, 1)
KMP_CONSTANT(omp_const_mem_space, 2)
KMP_CONSTANT(omp_high_bw_mem_space, 3)
KMP_CONSTANT(omp_low_lat_mem_space, 4)
