// SPDX-License-Identifier: Apache-2.0
#include "results.hpp"

#include "catalog.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <ostream>
#include <thread>

namespace bench {

namespace {

/// Returns a number with three digits, which are enough for a reader.
std::string shown(double v) { return number(v, v >= 100 ? "%.0f" : v >= 10 ? "%.1f" : "%.2f"); }

struct line_key {
  std::string workload;
  int workers;
  std::string unit;
  bool operator==(const line_key &) const = default;
};

void write_text(std::ostream &to, const std::vector<cells> &lines) {
  std::vector<std::size_t> widths;
  for (const cells &line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i == widths.size())
        widths.push_back(0);
      widths[i] = std::max(widths[i], line[i].size());
    }
  for (const cells &line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      to << line[i] << std::string(i + 1 == line.size() ? 0 : widths[i] - line[i].size() + 2, ' ');
    to << '\n';
  }
}

void write_markdown(std::ostream &to, const std::vector<cells> &lines) {
  for (std::size_t n = 0; n < lines.size(); ++n) {
    for (const std::string &cell : lines[n])
      to << "| " << cell << ' ';
    to << "|\n";
    if (n == 0) {
      for (std::size_t i = 0; i < lines[n].size(); ++i)
        to << "| --- ";
      to << "|\n";
    }
  }
}

const row *find(const std::vector<row> &rows, const std::string &suite, const line_key &key,
                const std::string &runtime) {
  for (const row &r : rows)
    if (r.suite == suite && r.runtime == runtime && key == line_key{r.workload, r.workers, r.unit})
      return &r;
  return nullptr;
}

/// Writes the target, the value reached, and whether it is enough.
struct verdict {
  std::string reached, asked, word;
};

verdict compare_with_target(const std::vector<row> &rows, const std::string &suite,
                            const line_key &key) {
  const row *own = find(rows, suite, key, "weft");
  const std::optional<target> asked = find_target(suite, key.workload, key.workers);
  if (!own || !asked)
    return {};
  double value = own->median();
  std::string reached = shown(value) + " " + key.unit;
  std::string bound = (asked->at_least ? ">= " : "<= ") + number(asked->bound, "%.3g");
  if (!asked->peers.empty()) {
    double best = std::numeric_limits<double>::infinity();
    std::string name;
    for (const std::string &peer : asked->peers)
      if (const row *r = find(rows, suite, key, peer); r && r->median() < best) {
        best = r->median();
        name = peer;
      }
    if (name.empty())
      return {"", bound, "no peer"};
    value /= best;
    reached = number(value, "%.2f") + " of " + name;
  } else {
    bound += " " + key.unit;
  }
  const bool met = asked->at_least ? value >= asked->bound : value <= asked->bound;
  return {reached, bound, met ? "met" : "missed"};
}

} // namespace

std::string number(double v, const char *format) {
  char text[64];
  std::snprintf(text, sizeof text, format, v);
  return text;
}

void write_table(std::ostream &to, const std::string &heading, const std::vector<cells> &lines,
                 form f) {
  to << (f == form::markdown ? "### " : "") << heading << "\n\n";
  (f == form::markdown ? write_markdown : write_text)(to, lines);
  to << '\n';
}

std::string quoted(const std::string &s) {
  std::string text = "\"";
  for (const char c : s)
    if (static_cast<unsigned char>(c) < ' ') {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      text += code;
    } else {
      if (c == '"' || c == '\\')
        text += '\\';
      text += c;
    }
  return text + '"';
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0)
      return line.substr(line.find(':') + 2);
  return "unknown";
}

double median(std::vector<double> values) {
  if (values.empty())
    return std::nan("");
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double row::median() const { return bench::median(runs); }
double row::min() const { return *std::min_element(runs.begin(), runs.end()); }

void write_json(std::ostream &to, const std::vector<row> &rows) {
  to << "{\n  \"machine\": {\"cpu\": " << quoted(cpu_model())
     << ", \"cpus\": " << std::thread::hardware_concurrency() << "},\n  \"rows\": [";
  const char *separator = "\n";
  for (const row &r : rows) {
    to << separator << "    {\"suite\": " << quoted(r.suite)
       << ", \"workload\": " << quoted(r.workload) << ", \"runtime\": " << quoted(r.runtime)
       << ", \"workers\": " << r.workers << ", \"unit\": " << quoted(r.unit)
       << ", \"median\": " << number(r.median()) << ", \"min\": " << number(r.min())
       << ", \"runs\": [";
    for (std::size_t i = 0; i < r.runs.size(); ++i)
      to << (i ? ", " : "") << number(r.runs[i]);
    to << "]}";
    separator = ",\n";
  }
  to << "\n  ]\n}\n";
}

int write_tables(std::ostream &to, const std::vector<row> &rows, form f) {
  int missed = 0;
  std::vector<std::string> suites;
  for (const row &r : rows)
    add_once(suites, r.suite);
  for (const std::string &suite : suites) {
    std::vector<line_key> keys;
    std::vector<std::string> runtimes;
    for (const row &r : rows)
      if (r.suite == suite) {
        add_once(keys, {r.workload, r.workers, r.unit});
        add_once(runtimes, r.runtime);
      }
    std::vector<cells> lines{{"workload", "workers", "unit"}};
    lines[0].insert(lines[0].end(), runtimes.begin(), runtimes.end());
    const bool has_target = std::any_of(keys.begin(), keys.end(), [&](const line_key &key) {
      return find_target(suite, key.workload, key.workers).has_value();
    });
    if (has_target)
      lines[0].insert(lines[0].end(), {"weft reaches", "asked", ""});
    for (const line_key &key : keys) {
      cells line{key.workload, std::to_string(key.workers), key.unit};
      for (const std::string &runtime : runtimes) {
        const row *r = find(rows, suite, key, runtime);
        line.push_back(r ? shown(r->median()) + " (" + shown(r->min()) + ")" : "");
      }
      if (has_target) {
        const verdict v = compare_with_target(rows, suite, key);
        line.insert(line.end(), {v.reached, v.asked, v.word});
        missed += v.word == "missed";
      }
      lines.push_back(std::move(line));
    }
    write_table(to, suite + ": median (minimum)", lines, f);
  }
  return missed;
}

} // namespace bench
