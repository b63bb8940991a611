// SPDX-License-Identifier: Apache-2.0
#include "chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace bench::apps {

namespace {

constexpr double k_width = 960, k_height = 450;
constexpr double k_panel_width = 400, k_panel_height = 280, k_top = 70;

struct style {
  const char *series, *colour, *dashes;
};
// Weft is dark and full, its ablations are dashed, the others have colours of their own.
constexpr style k_styles[] = {
    {"weft", "#1b1b3a", ""},
    {"weft:deps=locks", "#1f77b4", "6 3"},
    {"weft:delegated", "#17a2a2", "6 3"},
    {"weft:ticket", "#2e8b57", "6 3"},
    {"weft:mem=system", "#7a5195", "6 3"},
    {"libgomp", "#d62728", ""},
    {"libiomp5", "#e08214", ""},
    {"libomp", "#b8860b", ""},
    {"threads", "#888888", "2 3"},
    {"weft:taskfor", "#1b1b3a", "2 3"},
    {"weft:clang", "#1b1b3a", "8 3"},
    {"oss", "#2e8b57", "8 3"},
};

const style &style_of(const std::string &series) {
  for (const style &s : k_styles)
    if (series == s.series)
      return s;
  return k_styles[0];
}

std::string escaped(const std::string &text) {
  std::string out;
  for (const char c : text)
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

std::string number(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", v);
  return text;
}

/// Returns a number in short form: 1000 becomes 1k.
std::string power_label(int exponent) {
  static const char *const units[] = {"", "k", "M", "G"};
  const int unit = std::clamp(exponent / 3, 0, 3);
  return std::to_string(std::lround(std::pow(10, exponent - 3 * unit))) + units[unit];
}

/// Draws one of the two diagrams.
class panel {
 public:
  panel(std::ostream &to, double left, const std::vector<curve> &all) : m_to(to), m_left(left) {
    double least = 1e300, most = 0;
    for (const curve &c : all)
      for (const point &p : c.points) {
        least = std::min(least, p.instructions);
        most = std::max(most, p.instructions);
      }
    m_from = std::log10(least) - 0.05;
    m_to_x = std::log10(most) + 0.05;
  }

  void axes(const std::string &title) {
    text(m_left, k_top - 10, "start", title);
    for (int tenth = 0; tenth <= 10; tenth += 2) {
      line(m_left, y(tenth / 10.0), m_left + k_panel_width, y(tenth / 10.0),
           tenth ? "#dddddd" : "#444444");
      text(m_left - 6, y(tenth / 10.0) + 4, "end", number(tenth / 10.0));
    }
    for (int exponent = static_cast<int>(std::ceil(m_from)); exponent <= m_to_x; ++exponent) {
      line(x(exponent), k_top, x(exponent), k_top + k_panel_height, "#dddddd");
      text(x(exponent), k_top + k_panel_height + 16, "middle", power_label(exponent));
    }
    text(m_left + k_panel_width / 2, k_top + k_panel_height + 34, "middle",
         "instructions per task");
  }

  void half_line() { line(m_left, y(0.5), m_left + k_panel_width, y(0.5), "#999999", "4 4"); }

  void draw(const curve &c, double point::*value) {
    const style &s = style_of(c.series);
    m_to << "<polyline fill=\"none\" stroke-width=\"" << (c.series == "weft" ? 2.5 : 1.5)
         << "\" stroke=\"" << s.colour << "\" stroke-dasharray=\"" << s.dashes << "\" points=\"";
    for (const point &p : c.points)
      m_to << number(x(std::log10(p.instructions))) << ',' << number(y(p.*value)) << ' ';
    m_to << "\"/>\n";
    for (const point &p : c.points)
      m_to << "<circle r=\"2.5\" fill=\"" << s.colour << "\" cx=\""
           << number(x(std::log10(p.instructions))) << "\" cy=\"" << number(y(p.*value))
           << "\"><title>" << escaped(c.series) << ", tile " << p.tile << ": "
           << number(100 * p.*value) << " %</title></circle>\n";
  }

  void text(double at_x, double at_y, const char *anchor, const std::string &what, int size = 12) {
    m_to << "<text x=\"" << number(at_x) << "\" y=\"" << number(at_y) << "\" font-size=\"" << size
         << "\" text-anchor=\"" << anchor << "\">" << escaped(what) << "</text>\n";
  }

  void line(double x1, double y1, double x2, double y2, const char *colour, const char *dashes = "",
            double width = 1) {
    m_to << "<line x1=\"" << number(x1) << "\" y1=\"" << number(y1) << "\" x2=\"" << number(x2)
         << "\" y2=\"" << number(y2) << "\" stroke=\"" << colour << "\" stroke-dasharray=\""
         << dashes << "\" stroke-width=\"" << width << "\"/>\n";
  }

 private:
  [[nodiscard]] double x(double exponent) const {
    return m_left + (exponent - m_from) / (m_to_x - m_from) * k_panel_width;
  }
  /// Returns the vertical position; efficiencies above 1.1 (a cache that holds half of the data)
  /// stay in the picture.
  [[nodiscard]] double y(double value) const {
    return k_top + k_panel_height * (1 - std::clamp(value, 0.0, 1.1) / 1.1);
  }

  std::ostream &m_to;
  double m_left, m_from, m_to_x;
};

/// Writes the legend, with as many names in a row as fit.
void legend(panel &p, const std::vector<curve> &all) {
  double x = 60, y = k_height - 36;
  for (const curve &c : all) {
    const double width = 54 + 7.0 * static_cast<double>(c.series.size());
    if (x + width > k_width) {
      x = 60;
      y += 20;
    }
    const style &s = style_of(c.series);
    p.line(x, y, x + 26, y, s.colour, s.dashes, c.series == "weft" ? 2.5 : 1.5);
    p.text(x + 32, y + 4, "start", c.series);
    x += width;
  }
}

} // namespace

void write_chart(std::ostream &to, const std::string &title, const std::string &note,
                 const std::vector<curve> &all) {
  to << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << k_width << "\" height=\""
     << k_height << "\" viewBox=\"0 0 " << k_width << ' ' << k_height
     << "\" font-family=\"sans-serif\">\n"
     << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  panel efficiency(to, 60, all), performance(to, 530, all);
  efficiency.text(60, 26, "start", title, 17);
  efficiency.text(60, 44, "start", note);
  efficiency.axes("efficiency: serial time of the kernels / (time x workers)");
  efficiency.half_line();
  performance.axes("performance over the best seen");
  for (const curve &c : all) {
    efficiency.draw(c, &point::efficiency);
    performance.draw(c, &point::relative);
  }
  legend(efficiency, all);
  to << "</svg>\n";
}

} // namespace bench::apps
