// SPDX-License-Identifier: Apache-2.0
// The models' counterpart of suspended tasks: a frame that a model thread leaves and that a waker
// makes ready.
#pragma once

#include "checker/models.hpp"

namespace weft_model {

/// Lives, like the runtime's frames, on the stack of the waiter: an access after make_ready races
/// with its end.
struct model_frame {
  /// What the runtime's frame holds: the waiter writes it when it leaves the stack, and the thread
  /// that resumes the frame reads it.
  model_var<int> left{0};
  model_atomic<int> ready{0};
};

/// Makes the frame ready, with the last access to it. The runtime's way through a queue orders as
/// much.
inline void make_ready(model_frame &f) {
  expect(f.left.get() == 1, "a frame that is made ready has been left");
  f.ready.store(1, std::memory_order_release);
}

/// Leaves the stack, calls `publish`, and continues when the frame has been made ready. `publish`
/// returns false when the frame may continue at once.
template <class Publish>
void suspend(Publish publish) {
  model_frame f;
  f.left.set(1);
  if (!publish(f))
    make_ready(f);
  model_atomics::await(f.ready, [](int ready) { return ready == 1; }, std::memory_order_acquire);
}

} // namespace weft_model
