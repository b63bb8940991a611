// SPDX-License-Identifier: Apache-2.0
// What the entry points of libgomp's ABI share.
#pragma once

#include "team.hpp"

#include <cstdint>

#define GOMP_API __attribute__((visibility("default")))

namespace weft_omp {

/// The calling member's next region, with what GOMP_*_start() take: task reductions, and memory for the program.
template <class SetUp>
void begin_share(thread &t, std::uintptr_t *reductions, void **memory, SetUp set_up);

/// Task reductions; the arrays are laid out by the compiler: see reduction.cpp.
void register_reductions(thread &t, std::uintptr_t *data, const std::uintptr_t *first_of_share);
task_group *register_parallel_reductions(std::uintptr_t *data, unsigned threads);
void begin_share_group(thread &t);

template <class SetUp>
void begin_share(thread &t, std::uintptr_t *reductions, void **memory, SetUp set_up) {
  if (reductions)
    begin_share_group(t);
  if (enter_share(t)) {
    work_share &s = *t.share.current;
    set_up(s);
    if (reductions) {
      register_reductions(t, reductions, nullptr);
      s.reductions = reductions;
    }
    set_memory(s, memory);
    shared(t);
  } else if (reductions) {
    register_reductions(t, reductions, t.share.current->reductions);
  }
  if (memory)
    *memory = t.share.current->memory;
}

} // namespace weft_omp
