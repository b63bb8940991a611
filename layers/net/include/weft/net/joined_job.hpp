// SPDX-License-Identifier: Apache-2.0
// Unstable: how another layer than weft::net becomes a rank of a job. Changes with any version.
#pragma once

#include <weft/config.hpp>
#include <weft/net/transport.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace net {

/// Is this process among those of a job that have met. Its engine is the caller's to use.
class WEFT_API joined_job {
 public:
  /// Joins the job that has started this process: by `weft launch`, mpirun, mpiexec or srun. Returns null
  /// without one.
  ///
  /// Blocks. The thread, until all have joined.
  /// Errors. As run_ranks() without a number.
  static std::unique_ptr<joined_job> of_process();
  /// Joins a job whose rank 0 listens at HOST:PORT. The job's key is the setting net.key; without it,
  /// any process that reaches the port may join.
  ///
  /// Blocks. The thread, for some seconds at most. Errors. out_of_resources, not_supported, bad_setting.
  static std::unique_ptr<joined_job> at(const std::string &root, int rank, int size, int seconds);
  /// Joins a job whose processes can already talk: `share(text)` returns the text of rank 0 to all.
  ///
  /// Blocks. Errors. As at().
  static std::unique_ptr<joined_job>
  by(const std::function<std::string(const std::string &text)> &share, int rank, int size);
  joined_job(const joined_job &) = delete;
  joined_job &operator=(const joined_job &) = delete;
  /// Without leave(), the others take this process for lost.
  ~joined_job();

  /// Returns where each rank is: "pid 12 on node1".
  [[nodiscard]] std::vector<std::string> places() const;
  /// Returns the engine, once.
  [[nodiscard]] std::unique_ptr<engine> take_engine();
  /// Begins to listen for losses. `lost(rank)` is called by a thread of the job, until leave().
  /// With net.loss=abort the process ends soon after such a call.
  void start(std::function<void(int rank)> lost);
  /// Ends the listening.
  void stop() noexcept;
  /// Leaves in order, after the engine has ended; rank 0 may wait for the others.
  void leave();

 private:
  struct state;
  explicit joined_job(std::unique_ptr<state> made);
  std::unique_ptr<state> m_state;
};

} // namespace net
} // namespace weft::inline v0
