// SPDX-License-Identifier: Apache-2.0
// Ranks: the processes of a job, or tasks of this process.
#pragma once

#include <weft/net/inproc.hpp>
#include <weft/net/team.hpp>

#include <functional>

namespace weft::inline v0 {
namespace net {

/// @{ Calls `rank(team)` once for each rank, each in a task, and returns when all of them, and the
/// tasks that they have spawned, have ended. The workers are shared by the ranks.
///
/// A rank whose function throws, or whose children's exceptions no wait has taken, is lost to the
/// others, so that these do not wait for it. The first exception is rethrown in the end.
///
/// Threads. Any.
/// Blocks. Yes: the worker runs other tasks meanwhile.
/// Errors. Those of inproc_world and of spawn(), and what the ranks throw.
WEFT_API void run_ranks(const inproc_world &world, const std::function<void(team &)> &rank);
inline void run_ranks(int ranks, const std::function<void(team &)> &rank) {
  run_ranks(inproc_world(ranks), rank);
}
/// @}

/// Calls `rank(team)` once, as the rank of the job that has started this process: by `weft launch`,
/// mpirun, mpiexec or srun. Without a job, `net.size` ranks (one if that is unset) are tasks of this
/// process, as above.
///
/// - All processes of the job call it, once. It returns when all ranks and the tasks that they have
///   spawned have ended.
/// - A rank whose function throws is lost to the others, and the exception is rethrown.
/// - When a process is lost, operations that wait for it end with lost_rank; with net.loss=abort, which
///   is the default, the job ends within two seconds.
///
/// Threads. Any.
/// Blocks. Yes: the worker runs other tasks meanwhile; while the ranks meet, the thread.
/// Errors. bad_setting, where the environment does not say which rank this is, or says it wrongly;
/// not_supported for an engine that is not there; out_of_resources if the ranks do not meet. Those of
/// spawn(), and what the rank throws. already_started for a second call in a job.
WEFT_API void run_ranks(const std::function<void(team &)> &rank);

} // namespace net
} // namespace weft::inline v0
