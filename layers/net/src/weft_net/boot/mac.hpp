// SPDX-License-Identifier: Apache-2.0
// SipHash-2-4, which proves that a packet comes from a holder of the job's key.
// Source. Aumasson and Bernstein, SipHash: a fast short-input PRF, 2012.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft_net {

/// Is the secret of a job.
struct job_key {
  std::uint64_t words[2] = {};
};

/// Returns the proof of the bytes.
[[nodiscard]] inline std::uint64_t mac_of(const job_key &key, std::string_view bytes) noexcept {
  std::uint64_t v0 = key.words[0] ^ 0x736f6d6570736575, v1 = key.words[1] ^ 0x646f72616e646f6d,
                v2 = key.words[0] ^ 0x6c7967656e657261, v3 = key.words[1] ^ 0x7465646279746573;
  const auto rounds = [&](int n) {
    for (; n != 0; --n) {
      v0 += v1, v1 = std::rotl(v1, 13) ^ v0, v0 = std::rotl(v0, 32);
      v2 += v3, v3 = std::rotl(v3, 16) ^ v2;
      v0 += v3, v3 = std::rotl(v3, 21) ^ v0;
      v2 += v1, v1 = std::rotl(v1, 17) ^ v2, v2 = std::rotl(v2, 32);
    }
  };
  const auto word = [](std::string_view part) {
    std::uint64_t made = 0;
    for (std::size_t i = 0; i < part.size(); ++i)
      made |= std::uint64_t{static_cast<unsigned char>(part[i])} << (8 * i);
    return made;
  };
  std::size_t at = 0;
  for (; bytes.size() - at >= 8; at += 8) {
    const std::uint64_t m = word(bytes.substr(at, 8));
    v3 ^= m;
    rounds(2);
    v0 ^= m;
  }
  const std::uint64_t last = word(bytes.substr(at)) | std::uint64_t{bytes.size() & 0xff} << 56;
  v3 ^= last;
  rounds(2);
  v0 ^= last;
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

/// Returns a key that no other process guesses. Throws std::runtime_error.
[[nodiscard]] job_key random_key();
/// Returns 32 hexadecimal digits.
[[nodiscard]] std::string text_of(const job_key &key);
/// Returns the key of 32 hexadecimal digits. Throws std::runtime_error for another text.
[[nodiscard]] job_key key_of(std::string_view text);

} // namespace weft_net
