// SPDX-License-Identifier: Apache-2.0
// one_pool WHAT: a program with several runtimes, each of which runs inside of and beside the
// others. The results are those of loops without a runtime.
#include "check.hpp"
#include "running.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <thread>

#include <csignal>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PART(stem) extern "C" const one_pool::part one_pool_##stem;
#include "parts.inc"
#undef PART

namespace {

using one_pool::body;
using one_pool::check;
using one_pool::check_nest;
using one_pool::is_stock;
using one_pool::level;
using one_pool::part;

const std::vector<const part *> g_parts{
#define PART(stem) &one_pool_##stem,
#include "parts.inc"
#undef PART
};

constexpr int k_rounds = 300; // of a leaf: about half a microsecond
int g_threads = 4;

void begin_all() {
  for (const part *p : g_parts)
    if (p->begin)
      p->begin(g_threads);
}

void end_all() {
  for (auto p = g_parts.rbegin(); p != g_parts.rend(); ++p)
    if ((*p)->end)
      (*p)->end();
}

/// Calls f with each nest of that depth which is allowed.
template <class F>
void for_each_nest(std::size_t depth, F f) {
  std::vector<level> nest;
  const std::function<void()> grow = [&] {
    if (nest.size() == depth) {
      if (!one_pool::is_excluded(nest))
        f(nest);
      return;
    }
    for (const part *p : g_parts)
      for (const bool as_tasks : {false, true}) {
        nest.push_back({p, as_tasks});
        grow();
        nest.pop_back();
      }
  };
  grow();
}

void run_each() {
  for (int round = 0; round < 20; ++round)
    for_each_nest(1, [](const auto &nest) { check_nest(nest, k_rounds); });
}

void run_pairs(int rounds) {
  for (int round = 0; round < rounds; ++round)
    for_each_nest(2, [](const auto &nest) { check_nest(nest, k_rounds); });
}

/// Draws nests of the given depths.
void run_nests(int count, std::size_t least, std::size_t most) {
  std::mt19937 draw(static_cast<unsigned>(one_pool::setting("ONE_POOL_SEED", 1)));
  for (int i = 0; i < count;) {
    std::vector<level> nest(least + draw() % (most - least + 1));
    for (level &l : nest)
      l = {g_parts[draw() % g_parts.size()], draw() % 2 == 0};
    if (one_pool::is_excluded(nest))
      continue;
    if (std::getenv("ONE_POOL_SHOW"))
      std::fprintf(stderr, "%d: %s\n", i, one_pool::name_of(nest).c_str());
    check_nest(nest, k_rounds / 10);
    ++i;
  }
}

/// All parts at once, each from a thread of its own, and from the first thread in turn.
void run_beside() {
  for_each_nest(1, [](const auto &nest) { check_nest(nest, k_rounds); });
  const int before = one_pool::look_at_threads().others; // those of the parts that have some
  std::vector<std::thread> drivers;
  one_pool::sampler looks;
  for (const part *p : g_parts)
    drivers.emplace_back([p] {
      for (int round = 0; round < 40; ++round)
        for (const bool as_tasks : {false, true})
          check_nest({{p, as_tasks}, {p, !as_tasks}}, k_rounds * 10);
    });
  for (int round = 0; round < 3; ++round)
    for_each_nest(1, [](const auto &nest) { check_nest(nest, k_rounds); });
  for (std::thread &d : drivers)
    d.join();
  const auto &seen = looks.stop();
  check(!seen.empty(), "there are looks");
  const int others = quantile(seen, 0.5, [](const one_pool::look &l) { return l.others; });
  std::printf("beside: %zu looks, mostly %d threads that are not Weft's\n", seen.size(), others);
  // The drivers, and the threads that the plain pool's form for tasks starts: one for each of 3 x 3
  // bodies of its driver, and of 3 of the first thread. Python's tasks wait in 4 more.
  check(is_stock() || others <= before + static_cast<int>(g_parts.size()) + 12 + 4,
        "the runtimes make no threads of their own: " + std::to_string(others));
}

/// Without the plain pool and Python no runtime makes a thread of its own, and no more threads run
/// than workers, the first thread, and one more while a spare and the worker that it stands in for
/// change places.
void run_bound() {
  const auto uses_pool = [](const std::vector<level> &nest) {
    return std::any_of(nest.begin(), nest.end(),
                       [](const level &l) { return one_pool::has_threads(*l.which); });
  };
  const int before = one_pool::look_at_threads().others; // the pool's and MPI's
  one_pool::sampler looks;
  for (int round = 0; round < 2; ++round)
    for_each_nest(2, [&](const auto &nest) {
      if (!uses_pool(nest))
        check_nest(nest, k_rounds * 100);
    });
  const auto &seen = looks.stop();
  check(!seen.empty(), "there are looks");
  const auto running_of = [](const one_pool::look &l) { return l.weft_running + l.other_running; };
  const int running = quantile(seen, 0.9, running_of);
  const int others = quantile(seen, 0.5, [](const one_pool::look &l) { return l.others; });
  std::printf(
      "bound: %zu looks, mostly at most %d threads run, %d at the worst; %d are not Weft's, "
      "%d before\n",
      seen.size(), running, quantile(seen, 1, running_of), others, before);
  std::fflush(stdout);
  if (is_stock())
    return;
  check(others <= before,
        "the runtimes make no threads of their own: " + std::to_string(others - before));
  check(running <= one_pool::setting("WEFT_WORKERS", 2) + 2,
        "the workers are all that runs: " + std::to_string(running));
}

class failure : public std::runtime_error {
 public:
  explicit failure(int code) : std::runtime_error("a body failed"), code(code) {}
  const int code;
};

void run_exceptions() {
  int code = 0;
  for_each_nest(2, [&](const auto &nest) {
    ++code;
    auto inner = [&](int i) -> bool {
      if (i == one_pool::k_width - 1)
        throw failure(code);
      return false;
    };
    auto outer = [&](int) {
      nest[1].run(one_pool::k_width, body(inner));
      return false;
    };
    int caught = 0;
    try {
      nest[0].run(one_pool::k_width, body(outer));
    } catch (const failure &f) {
      caught = f.code;
    }
    check(caught == code, "the exception arrives through " + one_pool::name_of(nest));
    check_nest(nest, k_rounds);
  });
}

/// Lets one body ask for the end: each body runs once at most, and the part is whole afterwards.
void check_until(const part &p) {
  constexpr int k_bodies = 200, k_asks = 17;
  std::atomic<int> times[k_bodies] = {};
  auto one = [&](int i) {
    ++times[i];
    return i == k_asks;
  };
  p.until(k_bodies, body(one));
  check(times[k_asks] == 1, std::string(p.name) + ": the body that asks for the end has run");
  for (const auto &t : times)
    check(t <= 1, std::string(p.name) + ": a body runs once at most");
  check_nest({{&p, false}}, k_rounds);
}

void run_cancellation() {
  for (int round = 0; round < 5; ++round)
    for (const part *p : g_parts)
      check_until(*p);
  for_each_nest(1, [](const auto &nest) {
    for (const part *p : g_parts) {
      if (one_pool::is_excluded({nest[0], {p, false}}))
        continue;
      auto outer = [&](int) {
        check_until(*p);
        return false;
      };
      nest[0].run(one_pool::k_width, body(outer));
    }
  });
}

void run_fork() {
  for (int round = 0; round < 3; ++round) {
    for_each_nest(1, [](const auto &nest) { check_nest(nest, k_rounds); });
    std::fflush(stdout);
    const pid_t child = fork();
    check(child >= 0, "there is a child");
    if (child == 0) {
      for (const part *p : g_parts)
        if (p->begin_in_child)
          p->begin_in_child(g_threads);
      run_pairs(1);
      std::exit(7); // destructors run
    }
    int status = 0;
    check(waitpid(child, &status, 0) == child, "the child ends");
    check(WIFEXITED(status) && WEXITSTATUS(status) == 7,
          "the child computes: status " + std::to_string(status));
  }
  run_pairs(1);
}

volatile std::sig_atomic_t g_signals = 0;

void run_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { g_signals = g_signals + 1; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every{{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &every, nullptr);
  run_pairs(2);
  while (g_signals < 3)
    run_each();
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
}

} // namespace

int main(int argc, char **argv) {
  const std::map<std::string, std::function<void()>> all{
      {"each", &run_each},
      {"pairs", [] { run_pairs(2); }},
      {"nests", [] { run_nests(one_pool::setting("ONE_POOL_NESTS", 100), 3, 5); }},
      {"beside", &run_beside},
      {"bound", &run_bound},
      {"exceptions", &run_exceptions},
      {"cancellation", &run_cancellation},
      {"fork", &run_fork},
      {"signals", &run_signals},
  };
  const auto chosen = all.find(argc == 2 ? argv[1] : "");
  if (chosen == all.end()) {
    std::fputs(
        "usage: one_pool each|pairs|nests|beside|bound|exceptions|cancellation|fork|signals\n",
        stderr);
    return 2;
  }
  g_threads = one_pool::setting("ONE_POOL_THREADS", 4);
  begin_all();
  chosen->second();
  end_all();
  std::printf("%s with %zu parts: ok\n", argv[1], g_parts.size());
}
