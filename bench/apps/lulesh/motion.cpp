// SPDX-License-Identifier: Apache-2.0
// Forces at the nodes, the motion of the nodes that follows, and the elements' new shape.
#include "domain.hpp"

namespace sedov {
namespace {

constexpr double k_hourglass = 3.0;
constexpr double k_velocity_cut = 1e-7;
constexpr double k_tiny = 1e-36;

/// Lists the base vectors of the four hourglass modes of a hexahedron (Flanagan and Belytschko
/// 1981).
constexpr double k_mode[4][8] = {{1, 1, -1, -1, -1, -1, 1, 1},
                                 {1, -1, -1, 1, -1, 1, 1, -1},
                                 {1, -1, 1, -1, 1, -1, 1, -1},
                                 {-1, 1, -1, 1, 1, -1, 1, -1}};

template <class F>
void for_all(const range (&r)[3], F f) {
  for (int k = r[2].begin; k < r[2].end; ++k)
    for (int j = r[1].begin; j < r[1].end; ++j)
      for (int i = r[0].begin; i < r[0].end; ++i)
        f(i, j, k);
}

struct corner_data {
  corners position, velocity;
};

corner_data gather(const domain &d, int i, int j, int k) {
  corner_data c;
  const int row = d.size + 1, plane = row * row, first = d.node_at(i, j, k);
  const int at[4] = {first, first + 1, first + row + 1, first + row};
  for (int n = 0; n < 8; ++n) {
    const node &from = d.nodes[at[n & 3] + (n < 4 ? 0 : plane)];
    c.position[n] = from.position;
    c.velocity[n] = from.velocity;
  }
  return c;
}

/// Damps the velocity modes that leave the volume of the element as it is.
void add_hourglass_force(element &e, const corner_data &c) {
  const double whole = e.reference_volume * e.volume;
  const double coefficient = -k_hourglass * 0.01 * e.sound_speed * e.mass / std::cbrt(whole);
  const corners gradient = volume_gradient(c.position);
  for (const auto &mode : k_mode) {
    vec3 moment;
    for (int n = 0; n < 8; ++n)
      moment += mode[n] * c.position[n];
    double shape[8];
    vec3 rate;
    for (int n = 0; n < 8; ++n) {
      shape[n] = mode[n] - dot(gradient[n], moment) / whole;
      rate += shape[n] * c.velocity[n];
    }
    for (int n = 0; n < 8; ++n)
      e.force[n] += coefficient * shape[n] * rate;
  }
}

vec3 without_noise(const vec3 &v) {
  const auto cut = [](double u) { return std::fabs(u) < k_velocity_cut ? 0.0 : u; };
  return {cut(v.x), cut(v.y), cut(v.z)};
}

/// Returns the sum of the corners at the end of an axis less the sum of those at its beginning,
/// over four.
vec3 across(const corners &c, const int (&end)[4], const int (&begin)[4]) {
  return 0.25 * ((c[end[0]] + c[end[1]] + c[end[2]] + c[end[3]]) -
                 (c[begin[0]] + c[begin[1]] + c[begin[2]] + c[begin[3]]));
}

/// Computes the differences of velocity and of position across the element, normal to each pair of
/// faces, for the monotonic artificial viscosity.
void measure_differences(element &e, const corner_data &c) {
  static constexpr int k_end[3][4] = {{1, 2, 6, 5}, {3, 2, 6, 7}, {4, 5, 6, 7}};
  static constexpr int k_begin[3][4] = {{0, 3, 7, 4}, {0, 1, 5, 4}, {0, 1, 2, 3}};
  const double whole = e.reference_volume * e.new_volume, per_volume = 1 / (whole + k_tiny);
  vec3 axis[3];
  for (int a = 0; a < 3; ++a)
    axis[a] = across(c.position, k_end[a], k_begin[a]);
  double velocity[3], position[3];
  for (int a = 0; a < 3; ++a) {
    const vec3 normal = cross(axis[(a + 1) % 3], axis[(a + 2) % 3]);
    position[a] = whole / std::sqrt(dot(normal, normal) + k_tiny);
    velocity[a] = dot(per_volume * normal, across(c.velocity, k_end[a], k_begin[a]));
  }
  e.velocity_difference = {velocity[0], velocity[1], velocity[2]};
  e.position_difference = {position[0], position[1], position[2]};
}

/// Returns the divergence of the velocity at the centre of the element in the middle of the step.
double divergence(const corner_data &c, double step) {
  corners middle;
  for (int n = 0; n < 8; ++n)
    middle[n] = c.position[n] - (0.5 * step) * c.velocity[n];
  const shape s = shape_at_centre(middle);
  static constexpr int k_opposite[4] = {6, 7, 4, 5};
  double sum = 0;
  for (int n = 0; n < 4; ++n)
    sum += dot(s.gradient[n], c.velocity[n] - c.velocity[k_opposite[n]]);
  return sum / s.determinant;
}

} // namespace

void compute_forces(domain &d, const block &b) {
  app::count_task();
  for_all(b.elements, [&](int i, int j, int k) {
    element &e = d.elements[d.element_at(i, j, k)];
    const corner_data c = gather(d, i, j, k);
    const corners normals = corner_normals(c.position);
    for (int n = 0; n < 8; ++n)
      e.force[n] = (e.pressure + e.viscosity) * normals[n];
    add_hourglass_force(e, c);
  });
}

void move_nodes(domain &d, const block &b) {
  app::count_task();
  static constexpr int k_corner[2][2] = {{0, 1}, {3, 2}}; // by y and x
  const double step = d.now.step;
  for_all(b.nodes, [&](int i, int j, int k) {
    node &n = d.nodes[d.node_at(i, j, k)];
    vec3 force;
    for (int z = std::max(0, k - d.size + 1); z <= std::min(1, k); ++z)
      for (int y = std::max(0, j - d.size + 1); y <= std::min(1, j); ++y)
        for (int x = std::max(0, i - d.size + 1); x <= std::min(1, i); ++x)
          force += d.elements[d.element_at(i - x, j - y, k - z)].force[k_corner[y][x] + 4 * z];
    vec3 acceleration = (1 / n.mass) * force;
    if (i == 0) // planes of symmetry
      acceleration.x = 0;
    if (j == 0)
      acceleration.y = 0;
    if (k == 0)
      acceleration.z = 0;
    n.velocity = without_noise(n.velocity + step * acceleration);
    n.position += step * n.velocity;
  });
}

void compute_motion(domain &d, const block &b) {
  app::count_task();
  const double step = d.now.step;
  for_all(b.elements, [&](int i, int j, int k) {
    element &e = d.elements[d.element_at(i, j, k)];
    const corner_data c = gather(d, i, j, k);
    const double whole = volume(c.position);
    e.new_volume = whole / e.reference_volume;
    e.volume_change = e.new_volume - e.volume;
    e.length = characteristic_length(c.position, whole);
    e.divergence = divergence(c, step);
    measure_differences(e, c);
  });
}

} // namespace sedov
