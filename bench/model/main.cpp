// SPDX-License-Identifier: Apache-2.0
// weft-manager-model: predicts time against workers for the modes of the managers, from measured costs.
#include "applications.hpp"
#include "chart.hpp"
#include "simulation.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

namespace {

using namespace manager_model;

constexpr const char *k_usage =
    R"(usage: weft-manager-model [--costs FILE] [--set NAME=NUMBER]... [--only PROGRAM[:fine|:coarse]]...
                          [--size N] [--body-ns NS] [--workers N,...] [--modes MODE,...] [--out DIR]
Predicts time against workers. CSV on standard output; with --out also curves (SVG) and counts over time.
  --costs FILE   lines `name = number`, as weft-manager-calibrate writes them
  --set          one parameter; --list shows all
  --only         synthetic, cholesky, matmul, sparselu, nbody; default all, fine and coarse, in the paper's sizes
  --size, --body-ns  other sizes than the paper's: blocks per side and a typical body
  --workers      default 1,2,4,8,16,32,48,64,96,128,192,256
  --modes        default direct,central,hybrid,distributed; there is auto, too
)";

struct request {
  parameters base;
  std::vector<std::string> only;
  std::vector<unsigned> workers{1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256};
  std::vector<manage_mode> modes{manage_mode::direct, manage_mode::central, manage_mode::hybrid,
                                 manage_mode::distributed};
  double body_ns = 0;
  unsigned size = 0;
  std::string out;
};

void list_parameters() {
  const parameters defaults;
  for (const parameter_info &i : all_parameters())
    std::printf("%-13s %-8g %s%s\n", std::string(i.name).c_str(), defaults.*i.field,
                i.is_cost ? "ns; " : "", std::string(i.text).c_str());
}

template <class F>
void for_each_part(const std::string &list, F &&f) {
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    f(list.substr(from, comma - from));
    from = comma + 1;
  }
}

double number(const std::string &text, const char *what, double least, double most) {
  char *end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (text.empty() || *end || !(v >= least && v <= most))
    throw std::invalid_argument(std::string(what) + " '" + text + "' is not a number from " +
                                std::to_string(least) + " to " + std::to_string(most));
  return v;
}

request parse(int argc, char **argv) {
  request r;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--list") {
      list_parameters();
      std::exit(0);
    }
    if (option == "--help") {
      std::fputs(k_usage, stdout);
      std::exit(0);
    }
    if (i + 1 == argc)
      throw std::invalid_argument("there is no option '" + option +
                                  "' without a value; --help shows all");
    const std::string value = argv[++i];
    if (option == "--costs") {
      std::ifstream file(value);
      if (!file)
        throw std::invalid_argument("cannot read '" + value + "': " + std::strerror(errno));
      read(r.base, file, value);
    } else if (option == "--set") {
      set(r.base, value);
    } else if (option == "--only") {
      r.only.push_back(value);
    } else if (option == "--size") {
      r.size = static_cast<unsigned>(number(value, "size", 1, 1 << 20));
    } else if (option == "--body-ns") {
      r.body_ns = number(value, "body", 0, 1e12);
    } else if (option == "--workers") {
      r.workers.clear();
      for_each_part(value, [&](const std::string &s) {
        r.workers.push_back(static_cast<unsigned>(number(s, "workers", 1, 4096)));
      });
    } else if (option == "--modes") {
      r.modes.clear();
      for_each_part(value, [&](const std::string &s) { r.modes.push_back(mode_named(s)); });
    } else if (option == "--out") {
      r.out = value;
    } else {
      throw std::invalid_argument("there is no option '" + option + "'; --help shows all");
    }
  }
  return r;
}

bool wanted(const request &r, const std::string &name) {
  for (const std::string &o : r.only)
    if (name == o || name.rfind(o + ":", 0) == 0)
      return true;
  return r.only.empty();
}

void save(const request &r, std::string name, const chart &c) {
  for (char &letter : name)
    letter = letter == ':' ? '-' : letter;
  const std::string path = r.out + "/" + name + ".svg";
  std::ofstream file(path);
  write_svg(file, c);
  if (!file.flush())
    throw std::runtime_error("cannot write '" + path + "': " + std::strerror(errno));
}

/// Draws the counts over time of one run: figures 7.18, 7.19, 7.25, 7.31, 7.32.
void save_counts(const request &r, const std::string &name, const outcome &o, const parameters &p) {
  chart c{name + ", " + std::string(name_of(p.mode)) + ", " + std::to_string(p.workers) +
              " workers",
          "ms",
          "tasks",
          {},
          {},
          {{"in the graph", {}}, {"in messages", {}}, {"ready", {}}}};
  for (const sample &s : o.counts.samples()) {
    c.curves[0].points.emplace_back(s.at_ns / 1e6, s.in_graph);
    c.curves[1].points.emplace_back(s.at_ns / 1e6, s.queued);
    c.curves[2].points.emplace_back(s.at_ns / 1e6, s.ready);
  }
  save(r, name + "-" + std::string(name_of(p.mode)) + "-" + std::to_string(p.workers) + "-counts",
       c);
}

void print(const std::string &name, const task_graph &g, const parameters &p, const outcome &o) {
  std::printf("%s,%s,%u,%zu,%.3f,%.3f,%.3f,%.3f,%.1f,%.1f,%.1f,%.1f,%.3f,%lld,%lld,%lld\n",
              name.c_str(), std::string(name_of(p.mode)).c_str(), p.workers, g.size() - 1,
              o.time_ns / 1e6, g.total_body_ns() * p.body / o.time_ns, o.creator_ns / 1e6,
              o.body_ns.value() / 1e3, o.new_ns.value(), o.done_ns.value(), o.delete_ns.value(),
              o.lock_ns.value(), o.manager_ns / 1e6,
              static_cast<long long>(o.counts.peak().in_graph),
              static_cast<long long>(o.counts.peak().queued),
              static_cast<long long>(o.counts.peak().ready));
  std::fflush(stdout);
}

void predict(const request &r, const program &what) {
  const std::string name = std::string(what.name) + (what.fine ? ":fine" : ":coarse");
  const task_graph g = graph_of(what);
  chart speedup{name,          "workers", "speedup over the bodies alone", scale::logarithmic,
                scale::linear, {}};
  for (manage_mode mode : r.modes) {
    speedup.curves.push_back({std::string(name_of(mode)), {}});
    for (unsigned workers : r.workers) {
      parameters p = r.base;
      p.mode = mode;
      p.workers = workers;
      const outcome o = simulate(g, p);
      print(name, g, p, o);
      speedup.curves.back().points.emplace_back(workers, g.total_body_ns() * p.body / o.time_ns);
      if (!r.out.empty() && (workers == 64 || workers == r.workers.back()))
        save_counts(r, name, o, p);
    }
  }
  if (!r.out.empty())
    save(r, name + "-speedup", speedup);
}

} // namespace

int main(int argc, char **argv) {
  try {
    const request r = parse(argc, argv);
    std::puts(
        "program,mode,workers,tasks,time_ms,speedup,creator_ms,body_us,new_ns,done_ns,delete_ns,lock_"
        "ns,manager_ms,"
        "peak_in_graph,peak_in_messages,peak_ready");
    bool any = false;
    for (program p : programs()) {
      if (!wanted(r, std::string(p.name) + (p.fine ? ":fine" : ":coarse")))
        continue;
      any = true;
      p.n = r.size ? r.size : p.n;
      p.body_ns = r.body_ns > 0 ? r.body_ns : p.body_ns;
      predict(r, p);
    }
    if (!any)
      throw std::invalid_argument(
          "no program has that name; take synthetic, cholesky, matmul, sparselu or "
          "nbody, with :fine or :coarse");
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-manager-model: %s\n", e.what());
    return 2;
  }
}
