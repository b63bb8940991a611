// SPDX-License-Identifier: Apache-2.0
// The task object: descriptor, closure and access records in one block.
#pragma once

#include "arch/test_flags.hpp"
#include "base/closure_name.hpp"
#include "base/intrusive_list.hpp"
#include "base/mutant.hpp"
#include "deps/state/access_state.hpp"
#include "task/countdown.hpp"
#include "task/local_list.hpp"
#include "task/wait/block_word.hpp"
#include "task/wait/completion.hpp"
#include "task/wait/event_word.hpp"
#include "ult/thread_context.hpp"
#include "weft/detail/core.hpp"
#include "weft/detail/coro.hpp"
#include "weft/group.hpp"

#include <atomic>
#include <bit>
#include <string_view>

namespace weft::inline v0 {
namespace rt {

using detail::body_ops;
using detail::frame;
using detail::runnable;
using detail::task;

using data_access = basic_data_access<real_atomics, task>;
class domain;
class iteration;

enum class pending_until : std::uint8_t {
  it_may_end,
  it_may_run_again,
  unblocked,
  coroutine_is_over
};

/// Holds what few tasks need. Made by the task itself or, for errors of children, by the first
/// child that fails.
struct task_extra {
  event_word<> events;
  block_word<runnable> block; // the blocked frame, or the task itself: see run_again.cpp
  void (*onready)(void *) = nullptr;
  void *onready_context = nullptr;
  std::size_t stack_bytes = 0;
  std::uint64_t cost = 0;
  void (*instead_of_end)(task &) = nullptr; // when the body returns; of the running task
  bool again_when_over = false; // the last event makes the task run again; ordered by the events
  bool only_destructor = false; // it is run once more, for the destructor of its callable
  struct rerun_clock *clock = nullptr; // of a task that runs again after a time
  std::exception_ptr own_error; // for the handle; published by the done word
  std::atomic<bool> own_failing{
      false}; // own_error is taken: the body and an event may fail at once
  std::atomic<bool> error_was_asked{false}; // the holder of a future has copied own_error
  std::atomic<bool> stop{false}; // a holder of a future asks the task to stop
  struct stop_relay *relay = nullptr; // see stop_relay.hpp; with the lock of the block
  bool gated = false; // `gate` holds the task back; see hold.hpp
  std::atomic<std::uint32_t> gate{0}; // futures that it waits for, beside its accesses
  std::exception_ptr children_error; // of the first failing child; guarded by `failing`
  std::atomic<bool> failing{false};
  detail::coro_root *coroutine = nullptr; // of a body that has begun and waits without a stack
  const void *ran_at = nullptr; // where on a stack a coroutine has run; for reports
  bool ran_at_several = false;
  local_list<> locals; // see locals.hpp
  iteration *iterated = nullptr; // of a taskiter: see recorded.hpp
  detail::task *pending = nullptr; // see pending.hpp, with its lock
  pending_until until{};
  task_extra *next_pending = nullptr, *previous_pending = nullptr;

  task_extra() = default;
  ~task_extra();
  /// Allocates the block. Some memory is reserved, so that failures can be reported when memory is
  /// gone.
  static void *operator new(std::size_t bytes);
  static void operator delete(void *p) noexcept;
};

} // namespace rt

namespace detail {

inline constexpr body_ops k_no_body{nullptr, nullptr, nullptr, false, 0};

/// Replaces the closure in a task that a layer runs by itself: see layer/external_task.hpp.
struct external_closure {
  void (*onready)(void *);
  void *context;
};
inline constexpr body_ops k_external{nullptr, nullptr, nullptr, false, sizeof(external_closure)};

/// Describes one task. Its creator and the thread that runs it write the first cache line; other
/// threads write the second one, too.
/// While a task waits for its children `next` names the waiting frame; while it runs in place a task
/// that it waits for, that task; null means that the body has ended.
struct task : runnable {
  const body_ops *ops;
  task *parent;
  task_group *group;
  std::uint32_t owned_children = 0; // plain half of `children`; of the running body
  /// Accesses that still hold the task back, plus one while it is entered. Of a ready task with a
  /// handle: see claim_word.hpp.
  std::atomic<std::uint32_t> unsatisfied;
  std::atomic<std::uint32_t> references; // completion, each live access, the handle
  std::uint32_t trace_id; // only while a trace is written
  const char *label = nullptr;
  rt::domain *children_domain = nullptr; // accesses of the children; of the running body
  // second cache line
  rt::completion_word<> children;
  std::atomic<rt::task_extra *> extra{nullptr};
  /// Waiters, or k_done: see waiters.hpp; only with k_tracked or k_undeferred. In a recorded task
  /// its node, in a join's branch its job.
  std::atomic<void *> done_word{nullptr};

  task(const body_ops &ops, task *parent, task_group *group) noexcept
      : runnable{ops.traits, nullptr}, ops(&ops), parent(parent), group(group), unsatisfied(0),
        references(1) {}
  /// Makes a task with a handle, without accesses.
  task(const body_ops &ops, task *parent, task_group *group, std::uint32_t claim) noexcept
      : runnable{with_handle(ops.traits), nullptr}, ops(&ops), parent(parent), group(group), unsatisfied(claim),
        references(2) {}
  /// Makes a task that represents a thread or a part of one. It has no body, and its reference is
  /// never dropped.
  explicit task(const char *name, task *parent = nullptr) noexcept
      : task(k_no_body, parent, nullptr) {
    label = name;
    trace_id = 0;
    set(k_implicit);
  }
  /// Returns the traits of a task with a handle. As one word: GCC would change the flag alone, byte by byte.
  [[nodiscard]] static runnable_traits with_handle(const runnable_traits &of) noexcept {
    constexpr auto flag = std::bit_cast<std::uint64_t>(runnable_traits{kind{}, k_tracked, 0, 0});
    return std::bit_cast<runnable_traits>(std::bit_cast<std::uint64_t>(of) | flag);
  }
  [[nodiscard]] bool has(std::uint8_t flag) const noexcept { return (flags & flag) != 0; }
  /// Returns the same for a task whose body may be running, failing or ending on another thread.
  [[nodiscard]] bool has_meanwhile(std::uint8_t flag) const noexcept {
    return rt::unless(rt::bug::flag_unseen_meanwhile, rt::test_flags(flags, flag));
  }
  /// Returns, in one comparison, whether the task has none of these flags and no priority.
  [[nodiscard]] bool is_plain(std::uint8_t but) const noexcept {
    constexpr auto bits = [](kind k, std::uint8_t f, std::int16_t p, std::uint32_t n) {
      return std::bit_cast<std::uint64_t>(runnable_traits{k, f, p, n});
    };
    return (bits(what, flags, priority, 0) & bits(kind{}, but, -1, 0)) == 0;
  }
  /// Returns, in one comparison, whether the task has no accesses, no priority, none of these flags, and is
  /// confined to no workers.
  [[nodiscard]] bool is_simple(std::uint8_t but) const noexcept {
    constexpr auto bits = [](kind k, std::uint8_t f, std::int16_t p, std::uint32_t n) {
      return std::bit_cast<std::uint64_t>(runnable_traits{k, f, p, n});
    };
    return (bits(what, flags, priority, extent) & bits(kind{0xFC}, but, -1, ~0U)) == 0;
  }
  /// Returns, in one comparison, whether its children take the general path: the task is final, or
  /// confined to some workers.
  [[nodiscard]] bool children_need_general_path() const noexcept {
    struct head {
      kind what;
      std::uint8_t flags;
    };
    constexpr auto bits = [](kind k, std::uint8_t f) {
      return std::bit_cast<std::uint16_t>(head{k, f});
    };
    return (bits(what, flags) & bits(kind{0xFC}, k_final)) != 0;
  }
  void set(std::uint8_t flag) noexcept {
    __atomic_store_n(
        &flags, static_cast<std::uint8_t>(rt::unless(rt::bug::flag_set_alone, flags | flag, flag)),
        __ATOMIC_RELAXED);
  }
  void clear(std::uint8_t flag) noexcept {
    __atomic_store_n(&flags, static_cast<std::uint8_t>(flags & ~flag), __ATOMIC_RELAXED);
  }
  rt::data_access *accesses() noexcept {
    return reinterpret_cast<rt::data_access *>(static_cast<char *>(storage(this)) + ops->bytes);
  }
  static constexpr std::size_t block_bytes(const body_ops &ops, std::size_t accesses) noexcept {
    return k_storage_offset + ops.bytes + accesses * sizeof(rt::data_access);
  }
};
static_assert(sizeof(task) <= k_storage_offset);

} // namespace detail

namespace rt {

inline void *const k_done = reinterpret_cast<void *>(std::uintptr_t{1});
inline void *const k_runnable_now =
    reinterpret_cast<void *>(std::uintptr_t{2}); // undeferred: may be run by its creator

using ready_list = intrusive_queue<runnable>;

/// Returns the extra block of a task, which is made on first use. Any thread.
task_extra &make_extra(task &t);
task_extra *try_extra_of(task &t) noexcept; // null without memory
inline task_extra *peek_extra(const task &t) noexcept {
  return t.extra.load(std::memory_order_acquire); // O1: pairs with the publication in extra_of
}
inline bool is_external(const task &t) noexcept { return t.ops == &detail::k_external; }
inline detail::external_closure &external_closure_of(task &t) noexcept {
  return *static_cast<detail::external_closure *>(detail::storage(&t));
}
inline task_extra &extra_of(task &t) {
  task_extra *x = peek_extra(t);
  return x ? *x : make_extra(t);
}

/// Frees the block of a task to which no reference is left, to `mine` if that is its home. Any
/// thread.
void free_task(task &t, heap *mine) noexcept;
inline heap *own_heap() noexcept {
  thread_context *e = this_thread_context();
  return e ? e->memory : nullptr;
}

/// Adds references to a task that only the caller knows, but for threads that have a handle: these
/// copy and drop handles meanwhile.
inline void add_references(task &t, std::uint32_t n) noexcept {
  if (unless(bug::handles_ignored, t.has(detail::k_tracked)))
    t.references.fetch_add(n, std::memory_order_relaxed); // O2 of countdown.hpp
  else
    t.references.store(t.references.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
}
/// Drops `n` references; the last one frees the block. Any thread.
inline void drop_references(task &t, std::uint32_t n) noexcept {
  if (take_away(t.references, unless(bug::task_freed_early, n, n + 1)))
    free_task(t, own_heap());
}

/// Returns where the closure of a task was written, as the compiler calls it: "main()::<lambda()>";
/// empty for the C functions.
[[nodiscard]] inline std::string_view closure_of(const task &t) noexcept {
  return closure_in(t.ops ? t.ops->closure : nullptr);
}

[[nodiscard]] inline const char *label_of(const task &t) noexcept {
  return t.label ? t.label : "task";
}

} // namespace rt
} // namespace weft::inline v0
