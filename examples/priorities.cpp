// SPDX-License-Identifier: Apache-2.0
// Priorities are a wish: where the scheduler has a choice, larger runs earlier. Accesses are the law.
#include <weft/weft.hpp>

#include <cstdio>
#include <mutex>
#include <vector>

int main() {
  weft::mutex mutex;
  std::vector<int> order;
  int gate = 0;
  weft::spawn([&] { weft::this_task::sleep_for(std::chrono::milliseconds(2)); }, weft::out(gate),
              weft::label("gate"));
  for (int urgency = 0; urgency < 8; ++urgency)
    weft::spawn(
        [&, urgency] {
          std::lock_guard lock(mutex);
          order.push_back(urgency);
        },
        weft::in(gate), weft::priority(urgency));
  int last_seen = -1;
  weft::spawn([&] { last_seen = static_cast<int>(order.size()); }, weft::out(gate), weft::priority(1000));
  weft::taskwait();

  std::printf("order:");
  for (int urgency : order)
    std::printf(" %d", urgency);
  std::printf("\nthe writer came after %d readers, whatever its priority\n", last_seen);
  return last_seen == 8 ? 0 : 1;
}
