// SPDX-License-Identifier: Apache-2.0
// How code that runs in a task of another layer (OpenMP) uses Weft.
#pragma once

#include <weft/layer/task_source.hpp>

#include <exception>

namespace weft_mpi {

/// Calls `f`, which may use Weft, whatever of another layer runs here. What `f` throws reaches the caller, and passes
/// through no function of that layer, which has put another thread-local block in place meanwhile.
template <class F>
void in_weft(bool of_other_layer, F &&f) {
  if (!of_other_layer) {
    f();
    return;
  }
  struct job {
    F &f;
    std::exception_ptr failed;
  } j{f, {}};
  weft::layer::offered_tasks()->call_in_weft(
      [](void *p) {
        auto &own = *static_cast<job *>(p);
        try {
          own.f();
        } catch (...) {
          own.failed = std::current_exception();
        }
      },
      &j);
  if (j.failed)
    std::rethrow_exception(j.failed);
}

} // namespace weft_mpi
