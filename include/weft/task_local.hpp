// SPDX-License-Identifier: Apache-2.0
// Task-local storage: to tasks what thread_local is to threads.
#pragma once

#include <weft/detail/core.hpp>

#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

namespace detail {

/// Says how the values of one variable are made and destroyed.
struct local_ops {
  std::size_t bytes;
  std::size_t alignment;
  void (*construct)(void *storage, const void *variable); // may throw
  void (*destroy)(void *storage) noexcept;
};

/// Returns a number that no other variable has had.
WEFT_API std::uint64_t local_key() noexcept;
/// Returns the running task's value, and makes it on first use.
WEFT_API void *local_value(std::uint64_t key, const local_ops &ops, const void *variable);

} // namespace detail

/// Holds one value for each task. The value moves with its task from thread to thread, unlike that
/// of a `thread_local` variable. A child does not inherit it.
///
///     static weft::task_local<int> depth(0);
///     weft::spawn([] { ++*depth; });
///
/// - A task's value is made when the task first asks for it: a copy of the initial value, else
///   `T()`.
/// - It is destroyed when the body has ended: after the body's own variables, and before the task's
///   accesses are released. A task destroys its newest value first.
/// - The branches of a join see the value of the task that called join().
/// - A thread of the user has a value until the thread ends; the first thread has one until exit()
///   or shutdown().
///
/// A task_local is not meant for shared data: capture a reference instead. A destructor of T must
/// not throw. The variable must outlive the tasks that use it.
///
/// Cost. The first use in a task: two allocations. A later use: a walk over the values of the task.
/// Threads. Any task or thread; each sees its own value. The two branches of a join share one
/// value.
/// Errors. What T's constructor throws; out_of_resources; not_a_task in a service or an onready
/// function; shut_down.
template <class T>
class task_local {
 public:
  task_local() noexcept
    requires std::is_default_constructible_v<T>
  = default;
  /// Creates a variable whose value begins as a copy of `initial` in each task.
  explicit task_local(T initial) : m_initial(std::move(initial)) {}
  task_local(const task_local &) = delete;
  task_local &operator=(const task_local &) = delete;

  /// @{ Returns the value of the running task.
  [[nodiscard]] T &get() const {
    return *static_cast<T *>(detail::local_value(m_key, k_ops, this));
  }
  T &operator*() const { return get(); }
  T *operator->() const { return &get(); }
  /// @}

 private:
  static void construct(void *storage, const void *variable) {
    const auto &initial = static_cast<const task_local *>(variable)->m_initial;
    if constexpr (std::is_copy_constructible_v<T>) {
      if (initial) {
        ::new (storage) T(*initial);
        return;
      }
    }
    if constexpr (std::is_default_constructible_v<T>)
      ::new (storage) T();
  }
  static void destroy(void *storage) noexcept { static_cast<T *>(storage)->~T(); }
  static constexpr detail::local_ops k_ops{sizeof(T), alignof(T), &construct, &destroy};

  static_assert(std::is_copy_constructible_v<T> || std::is_default_constructible_v<T>,
                "a task_local makes its values by copying the initial one, or by T()");
  const std::uint64_t m_key = detail::local_key();
  std::optional<T> m_initial;
};

} // namespace weft::inline v0
