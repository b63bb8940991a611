// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <charconv>
#include <cstddef>
#include <stdexcept>

namespace net_bench {

namespace {

constexpr int k_most = 1'000'000;

int number(const std::string &name, const std::string &text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > k_most)
    throw std::runtime_error(name + " takes a number from 1 to " + std::to_string(k_most) +
                             ", not '" + text + "'");
  return value;
}

void set_app(options &o, const std::string &name) {
  if (name == "all") {
    o.all = 1;
    return;
  }
  for (int i = 0; i != k_apps; ++i)
    if (name == k_app_names[i]) {
      o.what = static_cast<app>(i);
      return;
    }
  throw std::runtime_error("there is no application '" + name +
                           "': name all, jacobi, gauss_seidel, nbody or matmul");
}

} // namespace

options parse(const std::vector<std::string> &words) {
  if (words.empty())
    throw std::runtime_error("name an application: all, jacobi, gauss_seidel, nbody or matmul");
  options o;
  set_app(o, words.front());
  for (std::size_t i = 1; i != words.size(); ++i) {
    const std::string &name = words[i];
    int *const with_number = name == "--columns"  ? &o.columns
                             : name == "--rounds" ? &o.rounds
                             : name == "--reps"   ? &o.reps
                                                  : nullptr;
    int *const flag = name == "--small"        ? &o.small
                      : name == "--priorities" ? &o.priorities
                      : name == "--spoil"      ? &o.spoil
                                               : nullptr;
    if (flag) {
      *flag = 1;
    } else if (with_number) {
      if (i + 1 == words.size())
        throw std::runtime_error(name + " needs a number");
      *with_number = number(name, words[++i]);
    } else {
      throw std::runtime_error("there is no option '" + name + "'");
    }
  }
  return o;
}

} // namespace net_bench
