// SPDX-License-Identifier: Apache-2.0
// weft-net-alone APP|all [OPTION...]   what the ranks of an application compute, without messages
//
// Started by `weft launch -n 2`: each process computes what its rank does, with tasks and then in a loop, beside the
// other one. Nothing is exchanged, so results are wrong and not compared. Prints, for the model (loggp.hpp),
//   alone app=jacobi rank=0 rep=1 kernels=... tasks=<seconds> loop=<seconds>
//   stage app=jacobi rank=0 free=... late=... sends=... bytes=... free_behind=... late_behind=... receives=...
//   machine rank=0 task=<seconds> copied_byte=<seconds>
#include "../apps/gauss_seidel.hpp"
#include "../apps/jacobi.hpp"
#include "../apps/matmul.hpp"
#include "../apps/nbody.hpp"
#include "../versions/tasks.hpp"
#include "record.hpp"

#include <weft/net.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace net_bench {

namespace {

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Runs kernels as tasks, and exchanges nothing.
class alone_version : public task_version {
 public:
  using task_version::task_version;
  static void send(int, int, int, const double *, const token &) {}
  static void receive(int, const std::vector<arrival> &) {}
};

/// Runs kernels where they are named.
class loop_version {
 public:
  template <class F>
  void run(std::size_t, const uses &, int, const F &f) {
    f();
    ++m_kernels;
  }
  static void send(int, int, int, const double *, const token &) {}
  static void receive(int, const std::vector<arrival> &) {}
  [[nodiscard]] std::size_t kernels() const noexcept { return m_kernels; }

 private:
  std::size_t m_kernels = 0;
};

template <class F>
double time_of(weft::net::team &team, const F &f) {
  team.barrier();
  const double begin = seconds();
  f();
  const double took = seconds() - begin;
  team.barrier(); // else the slower rank ends with a processor that it does not share
  return took;
}

void print_stages(const char *name, int rank, const std::vector<loggp::stage> &stages) {
  for (const loggp::stage &s : stages)
    std::printf("stage app=%s rank=%d free=%.0f late=%.0f sends=%.0f bytes=%.0f free_behind=%.0f "
                "late_behind=%.0f receives=%.0f\n",
                name, rank, s.free_before, s.late_before, s.sends, s.bytes, s.free_behind,
                s.late_behind, s.receives);
}

template <class App>
void run_alone(weft::net::team &team, const options &o, const char *name) {
  App app(o, team.rank(), team.size());
  meter times(o.small ? std::size_t{1} << 14 : std::size_t{1} << 18);
  alone_version tasks(times);
  for (int rep = 0; rep <= o.reps; ++rep) {
    app.reset();
    times.begin();
    const double by_tasks = time_of(team, [&] {
      app.spawn(tasks);
      weft::taskwait();
    });
    const auto counted = static_cast<double>(times.end().tasks);
    loop_version loop;
    app.reset();
    const double by_loop = time_of(team, [&] { app.spawn(loop); });
    if (static_cast<double>(loop.kernels()) != counted)
      throw std::runtime_error("the loop has run other kernels than the tasks");
    if (rep != 0)
      std::printf("alone app=%s rank=%d rep=%d kernels=%.0f tasks=%.9f loop=%.9f\n", name,
                  team.rank(), rep, counted, by_tasks, by_loop);
  }
  print_stages(name, team.rank(), loggp::stages_of<App>(o, team.rank(), team.size()));
}

/// Measures what a task without work takes, with two accesses, and the copy of a byte of the cache.
void print_machine(weft::net::team &team) {
  constexpr int k_tasks = 4000, k_copies = 400;
  constexpr std::size_t k_bytes = 4096;
  token first = 0;
  std::vector<token> others(64, 0);
  const double tasks = time_of(team, [&] {
    for (int i = 0; i != k_tasks; ++i)
      weft::spawn([] {}, weft::in(first), weft::inout(others[static_cast<std::size_t>(i) % 64]));
    weft::taskwait();
  });
  std::vector<char> from(k_bytes, 1), to(k_bytes, 0);
  const double copies = time_of(team, [&] {
    for (int i = 0; i != k_copies; ++i) {
      from[static_cast<std::size_t>(i) % k_bytes] = static_cast<char>(i);
      std::memcpy(to.data(), from.data(), k_bytes);
      if (to[static_cast<std::size_t>(i) % k_bytes] != static_cast<char>(i))
        std::abort();
    }
  });
  std::printf("machine rank=%d task=%.12f copied_byte=%.15f\n", team.rank(), tasks / k_tasks,
              copies / (k_copies * static_cast<double>(k_bytes)));
}

void run_one(weft::net::team &team, const options &o, app which) {
  switch (which) {
  case app::jacobi:
    return run_alone<jacobi>(team, o, o.columns == 1 ? "jacobi_rows" : "jacobi");
  case app::gauss_seidel:
    return run_alone<gauss_seidel>(team, o,
                                   o.priorities ? "gauss_seidel_priorities" : "gauss_seidel");
  case app::nbody:
    return run_alone<nbody>(team, o, o.priorities ? "nbody_priorities" : "nbody");
  case app::matmul:
    break;
  }
  run_alone<matmul>(team, o, "matmul");
}

} // namespace
} // namespace net_bench

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ); // the lines of two ranks come through one pipe
  try {
    const net_bench::options o = net_bench::parse({argv + 1, argv + argc});
    weft::net::run_ranks([&](weft::net::team &team) {
      if (!o.all)
        net_bench::run_one(team, o, o.what);
      for (int i = 0; o.all && i != net_bench::k_apps; ++i)
        net_bench::run_one(team, o, static_cast<net_bench::app>(i));
      net_bench::print_machine(team);
      std::fflush(stdout);
    });
    return EXIT_SUCCESS;
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-net-alone: %s\n", e.what());
    return EXIT_FAILURE;
  }
}
