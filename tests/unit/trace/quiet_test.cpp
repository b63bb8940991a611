// SPDX-License-Identifier: Apache-2.0
// A trace takes no memory and no lock where events are: a program calls malloc and pthread_mutex_lock as often with it as without.
#include "support/scale.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <pthread.h>
#include <string>
#include <unistd.h>

#if !defined(WEFT_TEST_SANITIZED) && defined(__GLIBC__)
#define WEFT_COUNTS_CALLS 1
#endif

namespace {
thread_local bool t_counted = false; // of the thread that spawns and runs
std::atomic<long> g_calls{0};
} // namespace

#if WEFT_COUNTS_CALLS
extern "C" {
void *__libc_malloc(std::size_t);
void *malloc(std::size_t n) {
  if (t_counted)
    ++g_calls;
  return __libc_malloc(n);
}
int pthread_mutex_lock(pthread_mutex_t *m) noexcept {
  static const auto real = reinterpret_cast<int (*)(pthread_mutex_t *)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  if (t_counted)
    ++g_calls;
  return real(m);
}
}
#endif

namespace {

long calls_of_a_program() {
  int data[4] = {};
  const auto work = [&data](int n) {
    for (int i = 0; i < n; ++i) {
      weft::spawn([&a = data[i % 4]] { ++a; }, weft::inout(data[i % 4]), weft::in(data[(i + 1) % 4]), weft::label("both"));
      weft::spawn([] {});
      if (i % 16 == 0)
        weft::taskwait();
    }
    weft::taskwait();
  };
  work(5000);
  t_counted = true;
  void *volatile control = std::malloc(1); // is counted
  std::free(control);
  work(20000); // 200,000 records
  t_counted = false;
  return g_calls;
}

#ifdef WEFT_TEST_EMULATOR
constexpr char k_emulator[] = WEFT_TEST_EMULATOR;
#else
constexpr char k_emulator[] = "";
#endif

[[maybe_unused]] long calls_at(const char *self, const char *level, const std::string &folder) {
  const std::string command = "WEFT_WORKERS=1 WEFT_TRACE_DIR=" + folder + " WEFT_TRACE_LEVEL=" + level + " " + k_emulator + " '" + self + "' child";
  std::FILE *out = popen(command.c_str(), "r");
  long calls = -1;
  if (!out || std::fscanf(out, "%ld", &calls) != 1 || pclose(out) != 0)
    return -1;
  return calls;
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 1 && std::strcmp(argv[1], "child") == 0) {
    std::printf("%ld\n", calls_of_a_program());
    return 0;
  }
#if WEFT_COUNTS_CALLS
  char name[] = "/tmp/weft-quiet-XXXXXX";
  if (!mkdtemp(name))
    return 1;
  const long without = calls_at(argv[0], "off", name), with = calls_at(argv[0], "runtime", name);
  std::filesystem::remove_all(name);
  std::printf("calls of malloc and of pthread_mutex_lock: %ld without a trace, %ld with one\n", without, with);
  return without >= 1 && with == without ? 0 : 1;
#else
  static_cast<void>(argv);
  return 0;
#endif
}
