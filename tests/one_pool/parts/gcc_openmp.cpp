// SPDX-License-Identifier: Apache-2.0
// compiled by: g++ -fopenmp
#include "../openmp.hpp"

ONE_POOL_PART one_pool_gcc_openmp{
    "GCC's OpenMP", one_pool::place::thread, &begin, nullptr, nullptr, &loop, &tasks, &until};
