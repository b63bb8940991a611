// SPDX-License-Identifier: Apache-2.0
#include "prediction.hpp"

#include "../results.hpp"

#include <applications.hpp>
#include <chart.hpp>
#include <simulation.hpp>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace bench::managers {

namespace {

using namespace manager_model;

constexpr unsigned k_workers[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
constexpr unsigned k_measured = 2; // workers with which the costs were measured
struct predicted_mode {
  const char *name; // as in all_modes()
  manage_mode mode;
  bool hands_all_on = false;
};
constexpr predicted_mode k_modes[] = {
    {"direct", manage_mode::direct},  {"distributed", manage_mode::distributed},
    {"auto", manage_mode::automatic}, {"thesis", manage_mode::distributed, true},
    {"hybrid", manage_mode::hybrid},  {"central", manage_mode::central}};

/// Returns the program as bench/apps has it at its preset size. SparseLU has another pattern of
/// empty blocks.
task_graph graph_of(const std::string &app, long tile) {
  const auto blocks = [tile](long size) {
    return static_cast<std::uint32_t>((size + tile - 1) / tile);
  };
  if (app == "two_wave")
    return synthetic(blocks(1L << 23), 1);
  if (app == "cholesky")
    return cholesky(blocks(1024), 1);
  if (app == "matmul")
    return matmul(blocks(512), 1);
  if (app == "sparselu")
    return sparselu(blocks(1024), 1);
  return nbody(blocks(1024), 8, 1);
}

std::optional<double> measured(const record &r, const std::string &study, const std::string &app,
                               const std::string &grain, const std::string &mode, unsigned workers,
                               double sample::*of) {
  std::vector<double> values;
  for (const sample &s : r.samples())
    if (s.study == study && s.app == app && s.grain == grain && s.mode == mode &&
        s.workers == static_cast<int>(workers))
      values.push_back(s.*of);
  return values.empty() ? std::nullopt : std::optional(median(values));
}

/// Returns how much slower a body is on a worker that also works on the graph: the loss of one
/// worker compared with a run in which a manager's thread does that work.
double pollution(const record &r, const std::string &app, const std::string &grain,
                 double body_ns) {
  const auto clean = measured(r, "bodies", app, grain, "forced", 1, &sample::body_ns);
  return clean && *clean > 0 ? std::max(0.0, body_ns / *clean - 1) : 0;
}

parameters costs_of(const std::string &file) {
  std::ifstream from(file);
  if (!from)
    throw std::runtime_error("cannot read '" + file + "'; weft-manager-calibrate > " + file +
                             " writes it");
  parameters p;
  read(p, from, file);
  p.graph_lock = 0; // dependencies are wait-free
  return p;
}

std::string number(const char *format, double v) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, format, v);
  return buffer;
}

void head(std::ostream &to, const parameters &p) {
  to << "\n### prediction\n\nTime in ms by the discrete-event model, calibrated with one worker and two threads; measured times of 1 and 2 workers in brackets. "
     << "Costs in ns: create " << p.create << ", submit " << p.submit << ", done " << p.done
     << ", remove " << p.remove << ", transfer " << p.transfer << ", steal " << p.steal << ", wake "
     << p.wake << ".\n\n| application | mode |";
  for (const unsigned w : k_workers)
    to << ' ' << w << " |";
  to << "\n| --- | --- |";
  for (std::size_t i = 0; i < std::size(k_workers); ++i)
    to << " --- |";
  to << '\n';
}

void predict(std::ostream &to, const record &r, const program &what, bool fine, parameters p) {
  const std::string grain = fine ? "fine" : "coarse";
  const auto body = measured(r, "bodies", what.name, grain, "direct", 1, &sample::body_ns);
  if (!body)
    return;
  const task_graph g = graph_of(what.name, fine ? what.fine : what.coarse);
  p.pollution = pollution(r, what.name, grain, *body);
  p.body = *body / (1 + p.pollution) * static_cast<double>(g.size() - 1) / g.total_body_ns();
  chart c{what.name + " " + grain + ", predicted",
          "workers",
          "speedup over the bodies alone",
          scale::logarithmic,
          scale::linear,
          {}};
  const double backlog = p.backlog;
  for (const predicted_mode &m : k_modes) {
    p.mode = m.mode;
    p.backlog = m.hands_all_on ? 0 : backlog;
    c.curves.push_back({m.name, {}});
    to << "| " << what.name << ' ' << grain << " | " << m.name << " |";
    for (const unsigned w : k_workers) {
      p.workers = w;
      const double ns = simulate(g, p).time_ns;
      c.curves.back().points.emplace_back(w, g.total_body_ns() * p.body / ns);
      to << number(" %.3g", ns / 1e6);
      if (const auto t = measured(r, "times", what.name, grain, m.name, w, &sample::seconds);
          t && w <= k_measured)
        to << number(" (%.3g)", *t * 1e3);
      to << " |";
    }
    to << '\n';
  }
  std::ofstream picture(r.folder() + "/" + what.name + "-" + grain + "-predicted.svg");
  write_svg(picture, c);
}

} // namespace

void write_prediction(std::ostream &to, const record &r, const options &o) {
  const parameters p = costs_of(o.costs);
  head(to, p);
  const auto wanted = [&](const program &x) {
    return o.only.empty() || std::find(o.only.begin(), o.only.end(), x.name) != o.only.end();
  };
  for (const program &x : all_programs())
    for (const bool fine : {false, true})
      if (wanted(x))
        predict(to, r, x, fine, p);
  to << '\n';
  for (const program &x : all_programs())
    for (const char *grain : {"coarse", "fine"})
      if (wanted(x) && measured(r, "bodies", x.name, grain, "direct", 1, &sample::body_ns))
        to << "![" << x.name << ' ' << grain << ", predicted](managers/" << x.name << '-' << grain
           << "-predicted.svg)\n";
}

} // namespace bench::managers
