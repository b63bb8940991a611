// SPDX-License-Identifier: Apache-2.0
// Runs the fourteen programs in one model. A model supplies:
//
//     k_name                      its name
//     runtime(configuration)      starts it; call(f) runs the root of a program in it
//     scope::async(f, args...)    calls f(args...) in a task; returns a future<T> with get(). The
//                                 scope lives until all of its futures have been asked.
//     mutex
//
// One process runs one program, and prints a line per sample.
#pragma once

#include "../models/serial.hpp"
#include "../programs/alignment.hpp"
#include "../programs/fft.hpp"
#include "../programs/fib.hpp"
#include "../programs/floorplan.hpp"
#include "../programs/health.hpp"
#include "../programs/intersim.hpp"
#include "../programs/nqueens.hpp"
#include "../programs/pyramids.hpp"
#include "../programs/qap.hpp"
#include "../programs/round.hpp"
#include "../programs/sort.hpp"
#include "../programs/sparselu.hpp"
#include "../programs/strassen.hpp"
#include "../programs/uts.hpp"
#include "offcore.hpp"
#include "request.hpp"

#include <cstdio>
#include <exception>

namespace inncabs {

template <class Model, class Program>
int measure(const request &r) {
  sizes s(Program::k_parameters, r.tiny);
  for (const std::string &assignment : r.sizes)
    s.set(assignment);
  const offcore_counter offcore;
  typename Model::runtime runtime({r.workers, r.policy, r.threads});
  Program program(s);
  // The serial run is the oracle, and counts the tasks.
  program.reset();
  serial::tasks = 0;
  program.template run<serial>();
  program.remember();
  const long tasks = serial::tasks;
  print("sizes", s.text());
  print("offcore", offcore.absent().empty() ? "counted" : offcore.absent());
  std::string error = program.check();
  for (int i = 0; i < r.samples && error.empty(); ++i) {
    program.reset();
    runtime.begin_sample();
    const double requests = offcore.requests(), cpu = cpu_ns(), begin = elapsed_ns();
    runtime.call([&] { program.template run<Model>(); });
    const double end = elapsed_ns();
    print("sample", end - begin);
    print("cpu", cpu_ns() - cpu);
    if (offcore.absent().empty())
      print("bandwidth", (offcore.requests() - requests) * 64 / (end - begin)); // bytes per ns
    runtime.end_sample([](const char *name, double value) { print(name, value); });
    if constexpr (requires { program.explored(); })
      print("tasks", static_cast<double>(program.explored()));
    else
      print("tasks", static_cast<double>(tasks));
    error = program.check();
  }
  if (error.empty())
    return 0;
  print("wrong", error);
  return k_wrong_result;
}

template <class Program>
void list() {
  std::printf("%s\n", Program::k_name);
  for (const parameter &p : Program::k_parameters)
    std::printf("  %s=%ld  %s\n", p.name, p.value, p.meaning);
}

template <class Model, class... Programs>
int dispatch(const request &r) {
  if (r.program.empty()) {
    (list<Programs>(), ...);
    return 0;
  }
  int status = -1;
  static_cast<void>(
      ((r.program == Programs::k_name && (status = measure<Model, Programs>(r), true)) || ...));
  if (status < 0)
    throw std::runtime_error("no program is called '" + r.program + "'");
  return status;
}

template <class Model>
int run(int argc, char **argv) {
  try {
    return dispatch<Model, alignment, fft, fib, floorplan, health, intersim, nqueens, pyramids, qap,
                    round, sort, sparselu, strassen, unbalanced_tree>(
        parse({argv + 1, argv + argc}, Model::k_name));
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-inncabs-%s: %s\n", Model::k_name, e.what());
    return k_wrong_usage;
  }
}

} // namespace inncabs
