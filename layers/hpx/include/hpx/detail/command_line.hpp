// SPDX-License-Identifier: Apache-2.0
// What hpx::init reads of the command line and of the configuration before Weft starts.
#pragma once

#include <hpx/performance_counters.hpp>
#include <weft/error.hpp>
#include <weft/runtime.hpp>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace hpx::detail {

struct command_line {
  std::vector<std::string> words; // what is left for the program, its name first
  std::vector<std::string> printed; // counters to print at the end
  bool help = false;
};

inline void configure(const char *setting, const char *value) {
  try {
    weft::configure(setting, value);
  } catch (const weft::error &e) {
    if (e.code() != weft::errc::already_started) // a second init, or a task before it
      throw;
  }
}
inline void set_workers(const std::string &how_many) {
  const std::string n = how_many == "all" || how_many == "cores"
                            ? std::to_string(std::thread::hardware_concurrency())
                            : how_many;
  configure("workers", n.c_str());
}

/// Takes one setting "key=value" of hpx::init_params::cfg or of --hpx:ini.
inline void take_setting(const std::string &setting) {
  const auto equals = setting.find('=');
  std::string key = setting.substr(0, equals);
  if (!key.empty() && key.back() == '!')
    key.pop_back();
  if (key == "hpx.os_threads" && equals != std::string::npos)
    set_workers(setting.substr(equals + 1));
}

/// Takes one name of a counter. What Weft lets the processor count is counted from its start on.
inline void print_counter(command_line &all, const char *name) {
  all.printed.emplace_back(name);
  if (performance_counters::detail::is_of_processor(name))
    configure("counters.hardware", "true");
}

/// Takes the options that are HPX's out of the words. Options that have no meaning here are ignored.
inline command_line take_options(const std::vector<std::string> &words) {
  command_line all;
  for (std::size_t i = 0; i != words.size(); ++i) {
    const std::string &word = words[i];
    const auto value_of = [&](std::string_view name) -> const char * {
      if (word.compare(0, name.size(), name) != 0)
        return nullptr;
      if (word.size() > name.size() && word[name.size()] == '=')
        return word.c_str() + name.size() + 1;
      if (word.size() == name.size() && i + 1 != words.size())
        return words[++i].c_str();
      return nullptr;
    };
    if (const char *v = value_of("--hpx:threads"))
      set_workers(v);
    else if (const char *short_v = i != 0 ? value_of("-t") : nullptr)
      set_workers(short_v);
    else if (const char *name = value_of("--hpx:print-counter"))
      print_counter(all, name);
    else if (const char *setting = value_of("--hpx:ini"))
      take_setting(setting);
    else if (word == "--hpx:help" || word == "--help" || word == "-h")
      all.help = true;
    else if (word.compare(0, 6, "--hpx:") != 0)
      all.words.push_back(word);
  }
  return all;
}

/// Returns the command line of this process, for a main() that Weft does not call.
inline std::vector<std::string> own_command_line() {
  std::vector<std::string> words;
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  for (std::string word; std::getline(in, word, '\0');)
    words.push_back(word);
  return words;
}

} // namespace hpx::detail
