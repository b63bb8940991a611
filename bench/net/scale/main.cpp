// SPDX-License-Identifier: Apache-2.0
// weft-net-scale: the modes of synchronization on simulated machines, in the form of the paper's figures.
#include "skeleton.hpp"

#include "../../driver/arguments.hpp"
#include "../../model/chart.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace net_scale;

constexpr const char *k_help =
    R"(weft-net-scale [OPTION...]   modes of synchronization on simulated machines (SimGrid)
  --figures N,...      of the paper: 7.1 7.3 Jacobi, 7.7 7.8 Gauss-Seidel, 7.9 7.10 N-Body, 7.12 7.13 with priorities,
                       7.15 7.16 matrix product; the former strong scaling, the latter weak (default: all)
  --ranks N,...        (default 1,2,4,8,16,32)
  --modes NAME,...     of default, cached, msg, cached_barrier, paper_default, task_mpi (default: all)
  --paper-most N       ranks up to which paper_default is simulated (default 64)
  --rounds N           (default: as the application says)
  --cores N            of a rank (default 31)
  --latency-ns N --overhead-ns N --megabytes N   of the network: one way, of a message at each end, a second
                       (default 1500, 250, 12500)
  --jitter-percent N   of the work of a rank in a round, at most (default 5)
  --task-us N          of a kernel (default: as the application says)
  --svg FOLDER         draws each figure as FOLDER/fig-N.svg
A table for each figure: time of the serial program over time and ranks, in percent.
)";

struct figure {
  const char *number, *title;
  app what;
  bool weak;
};
constexpr figure k_figures[] = {
    {"7.1", "Jacobi, strong scaling", app::jacobi, false},
    {"7.3", "Jacobi, weak scaling", app::jacobi, true},
    {"7.7", "Gauss-Seidel, strong scaling", app::gauss_seidel, false},
    {"7.8", "Gauss-Seidel, weak scaling", app::gauss_seidel, true},
    {"7.9", "N-Body, strong scaling", app::nbody, false},
    {"7.10", "N-Body, weak scaling", app::nbody, true},
    {"7.12", "N-Body with priorities, strong scaling", app::nbody_priorities, false},
    {"7.13", "N-Body with priorities, weak scaling", app::nbody_priorities, true},
    {"7.15", "Matrix product, strong scaling", app::matmul, false},
    {"7.16", "Matrix product, weak scaling", app::matmul, true},
};

struct wishes {
  std::vector<std::string> figures, modes;
  std::vector<int> ranks{1, 2, 4, 8, 16, 32};
  int paper_most = 64, rounds = 0;
  costs cost;
  std::string svg;
};

wishes parse(const std::vector<std::string> &words) {
  wishes w;
  constexpr long k_most = 1'000'000'000;
  long latency = 1500, overhead = 250, megabytes = 12500, jitter = 5, task = 0;
  bench::option_table("weft-net-scale", k_help)
      .list("--figures", w.figures)
      .list("--modes", w.modes)
      .numbers("--ranks", w.ranks, 1 << 16)
      .number("--paper-most", w.paper_most, 1 << 16)
      .number("--rounds", w.rounds, 1'000'000)
      .number("--cores", w.cost.cores, 1 << 16)
      .number("--latency-ns", latency, k_most)
      .number("--overhead-ns", overhead, k_most)
      .number("--megabytes", megabytes, k_most)
      .number("--jitter-percent", jitter, 1000, 0)
      .number("--task-us", task, k_most)
      .value("--svg", w.svg)
      .parse(words);
  w.cost.latency = 1e-9 * static_cast<double>(latency);
  w.cost.overhead = 1e-9 * static_cast<double>(overhead);
  w.cost.bandwidth = 1e6 * static_cast<double>(megabytes);
  w.cost.jitter = 0.01 * static_cast<double>(jitter);
  w.cost.task = 1e-6 * static_cast<double>(task);
  return w;
}

bool is_chosen(const std::vector<std::string> &chosen, const std::string &name) {
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), name) != chosen.end();
}

/// Is a column of a figure.
struct column {
  std::string name;
  app what;
  mode how;
};

std::vector<column> columns_of(const figure &f, const wishes &w) {
  std::vector<column> all;
  for (int m = 0; m != k_modes; ++m)
    if (is_chosen(w.modes, k_mode_names[m]))
      all.push_back({k_mode_names[m], f.what, static_cast<mode>(m)});
  // The paper's program, which has one column of blocks.
  if (f.what == app::gauss_seidel)
    for (const mode how : {mode::standard, mode::cached})
      if (const char *const name = k_mode_names[static_cast<int>(how)]; is_chosen(w.modes, name))
        all.push_back({std::string(name) + ", one column", app::gauss_seidel_column, how});
  return all;
}

void draw(const figure &f, const std::vector<column> &columns, const wishes &w) {
  manager_model::chart picture;
  picture.title = std::string(f.title) + " (figure " + f.number + ")";
  picture.x_label = "ranks";
  picture.y_label = "efficiency";
  picture.x = manager_model::scale::logarithmic;
  std::printf("\n%s (in the form of figure %s)\n\n| ranks |", f.title, f.number);
  for (const column &c : columns) {
    std::printf(" %s |", c.name.c_str());
    picture.curves.push_back({c.name, {}});
  }
  std::printf("\n| --- |");
  for (std::size_t i = 0; i != columns.size(); ++i)
    std::printf(" --- |");
  std::printf("\n");
  for (const int ranks : w.ranks) {
    std::printf("| %d |", ranks);
    for (std::size_t i = 0; i != columns.size(); ++i) {
      const column &c = columns[i];
      if (c.how == mode::published && ranks > w.paper_most) {
        std::printf(" |");
        continue;
      }
      const problem p{c.what, ranks, f.weak, w.rounds};
      const double share = plan(p, w.cost).serial() / (ranks * simulate_apart(p, c.how, w.cost));
      std::printf(" %.1f |", 100 * share);
      std::fflush(stdout);
      picture.curves[i].points.emplace_back(ranks, share);
    }
    std::printf("\n");
  }
  if (w.svg.empty())
    return;
  std::filesystem::create_directories(w.svg);
  std::ofstream to(w.svg + "/fig-" + f.number + ".svg");
  manager_model::write_svg(to, picture);
  if (!to.flush())
    throw std::runtime_error("cannot write " + w.svg + "/fig-" + f.number + ".svg");
}

void refuse_unknown(const std::vector<std::string> &names, const std::vector<std::string> &known,
                    const char *option) {
  for (const std::string &name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw std::runtime_error(std::string(option) + ": there is no '" + name + "'");
}

} // namespace

int main(int argc, char **argv) {
  try {
    const wishes w = parse({argv + 1, argv + argc});
    std::vector<std::string> numbers;
    for (const figure &f : k_figures)
      numbers.emplace_back(f.number);
    refuse_unknown(w.figures, numbers, "--figures");
    refuse_unknown(w.modes, {k_mode_names, k_mode_names + k_modes}, "--modes");
    for (const figure &f : k_figures)
      if (is_chosen(w.figures, f.number))
        draw(f, columns_of(f, w), w);
    return EXIT_SUCCESS;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-net-scale: %s\n", e.what());
    return EXIT_FAILURE;
  }
}
