// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace bench {

std::vector<std::string> split(const std::string &list, char separator) {
  std::vector<std::string> parts;
  std::istringstream from(list);
  for (std::string part; std::getline(from, part, separator);)
    parts.push_back(part);
  return parts;
}

long whole_number(const std::string &option, const std::string &text, long most, long least) {
  char *end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || n < least || n > most)
    throw std::runtime_error(option + " wants a number from " + std::to_string(least) + " to " +
                             std::to_string(most) + ", not '" + text + "'");
  return n;
}

option_table &option_table::flag(const char *name, std::function<void()> action) {
  m_options[name] = {false, [action = std::move(action)](const std::string &) { action(); }};
  return *this;
}

option_table &option_table::value(const char *name,
                                  std::function<void(const std::string &)> action) {
  m_options[name] = {true, std::move(action)};
  return *this;
}

option_table &option_table::value(const char *name, std::string &into) {
  return value(name, [&into](const std::string &text) { into = text; });
}

option_table &option_table::list(const char *name, std::vector<std::string> &into) {
  return value(name, [&into](const std::string &text) { into = split(text); });
}

void option_table::parse(const std::vector<std::string> &arguments) const {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string &name = arguments[i];
    if (name == "--help") {
      std::fputs(m_help, stdout);
      std::exit(0);
    }
    const auto found = m_options.find(name);
    if (found == m_options.end())
      throw std::runtime_error("unknown option '" + name + "'; see " + m_command + " --help");
    if (!found->second.has_value)
      found->second.action({});
    else if (++i == arguments.size())
      throw std::runtime_error(name + " wants a value");
    else
      found->second.action(arguments[i]);
  }
}

} // namespace bench
