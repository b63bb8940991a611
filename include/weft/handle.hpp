// SPDX-License-Identifier: Apache-2.0
// The handle of a spawned callable's result.
#pragma once

#include <weft/detail/spawn.hpp>

namespace weft::inline v0 {

namespace detail {

class handle_base {
 public:
  handle_base() noexcept = default;
  explicit handle_base(task *t) noexcept : m_task(t) {}
  handle_base(handle_base &&other) noexcept : m_task(std::exchange(other.m_task, nullptr)) {}
  handle_base &operator=(handle_base &&other) noexcept {
    if (this != &other) {
      drop();
      m_task = std::exchange(other.m_task, nullptr);
    }
    return *this;
  }
  ~handle_base() { drop(); }

  /// Returns true while the handle refers to a task.
  [[nodiscard]] bool valid() const noexcept { return m_task != nullptr; }
  /// Gives the reference of the task away; for the library.
  [[nodiscard]] task *release() && noexcept { return std::exchange(m_task, nullptr); }
  [[nodiscard]] task *internals() const noexcept { return m_task; } ///< for the library
  /// Returns true when the task's body has ended and its external events are done. Never blocks.
  [[nodiscard]] bool ready() const noexcept { return task_is_done(m_task); }
  /// Waits for the task's body and its external events, not for its children. Does not rethrow.
  ///
  /// Blocks. Yes.
  /// Errors. invalid_argument when the handle refers to no task; else as taskwait().
  void wait() const { task_wait_done(m_task); }

 protected:
  void wait_and_rethrow() {
    if (!m_task)
      task_wait_done(nullptr); // throws
    if (!task_wait_result(m_task))
      return;
    if (std::exception_ptr e = task_take_exception(m_task))
      std::rethrow_exception(std::move(e));
  }
  void drop() noexcept {
    if (m_task)
      task_drop_handle(m_task);
    m_task = nullptr;
  }
  task *m_task = nullptr;
};

} // namespace detail

/// Refers to one spawned task. A handle is move-only, and one thread at a time waits through it.
/// Destroying it does not wait: the task runs on, and an exception that no thread asked for is
/// reported on standard error when the task is freed.
///
/// Cost. The handle keeps the task's block (result included) alive.
/// Threads. One at a time uses a handle.
template <class T>
class [[nodiscard]] handle : public detail::handle_base {
 public:
  using detail::handle_base::handle_base;
  /// Waits, rethrows what the body threw (errc::cancelled when the task was skipped), and returns
  /// the result by move. Call it once: afterwards the handle refers to no task.
  ///
  /// Blocks. Yes.
  /// Errors. As wait().
  T get() {
    this->wait_and_rethrow();
    T value = std::move(*this->result());
    this->drop();
    return value;
  }

 private:
  std::remove_reference_t<T> *result() noexcept {
    return &static_cast<detail::result_of<T> *>(detail::storage(m_task))->get();
  }
};

/// Refers to one spawned task whose callable returns nothing.
template <>
class [[nodiscard]] handle<void> : public detail::handle_base {
 public:
  using detail::handle_base::handle_base;
  /// Waits, and rethrows what the body threw (errc::cancelled when the task was skipped).
  ///
  /// Blocks. Yes.
  /// Errors. As wait().
  void get() {
    wait_and_rethrow();
    drop();
  }
};

/// Makes a task wait for the end of another one, beside its accesses: spawn(f, in(x), after(h)).
template <class T>
[[nodiscard]] after_clause after(const handle<T> &earlier) noexcept {
  return after_clause(earlier.internals());
}

} // namespace weft::inline v0
