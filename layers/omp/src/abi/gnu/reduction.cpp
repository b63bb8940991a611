// SPDX-License-Identifier: Apache-2.0
#include "abi/gnu/reduction.hpp"

#include "abi/gnu/gomp.hpp"
#include "team/task_wait.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <unordered_map>

namespace weft_omp {
namespace {

enum word : unsigned {
  k_count,
  k_bytes,
  k_copies,
  k_allocator,
  k_next,
  k_index,
  k_end,
  k_variables
};
constexpr unsigned k_words_per_variable = 3;

using address_index =
    std::unordered_map<std::uintptr_t, std::uintptr_t *>; // address -> its three words

address_index *index_of(const std::uintptr_t *data) noexcept {
  return reinterpret_cast<address_index *>(data[k_index]);
}
std::uintptr_t *next_of(const std::uintptr_t *descriptor) noexcept {
  return reinterpret_cast<std::uintptr_t *>(descriptor[k_next]);
}

void make_copies(std::uintptr_t *descriptor, unsigned threads) {
  const std::size_t bytes = descriptor[k_bytes] * threads,
                    alignment = descriptor[k_copies] < 64 ? 64 : descriptor[k_copies];
  void *p = std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
  if (!p)
    fatal("no memory for the copies of a task reduction: %zu bytes", bytes);
  std::memset(p, 0, bytes);
  descriptor[k_copies] = reinterpret_cast<std::uintptr_t>(p);
  descriptor[k_end] = descriptor[k_copies] + bytes;
}

void index_variables(address_index &index, std::uintptr_t *descriptor) {
  for (std::uintptr_t v = 0; v < descriptor[k_count]; ++v) {
    std::uintptr_t *const words = descriptor + k_variables + v * k_words_per_variable;
    words[2] = reinterpret_cast<std::uintptr_t>(descriptor);
    index[words[0]] = words;
  }
}

void enter(std::uintptr_t *data, std::uintptr_t *outer, const std::uintptr_t *first,
           unsigned threads) {
  auto *i = outer && index_of(outer) ? new address_index(*index_of(outer)) : new address_index;
  for (std::uintptr_t *d = data;;) {
    if (first) {
      d[k_copies] = first[k_copies];
      d[k_end] = first[k_end];
      first = next_of(first);
    } else {
      make_copies(d, threads);
    }
    d[k_index] = 0;
    index_variables(*i, d);
    if (d[k_next] == 0) {
      d[k_next] = reinterpret_cast<std::uintptr_t>(outer);
      break;
    }
    d = next_of(d);
  }
  data[k_index] = reinterpret_cast<std::uintptr_t>(i);
}

} // namespace

void register_reductions(thread &self, std::uintptr_t *data,
                         const std::uintptr_t *first_of_workshare) {
  task_group &group = *self.task->group;
  enter(data, group.reductions, first_of_workshare, self.team->size);
  group.reductions = data;
}

task_group *register_parallel_reductions(std::uintptr_t *data, unsigned threads) {
  auto *group = new task_group;
  enter(data, nullptr, nullptr, threads);
  group->reductions = data;
  return group;
}

void begin_workshare_group(thread &self) {
  begin_group(self);
  self.task->group->of_workshare = true;
}

} // namespace weft_omp

using namespace weft_omp;

extern "C" {

GOMP_API void GOMP_taskgroup_reduction_register(std::uintptr_t *data) {
  thread &self = weft_omp::self();
  if (!self.task->group)
    begin_group(self);
  register_reductions(self, data, nullptr);
}

GOMP_API void GOMP_taskgroup_reduction_unregister(std::uintptr_t *data) {
  delete index_of(data);
  std::uintptr_t *d = data;
  do {
    std::free(reinterpret_cast<void *>(d[k_copies]));
    d = next_of(d);
  } while (d && !d[k_index]);
}

/// Replaces addresses by those of the caller's copies. ptrs[0, count) are addresses of variables,
/// or of any thread's copies.
/// For the first `originals` of them, the variable's own address goes to ptrs[count, count +
/// originals).
GOMP_API void GOMP_task_reduction_remap(std::size_t count, std::size_t originals, void **ptrs) {
  thread &self = weft_omp::self();
  std::uintptr_t *const data = self.task->group ? self.task->group->reductions : nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = reinterpret_cast<std::uintptr_t>(ptrs[i]);
    const address_index *const known = data ? index_of(data) : nullptr;
    if (const auto found = known ? known->find(at) : address_index::const_iterator{};
        known && found != known->end()) {
      const std::uintptr_t *const d = reinterpret_cast<std::uintptr_t *>(found->second[2]);
      ptrs[i] = reinterpret_cast<void *>(d[k_copies] + self.number * d[k_bytes] + found->second[1]);
      if (i < originals)
        ptrs[count + i] = reinterpret_cast<void *>(at);
      continue;
    }
    const std::uintptr_t *d = data;
    while (d && (at < d[k_copies] || at >= d[k_end]))
      d = next_of(d);
    if (!d)
      fatal(
          "in_reduction of a variable at %p that no enclosing construct reduces; name it in a task_reduction or reduction(task, ...) clause",
          ptrs[i]);
    const std::uintptr_t offset = (at - d[k_copies]) % d[k_bytes];
    ptrs[i] = reinterpret_cast<void *>(d[k_copies] + self.number * d[k_bytes] + offset);
    if (i >= originals)
      continue;
    ptrs[count + i] = nullptr;
    for (std::uintptr_t v = 0; v < d[k_count]; ++v)
      if (const std::uintptr_t *words = d + k_variables + v * k_words_per_variable;
          words[1] == offset)
        ptrs[count + i] = reinterpret_cast<void *>(words[0]);
  }
}

GOMP_API void GOMP_workshare_task_reduction_unregister(bool cancelled) {
  thread &self = weft_omp::self();
  std::uintptr_t *const data = self.task->group->reductions;
  end_group(self);
  if (!cancelled)
    team_barrier(self); // tasks of other members may still add to any copy
  if (self.number == 0)
    GOMP_taskgroup_reduction_unregister(data);
  else
    delete index_of(data);
  if (!cancelled)
    team_barrier(self);
}

} // extern "C"
