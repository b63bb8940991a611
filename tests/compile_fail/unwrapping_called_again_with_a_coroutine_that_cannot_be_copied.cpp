// expect: the callable of this weft::unwrapping makes coroutines, and is no copyable one
// SPDX-License-Identifier: Apache-2.0
#include <weft/coro.hpp>
#include <weft/weft.hpp>

#include <memory>

void f() {
  auto wrapper = weft::unwrapping([p = std::make_unique<int>(1)](int n) -> weft::task<int> { co_return *p + n; });
  (void)wrapper(weft::make_ready_future(1));
}
