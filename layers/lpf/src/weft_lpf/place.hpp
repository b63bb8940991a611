// SPDX-License-Identifier: Apache-2.0
// Where a process is among others.
#pragma once

namespace weft_lpf {

/// Says which processes a context has, and what lpf_exec() can use in it.
struct place {
  unsigned pid = 0, processes = 1;
  unsigned all = 1;  ///< processes of the machine
  unsigned free = 1; ///< for lpf_exec()
  bool is_hooked = false; ///< these are processes that lpf_hook() has joined, and not threads
};

} // namespace weft_lpf
