// SPDX-License-Identifier: Apache-2.0
// Changes of GLT threads by both branches of one join: the second one waits for the first.
#include "check.h"

#include <weft/glt.h>
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

struct changes {
  std::atomic<int> asked{0};
  std::atomic<bool> second_calls{false};
};

/// Holds the first change until the second one is asked for, and a little longer.
GLT_bool ask(void *p, void *) {
  auto &those = *static_cast<changes *>(p);
  if (++those.asked != 1)
    return GLT_TRUE;
  while (!those.second_calls)
    weft::taskyield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return GLT_TRUE;
}

void both_branches_change() {
  changes those;
  int id = 0;
  glt_event_add_callbac(GLT_EVENT_STOP_THREAD, &ask, &those, nullptr, nullptr, &id);
  weft::spawn([&] {
    weft::join([] { glt_thread_disable_id(1); },
               [&] {
                 while (those.asked == 0)
                   weft::taskyield();
                 those.second_calls = true;
                 glt_thread_disable_id(2);
               });
  });
  weft::taskwait();
  CHECK(those.asked == 2);
  glt_event_del_callback(GLT_EVENT_STOP_THREAD, id);
  glt_thread_enable_id(1);
  glt_thread_enable_id(2);
}

} // namespace

int main() {
  glt_init(0, nullptr);
  for (int round = 0; round < 3; ++round)
    both_branches_change();
  glt_finalize();
}
