// SPDX-License-Identifier: Apache-2.0
// Artificial viscosity, equation of state, and the limits that both set to the time step.
#include "domain.hpp"

#include <cstdio>
#include <cstdlib>

namespace sedov {
namespace {

constexpr double k_tiny = 1e-36;
constexpr double k_cut = 1e-7; // below this, energies, pressures and viscosities are zero
constexpr double k_volume_cut = 1e-10;
constexpr double k_volume_min = 1e-9, k_volume_max = 1e9;
constexpr double k_energy_min = -1e15;
constexpr double k_viscosity_stop = 1e12;
constexpr double k_slope_max = 1.0, k_limiter = 2.0;
constexpr double k_linear = 0.5, k_quadratic = 2.0 / 3.0;
constexpr double k_courant = 2.0;
constexpr double k_volume_change_max = 0.1;
constexpr double k_gamma_less_1 = 2.0 / 3.0;
constexpr double k_step_max = 1e-2, k_ratio_low = 1.1, k_ratio_high = 1.2;

double cut(double value) { return std::fabs(value) < k_cut ? 0.0 : value; }

/// Returns how smooth the velocity is along one axis, from 0 (a shock) to 1; `before` and `after`
/// are the differences in the neighbours.
double smoothness(double here, double before, double after) {
  const double norm = 1 / (here + k_tiny);
  const double low = before * norm, high = after * norm;
  const double mean = 0.5 * (low + high);
  return std::clamp(std::min({mean, k_limiter * low, k_limiter * high}), 0.0, k_slope_max);
}

struct viscosity_terms {
  double linear = 0, quadratic = 0;
};

/// Returns the monotonic artificial viscosity after Christensen; only elements under compression
/// have any.
viscosity_terms viscosity(const domain &d, int i, int j, int k) {
  const element &e = d.elements[d.element_at(i, j, k)];
  if (e.divergence > 0)
    return {};
  const auto along = [&](double vec3::*axis, int at, int stride) {
    const double here = e.velocity_difference.*axis;
    // A plane of symmetry mirrors the element; beyond the free surface there is nothing.
    const double before = at == 0 ? here : (&e - stride)->velocity_difference.*axis;
    const double after = at == d.size - 1 ? 0 : (&e + stride)->velocity_difference.*axis;
    return smoothness(here, before, after);
  };
  const double smooth[3] = {along(&vec3::x, i, 1), along(&vec3::y, j, d.size),
                            along(&vec3::z, k, d.size * d.size)};
  const vec3 &v = e.velocity_difference, &p = e.position_difference;
  const double jump[3] = {std::min(v.x * p.x, 0.0), std::min(v.y * p.y, 0.0),
                          std::min(v.z * p.z, 0.0)};
  viscosity_terms sum;
  for (int a = 0; a < 3; ++a) {
    sum.linear += jump[a] * (1 - smooth[a]);
    sum.quadratic += jump[a] * jump[a] * (1 - smooth[a] * smooth[a]);
  }
  const double density = e.mass / (e.reference_volume * e.new_volume);
  return {-k_linear * density * sum.linear, k_quadratic * density * sum.quadratic};
}

double pressure_of(double energy, double compression, double volume) {
  if (volume >= k_volume_max)
    return 0;
  return std::max(cut(k_gamma_less_1 * (compression + 1) * energy), 0.0);
}

double sound_speed_of(double energy, double pressure, double compression, double volume) {
  const double squared =
      k_gamma_less_1 * energy + volume * volume * k_gamma_less_1 * (compression + 1) * pressure;
  return squared <= 0.1111111e-36 ? 0.3333333e-18 : std::sqrt(squared);
}

/// Brings energy, pressure and viscosity to the new volume: a predictor with the half step's pressure, and
/// two corrections. `volume` is the new one, within the bounds of the equation of state.
void equation_of_state(element &e, double volume, const viscosity_terms &terms) {
  const double change = e.volume_change;
  const double compression = 1 / volume - 1;
  const double half = volume <= k_volume_min ? compression : 1 / (volume - 0.5 * change) - 1;
  const double old = e.pressure + e.viscosity;
  const auto viscosity_at = [&](double energy, double pressure, double c, double v) {
    return change > 0 ? 0 : sound_speed_of(energy, pressure, c, v) * terms.linear + terms.quadratic;
  };

  double energy = std::max(e.energy - 0.5 * change * old, k_energy_min);
  const double half_pressure = pressure_of(energy, half, volume);
  const double half_viscosity = viscosity_at(energy, half_pressure, half, 1 / (1 + half));

  energy += 0.5 * change * (3 * old - 4 * (half_pressure + half_viscosity));
  energy = std::max(cut(energy), k_energy_min);
  double pressure = pressure_of(energy, compression, volume);
  const double new_viscosity = viscosity_at(energy, pressure, compression, volume);

  energy -=
      (7 * old - 8 * (half_pressure + half_viscosity) + (pressure + new_viscosity)) * change / 6;
  energy = std::max(cut(energy), k_energy_min);
  pressure = pressure_of(energy, compression, volume);

  e.viscosity =
      change <= 0 ? cut(viscosity_at(energy, pressure, compression, volume)) : half_viscosity;
  e.energy = energy;
  e.pressure = pressure;
  e.sound_speed = sound_speed_of(energy, pressure, compression, volume);
}

limits limits_of(const element &e) {
  if (e.divergence == 0)
    return {};
  const double spread = 8 * k_courant * e.length * e.divergence;
  const double speed =
      std::sqrt(e.sound_speed * e.sound_speed + (e.divergence < 0 ? spread * spread : 0));
  return {e.length / speed, k_volume_change_max / (std::fabs(e.divergence) + 1e-20)};
}

[[noreturn]] void broken(const char *what, int i, int j, int k) {
  std::fprintf(stderr, "lulesh: element (%d, %d, %d) has %s\n", i, j, k, what);
  std::abort();
}

} // namespace

void update_material(domain &d, block &b) {
  app::count_task();
  limits found;
  for (int k = b.elements[2].begin; k < b.elements[2].end; ++k)
    for (int j = b.elements[1].begin; j < b.elements[1].end; ++j)
      for (int i = b.elements[0].begin; i < b.elements[0].end; ++i) {
        element &e = d.elements[d.element_at(i, j, k)];
        if (!(e.new_volume > 0))
          broken("no volume left", i, j, k);
        equation_of_state(e, std::clamp(e.new_volume, k_volume_min, k_volume_max),
                          viscosity(d, i, j, k));
        if (!(e.viscosity <= k_viscosity_stop))
          broken("too much viscosity", i, j, k);
        e.volume = std::fabs(e.new_volume - 1) < k_volume_cut ? 1.0 : e.new_volume;
        found = combine(found, limits_of(e));
      }
  b.found = found;
}

void advance_clock(domain &d, limits found) {
  app::count_task();
  clock &now = d.now;
  if (now.cycle != 0) {
    // The margins differ, and the published runs compare before the second one is taken.
    double next = found.courant / 2;
    if (found.hydro < next)
      next = found.hydro * 2 / 3;
    const double ratio = next / now.step;
    if (ratio >= 1 && ratio < k_ratio_low)
      next = now.step;
    else if (ratio > k_ratio_high)
      next = now.step * k_ratio_high;
    now.step = std::min(next, k_step_max);
  }
  // The last steps share what is left, so that none of them is tiny.
  double left = domain::k_end - now.time;
  if (left > now.step && left < 4 * now.step / 3)
    left = 2 * now.step / 3;
  now.step = std::min(now.step, left);
  now.time += now.step;
  ++now.cycle;
}

} // namespace sedov
