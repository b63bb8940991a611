// SPDX-License-Identifier: Apache-2.0
// Settings from the program, errors that name the remedy, and what the runtime has counted.
#include <weft/weft.hpp>

#include <cstdio>

int main() {
  weft::configure("workers", "2");
  bool refused = false;
  try {
    weft::configure("worker", "4");
  } catch (const weft::error &e) {
    refused = e.code() == weft::errc::bad_setting;
    std::printf("%s: %s\n", weft::to_string(e.code()), e.what());
  }

  weft::spawn([] { weft::this_task::sleep_for(std::chrono::milliseconds(1)); });
  weft::taskwait();

  const weft::statistics s = weft::stats();
  std::printf("%d workers, %llu tasks\n", weft::worker_count(), static_cast<unsigned long long>(s.executed));
  const bool right = refused && weft::worker_count() == 2 && s.spawned >= 1 && s.executed == s.spawned;
  weft::shutdown();
  return right ? 0 : 1;
}
