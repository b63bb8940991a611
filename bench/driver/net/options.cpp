// SPDX-License-Identifier: Apache-2.0
#include "net.hpp"

#include "../arguments.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench::net {

namespace {

constexpr const char *k_help =
    R"(weft-bench net [OPTION...]    applications of ranks, each in several versions
  --apps NAME,...      of jacobi, jacobi_rows, gauss_seidel, gauss_seidel_priorities, nbody, nbody_priorities, matmul
                       (default: all)
  --versions NAME,...  (default: all) default, cached, cached_barrier, cached_ack, get: task-aware LPF; notify: weft::net;
                       task_MPI: task-aware MPI; tampi_MPI: by the published library; plain_MPI: without tasks;
                       openmp_MPI: fork-join; MPI is openmpi or mpich
  --workers N,...      threads of a rank (default 1,2); plain_MPI has as many more ranks instead
  --ranks N            (default 2)
  --samples N          jobs of each version, in turn (default 3);   --reps N   runs of each (default 3)
  --small              the sizes of the tests

weft-bench net --micro [WINDOWS]  put, get, atomic operations, notification and active message beside UCX and MPI
weft-bench net --idle             processor time of ranks that do nothing, over 5 s
weft-bench net --loggp [WINDOWS]  L, o, g and G between two ranks: of the engines, and of each MPI
weft-bench net --model [OPTION...] applications beside a LogGP model with these; --engines NAME,... (default ucx,inproc),
                                  1 worker, 5 rounds of 3 runs; in each, kernels alone are measured first
weft-bench net --scale [...]      modes of synchronization on simulated machines; --scale --help says more
)";

} // namespace

options parse_options(const std::vector<std::string> &arguments) {
  options o;
  if (!arguments.empty()) {
    const std::string &first = arguments.front();
    o.what = first == "--micro"   ? options::mode::micro
             : first == "--idle"  ? options::mode::idle
             : first == "--loggp" ? options::mode::loggp
             : first == "--model" ? options::mode::model
             : first == "--scale" ? options::mode::scale
                                  : options::mode::apps;
    if (o.what == options::mode::model) { // as of applications, with one worker and 15 runs
      o.workers = {1};
      o.samples = 5;
      o.reps = 3;
    } else if (o.what != options::mode::apps) {
      o.rest.assign(arguments.begin() + 1, arguments.end());
      return o;
    }
  }
  const std::vector<std::string> others(arguments.begin() + (o.what == options::mode::model),
                                        arguments.end());
  const std::vector<std::string> known = o.apps;
  option_table("weft-bench net", k_help)
      .list("--apps", o.apps)
      .list("--versions", o.versions)
      .list("--engines", o.engines)
      .numbers("--workers", o.workers, 1024)
      .number("--ranks", o.ranks, 1024)
      .number("--samples", o.samples, 1000)
      .number("--reps", o.reps, 1000)
      .flag("--small", [&] { o.small = true; })
      .parse(others);
  for (const std::string &app : o.apps)
    if (std::find(known.begin(), known.end(), app) == known.end())
      throw std::runtime_error("--apps: there is no application '" + app + "'");
  for (const std::string &name : o.versions)
    if (std::none_of(all_versions().begin(), all_versions().end(),
                     [&](const version &v) { return v.name == name; }))
      throw std::runtime_error("--versions: there is no version '" + name + "'");
  if (o.what == options::mode::model && o.ranks != 2)
    throw std::runtime_error("--ranks: the model knows two ranks");
  for (const std::string &name : o.engines)
    if (name != "ucx" && name != "inproc")
      throw std::runtime_error("--engines: there is no engine '" + name + "', of ucx and inproc");
  return o;
}

} // namespace bench::net
