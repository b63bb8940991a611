// SPDX-License-Identifier: Apache-2.0
// Spawning tasks, waiting for them, and what a task can say about itself.
#pragma once

#include <weft/clauses.hpp>
#include <weft/detail/nanoseconds.hpp>
#include <weft/detail/spawn.hpp>
#include <weft/handle.hpp>

#include <chrono>

namespace weft::inline v0 {

/// Creates a task that calls `f()` once every access in `clauses` allows it: after the earlier siblings that
/// write what it reads, and after the earlier siblings that touch what it writes.
///
///     weft::spawn([&] { b = a + 1; }, weft::in(a), weft::out(b), weft::label("add"));
///
/// Returns nothing when `f` returns nothing, else a handle of the result. The callable is moved into the task
/// and lives until the task and all of its descendants are complete.
/// Cost: one allocation (pooled) for descriptor, closure and accesses. Thread safety: any thread; the first call starts
/// the runtime. Exceptions: what `f` throws is rethrown by the handle, the group or the parent's taskwait. Throws
/// weft::error: out_of_resources when no memory is left, bad_setting when the first call finds a wrong setting, shut_down; and
/// what copying the callable throws; then no task was created. The order of tasks follows the OmpSs-2 model.
template <class F, class... Clauses>
decltype(auto) spawn(F &&f, const Clauses &...clauses) {
  return detail::spawn_in(nullptr, static_cast<F &&>(f), clauses...);
}

/// Waits until every child that the current task has spawned outside of groups, and all of their descendants, are complete. Tasks
/// of a group are waited for by the group. Rethrows the first exception of a child spawned outside of groups; further ones are
/// reported on standard error. Any thread. Cost: nothing is allocated; children that are ready run in place; else one
/// suspension. Throws weft::error: no_block in a service or an onready function, out_of_resources when no stack is left to
/// go on with, shut_down.
WEFT_API void taskwait();

/// Waits until the current task could touch the data as the accesses say; children of it that touch other data go on.
///
///     weft::taskwait(weft::in(x));
///     weft::taskwait(weft::in(weft::region(v).span(first, n)));
///
/// Rethrows nothing: failures stay with taskwait(). Any thread. Cost: that of an empty task. Errors: as spawn() and taskwait().
template <class... Accesses>
  requires(sizeof...(Accesses) > 0 && ((std::is_same_v<Accesses, access> || std::is_same_v<Accesses, region_access>) && ...))
void taskwait(const Accesses &...accesses) {
  spawn([] {}, accesses..., if_(false), label("taskwait on"));
}
/// @{ The same for accesses that are known only at run time; the list is read before the call returns.
inline void taskwait(std::span<const region_access> list) {
  spawn([] {}, regions(list), if_(false), label("taskwait on"));
}
inline void taskwait(std::span<const access> list) {
  spawn([] {}, accesses(list), if_(false), label("taskwait on"));
}
/// @}

/// @{
/// Gives up some of the running task's accesses before its body ends: what waits for those only may start, as at the end of the body.
/// Children that were spawned before and touch the data delay it until they have released it, too.
///
///     weft::release(weft::out(x));
///     weft::release(weft::out(weft::region(v).span(0, n)));
///
/// The address counts, not the mode; of regions the bytes, which may be a part of what was declared. The task, and children that it spawns later, must not touch the data any more. Releasing again is
/// harmless; a null address is ignored; an object of a task whose children use regions is held until they are complete, and a task that
/// has other bytes in common with the caller goes on waiting for these; in a child of a final task, whose accesses were never entered, nothing happens. Cost: a look
/// through the task's accesses, and what the end of the body then need not do. Throws weft::error: invalid_argument for an access that
/// the task has not declared, and then none is released; out_of_resources without memory for a part of a region; not_a_task on a thread, in a service, in an onready function, and in a branch
/// of join() that another worker runs.
WEFT_API void release(std::span<const access> list);
WEFT_API void release(std::span<const region_access> list);
template <class First, class... More>
  requires((std::is_same_v<First, access> || std::is_same_v<First, region_access>) && (std::is_same_v<More, First> && ...))
void release(const First &first, const More &...more) {
  const First list[] = {first, more...};
  release(std::span<const First>(list));
}
/// @}

/// Lets other ready work run before the caller goes on. Returns at once when there is none. Any thread; errors as taskwait().
WEFT_API void taskyield();

/// What the caller knows of itself and of time. Any thread; the first four cost a few instructions and never start the runtime.
namespace this_task {

/// The label of the running task; "main" for the first thread, "thread" for other threads of the user.
[[nodiscard]] WEFT_API const char *label() noexcept;
/// True in a final task or a descendant of one.
[[nodiscard]] WEFT_API bool in_final() noexcept;
/// What clause cost said of the running task; 0 without one.
[[nodiscard]] WEFT_API std::uint64_t cost() noexcept;
/// True when the group of the running task has been cancelled.
[[nodiscard]] WEFT_API bool cancelled() noexcept;
/// Suspends the caller for at least `ns` nanoseconds; the core goes on with other tasks. 0 or less is a taskyield(). The first
/// call starts a thread that keeps the time. Errors: as taskwait().
WEFT_API void sleep_for_ns(std::int64_t ns);

/// The same for any duration; one that does not fit 64 bits of nanoseconds lasts for ever.
template <class Rep, class Period>
void sleep_for(std::chrono::duration<Rep, Period> d) {
  sleep_for_ns(detail::whole_nanoseconds(d));
}
/// Until Clock::now() has reached `t`, also when the clock is set meanwhile.
template <class Clock, class Duration>
void sleep_until(std::chrono::time_point<Clock, Duration> t) {
  for (auto now = Clock::now(); now < t; now = Clock::now())
    sleep_for(t - now);
}

} // namespace this_task
} // namespace weft::inline v0
