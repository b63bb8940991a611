// SPDX-License-Identifier: Apache-2.0
#include "worker/rest.hpp"

#include "worker/runtime.hpp"

#include <atomic>

namespace weft::inline v0 {
namespace rt {
namespace {

constinit std::atomic<const runtime *> g_rests_in[k_slots]{}; // a child of fork() has another runtime

} // namespace

void begin_rest(const worker &self) noexcept {
  g_rests_in[self.id].store(g_runtime, std::memory_order_release); // O2
}

void end_rest(const worker &self) noexcept {
  g_rests_in[self.id].store(nullptr, std::memory_order_relaxed);
  g_runtime->gate.pass(); // O1
}

bool rests(const runtime &rt, unsigned slot) noexcept {
  return g_rests_in[slot].load(std::memory_order_acquire) == &rt; // O2
}

} // namespace rt
} // namespace weft::inline v0
