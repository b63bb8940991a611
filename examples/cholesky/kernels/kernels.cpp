// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include "../error.hpp"
#include "../tiles.hpp"

namespace demo {

// Each is one translation unit: tile_kernels.cpp once per instruction set, openblas.cpp where the library was found.
extern const kernel_set baseline_kernels;
#if defined(__x86_64__)
extern const kernel_set avx2_kernels, avx512_kernels;
#endif
#if DEMO_HAS_OPENBLAS
extern const kernel_set openblas_kernels;
#endif

namespace {

std::vector<const kernel_set *> find_available() {
  std::vector<const kernel_set *> found;
#if DEMO_HAS_OPENBLAS
  found.push_back(&openblas_kernels);
#endif
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    found.push_back(&avx512_kernels);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    found.push_back(&avx2_kernels);
#endif
  found.push_back(&baseline_kernels);
  return found;
}

const kernel_set *&chosen() {
  static const kernel_set *set = available_kernels().front();
  return set;
}

} // namespace

const std::vector<const kernel_set *> &available_kernels() {
  static const std::vector<const kernel_set *> list = find_available();
  return list;
}

void choose_kernels(const std::string &name) {
  std::string names;
  for (const kernel_set *set : available_kernels()) {
    if (name == set->name) {
      chosen() = set;
      return;
    }
    names += names.empty() ? "" : ", ";
    names += set->name;
  }
  throw input_error("--kernels takes one of " + names + ", not '" + name + "'");
}

double *kernel_workspace() {
  thread_local buffer mine;
  mine.reserve(k_workspace_doubles);
  return &mine[0];
}

const kernel_set &kernels() {
  return *chosen();
}

} // namespace demo
