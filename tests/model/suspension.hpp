// SPDX-License-Identifier: Apache-2.0
// What stands for suspended tasks in the models: a frame that a model thread leaves and that somebody makes ready.
#pragma once

#include "checker/models.hpp"

namespace weft_model {

/// Lives, like the runtime's frames, on the stack of the one who waits: whoever touches it after make_ready races with its end.
struct model_frame {
  model_var<int> left{0}; // what the runtime's frame holds: written when the stack is left, read by who continues it
  model_atomic<int> ready{0};
};

/// The last touch of the frame. The runtime's way through a queue orders as much.
inline void make_ready(model_frame &f) {
  expect(f.left.get() == 1, "a frame that is made ready has been left");
  f.ready.store(1, std::memory_order_release);
}

/// Leaves the stack, tells `publish`, and goes on when the frame has been made ready. Publish returns false when the frame may
/// go on at once.
template <class Publish>
void suspend(Publish publish) {
  model_frame f;
  f.left.set(1);
  if (!publish(f))
    make_ready(f);
  model_atomics::await(f.ready, [](int ready) { return ready == 1; }, std::memory_order_acquire);
}

} // namespace weft_model
