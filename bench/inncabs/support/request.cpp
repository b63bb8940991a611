// SPDX-License-Identifier: Apache-2.0
#include "request.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <stdexcept>

namespace inncabs {

namespace {

long number(const std::string &option, const std::string &text, long most) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || *end != '\0' || value < 1 || value > most)
    throw std::runtime_error(option + " wants a number from 1 to " + std::to_string(most) +
                             ", not '" + text + "'");
  return value;
}

double ns_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

} // namespace

request parse(const std::vector<std::string> &arguments, const char *model) {
  request r;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &name = arguments[i];
    const auto value = [&]() -> const std::string & {
      if (i + 1 == arguments.size())
        throw std::runtime_error(name + " wants a value");
      return arguments[++i];
    };
    if (name == "--workers")
      r.workers = static_cast<int>(number(name, value(), 1024));
    else if (name == "--samples")
      r.samples = static_cast<int>(number(name, value(), 100'000));
    else if (name == "--threads")
      r.threads = number(name, value(), 1'000'000);
    else if (name == "--launch")
      r.policy = parse_launch(value());
    else if (name == "--tiny")
      r.tiny = true;
    else if (name.starts_with("-"))
      throw std::runtime_error("unknown option '" + name + "'\n" + usage(model));
    else if (name.find('=') != std::string::npos)
      r.sizes.push_back(name);
    else if (r.program.empty())
      r.program = name;
    else
      throw std::runtime_error("two programs, '" + r.program + "' and '" + name + "'");
  }
  return r;
}

std::string usage(const char *model) {
  return std::string("usage: weft-inncabs-") + model +
         " PROGRAM [--workers N] [--samples N] [--launch async|deferred|optional|fork]\n"
         "                    [--threads N] [--tiny] [SIZE=VALUE...]\n"
         "Without PROGRAM it lists the programs and their sizes.\n"
         "--threads bounds those of std::async; --tiny takes the sizes of the tests.\n";
}

void print(const char *name, double value) {
  std::printf("%s %.9g\n", name, value);
  std::fflush(stdout);
}

void print(const char *name, const std::string &text) {
  std::printf("%s %s\n", name, text.c_str());
  std::fflush(stdout);
}

void end_at_limit(long threads) {
  std::printf("no thread beyond %ld\n", threads);
  std::fflush(stdout);
  std::_Exit(k_thread_limit);
}

double elapsed_ns() { return ns_of(CLOCK_MONOTONIC); }
double cpu_ns() { return ns_of(CLOCK_PROCESS_CPUTIME_ID); }

} // namespace inncabs
