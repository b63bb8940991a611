// SPDX-License-Identifier: Apache-2.0
// compiled by: clang++ -fopenmp
#include "../openmp.hpp"

ONE_POOL_PART one_pool_clang_openmp{
    "Clang's OpenMP", one_pool::place::thread, &begin, nullptr, nullptr, &loop, &tasks, &until};
