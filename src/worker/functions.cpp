// SPDX-License-Identifier: Apache-2.0
#include "worker/functions.hpp"

#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

unsigned g_generation = 0;

/// Its failing children find the gate of failure.cpp closed: each failure is reported at once, since nobody will ask for it.
void make_root(void *room) {
  auto *root = ::new (room) task("functions");
  alignas(task_extra) static unsigned char extra[sizeof(task_extra)];
  auto *x = ::new (static_cast<void *>(extra)) task_extra;
  x->failing.store(true, std::memory_order_relaxed);
  root->extra.store(x, std::memory_order_relaxed);
}

void *room() noexcept {
  alignas(task) static unsigned char bytes[sizeof(task)]; // never destroyed: functions may be spawned by static destructors
  return bytes;
}

} // namespace

task &functions_root() noexcept {
  static const bool made = (make_root(room()), true);
  static_cast<void>(made);
  return *std::launder(static_cast<task *>(room()));
}

bool functions_are_pending() noexcept { return !functions_root().children.done(0); }

void forget_functions_after_fork() {
  functions_root();
  make_root(room());
  ++g_generation;
}

unsigned functions_generation() noexcept { return g_generation; }

} // namespace rt
} // namespace weft::inline v0
