// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/openblas.hpp"
#include "tools/weft/support/openmp.hpp"
#include "tools/weft/support/programs.hpp"
#include "tools/weft/support/tbb.hpp"
#include "tools/weft/support/text.hpp"

#include "base/visible.hpp"
#include "config/process.hpp"
#include "observe/shares.hpp"
#include "os/file.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <unistd.h>
#include <utility>
#include <weft/error.hpp>

namespace weft_tool {

using namespace weft::rt;

const char k_doctor_help[] =
    "usage: weft doctor PROGRAM|PID\n"
    "\n"
    "Shows which OpenMP runtimes, TBBs and copies of OpenBLAS, FFTW and C-Blosc2 a program would load, or a process has loaded, and what\n"
    "`weft run` does with them. Of an OpenBLAS it shows the version, whether it can give its jobs to Weft, and which variable limits it.\n"
    "It also names programs and libraries into which an OpenMP or an OpenBLAS is linked, which no library replaces.\n"
    "The program is not run; what it loads while it runs is seen in its process only. Of a process with two it shows which computes.\n"
    "Exit status: 0 when all runtimes are, or would be, Weft's; 1 when one would stay or lacks what the program needs; 2 for a bad command line.\n";

namespace {

const char *vendor_of(const std::string &file) {
  return file.substr(file.rfind('/') + 1).starts_with("libgomp") ? "GCC's" : "LLVM's";
}

bool is_ours(const std::string &file) {
  return same_file(file, openmp_library()) ||
         file.find("/weft-omp/lib") != std::string::npos; // of another build
}

/// Holds what a process's threads have computed, without its first thread, which computes whatever
/// the runtime is.
struct threads_of {
  unsigned number = 0;
  double seconds = 0;
};

/// Counts Weft's threads and those of other runtimes. Weft's are known by their names.
std::pair<threads_of, threads_of> ours_and_others(long pid) {
  std::pair<threads_of, threads_of> found;
  std::error_code ended;
  for (const auto &thread :
       std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", ended)) {
    const auto name = read_file(thread.path().string() + "/comm"),
               stat = read_file(thread.path().string() + "/stat");
    if (!name || !stat || thread.path().filename() == std::to_string(pid))
      continue;
    if (name->starts_with("weft-") && !name->starts_with("weft-worker") &&
        !name->starts_with("weft-spare"))
      continue; // the watcher and similar threads
    threads_of &of = name->starts_with("weft-") ? found.first : found.second;
    const auto fields = // from the state on
        split_words(stat->substr(std::min(stat->rfind(')'), stat->size() - 1) + 1));
    std::uint64_t ticks = 0;
    for (std::size_t i = 11; i < std::min<std::size_t>(fields.size(), 13); ++i) // user's and system's
      ticks += parse_unsigned(fields[i]).value_or(0);
    ++of.number;
    of.seconds += static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }
  return found;
}

/// Reports on a process with Weft's runtime and another one. Returns true if Weft's computes and
/// the other one does not.
bool report_which_computes(long pid) {
  const auto [ours, others] = ours_and_others(pid);
  if (ours.number == 0 && others.number == 0)
    std::printf("neither has started threads: no parallel region has run yet\n");
  else if (others.number == 0)
    std::printf(
        "Weft computes: it has %u threads (%.2f s of processor time), and there are no others\n",
        ours.number, ours.seconds);
  else if (ours.number == 0)
    std::printf(
        "Weft does not compute: it has no thread; others have %u (%.2f s of processor time)\n",
        others.number, others.seconds);
  else
    std::printf(
        "Weft has %u threads (%.2f s of processor time); %u others (%.2f s) are the program's own or the other runtime's\n",
        ours.number, ours.seconds, others.number, others.seconds);
  return ours.number != 0 && others.number == 0;
}

/// Reports on a process's TBBs. Returns false if one has threads of its own.
bool report_tbbs_of_process(long pid) {
  const auto files = mapped_files(pid);
  const bool ours = std::any_of(files.begin(), files.end(), &is_weft_tbb);
  const auto found = tbbs_of(files);
  for (const auto &file : found)
    std::printf("%s: %s%s\n", visible(file).c_str(), is_tbb(file) ? "TBB" : "TBB is linked into it",
                ours ? "; its threads are Weft's, by libirml.so.1"
                     : "; it has threads of its own: start the process by `weft run`");
  return ours || found.empty();
}

/// Says where the jobs of a copy of OpenBLAS, FFTW or C-Blosc2 run. `own`: what to say of one that could give them to
/// Weft and does not.
std::string jobs_of(const openblas_copy &copy, bool attached, const char *own) {
  if (!copy.has_threads)
    return "it has one thread";
  if (copy.uses_openmp)
    return "its threads are those of OpenMP";
  if (!copy.has_callback)
    return "it has threads of its own and no threads callback that Weft can use (" + copy.library +
           " " + copy.since + " has one)";
  return attached ? "its jobs are Weft's, by its threads callback" : own;
}

/// Reports on copies of these libraries. Returns false if one has threads beside Weft's.
bool report_openblas(const std::vector<openblas_copy> &found,
                     const std::vector<key_value> &environment, bool attached, const char *own) {
  bool good = true;
  for (const openblas_copy &copy : found) {
    const std::string limit = copy.has_threads ? limit_of(copy, environment) : "";
    const std::string version = copy.version.empty() && copy.library == "OpenBLAS"
                                    ? " of an unknown version"
                                : copy.version.empty() ? ""
                                                       : " " + copy.version;
    good &= !copy.has_threads || copy.uses_openmp || (copy.has_callback && attached);
    std::printf("%s: %s%s; %s%s%s\n", visible(copy.file).c_str(), copy.library.c_str(), visible(version).c_str(),
                jobs_of(copy, attached, own).c_str(), limit.empty() ? "" : "; ", visible(limit).c_str());
  }
  return good;
}

/// Is a runtime that may be linked into a file: it is known by constants that each copy with threads
/// has.
struct linked_runtime {
  const char *name;
  const char *constants[2];
  const char *variable; // limits its threads
};
constexpr linked_runtime k_linked[] = {
    {"GCC's OpenMP", {"GOMP_SPINCOUNT", "GOMP_CPU_AFFINITY"}, "OMP_NUM_THREADS"},
    {"LLVM's OpenMP", {"KMP_FORKJOIN_BARRIER", "KMP_BLOCKTIME"}, "OMP_NUM_THREADS"},
    {"OpenBLAS", {"OpenBLAS blas_thread_init", "GOTO_NUM_THREADS"}, "OPENBLAS_NUM_THREADS"},
};

/// Reports on runtimes that are linked into programs and libraries. Returns false if there is one.
bool report_linked(const std::vector<std::string> &files) {
  bool none = true;
  for (const std::string &file : files) {
    if (is_openmp_runtime(file) || is_ours(file) || same_file(file, "/proc/self/exe") ||
        !openblas_of({file}).empty())
      continue;
    for (const linked_runtime &one : k_linked)
      if (contains(file, one.constants[0]) && contains(file, one.constants[1])) {
        none = false;
        std::printf("%s: %s is linked into it; where its functions are hidden, no library takes its "
                    "place, and its threads are its own; %s limits it\n",
                    visible(file).c_str(), one.name, one.variable);
      }
  }
  return none;
}

/// Returns the environment with which a process was started; nothing where that cannot be read.
std::vector<key_value> environment_of(long pid) {
  std::vector<key_value> found;
  const auto text = read_file("/proc/" + std::to_string(pid) + "/environ");
  for (const std::string &one : split(text.value_or(""), '\0'))
    if (const std::size_t equals = one.find('='); equals != std::string::npos)
      found.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  return found;
}

bool report_openblas_of_process(long pid) {
  const auto files = mapped_files(pid);
  const bool attached = std::any_of(files.begin(), files.end(), [](const std::string &file) {
    return file.substr(file.rfind('/') + 1).starts_with("libweft-blas.so");
  });
  return report_openblas(openblas_of(files), environment_of(pid), attached,
                         "it has threads of its own: start the process by `weft run`");
}

int examine_openmp_of_process(long pid) {
  const auto runtimes = mapped_runtimes(pid);
  if (runtimes.empty())
    std::printf("process %ld has no OpenMP runtime in its memory\n", pid);
  bool others = false, ours = false;
  for (const auto &file : runtimes)
    ours |= is_ours(file);
  for (const auto &file : runtimes) {
    const bool weft = is_ours(file);
    others |= !weft;
    std::printf("%s: %s%s\n", visible(file).c_str(), weft ? "Weft" : vendor_of(file),
                weft   ? ""
                : ours ? "; functions that Weft has, too, are bound to Weft if that was preloaded"
                       : "; a running process keeps it: start it by `weft run`");
  }
  if (others && ours && report_which_computes(pid))
    return k_ok;
  return others ? k_failed : k_ok;
}

/// Reports for which runtimes the workers of a process have computed since Weft started there.
void report_shares(long pid) try {
  const reading all = read_program(pid);
  if (const std::string text = text_of(shares_of(all, all)); !text.empty())
    std::printf("Weft's workers: %s\n", text.c_str());
} catch (const weft::error &) { // the process does not use Weft, or does not show its counters
}

int examine_process(long pid) {
  const int openmp = examine_openmp_of_process(pid);
  report_shares(pid);
  const bool tbbs = report_tbbs_of_process(pid), blas = report_openblas_of_process(pid),
             linked = report_linked(mapped_files(pid));
  return tbbs && blas && linked ? openmp : k_failed;
}

/// Reports on the TBBs that a program loads or holds. Returns false if one keeps its threads.
bool report_tbbs(const loading &now) {
  const bool ours = !tbb_library().empty();
  const auto found = tbbs_of(now.files);
  for (const auto &file : found)
    std::printf("%s: %s; %s\n", visible(file).c_str(), is_tbb(file) ? "TBB" : "TBB is linked into it",
                ours ? "its threads are Weft's under `weft run`, by libirml.so.1"
                     : "it keeps its threads, because this installation has no library for TBB");
  return ours || found.empty();
}

/// Returns what becomes of a runtime when the loader also gets Weft's.
const char *fate_of(const std::string &file, const loading &with) {
  if (is_ours(file))
    return "Weft's already";
  if (std::find(with.runtimes.begin(), with.runtimes.end(), file) == with.runtimes.end())
    return "replaced: Weft's library is found under the same name";
  return "loaded all the same, and unused: its functions are Weft's, which is preloaded";
}

int examine_program(const std::string &name) {
  const std::string file = find_program(name);
  if (file.empty())
    return usage_error("there is no program '" + name + "'");
  const loading now = try_loading(file, loaders::of_system);
  if (!now.interpreter.empty())
    std::printf("%s is a script; this is about %s\n", visible(file).c_str(), visible(now.interpreter).c_str());
  if (!now.own_loader.empty()) {
    std::printf("%s asks for a loader that is not the system's, %s: it is not run\n",
                visible(now.files.front()).c_str(), visible(now.own_loader).c_str());
    return k_failed;
  }
  if (!now.is_dynamic) {
    std::printf(
        "%s is linked statically or no program for this machine: no library can be replaced\n",
        visible(file).c_str());
    return k_failed;
  }
  const bool tbbs = report_tbbs(now);
  const bool blas = report_openblas(
      openblas_of(now.files), process_environment(), !blas_library().empty(),
      "it keeps its threads, because this installation has no libweft-blas-loads.so");
  const bool linked = report_linked(now.files);
  if (openmp_library().empty()) {
    std::printf(
        "this installation of Weft has no OpenMP library (weft-omp/libgomp.so.1 beside libweft)\n");
    return k_failed;
  }
  use_openmp_library(!now.runtimes.empty());
  const loading with = try_loading(file, loaders::of_system);
  if (now.runtimes.empty())
    std::printf(
        "%s loads no OpenMP runtime at its start; one that it loads later is Weft's under `weft run`\n",
        visible(file).c_str());
  for (const auto &runtime : now.runtimes)
    std::printf("%s (%s): %s\n", visible(runtime).c_str(), vendor_of(runtime), fate_of(runtime, with));
  for (const auto &complaint : with.complaints)
    if (std::find(now.complaints.begin(), now.complaints.end(), complaint) == now.complaints.end())
      std::printf("missing: %s\n", visible(complaint).c_str());
  return !tbbs || !blas || !linked || with.complaints.size() > now.complaints.size() ? k_failed : k_ok;
}

} // namespace

int run_doctor(const words &arguments) {
  if (arguments.size() != 1)
    return usage_error("doctor needs one program or process");
  const std::string &who = arguments[0];
  const bool number = who.find_first_not_of("0123456789") == std::string::npos && !who.empty();
  return number ? examine_process(pid_of(who)) : examine_program(who);
}

} // namespace weft_tool
