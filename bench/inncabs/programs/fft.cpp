// SPDX-License-Identifier: Apache-2.0
#include "fft.hpp"

#include "../support/random.hpp"

#include <cmath>
#include <numbers>

namespace inncabs {

namespace {

/// Multiplies without the special cases of infinities that operator* has.
inline fft::number product(fft::number a, fft::number b) noexcept {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

} // namespace

fft::fft(const sizes &s)
    : m_leaf(s.count("leaf")), m_in(std::size_t(1) << s["log2n"]), m_out(m_in.size()) {
  const std::size_t n = m_in.size();
  random_stream random(3);
  for (number &x : m_in)
    x = {random.unit() - 0.5, random.unit() - 0.5};
  for (std::size_t k = 0; k < n / 2; ++k)
    m_roots.push_back(
        std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n)));
}

void fft::reset() { m_out.assign(m_out.size(), 0); }

void fft::transform_leaf(const number *in, number *out, std::size_t n, std::size_t step) const {
  if (n == 1) {
    *out = *in;
    return;
  }
  transform_leaf(in, out, n / 2, 2 * step);
  transform_leaf(in + step, out + n / 2, n / 2, 2 * step);
  combine_leaf(out, n, 0, n / 2);
}

void fft::combine_leaf(number *out, std::size_t n, std::size_t from, std::size_t to) const {
  const std::size_t half = n / 2, stride = m_in.size() / n;
  for (std::size_t k = from; k < to; ++k) {
    const number even = out[k], odd = product(m_roots[k * stride], out[k + half]);
    out[k] = even + odd;
    out[k + half] = even - odd;
  }
}

// The sum of squares, and the definition at some frequencies.
std::string fft::check() const {
  const std::size_t n = m_in.size();
  double power_in = 0, power_out = 0;
  for (std::size_t i = 0; i < n; ++i)
    power_in += std::norm(m_in[i]), power_out += std::norm(m_out[i]);
  if (!(std::abs(power_out / (power_in * static_cast<double>(n)) - 1) < 1e-9))
    return "fft changed the sum of squares";
  random_stream random(5);
  for (int i = 0; i < 8; ++i) {
    const std::size_t k = random.next() % n;
    number sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t at = j * k % n;
      sum += n == 1 ? m_in[j] : product(m_in[j], at < n / 2 ? m_roots[at] : -m_roots[at - n / 2]);
    }
    if (!(std::abs(sum - m_out[k]) < 1e-9 * std::sqrt(power_out)))
      return "fft is wrong at frequency " + std::to_string(k);
  }
  return "";
}

} // namespace inncabs
