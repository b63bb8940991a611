// expect: a clause of weft::spawn must be an access
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

void f(weft::task_group &group) {
  group.spawn([] {}, "label");
}
