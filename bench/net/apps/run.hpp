// SPDX-License-Identifier: Apache-2.0
// Runs an application in a version, compares its result, and prints a line for each run of a rank:
//   net app=jacobi version=cached rank=0 ranks=2 rep=1 seconds=... kernels=... computing=... awaiting=...
//   both=... processor=... tasks=... messages=... bytes=... right=1
//
// A version is a class with
//   rank(), ranks()
//   start(layout, memory)   before the first run of an application: pieces are sent from `memory`
//   begin()                 before each run; all ranks meet
//   run(group, uses, priority, f)   a kernel; those of one group run in the order of the calls
//   send(piece, to, round, from, written)   sends a piece, when what is written by `written` is there
//   receive(round, arrivals)        ends the sends of the round, and brings what comes in it
//   finish()                all that was begun has ended
//   stop()                  behind the last run of an application
//   sent()                  what it has sent since begin(): messages and bytes
#pragma once

#include "gauss_seidel.hpp"
#include "jacobi.hpp"
#include "matmul.hpp"
#include "meter.hpp"
#include "nbody.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace net_bench {

/// Counts what a version sends.
struct traffic {
  std::size_t messages = 0, bytes = 0;
};

template <class App, class Version>
bool run_app(Version &v, meter &times, const options &o, const char *app_name) {
  App app(o, v.rank(), v.ranks());
  v.start(app.exchanged(), app.memory());
  bool is_right = true;
  for (int rep = 0; rep <= o.reps; ++rep) {
    app.reset();
    v.begin();
    times.begin();
    app.spawn(v);
    v.finish();
    const measured m = times.end();
    if (o.spoil && v.rank() == 0)
      app.spoil();
    const bool holds = app.is_right();
    is_right = is_right && holds;
    const traffic sent = v.sent();
    if (rep != 0 || !holds) {
      char line[512];
      const int length = std::snprintf(
          line, sizeof line,
          "net app=%s version=%s rank=%d ranks=%d rep=%d seconds=%.9f kernels=%.9f computing=%.9f "
          "awaiting=%.9f both=%.9f processor=%.9f tasks=%llu messages=%zu bytes=%zu right=%d\n",
          app_name, v.name(), v.rank(), v.ranks(), rep, m.seconds, m.kernels, m.computing,
          m.awaiting, m.both, m.processor, static_cast<unsigned long long>(m.tasks), sent.messages,
          sent.bytes, holds ? 1 : 0);
      std::fwrite(line, 1, static_cast<std::size_t>(length), stdout);
      std::fflush(stdout);
    }
  }
  v.stop();
  return is_right;
}

/// Runs what the options name. Returns false, behind a line, when a result is wrong.
template <class Version>
bool run_apps(Version &v, meter &times, const options &o) {
  const auto run_one = [&](app which) {
    switch (which) {
    case app::jacobi:
      return run_app<jacobi>(v, times, o, o.columns == 1 ? "jacobi_rows" : "jacobi");
    case app::gauss_seidel:
      return run_app<gauss_seidel>(
          v, times, o, o.priorities ? "gauss_seidel_priorities" : "gauss_seidel");
    case app::nbody:
      return run_app<nbody>(v, times, o, o.priorities ? "nbody_priorities" : "nbody");
    case app::matmul:
      break;
    }
    return run_app<matmul>(v, times, o, "matmul");
  };
  bool is_right = true;
  if (!o.all)
    is_right = run_one(o.what);
  for (int i = 0; o.all && i != k_apps; ++i)
    is_right = run_one(static_cast<app>(i)) && is_right;
  if (!is_right)
    std::fprintf(stderr,
                 "wrong: rank %d of version %s has another result than the serial program\n",
                 v.rank(), v.name());
  return is_right;
}

/// Returns the room that a meter needs for what the options name.
[[nodiscard]] inline std::size_t events_of(const options &o) {
  return o.small ? std::size_t{1} << 14 : std::size_t{1} << 18;
}

} // namespace net_bench
