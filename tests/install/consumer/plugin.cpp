// SPDX-License-Identifier: Apache-2.0
// A module that uses Weft, loaded and unloaded by host.c, which knows nothing of Weft.
#include <weft/weft.hpp>

#include <cstdio>

extern "C" int plugin_run() {
  int b = 0;
  weft::spawn([&] { b = 42; }, weft::out(b));
  weft::taskwait();
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, b);
  return b == 42 ? 0 : 1;
}
