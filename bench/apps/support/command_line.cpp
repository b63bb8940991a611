// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <cerrno>
#include <cstdlib>

namespace app {

namespace {

const option k_reps{"reps", 1, 1000, 3, "timed runs, after one that warms up"};
const option k_workers{"workers", 0, 1024, 0, "threads; 0 is one per CPU that the process may use"};

std::vector<option> all_options(const description &d) {
  std::vector<option> all{d.size, d.tile};
  all.insert(all.end(), d.own.begin(), d.own.end());
  all.push_back(k_reps);
  all.push_back(k_workers);
  return all;
}

long whole_number(const option &o, const std::string &text) {
  char *end = nullptr;
  errno = 0;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || errno || value < o.least || value > o.most)
    throw bad_option("--" + o.name + " takes a whole number from " + std::to_string(o.least) +
                     " to " + std::to_string(o.most) + ", not '" + text + "'");
  return value;
}

const option &find(const std::vector<option> &all, const std::string &argument) {
  for (const option &o : all)
    if (argument == "--" + o.name)
      return o;
  throw bad_option("unknown option '" + argument + "'; --help lists what there is");
}

} // namespace

void settings::set(const std::string &name, long value) {
  for (auto &[known, old] : m_values)
    if (known == name) {
      old = value;
      return;
    }
  m_values.emplace_back(name, value);
}

long settings::operator[](const std::string &name) const {
  for (const auto &[known, value] : m_values)
    if (known == name)
      return value;
  throw std::logic_error("no option is called " + name);
}

command parse_command(int argc, char **argv, const description &d) {
  command c;
  const std::vector<option> all = all_options(d);
  settings values;
  for (const option &o : all)
    values.set(o.name, o.preset);
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--help") {
      c.what = command::mode::help;
    } else if (argument == "--describe") {
      c.what = command::mode::describe;
    } else if (argument == "--serial") {
      c.what = command::mode::serial;
    } else if (argument == "--small") {
      values.set("size", d.small.first);
      values.set("tile", d.small.second);
    } else {
      const option &o = find(all, argument);
      if (++i == argc)
        throw bad_option(argument + " needs a value");
      values.set(o.name, whole_number(o, argv[i]));
    }
  }
  for (const auto &[name, value] : values.all())
    if (name == k_reps.name)
      c.reps = static_cast<int>(value);
    else if (name == k_workers.name)
      c.workers = static_cast<int>(value);
    else
      c.chosen.set(name, value);
  return c;
}

std::string help(const std::string &program, const description &d) {
  std::string text = "usage: " + program + " [OPTION]...\n" + d.title + ".\n\n";
  const auto line = [&text](std::string left, const std::string &right) {
    left.resize(std::max<std::size_t>(left.size(), 17), ' ');
    text += "  " + left + " " + right + "\n";
  };
  for (const option &o : all_options(d))
    line("--" + o.name + " N", o.help + ", " + std::to_string(o.least) + " to " +
                                   std::to_string(o.most) + " (" + std::to_string(o.preset) + ")");
  line("--small", "the size and tile of the tests");
  line("--serial", "the kernels in serial order, once, and nothing else: what callgrind counts");
  line("--describe", "size and tiles of the sweep of weft-bench apps");
  return text +
         "\nPrints one line of name=value. Exit status: 0 done; 1 the result is wrong; 2 bad option.\n";
}

} // namespace app
