// SPDX-License-Identifier: Apache-2.0
#include "intersim.hpp"

#include "../support/random.hpp"

#include <algorithm>

namespace inncabs {

intersim::intersim(const sizes &s)
    : m_side(static_cast<std::uint32_t>(s["side"])), m_steps(s["steps"]), m_work(s["work"]),
      m_vehicles(s.count("vehicles")), m_town(std::size_t(m_side) * m_side) {}

void intersim::reset() {
  m_town.assign(m_town.size(), {});
  for (std::size_t i = 0; i < m_vehicles.size(); ++i) {
    vehicle v;
    v.seed = mix(i + 1);
    v.at = static_cast<std::uint32_t>(v.seed % m_town.size());
    m_vehicles[i] = v;
    m_town[v.at].vehicles.push_back(static_cast<std::uint32_t>(i));
  }
}

// The town has no edge: the last column is beside the first one.
intersim::route intersim::next_route(const vehicle &v) const {
  const std::uint32_t row = v.at / m_side, column = v.at % m_side;
  const auto number = [this](std::uint32_t r, std::uint32_t c) {
    return r % m_side * m_side + c % m_side;
  };
  switch (mix(v.seed + v.crossed) % 4) {
  case 0:
    return {v.at, number(row, column + 1), 2 * v.at};
  case 1:
    return {v.at, number(row + 1, column), 2 * v.at + 1};
  case 2: {
    const std::uint32_t to = number(row, column + m_side - 1);
    return {v.at, to, 2 * to};
  }
  default: {
    const std::uint32_t to = number(row + m_side - 1, column);
    return {v.at, to, 2 * to + 1};
  }
  }
}

/// Accelerates the vehicle against the air, and brakes it at the end of the road.
void intersim::drive(vehicle &v) const {
  constexpr double dt = 0.05, engine = 3, drag = 0.01;
  double speed = v.speed;
  for (long i = 0; i < m_work; ++i) {
    speed += dt * (engine - drag * speed * speed);
    v.metres += dt * speed;
  }
  v.speed = 0.3 * speed;
}

void intersim::cross(vehicle &v, const route &r) {
  const auto number = static_cast<std::uint32_t>(&v - m_vehicles.data());
  std::vector<std::uint32_t> &here = m_town[r.from].vehicles;
  *std::find(here.begin(), here.end(), number) = here.back();
  here.pop_back();
  m_town[r.to].vehicles.push_back(number);
  ++m_town[r.to].entered;
  ++m_town[r.road / 2].on_road[r.road % 2];
  v.at = r.to;
  ++v.crossed;
}

std::vector<double> intersim::state() const {
  std::vector<double> all;
  for (const vehicle &v : m_vehicles)
    all.insert(all.end(), {static_cast<double>(v.at), v.speed, v.metres});
  for (const intersection &i : m_town)
    for (const std::uint64_t n : {i.entered, i.on_road[0], i.on_road[1]})
      all.push_back(static_cast<double>(n));
  return all;
}

std::string intersim::check() const {
  std::size_t present = 0;
  for (std::size_t i = 0; i < m_town.size(); ++i) {
    present += m_town[i].vehicles.size();
    for (const std::uint32_t number : m_town[i].vehicles)
      if (m_vehicles[number].at != i)
        return "intersim has a vehicle at a wrong intersection";
  }
  if (present != m_vehicles.size())
    return "intersim has " + std::to_string(present) + " vehicles";
  return state() == m_expected ? "" : "intersim differs from the serial run";
}

} // namespace inncabs
