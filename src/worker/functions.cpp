// SPDX-License-Identifier: Apache-2.0
#include "worker/functions.hpp"

#include "task/failure.hpp"
#include "task/hooks.hpp"
#include "task/parent_process.hpp"

#include <new>

namespace weft::inline v0 {
namespace rt {
namespace {

unsigned g_generation = 0;

task *make_root(void *storage) { return ::new (storage) task("functions"); }

void *storage() noexcept {
  alignas(task) static unsigned char
      bytes[sizeof(task)]; // never destroyed: functions may be spawned by static destructors
  return bytes;
}

} // namespace

task &functions_root() noexcept {
  static task *const root = make_root(storage());
  return *root;
}

bool is_root_of_functions(const task &t) noexcept { return &t == &functions_root(); }

bool functions_are_pending() noexcept { return !functions_root().children.done(0); }

void forget_functions_after_fork() {
  functions_root();
  make_root(storage());
  ++g_generation;
  g_was_forked = true;
}

unsigned functions_generation() noexcept { return g_generation; }

} // namespace rt
} // namespace weft::inline v0
