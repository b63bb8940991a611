// SPDX-License-Identifier: Apache-2.0
// Translates handles of ALPI to tasks, and exceptions to codes.
//
// A handle is an address with a tag. It is the address of a task of Weft's, of a thread_task, or of
// a task that another layer runs (task_source.hpp).
#pragma once

#include "thread_task.hpp"

#include <alpi/alpi.h>
#include <weft/error.hpp>
#include <weft/layer/task.hpp>
#include <weft/layer/task_source.hpp>

#include <cstdint>
#include <new>
#include <utility>

namespace weft_alpi {

enum class owner : std::uintptr_t { weft = 0, thread = 1, other_layer = 2 };

inline alpi_task *handle(void *p, owner kept) noexcept {
  return reinterpret_cast<alpi_task *>(reinterpret_cast<std::uintptr_t>(p) |
                                       static_cast<std::uintptr_t>(kept));
}
inline owner owner_of(alpi_task *task) noexcept {
  return static_cast<owner>(reinterpret_cast<std::uintptr_t>(task) & 3);
}
inline void *address_of(alpi_task *task) noexcept {
  return reinterpret_cast<void *>(reinterpret_cast<std::uintptr_t>(task) & ~std::uintptr_t{3});
}
inline thread_task &thread_of(alpi_task *task) noexcept {
  return *static_cast<thread_task *>(address_of(task));
}
/// Returns the reference to a task of Weft's, or to a thread.
inline weft::task_ref ref(alpi_task *task) noexcept {
  return owner_of(task) == owner::thread
             ? thread_of(task).self
             : weft::task_ref(static_cast<weft::detail::task *>(address_of(task)));
}

inline alpi_error_t code_of(weft::errc code) noexcept {
  switch (code) {
  case weft::errc::invalid_argument:
  case weft::errc::event_underflow:
  case weft::errc::no_block: // unblocked twice
    return ALPI_ERR_PARAMETER;
  case weft::errc::out_of_resources:
    return ALPI_ERR_OUT_OF_MEMORY;
  case weft::errc::not_a_task:
    return ALPI_ERR_OUTSIDE_TASK;
  case weft::errc::shut_down:
  case weft::errc::bad_setting:
    return ALPI_ERR_NOT_INITIALIZED;
  default:
    return ALPI_ERR_UNKNOWN;
  }
}

/// Calls `f`, which may use Weft, in any kind of caller. Translates the exception of `f` to a code.
template <class F>
int guarded(F &&f) noexcept {
  struct call {
    F &f;
    int code;
    static void make(void *p) noexcept {
      auto &c = *static_cast<call *>(p);
      try {
        c.f();
      } catch (const weft::error &e) {
        c.code = code_of(e.code());
      } catch (const std::bad_alloc &) {
        c.code = ALPI_ERR_OUT_OF_MEMORY;
      } catch (...) {
        c.code = ALPI_ERR_UNKNOWN;
      }
    }
  } c{f, ALPI_SUCCESS};
  if (weft::layer::task_source *const others = weft::layer::offered_tasks())
    others->call_in_weft(&call::make, &c);
  else
    call::make(&c);
  return c.code;
}

/// Finds the task that calls, or the thread. `task` becomes null if there is none. Returns a code.
int find_caller(alpi_task *&task) noexcept;

/// Returns 0 if `task` is the task that calls.
inline int check_caller(alpi_task *task) noexcept {
  alpi_task *self = nullptr;
  if (const int failed = find_caller(self))
    return failed;
  if (!self)
    return ALPI_ERR_OUTSIDE_TASK;
  return task == self ? ALPI_SUCCESS : ALPI_ERR_PARAMETER;
}
/// Returns 0 if any task calls.
inline int require_caller() noexcept {
  alpi_task *self = nullptr;
  const int failed = find_caller(self);
  return failed ? failed : self ? ALPI_SUCCESS : ALPI_ERR_OUTSIDE_TASK;
}

} // namespace weft_alpi
