// SPDX-License-Identifier: Apache-2.0
// Unstable: how a layer says what tasks wait for outside of this process, for reports of hangs,
// `weft dump` and `weft why`. Changes with any version.
#pragma once

#include <weft/block.hpp>
#include <weft/future/promise.hpp>
#include <weft/sync/event.hpp>

#include <string>
#include <vector>

namespace weft::inline v0 {
namespace layer {

/// Is a wait, in words: "task 'a' waits for WHAT OWNER".
struct outside_wait {
  const void *waiter; ///< waiter_of()
  std::string what; ///< "notification 7, of which 1 of 3 have come, from"
  std::string owner; ///< "rank 1 (pid 12 on node1)"
  /// "halo": the label of the task that waits, of which the layer knows that it is alive and goes on waiting
  /// during the call. While services exist, which may continue tasks at any time, `weft dump` and `weft why` look
  /// at no tasks, and show the waits that have a name. Empty: not known.
  std::string waiter_name{};
};

namespace detail_of_waits {
struct promise_state : weft::detail::promise_base {
  static const void *of(const promise_base &of) noexcept { return of.*(&promise_state::m_state); }
};
} // namespace detail_of_waits
/// @{ Names what ends when an external event of the task is taken back, the promise is kept, or the
/// event is set.
[[nodiscard]] inline const void *waiter_of(task_ref task) noexcept { return task.get(); }
[[nodiscard]] inline const void *waiter_of(const weft::detail::promise_base &promise) noexcept {
  return detail_of_waits::promise_state::of(promise);
}
[[nodiscard]] inline const void *waiter_of(const event &event) noexcept { return &event; }
/// @}

/// Is a part of a layer that knows such waits.
class WEFT_API outside_waits {
 public:
  outside_waits(const outside_waits &) = delete;
  outside_waits &operator=(const outside_waits &) = delete;

 protected:
  outside_waits() = default;
  ~outside_waits() = default;
  /// Has list_waits() called from now on, until withdraw(). Errors. out_of_resources.
  void announce();
  /// Ends it, if it was begun. No thread is in list_waits() afterwards.
  void withdraw() noexcept;

 private:
  /// Adds the waits of now. The watcher calls it while workers stand still, and some of them amid a
  /// call of the layer: it takes no lock but by try_lock, and wakes no task.
  virtual void list_waits(std::vector<outside_wait> &to) = 0;
};

} // namespace layer
} // namespace weft::inline v0
