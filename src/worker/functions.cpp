// SPDX-License-Identifier: Apache-2.0
#include "worker/functions.hpp"

#include "task/failure.hpp"

#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

unsigned g_generation = 0;

void make_root(void *storage) { ::new (storage) task("functions"); }

void *storage() noexcept {
  alignas(task) static unsigned char
      bytes[sizeof(task)]; // never destroyed: functions may be spawned by static destructors
  return bytes;
}

} // namespace

task &functions_root() noexcept {
  static const bool made = (make_root(storage()), true);
  static_cast<void>(made);
  return *std::launder(static_cast<task *>(storage()));
}

bool is_root_of_functions(const task &t) noexcept { return &t == &functions_root(); }

bool functions_are_pending() noexcept { return !functions_root().children.done(0); }

void forget_functions_after_fork() {
  functions_root();
  make_root(storage());
  ++g_generation;
}

unsigned functions_generation() noexcept { return g_generation; }

} // namespace rt
} // namespace weft::inline v0
