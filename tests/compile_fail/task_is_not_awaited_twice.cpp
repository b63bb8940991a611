// expect: co_await takes an awaitable; of a weft::task write co_await std::move
// SPDX-License-Identifier: Apache-2.0
#include <weft/coro.hpp>

weft::task<int> one();
weft::task<int> f() {
  auto t = one();
  co_return co_await t;
}
