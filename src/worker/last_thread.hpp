// SPDX-License-Identifier: Apache-2.0
// The substitute of the program's first thread once that has ended by pthread_exit().
// Without it Weft's threads would keep the process alive for ever, and take no signals.
#pragma once

namespace weft::inline v0 {
namespace rt {

class runtime;

/// Returns the number of threads that are Weft's own, or that it has adopted.
[[nodiscard]] unsigned known_threads(runtime &rt) noexcept;

/// Starts a thread of a layer, which runs to the end of the process and counts as Weft's own. Returns
/// zero, or the errno value that says why there is none.
[[nodiscard]] int start_layer_thread(const char *name, void (*run)(void *), void *argument) noexcept;
void forget_layer_threads_in_child() noexcept;

/// Starts the substitute, once, if the first thread of the process is the caller, which ends, or
/// has ended before. The caller is a thread that ends and is no longer adopted.
/// The substitute has the caller's signal mask, so it takes the signals that the program left open.
/// It calls exit() when only Weft's threads are left, as the C library does when no thread is.
void stand_for_first_thread() noexcept;

/// Says, as long as it lives, that the caller ends Weft's threads, so that the substitute waits for
/// the caller: a thread that has ended is counted as Weft's until it is joined.
class end_of_threads {
 public:
  end_of_threads() noexcept;
  ~end_of_threads();
  end_of_threads(const end_of_threads &) = delete;
  end_of_threads &operator=(const end_of_threads &) = delete;
};

} // namespace rt
} // namespace weft::inline v0
