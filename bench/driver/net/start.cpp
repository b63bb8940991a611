// SPDX-License-Identifier: Apache-2.0
#include "start.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string_view>

namespace bench::net {

namespace {

/// Returns the command that starts a job of MPI on this machine, before the program.
std::vector<std::string> mpi_command(const std::string &launcher, int ranks) {
  std::vector<std::string> command{launcher, "-n", std::to_string(ranks)};
  if (launcher == "mpirun.openmpi")
    for (const char *word : {"--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader",
                             "--allow-run-as-root"})
      command.emplace_back(word);
  return command;
}

} // namespace

std::string program_of(const std::string &name) { return build_folder() + "/bin/" + name; }

outcome start(const version &v, int ranks, int workers, const std::vector<std::string> &words) {
  const int all_ranks = v.has_workers ? ranks : ranks * workers;
  std::vector<std::string> command;
  std::vector<std::string> settings = v.settings;
  // Ranks that are tasks of one process share its workers.
  const std::string count = std::to_string(v.engine == "inproc" ? ranks * workers : workers);
  settings.insert(settings.end(),
                  {"WEFT_WORKERS=" + count, "OMP_NUM_THREADS=" + count, "OMP_WAIT_POLICY=passive",
                   "WEFT_WATCH_MAX_SPARES=0", "OMPI_MCA_btl_vader_single_copy_mechanism=none"});
  if (v.launcher.empty()) {
    command = {program_of("weft"), "launch", "-n", std::to_string(all_ranks)};
    if (!v.engine.empty())
      command.insert(command.end(), {"--engine", v.engine});
  } else {
    command = mpi_command(v.launcher, all_ranks);
  }
  command.push_back(program_of(v.program));
  command.insert(command.end(), v.first.begin(), v.first.end());
  command.insert(command.end(), words.begin(), words.end());
  return bench::run(command, settings, std::chrono::seconds(600));
}

std::vector<std::string> words_of(const std::string &app, const options &o) {
  constexpr std::string_view k_suffix = "_priorities";
  const bool has_priorities = app.ends_with(k_suffix), has_rows = app == "jacobi_rows";
  std::vector<std::string> words{has_priorities ? app.substr(0, app.size() - k_suffix.size())
                                 : has_rows     ? "jacobi"
                                                : app,
                                 "--reps", std::to_string(o.reps)};
  if (has_rows)
    words.insert(words.end(), {"--columns", "1"});
  if (has_priorities)
    words.emplace_back("--priorities");
  if (o.small)
    words.emplace_back("--small");
  return words;
}

std::vector<version> chosen_versions(const options &o) {
  std::vector<version> chosen;
  for (const version &v : all_versions()) {
    if (!o.versions.empty() &&
        std::find(o.versions.begin(), o.versions.end(), v.name) == o.versions.end())
      continue;
    if (std::filesystem::exists(program_of(v.program)))
      chosen.push_back(v);
    else
      std::cout << v.name << " is left out: " << v.program << " was not built\n";
  }
  if (chosen.empty())
    throw std::runtime_error("no version was built");
  return chosen;
}

} // namespace bench::net
