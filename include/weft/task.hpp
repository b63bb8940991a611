// SPDX-License-Identifier: Apache-2.0
// Spawning tasks, waiting for them, and what a task can say about itself.
#pragma once

#include <weft/clauses.hpp>
#include <weft/detail/nanoseconds.hpp>
#include <weft/detail/spawn.hpp>
#include <weft/detail/wait_list.hpp>
#include <weft/handle.hpp>

#include <chrono>
#include <stop_token>

namespace weft::inline v0 {

/// Creates a task that calls `f()` once every access in `clauses` allows it: after the earlier
/// siblings that write what the task reads, and after the earlier siblings that touch what it
/// writes.
///
///     weft::spawn([&] { b = a + 1; }, weft::in(a), weft::out(b), weft::label("add"));
///
/// Returns nothing when `f` returns nothing, else a handle of the result. The callable is moved
/// into the task, and lives until the task and all of its descendants are complete. The handle, the
/// group or the parent's taskwait() rethrows what `f` throws.
///
/// Cost. One allocation (pooled) for descriptor, closure and accesses.
/// Threads. Any; the first call starts the runtime.
/// Errors. out_of_resources when no memory is left; bad_setting when the first call finds a wrong
/// setting; shut_down; and what copying the callable throws. After an error no task was created.
/// Source. The order of tasks follows the OmpSs-2 model.
template <class F, class... Clauses>
decltype(auto) spawn(F &&f, const Clauses &...clauses) {
  return detail::spawn_in(nullptr, static_cast<F &&>(f), clauses...);
}

/// Waits until every child that the current task has spawned outside of groups, and all of their
/// descendants, are complete; then rethrows the first exception of such a child, and reports
/// further ones on standard error.
///
/// A group waits for its own tasks: task_group::wait().
///
/// Cost. No allocation. Ready children run in place; otherwise one suspension.
/// Threads. Any.
/// Blocks. Yes: the worker runs other tasks meanwhile.
/// Errors. no_block in a service or an onready function; out_of_resources when no stack is left to
/// go on with; shut_down.
WEFT_API void taskwait();

namespace detail {
/// Waits no longer than the limit says. Returns whether the children are complete.
[[nodiscard]] WEFT_API bool taskwait_within(const wait_limit &limit);
} // namespace detail

/// @{ Waits as taskwait(), but gives up when a stop is requested, after `most`, or when Clock::now() has
/// reached `time`, also when the clock is set meanwhile. Returns whether the children are complete.
/// After false nothing was thrown, and the next wait is for the same children.
///
/// Cost. No child runs in place: the caller is suspended unless all children are complete.
/// Threads. Any.
/// Blocks. Yes: the worker runs other tasks meanwhile.
/// Errors. As taskwait().
[[nodiscard]] inline bool taskwait(const std::stop_token &stop) {
  return detail::taskwait_within({UINT64_MAX, &stop});
}
template <class Rep, class Period>
[[nodiscard]] bool taskwait_for(const std::chrono::duration<Rep, Period> &most) {
  return detail::taskwait_within(detail::limit_of(most));
}
template <class Clock, class Duration>
[[nodiscard]] bool taskwait_until(const std::chrono::time_point<Clock, Duration> &time) {
  return detail::wait_until_time(
      time, [](const detail::wait_limit &limit) { return detail::taskwait_within(limit); });
}
/// @}

/// Waits until the current task could touch the data in the way that the accesses name. Children of
/// the task that touch other data go on.
///
///     weft::taskwait(weft::in(x));
///     weft::taskwait(weft::in(weft::region(v).span(first, n)));
///
/// The call rethrows nothing: taskwait() rethrows the failures.
///
/// Cost. That of an empty task.
/// Threads. Any.
/// Blocks. Yes.
/// Errors. As spawn() and taskwait().
template <class... Accesses>
  requires(sizeof...(Accesses) > 0 &&
           ((std::is_same_v<Accesses, access> || std::is_same_v<Accesses, region_access>) && ...))
void taskwait(const Accesses &...accesses) {
  spawn([] {}, accesses..., if_(false), label("taskwait on"));
}
/// @{ Waits in the same way for accesses that are known only at run time. The call reads the list
/// before it returns.
inline void taskwait(std::span<const region_access> list) {
  spawn([] {}, regions(list), if_(false), label("taskwait on"));
}
inline void taskwait(std::span<const access> list) {
  spawn([] {}, accesses(list), if_(false), label("taskwait on"));
}
/// @}

/// @{
/// Gives up some of the running task's accesses before its body ends. Tasks that wait only for
/// these accesses may start, as they could at the end of the body.
///
///     weft::release(weft::out(x));
///     weft::release(weft::out(weft::region(v).span(0, n)));
///
/// - The address of an access counts, not its mode. Of a region the bytes count; they may be a part
///   of the region that the task has declared.
/// - Children that the task spawned before, and that touch the data, delay the release until they
///   have released the data, too.
/// - Afterwards the task, and children that it spawns later, must not touch the data.
/// - Releasing the same data again is harmless, and a null address is ignored.
/// - If the task's children use regions, an object stays held until these children are complete.
/// - A task that shares other bytes with the caller goes on waiting for these bytes.
/// - In a child of a final task the call does nothing, because the accesses of such a child were
///   never entered.
///
/// Cost. A look through the task's accesses, and what the end of the body then need not do.
/// Threads. That of the running task.
/// Errors. invalid_argument for an access that the task has not declared; then no access is
/// released. out_of_resources without memory for a part of a region. not_a_task on a thread, in a
/// service, in an onready function, and in a branch of join() that another worker runs.
WEFT_API void release(std::span<const access> list);
WEFT_API void release(std::span<const region_access> list);
template <class First, class... More>
  requires((std::is_same_v<First, access> || std::is_same_v<First, region_access>) &&
           (std::is_same_v<More, First> && ...))
void release(const First &first, const More &...more) {
  const First list[] = {first, more...};
  release(std::span<const First>(list));
}
/// @}

/// Lets other ready work run first. Returns at once when there is none, and in a service or the like.
///
/// Threads. Any.
/// Errors. As start().
WEFT_API void taskyield();

/// Holds what the caller can ask about itself and about time.
///
/// Cost. The first four functions take a few instructions and never start the runtime.
/// Threads. Any.
namespace this_task {

/// Returns the label of the running task; "main" for the first thread, "thread" for other threads
/// of the user.
[[nodiscard]] WEFT_API const char *label() noexcept;
/// Returns true in a final task or a descendant of one.
[[nodiscard]] WEFT_API bool in_final() noexcept;
/// Returns the amount of the running task's clause cost; 0 without one.
[[nodiscard]] WEFT_API std::uint64_t cost() noexcept;
/// Returns true when the group of the running task has been cancelled.
[[nodiscard]] WEFT_API bool cancelled() noexcept;
/// Suspends the caller for at least `ns` nanoseconds; 0 or less is a taskyield(). The first call
/// starts a thread that keeps the time.
///
/// Blocks. Yes: the worker runs other tasks meanwhile.
/// Errors. As taskwait().
WEFT_API void sleep_for_ns(std::int64_t ns);

/// Suspends the caller for any duration. One that does not fit 64 bits of nanoseconds lasts for
/// ever.
template <class Rep, class Period>
void sleep_for(std::chrono::duration<Rep, Period> time) {
  sleep_for_ns(detail::whole_nanoseconds(time));
}
/// Suspends the caller until Clock::now() has reached `end`, also when the clock is set meanwhile.
template <class Clock, class Duration>
void sleep_until(std::chrono::time_point<Clock, Duration> end) {
  for (auto now = Clock::now(); now < end; now = Clock::now())
    sleep_for(end - now);
}

} // namespace this_task
} // namespace weft::inline v0
