// SPDX-License-Identifier: Apache-2.0
// cholesky: a real job on Weft, and what the runtime costs in it.

#include "error.hpp"
#include "factor.hpp"
#include "generated.hpp"
#include "kernels/kernels.hpp"
#include "options.hpp"
#include "report.hpp"
#include "search.hpp"

#include <weft/weft.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <new>
#include <string>

namespace {

using namespace demo;

// Of 64 to 256 these were the fastest, with OpenBLAS (--tile tries others).
constexpr int k_digits_tile = 96;
constexpr int k_order_tile = 192;
constexpr double k_largest_residual = 1e-9;

int or_default(int value, int otherwise) {
  return value != 0 ? value : otherwise;
}

/// Holds the times of one command: print_times() adds those of one worker.
struct command {
  const options &o;
  int argc;
  char **argv;

  void print_times(double seconds, double flops) const {
    const int workers = weft::worker_count();
    std::fflush(stdout);
    const double alone = workers == 1 ? seconds : seconds_with_one_worker(argc, argv);
    print_time(1, alone, flops);
    if (workers > 1)
      print_time(workers, seconds, flops);
    std::printf("speedup %.2f\n", alone / seconds);
  }

 private:
  static void print_time(int workers, double seconds, double flops) {
    std::printf("time %.4g s with %d worker%s", seconds, workers, workers == 1 ? "" : "s");
    if (flops > 0)
      std::printf(", %.1f GFLOP/s", flops / seconds * 1e-9);
    std::putchar('\n');
  }
};

void print_kernels() {
  std::string others;
  for (const kernel_set *set : available_kernels())
    if (set != &kernels())
      others += std::string(others.empty() ? "; --kernels also takes " : ", ") + set->name;
  std::printf("kernels %s%s\n", kernels().name, others.c_str());
}

void check_residual(double residual) {
  std::printf("residual %.1e\n", residual);
  if (!(residual <= k_largest_residual))
    throw numerical_error("the residual is too large, so the result is wrong; please report it");
}

void print_outcome(const outcome &o, const dataset &data) {
  const auto percent = [](int misread, int of) { return 100.0 * (of - misread) / of; };
  std::printf("chosen gamma %g, lambda %g (cross-validation %.1f %%)\n", o.best.gamma, o.best.lambda,
              percent(o.misread_in_folds, data.whole.train.count()));
  std::printf("accuracy %.1f %%\n", percent(o.misread, data.whole.test.count()));
  check_residual(o.residual);
}

void run_digits(const command &c) {
  const dataset data(read_digits(c.o.data.empty() ? find_digits() : c.o.data));
  const int tile = or_default(c.o.tile, k_digits_tile), repeat = or_default(c.o.repeat, 1);
  if (!c.o.measure) {
    print_kernels();
    std::printf(
        "data %d images to learn from, %d held out\nsearch %d fits (%zu gammas, %zu lambdas, %d folds) "
        "of order %d, tile %d\n",
        data.whole.train.count(), data.whole.test.count(), k_fits, k_gammas.size(), k_lambdas.size(), k_folds,
        data.folds[0].train.count(), tile);
  }
  tally counts;
  std::vector<double> seconds;
  outcome result;
  {
    progress p(weft::worker_count() == 1 ? "fits, 1 worker" : "fits", repeat * (k_fits + 1));
    for (int i = 0; i < repeat; ++i) {
      const stopwatch watch;
      result = search(data, tile, counts, p);
      seconds.push_back(watch.seconds());
    }
  }
  if (c.o.measure) {
    std::printf("%.9f\n", median(seconds));
    return;
  }
  print_outcome(result, data);
  print_tasks(counts, seconds);
  c.print_times(median(seconds), 0);
}

double available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (double kib = 0; file >> key >> kib; file.ignore(80, '\n'))
    if (key == "MemAvailable:")
      return kib * 1024;
  return HUGE_VAL;
}

/// Refuses a matrix that needs more memory than is available: the kernel promises memory that it
/// does not have, and ends a process that comes to use it.
void check_memory(int order, int tile) {
  const double blocks = blocking{order, tile}.count();
  const double needed = blocks * (blocks + 1) / 2 * tile * tile * sizeof(double);
  if (needed < available_bytes())
    return;
  char text[160];
  std::snprintf(text, sizeof text,
                "a matrix of order %d needs %.1f GiB, more than is available; choose a smaller --order",
                order, needed / 0x1p30);
  throw input_error(text);
}

double factorise_once(const generated &g, const tiles &a, tally &counts) {
  tally ignored;
  work filling(ignored);
  g.fill(filling, a);
  filling.wait();
  const stopwatch watch;
  work w(counts);
  factorise(w, a);
  w.wait();
  return watch.seconds();
}

void run_generated(const command &c) {
  const int n = c.o.order, tile = or_default(c.o.tile, k_order_tile), repeat = or_default(c.o.repeat, 5);
  check_memory(n, tile);
  const generated g(n, c.o.shift);
  tiles a;
  a.reset({n, tile});
  if (!c.o.measure) {
    print_kernels();
    std::printf("order %d, tile %d, median of %d\n", n, tile, repeat);
  }
  tally counts;
  std::vector<double> seconds;
  {
    progress p(weft::worker_count() == 1 ? "factorisations, 1 worker" : "factorisations", repeat);
    for (int i = 0; i < repeat; ++i, p.advance())
      seconds.push_back(factorise_once(g, a, counts));
  }
  if (c.o.measure) {
    std::printf("%.9f\n", median(seconds));
    return;
  }
  check_residual(g.residual(a));
  print_tasks(counts, seconds);
  c.print_times(median(seconds), static_cast<double>(n) * n * n / 3);
}

void run(int argc, char **argv) {
  const options o = parse_options(argc, argv);
  if (o.help) {
    std::fputs(k_help, stdout);
    return;
  }
  if (!o.kernels.empty())
    choose_kernels(o.kernels);
  if (o.workers != 0)
    weft::configure("workers", std::to_string(o.workers).c_str());
  weft::start(); // reports a bad setting before anything else
  const command c{o, argc, argv};
  o.order != 0 ? run_generated(c) : run_digits(c);
}

int fail(int status, const char *what) {
  std::fflush(stdout);
  std::fprintf(stderr, "cholesky: %s\n", what);
  return status;
}

} // namespace

int main(int argc, char **argv) {
  try {
    run(argc, argv);
  } catch (const input_error &e) {
    return fail(2, e.what());
  } catch (const weft::error &e) {
    return fail(e.code() == weft::errc::bad_setting ? 2 : 1, e.what());
  } catch (const std::bad_alloc &) {
    return fail(1, "no memory is left; choose a smaller --order, or fewer --workers");
  } catch (const std::exception &e) {
    return fail(1, e.what());
  }
  return 0;
}
