// SPDX-License-Identifier: Apache-2.0
// The trees of the benchmark Unbalanced Tree Search: each node has a state of 20 bytes, from which
// the number of its children follows, and the states of the children are hashes (SHA-1, FIPS 180)
// of it. The sizes of the sample trees are known, so each run is checked.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace uts {

using state = std::array<unsigned char, 20>;

inline std::uint32_t word_at(const unsigned char *p) noexcept {
  return static_cast<std::uint32_t>(p[0]) << 24 | static_cast<std::uint32_t>(p[1]) << 16 |
         static_cast<std::uint32_t>(p[2]) << 8 | p[3];
}
inline void put_word(unsigned char *p, std::uint32_t v) noexcept {
  for (int i = 0; i < 4; ++i)
    p[i] = static_cast<unsigned char>(v >> (24 - 8 * i));
}

/// Hashes a message that is shorter than one block.
inline state sha1(const unsigned char *message, std::size_t bytes) noexcept {
  std::array<unsigned char, 64> block{};
  std::memcpy(block.data(), message, bytes);
  block[bytes] = 0x80;
  put_word(&block[60], static_cast<std::uint32_t>(bytes * 8));
  std::uint32_t w[80];
  for (int i = 0; i < 16; ++i)
    w[i] = word_at(&block[static_cast<std::size_t>(4 * i)]);
  for (int i = 16; i < 80; ++i)
    w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  std::uint32_t h[] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  std::uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
  for (int i = 0; i < 80; ++i) {
    std::uint32_t f, k;
    if (i < 20)
      f = (b & c) | (~b & d), k = 0x5A827999;
    else if (i < 40)
      f = b ^ c ^ d, k = 0x6ED9EBA1;
    else if (i < 60)
      f = (b & c) | (b & d) | (c & d), k = 0x8F1BBCDC;
    else
      f = b ^ c ^ d, k = 0xCA62C1D6;
    const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
    e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
  }
  h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
  state result;
  for (int i = 0; i < 5; ++i)
    put_word(&result[static_cast<std::size_t>(4 * i)], h[i]);
  return result;
}

struct node {
  state hash;
  int depth = 0;
};

inline node child_of(const node &parent, int number) noexcept {
  unsigned char message[24];
  std::memcpy(message, parent.hash.data(), 20);
  put_word(message + 20, static_cast<std::uint32_t>(number));
  return {sha1(message, sizeof message), parent.depth + 1};
}

/// T1: geometric, branching factor 4, depth 10, seed 19. T3: binomial, 2,000 children of the root,
/// 8 of a node with probability 0.124875, seed 42. `size` replaces the depth or the 2,000.
struct tree {
  bool binomial;
  int size;

  [[nodiscard]] node root() const noexcept {
    unsigned char message[20] = {};
    put_word(message + 16, binomial ? 42 : 19);
    return {sha1(message, sizeof message), 0};
  }
  [[nodiscard]] int children_of(const node &n) const noexcept {
    if (binomial && n.depth == 0)
      return size;
    const double at =
        static_cast<double>(word_at(&n.hash[16]) & 0x7FFFFFFF) / 2147483648.0; // in [0, 1)
    if (binomial)
      return at < 0.124875 ? 8 : 0;
    const double factor = n.depth < size ? 4.0 : 0.0;
    const int children =
        static_cast<int>(std::floor(std::log(1 - at) / std::log(1 - 1 / (1 + factor))));
    return factor == 0 ? 0 : children > 100 ? 100 : children;
  }
  /// Returns the number of nodes if it is known, else 0.
  [[nodiscard]] long known_nodes() const noexcept {
    return binomial ? (size == 2000 ? 4'112'897 : 0) : (size == 10 ? 4'130'071 : 0);
  }
};

} // namespace uts
