// SPDX-License-Identifier: Apache-2.0
// Calls nothing of ALPI by name: a task-aware library, which looks its functions up in the process, must find them. Prints what was
// asked of every consumer.
#include <alpi/alpi.h>
#include <weft/weft.hpp>

#include <cstdio>
#include <dlfcn.h>

int main() {
  const auto self = reinterpret_cast<decltype(&alpi_task_self)>(dlsym(RTLD_DEFAULT, "alpi_task_self"));
  if (!self)
    return 1;
  alpi_task *outside = nullptr, *inside = nullptr;
  self(&outside);
  weft::spawn([&] { self(&inside); });
  weft::taskwait();
  const bool right = outside && inside && outside != inside; // the first thread is a task to it, too
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, right ? 42 : 0);
  return right ? 0 : 1;
}
