// SPDX-License-Identifier: Apache-2.0
// weft-bench net --loggp and --model: parameters of the networks between two ranks of this machine, and what a LogGP model
// (bench/net/model) makes of them beside real runs.
#include "model.hpp"

#include "../process.hpp"
#include "../results.hpp"
#include "start.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <stdexcept>

namespace bench::net {

namespace loggp = net_bench::loggp;

namespace {

constexpr double k_bound = 15; // percent, of a prediction

using words = std::map<std::string, std::string>;

/// Returns the words of each line that begins with `kind`.
std::vector<words> lines_of(const std::string &output, const std::string &kind) {
  std::vector<words> all;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(kind + " ", 0) != 0)
      continue;
    words &found = all.emplace_back();
    std::istringstream from(line);
    for (std::string word; from >> word;)
      if (const std::size_t at = word.find('='); at != std::string::npos)
        found[word.substr(0, at)] = word.substr(at + 1);
  }
  return all;
}

double number(const words &line, const char *name) { return std::stod(line.at(name)); }

} // namespace

std::map<std::string, loggp::network> read_networks(const std::string &output) {
  std::map<std::string, loggp::network> all;
  for (const words &line : lines_of(output, "loggp")) {
    loggp::network &n = all[line.at("of")];
    n.latency = 1e-9 * number(line, "L");
    n.overhead = 1e-9 * number(line, "o");
    n.gap = 1e-9 * number(line, "g");
    n.per_byte = 1e-12 * number(line, "G");
    n.sent_byte = 1e-12 * number(line, "sent_byte");
    n.received_byte = 1e-12 * number(line, "received_byte");
  }
  return all;
}

computation read_computation(const std::string &output) {
  computation c;
  std::map<std::string, double> by_tasks, by_loop; // of a run, the slower rank
  double kernels = 0;
  for (const words &line : lines_of(output, "alone")) {
    const std::string &rep = line.at("rep");
    kernels = std::max(kernels, number(line, "kernels"));
    by_tasks[rep] = std::max(by_tasks[rep], number(line, "tasks"));
    by_loop[rep] = std::max(by_loop[rep], number(line, "loop"));
  }
  for (const words &line : lines_of(output, "stage")) {
    const int rank = std::stoi(line.at("rank"));
    if (rank != 0 && rank != 1)
      throw std::runtime_error("a stage of rank " + line.at("rank") + ", and the model knows two");
    c.stages[rank].push_back({number(line, "free"), number(line, "late"), number(line, "sends"),
                              number(line, "bytes"), number(line, "free_behind"),
                              number(line, "late_behind"), number(line, "receives")});
  }
  if (by_tasks.empty() || kernels < 1 || c.stages[0].size() != c.stages[1].size() ||
      c.stages[0].empty())
    throw std::runtime_error("the ranks have not said what they compute: " + output);
  const auto median_of = [&](const std::map<std::string, double> &runs) {
    std::vector<double> values;
    for (const auto &[rep, value] : runs)
      values.push_back(value / kernels);
    return median(values);
  };
  c.task_kernel = median_of(by_tasks);
  c.loop_kernel = median_of(by_loop);
  const std::vector<words> machine = lines_of(output, "machine");
  for (const words &line : machine) {
    c.task += number(line, "task") / static_cast<double>(machine.size());
    c.copied_byte += number(line, "copied_byte") / static_cast<double>(machine.size());
  }
  return c;
}

loggp::way way_of(const std::string &version) {
  loggp::way w;
  if (version.rfind("plain", 0) == 0 || version.rfind("openmp", 0) == 0) {
    w.overlaps = false;
    return w;
  }
  w.send_tasks = 1; // the task that sends
  if (version.rfind("task_", 0) == 0 || version.rfind("tampi_", 0) == 0) {
    w.receive_tasks = 2; // the receive, and what notes its end
    return w;
  }
  w.copies = true;
  if (version == "notify") {
    w.receive_tasks = 3; // what expects, copies and gives back
    w.more_messages = 1;
    return w;
  }
  w.receive_tasks = 1; // the copy, or the get
  w.stage_tasks = 2; // talpf_sync, and what notes its end
  if (version == "default")
    w.ends = loggp::ending::counts;
  else if (version == "cached_barrier")
    w.ends = loggp::ending::barrier;
  else if (version == "cached_ack")
    w.stage_messages = 1;
  else if (version == "get")
    w.ends = loggp::ending::fetched;
  if (version == "get")
    w.stage_tasks = 4;
  return w;
}

prediction predict(const std::string &version, const computation &c, const loggp::network &n,
                   int workers) {
  const loggp::way w = way_of(version);
  loggp::costs all;
  all.net = n;
  all.kernel = w.overlaps ? c.task_kernel * workers : c.loop_kernel;
  all.task = c.task;
  all.copied_byte = c.copied_byte;
  all.workers = workers;
  prediction p;
  p.seconds = loggp::predict(c.stages, all, w);
  all.net = {};
  all.task = 0;
  all.copied_byte = 0;
  p.computing = loggp::predict(c.stages, all, w);
  return p;
}

void write_model_row(std::ostream &to, const std::string &version, const std::string &over,
                     const comparison &runs) {
  std::vector<double> seconds, ratios, messages;
  for (std::size_t i = 0; i != runs.real.size(); ++i) {
    const prediction &p = runs.model[i];
    seconds.push_back(p.seconds);
    ratios.push_back(p.seconds / runs.real[i]);
    messages.push_back(1 - p.computing / p.seconds);
  }
  const double off = 100 * (median(ratios) - 1);
  char line[256];
  std::snprintf(line, sizeof line, "| %s | %s | %.2f | %.2f | %.2f | %+.1f %%%s | %.2f %% |\n",
                version.c_str(), over.c_str(), 1e3 * median(runs.real),
                1e3 * *std::min_element(runs.real.begin(), runs.real.end()), 1e3 * median(seconds),
                off, std::fabs(off) > k_bound ? " (beyond 15)" : "", 100 * median(messages));
  to << line;
}

namespace {

/// Measures the networks that were built, and prints what the programs say.
std::map<std::string, loggp::network> measure_networks(const std::vector<std::string> &rest) {
  std::vector<version> ways;
  for (const char *engine : {"inproc", "ucx"})
    ways.push_back({engine, "weft-net-loggp", {}, "", {}, true, engine});
  for (const auto &[mpi, launcher] : k_mpis) {
    ways.push_back({std::string("mpi over ") + mpi,
                    "weft-net-loggp",
                    {},
                    launcher,
                    {"WEFT_NET_ENGINE=mpi"},
                    true,
                    ""});
    ways.push_back({mpi, std::string("weft-net-loggp-") + mpi, {}, launcher, {}, true, ""});
  }
  std::map<std::string, loggp::network> all;
  for (const version &v : ways) {
    if (!std::filesystem::exists(program_of(v.program))) {
      std::cout << v.name << " is left out: " << v.program << " was not built\n";
      continue;
    }
    const outcome r = start(v, 2, 1, rest);
    const std::map<std::string, loggp::network> found = read_networks(r.output);
    if (!r.ok || found.size() != 1)
      std::cout << v.name << " is left out: " << r.output << '\n';
    else
      all[v.name] = found.begin()->second;
  }
  return all;
}

void print_networks(const std::map<std::string, loggp::network> &networks) {
  std::cout << "\n| network | L ns | o ns | g ns | G ps | a byte sent ps | received ps |\n"
               "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const auto &[name, n] : networks) {
    char line[256];
    std::snprintf(line, sizeof line, "| %s | %.0f | %.0f | %.0f | %.1f | %.1f | %.1f |\n",
                  name.c_str(), 1e9 * n.latency, 1e9 * n.overhead, 1e9 * n.gap, 1e12 * n.per_byte,
                  1e12 * n.sent_byte, 1e12 * n.received_byte);
    std::cout << line;
  }
  std::cout << std::flush;
}

/// Returns the network of a version's messages: of an engine, or of an MPI.
std::string network_of(const version &v) {
  return v.launcher.empty() ? v.engine : v.name.substr(v.name.find('_') + 1);
}

/// Starts one job of each version beside its prediction, after one that computes alone: a machine
/// that changes its speed changes it for all of them.
class model_table {
 public:
  model_table(const options &o, const std::map<std::string, loggp::network> &networks,
              std::string app, int workers)
      : m_options(o), m_app(std::move(app)), m_workers(workers) {
    for (version v : chosen_versions(o)) {
      if (!v.has_workers && workers != 1)
        continue;
      for (const std::string &engine :
           v.launcher.empty() ? o.engines : std::vector{std::string()}) {
        v.engine = engine;
        const auto network = networks.find(network_of(v));
        if (network == networks.end())
          m_left_out.insert(v.name + " is left out: no network " + network_of(v));
        else
          m_rows.push_back({v, network->first, network->second, {}});
      }
    }
  }

  void run_round() {
    static const version alone{"alone", "weft-net-alone", {}, "", {}, true, ""};
    const outcome said = start(alone, 2, m_workers, words_of(m_app, m_options));
    if (!said.ok)
      throw std::runtime_error("weft-net-alone: " + said.output);
    m_computation = read_computation(said.output);
    for (row &r : m_rows) {
      const outcome out = start(r.of, 2, m_workers, words_of(m_app, m_options));
      if (!out.ok) {
        ++m_failed;
        std::cout << r.of.name << " of " << m_app << " has failed: " << out.output << '\n';
        continue;
      }
      const prediction p = predict(r.of.name, m_computation, r.network, m_workers);
      for (const run_values &run : read_runs(out.output)) {
        r.runs.real.push_back(run.seconds);
        r.runs.model.push_back(p);
      }
    }
  }

  void print() const {
    std::cout << "\n"
              << m_app << ", 2 ranks, " << m_workers << " worker(s); at last a kernel took "
              << 1e6 * m_computation.task_kernel << " us as a task, "
              << 1e6 * m_computation.loop_kernel << " us in a loop, a task without work "
              << 1e9 * m_computation.task << " ns\n\n"
              << "| version | over | ms | least | model ms | model is off by | not kernels |\n"
              << "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const row &r : m_rows)
      if (!r.runs.real.empty())
        write_model_row(std::cout, r.of.name, r.over, r.runs);
    std::cout << std::flush;
  }

  [[nodiscard]] int failed() const { return m_failed; }
  [[nodiscard]] const std::set<std::string> &left_out() const { return m_left_out; }

 private:
  struct row {
    version of;
    std::string over;
    loggp::network network;
    comparison runs;
  };
  const options &m_options;
  std::string m_app;
  int m_workers;
  std::vector<row> m_rows;
  std::set<std::string> m_left_out;
  computation m_computation;
  int m_failed = 0;
};

} // namespace

int run_loggp(const options &o) {
  const std::map<std::string, loggp::network> networks = measure_networks(o.rest);
  print_networks(networks);
  return networks.empty() ? 1 : 0;
}

int run_model(const options &o) {
  const std::map<std::string, loggp::network> networks = measure_networks({});
  print_networks(networks);
  int failed = 0;
  std::set<std::string> left_out; // behind the tables
  for (const std::string &app : o.apps)
    for (const int workers : o.workers) {
      model_table table(o, networks, app, workers);
      for (int sample = 0; sample != o.samples; ++sample)
        table.run_round();
      table.print();
      failed += table.failed();
      left_out.insert(table.left_out().begin(), table.left_out().end());
    }
  for (const std::string &line : left_out)
    std::cout << '\n' << line;
  std::cout << '\n' << failed << " jobs failed\n";
  return failed ? 1 : 0;
}

} // namespace bench::net
