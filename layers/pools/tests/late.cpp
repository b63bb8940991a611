// SPDX-License-Identifier: Apache-2.0
// A program that loads Weft when its own threads compute already, as an interpreter may: two
// workers are one, and two again when the threads wait. argv[1]: libweft.so.
#include <weft/c/counters.h>
#include <weft/c/runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <semaphore.h>
#include <unistd.h>

namespace {

void *g_weft = nullptr;

template <class F>
F *of_weft(F *, const char *name) {
  auto *const f = reinterpret_cast<F *>(dlsym(g_weft, name));
  if (!f) {
    std::fprintf(stderr, "no %s: %s\n", name, dlerror());
    std::exit(1);
  }
  return f;
}
#define WEFT(name) of_weft(&name, #name)

/// Returns whether `count` workers step back within 20 seconds.
bool step_back(double count) {
  for (int i = 0; i < 20'000; ++i, usleep(1000)) {
    weft_snapshot *now = nullptr;
    double value = -1;
    if (WEFT(weft_snapshot_take)(&now) ||
        WEFT(weft_snapshot_value)(now, "/threads/stepped-back", &value))
      return false;
    WEFT(weft_snapshot_free)(now);
    if (value == count)
      return true;
  }
  return false;
}

} // namespace

int main(int, char **argv) {
  std::atomic<bool> waits{false};
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::vector<std::thread> pool;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i)
    pool.emplace_back([&] {
      while (!waits) {
      }
      sem_wait(&semaphore);
    });
  g_weft = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!g_weft) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const bool made_room = WEFT(weft_start)() == 0 && step_back(1);
  waits = true;
  const bool came_back = step_back(0);
  for (std::size_t i = 0; i < pool.size(); ++i)
    sem_post(&semaphore);
  for (auto &thread : pool)
    thread.join();
  std::printf("workers %s room, and %s back\n", made_room ? "made" : "did not make",
              came_back ? "came" : "did not come");
  return made_room && came_back ? 0 : 1;
}
