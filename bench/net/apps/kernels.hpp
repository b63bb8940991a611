// SPDX-License-Identifier: Apache-2.0
// The kernels, which all versions share, and the serial programs that each result is compared with. These
// know no blocks; a rank compares all bits, because both add in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace net_bench {

/// Returns the value that an element has at the begin, in [0, 1).
[[nodiscard]] double first_value(std::uint64_t element) noexcept;

inline constexpr double k_edge = 1; // of the plate: above its first row; 0 elsewhere

/// Is a part of a plate, in rows of `stride` doubles. `above` and `below` are the rows beside it; left and
/// right of each row is one more value.
struct plate_block {
  std::size_t rows, columns, stride;
  const double *above, *below;
};
/// Computes a step of Jacobi's method.
void jacobi_block(double *to, const double *from, const plate_block &shape) noexcept;
/// Computes one of Gauss and Seidel, in place.
void gauss_seidel_block(double *cells, const plate_block &shape) noexcept;

/// Is the layout of a block of `count` bodies: three coordinates, then masses.
inline constexpr std::size_t k_body = 4, k_force = 3;
/// Adds the forces of the bodies `others` on `bodies`; a body has none on itself.
void forces_block(double *forces, const double *bodies, const double *others,
                  std::size_t count) noexcept;
/// Moves bodies by their forces, which are then 0.
void move_block(double *bodies, double *speeds, double *forces, std::size_t count) noexcept;

/// Adds a product: C (rows x columns, stride c) += A (rows x depth, stride a) * B (depth x columns).
void multiply_block(double *c, std::size_t c_stride, const double *a, std::size_t a_stride,
                    const double *b, std::size_t rows, std::size_t columns,
                    std::size_t depth) noexcept;

/// @{ Computes a whole problem serially. The plates are rows x columns; the bodies count * k_body values by
/// coordinate (all x, all y, all z, all masses); the product's rows are those of one rank.
[[nodiscard]] std::vector<double> serial_jacobi(std::size_t rows, std::size_t columns, int rounds);
[[nodiscard]] std::vector<double> serial_gauss_seidel(std::size_t rows, std::size_t columns,
                                                      int rounds);
/// The bodies of rank q act on those of rank r in the order r, r - 1, ..., as they travel on a ring.
[[nodiscard]] std::vector<double> serial_nbody(std::size_t count, std::size_t ranks, int rounds);
[[nodiscard]] std::vector<double> serial_matmul(std::size_t size, std::size_t ranks,
                                                std::size_t rank, int rounds);
/// @}

} // namespace net_bench
