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

std::string refusal_in_child(const std::string &who, int process) {
  return who + " is the process " + std::to_string(process) +
         ", and this one is a child of fork(), which has no ranks; leave its team to it, or end the "
         "child by exec or _exit";
}

} // namespace weft_net
