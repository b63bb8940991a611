// SPDX-License-Identifier: Apache-2.0
#include "tune/objective.hpp"

#include "base/error.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

namespace weft::inline v0 {
namespace rt {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto from = text.find_first_not_of(' ');
  return from == text.npos ? "" : text.substr(from, text.find_last_not_of(' ') + 1 - from);
}

/// Splits a text at a separator, which has spaces around it: counters have names with '*'.
std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(trimmed(text.substr(0, at)));
    if (at == text.npos)
      return parts;
    text.remove_prefix(at + separator.size());
  }
}

/// Returns a number above 0, with a point in each locale; nothing if the text is none.
std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const char *const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stop != end || !std::isfinite(number) || number <= 0)
    return std::nullopt;
  return number;
}

class parser {
 public:
  explicit parser(std::string_view text) : m_text(text) { m_made.by.weights.clear(); }

  objective_text operator()() {
    const auto parts = split(m_text, " subject to ");
    if (parts.size() > 2)
      refuse("has 'subject to' twice; join bounds by 'and'");
    for (const std::string_view factor : split(parts[0], " * "))
      add_factor(factor);
    if (parts.size() == 2)
      for (const std::string_view one : split(parts[1], " and "))
        add_bound(one);
    return std::move(m_made);
  }

 private:
  [[noreturn]] void refuse(const char *what) const {
    throw_error(errc::invalid_argument,
                "the objective '%s' %s; write it as '/power/estimate * time^2 subject to time <= 1.05x'",
                std::string(m_text).c_str(), what);
  }
  std::size_t term(std::string_view name) {
    if (name != objective_text::k_time && !name.starts_with('/'))
      refuse("names something that is neither 'time' nor a counter; factors are joined by '*' with "
             "spaces around it");
    for (std::size_t i = 0; i < m_made.terms.size(); ++i)
      if (m_made.terms[i] == name)
        return i;
    m_made.terms.emplace_back(name);
    m_made.by.weights.push_back(0);
    return m_made.terms.size() - 1;
  }
  void add_factor(std::string_view factor) {
    double weight = 1;
    if (const auto at = factor.rfind('^'); at != factor.npos) {
      const auto given = number_of(factor.substr(at + 1));
      if (!given)
        refuse("has a power that is no number above 0");
      weight = *given;
      factor = trimmed(factor.substr(0, at));
    }
    m_made.by.weights[term(factor)] += weight;
  }
  void add_bound(std::string_view text) {
    const auto sides = split(text, " <= ");
    if (sides.size() != 2)
      refuse("has a bound without '<=' with spaces around it, or with two");
    const bool of_default = sides[1].ends_with('x');
    const auto most = number_of(of_default ? sides[1].substr(0, sides[1].size() - 1) : sides[1]);
    if (!most)
      refuse("has a bound that is no number above 0, nor one with an 'x'");
    m_made.by.bounds.push_back({term(sides[0]), *most, of_default});
  }

  const std::string_view m_text;
  objective_text m_made;
};

} // namespace

objective_text parse_objective(std::string_view text) {
  const std::string_view what = trimmed(text);
  return parser(what.empty() ? objective_text::k_time : what)();
}

} // namespace rt
} // namespace weft::inline v0
