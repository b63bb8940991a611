// SPDX-License-Identifier: Apache-2.0
// many N [KIB]: N tasks wait at once, and the process takes at most so much memory.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <nanos6.h>
#include <sys/resource.h>
#include <vector>
int main(int argc, char **argv) {
  const int n = std::atoi(argv[1]);
  std::vector<void *> blocked(static_cast<unsigned>(n));
  std::atomic<int> ready = 0;
  for (int i = 0; i < n; ++i) {
#pragma oss task shared(blocked, ready)
    {
      blocked[static_cast<unsigned>(i)] = nanos6_get_current_blocking_context();
      ++ready;
      nanos6_block_current_task(nullptr);
    }
  }
  while (ready < n) {
#pragma oss taskyield
  }
  for (void *context : blocked)
    nanos6_unblock_task(context);
#pragma oss taskwait
  rusage used;
  if (argc > 2 && (getrusage(RUSAGE_SELF, &used) || used.ru_maxrss > std::atol(argv[2]))) {
    std::printf("%ld KiB of memory\n", used.ru_maxrss);
    return 1;
  }
  std::puts("all");
}
