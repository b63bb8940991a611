// SPDX-License-Identifier: Apache-2.0
// weft set: changes settings and knobs of a program that runs.
#include "tools/weft/commands.hpp"
#include "tools/weft/support/programs.hpp"

#include "base/error.hpp"
#include "base/visible.hpp"
#include "config/value.hpp"
#include "observe/format.hpp"
#include "os/file.hpp"
#include "tune/mailbox.hpp"

#include <cstdint>
#include <cstdio>
#include <vector>

namespace weft_tool {

using namespace weft::rt;

const char k_set_help[] =
    "usage: weft set PID NAME=VALUE...\n"
    "       weft set [--json] PID\n"
    "\n"
    "Changes settings of a program of this user that runs, and knobs of the program's own, one after the other. Without NAME=VALUE: shows\n"
    "those that can change, with their values. The program answers within a second or so; a change holds from its next call, its next loop,\n"
    "or when it is quiet, as the list says.\n"
    "Exit status: 1 when PID does not answer, or refuses a change; the changes before that one hold.\n";

namespace {

constexpr std::uint64_t k_most_knobs = 100'000;

struct shown_knob {
  std::string name, value, first, takes_hold, kind, allowed;
};

/// Parses a part of the list. Returns the number that asks for the next one; empty: there is none.
std::string parse_list(const std::string &text, std::vector<shown_knob> &all) {
  std::string next;
  for_each_line(text, [&](std::string_view line) {
    std::string fields[6];
    for (std::string &field : fields) {
      const std::size_t end = std::min(line.find('\t'), line.size());
      field = line.substr(0, end);
      line.remove_prefix(std::min(end + 1, line.size()));
    }
    if (fields[0].empty())
      next = fields[1];
    else
      all.push_back({fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]});
  });
  return next;
}

/// Asks the program, and throws what it refuses.
std::string ask(long pid, const std::string &request) {
  mailbox_answer answer = ask_program(pid, request);
  if (answer.status != 0)
    throw weft::error(static_cast<weft::errc>(answer.status), answer.text);
  return std::move(answer.text);
}

std::vector<shown_knob> list_of(long pid) {
  std::vector<shown_knob> all;
  std::string next;
  for (std::uint64_t place = 0;;) {
    next = parse_list(ask(pid, next.empty() ? "list" : "list " + next), all);
    const std::uint64_t then = parse_unsigned(next).value_or(0);
    if (then <= place || then > k_most_knobs) // the list is whole, or is none of Weft's
      return all;
    place = then;
  }
}

void print_text(const std::vector<shown_knob> &all) {
  for (const shown_knob &knob : all)
    std::printf("%-28s %-12s from the %-10s %s%s\n", visible(knob.name).c_str(),
                visible(knob.value).c_str(), visible(knob.takes_hold).c_str(),
                visible(knob.allowed).c_str(),
                knob.kind == "program" ? " (of the program)" : "");
}

void print_json(const std::vector<shown_knob> &all) {
  const char *separator = "[";
  for (const shown_knob &knob : all) {
    std::printf(
        "%s\n {\"name\": %s, \"value\": %s, \"first\": %s, \"takes_hold\": %s, \"of_program\": %s, \"allowed\": %s}",
        separator, json_text(knob.name).c_str(), json_text(knob.value).c_str(),
        json_text(knob.first).c_str(), json_text(knob.takes_hold).c_str(),
        knob.kind == "program" ? "true" : "false", json_text(knob.allowed).c_str());
    separator = ",";
  }
  std::puts(all.empty() ? "[]" : "\n]");
}

} // namespace

int run_set(const words &arguments) {
  words rest = arguments;
  const bool json = std::erase(rest, "--json") != 0;
  if (rest.empty())
    return usage_error("set needs a PID; `weft list` shows them");
  const long pid = pid_of(rest[0]);
  for (std::size_t i = 1; i < rest.size(); ++i)
    if (const auto equals = rest[i].find('='); equals == std::string::npos || equals == 0)
      return usage_error("set needs NAME=VALUE, not '" + rest[i] + "'");
  if (rest.size() == 1) {
    const auto all = list_of(pid);
    json ? print_json(all) : print_text(all);
    return k_ok;
  }
  if (json)
    return usage_error("--json goes with a list, without NAME=VALUE");
  for (std::size_t i = 1; i < rest.size(); ++i) {
    const std::string value = ask(pid, "set " + rest[i]);
    std::printf("%s = %s\n", rest[i].substr(0, rest[i].find('=')).c_str(),
                visible(value).c_str());
    std::fflush(stdout);
  }
  return k_ok;
}

} // namespace weft_tool
