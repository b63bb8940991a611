// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "config/settings.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <unistd.h>

namespace weft_tool {

using namespace weft::rt;

const char k_run_help[] =
    "usage: weft run [--workers N] [--preset P] [--set KEY=VALUE]... [--] PROGRAM [ARGUMENTS]\n"
    "\n"
    "Checks the settings, hands them to the program through its environment and becomes the program.\n"
    "  --workers N      the same as --set workers=N\n"
    "  --preset P       the same as --set preset=P\n"
    "  --set KEY=VALUE  any key of `weft config`; a later one wins\n"
    "Exit status: the program's; 1 for a bad setting, 2 for a bad command line, 127 when PROGRAM cannot be "
    "run.\n";

namespace {

/// The value of `option` at `arguments[at]`, written "--option value" or "--option=value"; moves `at` past
/// it.
std::optional<std::string> take_option(const words &arguments, std::size_t &at, const std::string &option) {
  const auto &word = arguments[at];
  if (word.starts_with(option + "=")) {
    ++at;
    return word.substr(option.size() + 1);
  }
  if (word != option || at + 1 >= arguments.size())
    return std::nullopt;
  at += 2;
  return arguments[at - 1];
}

struct plan {
  std::vector<key_value> values;
  std::size_t program = 0; ///< place of its name among the arguments
  std::string mistake;     ///< "" when the command line is right
};

plan read_plan(const words &arguments) {
  plan p;
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with("-")) {
    if (arguments[at] == "--") {
      ++at;
      break;
    }
    if (const auto workers = take_option(arguments, at, "--workers")) {
      p.values.emplace_back("workers", *workers);
    } else if (const auto preset = take_option(arguments, at, "--preset")) {
      p.values.emplace_back("preset", *preset);
    } else if (const auto assignment = take_option(arguments, at, "--set")) {
      const auto equals = assignment->find('=');
      if (equals == std::string::npos) {
        p.mistake = "--set needs KEY=VALUE, not '" + *assignment + "'";
        return p;
      }
      p.values.emplace_back(assignment->substr(0, equals), assignment->substr(equals + 1));
    } else {
      const std::vector<std::string_view> options{"--workers", "--preset", "--set"};
      const auto &word = arguments[at];
      const bool known = word == options[0] || word == options[1] || word == options[2];
      p.mistake =
          known ? word + " needs a value" : "run does not know '" + word + "'" + suggestion(word, options);
      return p;
    }
  }
  p.program = at;
  if (at >= arguments.size())
    p.mistake = "run needs a program";
  return p;
}

/// Throws weft::error where a key or a value is wrong.
void put_into_environment(const std::vector<key_value> &values) {
  settings_input input;
  input.overrides = values;
  load_settings(input);
  for (const auto &[key, value] : values)
    setenv(setting_table()[find_setting(key)].environment.c_str(), value.c_str(), 1);
}

} // namespace

int run_run(const words &arguments) {
  const plan p = read_plan(arguments);
  if (!p.mistake.empty())
    return usage_error(p.mistake);
  put_into_environment(p.values);
  std::vector<char *> argv;
  for (std::size_t at = p.program; at < arguments.size(); ++at)
    argv.push_back(const_cast<char *>(arguments[at].c_str())); // exec does not write to them
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  std::fprintf(stderr, "weft: cannot run '%s': %s\n", argv[0], std::strerror(errno));
  return k_no_program;
}

} // namespace weft_tool
