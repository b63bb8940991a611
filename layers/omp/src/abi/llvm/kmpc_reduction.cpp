// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: task reductions. Each thread of the team has a copy of each variable, made at its
// first request; a hidden helper's has memory from then on only, because most programs use no helper. At the end of the taskgroup its owner combines the copies into the
// original. With reduction(task, ...), all members share the copies, and the last member to end
// combines them.
//
// Orders      O1  of_helpers stores release, loads acquire: a thread that finds a helper's copy by an
//                 address, or combines it, sees that there is one. What is in it, the end of its task orders.
#include "abi/llvm/kmpc.hpp"
#include "team/hooks.hpp"
#include "team/task_wait.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace weft_omp {
namespace {

/// Holds the reduction of a variable as the compiler writes it.
struct old_input {
  void *original;
  std::size_t bytes;
  void *init, *fini, *combine;
  std::uint32_t flags;
};
struct new_input {
  void *shared, *original;
  std::size_t bytes;
  void *init, *fini, *combine;
  std::uint32_t flags;
};

struct variable {
  void *original;       // `init` may read it
  std::size_t bytes, stride;
  void (*init_from)(void *copy, void *original);
  void (*init)(void *copy); // of old programs
  void (*fini)(void *copy);
  void (*combine)(void *into, void *copy);
  char *copies;         // [members]
  std::atomic<char *> *of_helpers; // [helpers]; O1
  bool *made;           // [threads]; each thread uses only its own
};

} // namespace

/// Holds what all users of the copies share. Those of a construct that was cancelled stay with the
/// team until the region is over, because tasks may still name them.
struct llvm_copies {
  unsigned ended = 0; // under the lock of the team
  unsigned members, threads, count; // threads: the members, and then the helpers
  variable *variables;
  llvm_reductions *users = nullptr; // under that lock
  bool *begun; // [members]: those that have begun the construct, under that lock
  llvm_copies *older = nullptr; // of a cancelled construct
};
using copies = llvm_copies;

/// Holds the reductions of one taskgroup.
struct llvm_reductions {
  copies *common;
  void **into; // [count]: where the copies are combined
  int shared_in = -1; // index in omp_team::of_llvm
  llvm_reductions *next_user = nullptr;
};

namespace {

template <class T>
T *allocate(std::size_t n) {
  T *const p = static_cast<T *>(std::calloc(n ? n : 1, sizeof(T)));
  if (!p)
    fatal("no memory for the copies of a task reduction");
  return p;
}

char *allocate_copies(std::size_t bytes) {
  auto *const p = static_cast<char *>(std::aligned_alloc(64, bytes));
  if (!p)
    fatal("no memory for the copies of a task reduction: %zu bytes", bytes);
  return p;
}

void set_up(variable &copied, const old_input &input) {
  copied.original = input.original;
  copied.init = reinterpret_cast<void (*)(void *)>(input.init);
}
void set_up(variable &copied, const new_input &input) {
  copied.original = input.original;
  copied.init_from = reinterpret_cast<void (*)(void *, void *)>(input.init);
}
void *target_of(const old_input &input) noexcept { return input.original; }
void *target_of(const new_input &input) noexcept { return input.shared; }

/// Hidden helpers have these numbers, and numbers of members of teams of their own.
constexpr std::uint32_t k_first_helper = 2;

unsigned number_of_copy(const copies &all, const thread &self) noexcept {
  const bool is_helper = self.gtid >= k_first_helper && self.gtid <= g_globals.helper_numbers;
  return is_helper ? all.members + (self.gtid - k_first_helper) : self.number;
}

template <class Input>
copies *make_copies(const Input *list, unsigned count, unsigned members) {
  const unsigned helpers = g_globals.helper_numbers >= k_first_helper
                               ? g_globals.helper_numbers - k_first_helper + 1
                               : 0;
  const unsigned threads = members + helpers;
  auto *const c = new copies;
  c->members = members;
  c->threads = threads;
  c->count = count;
  c->variables = allocate<variable>(count);
  c->begun = allocate<bool>(members);
  for (unsigned i = 0; i < count; ++i) {
    variable &v = c->variables[i];
    set_up(v, list[i]);
    v.bytes = list[i].bytes;
    v.stride = (v.bytes + 63) & ~std::size_t{63}; // no false sharing
    v.fini = reinterpret_cast<void (*)(void *)>(list[i].fini);
    v.combine = reinterpret_cast<void (*)(void *, void *)>(list[i].combine);
    v.copies = allocate_copies(v.stride * members);
    v.of_helpers = allocate<std::atomic<char *>>(helpers);
    v.made = allocate<bool>(threads);
  }
  return c;
}

void free_copies(copies *made) noexcept {
  while (llvm_reductions *const r = made->users) {
    made->users = r->next_user;
    std::free(r->into);
    delete r;
  }
  for (unsigned i = 0; i < made->count; ++i) {
    variable &v = made->variables[i];
    for (unsigned helper = 0; helper != made->threads - made->members; ++helper)
      std::free(v.of_helpers[helper].load(std::memory_order_relaxed));
    std::free(v.of_helpers);
    std::free(v.copies);
    std::free(v.made);
  }
  std::free(made->variables);
  std::free(made->begun);
  delete made;
}

template <class Input>
llvm_reductions *make_reductions(copies *made, const Input *list) {
  auto *const r = new llvm_reductions{made, allocate<void *>(made->count)};
  for (unsigned i = 0; i < made->count; ++i)
    r->into[i] = target_of(list[i]);
  r->next_user = std::exchange(made->users, r);
  return r;
}

/// Returns where the copy of a thread is; null: that of a helper has no memory yet.
char *place_of_copy(const copies &all, const variable &copied, unsigned number) {
  return number < all.members
             ? copied.copies + number * copied.stride
             : copied.of_helpers[number - all.members].load(std::memory_order_acquire); // O1
}

void combine_all(llvm_reductions &all) {
  for (unsigned i = 0; i < all.common->count; ++i) {
    variable &v = all.common->variables[i];
    for (unsigned n = 0; n < all.common->threads; ++n) {
      if (!v.made[n])
        continue;
      char *const copy = place_of_copy(*all.common, v, n);
      v.combine(all.into[i], copy);
      if (v.fini)
        v.fini(copy);
    }
  }
}

void *copy_of(const copies &all, variable &copied, unsigned number) {
  char *p = place_of_copy(all, copied, number);
  if (!p) {
    p = allocate_copies(copied.stride);
    copied.of_helpers[number - all.members].store(p, std::memory_order_release); // O1
  }
  if (!std::exchange(copied.made[number], true)) {
    if (copied.init_from)
      copied.init_from(p, copied.original);
    else if (copied.init)
      copied.init(p);
    else
      std::memset(p, 0, copied.bytes);
  }
  return p;
}

/// Returns whether the address is in any thread's copy of the variable.
bool is_in_copies(const copies &all, const variable &copied, const char *at) {
  if (at >= copied.copies && at < copied.copies + copied.stride * all.members)
    return true;
  for (unsigned n = all.members; n != all.threads; ++n)
    if (const char *const copy = place_of_copy(all, copied, n);
        copy && at >= copy && at < copy + copied.stride)
      return true;
  return false;
}

/// Returns the caller's copy of a variable, which is named by its own address or by that of any
/// thread's copy. Null: it is no variable of this group.
void *find(llvm_reductions &all, const thread &self, void *data) {
  for (unsigned i = 0; i < all.common->count; ++i) {
    variable &v = all.common->variables[i];
    if (data == v.original || data == all.into[i] ||
        is_in_copies(*all.common, v, static_cast<char *>(data)))
      return copy_of(*all.common, v, number_of_copy(*all.common, self));
  }
  return nullptr;
}

} // namespace

void finish_reductions(thread &self, task_group &group) {
  llvm_reductions *const r = std::exchange(group.of_llvm, nullptr);
  copies *const c = r->common;
  bool last = true;
  if (r->shared_in >= 0) {
    std::lock_guard lock(self.team->lock);
    last = ++c->ended == self.team->size;
    if (last)
      self.team->of_llvm[r->shared_in] = c->older;
  }
  if (last) {
    combine_all(*r);
    free_copies(c);
  }
}

void forget_reductions(omp_team &team) noexcept {
  for (unsigned i = 0; i < team.size; ++i)
    while (task_group *const group = team.implicit[i].group) {
      team.implicit[i].group = group->outer;
      delete group;
    }
  for (copies *&all : team.of_llvm)
    while (copies *const c = all) {
      all = c->older;
      free_copies(c);
    }
}

namespace {

template <class Input>
void *begin(std::int32_t count, void *data) {
  thread &self = weft_omp::self();
  const auto *const list = static_cast<const Input *>(data);
  task_group *const group = self.task->group;
  if (!group)
    fatal("a task reduction outside of a taskgroup");
  group->of_llvm =
      make_reductions(make_copies(list, static_cast<unsigned>(count), self.team->size), list);
  return group;
}

template <class Input>
void *begin_shared(bool in_workshare, std::int32_t count, void *data) {
  thread &self = weft_omp::self();
  const auto *const list = static_cast<const Input *>(data);
  begin_group(self);
  llvm_reductions *mine = nullptr;
  {
    std::lock_guard lock(self.team->lock);
    copies *&common = self.team->of_llvm[in_workshare];
    if (!common || common->begun[self.number]) { // the member's next construct; the last was cancelled
      copies *const made = make_copies(list, static_cast<unsigned>(count), self.team->size);
      made->older = std::exchange(common, made);
      self.team->used_workshares.store(true, std::memory_order_relaxed); // the next region clears up
    }
    common->begun[self.number] = true;
    mine = make_reductions(common, list);
    mine->shared_in = in_workshare;
  }
  self.task->group->of_llvm = mine;
  return self.task->group;
}

} // namespace
} // namespace weft_omp

using namespace weft_omp;

KMP_API void *__kmpc_task_reduction_init(std::int32_t, std::int32_t count, void *data) {
  return begin<old_input>(count, data);
}
KMP_API void *__kmpc_taskred_init(std::int32_t, std::int32_t count, void *data) {
  return begin<new_input>(count, data);
}
KMP_API void *__kmpc_task_reduction_modifier_init(location *, std::int32_t,
                                                  std::int32_t in_workshare, std::int32_t count,
                                                  void *data) {
  return begin_shared<old_input>(in_workshare != 0, count, data);
}
KMP_API void *__kmpc_taskred_modifier_init(location *, std::int32_t, std::int32_t in_workshare,
                                           std::int32_t count, void *data) {
  return begin_shared<new_input>(in_workshare != 0, count, data);
}
KMP_API void __kmpc_task_reduction_modifier_fini(location *, std::int32_t, std::int32_t) {
  end_group(self());
}

KMP_API void *__kmpc_task_reduction_get_th_data(std::int32_t, void *group, void *data) {
  thread &self = weft_omp::self();
  for (auto *g = group ? static_cast<task_group *>(group) : self.task->group; g; g = g->outer)
    if (g->of_llvm)
      if (void *const p = find(*g->of_llvm, self, data))
        return p;
  fatal(
      "in_reduction of a variable at %p that no enclosing construct reduces; name it in a task_reduction or reduction(task, ...) clause",
      data);
}
