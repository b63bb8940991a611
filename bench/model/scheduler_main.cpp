// SPDX-License-Identifier: Apache-2.0
// weft-scheduler-model: predicts how fast workers get items from the queue of the policy `delegated`,
// and from a creator's deque one at a time and in batches.
#include "batches.hpp"
#include "scheduler.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace scheduler_model;

constexpr const char *k_usage =
    R"(usage: weft-scheduler-model [--costs FILE] [--set NAME=NUMBER]... [--workers N,...] [--nodes N,...] [--batches]
Predicts how fast workers get items from one queue, behind a lock that each takes (plain), one whose
owner serves its waiters one by one (delegation) or in runs (combining), and such a lock and queue on
each node (per-node). CSV on standard output.
  --costs    lines `name = number`, as weft-manager-calibrate --scheduler writes them
  --set      one parameter; --list shows all
  --workers  default 1,2,4,8,16,32,64,128,256
  --nodes    default 1,2,4,8; left out where workers cannot be spread evenly
  --batches  instead: tiny tasks of one creator, which move one at a time, in batches that a thief takes, in groups that
             the creator makes
)";

std::vector<unsigned> numbers_in(const std::string &list) {
  std::vector<unsigned> all;
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    unsigned n = 0;
    const auto [stop, failure] = std::from_chars(list.data() + from, list.data() + comma, n);
    if (failure != std::errc() || stop != list.data() + comma || n < 1 || n > 4096)
      throw std::invalid_argument("'" + list + "' is not a list of numbers from 1 to 4096");
    all.push_back(n);
    from = comma + 1;
  }
  return all;
}

void print_batches(const std::vector<unsigned> &workers) {
  using namespace batch_model;
  std::puts("way,workers,body,ns_per_task,by_creator,steals_per_100");
  for (const unsigned w : workers)
    for (const double body : {0.0, 50.0, 200.0, 1000.0, 5000.0})
      for (const way how : {way::single, way::thief, way::creator}) {
        batch_model::parameters p;
        p.workers = w;
        p.body_ns = body;
        const batch_model::outcome o = batch_model::simulate(p, how);
        const auto tasks = static_cast<double>(p.tasks);
        std::printf("%s,%u,%.0f,%.1f,%.2f,%.1f\n", std::string(batch_model::name_of(how)).c_str(), w, body,
                    o.time_ns / tasks, static_cast<double>(o.by_creator) / tasks, 100 * static_cast<double>(o.steals) / tasks);
      }
}

} // namespace

int main(int argc, char **argv) {
  try {
    parameters p;
    std::vector<unsigned> workers{1, 2, 4, 8, 16, 32, 64, 128, 256}, nodes{1, 2, 4, 8};
    bool batches = false;
    for (int i = 1; i < argc; ++i) {
      const std::string option = argv[i];
      if (option == "--batches") {
        batches = true;
        continue;
      }
      if (option == "--help")
        return std::fputs(k_usage, stdout) < 0;
      if (option == "--list") {
        for (const parameter_info &each : all_parameters())
          std::printf("%-8s %-8g %s\n", std::string(each.name).c_str(), p.*each.field,
                      std::string(each.text).c_str());
        return 0;
      }
      if ((option != "--costs" && option != "--set" && option != "--workers" && option != "--nodes") || i + 1 == argc)
        throw std::invalid_argument("there is no option '" + option +
                                    "', or its value is missing; --help shows all");
      const std::string value = argv[++i];
      if (option == "--set") {
        set(p, value);
      } else if (option == "--costs") {
        std::ifstream file(value);
        if (!file)
          throw std::invalid_argument("cannot read '" + value + "'");
        read(p, file, value);
      } else
        (option == "--workers" ? workers : nodes) = numbers_in(value);
    }
    if (batches)
      return print_batches(workers), 0;
    std::puts("lock,nodes,workers,ns_per_item,speedup,wait_ns,hand_overs_per_100,waiters_per_run");
    for (const unsigned n : nodes)
      for (const lock_mode mode :
           {lock_mode::plain, lock_mode::delegation, lock_mode::combining, lock_mode::per_node})
        for (const unsigned w : workers) {
          if (w % n != 0)
            continue;
          p.mode = mode;
          p.nodes = n;
          p.workers = w;
          const outcome o = simulate(p);
          std::printf("%s,%u,%u,%.1f,%.2f,%.0f,%.2f,%.2f\n", std::string(name_of(mode)).c_str(), n,
                      w, o.time_ns / p.items, p.items * p.body / o.time_ns, o.wait_ns,
                      100 * static_cast<double>(o.hand_overs) / p.items,
                      o.runs ? static_cast<double>(o.served) / static_cast<double>(o.runs) : 0.0);
        }
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-scheduler-model: %s\n", e.what());
    return 2;
  }
}
