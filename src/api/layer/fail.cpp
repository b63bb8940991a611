// SPDX-License-Identifier: Apache-2.0
#include "task/failure.hpp"

#include <weft/layer/task.hpp>

#include <utility>

namespace weft::inline v0 {
namespace layer {

void fail_task(task_ref task, std::exception_ptr error) noexcept {
  rt::hand_over_failure(*task.get(), std::move(error));
}

} // namespace layer
} // namespace weft::inline v0
