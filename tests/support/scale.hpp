// SPDX-License-Identifier: Apache-2.0
// How large a test may be under the build it runs in, and the seed of a random one.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace test {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define WEFT_TEST_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define WEFT_TEST_SANITIZED 1
#endif
#endif
#ifdef WEFT_TEST_SANITIZED
inline constexpr bool k_sanitized = true;
#else
inline constexpr bool k_sanitized = false;
#endif

#ifdef WEFT_TEST_EMULATOR
inline constexpr bool k_emulated = true;
#else
inline constexpr bool k_emulated = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool k_thread_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool k_thread_sanitized = __has_feature(thread_sanitizer);
#else
inline constexpr bool k_thread_sanitized = false;
#endif

/// `n`, or a twentieth of it (at least `least`) where every access is checked or every instruction translated.
constexpr int scaled(int n, int least = 1) noexcept {
  return !k_sanitized && !k_emulated ? n : n / 20 > least ? n / 20 : least;
}

/// The seed of a random test: TEST_SEED, or a new one; printed, so that a failure can be repeated.
inline std::uint64_t seed() {
  const char *given = std::getenv("TEST_SEED");
  std::uint64_t value = given ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  std::printf("TEST_SEED=%llu\n", static_cast<unsigned long long>(value));
  return value;
}

} // namespace test
