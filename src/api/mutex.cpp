// SPDX-License-Identifier: Apache-2.0
// weft::mutex, the contended side. The protocol: task/lock_queue.hpp.
#include "base/error.hpp"
#include "task/lock_queue.hpp"
#include "worker/runtime.hpp"

#include <weft/mutex.hpp>

#include <map>
#include <mutex>
#include <string>

namespace weft::inline v0 {

using namespace rt;

namespace {

struct lock_call {
  detail::lock_word<> &lock;
  lock_waiter<frame> node{};
};

void publish_waiter(executor &, frame &f, void *p) {
  auto &call = *static_cast<lock_call *>(p);
  if (take_or_wait(call.lock, call.node, f))
    make_ready(f);
}

} // namespace

static_assert(sizeof(mutex) == 2 * sizeof(void *), "part of the ABI");

void mutex::lock_slow() {
  this_worker();
  lock_call call{m_lock};
  suspend(&publish_waiter, &call);
}

void mutex::unlock_slow() {
  frame *next = hand_over<frame>(m_lock);
  if (!next)
    throw_error(errc::invalid_argument, "a weft::mutex is unlocked that nobody holds; unlock once per lock");
  make_ready(*next);
}

namespace detail {

mutex &critical_mutex(const char *name) {
  static std::mutex guard;
  static auto *all = new std::map<std::string, mutex>; // never destroyed: tasks may outlive static destructors
  std::lock_guard lock(guard);
  return (*all)[name ? name : ""];
}

} // namespace detail
} // namespace weft::inline v0
