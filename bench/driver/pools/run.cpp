// SPDX-License-Identifier: Apache-2.0
#include "pools.hpp"

#include "../process.hpp"
#include "../results.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>

namespace bench::pools {

namespace {

constexpr double k_ms = 1e6, k_step_back_ns = 10 * k_ms;
constexpr double k_idle_bound = 2, k_watch_bound = 1; // percent

std::vector<std::string> settings() {
  const std::string library = build_folder() + "/lib/libweft-pools.so";
  if (!std::filesystem::exists(library))
    throw std::runtime_error("there is no " + library + ": build the target weft-pools");
  return {"LD_PRELOAD=" + library};
}

using values = std::map<std::string, std::vector<double>>;

/// Runs the sample program, and returns the lines "name value" that it prints.
values sample(const std::vector<std::string> &words, const std::vector<std::string> &more = {}) {
  std::vector<std::string> command{build_folder() + "/bin/weft-pools-sample"}, set = settings();
  command.insert(command.end(), words.begin(), words.end());
  set.insert(set.end(), more.begin(), more.end());
  const outcome r = bench::run(command, set, std::chrono::seconds(600));
  if (!r.ok)
    throw std::runtime_error("weft-pools-sample: " + r.output);
  values found;
  std::istringstream from(r.output);
  std::string name;
  for (double value = 0; from >> name >> value;)
    found[name].push_back(value);
  if (found.empty())
    throw std::runtime_error("weft-pools-sample said: " + r.output);
  return found;
}

int say(const std::string &what, double percent, double bound) {
  const bool missed = percent > bound;
  std::printf("  %-34s %+7.3f %% (bound %g %%)%s\n", what.c_str(), percent, bound,
              missed ? "  MISSED" : "");
  std::fflush(stdout);
  return missed;
}

int measure_idle_pool(const options &o) {
  int missed = 0;
  std::printf("an idle pool of four threads a cpu: processor time of tasks, %d pairs\n", o.runs);
  for (const auto &[workers, clock] : {std::pair{"1", "thread_ns"}, {"2", "process_ns"}}) {
    std::vector<double> above;
    for (int i = 0; i < o.runs; ++i) {
      std::map<std::string, double> cost;
      for (int k = 0; k < 2; ++k) { // each pair begins with the other one
        const std::string pool = (i + k) % 2 ? "idles" : "none";
        cost[pool] = sample({"tasks", pool, std::to_string(o.tasks), "500"},
                            {std::string("WEFT_WORKERS=") + workers})
                         .at(clock)[0];
      }
      above.push_back(100 * (cost["idles"] / cost["none"] - 1));
    }
    missed += say(std::string(workers) + " worker(s), " + clock, median(above), k_idle_bound);
  }
  return missed;
}

int measure_watching() {
  int missed = 0;
  std::printf("the watcher's processor time, of one cpu, while tasks run\n");
  for (const char *pool : {"none", "idles", "naps", "computes", "wakes"})
    missed += say(std::string("the pool ") + pool,
                  sample({"watch", pool, "2000"}).at("watcher_percent")[0], k_watch_bound);
  return missed;
}

bool show(const char *what, const std::vector<double> &ns, double bound) {
  const distribution d = distribution_of(ns, bound);
  const bool missed = d.half > bound;
  std::printf(" | %s %7.3f %7.3f %7.3f  %3.0f %%%s", what, d.half / k_ms, d.nine_tenths / k_ms,
              d.most / k_ms, 100 * d.within, missed ? " MISSED" : "");
  return missed;
}

int measure_reactions(const options &o) {
  int missed = 0;
  std::printf("when workers step back and return, ms: half, nine tenths, most, share within the "
              "bound\n");
  std::printf("  %-10s", "relay");
  static_cast<void>(show(
      "the kernel's two wake-ups",
      sample({"react", "relay", std::to_string(o.reactions)}, {"WEFT_WORKERS=1"}).at("return_ns"),
      10 * k_ms));
  std::printf("\n");
  for (const way &w : ways()) {
    const values seen = sample({"react", w.name, std::to_string(o.reactions)});
    std::printf("  %-10s", w.name.c_str());
    missed += show("back (10 ms)", seen.at("step_back_ns"), k_step_back_ns);
    missed += show(w.return_ns == k_ms ? "return (1 ms)" : "return (10 ms)", seen.at("return_ns"),
                   w.return_ns);
    std::printf("\n");
    std::fflush(stdout);
  }
  return missed;
}

} // namespace

const std::vector<way> &ways() {
  static const std::vector<way> all{{"condition", k_ms},
                                    {"futex", k_ms},
                                    {"sleep", k_ms},
                                    {"read", 10 * k_ms},
                                    {"mutex", 10 * k_ms}};
  return all;
}

distribution distribution_of(std::vector<double> values, double bound) {
  if (values.empty())
    throw std::runtime_error("no reaction was measured");
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double q) {
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(std::ceil(q * last))];
  };
  const auto inside =
      std::count_if(values.begin(), values.end(), [&](double v) { return v <= bound; });
  return {quantile(0.5), quantile(0.9), values.back(),
          static_cast<double>(inside) / static_cast<double>(values.size())};
}

int run(const options &o) {
  int missed = 0;
  if (o.costs)
    missed += measure_idle_pool(o) + measure_watching();
  if (o.times)
    missed += measure_reactions(o);
  std::printf("%d bounds missed\n", missed);
  return missed ? 1 : 0;
}

} // namespace bench::pools
