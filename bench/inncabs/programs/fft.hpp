// SPDX-License-Identifier: Apache-2.0
// fft: the fast Fourier transform of Cooley and Tukey, divided by two. Tasks transform the even and
// the odd numbers, and divide the loop that combines both.
#pragma once

#include "../support/sizes.hpp"

#include <complex>
#include <string>
#include <vector>

namespace inncabs {

class fft {
 public:
  static constexpr const char *k_name = "fft";
  static constexpr parameter k_parameters[] = {
      {"log2n", 20, 9, 1, 28, "the binary logarithm of how many numbers there are"},
      {"leaf", 256, 16, 1, 65'536, "numbers that one task transforms or combines"}};
  using number = std::complex<double>;

  explicit fft(const sizes &s);
  void reset();
  template <class M>
  void run() {
    transform<M>(this, m_in.data(), m_out.data(), m_in.size(), std::size_t(1));
  }
  void remember() {}
  [[nodiscard]] std::string check() const;

 private:
  template <class M>
  static void transform(const fft *f, const number *in, number *out, std::size_t n,
                        std::size_t step) {
    if (n <= f->m_leaf)
      return f->transform_leaf(in, out, n, step);
    const std::size_t half = n / 2;
    {
      typename M::scope here;
      auto even = here.async(transform<M>, f, in, out, half, 2 * step);
      auto odd = here.async(transform<M>, f, in + step, out + half, half, 2 * step);
      even.get(), odd.get();
    }
    combine<M>(f, out, n, std::size_t(0), half);
  }
  template <class M>
  static void combine(const fft *f, number *out, std::size_t n, std::size_t from, std::size_t to) {
    if (to - from <= f->m_leaf)
      return f->combine_leaf(out, n, from, to);
    const std::size_t middle = from + (to - from) / 2;
    typename M::scope here;
    auto low = here.async(combine<M>, f, out, n, from, middle);
    auto high = here.async(combine<M>, f, out, n, middle, to);
    low.get(), high.get();
  }
  void transform_leaf(const number *in, number *out, std::size_t n, std::size_t step) const;
  /// Combines the frequencies [from, to) and their upper partners.
  void combine_leaf(number *out, std::size_t n, std::size_t from, std::size_t to) const;

  std::size_t m_leaf;
  std::vector<number> m_in, m_out;
  std::vector<number> m_roots; // of unity; as many as half of the numbers
};

} // namespace inncabs
