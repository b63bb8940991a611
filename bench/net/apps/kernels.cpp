// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <cmath>

namespace net_bench {

namespace {

constexpr double k_soft = 0.01, k_time = 1e-3; // of bodies: least distance, time step

} // namespace

double first_value(std::uint64_t element) noexcept {
  std::uint64_t x = element * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
  return static_cast<double>((x ^ (x >> 29)) >> 11) * 0x1p-53;
}

void jacobi_block(double *to, const double *from, const plate_block &shape) noexcept {
  for (std::size_t r = 0; r != shape.rows; ++r) {
    const double *const row = from + r * shape.stride;
    const double *const up = r == 0 ? shape.above : row - shape.stride;
    const double *const down = r + 1 == shape.rows ? shape.below : row + shape.stride;
    double *const out = to + r * shape.stride;
    for (std::size_t c = 0; c != shape.columns; ++c)
      out[c] = 0.25 * ((up[c] + down[c]) + (row[c - 1] + row[c + 1]));
  }
}

void gauss_seidel_block(double *cells, const plate_block &shape) noexcept {
  for (std::size_t r = 0; r != shape.rows; ++r) {
    double *const row = cells + r * shape.stride;
    const double *const up = r == 0 ? shape.above : row - shape.stride;
    const double *const down = r + 1 == shape.rows ? shape.below : row + shape.stride;
    for (std::size_t c = 0; c != shape.columns; ++c)
      row[c] = 0.25 * ((up[c] + down[c]) + (row[c - 1] + row[c + 1]));
  }
}

void forces_block(double *forces, const double *bodies, const double *others,
                  std::size_t count) noexcept {
  const double *const x = bodies, *const y = x + count, *const z = y + count, *const m = z + count;
  double *const fx = forces, *const fy = fx + count, *const fz = fy + count;
  for (std::size_t k = 0; k != count; ++k) {
    const double ox = others[k], oy = others[count + k], oz = others[2 * count + k],
                 om = others[3 * count + k];
    for (std::size_t i = 0; i != count; ++i) {
      const double dx = ox - x[i], dy = oy - y[i], dz = oz - z[i];
      const double square = dx * dx + dy * dy + dz * dz + k_soft;
      const double pull = m[i] * om / (square * std::sqrt(square));
      fx[i] += pull * dx;
      fy[i] += pull * dy;
      fz[i] += pull * dz;
    }
  }
}

void move_block(double *bodies, double *speeds, double *forces, std::size_t count) noexcept {
  const double *const m = bodies + 3 * count;
  for (std::size_t d = 0; d != 3; ++d)
    for (std::size_t i = 0; i != count; ++i) {
      const std::size_t at = d * count + i;
      speeds[at] += k_time * forces[at] / m[i];
      bodies[at] += k_time * speeds[at];
      forces[at] = 0;
    }
}

void multiply_block(double *c, std::size_t c_stride, const double *a, std::size_t a_stride,
                    const double *b, std::size_t rows, std::size_t columns,
                    std::size_t depth) noexcept {
  for (std::size_t r = 0; r != rows; ++r) {
    double *const out = c + r * c_stride;
    for (std::size_t k = 0; k != depth; ++k) {
      const double factor = a[r * a_stride + k];
      const double *const in = b + k * columns;
      for (std::size_t i = 0; i != columns; ++i)
        out[i] += factor * in[i];
    }
  }
}

std::vector<double> serial_jacobi(std::size_t rows, std::size_t columns, int rounds) {
  std::vector<double> from(rows * columns), to(rows * columns);
  for (std::size_t i = 0; i != from.size(); ++i)
    from[i] = first_value(i);
  for (int round = 0; round != rounds; ++round) {
    for (std::size_t r = 0; r != rows; ++r)
      for (std::size_t c = 0; c != columns; ++c) {
        const std::size_t at = r * columns + c;
        const double up = r == 0 ? k_edge : from[at - columns];
        const double down = r + 1 == rows ? 0 : from[at + columns];
        const double left = c == 0 ? 0 : from[at - 1];
        const double right = c + 1 == columns ? 0 : from[at + 1];
        to[at] = 0.25 * ((up + down) + (left + right));
      }
    from.swap(to);
  }
  return from;
}

std::vector<double> serial_gauss_seidel(std::size_t rows, std::size_t columns, int rounds) {
  std::vector<double> plate(rows * columns);
  for (std::size_t i = 0; i != plate.size(); ++i)
    plate[i] = first_value(i);
  for (int round = 0; round != rounds; ++round)
    for (std::size_t r = 0; r != rows; ++r)
      for (std::size_t c = 0; c != columns; ++c) {
        const std::size_t at = r * columns + c;
        const double up = r == 0 ? k_edge : plate[at - columns];
        const double down = r + 1 == rows ? 0 : plate[at + columns];
        const double left = c == 0 ? 0 : plate[at - 1];
        const double right = c + 1 == columns ? 0 : plate[at + 1];
        plate[at] = 0.25 * ((up + down) + (left + right));
      }
  return plate;
}

std::vector<double> serial_nbody(std::size_t count, std::size_t ranks, int rounds) {
  std::vector<double> bodies(count * k_body), speeds(count * 3), forces(count * 3);
  for (std::size_t i = 0; i != bodies.size(); ++i)
    bodies[i] = first_value(i);
  const std::size_t own = count / ranks;
  for (int round = 0; round != rounds; ++round) {
    for (std::size_t i = 0; i != count; ++i)
      for (std::size_t step = 0; step != ranks; ++step) {
        const std::size_t from = (i / own + ranks - step) % ranks * own;
        for (std::size_t k = from; k != from + own; ++k) {
          const double dx = bodies[k] - bodies[i], dy = bodies[count + k] - bodies[count + i],
                       dz = bodies[2 * count + k] - bodies[2 * count + i];
          const double square = dx * dx + dy * dy + dz * dz + k_soft;
          const double pull =
              bodies[3 * count + i] * bodies[3 * count + k] / (square * std::sqrt(square));
          forces[i] += pull * dx;
          forces[count + i] += pull * dy;
          forces[2 * count + i] += pull * dz;
        }
      }
    for (std::size_t d = 0; d != 3; ++d)
      for (std::size_t i = 0; i != count; ++i) {
        const std::size_t at = d * count + i;
        speeds[at] += k_time * forces[at] / bodies[3 * count + i];
        bodies[at] += k_time * speeds[at];
        forces[at] = 0;
      }
  }
  return bodies;
}

std::vector<double> serial_matmul(std::size_t size, std::size_t ranks, std::size_t rank,
                                  int rounds) {
  const std::size_t own = size / ranks, all = size * size;
  std::vector<double> product(own * size);
  for (int round = 0; round != rounds; ++round)
    for (std::size_t r = 0; r != own; ++r)
      for (std::size_t step = 0; step != ranks; ++step) {
        const std::size_t from = (rank + ranks - step) % ranks * own;
        for (std::size_t k = from; k != from + own; ++k) {
          const double factor = first_value((rank * own + r) * size + k);
          for (std::size_t c = 0; c != size; ++c)
            product[r * size + c] += factor * first_value(all + k * size + c);
        }
      }
  return product;
}

} // namespace net_bench
