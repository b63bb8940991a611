// SPDX-License-Identifier: Apache-2.0
// Records of tasks. The thread that made them keeps them. Another thread, on which such a task has
// ended, gives the record back, in batches.
//
// Other threads put records into `returned` (returned_list.hpp). Only the owner uses the rest.
#pragma once

#include "thread/returned_list.hpp"

#include <cstddef>
#include <cstdint>

namespace weft_omp {

struct omp_task;
struct thread;

struct record_pool {
  static constexpr unsigned k_classes = 3; // of 256, 512 and 1024 bytes with the data
  static constexpr std::uint8_t k_none = k_classes; // from malloc() each time
  static constexpr std::size_t k_smallest = 256;

  omp_task *free[k_classes] = {};
  alignas(64) returned_list<omp_task> returned;
  alignas(64) thread *of =
      nullptr; // the owner of the records that are collected here for their way back
  omp_task *first = nullptr, *last = nullptr;
  unsigned count = 0;
};

} // namespace weft_omp
