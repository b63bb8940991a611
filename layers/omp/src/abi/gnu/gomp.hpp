// SPDX-License-Identifier: Apache-2.0
// Functions that the entry points of libgomp's ABI share.
#pragma once

#include "team/team.hpp"

#include <cstdint>

#define GOMP_API __attribute__((visibility("default")))

namespace weft_omp {

/// Begins the calling member's next worksharing region, with the arguments of GOMP_*_start(): task
/// reductions, and memory for the program.
template <class SetUp>
void begin_workshare(thread &self, std::uintptr_t *reductions, void **memory, SetUp set_up);

/// Register task reductions. The compiler lays out the arrays: see reduction.cpp.
void register_reductions(thread &self, std::uintptr_t *data,
                         const std::uintptr_t *first_of_workshare);
task_group *register_parallel_reductions(std::uintptr_t *data, unsigned threads);
void begin_workshare_group(thread &self);

template <class SetUp>
void begin_workshare(thread &self, std::uintptr_t *reductions, void **memory, SetUp set_up) {
  if (reductions)
    begin_workshare_group(self);
  if (const workshare_entry entry(self); entry.is_first()) {
    workshare &s = *self.workshare.current;
    set_up(s);
    if (reductions) {
      register_reductions(self, reductions, nullptr);
      s.reductions = reductions;
    }
    set_memory(s, memory);
  } else if (reductions) {
    register_reductions(self, reductions, self.workshare.current->reductions);
  }
  if (memory)
    *memory = self.workshare.current->memory;
}

} // namespace weft_omp
