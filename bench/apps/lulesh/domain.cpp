// SPDX-License-Identifier: Apache-2.0
#include "domain.hpp"

namespace sedov {
namespace {

constexpr double k_edge = 1.125;        // of the cube
constexpr double k_blast = 3.948746e+7; // energy at the origin for 45 elements along the edge
constexpr double k_blast_elements = 45;

corners positions(const domain &d, int i, int j, int k) {
  corners c;
  const int lower = d.node_at(i, j, k), upper = d.node_at(i, j, k + 1), row = d.size + 1;
  const int at[8] = {lower, lower + 1, lower + row + 1, lower + row,
                     upper, upper + 1, upper + row + 1, upper + row};
  for (int n = 0; n < 8; ++n)
    c[n] = d.nodes[at[n]].position;
  return c;
}

void place_nodes(domain &d) {
  const auto along = [&](int i) { return k_edge * i / d.size; };
  for (int k = 0; k <= d.size; ++k)
    for (int j = 0; j <= d.size; ++j)
      for (int i = 0; i <= d.size; ++i)
        d.nodes[d.node_at(i, j, k)] = {{along(i), along(j), along(k)}, {}, 0};
}

void fill_elements(domain &d) {
  for (int k = 0; k < d.size; ++k)
    for (int j = 0; j < d.size; ++j)
      for (int i = 0; i < d.size; ++i) {
        element &e = d.elements[d.element_at(i, j, k)];
        e = {};
        e.mass = e.reference_volume = volume(positions(d, i, j, k));
        for (int n = 0; n < 8; ++n)
          d.nodes[d.node_at(i + (n & 1), j + (n >> 1 & 1), k + (n >> 2))].mass += e.mass / 8;
      }
}

void make_blocks(domain &d, int tile) {
  const int along = (d.size + tile - 1) / tile;
  const auto inside = [&](int i) { return i >= 0 && i < along; };
  const auto index = [&](int i, int j, int k) { return (k * along + j) * along + i; };
  for (int k = 0; k < along; ++k)
    for (int j = 0; j < along; ++j)
      for (int i = 0; i < along; ++i) {
        block &b = d.blocks.emplace_back();
        const int at[3] = {i, j, k};
        for (int a = 0; a < 3; ++a) {
          b.elements[a] = {at[a] * tile, std::min((at[a] + 1) * tile, d.size)};
          b.nodes[a] = {b.elements[a].begin, b.elements[a].end + (at[a] + 1 == along)};
        }
        for (int n = 0; n < 8; ++n) {
          const int x = n & 1, y = n >> 1 & 1, z = n >> 2;
          if (inside(i + x) && inside(j + y) && inside(k + z))
            b.upper.push_back(index(i + x, j + y, k + z));
          if (inside(i - x) && inside(j - y) && inside(k - z))
            b.lower.push_back(index(i - x, j - y, k - z));
        }
        b.faces.push_back(index(i, j, k));
        for (const int side : {-1, 1}) {
          if (inside(i + side))
            b.faces.push_back(index(i + side, j, k));
          if (inside(j + side))
            b.faces.push_back(index(i, j + side, k));
          if (inside(k + side))
            b.faces.push_back(index(i, j, k + side));
        }
      }
}

} // namespace

domain::domain(int edge, int tile) : size(edge) {
  nodes.resize(static_cast<std::size_t>(size + 1) * (size + 1) * (size + 1));
  elements.resize(static_cast<std::size_t>(size) * size * size);
  make_blocks(*this, tile);
  restore();
}

void domain::restore() {
  place_nodes(*this);
  fill_elements(*this);
  for (block &b : blocks)
    b.found = {};
  least = {};
  const double scale = size / k_blast_elements;
  elements[0].energy = k_blast * scale * scale * scale;
  now = {};
  now.step = 0.5 * std::cbrt(elements[0].reference_volume) / std::sqrt(2 * elements[0].energy);
}

limits domain::found() const {
  limits least;
  for (const block &b : blocks)
    least = combine(least, b.found);
  return least;
}

} // namespace sedov
