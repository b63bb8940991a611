// SPDX-License-Identifier: Apache-2.0
// What ranks do in rounds, without data: how long they compute, what they send to which ranks, and how a round ends.
// Needs no SimGrid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace net_scale {

/// Says how a round ends (docs/user/ranks/talpf.md).
enum class mode {
  standard, ///< counts by Bruck's exchange, then a barrier
  cached, ///< a rank knows what comes; acknowledgements where traffic is one-way
  counted, ///< LPF_SYNC_MSG(n): as cached
  cached_barrier, ///< as cached, then a barrier
  published, ///< the default of the paper: 1 + p allreduces that hold a core, then a barrier
  task_mpi, ///< two-sided messages, each waited for by itself
};
inline constexpr int k_modes = 6;
inline constexpr const char *k_mode_names[k_modes] = {
    "default", "cached", "msg", "cached_barrier", "paper_default", "task_mpi"};

enum class app { jacobi, gauss_seidel, gauss_seidel_column, nbody, nbody_priorities, matmul };
inline constexpr int k_apps = 6;
inline constexpr const char *k_app_names[k_apps] = {
    "jacobi", "gauss_seidel", "gauss_seidel_column", "nbody", "nbody_priorities", "matmul"};

/// Holds the costs, in seconds and bytes. The defaults are those of docs/benchmarks/net.md.
struct costs {
  double latency = 1.5e-6; // of the network, one way
  double bandwidth = 12.5e9; // of a rank's link, each way
  double overhead = 0.25e-6; // of a message, at each end
  double jitter = 0.05; // of the work of a rank in a round: at most this share more
  double task = 0; // of a kernel; 0: as the application says
  int cores = 31; // of a rank
  std::uint64_t seed = 1;
};

/// Is a problem on a number of ranks.
struct problem {
  app what = app::jacobi;
  int ranks = 1;
  bool weak = false; // it grows with the ranks
  int rounds = 0; // 0: as the application says
};

/// Is what a rank does in a round: it computes, sends to each of `to`, computes what needs nothing that comes,
/// and waits until `from` ranks have sent.
struct round_plan {
  double before = 0, after = 0; // seconds
  std::vector<int> to;
  std::vector<int> from;
  double bytes = 0; // to each
};

/// Knows the rounds of all ranks.
class plan {
 public:
  plan(const problem &p, const costs &c);
  [[nodiscard]] int rounds() const noexcept { return m_rounds; }
  [[nodiscard]] round_plan of(int rank, int round) const;
  /// Returns the time on one rank without messages, of the work of all ranks together.
  [[nodiscard]] double serial() const;

 private:
  [[nodiscard]] bool is_active(int rank, int round) const;
  [[nodiscard]] double work(int rank, int round, double tasks) const;
  problem m_problem;
  costs m_costs;
  int m_rounds = 0;
  double m_tasks = 0; // of a rank in a round
  double m_task = 0; // seconds
  double m_bytes = 0; // of a message
};

/// Returns the tasks of a core that has the most of them, where `tasks` share `cores`.
[[nodiscard]] double most_tasks(double tasks, int cores) noexcept;

/// Simulates, and returns the seconds until the last rank has ended.
[[nodiscard]] double simulate(const problem &p, mode how, const costs &c);

/// Does that in a process of its own, because SimGrid simulates once. Errors. std::runtime_error.
[[nodiscard]] double simulate_apart(const problem &p, mode how, const costs &c);

} // namespace net_scale
