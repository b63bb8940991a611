// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "error.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <getopt.h>

namespace demo {

const char k_help[] = R"(usage: cholesky [--data FILE] [--tile B] [--repeat R] [--workers W] [--kernels K]
       cholesky --order N [--shift X] [--tile B] [--repeat R] [--workers W] [--kernels K]

Without --order it learns to read handwritten digits by kernel ridge regression: a grid of kernel widths and
regularisations is searched by cross-validation, and every kernel matrix is factorised by a tiled Cholesky
decomposition. All of them are one graph of tasks. Then it repeats the job with one worker and prints the speedup.

With --order it factorises a generated symmetric matrix of that order, verifies the factor and prints GFLOP/s.

  --data FILE    the digits (default: data/digits.csv here, else beside the program's build folder)
  --order N      order of the generated matrix, 1 to 32768
  --shift X      added to its diagonal; below -N the matrix is not positive definite (default 0)
  --tile B       rows of a tile, 8 to 1024 (default 96 for the digits, 192 with --order)
  --repeat R     runs, of which the median time counts, 1 to 1000 (default 1 for the digits, 5 with --order)
  --workers W    threads that run tasks, 1 to 1024 (default: one per CPU that the process may use)
  --kernels K    the dense routines: openblas where the build found it, avx512, avx2 or baseline (default: the first that there is)
  --help         this text

Exit status: 0 done; 1 a matrix is not positive definite or a result is wrong; 2 bad option or bad input.
)";

namespace {

enum key { k_data = 1, k_order, k_tile, k_repeat, k_workers, k_shift, k_kernels, k_help_key, k_measure };

const option k_options[] = {
    {"data", required_argument, nullptr, k_data},
    {"order", required_argument, nullptr, k_order},
    {"tile", required_argument, nullptr, k_tile},
    {"repeat", required_argument, nullptr, k_repeat},
    {"workers", required_argument, nullptr, k_workers},
    {"shift", required_argument, nullptr, k_shift},
    {"kernels", required_argument, nullptr, k_kernels},
    {"help", no_argument, nullptr, k_help_key},
    {"measure", no_argument, nullptr, k_measure},
    {nullptr, 0, nullptr, 0},
};

const std::string k_see_help = "; see 'cholesky --help'";

int whole_number(const char *name, const char *text, int least, int most) {
  char *end = nullptr;
  errno = 0;
  const long value = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < least || value > most)
    throw input_error(std::string(name) + " takes a whole number from " + std::to_string(least) + " to " +
                      std::to_string(most) + ", not '" + text + "'");
  return static_cast<int>(value);
}

double number(const char *name, const char *text) {
  char *end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !std::isfinite(value))
    throw input_error(std::string(name) + " takes a number, not '" + text + "'");
  return value;
}

[[noreturn]] void reject(int found, const char *argument) {
  if (found == ':')
    throw input_error(std::string(argument) + " needs a value" + k_see_help);
  throw input_error(std::string("unknown option '") + argument + "'" + k_see_help);
}

void check_combination(const options &o, bool shifted) {
  if (o.order != 0 && !o.data.empty())
    throw input_error("--data and --order exclude each other: the digits or a generated matrix; drop one");
  if (o.order == 0 && shifted)
    throw input_error("--shift changes a generated matrix; give its order with --order N as well");
}

} // namespace

options parse_options(int argc, char **argv) {
  options o;
  bool shifted = false;
  opterr = 0;
  while (true) {
    const char *argument = argv[optind];
    const int found = getopt_long(argc, argv, "+:", k_options, nullptr);
    switch (found) {
    case k_data:
      o.data = optarg;
      break;
    case k_order:
      o.order = whole_number("--order", optarg, 1, 32768);
      break;
    case k_tile:
      o.tile = whole_number("--tile", optarg, 8, 1024);
      break;
    case k_repeat:
      o.repeat = whole_number("--repeat", optarg, 1, 1000);
      break;
    case k_workers:
      o.workers = whole_number("--workers", optarg, 1, 1024);
      break;
    case k_shift:
      o.shift = number("--shift", optarg), shifted = true;
      break;
    case k_kernels:
      o.kernels = optarg;
      break;
    case k_help_key:
      o.help = true;
      break;
    case k_measure:
      o.measure = true;
      break;
    case -1:
      if (optind < argc)
        throw input_error(std::string("unexpected argument '") + argv[optind] + "'" + k_see_help);
      check_combination(o, shifted);
      return o;
    default:
      reject(found, argument);
    }
  }
}

} // namespace demo
