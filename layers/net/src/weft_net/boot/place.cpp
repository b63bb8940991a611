// SPDX-License-Identifier: Apache-2.0
#include "weft_net/boot/place.hpp"

#include <weft_common/user_folder.hpp>

#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft_net {

namespace {

int number_of(const std::string &text, const std::string &name, int least) {
  int made = 0;
  const char *const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, made);
  if (error != std::errc() || end != last || made < least)
    throw std::runtime_error(name + " is '" + text + "'; it is a number, " + std::to_string(least) +
                             " or more");
  return made;
}

/// Is what a program that starts ranks says about them.
struct starter {
  const char *name;
  const char *rank, *size;
  const char *local_size; // ranks on this host, or null
  const char *hosts;      // the number of hosts, or null
  const char *job;        // names the job, or null
};
constexpr starter k_starters[] = {
    {"mpiexec (PMI)", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", nullptr, "PMI_ID"},
    {"mpirun (Open MPI)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr, "PMIX_NAMESPACE"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr, "SLURM_STEP_NUM_NODES",
     "SLURM_JOB_ID"},
};

std::string variable(const environment_reader &from, const char *name) {
  const char *const value = name ? from.variable(name) : nullptr;
  return value ? value : "";
}

/// Returns whether all ranks are on this host.
bool is_one_host(const environment_reader &from, const starter &started_by, int size) {
  const std::string local = variable(from, started_by.local_size),
                    hosts = variable(from, started_by.hosts);
  return size == 1 || hosts == "1" || (!local.empty() && local == std::to_string(size));
}

std::string job_name(const environment_reader &from, const starter &started_by) {
  std::string name = variable(from, started_by.job);
  if (!name.empty() && std::string(started_by.name) != "mpiexec (PMI)")
    name += "." + variable(from, "SLURM_STEP_ID");
  else
    name = std::to_string(getppid()); // what has started all ranks of this host
  for (char &c : name)
    c = (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.') ? c : '_';
  return name;
}

std::optional<membership> of_starter(const environment_reader &from, const starter &started_by) {
  const std::string rank = variable(from, started_by.rank), size = variable(from, started_by.size);
  if (rank.empty() || size.empty())
    return std::nullopt;
  membership made;
  made.launcher = started_by.name;
  made.rank = number_of(rank, started_by.rank, 0);
  made.size = number_of(size, started_by.size, 1);
  made.root = from.setting("root");
  made.key = from.setting("key");
  const bool is_mpi = from.setting("engine").starts_with("mpi");
  const std::string pmi = variable(from, "PMI_FD");
  if (!made.root.empty()) {
    // `weft launch` has the meeting, and has started a launcher of MPI.
    const bool is_of_weft = is_mpi && !from.setting("size").empty();
    made.meet = is_of_weft ? meeting::given : meeting::rank_zero;
    if (made.key.empty())
      throw std::runtime_error("net.root is set, and net.key is not: give all ranks the same 32 "
                               "hexadecimal digits (WEFT_NET_KEY)");
  } else if (is_mpi) {
    made.meet = meeting::engine;
  } else if (started_by.rank == std::string("PMI_RANK") && !pmi.empty()) {
    made.meet = meeting::process_manager;
    made.pmi = number_of(pmi, "PMI_FD", 0);
  } else if (is_one_host(from, started_by, made.size)) {
    made.meet = meeting::one_host;
    made.job = job_name(from, started_by);
  } else if (!variable(from, "PMIX_NAMESPACE").empty() && !variable(from, "PMIX_RANK").empty()) {
    made.meet = meeting::site_store;
  } else {
    throw std::runtime_error(
        "rank " + rank + " of " + size + " was started by " + started_by.name +
        " on several hosts without PMIx, and does not know where the ranks meet: set "
        "WEFT_NET_ROOT=HOST:PORT, the host of rank 0 and a free port there, and WEFT_NET_KEY to 32 "
        "hexadecimal digits; or use `srun --mpi=pmix` or `weft launch`");
  }
  return made;
}

} // namespace

std::optional<membership> find_membership(const environment_reader &from) {
  const std::string root = from.setting("root"), rank = from.setting("rank"),
                    size = from.setting("size"), key = from.setting("key");
  if (rank.empty() && from.setting("engine").starts_with("mpi")) // its launcher knows the ranks
    for (const starter &s : k_starters)
      if (auto made = of_starter(from, s))
        return made;
  if (!rank.empty() || (!root.empty() && !size.empty())) {
    for (const auto &[name, value] : {std::pair<const char *, const std::string &>{"root", root},
                                      {"rank", rank},
                                      {"size", size},
                                      {"key", key}})
      if (value.empty())
        throw std::runtime_error(std::string("net.") + name +
                                 " is not set, and others of net.root, net.rank, net.size and "
                                 "net.key are; `weft launch` sets all four");
    membership made;
    made.launcher = "weft launch";
    made.root = root;
    made.key = key;
    made.rank = number_of(rank, "net.rank", 0);
    made.size = number_of(size, "net.size", 1);
    return made;
  }
  for (const starter &s : k_starters)
    if (auto made = of_starter(from, s))
      return made;
  return std::nullopt;
}

namespace {

/// Returns the file of a job. The folder does not depend on the environment, which a launcher may
/// hand to some of the ranks only.
std::string file_of(const std::string &job) {
  const weft_common::user_folder folder = weft_common::make_user_folder(nullptr, geteuid());
  if (folder.path.empty())
    throw std::runtime_error("the ranks of a host cannot meet: " + folder.trouble);
  return folder.path + "net." + job;
}

void write_new(const std::string &path, const std::string &text) {
  unlink(path.c_str()); // of a job of this name that was killed
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  const bool whole =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int failure = errno;
  if (file >= 0)
    close(file);
  if (!whole)
    throw std::runtime_error("cannot write " + path + ": " + std::strerror(failure));
}

} // namespace

std::string share_by_file(const std::string &job, int rank, const std::string &value, int seconds) {
  const std::string file = file_of(job);
  if (rank == 0) {
    const std::string fresh = file + ".new";
    write_new(fresh, value + "\n");
    if (std::rename(fresh.c_str(), file.c_str()) != 0)
      throw std::runtime_error("cannot write " + file + ": " + std::strerror(errno));
    return value;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  for (;;) {
    std::string shared;
    if (std::getline(std::ifstream(file), shared))
      return shared;
    if (std::chrono::steady_clock::now() > end)
      throw std::runtime_error("rank 0 has not written " + file + " within " +
                               std::to_string(seconds) + " s; look whether it has started");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void end_share_by_file(const std::string &job) noexcept {
  try {
    std::remove(file_of(job).c_str());
  } catch (const std::exception &) {
  }
}

} // namespace weft_net
