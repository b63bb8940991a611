// SPDX-License-Identifier: Apache-2.0
// What a command line of `weft launch` asks for, and the two ways to start its ranks: by this command, or
// by the launcher of an MPI.
// Bodies: launch.cpp, launch_mpi.cpp
#pragma once

#include "tools/weft/commands.hpp"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft_tool {

struct host {
  std::string name;
  int slots = 0; ///< 0: as many as remain
};

struct plan {
  int ranks = 0;
  std::vector<host> hosts;
  std::string engine, interface;
  words remote_shell = {"ssh"};
  bool goes_on = false;
  std::vector<std::pair<std::string, std::string>> values;
  words program;
  std::string error;
};

inline constexpr auto k_grace =
    std::chrono::seconds(1); ///< in which the ranks report what the lost one owes
inline constexpr auto k_to_end =
    std::chrono::milliseconds(400); ///< between the request to end and the end

/// Returns the variables that all ranks get. Throws weft::error for a key or a value that is wrong.
[[nodiscard]] std::map<std::string, std::string> variables_of(const plan &asked);
/// Returns the address where the ranks meet. Throws weft_net::address_error.
[[nodiscard]] std::string address_to_meet(const plan &asked);

/// Returns whether the engine of the plan starts by the launcher of an MPI.
[[nodiscard]] bool is_of_mpi(const plan &asked);
/// Returns whether that MPI is MPICH. Its ranks need no launcher of it on this host: `weft launch` answers them
/// (pmi_manager.hpp), and so the loss of one is no matter to the others. Throws std::runtime_error where no MPI is found.
[[nodiscard]] bool is_of_mpich(const plan &asked);
inline constexpr char k_mpich[] = "mpi-mpich"; ///< the engine
/// Starts the ranks by the launcher of an MPI, on the host of each or here, and returns the exit status.
[[nodiscard]] int launch_by_mpi(const plan &asked, std::vector<std::string> hosts);

} // namespace weft_tool
