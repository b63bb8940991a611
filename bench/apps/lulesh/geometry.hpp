// SPDX-License-Identifier: Apache-2.0
// Geometry of a hexahedron. Corners 0 1 2 3 go around its lower face, 4 5 6 7 lie above them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace sedov {

struct vec3 {
  double x = 0, y = 0, z = 0;
};

inline vec3 operator+(const vec3 &a, const vec3 &b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline vec3 operator-(const vec3 &a, const vec3 &b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline vec3 operator-(const vec3 &a) { return {-a.x, -a.y, -a.z}; }
inline vec3 operator*(double s, const vec3 &a) { return {s * a.x, s * a.y, s * a.z}; }
inline vec3 &operator+=(vec3 &a, const vec3 &b) { return a = a + b; }
inline double dot(const vec3 &a, const vec3 &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline vec3 cross(const vec3 &a, const vec3 &b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

using corners = std::array<vec3, 8>;

inline constexpr int k_faces[6][4] = {{0, 1, 2, 3}, {0, 4, 5, 1}, {1, 5, 6, 2},
                                      {2, 6, 7, 3}, {3, 7, 4, 0}, {4, 7, 6, 5}};

/// Returns the exact volume of a hexahedron whose faces are bilinear (Grandy, UCRL-ID-128886).
inline double volume(const corners &c) {
  const double triple = dot((c[3] - c[1]) + (c[7] - c[2]), cross(c[6] - c[3], c[2] - c[0])) +
                        dot((c[4] - c[3]) + (c[5] - c[7]), cross(c[6] - c[4], c[7] - c[0])) +
                        dot((c[1] - c[4]) + (c[2] - c[5]), cross(c[6] - c[1], c[5] - c[0]));
  return triple / 12;
}

/// Returns the derivatives of the volume by the position of each corner. A corner has three edge
/// neighbours and shares a face diagonal with three more; each row lists them in the order of the
/// sums below.
inline corners volume_gradient(const corners &c) {
  static constexpr int k_around[8][6] = {{1, 2, 3, 4, 5, 7}, {2, 3, 0, 5, 6, 4}, {3, 0, 1, 6, 7, 5},
                                         {0, 1, 2, 7, 4, 6}, {7, 6, 5, 0, 3, 1}, {4, 7, 6, 1, 0, 2},
                                         {5, 4, 7, 2, 1, 3}, {6, 5, 4, 3, 2, 0}};
  corners d;
  for (int i = 0; i < 8; ++i) {
    const int *n = k_around[i];
    const auto sum = [&](int a, int b) { return c[n[a]] + c[n[b]]; };
    d[i] = (1.0 / 12) * (cross(sum(1, 2), sum(0, 1)) + cross(sum(0, 4), sum(3, 4)) +
                         cross(sum(3, 5), sum(2, 5)));
  }
  return d;
}

/// Returns, for each corner, the sum over its three faces of a quarter of the face's area vector.
inline corners corner_normals(const corners &c) {
  corners n{};
  for (const auto &f : k_faces) {
    const vec3 a = 0.5 * (c[f[3]] + c[f[2]] - c[f[1]] - c[f[0]]);
    const vec3 b = 0.5 * (c[f[2]] + c[f[1]] - c[f[3]] - c[f[0]]);
    const vec3 quarter = 0.25 * cross(a, b);
    for (const int corner : f)
      n[corner] += quarter;
  }
  return n;
}

/// Returns the derivatives of the trilinear shape functions at the centre, times the Jacobian, for
/// corners 0 to 3 (those of 6, 7, 4 and 5 are their negatives), and the Jacobian determinant.
struct shape {
  std::array<vec3, 4> gradient;
  double determinant;
};

inline shape shape_at_centre(const corners &c) {
  const vec3 d60 = c[6] - c[0], d53 = c[5] - c[3], d71 = c[7] - c[1], d42 = c[4] - c[2];
  const vec3 along_xi = 0.125 * (d60 + d53 - d71 - d42);
  const vec3 along_eta = 0.125 * (d60 - d53 + d71 - d42);
  const vec3 along_zeta = 0.125 * (d60 + d53 + d71 + d42);
  const vec3 xi = cross(along_eta, along_zeta), eta = cross(along_zeta, along_xi),
             zeta = cross(along_xi, along_eta);
  return {{-xi - eta - zeta, xi - eta - zeta, xi + eta - zeta, eta - xi - zeta},
          8 * dot(along_eta, eta)};
}

/// Returns the volume over the root of the largest face: the length that sound has to cross.
inline double characteristic_length(const corners &c, double volume) {
  double largest = 0;
  for (const auto &f : k_faces) {
    const vec3 p = c[f[2]] - c[f[0]], q = c[f[3]] - c[f[1]];
    const vec3 a = p - q, b = p + q;
    largest = std::max(largest, dot(a, a) * dot(b, b) - dot(a, b) * dot(a, b));
  }
  return 4 * volume / std::sqrt(largest);
}

} // namespace sedov
