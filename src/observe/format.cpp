// SPDX-License-Identifier: Apache-2.0
#include "observe/format.hpp"

#include "base/visible.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>
#include <string_view>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Returns a field of CSV between quotes.
std::string quoted_csv(std::string_view text) {
  std::string out = "\"";
  for (const char c : visible(text))
    out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

constexpr double k_most_whole = 9e15; // below, a double that is whole fits an integer and back

bool is_whole(double value) noexcept {
  return std::fabs(value) < k_most_whole &&
         value == static_cast<double>(static_cast<std::int64_t>(value));
}

/// Rounds for people: three places behind the point. Does not use std::round, because a program
/// would have to link the library of mathematics.
std::string rounded(double value) {
  if (is_whole(value) || std::fabs(value) < 0.1 || !(std::fabs(value) < k_most_whole / 1000))
    return number_text(value);
  return number_text(
      static_cast<double>(static_cast<std::int64_t>(value * 1000 + (value < 0 ? -0.5 : 0.5))) /
      1000);
}

void pad(std::string &line, std::size_t column) {
  line.append(line.size() < column ? column - line.size() : 1, ' ');
}

std::string values_as_text(const reading &numbers, const std::vector<evaluator::result> &values) {
  char after[80];
  std::snprintf(after, sizeof after, " (pid %u) after %.3f s%s\n", numbers.pid,
                seconds(numbers.taken_ns - numbers.started_ns),
                numbers.alive || numbers.ended ? "" : ", it did not end in order");
  std::string out = "# " + visible(numbers.program) + after;
  for (const auto &v : values) {
    std::string line = visible(v.name);
    pad(line, 48);
    const std::string number = v.absent ? "absent" : std::isnan(v.number) ? "-" : rounded(v.number);
    line.append(number.size() < 18 ? 18 - number.size() : 0, ' ');
    line += number;
    if (!v.unit.empty())
      line += " " + visible(v.unit);
    out += line + "\n";
  }
  return out;
}

/// Returns the line that names the columns.
std::string head_of_csv(const std::vector<evaluator::result> &values) {
  std::string out = "seconds";
  for (const auto &v : values)
    out += "," + quoted_csv(v.name + (v.unit.empty() ? "" : " [" + v.unit + "]"));
  return out + "\n";
}

/// Writes [least, count] of each bucket; nothing if there is no histogram.
std::string histograms_as_json(const std::vector<evaluator::result> &values) {
  std::string out;
  for (const auto &v : values) {
    if (v.buckets.empty())
      continue;
    out += (out.empty() ? ",\"histograms\":{" : ",") + json_text(v.name) + ":";
    for (std::size_t i = 0; i < v.buckets.size(); ++i)
      out += (i ? ",[" : "[[") + number_text(v.buckets[i].first) + "," +
             std::to_string(v.buckets[i].second) + "]";
    out += "]";
  }
  return out.empty() ? out : out + "}";
}

std::string values_as_json(const reading &numbers, const std::vector<evaluator::result> &values) {
  std::string out =
      "{\"program\":" + json_text(numbers.program) + ",\"pid\":" + std::to_string(numbers.pid) +
      ",\"seconds\":" + number_text(seconds(numbers.taken_ns - numbers.started_ns)) +
      ",\"running\":" + (numbers.alive && !numbers.ended ? "true" : "false") + ",\"values\":{";
  bool first = true;
  for (const auto &v : values) {
    out += first ? "" : ",";
    out += json_text(v.name) + ":" + json_number(v.number);
    first = false;
  }
  return out + "}" + histograms_as_json(values) + "}\n";
}

const char *word_of(counter_kind kind) {
  switch (kind) {
  case counter_kind::count:
  case counter_kind::stopwatch:
    return "count";
  case counter_kind::level:
    return "level";
  case counter_kind::histogram:
    break;
  }
  return "histogram";
}

/// Returns the name of a metric: for "/threads/count/pending-misses" in "ns" this is
/// "weft_threads_count_pending_misses_nanoseconds".
std::string metric_name(const counter_info &info) {
  std::string name = "weft";
  for (const char ch : info.name)
    name += ch == '/' || ch == '-' ? '_' : ch;
  if (info.unit == "ns")
    name += "_nanoseconds";
  else if (info.unit == "bytes")
    name += "_bytes";
  else if (info.unit == "%")
    name += "_percent";
  else if (info.unit == "uJ")
    name += "_microjoules";
  return name;
}

bool is_counter(const counter_info &info) noexcept {
  return info.kind == counter_kind::count || info.kind == counter_kind::stopwatch;
}

/// Gives each metric a name that no other one has, nor a sample of another one: counters whose names
/// differ in '/', '-' and '_' alone would have the same.
class metric_names {
 public:
  std::string name_of(const counter_info &info) {
    const std::string plain = metric_name(info);
    std::vector<std::string> names = names_of_samples(info, plain);
    for (int n = 2; !are_free(names); ++n)
      names = names_of_samples(info, plain + "_" + std::to_string(n));
    m_taken.insert(names.begin(), names.end());
    return names.front();
  }

 private:
  static std::vector<std::string> names_of_samples(const counter_info &info,
                                                   const std::string &name) {
    if (info.kind == counter_kind::histogram)
      return {name, name + "_bucket", name + "_count", name + "_sum"};
    return is_counter(info) ? std::vector{name, name + "_total"} : std::vector{name};
  }
  [[nodiscard]] bool are_free(const std::vector<std::string> &names) const {
    return std::none_of(names.begin(), names.end(),
                        [this](const std::string &name) { return m_taken.contains(name); });
  }

  std::set<std::string> m_taken;
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '\\' ? "\\\\" : c == '"' ? "\\\"" : c == '\n' ? "\\n" : std::string(1, c);
  return out;
}

/// Returns the lines before the samples of a metric. The help of one with another name than its
/// counter's says whose it is.
std::string head_of(const counter_info &about, const std::string &name, const char *type) {
  return "# TYPE " + name + " " + type + "\n# HELP " + name + " " + escaped(about.help) +
         (name == metric_name(about) ? "" : " (" + about.name + ")") + "\n";
}

void write_histogram(std::string &out, const reading &numbers, const counter_info &about,
                     const std::string &name) {
  out += head_of(about, name, "histogram");
  const reading::buckets d = numbers.all_durations();
  std::uint64_t below = 0;
  for (unsigned i = 0; i < k_duration_buckets; ++i) {
    below += d[i];
    if (i % 4 == 3 && i + 1 < k_duration_buckets) // each power of two is enough here
      out += name + "_bucket{le=\"" + number_text(static_cast<double>(bucket_floor(i + 1))) +
             "\"} " + std::to_string(below) + "\n";
  }
  std::uint64_t sum = 0; // the types sum up the same durations
  for (const reading::type &t : numbers.types)
    sum += t.ns;
  out += name + "_bucket{le=\"+Inf\"} " + std::to_string(below) + "\n" + name + "_count " +
         std::to_string(below) + "\n" + name + "_sum " + std::to_string(sum) + "\n";
}

} // namespace

std::string number_text(double value) {
  if (std::isnan(value))
    return "";
  char text[40];
  const auto end = is_whole(value)
                       ? std::to_chars(text, text + sizeof text, static_cast<long long>(value))
                       : std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

std::string json_text(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t bytes = bytes_of_character(text);
    const std::string_view one = text.substr(0, bytes ? bytes : 1);
    text.remove_prefix(one.size());
    char escape[8];
    if (bytes == 0) {
      out += "\\ufffd"; // JSON is UTF-8
    } else if (is_control(one)) {
      std::snprintf(escape, sizeof escape, "\\u%04x",
                    static_cast<unsigned>(static_cast<unsigned char>(one.back())));
      out += escape;
    } else {
      (out += one == "\"" || one == "\\" ? "\\" : "") += one;
    }
  }
  return out + "\"";
}

std::string csv_text(std::string_view text) {
  return text.find_first_of(",\"") == std::string_view::npos ? visible(text) : quoted_csv(text);
}

std::string json_number(double value) { return std::isnan(value) ? "null" : number_text(value); }

void values_writer::leave_out(result_at from, result_at to) {
  for (; from != to; ++from)
    m_left_out.push_back(from->name);
}

std::string values_writer::row_of_csv(const reading &numbers,
                                      const std::vector<evaluator::result> &values) {
  std::string out = number_text(seconds(numbers.taken_ns - numbers.started_ns));
  m_left_out.clear();
  auto next = values.begin(); // the values keep their order, and new ones come between them
  for (const std::string &column : m_columns) {
    const auto at =
        std::find_if(next, values.end(), [&column](const auto &v) { return v.name == column; });
    out += ',';
    if (at == values.end())
      continue;
    out += number_text(at->number);
    leave_out(next, at);
    next = at + 1;
  }
  leave_out(next, values.end());
  return out + "\n";
}

std::string values_writer::write(const reading &numbers,
                                 const std::vector<evaluator::result> &values) {
  switch (m_format) {
  case output_format::csv:
    break;
  case output_format::json:
    return values_as_json(numbers, values);
  case output_format::text:
    return values_as_text(numbers, values);
  }
  std::string head;
  if (!std::exchange(m_has_columns, true)) {
    for (const auto &v : values)
      m_columns.push_back(v.name);
    head = head_of_csv(values);
  }
  return head + row_of_csv(numbers, values);
}

std::string values_writer::take_complaint() {
  if (m_left_out.empty() || std::exchange(m_complained, true))
    return "";
  const std::size_t more = m_left_out.size() - 1;
  return "'" + visible(m_left_out.front()) + "'" +
         (more ? " and " + std::to_string(more) + " more" : "") +
         " came after the first line, which names the columns; CSV leaves out such values, and JSON has them";
}

std::string write_catalogue(output_format format, const std::vector<counter_info> &all) {
  std::string out = format == output_format::csv    ? "name,kind,unit,per worker,absent,help\n"
                    : format == output_format::json ? "["
                                                    : "";
  bool first = true;
  for (const auto &c : all) {
    if (format == output_format::json) {
      out += std::string(first ? "" : ",\n") + "{\"name\":" + json_text(c.name) + ",\"kind\":\"" +
             word_of(c.kind) + "\",\"unit\":" + json_text(c.unit) +
             ",\"per_worker\":" + (c.per_worker ? "true" : "false") +
             ",\"absent\":" + (c.absent ? "true" : "false") + ",\"help\":" + json_text(c.help) +
             "}";
    } else if (format == output_format::csv) {
      out += csv_text(c.name) + "," + word_of(c.kind) + "," + csv_text(c.unit) + "," +
             (c.per_worker ? "yes," : "no,") + (c.absent ? "yes," : "no,") + csv_text(c.help) +
             "\n";
    } else {
      std::string line = visible(c.name);
      pad(line, 44);
      line += c.absent ? "absent" : visible(c.unit);
      pad(line, 52);
      out += line + visible(c.help) + "\n";
    }
    first = false;
  }
  return format == output_format::json ? out + "]\n" : out;
}

double open_metrics_writer::grown(const std::string &sample, double number) {
  double &most = m_most.emplace(sample, number).first->second;
  return most = std::max(most, number);
}

void open_metrics_writer::write_metric(std::string &out, const row &metric,
                                       const std::string &name, metric_samples samples) {
  const bool counts = is_counter(metric.about);
  out += head_of(metric.about, name, counts ? "counter" : "gauge");
  const auto add = [&](const std::string &sample, double number) {
    out += sample + " " + number_text(counts ? grown(sample, number) : number) + "\n";
  };
  const std::string sample = name + (counts ? "_total" : "");
  if (samples == metric_samples::total || metric.workers.empty())
    add(sample, metric.total);
  else
    for (const auto &p : metric.workers)
      if (!std::isnan(p.number))
        add(sample + "{worker=\"" + std::to_string(p.worker) + "\"}", p.number);
}

std::string open_metrics_writer::write(const reading &numbers, metric_samples samples) {
  counter_name everything;
  everything.base = "*";
  everything.instance =
      samples == metric_samples::total ? counter_name::of::total : counter_name::of::every_worker;
  std::string out;
  metric_names names;
  for (const auto &m : rows_of(numbers, everything)) {
    const std::string name = names.name_of(m.about); // also of one without a value at present
    if (m.about.absent || (std::isnan(m.total) && m.about.kind != counter_kind::histogram))
      continue;
    if (m.about.kind == counter_kind::histogram)
      write_histogram(out, numbers, m.about, name);
    else
      write_metric(out, m, name, samples);
  }
  return out + "# EOF\n";
}

} // namespace rt
} // namespace weft::inline v0
