// SPDX-License-Identifier: Apache-2.0
// The processes of a job, as those of LPF: process 0 has the program, and the others wait for its orders.
// Bodies: processes.cpp
#pragma once

#include "weft_lpf/context.hpp"

#include <weft/net/joined_job.hpp>

#include <lpf/core.h>

#include <memory>

namespace weft_lpf {

/// Is this process in a job whose processes are joined by a link.
class process_job {
 public:
  /// Errors. weft::error.
  explicit process_job(std::unique_ptr<weft::net::joined_job> joined);
  process_job(const process_job &) = delete;
  process_job &operator=(const process_job &) = delete;
  ~process_job();

  [[nodiscard]] link &below() noexcept { return *m_link; }
  [[nodiscard]] unsigned pid() const noexcept { return static_cast<unsigned>(m_link->rank()); }
  [[nodiscard]] unsigned processes() const noexcept {
    return static_cast<unsigned>(m_link->size());
  }
  /// Leaves the job in order, when all do. Without it, the others take this process for lost.
  void leave() noexcept;

 private:
  std::unique_ptr<weft::net::joined_job> m_joined;
  link_ptr m_link;
};

/// Returns the job that has started this process, whose process 0 this is; null without
/// other processes.
[[nodiscard]] process_job *job_of_process() noexcept;
/// Runs an SPMD function in processes of the job, this one, which is process 0, included. Returns whether all went well.
[[nodiscard]] bool run_in_processes(process_job &job, unsigned count, lpf_spmd_t spmd,
                                    const lpf_args_t &args);

} // namespace weft_lpf
