// SPDX-License-Identifier: Apache-2.0
// What the C functions share.
#pragma once

#include "weft_lpf/report.hpp"

#include <lpf/core.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace weft_lpf {

/// Is what an lpf_init_t points to: this process among those that were joined.
class joined {
 public:
  virtual ~joined() = default;
  /// Runs an SPMD function in all of them. Returns whether all went well.
  virtual bool run(lpf_spmd_t spmd, const lpf_args_t &args) = 0;
  /// Is called where run() has failed: what else the process has of LPF fails from then on. The next run() begins anew.
  virtual void enter_failure_state() noexcept {}
};

/// Calls `f()`, and returns LPF's code for what it returned or threw.
template <class F>
lpf_err_t answer(const char *what, F f) noexcept {
  try {
    return f() ? LPF_SUCCESS : LPF_ERR_FATAL;
  } catch (const std::bad_alloc &) {
    return LPF_ERR_OUT_OF_MEMORY;
  } catch (const std::length_error &) {
    return LPF_ERR_OUT_OF_MEMORY;
  } catch (const std::exception &e) {
    report(std::string(what) + " failed: " + e.what());
    return LPF_ERR_FATAL;
  }
}

} // namespace weft_lpf
