// SPDX-License-Identifier: Apache-2.0
// two PLUGIN OTHER: two TBBs in one process, each with a library of its own, compute at once; one of
// them ends and is loaded anew while the other one goes on. This program does not link TBB.
#include "door.hpp"

#include <atomic>
#include <thread>

#include <dlfcn.h>

namespace {

using function = long (*)(long, int);
constexpr long k_n = 200'000, k_sum = k_n * (k_n - 1) / 2;

struct plugin {
  explicit plugin(const char *file) : handle(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle)
      std::fprintf(stderr, "%s\n", dlerror());
    CHECK(handle != nullptr);
    sum = reinterpret_cast<function>(dlsym(handle, "sum_to"));
    version = dlsym(handle, "TBB_runtime_interface_version"); // of the TBB that it brings
    CHECK(sum != nullptr && version != nullptr);
  }
  ~plugin() { dlclose(handle); }
  plugin(const plugin &) = delete;
  plugin &operator=(const plugin &) = delete;
  void *handle;
  function sum = nullptr;
  void *version = nullptr;
};

} // namespace

int main(int argc, char **argv) {
  CHECK(argc == 3);
  const plugin first(argv[1]);
  for (int round = 0; round < 10; ++round) {
    const plugin second(argv[2]);
    CHECK(first.sum != second.sum);
    CHECK(first.version != second.version); // else there is one TBB
    std::atomic<int> begun{0};
    std::thread other([&] {
      ++begun;
      while (begun != 2)
        std::this_thread::yield();
      for (int i = 0; i < 20; ++i)
        CHECK(second.sum(k_n, i == 19) == k_sum); // this one ends at last
    });
    ++begun;
    while (begun != 2)
      std::this_thread::yield();
    for (int i = 0; i < 20; ++i)
      CHECK(first.sum(k_n, 0) == k_sum);
    other.join();
  }
  CHECK(first.sum(k_n, 1) == k_sum);
  door::check_threads();
  std::puts("two: ok");
}
