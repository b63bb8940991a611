// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: threads, each of which is a task.
#pragma once

#include <hpx/runtime.hpp>
#include <hpx/synchronization.hpp>
#include <weft/block.hpp>
#include <weft/stop.hpp>
#include <weft/thread.hpp>

#include <chrono>
#include <cstddef>
#include <stop_token>

namespace hpx {

using std::nostopstate;
using std::nostopstate_t;
using std::stop_callback;
using std::stop_source;
using std::stop_token;
using weft::jthread;
using weft::thread;

namespace this_thread {
using weft::this_thread::get_id;
using weft::this_thread::sleep_for;
using weft::this_thread::sleep_until;
using weft::this_thread::yield;
/// Lets other tasks run, or waits for so long.
inline void suspend(const char * = "") { weft::this_thread::yield(); }
template <class Rep, class Period>
void suspend(std::chrono::duration<Rep, Period> most, const char * = "") {
  weft::this_thread::sleep_for(most);
}
} // namespace this_thread

namespace threads {
inline unsigned hardware_concurrency() { return weft::thread::hardware_concurrency(); }
} // namespace threads

} // namespace hpx
