// SPDX-License-Identifier: Apache-2.0
#include "catalog.hpp"

#include "process.hpp"

#include <algorithm>

namespace bench {

const std::vector<std::string> k_all_tbb{"tbb", "pstl-tbb"};

namespace {

const std::string k_weft_program = "bin/weft-sample";

contender peer(const std::string &name) { return {name, "peers/bin/" + name, {}}; }
contender weft() { return {"weft", k_weft_program, {}}; }
contender weft_with(const std::string &name, std::vector<std::string> settings) {
  return {"weft:" + name, k_weft_program, std::move(settings)};
}

/// Returns Weft, then the named peers.
std::vector<contender> beside(const std::vector<std::string> &peers) {
  std::vector<contender> all{weft()};
  for (const std::string &p : peers)
    all.push_back(peer(p));
  return all;
}

const std::vector<std::string> k_openmp{"libgomp", "libomp", "libiomp5"};
const std::vector<std::string> k_all_spawn{"libgomp", "libomp", "libiomp5", "tbb", "rayon"};

const char *const k_on_a_stack = "weft:stack"; // suspends a task in place of a coroutine

const char *const k_algorithms[] = {"for_each", "reduce", "scan", "find", "sort"};

/// Is a number of elements of an algorithm.
struct elements {
  const char *name;
  long count;
};

const std::vector<elements> k_elements{
    {"1e2", 100},       {"1e3", 1000},       {"1e4", 10'000},      {"1e5", 100'000},
    {"1e6", 1'000'000}, {"1e7", 10'000'000}, {"1e8", 100'000'000},
};

/// Is a workload of suite "core", which the suite of policies repeats.
struct workload {
  const char *name;
  const char *program_name;
  std::vector<int> workers;
  long count, quick_count; // tasks; sweeps of wavefront, n of fib
  long body_ns;
  std::vector<std::string> peers;
  long policies_count; // 0: how ready tasks are ordered does not matter
};

const std::vector<workload> &workloads() {
  static const std::vector<workload> all{
      {"independent", "independent", {2, 1}, 1'000'000, 100'000, 0, k_all_spawn, 1'000'000},
      {"flood", "independent", {2, 1}, 10'000'000, 1'000'000, 0, {}, 0}, // mostly throttled
      {"independent-1us", "independent", {2}, 200'000, 50'000, 1000, k_all_spawn, 200'000},
      {"chain", "chain", {2, 1}, 1'000'000, 100'000, 0, k_openmp, 1'000'000},
      {"chain-5us", "chain", {2}, 50'000, 10'000, 5000, k_openmp, 50'000},
      {"two-wave", "two-wave", {2, 1}, 200'000, 50'000, 0, k_openmp, 200'000},
      {"wavefront", "wavefront", {2, 1}, 10, 2, 0, k_openmp, 10},
      {"fib-spawn", "fib-spawn", {2, 1}, 30, 24, 0, {"tbb", "libgomp", "libomp", "libiomp5"}, 25},
      {"fib-join", "fib-join", {2, 1}, 30, 24, 0, {"rayon", "tbb"}, 0},
      {"suspend", "suspend", {1, 2}, 1'000'000, 100'000, 0, {"boost-context"}, 0},
      {"yield", "yield", {1}, 1'000'000, 100'000, 0, {}, 0},
      {"create-join", "create-join", {1, 2}, 320'000, 32'000, 0, {}, 0},
      {"metg", "metg", {2}, 1, 1, 0, k_openmp, 1},
  };
  return all;
}

experiment of(const char *suite, const workload &w, int workers, size s,
              std::vector<contender> contenders) {
  return {suite,
          w.name,
          w.program_name,
          workers,
          s == size::full ? w.count : w.quick_count,
          w.body_ns,
          std::move(contenders)};
}

const workload &named(const std::string &name) {
  return *std::find_if(workloads().begin(), workloads().end(),
                       [&](const workload &w) { return w.name == name; });
}

void add_core(std::vector<experiment> &to, size s) {
  for (const workload &w : workloads())
    for (const int workers : w.workers) {
      experiment e = of("core", w, workers, s, beside(w.peers));
      if (std::string(w.program_name) == "chain")
        e.contenders.insert(e.contenders.begin() + 1,
                            weft_with("no-successor", {"WEFT_SCHED_IMMEDIATE_SUCCESSOR=0"}));
      if (w.name == std::string("suspend") && workers > 1)
        e.contenders.resize(1); // a bare switch has one thread
      to.push_back(std::move(e));
    }
}

/// Replaces one part at a time by its simpler form.
void add_ablation(std::vector<experiment> &to, size s) {
  for (const char *name : {"chain", "independent"})
    to.push_back(of("ablation", named(name), 2, s,
                    {weft(), weft_with("deps=locks", {"WEFT_DEPS_SYSTEM=locks"}),
                     weft_with("mem=system", {"WEFT_MEM_ALLOCATOR=system"}),
                     weft_with("delegated", {"WEFT_SCHED_POLICY=delegated"}),
                     weft_with("delegated+ticket",
                               {"WEFT_SCHED_POLICY=delegated", "WEFT_SCHED_LOCK=ticket"})}));
}

void add_policies(std::vector<experiment> &to, size s) {
  std::vector<contender> policies;
  for (const std::string name : {"stealing", "delegated", "local-fifo", "central"})
    policies.push_back(weft_with(name, {"WEFT_SCHED_POLICY=" + name}));
  for (const workload &w : workloads())
    if (w.policies_count) {
      to.push_back(of("policies", w, 2, s, policies));
      to.back().count = std::min(to.back().count, w.policies_count);
    }
}

void add_scheduler(std::vector<experiment> &to, size s) {
  const auto part = [](const char *runtime, const char *name) {
    return contender{runtime, "bin/weft-scheduler-sample", {}, name};
  };
  const long scale = s == size::full ? 10 : 1;
  const std::vector<contender> get{part("ticket_lock", "get-ticket"),
                                   part("delegation_lock", "get-delegation")};
  to.push_back({"scheduler", "get-ready", "", 2, 200'000 * scale, 0, get});
  to.push_back({"scheduler", "get-ready", "", 4, 5'000 * scale, 0, get});
  to.push_back({"scheduler",
                "add-ready",
                "",
                2,
                200'000 * scale,
                0,
                {part("serial", "add-serial"), part("spsc_queue", "add-spsc")}});
  const std::vector<contender> ask{part("ticket_lock", "ask-ticket"),
                                   part("delegation_lock", "ask-delegation")};
  for (const int workers : {2, 8}) // 8: more threads than a small machine has processors
    to.push_back({"scheduler", "ask", "", workers, 200'000 * scale, 0, ask});
}

/// Adds the workloads of the paper about GLTO (glto/sample.hpp).
void add_glto(std::vector<experiment> &to, size s) {
  const std::string deep = "OMP_STACKSIZE=64M"; // T3 has 1,572 levels
  const std::vector<contender> all{{"glt", "bin/weft-glto-glt", {}},
                                   {"weft", "bin/weft-glto-weft", {}},
                                   {"weft-omp",
                                    "bin/weft-glto-openmp",
                                    {deep, "LD_LIBRARY_PATH=" + build_folder() + "/lib/weft-omp"}},
                                   {"libgomp", "bin/weft-glto-openmp", {deep}},
                                   {"libiomp5", "peers/bin/glto-libiomp5", {deep}},
                                   {"glt-argobots", "bin/weft-glto-glt-argobots", {}},
                                   {"glt-qthreads", "bin/weft-glto-glt-qthreads", {}},
                                   {"glt-massivethreads", "bin/weft-glto-glt-massivethreads", {}}};
  struct workload {
    const char *name;
    long count, quick_count; // rounds, steps, iterations; of uts the tree's size
    bool is_long = false; // with two workers alone
  };
  for (const workload &w : {workload{"assign", 5'000, 1'000},
                            {"hydro-64", 20, 2},
                            {"hydro-256", 5, 1},
                            {"tasks", 100, 10},
                            {"cg-10", 30, 5, true},
                            {"cg-20", 30, 5, true},
                            {"cg-50", 30, 5, true},
                            {"cg-100", 30, 5, true},
                            {"nested-100", 10, 2},
                            {"nested-1000", 1, 1, true},
                            {"uts-t1", 10, 6, true},
                            {"uts-t3", 2000, 100, true}})
    for (int workers = 2; workers >= (w.is_long ? 2 : 1); --workers)
      to.push_back(
          {"glto", w.name, w.name, workers, s == size::full ? w.count : w.quick_count, 0, all});
  // The bound of Weft's OpenMP is a setting; those of the other two are fixed (64 tasks per thread,
  // 256), and Intel's can be taken away.
  const auto bound_at = [&](const char *tasks) {
    return contender{std::string("weft-omp ") + tasks,
                     "bin/weft-glto-openmp",
                     {deep, "LD_LIBRARY_PATH=" + build_folder() + "/lib/weft-omp",
                      std::string("WEFT_OMP_CUTOFF=") + tasks}};
  };
  to.push_back(
      {"glto",
       "cutoff",
       "cutoff",
       2,
       s == size::full ? 100 : 10,
       0,
       {all[0],
        all[1],
        bound_at("16"),
        bound_at("256"),
        bound_at("4096"),
        all[3],
        all[4],
        {"libiomp5 without", "peers/bin/glto-libiomp5", {deep, "KMP_ENABLE_TASK_THROTTLING=0"}}}});
}

/// Adds what a call with a future costs (bench/futures). A thread per call is for few calls alone.
void add_futures(std::vector<experiment> &to, size s) {
  const auto program = [](const char *runtime) {
    return contender{runtime, std::string("bin/weft-futures-") + runtime, {}};
  };
  const std::vector<contender> many{
      program("weft"),
      program("weft-group"),
      program("tbb"),
      program("openmp"),
      program("boost-fiber"),
      {"std:deferred", "bin/weft-futures-std", {"FUTURES_LAUNCH=deferred"}}};
  std::vector<contender> few = many;
  few.push_back(program("std"));
  struct workload {
    const char *name, *program_name;
    long count, quick_count; // n, or leaves
    bool is_small = false;
  };
  for (const workload &w :
       {workload{"fib", "fib", 27, 20}, workload{"skynet", "skynet", 1'000'000, 10'000},
        workload{"integrate", "integrate", 300, 50}, workload{"fib-12", "fib", 12, 12, true},
        workload{"skynet-1k", "skynet", 1000, 1000, true}})
    for (int workers = 2; workers >= 1; --workers)
      to.push_back({"futures", w.name, w.program_name, workers,
                    s == size::full ? w.count : w.quick_count, 0, w.is_small ? few : many});
  if (s == size::full)
    to.push_back({"futures",
                  "skynet-1e8",
                  "skynet",
                  2,
                  100'000'000,
                  0,
                  {program("weft"), program("tbb")}});
}

/// Adds what one operation of a future, or of a synchronization object, costs (bench/futures/rows).
void add_rows(std::vector<experiment> &to, size s) {
  const auto program = [](const char *library) {
    return contender{library, std::string("bin/weft-rows-") + library, {}};
  };
  const contender boost_thread = program("boost-thread"), boost_fiber = program("boost-fiber"),
                  standard = program("std"), tbb = program("tbb"),
                  tbb_one_group = program("tbb-one-group");
  struct row {
    const char *name;
    int workers;
    long count, quick_count;
    std::vector<contender> peers;
  };
  for (const row &r : {row{"set-get", 1, 1'000'000, 10'000, {standard, boost_thread, boost_fiber}},
                       row{"async-get",
                           1,
                           100'000,
                           1000,
                           {tbb, tbb_one_group, standard, boost_thread, boost_fiber}},
                       row{"async-stolen",
                           2,
                           10'000,
                           500,
                           {tbb, tbb_one_group, standard, boost_thread}},
                       row{"then-chain", 1, 1000, 200, {boost_thread}},
                       row{"when-all", 1, 1000, 200, {boost_thread}},
                       row{"mutex", 1, 1'000'000, 10'000, {standard, boost_thread, boost_fiber}},
                       row{"latch", 1, 1'000'000, 10'000, {standard, boost_thread}},
                       row{"semaphore", 1, 1'000'000, 10'000, {standard}},
                       row{"channel", 1, 1'000'000, 10'000, {boost_thread, boost_fiber}},
                       row{"yield", 1, 1'000'000, 10'000, {boost_fiber}}}) {
    std::vector<contender> all{program("weft")};
    all.insert(all.end(), r.peers.begin(), r.peers.end());
    to.push_back({"rows", r.name, r.name, r.workers, s == size::full ? r.count : r.quick_count, 0,
                  std::move(all)});
  }
  for (const std::string name : {"coroutine-child", "coroutine-suspend", "coroutine-turns"}) {
    std::vector<contender> all{weft()};
    if (name == "coroutine-suspend")
      all.push_back({k_on_a_stack, k_weft_program, {}, "suspend"});
    to.push_back({"rows", name, name, 1, s == size::full ? 1'000'000 : 10'000, 0, std::move(all)});
  }
}

/// Returns an experiment with each library that has the algorithm.
experiment of_algorithm(const char *suite, const std::string &algorithm, const elements &n) {
  const auto program = [](const char *library) {
    return contender{library, std::string("bin/weft-algorithms-") + library, {}};
  };
  // Waiting threads that sleep are best for long calls, those that spin for short ones.
  const std::string passive = "OMP_WAIT_POLICY=passive", active = "OMP_WAIT_POLICY=active";
  const std::string on_weft = "LD_LIBRARY_PATH=" + build_folder() + "/lib/weft-omp";
  std::vector<contender> all{program("serial"), program("weft"), program("weft-pstl")};
  if (algorithm != "find")
    all.push_back(program("tbb"));
  all.insert(all.end(),
             {program("pstl-tbb"),
              {"gnu-parallel", "bin/weft-algorithms-gnu-parallel", {passive}, {}, {{active}}},
              {"onedpl", "peers/bin/algorithms-onedpl", {passive}, {}, {{active}}},
              {"onedpl on weft-omp",
               "peers/bin/algorithms-onedpl",
               {on_weft, passive},
               {},
               {{on_weft, active}}}});
  if (algorithm != "scan")
    all.push_back({"rayon", "peers/bin/rayon", {}});
  return {suite, algorithm + "-" + n.name, algorithm, 2, n.count, 0, std::move(all)};
}

/// Adds algorithms of the standard over elements (bench/algorithms).
void add_algorithms(std::vector<experiment> &to, size s) {
  for (const char *algorithm : k_algorithms)
    for (const elements &n : k_elements)
      if (s == size::full || n.count <= 100'000)
        to.push_back(of_algorithm("algorithms", algorithm, n));
}

/// Lists the targets of the core, and those of design/futures.md.
std::vector<target> targets() {
  std::vector<target> all{
      {"core", "independent", 2, k_all_spawn, 0.5},
      {"core", "independent growth_mib", 2, {}, 32},
      {"core", "independent-1us least_share_percent", 2, {}, 35, true},
      {"core", "chain", 2, k_openmp, 0.2},
      {"core", "two-wave", 2, k_openmp, 0.25},
      {"core", "wavefront", 2, k_openmp, 0.25},
      {"core", "fib-spawn", 2, {"tbb"}, 0.35},
      {"core", "fib-join", 2, {"rayon"}, 1.0},
      {"core", "suspend", 1, {}, 43},
      {"core", "create-join", 1, {}, 118},
      {"core", "metg", 2, {"libgomp"}, 0.3},
      {"rows", "async-get", 1, {"tbb"}, 0.35},
      {"rows", "set-get", 1, {"std"}, 0.25},
      {"rows", "then-chain", 1, {"boost-thread"}, 0.3},
      {"rows", "coroutine-suspend", 1, {k_on_a_stack}, 0.4},
      {"futures", "skynet-1e8", 2, {"tbb"}, 1.0},
      {"futures", "skynet-1e8 peak_mib", 2, {}, 24},
  };
  // A short call is to take hardly more than the serial one; of 1e8 elements TBB, which `find` is
  // not compared with, is the measure: 0.95 of its speed.
  for (const std::string algorithm : k_algorithms)
    for (const elements &n : k_elements) {
      const bool beside_tbb = &n == &k_elements.back() && algorithm != "find";
      all.push_back({"algorithms", algorithm + "-" + n.name, 2,
                     beside_tbb ? k_all_tbb : std::vector<std::string>{"serial"},
                     beside_tbb ? 1 / 0.95 : 1.1});
    }
  return all;
}

} // namespace

std::vector<experiment> catalog(size s) {
  std::vector<experiment> all;
  add_core(all, s);
  add_scheduler(all, s);
  add_ablation(all, s);
  add_policies(all, s);
  add_glto(all, s);
  add_futures(all, s);
  add_rows(all, s);
  add_algorithms(all, s);
  return all;
}

std::vector<experiment> break_even_experiments() {
  const elements sizes[] = {{"1e2", 100},    {"2e2", 200},    {"5e2", 500},    {"1e3", 1000},
                            {"2e3", 2000},   {"5e3", 5000},   {"1e4", 10'000}, {"2e4", 20'000},
                            {"5e4", 50'000}, {"1e5", 100'000}, {"2e5", 200'000}};
  std::vector<experiment> all;
  for (const std::string algorithm : k_algorithms)
    for (const elements &n : sizes)
      if (n.count >= 1000 || algorithm == "sort")
        all.push_back(of_algorithm(k_break_even.c_str(), algorithm, n));
  return all;
}

bool is_peer(const experiment &e, const contender &c) {
  return e.suite != "scheduler" && c.runtime != "glt" && c.runtime.rfind("weft", 0) != 0;
}

std::optional<target> find_target(const std::string &suite, const std::string &workload,
                                  int workers) {
  static const std::vector<target> all = targets();
  const auto found = std::find_if(all.begin(), all.end(), [&](const target &t) {
    return t.suite == suite && t.workload == workload && t.workers == workers;
  });
  return found == all.end() ? std::nullopt : std::optional<target>(*found);
}

} // namespace bench
