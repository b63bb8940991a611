// SPDX-License-Identifier: Apache-2.0
// process PLUGIN: TBB ends, is unloaded and loaded again, and is used in the child of a fork().
// This program does not link TBB.
#include "door.hpp"

#include <dlfcn.h>

#include <sys/wait.h>

namespace {

using function = long (*)(long, int);
constexpr long k_n = 200'000, k_sum = k_n * (k_n - 1) / 2;

bool is_loaded(const char *library) {
  void *const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle)
    dlclose(handle);
  return handle != nullptr;
}

void load_and_unload(const char *plugin, bool finalizes) {
  for (int round = 0; round < 20; ++round) {
    void *const handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    CHECK(handle != nullptr);
    const auto sum = reinterpret_cast<function>(dlsym(handle, "sum_to"));
    CHECK(sum != nullptr);
    for (int i = 0; i < 3; ++i)
      CHECK(sum(k_n, finalizes) == k_sum);
    dlclose(handle);
    CHECK(!is_loaded("libtbb.so.12"));
  }
}

/// Returns the exit status of a child that computes with TBB.
int child_that_computes(function sum, int finalizes) {
  std::fflush(stdout);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    bool right = true;
    for (int i = 0; i < 5; ++i)
      right = right && sum(k_n, finalizes) == k_sum;
    std::exit(right ? 7 : 1); // exit(): destructors run
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

} // namespace

int main(int argc, char **argv) {
  CHECK(argc == 2);
  load_and_unload(argv[1], true);
  void *const handle = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  CHECK(handle != nullptr);
  const auto sum = reinterpret_cast<function>(dlsym(handle, "sum_to"));
  CHECK(sum(k_n, 1) == k_sum);
  for (int round = 0; round < 5; ++round) {
    CHECK(child_that_computes(sum, 1) == 7);
    CHECK(sum(k_n, 1) == k_sum); // and the parent goes on
  }
  door::check_threads();
  std::puts("process: ok");
}
