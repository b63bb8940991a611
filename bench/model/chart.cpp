// SPDX-License-Identifier: Apache-2.0
#include "chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace manager_model {
namespace {

constexpr double k_left = 70, k_top = 40, k_width = 520, k_height = 300;
constexpr const char *k_colours[] = {"#1f4e79", "#c0504d", "#e0a030",
                                     "#3a7d44", "#7a5195", "#555555"};

/// Is one axis: from the least value to the greatest, with the positions of round numbers.
class axis {
 public:
  axis(scale s, const chart &c, double std::pair<double, double>::*of) : m_scale(s) {
    for (const curve &line : c.curves)
      for (const auto &p : line.points)
        if (s == scale::linear || p.*of > 0) {
          m_low = std::min(m_low, p.*of);
          m_high = std::max(m_high, p.*of);
        }
    if (m_low > m_high)
      m_low = m_high = 1;
    if (s == scale::linear)
      m_low = std::min(m_low, 0.0);
    if (m_high <= m_low)
      m_high = s == scale::linear ? m_low + 1 : m_low * 2;
  }
  [[nodiscard]] bool knows(double v) const { return m_scale == scale::linear || v > 0; }
  /// Returns the position of a value, from 0 to 1.
  [[nodiscard]] double at(double v) const {
    if (m_scale == scale::linear)
      return (v - m_low) / (m_high - m_low);
    return std::log(v / m_low) / std::log(m_high / m_low);
  }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> t;
    if (m_scale == scale::logarithmic) {
      const double base = m_high / m_low > 2000 ? 10 : 2;
      for (double v = std::pow(base, std::ceil(std::log(m_low) / std::log(base) - 1e-9));
           v <= m_high * (1 + 1e-9); v *= base)
        t.push_back(v);
      return t;
    }
    const double rough = (m_high - m_low) / 5, unit = std::pow(10, std::floor(std::log10(rough)));
    const double step = unit * (rough / unit > 5   ? 10
                                : rough / unit > 2 ? 5
                                : rough / unit > 1 ? 2
                                                   : 1);
    for (double v = m_low; v <= m_high * (1 + 1e-9); v += step)
      t.push_back(v);
    return t;
  }

 private:
  scale m_scale;
  double m_low = std::numeric_limits<double>::infinity(),
         m_high = -std::numeric_limits<double>::infinity();
};

std::string number(double v, const char *format = "%.6g") {
  char text[40];
  std::snprintf(text, sizeof text, format, v);
  return text;
}

std::string escaped(const std::string &s) {
  std::string out;
  for (char c : s)
    out += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

void text(std::ostream &to, double x, double y, const char *anchor, const std::string &what,
          const char *more = "") {
  to << "<text x='" << number(x, "%.1f") << "' y='" << number(y, "%.1f") << "' text-anchor='"
     << anchor << "'" << more << '>' << escaped(what) << "</text>\n";
}

void line(std::ostream &to, double x1, double y1, double x2, double y2, const char *colour) {
  to << "<line x1='" << number(x1, "%.1f") << "' y1='" << number(y1, "%.1f") << "' x2='"
     << number(x2, "%.1f") << "' y2='" << number(y2, "%.1f") << "' stroke='" << colour << "'/>\n";
}

void frame(std::ostream &to, const chart &c, const axis &x, const axis &y) {
  for (double v : x.ticks()) {
    const double at = k_left + x.at(v) * k_width;
    line(to, at, k_top, at, k_top + k_height, "#dddddd");
    text(to, at, k_top + k_height + 16, "middle", number(v));
  }
  for (double v : y.ticks()) {
    const double at = k_top + (1 - y.at(v)) * k_height;
    line(to, k_left, at, k_left + k_width, at, "#dddddd");
    text(to, k_left - 6, at + 4, "end", number(v));
  }
  text(to, k_left, 20, "start", c.title, " font-size='14'");
  text(to, k_left + k_width / 2, k_top + k_height + 34, "middle", c.x_label);
  text(to, 14, k_top - 10, "start", c.y_label);
}

} // namespace

void write_svg(std::ostream &to, const chart &c) {
  using point = std::pair<double, double>;
  const axis x(c.x, c, &point::first), y(c.y, c, &point::second);
  to << "<svg xmlns='http://www.w3.org/2000/svg' width='740' height='390' font-family='sans-serif' "
        "font-size='11'>\n"
     << "<rect width='740' height='390' fill='white'/>\n";
  frame(to, c, x, y);
  for (std::size_t i = 0; i < c.curves.size(); ++i) {
    const char *colour = k_colours[i % (sizeof k_colours / sizeof *k_colours)];
    std::vector<std::pair<std::string, std::string>> places;
    for (const auto &[px, py] : c.curves[i].points)
      if (x.knows(px) && y.knows(py))
        places.emplace_back(number(k_left + x.at(px) * k_width, "%.1f"),
                            number(k_top + (1 - y.at(py)) * k_height, "%.1f"));
    if (places.size() == 1) {
      to << "<circle r='" << 3 + 2 * i << "' fill='none' stroke-width='2' stroke='" << colour << "' cx='" << places[0].first << "' cy='"
         << places[0].second << "'/>\n";
    } else {
      to << "<polyline fill='none' stroke-width='1.6' stroke='" << colour << "' points='";
      for (const auto &[px, py] : places)
        to << px << ',' << py << ' ';
      to << "'/>\n";
    }
    const double at = k_top + 14 + 16 * static_cast<double>(i);
    line(to, k_left + k_width + 12, at - 4, k_left + k_width + 30, at - 4, colour);
    text(to, k_left + k_width + 36, at, "start", c.curves[i].name);
  }
  to << "</svg>\n";
}

} // namespace manager_model
