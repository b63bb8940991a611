// SPDX-License-Identifier: Apache-2.0
#include "sizes.hpp"

#include <charconv>
#include <stdexcept>

namespace inncabs {

sizes::sizes(std::span<const parameter> all, bool tiny) : m_all(all) {
  for (const parameter &p : all)
    m_values.push_back(tiny ? p.tiny : p.value);
}

void sizes::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string name(assignment.substr(0, equals));
  const std::string_view text =
      equals == std::string_view::npos ? "" : assignment.substr(equals + 1);
  for (std::size_t i = 0; i < m_all.size(); ++i) {
    const parameter &p = m_all[i];
    if (name != p.name)
      continue;
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < p.least ||
        value > p.most)
      throw std::runtime_error("size " + name + " wants a number from " + std::to_string(p.least) +
                               " to " + std::to_string(p.most) + ", not '" + std::string(text) +
                               "'");
    m_values[i] = value;
    return;
  }
  throw std::runtime_error("no size is called '" + name + "'; this program has: " + this->text());
}

long sizes::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < m_all.size(); ++i)
    if (name == m_all[i].name)
      return m_values[i];
  throw std::logic_error("no size is called " + std::string(name));
}

std::string sizes::text() const {
  std::string all;
  for (std::size_t i = 0; i < m_all.size(); ++i)
    all.append(i ? " " : "").append(m_all[i].name).append("=").append(std::to_string(m_values[i]));
  return all;
}

} // namespace inncabs
