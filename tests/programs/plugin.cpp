// SPDX-License-Identifier: Apache-2.0
// A module that uses Weft and leaves nothing behind but what the runtime itself keeps. Built twice against
// libweft.so, and once with Weft inside.
#include <weft/weft.hpp>

#include <atomic>

extern "C" __attribute__((visibility("default"))) int plugin_run(int *number) {
  const int before = *number;
  std::atomic<int> x{0};
  for (int i = 0; i != 20; ++i)
    weft::spawn([&] { weft::taskyield(), ++x; });
  weft::handle<int> h = weft::spawn([&] { return weft::critical("plugin", [&] { return 7; }); });
  const int seven = h.get();
  weft::taskwait();
  weft::task_group group;
  for (int i = 0; i != 20; ++i)
    group.spawn([number] { ++*number; }, weft::inout(*number), weft::label("of the plugin"));
  group.wait(); // the parent's table still knows the last access
  return *number == before + 20 && x == 20 && seven == 7 ? 0 : 1;
}
