// SPDX-License-Identifier: Apache-2.0
// From handles of ALPI to tasks of Weft, and from exceptions to codes.
#pragma once

#include <alpi/alpi.h>
#include <weft/error.hpp>
#include <weft/layer/task.hpp>

#include <new>

namespace weft_alpi {

inline weft::task_ref ref(alpi_task *task) noexcept { return weft::task_ref(reinterpret_cast<weft::detail::task *>(task)); }
inline alpi_task *handle(weft::task_ref ref) noexcept { return reinterpret_cast<alpi_task *>(ref.get()); }

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

template <class F>
int guarded(F &&f) noexcept {
  try {
    f();
    return ALPI_SUCCESS;
  } catch (const weft::error &e) {
    return code_of(e.code());
  } catch (const std::bad_alloc &) {
    return ALPI_ERR_OUT_OF_MEMORY;
  } catch (...) {
    return ALPI_ERR_UNKNOWN;
  }
}

/// 0 when `task` is the one that calls.
inline int check_caller(alpi_task *task) noexcept {
  const weft::task_ref self = weft::layer::running_task();
  if (!self)
    return ALPI_ERR_OUTSIDE_TASK;
  return task == handle(self) ? ALPI_SUCCESS : ALPI_ERR_PARAMETER;
}

} // namespace weft_alpi
