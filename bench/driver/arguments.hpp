// SPDX-License-Identifier: Apache-2.0
// The options of weft-bench and its commands: by name, with what each does, and one text per mistake.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// Cuts a list at its separators.
[[nodiscard]] std::vector<std::string> split(const std::string &list, char separator = ',');

/// Reads a number in [least, most]. Errors. runtime_error names the option, the range and the text.
[[nodiscard]] long whole_number(const std::string &option, const std::string &text, long most,
                                long least = 1);

/// Holds the options of one command.
class option_table {
 public:
  /// Names the command, as in "weft-bench apps", and what --help prints.
  option_table(std::string command, const char *help) : m_command(command), m_help(help) {}

  /// @{ Adds an option without a value, or with one.
  option_table &flag(const char *name, std::function<void()> action);
  option_table &value(const char *name, std::function<void(const std::string &)> action);
  option_table &value(const char *name, std::string &into);
  option_table &list(const char *name, std::vector<std::string> &into);
  /// @}
  /// Adds an option with a number.
  template <class Number>
  option_table &number(const char *name, Number &into, long most, long least = 1) {
    return value(name, [=, &into](const std::string &text) {
      into = static_cast<Number>(whole_number(name, text, most, least));
    });
  }
  /// Adds an option with numbers, which replace those that were there.
  template <class Number>
  option_table &numbers(const char *name, std::vector<Number> &into, long most) {
    return value(name, [=, &into](const std::string &text) {
      std::vector<Number> all;
      for (const std::string &one : split(text))
        all.push_back(static_cast<Number>(whole_number(name, one, most)));
      if (all.empty())
        (void)whole_number(name, text, most);
      into = std::move(all);
    });
  }

  /// Acts on the arguments, in their order. --help prints, and ends the program.
  ///
  /// Errors. runtime_error for an unknown option and for one without its value; else what an action
  /// throws.
  void parse(const std::vector<std::string> &arguments) const;

 private:
  struct option {
    bool has_value;
    std::function<void(const std::string &)> action;
  };
  std::string m_command;
  const char *m_help;
  std::map<std::string, option> m_options;
};

} // namespace bench
