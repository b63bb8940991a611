// SPDX-License-Identifier: Apache-2.0
#include "observe/name.hpp"

#include "base/error.hpp"
#include "observe/layout.hpp"
#include "os/file.hpp"

#include <weft/error.hpp>

#include <algorithm>

namespace weft::inline v0 {
namespace rt {
namespace {

[[noreturn]] void refuse(std::string_view text, const char *why) {
  throw_error(errc::invalid_argument,
              "'%s' is no name of a counter: %s; `weft list` shows them all",
              std::string(text).c_str(), why);
}

bool is_letter(char character) noexcept {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') || character == '_' || character == '-';
}

void read_instance(counter_name &name, std::string_view text, std::string_view instance) {
  for (const std::string_view outer : {"locality#0/", "pool#default/", "pool#0/"})
    if (instance.starts_with(outer))
      instance.remove_prefix(outer.size());
  if (instance == "total")
    return;
  for (const std::string_view kind : {"worker#", "worker-thread#"}) {
    if (!instance.starts_with(kind))
      continue;
    const std::string_view number = instance.substr(kind.size());
    const auto id = parse_unsigned(number);
    if (number != "*" && (!id || *id > 1'000'000))
      refuse(text, "'worker#' is followed by a number or '*'");
    name.instance = number == "*" ? counter_name::of::every_worker : counter_name::of::worker;
    name.worker = id ? static_cast<unsigned>(*id) : 0;
    return;
  }
  refuse(text, "an instance is {total}, {worker#N} or {worker#*}");
}

} // namespace

counter_name parse_counter_name(std::string_view text) {
  counter_name n;
  if (text.empty() || (text[0] != '/' && text[0] != '*'))
    refuse(text, "a name starts with '/'");
  std::string_view rest = text;
  const auto open = rest.find('{'), first_at = rest.find('@');
  if (open < first_at) { // npos is larger than all
    const auto close = rest.find('}', open);
    if (close == std::string_view::npos)
      refuse(text, "a brace is open");
    n.inner = rest.substr(open + 1, close - open - 1);
    n.base = rest.substr(0, open);
    rest.remove_prefix(close + 1);
    if (rest.starts_with('{') ||
        rest.starts_with('}')) // a counter with an instance of its own in the braces
      refuse(text, "a brace is open");
  }
  if (n.base == "/statistics" &&
      n.inner.find('{') !=
          std::string::npos) { // /statistics{/threads{total}/x}/max: the inner brace closed first
    const auto close = rest.find('}');
    if (close == std::string_view::npos)
      refuse(text, "a brace is open");
    n.inner += '}';
    n.inner += rest.substr(0, close);
    rest.remove_prefix(close + 1);
  }
  const auto at = rest.find('@');
  n.base += rest.substr(0, at);
  if (at != std::string_view::npos)
    n.parameters = rest.substr(at + 1);
  if (n.is_statistics() ? n.inner.empty() : n.is_arithmetics() && n.parameters.empty())
    refuse(text, "write /statistics{COUNTER}/KIND@WINDOW or /arithmetics/KIND@COUNTER,COUNTER");
  if (!n.is_statistics() && !n.inner.empty())
    read_instance(n, text, n.inner);
  if (std::any_of(n.base.begin(), n.base.end(),
                  [](char c) { return !is_letter(c) && c != '/' && c != '*' && c != '?'; }))
    refuse(text, "it is of letters, digits, '-', '_', '/' and the wildcards '*' and '?'");
  return n;
}

std::string name_of_worker(std::string_view base, unsigned worker) {
  const auto second = base.find('/', 1);
  std::string name(base.substr(0, second));
  name += "{worker#" + std::to_string(worker) + "}";
  if (second != std::string_view::npos)
    name += base.substr(second);
  return name;
}

bool matches(std::string_view pattern, std::string_view text) noexcept {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

bool is_plain_name(std::string_view name) noexcept {
  if (name.size() >= sizeof(catalogue_entry::name) || !name.starts_with('/') ||
      name.ends_with('/') || name.starts_with("/statistics/") ||
      name.starts_with("/arithmetics/") || name.find("//") != std::string_view::npos ||
      name.find('/', 1) == std::string_view::npos)
    return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || c == '/'; });
}

std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names;
  int depth = 0;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    const auto piece = trim(list.substr(begin, end - begin));
    const bool is_parameter = !names.empty() && (names.back().starts_with("/arithmetics/") ||
                                                 names.back().starts_with("/statistics"));
    if (is_parameter && (names.back().starts_with("/arithmetics/") ||
                         (!piece.starts_with('/') && !piece.starts_with('*'))))
      names.back().append(",").append(piece);
    else if (!piece.empty())
      names.emplace_back(piece);
    begin = end + 1;
  };
  for (std::size_t i = 0; i < list.size(); ++i) {
    depth += list[i] == '{' ? 1 : list[i] == '}' ? -1 : 0;
    if (list[i] == ';' || (list[i] == ',' && depth == 0)) {
      add(i);
      if (list[i] == ';') // ends a formula
        names.emplace_back();
    }
  }
  add(list.size());
  std::erase(names, "");
  return names;
}

} // namespace rt
} // namespace weft::inline v0
