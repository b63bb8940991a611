// SPDX-License-Identifier: Apache-2.0
#include "sync/lock_table.hpp"

#include <cstdint>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr unsigned k_bits = 8; // two objects share a lock by a chance of 1 in 256
struct alignas(k_line) lock_in_table {
  spin_lock<> lock;
};
lock_in_table g_locks[1u << k_bits];

spin_lock<> &lock_of(const void *object) noexcept {
  const std::uint64_t mixed =
      reinterpret_cast<std::uintptr_t>(object) * std::uint64_t{0x9E3779B97F4A7C15}; // 2^64 / phi
  return g_locks[mixed >> (64 - k_bits)].lock;
}

} // namespace

sync_guard::sync_guard(const void *object) noexcept : m_lock(lock_of(object)) { m_lock.lock(); }

void sync_before_fork() noexcept {
  for (auto &l : g_locks)
    l.lock.lock();
}

void sync_after_fork() noexcept {
  for (auto &l : g_locks)
    l.lock.unlock();
}

} // namespace rt
} // namespace weft::inline v0
