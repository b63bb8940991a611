// expect: include <weft/coro.hpp>, or use std::chrono::steady_clock
// SPDX-License-Identifier: Apache-2.0
#include <weft/sync.hpp>

#include <chrono>

int main() {
  weft::event e;
  (void)e.async_wait_until(std::chrono::steady_clock::now()); // accepted
  (void)e.async_wait_until(std::chrono::system_clock::now());
}
