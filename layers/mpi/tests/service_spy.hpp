// SPDX-License-Identifier: Apache-2.0
// Stands in for the constructor and the destructor of weft::service, which the library calls: counts them, and lets the
// next service be refused. Included by one source of a program.
#pragma once

#include <weft/error.hpp>
#include <weft/service.hpp>

#include <atomic>
#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

namespace spy {

inline std::atomic<int> made{0}, ended{0};
inline std::atomic<bool> refuses{false};
inline void (*when_refused)() = nullptr;

inline void *next(const char *name) {
  if (void *const found = dlsym(RTLD_NEXT, name))
    return found;
  std::fprintf(stderr, "there is no %s\n", name);
  _exit(2);
}

} // namespace spy

namespace weft::inline v0 {

service::service(const char *name, poll_point where, bool (*f)(void *), void *context,
                 int priority) {
  if (spy::refuses.exchange(false)) {
    spy::when_refused();
    throw error(errc::out_of_resources, "the test refuses a service");
  }
  using function = void(void *, const char *, poll_point, bool (*)(void *), void *, int);
  reinterpret_cast<function *>(
      spy::next("_ZN4weft2v07serviceC1EPKcNS0_10poll_pointEPFbPvES5_i"))(this, name, where, f,
                                                                       context, priority);
  ++spy::made;
}

service::~service() {
  reinterpret_cast<void (*)(void *)>(spy::next("_ZN4weft2v07serviceD1Ev"))(this);
  ++spy::ended;
}

} // namespace weft::inline v0
