// SPDX-License-Identifier: Apache-2.0
// How weft-bench net starts jobs.
#pragma once

#include "../process.hpp"
#include "net.hpp"

#include <string>
#include <vector>

namespace bench::net {

/// Names each MPI, and its launcher.
inline constexpr const char *k_mpis[][2] = {{"openmpi", "mpirun.openmpi"},
                                            {"mpich", "mpiexec.mpich"}};

[[nodiscard]] std::string program_of(const std::string &name);
/// Runs a version on ranks of `workers` threads each; `words` are the arguments behind its own.
[[nodiscard]] outcome start(const version &v, int ranks, int workers,
                            const std::vector<std::string> &words);
/// Returns the arguments for an application.
[[nodiscard]] std::vector<std::string> words_of(const std::string &app, const options &o);
/// Returns the versions that are asked for and were built; prints those that were not.
///
/// Errors. std::runtime_error if none is left.
[[nodiscard]] std::vector<version> chosen_versions(const options &o);

} // namespace bench::net
