// SPDX-License-Identifier: Apache-2.0
#include "weft_net/engine/forks.hpp"

#include <atomic>

#include <pthread.h>

namespace weft_net {

namespace {

std::atomic<int> g_forks{0};

[[gnu::constructor]] void count_forks() {
  pthread_atfork(nullptr, nullptr, [] { g_forks.fetch_add(1, std::memory_order_relaxed); });
}

} // namespace

int forks() noexcept { return g_forks.load(std::memory_order_relaxed); }

} // namespace weft_net
