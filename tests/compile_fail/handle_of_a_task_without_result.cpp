// expect: (void value not ignored|cannot initialize a variable|void. cannot|non-scalar type|conversion from
// .void.|no viable conversion) SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f() {
  weft::handle<void> h = weft::spawn([] {}); // it needs weft::tracked
}
