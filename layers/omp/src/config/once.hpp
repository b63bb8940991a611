// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft_omp {

/// Calls a function when the object is made. An object with static storage makes one call: in a
/// function when control first comes there, and outside of functions when the library is loaded.
struct once {
  template <class F>
  explicit once(F f) {
    f();
  }
};

} // namespace weft_omp
