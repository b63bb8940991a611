// SPDX-License-Identifier: Apache-2.0
#include "trace/coroutine_name.hpp"

#include <cstdio>
#include <string_view>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_most = 110; // as of all types

/// Takes away what compilers put behind the name: " [clone .resume]", and the parameters.
std::string_view without_end(std::string_view text) noexcept {
  if (const auto clone = text.find(" [clone "); clone != std::string_view::npos)
    text = text.substr(0, clone);
  if (text.ends_with(" const"))
    text.remove_suffix(6);
  if (!text.ends_with(')'))
    return text;
  std::size_t at = text.size(), depth = 0;
  do {
    --at;
    depth += text[at] == ')' ? 1 : 0;
    depth -= text[at] == '(' ? 1 : 0;
  } while (at != 0 && depth != 0);
  return text.substr(0, at);
}

/// Takes away the type of the result, which the names of templates have before them.
std::string_view without_result(std::string_view text) noexcept {
  std::size_t from = 0, depth = 0;
  for (std::size_t at = 0; at != text.size(); ++at) {
    const char c = text[at];
    if (text.substr(at).starts_with("operator"))
      break; // < and > may follow
    if (c == '(' || c == '<' || c == '{')
      ++depth;
    else if ((c == ')' || c == '>' || c == '}') && depth != 0)
      --depth;
    else if (c == ' ' && depth == 0)
      from = at + 1;
  }
  return text.substr(from);
}

} // namespace

std::string name_of_coroutine(const symbol &resumes) {
  std::string name;
  if (!resumes.name.empty()) {
    name = without_result(without_end(resumes.name));
  } else if (!resumes.module.empty()) {
    char place[24];
    std::snprintf(place, sizeof place, "+0x%llx",
                  static_cast<unsigned long long>(resumes.offset));
    name = "coroutine " + resumes.module.substr(resumes.module.rfind('/') + 1) + place;
  }
  if (name.size() > k_most)
    name.resize(k_most);
  for (char &c : name)
    if (static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\')
      c = '_';
  return name;
}

} // namespace rt
} // namespace weft::inline v0
