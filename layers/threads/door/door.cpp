// SPDX-License-Identifier: Apache-2.0
// What each library that swaps thread-local blocks has for itself: variables that in_core() reads
// without the loader's tables. It is compiled into every door and into libweft-threads.so.
#include <weft_threads/thread/thread_record.hpp>

namespace weft_threads {

constinit relaxed_value<bool> g_binds{false};
#if defined(__x86_64__)
bool g_has_wrfsbase = has_wrfsbase();
#endif

namespace {

[[gnu::constructor]] void enter() noexcept {
  enter_door(g_binds, reinterpret_cast<const void *>(&enter));
}

} // namespace

} // namespace weft_threads
