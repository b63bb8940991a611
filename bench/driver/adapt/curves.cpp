// SPDX-License-Identifier: Apache-2.0
#include "curves.hpp"

#include "../results.hpp"

#include "tune/search.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <map>
#include <ostream>
#include <string_view>

namespace bench::adapt {

namespace {

struct kind_text {
  grain_curve::kind what;
  const char *name, *heading, *about;
};
constexpr std::array<kind_text, 3> k_kinds{{
    {grain_curve::kind::loop, "loop", "Loops",
     "By hand: `taskfor` with each grain. Untuned: without a grain, with `tune=off`. Self-tuned: without a "
     "grain, with the default `tune=granularity`."},
    {grain_curve::kind::recursion, "recursion", "Recursions",
     "By hand: each cut-off, below which the program is serial. Untuned: without a cut-off, each call a branch of "
     "`join` or a task of `spawn`. Self-tuned: without a cut-off, calls say their cost (`join(cost(n), ...)` with a "
     "serial call, `spawn` with `cost(n)` and `may_inline`)."},
    {grain_curve::kind::application, "application", "Applications",
     "By hand: each tile. Untuned: the program's preset tile. Self-tuned: the tile that the search of a session finds "
     "from the preset one, each trial a process of its own."},
}};

std::optional<long> grain_in(std::string_view text) {
  long grain = 0;
  const auto [at, trouble] = std::from_chars(text.data(), text.data() + text.size(), grain);
  return trouble == std::errc() && at == text.data() + text.size() ? std::optional(grain)
                                                                   : std::nullopt;
}

double time_of(const std::vector<way_time> &all, const std::string &way) {
  for (const way_time &one : all)
    if (one.way == way)
      return one.ns;
  return 0;
}

void keep_least(std::map<long, double> &of, long grain, double ns) {
  const auto [at, is_new] = of.emplace(grain, ns);
  if (!is_new)
    at->second = std::min(at->second, ns);
}

std::string printed(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Returns milliseconds with four digits, and the grain; "-" where nothing was measured.
std::string shown_mark(const mark &m, const std::string &more = "") {
  if (!(m.ns > 0))
    return "-";
  const std::string in_brackets = (m.grain ? std::to_string(*m.grain) : "") + more;
  return printed("%.4g", m.ns / 1e6) + (in_brackets.empty() ? "" : " (" + in_brackets + ")");
}

std::optional<double> over_best(const mark &m, const grain_curve &c) {
  const double best = c.best().ns;
  return m.ns > 0 && best > 0 ? std::optional(m.ns / best) : std::nullopt;
}

std::string shown_ratio(const std::optional<double> &ratio) {
  return ratio ? printed("%.2f", *ratio) : "-";
}

std::string json_time(double ns) { return ns > 0 ? printed("%.9g", ns) : "null"; }

std::string json_mark(const mark &m) {
  return "{\"ns\": " + json_time(m.ns) +
         ", \"grain\": " + (m.grain && m.ns > 0 ? std::to_string(*m.grain) : "null") + "}";
}

const char *name_of_kind(grain_curve::kind what) {
  for (const kind_text &k : k_kinds)
    if (k.what == what)
      return k.name;
  return "";
}

void write_table_of(std::ostream &to, const std::vector<const grain_curve *> &some) {
  to << "| subject | serial ms | best by hand ms | untuned ms | self-tuned ms | untuned over best | self-tuned over best |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  std::vector<double> untuned, self;
  for (const grain_curve *c : some) {
    const auto ratios = std::pair(over_best(c->untuned, *c), over_best(c->self, *c));
    if (ratios.first && ratios.second) {
      untuned.push_back(*ratios.first);
      self.push_back(*ratios.second);
    }
    const std::string trials = c->trials ? ", " + std::to_string(c->trials) + " trials" : "";
    to << "| " << c->subject << " | " << shown_mark({c->serial, {}}) << " | " << shown_mark(c->best())
       << " | " << shown_mark(c->untuned) << " | " << shown_mark(c->self, trials) << " | "
       << shown_ratio(ratios.first) << " | " << shown_ratio(ratios.second) << " |\n";
  }
  if (!self.empty())
    to << "\nMedians of " << self.size() << ": untuned " << printed("%.2f", median(untuned))
       << " times the best by hand, self-tuned " << printed("%.2f", median(self)) << " times.\n";
  to << '\n';
}

} // namespace

mark grain_curve::best() const {
  const auto least = std::min_element(by_hand.begin(), by_hand.end(), [](const auto &a, const auto &b) {
    return a.second < b.second;
  });
  return least == by_hand.end() ? mark{} : mark{least->second, least->first};
}

grain_curve curve_of_loop(const std::string &subject, long share, const std::vector<way_time> &off,
                          const std::vector<way_time> &tuned) {
  grain_curve c{grain_curve::kind::loop, subject, "iterations of a block"};
  std::map<long, double> grains;
  for (const way_time &one : tuned) // of as many runs as each mark
    if (one.way == "static")
      keep_least(grains, share, one.ns);
    else if (const auto grain = grain_in(one.way))
      keep_least(grains, *grain, one.ns);
  c.by_hand.assign(grains.begin(), grains.end());
  c.serial = time_of(tuned, "serial");
  c.untuned.ns = time_of(off, "self");
  c.self.ns = time_of(tuned, "self");
  return c;
}

grain_curve curve_of_recursion(const std::string &subject, const std::string &unit,
                               const std::string &fork, const std::vector<way_time> &all) {
  grain_curve c{grain_curve::kind::recursion, subject, unit};
  const std::string before = fork + "/";
  std::map<long, double> cuts;
  for (const way_time &one : all)
    if (one.way.starts_with(before))
      if (const auto cut = grain_in(std::string_view(one.way).substr(before.size())))
        keep_least(cuts, *cut, one.ns);
  c.by_hand.assign(cuts.begin(), cuts.end());
  c.serial = time_of(all, "serial");
  c.untuned.ns = time_of(all, fork);
  c.self.ns = time_of(all, fork == "join" ? "cost" : "inline");
  return c;
}

found_grain search_grain(std::size_t count, std::size_t preset,
                         const std::function<double(std::size_t)> &cost) {
  const int size = static_cast<int>(count);
  weft::rt::line_search search(size, static_cast<int>(preset), 12,
                               std::max(2, size / 8)); // as src/tune/search_names.cpp
  while (const auto point = search.ask())
    search.tell(cost(static_cast<std::size_t>(point->front())));
  return {static_cast<std::size_t>(search.best().front()), static_cast<int>(search.trials())};
}

manager_model::chart chart_of(const grain_curve &c) {
  using manager_model::scale;
  manager_model::chart made{c.subject,          c.unit,             "time, ms",
                            scale::logarithmic, scale::logarithmic, {}};
  manager_model::curve by_hand{"by hand", {}};
  for (const auto &[grain, ns] : c.by_hand)
    by_hand.points.emplace_back(static_cast<double>(grain), ns / 1e6);
  made.curves.push_back(by_hand);
  const auto add = [&](const char *name, const mark &m) {
    manager_model::curve line{name, {}};
    if (m.ns > 0 && m.grain) // a mark
      line.points.emplace_back(static_cast<double>(*m.grain), m.ns / 1e6);
    else if (m.ns > 0 && !by_hand.points.empty()) // across: it has no size
      line.points = {{by_hand.points.front().first, m.ns / 1e6}, {by_hand.points.back().first, m.ns / 1e6}};
    made.curves.push_back(std::move(line));
  };
  add("best by hand", c.best());
  add("untuned", c.untuned);
  add("self-tuned", c.self);
  add("serial program", {c.serial, {}});
  return made;
}

std::string picture_of(const grain_curve &c) {
  std::string name;
  for (const char one : std::string(name_of_kind(c.what)) + ' ' + c.subject)
    if (std::isalnum(static_cast<unsigned char>(one)))
      name += one;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  return name + ".svg";
}

void write_curves(std::ostream &to, const std::vector<grain_curve> &all, const std::string &folder) {
  for (const kind_text &kind : k_kinds) {
    std::vector<const grain_curve *> some;
    for (const grain_curve &c : all)
      if (c.what == kind.what)
        some.push_back(&c);
    if (some.empty())
      continue;
    to << "### " << kind.heading << "\n\n" << kind.about << "\n\n";
    write_table_of(to, some);
    for (const grain_curve *c : some)
      if (c->trouble.empty())
        to << "![" << c->subject << "](" << folder << '/' << picture_of(*c) << ")\n";
      else
        to << "Not measured: " << c->subject << ": " << c->trouble << "\n\n";
    to << '\n';
  }
}

void write_curves_json(std::ostream &to, const std::vector<grain_curve> &all,
                       const std::string &conditions, const options &o) {
  to << "{\n  \"conditions\": " << quoted(conditions) << ",\n  \"unit\": \"ns\",\n  \"workers\": " << o.workers
     << ",\n  \"runs\": " << o.runs << ",\n  \"curves\": [";
  const char *separator = "\n";
  for (const grain_curve &c : all) {
    to << separator << "    {\"kind\": " << quoted(name_of_kind(c.what)) << ", \"subject\": " << quoted(c.subject)
       << ", \"grain_unit\": " << quoted(c.unit) << ", \"serial\": " << json_time(c.serial)
       << ",\n     \"best\": " << json_mark(c.best()) << ", \"untuned\": " << json_mark(c.untuned)
       << ", \"self\": " << json_mark(c.self)
       << ", \"trials\": " << (c.trials ? std::to_string(c.trials) : "null")
       << ", \"trouble\": " << (c.trouble.empty() ? "null" : quoted(c.trouble)) << ",\n     \"by_hand\": [";
    for (std::size_t i = 0; i < c.by_hand.size(); ++i)
      to << (i ? ", " : "") << '[' << c.by_hand[i].first << ", " << json_time(c.by_hand[i].second) << ']';
    to << "]}";
    separator = ",\n";
  }
  to << "\n  ]\n}\n";
}

} // namespace bench::adapt
