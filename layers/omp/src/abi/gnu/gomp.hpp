// SPDX-License-Identifier: Apache-2.0
// Functions that the entry points of libgomp's ABI share.
#pragma once

#include "abi/gnu/reduction.hpp"
#include "team/barrier.hpp"
#include "team/team.hpp"

#include <cstdint>

#define GOMP_API __attribute__((visibility("default")))

namespace weft_omp {

/// Begins the calling member's next worksharing region, with the arguments of GOMP_*_start(): task
/// reductions, and memory for the program.
template <class SetUp>
void begin_workshare(thread &self, std::uintptr_t *reductions, void **memory, SetUp set_up);

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
