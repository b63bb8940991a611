// SPDX-License-Identifier: Apache-2.0
// Records of tasks, kept by the thread that made them. Those that are over on another thread go back in batches.
//
// Those that come back are `returned` (returned_list.hpp); all else is the owner's.
#pragma once

#include "thread/returned_list.hpp"

#include <cstddef>
#include <cstdint>

namespace weft_omp {

struct omp_task;
struct thread;

struct record_pool {
  static constexpr unsigned k_classes = 3;                 // of 256, 512 and 1024 bytes with the data
  static constexpr std::uint8_t k_none = k_classes;        // from malloc() each time
  static constexpr std::size_t k_smallest = 256;

  omp_task *free[k_classes] = {};
  alignas(64) returned_list<omp_task> returned;
  alignas(64) thread *of = nullptr; // whose records are collected here
  omp_task *first = nullptr, *last = nullptr;
  unsigned count = 0;
};

/// What a thread that ends has kept is for others.
void empty_pool(thread &t) noexcept;

} // namespace weft_omp
