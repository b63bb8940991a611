// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: tasks. The compiler knows a task by its data, which begin with a pointer to
// shared variables and the entry.
#include "abi/llvm/kmpc.hpp"
#include "helper/helpers.hpp"
#include "task/depend.hpp"
#include "task/task_record.hpp"
#include "team/hooks.hpp"
#include "team/task_queue.hpp"
#include "team/task_wait.hpp"
#include "tool/enter.hpp"
#include "tool/tasks.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace weft_omp;

namespace {

struct kmp_depend {
  std::uintptr_t address;
  std::size_t bytes;
  std::uint8_t flags; // 1 in, 2 out, 4 mutexinoutset, 8 inoutset, 128 all memory
};

constexpr std::uint8_t k_all_memory = 128;
enum flag : std::int32_t {
  k_tied = 1,
  k_final = 2,
  k_destroys = 8,
  k_proxy = 16,
  k_priority = 32,
  k_detachable = 64
};

/// Runs a task whose entry is not all: it may have no entry, several parts, or destructors.
int run_entry(int number, kmp_task *task) {
  if (task->entry) // null: a taskwait with dependences that does not wait
    task->entry(number, task);
  if (!task_of(task).again)
    destroy_data(number, task);
  return 0;
}

weft::access_mode mode_of_flags(std::uint8_t flags) noexcept {
  if (flags & 2)
    return weft::access_mode::inout;
  if (flags & 1)
    return weft::access_mode::in;
  return flags & 4 ? weft::access_mode::commutative : weft::access_mode::concurrent;
}

[[gnu::always_inline]] inline void read(thread &self, access_list &into, const kmp_depend *list,
                                        std::int32_t count) {
  for (const kmp_depend *d = list, *const end = list + count; d != end; ++d)
    if ((d->flags & k_all_memory) || d->address == ~std::uintptr_t{0}) [[unlikely]]
      into.add_all();
    else
      into.add(reinterpret_cast<const void *>(d->address), mode_of_flags(d->flags));
  into.finish(self);
}

/// Returns whether the task is deferred. Outside of a parallel region it is not, because there is
/// no other thread, and perhaps no later scheduling point.
bool is_for_queue(const thread &self, const omp_task &task) noexcept {
  return !task.undeferred && self.team->level != 0;
}

void start(thread &self, kmp_task *whole, const task_clauses &clauses) {
  omp_task &task = task_of(whole);
  if (task.priority == k_for_helpers && !task.undeferred)
    return submit(self, task, clauses);
  if (self.team->level == 0 && task.detachable && !task.undeferred &&
      clauses.access_count == 0) { // its creator may be the thread that fulfils the event
    count_in(self, task);
    return run_task(self, task);
  }
  if (is_for_queue(self, task))
    submit(self, task, clauses);
  else
    run_undeferred(self, task, clauses);
}

/// Reads dependences as a tool sees them.
class reported_dependences {
 public:
  reported_dependences(const kmp_depend *list, std::int32_t count) {
    m_list.reserve(static_cast<std::size_t>(count));
    for (const kmp_depend *d = list, *const end = list + count; d != end; ++d) {
      ompt::dependence to;
      const bool names_all = d->flags & k_all_memory || d->address == ~std::uintptr_t{0};
      to.variable.value = names_all ? 0 : d->address;
      to.kind = kind_of(d->flags, names_all);
      m_list.push_back(to);
    }
  }
  void enter_in(watched_creation &report) const noexcept {
    report.dependences = m_list.data();
    report.count = m_list.size();
  }

 private:
  static ompt::dependence_kind kind_of(std::uint8_t flags, bool names_all) noexcept {
    using enum ompt::dependence_kind;
    if (names_all)
      return out_all_memory;
    if (flags & 2)
      return flags & 1 ? inout : out;
    return flags & 1 ? in : flags & 4 ? mutexinoutset : inoutset;
  }
  std::vector<ompt::dependence> m_list;
};

[[gnu::always_inline]] inline kmp_task *
alloc_task(thread &self, std::int32_t flags, std::size_t bytes, std::size_t shared_bytes,
           std::int32_t (*entry)(std::int32_t, kmp_task *)) {
  task_clauses clauses;
  clauses.is_final = (flags & k_final) != 0;
  clauses.detachable = (flags & (k_detachable | k_proxy)) != 0;
  const std::size_t whole = (bytes + 15) & ~std::size_t{15};
  omp_task *const task = make_task(self, whole + shared_bytes, 16, clauses);
  auto *const k = static_cast<kmp_task *>(task->argument);
  k->shareds = shared_bytes ? static_cast<char *>(task->argument) + whole : nullptr;
  k->entry = entry;
  k->part = 0;
  task->data_bytes = whole + shared_bytes;
  task->destroys = (flags & k_destroys) != 0;
  task->kmp_entry = entry && !task->destroys ? entry : &run_entry;
  task->has_priority = (flags & k_priority) != 0;
  return k;
}

/// Gives a task the priority of its clause, which the program has written behind the call that
/// allocated it.
[[gnu::always_inline]] inline void take_priority(omp_task &task, const kmp_task *whole) noexcept {
  if (task.has_priority && task.priority != k_for_helpers)
    task.priority = std::clamp(whole->data2.priority, 0, g_globals.max_task_priority);
}

/// Submits or runs a task without dependences.
[[gnu::always_inline]] inline void submit_task(thread &self, kmp_task *whole) {
  omp_task &task = task_of(whole);
  if (self.task == &task) { // the body of an untied task, at the end of a part
    task.again = true;
    return;
  }
  take_priority(task, whole);
  if (task.priority == 0 && is_for_queue(self, task)) [[likely]]
    submit_plain(self, task);
  else
    start(self, whole, {});
}

[[gnu::always_inline]] inline void submit_with_dependences(thread &self, kmp_task *task,
                                                           std::int32_t count, kmp_depend *list) {
  access_list accesses(static_cast<std::size_t>(count));
  read(self, accesses, list, count);
  task_clauses clauses;
  accesses.enter_in(clauses);
  take_priority(task_of(task), task);
  if (is_for_queue(self, task_of(task))) [[likely]]
    submit(self, task_of(task), clauses);
  else
    start(self, task, clauses);
}

/// Reports a task, and submits or runs it by `plain`.
template <class Plain>
void submit_watched(thread &self, kmp_task *whole, watched_creation &report, Plain plain) {
  omp_task &task = task_of(whole);
  if (self.task != &task) { // else an untied task, at the end of a part
    report.bytes = task.data_bytes;
    report.created(self, task, {});
  }
  plain(self);
}

} // namespace

namespace weft_omp {

// Part 0 of an untied task has none of the program's code; it submits the task again.
bool has_begun(const kmp_task *task) noexcept { return task->part > 1; }

void destroy_unused(const thread &self, kmp_task *task) noexcept {
  destroy_data(static_cast<std::int32_t>(self.gtid), task);
}

} // namespace weft_omp

KMP_API kmp_task *__kmpc_omp_task_alloc(location *, std::int32_t, std::int32_t flags,
                                        std::size_t bytes, std::size_t shared_bytes,
                                        std::int32_t (*entry)(std::int32_t, kmp_task *)) {
  if (thread *const self = self_or_null()) [[likely]]
    return alloc_task(*self, flags, bytes, shared_bytes, entry);
  return enter_slow(
      [=](thread &self) { return alloc_task(self, flags, bytes, shared_bytes, entry); },
      [=](thread &self, const call_site &, auto plain) {
        kmp_task *const k = plain(self);
        if (!(flags & k_tied))
          task_of(k).body = &untied_mark;
        return k;
      },
      this_call());
}
KMP_API kmp_task *__kmpc_omp_target_task_alloc(location *where, std::int32_t n, std::int32_t flags,
                                               std::size_t bytes, std::size_t shared_bytes,
                                               std::int32_t (*entry)(std::int32_t, kmp_task *),
                                               std::int64_t) {
  kmp_task *const k = __kmpc_omp_task_alloc(where, n, flags, bytes, shared_bytes, entry);
  if (have_helpers(self()))
    task_of(k).priority = k_for_helpers;
  return k;
}

KMP_API std::int32_t __kmpc_omp_task(location *, std::int32_t, kmp_task *task) {
  return enter(
      [=](thread &self) {
        submit_task(self, task);
        return 0;
      },
      [=](thread &self, const call_site &at, auto plain) {
        watched_creation report{at.return_address};
        submit_watched(self, task, report, plain);
        return 0;
      });
}

KMP_API std::int32_t __kmpc_omp_task_with_deps(location *, std::int32_t, kmp_task *task,
                                               std::int32_t count, kmp_depend *list, std::int32_t,
                                               kmp_depend *) {
  if (thread *const self = self_or_null()) [[likely]] {
    submit_with_dependences(*self, task, count, list);
    return 0;
  }
  return enter_slow(
      [=](thread &self) {
        submit_with_dependences(self, task, count, list);
        return 0;
      },
      [=](thread &self, const call_site &at, auto plain) {
        watched_creation report{at.return_address};
        const reported_dependences dependences(list, count);
        dependences.enter_in(report);
        submit_watched(self, task, report, plain);
        return 0;
      },
      this_call());
}

namespace {

[[gnu::always_inline]] inline void wait_for_list(std::int32_t count, kmp_depend *list) {
  enter(
      [=](thread &self) {
        if (!self.task->external)
          return;
        access_list accesses(static_cast<std::size_t>(count));
        read(self, accesses, list, count);
        wait_for_accesses(self, accesses);
      },
      [=](thread &self, const call_site &at, auto plain) {
        watched_creation report{at.return_address};
        const reported_dependences dependences(list, count);
        dependences.enter_in(report);
        wait_for_dependences(self, report, [&] { plain(self); });
      });
}

} // namespace

KMP_API void __kmpc_omp_wait_deps(location *, std::int32_t, std::int32_t count, kmp_depend *list,
                                  std::int32_t, kmp_depend *) {
  wait_for_list(count, list);
}
KMP_API void __kmpc_omp_taskwait_deps_51(location *, std::int32_t, std::int32_t count,
                                         kmp_depend *list, std::int32_t, kmp_depend *,
                                         std::int32_t) {
  wait_for_list(count, list);
}

// if(false): the compiled code calls the body itself, between these two.
KMP_API void __kmpc_omp_task_begin_if0(location *, std::int32_t, kmp_task *task) {
  enter([=](thread &self) { begin_here(self, task_of(task)); },
        [=](thread &self, const call_site &at, auto plain) {
          watched_creation report{at.return_address};
          report.bytes = task_of(task).data_bytes;
          begin_watched_here(self, task_of(task), report, at.caller);
          plain(self);
        });
}
KMP_API void __kmpc_omp_task_complete_if0(location *, std::int32_t n, kmp_task *task) {
  enter(
      [=](thread &self) {
        while (std::exchange(task_of(task).again, false))
          task->entry(n, task);
        destroy_data(n, task);
        end_here(self, task_of(task));
      },
      [=](thread &self, const call_site &, auto) {
        while (std::exchange(task_of(task).again, false))
          task->entry(n, task);
        destroy_data(n, task);
        end_watched_here(self);
        end_here(self, task_of(task));
      });
}

KMP_API std::int32_t __kmpc_omp_task_parts(location *where, std::int32_t n, kmp_task *task) {
  return __kmpc_omp_task(where, n, task);
}
/// Ignores the affinity of a task, which is a hint.
KMP_API std::int32_t __kmpc_omp_reg_task_with_affinity(location *, std::int32_t, kmp_task *,
                                                       std::int32_t, void *) {
  return 0;
}

KMP_API std::int32_t __kmpc_omp_taskwait(location *, std::int32_t) {
  enter([](thread &self) { wait_for_children(self); }, as_wait(ompt::sync_kind::taskwait));
  return 0;
}
KMP_API std::int32_t __kmpc_omp_taskyield(location *, std::int32_t, int) {
  enter([](thread &self) { yield_now(self); }, as_yield);
  return 0;
}
KMP_API void __kmpc_taskgroup(location *, std::int32_t) {
  enter([](thread &self) { begin_group(self); }, as_group_begin);
}
KMP_API void __kmpc_end_taskgroup(location *, std::int32_t) {
  enter([](thread &self) { end_group(self); }, as_group_end);
}
KMP_API void *__kmpc_task_allow_completion_event(location *, std::int32_t, kmp_task *whole) {
  omp_task &task = task_of(whole);
  task.detachable = true;
  return &task;
}

// Complete the outside work of a proxy task. Such a task ends when both its body and that work are
// over. The second function is for threads that OpenMP does not know.
KMP_API void __kmpc_proxy_task_completed(std::int32_t, kmp_task *task) {
  fulfill_event(task_of(task));
}
KMP_API void __kmpc_proxy_task_completed_ooo(kmp_task *task) { fulfill_event(task_of(task)); }
/// Returns the handle of a target task that runs on a device: there is none.
KMP_API void *__kmpc_omp_get_target_async_handle_ptr(std::int32_t) { return nullptr; }

// Numbers for debuggers: that of the running task, and that of its parent.
KMP_API std::uint64_t __kmpc_get_taskid() { return reinterpret_cast<std::uintptr_t>(self().task); }
KMP_API std::uint64_t __kmpc_get_parent_taskid() {
  return reinterpret_cast<std::uintptr_t>(self().task->parent);
}
KMP_API std::int32_t __kmpc_omp_has_task_team(std::int32_t) { return self().team->level != 0; }
