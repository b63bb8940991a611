// SPDX-License-Identifier: Apache-2.0
// What the environment says about the place of this process in a job: `weft launch` and people set
// net.root and its like; mpirun, mpiexec and srun have variables of their own.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace weft_net {

/// Is where the ranks meet when no setting says so.
enum class meeting {
  given,     ///< at net.root, where another process listens
  rank_zero, ///< at net.root, where rank 0 listens
  process_manager, ///< where rank 0 says, through the PMI of the program that started the ranks
  site_store, ///< where rank 0 says, through the PMIx of that program
  one_host,  ///< all are on this host: rank 0 writes it to a file of the user
  engine,    ///< where rank 0 says, through the engine, which is MPI
};

struct membership {
  int rank = 0, size = 1;
  meeting meet = meeting::given;
  std::string root; ///< HOST:PORT
  std::string key;
  std::string launcher; ///< the program that started the ranks, for people
  std::string job;      ///< its name for the job; of one_host
  int pmi = -1;         ///< the descriptor of PMI; of process_manager
};

/// Is the settings net.*, by key without "net.", and variables of other programs; null where unset.
struct environment_reader {
  std::function<std::string(const char *)> setting;
  std::function<const char *(const char *)> variable;
};

/// Returns the place; nothing if this process is no rank of a job. Throws std::runtime_error, with a
/// text for people, where the environment contradicts itself or leaves something out.
[[nodiscard]] std::optional<membership> find_membership(const environment_reader &from);

/// Publishes `value` at rank 0, and returns it at all ranks, by a file in the user's own folder under
/// /dev/shm; the ranks ask for some seconds. Throws std::runtime_error.
[[nodiscard]] std::string share_by_file(const std::string &job, int rank, const std::string &value,
                                        int seconds);
/// Removes the file.
void end_share_by_file(const std::string &job) noexcept;

} // namespace weft_net
