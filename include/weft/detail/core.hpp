// SPDX-License-Identifier: Apache-2.0
// What the templates of the public headers and the library agree on. Not for users: it changes with the version.
#pragma once

#include <weft/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>

namespace weft::inline v0 {

class task_group;
struct access;
struct region_access;

namespace detail {

struct task;
struct frame;

/// Holds the properties of a runnable in one word, and is copied as such.
struct runnable_traits {
  enum class kind : std::uint8_t {
    task,
    frame,
    join,
    recorded
  }; // in two bits; those above name a set of workers that alone may run it
  kind what = kind::task;
  std::uint8_t flags = 0; // task_flag, of tasks only
  std::int16_t priority = 0;
  std::uint32_t extent = 0; // of tasks: number of accesses

  [[nodiscard]] constexpr kind base() const noexcept {
    return static_cast<kind>(static_cast<unsigned>(what) & 3u);
  }
  /// Returns the number of that set; 0: all workers.
  [[nodiscard]] constexpr unsigned confinement() const noexcept {
    return static_cast<unsigned>(what) >> 2;
  }
  constexpr void confine(unsigned set) noexcept {
    what = static_cast<kind>((static_cast<unsigned>(what) & 3u) | set << 2);
  }
};

/// Names what a scheduler orders: a task, a suspended frame, a join job, or a round of a recorded
/// task.
struct runnable : runnable_traits {
  runnable *next = nullptr; // owned by the queue that holds it
};

enum task_flag : std::uint8_t {
  k_final = 1, // its children run in place
  k_undeferred = 2, // the creator waits and runs it itself
  k_wait = 4, // its accesses are released when its children are complete
  k_tracked = 8, // a handle refers to it
  k_destroys = 16, // its closure or its result has a destructor: body_ops::traits
  k_cancelled = 32, // skipped or failed: the body did not end normally
  k_special = 64, // needs a look before it runs: own stack size, onready
  k_implicit = 128, // stands for a thread or a join branch; lives on its stack
};

/// Lists the states of the futures that a state of several waits for. The creator has refused null ones.
struct input_list {
  task *const *first = nullptr;
  std::size_t count = 0;
  bool any = false; // not all of them have to be ready
};

/// Returns what the compiler calls F, amid a signature: "... F = main()::<lambda()>]".
template <class F>
constexpr const char *closure_name() noexcept {
  return __PRETTY_FUNCTION__;
}

/// Holds the operations of one closure type; there is one constant object per type.
struct body_ops {
  constexpr body_ops(void (*invoke_f)(void *), void (*destroy_f)(void *) noexcept,
                     void (*destroy_result_f)(void *) noexcept, bool destroys, std::size_t size,
                     const char *closure_name = nullptr,
                     input_list (*inputs_f)(const void *) noexcept = nullptr) noexcept
      : invoke(invoke_f), destroy(destroy_f), destroy_result(destroy_result_f),
        bytes(static_cast<std::uint32_t>((size + 7) & ~std::size_t{7})), closure(closure_name),
        inputs(inputs_f) {
    traits.flags =
        destroys
            ? k_destroys
            : 0; // a parameter: under UBSan the address of a function is no constant to compare
  }

  void (*invoke)(void *storage); // may throw
  void (*destroy)(void *storage) noexcept; // null: trivial
  void (*destroy_result)(void *storage) noexcept; // null: no result, or that of a promise, trivial
  std::uint32_t bytes; // of the storage, a multiple of 8
  runnable_traits traits; // of its tasks
  const char
      *closure; // names the closure's type, and with it the place of a lambda; see closure_name()
  input_list (*inputs)(const void *storage) noexcept; // null: no state of several futures
};

inline constexpr std::size_t k_storage_offset = 96; // the closure is behind the task's header
inline constexpr std::size_t k_storage_align = 32;
inline constexpr std::size_t k_most_accesses = 0x7FFFFFFF; // of one task

/// Holds everything that a clause can ask for beyond accesses.
struct spawn_options {
  const char *label = nullptr;
  task_group *group = nullptr;
  void (*onready)(void *context) = nullptr;
  void *onready_context = nullptr;
  std::size_t stack_bytes = 0;
  std::uint64_t cost = 0;
  std::int32_t priority = 0;
  std::uint8_t flags = 0;
};

/// Throws weft::error for a list of more accesses than a task may have.
[[noreturn]] WEFT_API void refuse_accesses(std::size_t count);
/// Allocates a task of a group (or null). The caller constructs the closure at storage(task).
/// Throws weft::error when memory is gone or after shutdown.
WEFT_API task *task_create(const body_ops &ops, std::size_t accesses, task_group *group);
WEFT_API task *task_create_with(const body_ops &ops, std::size_t accesses,
                                const spawn_options &options);
/// Allocates a task with a handle, and with no accesses and no other option.
WEFT_API task *task_create_tracked(const body_ops &ops, task_group *group);
/// Frees a task whose closure could not be constructed.
WEFT_API void task_abandon(task *t) noexcept;
/// Enters the task's accesses and lets the task run as they allow: no access, one, or two lists.
WEFT_API void task_submit(task *t);
WEFT_API void task_submit(task *t, const access &only);
WEFT_API void task_submit(task *t, const access *first, std::size_t first_count,
                          const access *second, std::size_t second_count);

/// Holds all accesses of a task of which some are regions.
struct submission {
  const access *named = nullptr;
  std::size_t named_count = 0;
  const access *list = nullptr;
  std::size_t list_count = 0;
  const region_access *named_regions = nullptr;
  std::size_t named_region_count = 0;
  const region_access *region_list = nullptr;
  std::size_t region_list_count = 0;
};
/// Submits as task_submit(). Throws weft::error, invalid_argument, for an invalid region; the task
/// is gone then.
WEFT_API void task_submit_regions(task *t, const submission &submitted);

inline void *storage(task *t) noexcept { return reinterpret_cast<char *>(t) + k_storage_offset; }

WEFT_API void task_wait_done(task *t); // body and events
/// Waits for a task that is there, through a handle that no other thread uses. Returns whether it may have thrown.
[[nodiscard]] WEFT_API bool task_wait_result(task *t);
/// Says of the running task that its closure needs no destructor any more, and its result none.
WEFT_API void task_holds_no_closure(void *storage) noexcept;
WEFT_API bool task_is_done(const task *t) noexcept;
WEFT_API std::exception_ptr task_take_exception(task *t) noexcept;
WEFT_API void task_drop_handle(task *t) noexcept;
/// Keeps the block of a task that is submitted next.
WEFT_API void task_add_reference(task *t) noexcept;
/// Drops that, and waits before for the end of a task that was to end before its creator goes on.
WEFT_API void task_wait_undeferred(task *t);

/// Collects what the end of a task makes ready. Of the library.
struct firing;

/// Waits for the end of a task, or for the value of a promise. It lives in the waiter: in a frame,
/// in the block of another task, in the promise of a coroutine. From attach on it belongs to the
/// task, until it is fired or detached. `fire` is called once, by the thread that ends the task, and
/// is the last touch. It must not wait, allocate, throw, or call the user's code: it makes a frame
/// ready, hands a record to post(), or passes `all` to one of the functions below.
struct waiter {
  void (*fire)(waiter *self, firing &all) noexcept = nullptr;
  waiter *next = nullptr;
};

/// Attaches a waiter, after task_start(). False: the task has ended, and `fire` is not called. Any
/// thread.
WEFT_API bool task_attach(task *t, waiter *waiting) noexcept;
/// Takes a waiter back. False: it has been fired, or is being fired. Any thread.
WEFT_API bool task_detach(task *t, waiter *waiting) noexcept;

/// Waits with a task, which is not ready before: clause `after`. It lives in the block of that task.
struct after_node : waiter {
  task *before = nullptr; // what is waited for
  task *held = nullptr;
  std::atomic<std::uint32_t> *left = nullptr; // what still holds the task
};
/// Submits a task without accesses that waits for others: `before` of the nodes is set. Throws
/// weft::error; the task is gone then.
WEFT_API void task_submit_after(task *t, after_node *nodes, std::size_t count);
/// Submits a deferred task, which others than the caller know.
void task_submit_shared(task *t);
/// Keeps a task with accesses from becoming ready, before it is submitted; returns whether
/// task_release_held() is to follow the submission. Throws weft::error; the task is gone then.
[[nodiscard]] WEFT_API bool task_hold(task *t, after_node *nodes, std::size_t count);
WEFT_API void task_release_held(task *t, after_node *nodes, std::size_t count) noexcept;
/// Submits a deferred task that no thread has waited for. Call it before task_attach().
WEFT_API void task_start(task *t);

/// Holds a short function that a worker is to call. The caller owns the record and keeps it until
/// the call; the call is the last touch of it by the library.
struct call_record : runnable {
  static constexpr std::uint8_t k_call = 1; // in `flags`: no branch of a join
  explicit call_record(void (*f)(call_record *) noexcept) noexcept : invoke(f) {
    what = kind::join;
    flags = k_call;
  }
  void (*invoke)(call_record *) noexcept;
};

/// Gives the record to the scheduler. `invoke` runs on some worker, as a task without a parent; it
/// may spawn and wait. Allocates nothing. The end of the program does not wait for it. Any thread,
/// also one that does not use Weft, once Weft has started; before that the call starts it.
WEFT_API void post(call_record &call);

/// Holds a branch of a join that another worker may take. It lives on the stack of join().
struct join_job : runnable {
  explicit join_job(void (*f)(join_job *)) noexcept : invoke(f) { what = kind::join; }
  void (*invoke)(join_job *);
  task *parent = nullptr;
  std::atomic<void *> state{nullptr}; // null, the waiting frame, or k_join_done
  std::exception_ptr error;
};

WEFT_API void join_push(join_job *job);
/// Takes the job back. True: the job is the caller's again, and the caller must run it. False:
/// another worker has taken the job.
WEFT_API bool join_pop(join_job *job) noexcept;
WEFT_API void join_wait(join_job *job) noexcept;

} // namespace detail
} // namespace weft::inline v0
