// SPDX-License-Identifier: Apache-2.0
#include "inncabs.hpp"
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace bench::inncabs {

namespace {

std::string colour_of(const std::string &runtime) {
  static constexpr const char *k_colours[][2] = {
      {"weft", "#1b1b3a"},        {"weft-group", "#1f77b4"}, {"std", "#d62728"},
      {"tbb", "#2e8b57"},         {"libgomp", "#e08214"},    {"weft-omp", "#7a5195"},
      {"boost-fiber", "#b8860b"}, {"hpx", "#17becf"}};
  for (const auto &[name, colour] : k_colours)
    if (runtime == name)
      return colour;
  return "#888888";
}

std::string number(double v, const char *format = "%.1f") {
  char text[32];
  std::snprintf(text, sizeof text, format, v);
  return text;
}

class drawing {
 public:
  drawing(std::ostream &to, double width, double height) : m_to(to) {
    m_to << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\""
         << height << "\" viewBox=\"0 0 " << width << ' ' << height
         << "\" font-family=\"sans-serif\" font-size=\"11\">\n"
         << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  }
  drawing(const drawing &) = delete;
  drawing &operator=(const drawing &) = delete;
  ~drawing() { m_to << "</svg>\n"; }

  void text(double x, double y, const char *anchor, const std::string &what, int size = 11) {
    m_to << "<text x=\"" << number(x) << "\" y=\"" << number(y) << "\" font-size=\"" << size
         << "\" text-anchor=\"" << anchor << "\">" << what << "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2, const std::string &colour,
            const char *dashes = "", double width = 1) {
    m_to << "<line x1=\"" << number(x1) << "\" y1=\"" << number(y1) << "\" x2=\"" << number(x2)
         << "\" y2=\"" << number(y2) << "\" stroke=\"" << colour << "\" stroke-dasharray=\""
         << dashes << "\" stroke-width=\"" << number(width) << "\"/>\n";
  }
  void dot(double x, double y, const std::string &colour, const std::string &title) {
    m_to << "<circle r=\"3\" cx=\"" << number(x) << "\" cy=\"" << number(y) << "\" fill=\""
         << colour << "\"><title>" << title << "</title></circle>\n";
  }

 private:
  std::ostream &m_to;
};

std::vector<contender> shown_contenders(const std::vector<measurement> &all) {
  std::vector<contender> found;
  for (const contender &c : all_contenders())
    if (c.name != std::string("serial") &&
        std::any_of(all.begin(), all.end(),
                    [&](const measurement &m) { return m.runtime == c.name && m.measured(); }))
      found.push_back(c);
  return found;
}

void legend(drawing &d, const std::vector<contender> &contenders, double y, bool ideal) {
  double x = 20;
  for (const contender &c : contenders) {
    d.line(x, y - 4, x + 24, y - 4, colour_of(c.name), "", 2);
    d.text(x + 30, y, "start", c.name);
    x += 110;
  }
  if (ideal) {
    d.line(x, y - 4, x + 24, y - 4, "#888888", "4 3");
    d.text(x + 30, y, "start", "ideal: serial time over workers");
  }
}

constexpr int k_columns = 5;
constexpr double k_panel_width = 200, k_panel_height = 170;

/// Draws one program: times over workers, both on logarithms.
void panel(drawing &d, const std::vector<measurement> &all, const std::string &program, double left,
           double top) {
  const std::vector<int> workers = workers_of(all);
  const measurement *serial = find(all, program, "serial", 1);
  const double ideal = serial && serial->measured() ? serial->of(&sample::ns).mean / 1e6 : 0;
  double least = 1e300, most = 0;
  const auto take = [&](double ms) { least = std::min(least, ms), most = std::max(most, ms); };
  for (const measurement &m : all)
    if (m.program == program && m.runtime != "serial" && m.launch == "async" && m.measured())
      take(m.of(&sample::ns).mean / 1e6);
  d.text(left + 8, top + 14, "start", program, 13);
  if (most == 0)
    return;
  if (ideal > 0)
    take(ideal / workers.front()), take(ideal / workers.back());
  const double low = std::log(least) - 0.1, high = std::log(most) + 0.1;
  const auto x = [&](int n) {
    const double span = std::log2(workers.back()) - std::log2(workers.front());
    const double at = span > 0 ? (std::log2(n) - std::log2(workers.front())) / span : 0.5;
    return left + 48 + at * (k_panel_width - 66);
  };
  const auto y = [&](double ms) {
    return top + 24 + (1 - (std::log(ms) - low) / (high - low)) * (k_panel_height - 54);
  };
  for (const double at : {least, std::sqrt(least * most), most}) {
    d.line(left + 40, y(at), left + k_panel_width - 10, y(at), "#dddddd");
    d.text(left + 36, y(at) + 4, "end", number(at, at >= 100 ? "%.0f" : "%.3g"));
  }
  for (const int n : workers)
    d.text(x(n), top + k_panel_height - 12, "middle", std::to_string(n));
  for (std::size_t i = 0; ideal > 0 && i + 1 < workers.size(); ++i)
    d.line(x(workers[i]), y(ideal / workers[i]), x(workers[i + 1]), y(ideal / workers[i + 1]),
           "#888888", "4 3");
  for (const contender &c : all_contenders()) {
    const measurement *last = nullptr;
    for (const int n : workers) {
      const measurement *m = find(all, program, c.name, n);
      if (!m || !m->measured() || m->runtime == "serial")
        continue;
      const double ms = m->of(&sample::ns).mean / 1e6;
      if (last)
        d.line(x(last->workers), y(last->of(&sample::ns).mean / 1e6), x(n), y(ms),
               colour_of(c.name), "", c.name == std::string("weft") ? 2.5 : 1.5);
      d.dot(x(n), y(ms), colour_of(c.name),
            std::string(c.name) + ", " + std::to_string(n) + ": " + number(ms, "%.4g") + " ms");
      last = m;
    }
  }
}

} // namespace

void write_times(std::ostream &to, const std::vector<measurement> &all) {
  const auto rows = static_cast<double>((all_programs().size() + k_columns - 1) / k_columns);
  drawing d(to, k_columns * k_panel_width, 70 + rows * k_panel_height);
  d.text(20, 22, "start", "Time in ms over the number of workers", 15);
  legend(d, shown_contenders(all), 44, true);
  for (std::size_t i = 0; i < all_programs().size(); ++i)
    panel(d, all, all_programs()[i].name, static_cast<double>(i % k_columns) * k_panel_width,
          60 + static_cast<double>(i / k_columns) * k_panel_height);
}

void write_overhead(std::ostream &to, const std::vector<measurement> &all) {
  constexpr double k_left = 110, k_width = 760, k_row = 26, k_top = 70;
  constexpr double k_low = 1, k_high = 6; // exponents: 10 ns to 1 ms
  const std::vector<int> workers = workers_of(all);
  const int most = workers.empty() ? 1 : workers.back();
  std::vector<std::string> fine;
  for (const program &p : all_programs())
    if (task_ns(all, p.name) / 1e3 < k_very_fine_us)
      fine.emplace_back(p.name);
  const auto rows = static_cast<double>(fine.size());
  drawing d(to, k_left + k_width + 30, k_top + rows * k_row + 40);
  d.text(20, 22, "start",
         "Overhead per very fine task with " + std::to_string(most) +
             " workers: processor time beside the serial run's, ns",
         15);
  legend(d, shown_contenders(all), 44, false);
  const auto x = [&](double ns) {
    return k_left + (std::clamp(std::log10(std::max(ns, 1.0)), k_low, k_high) - k_low) /
                        (k_high - k_low) * k_width;
  };
  for (double exponent = k_low; exponent <= k_high; ++exponent) {
    const double ns = std::pow(10, exponent);
    d.line(x(ns), k_top - 10, x(ns), k_top + rows * k_row, "#dddddd");
    d.text(x(ns), k_top + rows * k_row + 16, "middle", number(ns, "%.0f"));
  }
  for (std::size_t i = 0; i < fine.size(); ++i) {
    const std::string &program = fine[i];
    const double y = k_top + (static_cast<double>(i) + 0.5) * k_row;
    d.text(k_left - 8, y + 4, "end", program);
    d.line(k_left, y, k_left + k_width, y, "#eeeeee");
    for (const contender &c : all_contenders())
      if (const measurement *m = find(all, program, c.name, most); m && m->runtime != "serial") {
        const double ns = overhead_ns(all, *m);
        if (!std::isnan(ns))
          d.dot(x(ns), y, colour_of(c.name), std::string(c.name) + ": " + number(ns, "%.4g"));
      }
  }
}

} // namespace bench::inncabs
