// SPDX-License-Identifier: Apache-2.0
#include "observe.hpp"

#include "../process.hpp"
#include "../results.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace bench::observe {

const std::vector<subject> &subjects() {
  static const std::vector<subject> all{
      {"counters, no times", {"WEFT_COUNTERS_TIME=off"}, "", 0},
      {"counters, sampled", {"WEFT_COUNTERS_TIME=sampled"}, "counters, no times", 0.5},
      {"counters, exact", {"WEFT_COUNTERS_TIME=exact"}, "counters, no times", 2.5},
      {"counters of the machine", {"WEFT_COUNTERS_HARDWARE=true"}, "counters, sampled", 0},
      {"read at 10 Hz", {}, "counters, sampled", 0.1, 1000},
      {"trace switch", {"WEFT_TRACE_LEVEL=switch"}, "counters, sampled", 1},
      {"trace task", {"WEFT_TRACE_LEVEL=task"}, "counters, sampled", 0},
      {"trace graph", {"WEFT_TRACE_LEVEL=graph"}, "counters, sampled", 4},
      {"trace runtime", {"WEFT_TRACE_LEVEL=runtime"}, "counters, sampled", 0},
      {"trace graph, flight",
       {"WEFT_TRACE_LEVEL=graph", "WEFT_TRACE_MODE=flight"},
       "counters, sampled",
       0},
  };
  return all;
}

double percent_above(const std::vector<double> &with, const std::vector<double> &without) {
  std::vector<double> above;
  for (std::size_t i = 0; i < std::min(with.size(), without.size()); ++i)
    above.push_back(100 * (with[i] / without[i] - 1));
  return above.empty() ? 0 : median(above);
}

double for_ten_reads(double percent, const std::vector<double> &reads) {
  constexpr double k_asked_reads = 10; // per second
  const double usual = reads.empty() ? 0 : median(reads); // one run of many may have had no read
  if (usual <= 0)
    throw std::runtime_error("weft top has read nothing of half of the runs");
  return percent * k_asked_reads / usual;
}

void require_reader(const std::string &build) {
  const std::string path = build + "/bin/weft";
  if (access(path.c_str(), X_OK) != 0)
    throw std::runtime_error(path + " is not built, and reads the counters; build the target weft-tool");
}

namespace {

std::string sample_program() { return build_folder() + "/bin/weft-observe-sample"; }
std::string scratch() { return build_folder() + "/bench/observe"; }

std::vector<std::string> settings_of(const subject &s) {
  std::vector<std::string> all{"WEFT_TRACE_DIR=" + scratch() + "/trace"};
  all.insert(all.end(), s.settings.begin(), s.settings.end());
  return all;
}

double value_of(const std::string &output, const std::string &name) {
  std::istringstream from(output);
  for (std::string line; std::getline(from, line);)
    if (line.starts_with(name + " "))
      return std::stod(line.substr(name.size() + 1));
  throw std::runtime_error("the sample said: " + output);
}

/// Runs a reader beside the program: `weft top` of the program that started last, from its start to
/// its end.
class reader {
 public:
  explicit reader(unsigned per_second) {
    if (per_second == 0 || (m_pid = fork()) != 0)
      return;
    // The destructor ends the whole group: the shell and its children.
    setpgid(0, 0);
    const std::string look = "'" + build_folder() + "/bin/weft' top --json --every " +
                             std::to_string(1000 / per_second) + "ms";
    execl("/bin/sh", "sh", "-c",
          ("while sleep 0.005; do " + look + "; done >'" + said() + "' 2>/dev/null").c_str(),
          nullptr);
    _exit(1);
  }
  reader(const reader &) = delete;
  reader &operator=(const reader &) = delete;
  ~reader() { static_cast<void>(end()); }

  /// Returns how often it has read the program's counters.
  [[nodiscard]] long end() {
    if (m_pid <= 0)
      return 0;
    if (kill(-m_pid, SIGTERM) != 0) // the group does not exist yet
      kill(m_pid, SIGTERM);
    waitpid(m_pid, nullptr, 0);
    m_pid = -1;
    std::ifstream lines(said());
    long count = 0;
    for (std::string line; std::getline(lines, line);)
      count += line.starts_with("{");
    return count;
  }

 private:
  static std::string said() { return scratch() + "/top"; }

  pid_t m_pid = -1;
};

cost measure(const subject &s, const options &o, const std::string &workload, long steps) {
  reader beside(s.reads);
  const auto begin = std::chrono::steady_clock::now();
  const outcome r =
      bench::run({sample_program(), workload, "1", std::to_string(o.tasks), std::to_string(steps)},
                 settings_of(s));
  if (!r.ok)
    throw std::runtime_error(s.name + ": " + r.output);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return {value_of(r.output, "thread_ns"), value_of(r.output, "process_ns"),
          static_cast<double>(beside.end()) / time.count()};
}

/// Returns the number of iterations that take as long as the chosen body.
long steps_for(const options &o) {
  constexpr long k_probe = 10'000;
  double best = 1e300;
  for (int i = 0; i < 3; ++i) {
    const outcome r =
        bench::run({sample_program(), "independent", "1", "2000", std::to_string(k_probe)});
    if (!r.ok)
      throw std::runtime_error(r.output);
    best = std::min(best, value_of(r.output, "thread_ns"));
  }
  return std::max(1L, static_cast<long>(o.body_ns / best * k_probe));
}

int say(const subject &s, double percent, const std::string &rest) {
  const bool missed = s.bound_percent > 0 && percent > s.bound_percent;
  std::printf("  %-24s %+7.2f %% of %s%s%s\n", s.name.c_str(), percent, s.against.c_str(),
              rest.c_str(),
              s.bound_percent > 0 ? (" (bound " + std::to_string(s.bound_percent).substr(0, 4) +
                                     " %)" + (missed ? "  MISSED" : ""))
                                        .c_str()
                                  : "");
  std::fflush(stdout);
  return missed;
}

int measure_times(const options &o, const std::string &workload, long steps) {
  std::map<std::string, std::vector<double>> thread, process, reads;
  for (int n = 0; n < o.runs; ++n)
    for (std::size_t k = 0; k < subjects().size(); ++k) { // each round begins with another subject
      const subject &s = subjects()[(k + static_cast<std::size_t>(n)) % subjects().size()];
      const cost c = measure(s, o, workload, steps);
      thread[s.name].push_back(c.thread_ns);
      process[s.name].push_back(c.process_ns);
      reads[s.name].push_back(c.reads);
    }
  std::printf("%s: processor time of a task, %d runs in turns; a body of %ld steps\n",
              workload.c_str(), o.runs, steps);
  int missed = 0;
  for (const subject &s : subjects()) {
    const std::vector<double> &mine = thread[s.name];
    if (s.against.empty()) {
      std::printf("  %-24s %.1f ns, at best %.1f\n", s.name.c_str(), median(mine),
                  *std::min_element(mine.begin(), mine.end()));
      continue;
    }
    char rest[96];
    std::snprintf(rest, sizeof rest, "; %.1f ns, at best %.1f; process %+.2f %%", median(mine),
                  *std::min_element(mine.begin(), mine.end()),
                  percent_above(process[s.name], process[s.against]));
    const double percent = percent_above(mine, thread[s.against]);
    missed += say(s, s.reads ? for_ten_reads(percent, reads[s.name]) : percent, rest);
  }
  return missed;
}

double instructions(const subject &s, const std::string &workload, long count) {
  const outcome r = bench::run({"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                                sample_program(), workload, "1", std::to_string(count), "1"},
                               settings_of(s), std::chrono::seconds(600));
  const std::string mark = "Collected : ";
  const std::size_t at = r.output.find(mark);
  if (!r.ok || at == std::string::npos)
    throw std::runtime_error("callgrind failed: " + r.output);
  return std::stod(r.output.substr(at + mark.size()));
}

/// Counts the instructions of a task with an empty body; there is no bound, because an instruction
/// is no time.
void count_instructions(const std::string &workload) {
  constexpr long k_few = 100'000, k_many = 200'000; // both beyond the throttle
  std::map<std::string, double> per_task;
  std::printf("%s: instructions of a task\n", workload.c_str());
  for (const subject &s : subjects()) {
    if (s.reads)
      continue;
    const double n = per_task[s.name] =
        (instructions(s, workload, k_many) - instructions(s, workload, k_few)) /
        static_cast<double>(k_many - k_few);
    std::printf("  %-24s %8.1f", s.name.c_str(), n);
    std::printf(s.against.empty() ? "\n" : " %+8.1f\n", n - per_task[s.against]);
    std::fflush(stdout);
  }
}

int measure_site() {
  const outcome r = bench::run({sample_program(), "site", "1", "30000000"});
  if (!r.ok)
    throw std::runtime_error(r.output);
  const double ns = value_of(r.output, "site_ns");
  const bool missed = ns > 0.5;
  std::printf("a site that is off: %.2f ns (bound 0.5 ns)%s\n", ns, missed ? "  MISSED" : "");
  return missed;
}

} // namespace

int run(const options &o) {
  std::filesystem::create_directories(scratch());
  int missed = 0;
  if (o.times) {
    require_reader(build_folder());
    missed += measure_site();
    const long steps = steps_for(o);
    for (const std::string &workload : o.workloads)
      missed += measure_times(o, workload, steps);
  }
  if (o.instructions && bench::run({"valgrind", "--version"}).ok)
    for (const std::string &workload : o.workloads)
      count_instructions(workload);
  else if (o.instructions)
    std::puts("instructions: skipped, valgrind was not found (apt-get install valgrind)");
  std::filesystem::remove_all(scratch());
  std::printf("%d bounds missed\n", missed);
  return missed ? 1 : 0;
}

} // namespace bench::observe
