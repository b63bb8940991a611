// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: sinks and sources of ordered(n) loops, cancellation, threadprivate of programs without thread-local storage.
#include "abi/llvm/kmpc.hpp"
#include "team/cancel.hpp"
#include "tool/enter.hpp"
#include "workshare/doacross.hpp"

#include <weft_threads/thread/fork_locks.hpp>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>

using namespace weft_omp;

namespace {

struct dimension {
  std::int64_t low, high, step;
};
constexpr std::size_t k_words = 3; // words of a dimension

std::uint64_t extent(const dimension &extent_of) noexcept {
  const auto low = static_cast<std::uint64_t>(extent_of.low),
             high = static_cast<std::uint64_t>(extent_of.high),
             step = static_cast<std::uint64_t>(extent_of.step);
  if (extent_of.step > 0)
    return extent_of.low > extent_of.high ? 0 : (high - low) / step + 1;
  return extent_of.low < extent_of.high ? 0 : (low - high) / (0 - step) + 1;
}

/// Computes the numbers of the iterations in which the loops' variables have these values. False:
/// there are no such iterations.
bool numbers_of(const std::int64_t *shape, const std::int64_t *values, unsigned count,
                std::uint64_t *into) noexcept {
  for (unsigned i = 0; i < count; ++i) {
    const std::int64_t low = shape[i * k_words], high = shape[i * k_words + 1],
                       step = shape[i * k_words + 2], v = values[i];
    if (step > 0 ? v < low || v > high : v > low || v < high)
      return false;
    const auto distance = step > 0
                              ? static_cast<std::uint64_t>(v) - static_cast<std::uint64_t>(low)
                              : static_cast<std::uint64_t>(low) - static_cast<std::uint64_t>(v);
    into[i] = distance / static_cast<std::uint64_t>(step > 0 ? step : 0 - step);
  }
  return true;
}

constexpr unsigned k_deepest = 64;

template <class F>
void with_numbers(thread &self, const std::int64_t *values, F f) {
  const unsigned depth = depth_of_doacross(self);
  std::uint64_t numbers[k_deepest];
  if (depth != 0 && numbers_of(self.workshare.nest_shape, values, depth, numbers))
    f(self, numbers);
}

/// Reports a source or a sink, as the values of the loops' variables. A sink in no iteration is
/// none.
void report_iteration(thread &self, ompt::dependence_kind kind, const std::int64_t *values) {
  const unsigned depth = depth_of_doacross(self);
  std::uint64_t numbers[k_deepest];
  if (depth == 0 || !numbers_of(self.workshare.nest_shape, values, depth, numbers))
    return;
  ompt::dependence all[k_deepest];
  for (unsigned i = 0; i < depth; ++i) {
    all[i].variable.value = static_cast<std::uint64_t>(values[i]);
    all[i].kind = kind;
  }
  report(ompt::event::dependences, &watched_self(self).task->data,
         static_cast<const ompt::dependence *>(all), static_cast<int>(depth));
}

} // namespace

KMP_API void __kmpc_doacross_init(location *, std::int32_t, std::int32_t count,
                                  const dimension *list) {
  if (count > static_cast<std::int32_t>(k_deepest))
    fatal("ordered(%d): loops are nested more than %u deep", count, k_deepest);
  thread &self = weft_omp::self();
  std::uint64_t extents[k_deepest];
  for (std::int32_t i = 0; i < count; ++i)
    extents[i] = extent(list[i]);
  if (const workshare_entry entry(self); entry.is_first())
    set_doacross(self, *self.workshare.current, static_cast<unsigned>(count), extents);
  self.workshare.nest = std::exchange(self.workshare.current, nullptr);
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof *list;
  self.workshare.nest_shape = static_cast<std::int64_t *>(std::malloc(bytes));
  if (!self.workshare.nest_shape)
    fatal("no memory for an ordered(%d) loop", count);
  std::memcpy(self.workshare.nest_shape, list, bytes);
}
KMP_API void __kmpc_doacross_wait(location *, std::int32_t, const std::int64_t *values) {
  enter(
      [=](thread &self) {
        with_numbers(self, values,
                     [](thread &me, const std::uint64_t *numbers) { wait_for(me, numbers); });
      },
      [=](thread &self, const call_site &, auto plain) {
        plain(self);
        report_iteration(self, ompt::dependence_kind::sink, values);
      });
}
KMP_API void __kmpc_doacross_post(location *, std::int32_t, const std::int64_t *values) {
  enter(
      [=](thread &self) {
        with_numbers(self, values,
                     [](thread &me, const std::uint64_t *numbers) { post(me, numbers); });
      },
      [=](thread &self, const call_site &, auto plain) {
        report_iteration(self, ompt::dependence_kind::source, values);
        plain(self);
      });
}
KMP_API void __kmpc_doacross_fini(location *, std::int32_t) {
  thread &self = weft_omp::self();
  std::free(std::exchange(self.workshare.nest_shape, nullptr));
  self.workshare.current = std::exchange(self.workshare.nest, nullptr);
  leave_workshare(self);
}

// ---- cancellation ------------------------------------------------------------------------------------------------------

namespace {

int cancel_kind_of(std::int32_t kind) noexcept {
  constexpr int kinds[] = {0, k_cancel_parallel, k_cancel_loop, k_cancel_sections, k_cancel_group};
  return kind >= 0 && kind <= 4 ? kinds[kind] : 0;
}

} // namespace

KMP_API std::int32_t __kmpc_cancel(location *, std::int32_t, std::int32_t kind) {
  return cancel(cancel_kind_of(kind));
}
KMP_API std::int32_t __kmpc_cancellationpoint(location *, std::int32_t, std::int32_t kind) {
  return cancellation_point(cancel_kind_of(kind));
}

// ---- threadprivate -----------------------------------------------------------------------------------------------------

namespace {

/// Says how the copies of a variable are made.
struct origin {
  void *(*construct)(void *) = nullptr;
  void *(*copy)(void *, void *) = nullptr;
  void *(*construct_all)(void *, std::size_t) = nullptr; // for arrays of objects
  void *(*copy_all)(void *, void *, std::size_t) = nullptr;
  std::size_t count = 0; // objects of the array
  void *image = nullptr; // the contents of the variable at the first request
};

struct copies_of_threads {
  spin_lock lock; // held over forks: the child's thread has its copies
  std::unordered_map<void *, origin> origins;
  std::unordered_map<std::uint64_t, std::unordered_map<void *, void *>> by_thread;

  copies_of_threads() { hold_over_fork(lock); }
};
copies_of_threads &all_copies() {
  static auto *all = new copies_of_threads; // never freed: threads may outlive static destructors
  return *all;
}

void *make_copy(origin &from, void *variable, std::size_t bytes) {
  void *const p = std::calloc(1, bytes);
  if (!p)
    fatal("no memory for a threadprivate variable of %zu bytes", bytes);
  if (from.construct_all)
    from.construct_all(p, from.count);
  else if (from.copy_all)
    from.copy_all(p, variable, from.count);
  else if (from.construct)
    from.construct(p);
  else if (from.copy)
    from.copy(p, variable);
  else
    std::memcpy(p, from.image, bytes);
  return p;
}

} // namespace

KMP_API void __kmpc_threadprivate_register(location *, void *variable, void *(*construct)(void *),
                                           void *(*copy)(void *, void *),
                                           void (*)(void *)) { // copies last as long as the process
  copies_of_threads &all = all_copies();
  std::lock_guard lock(all.lock);
  origin &o = all.origins[variable];
  o.construct = construct;
  o.copy = copy;
}
KMP_API void __kmpc_threadprivate_register_vec(location *, void *variable,
                                               void *(*construct)(void *, std::size_t),
                                               void *(*copy)(void *, void *, std::size_t),
                                               void (*)(void *, std::size_t), std::size_t count) {
  copies_of_threads &all = all_copies();
  std::lock_guard lock(all.lock);
  origin &o = all.origins[variable];
  o.construct_all = construct;
  o.copy_all = copy;
  o.count = count;
}
KMP_API void *__kmpc_threadprivate_cached(location *, std::int32_t, void *variable,
                                          std::size_t bytes, void ***) {
  const std::uint64_t number = self().gtid;
  copies_of_threads &all = all_copies();
  origin *from = nullptr;
  {
    std::lock_guard lock(all.lock);
    from = &all.origins[variable];
    if (!from->image && !from->construct && !from->copy && !from->construct_all &&
        !from->copy_all) {
      from->image = std::malloc(bytes);
      if (!from->image)
        fatal("no memory for a threadprivate variable of %zu bytes", bytes);
      std::memcpy(from->image, variable, bytes);
    }
    if (number == 0)
      return variable; // the copy of the first thread is the variable itself
    if (void *const mine = all.by_thread[number][variable])
      return mine;
  }
  void *const mine =
      make_copy(*from, variable, bytes); // without the lock, because it runs the program's code
  std::lock_guard lock(all.lock);
  return all.by_thread[number][variable] = mine;
}
KMP_API void *__kmpc_threadprivate(location *where, std::int32_t n, void *variable,
                                   std::size_t bytes) {
  return __kmpc_threadprivate_cached(where, n, variable, bytes, nullptr);
}
