// SPDX-License-Identifier: Apache-2.0
// weft::mutex, the contended side. The protocol: task/wait/lock_queue.hpp.
#include "base/error.hpp"
#include "base/mutant.hpp"
#include "task/parent_process.hpp"
#include "task/wait/lock_queue.hpp"
#include "worker/functions.hpp"
#include "worker/runtime.hpp"

#include <weft/mutex.hpp>

#include <map>
#include <mutex>
#include <new>
#include <pthread.h>
#include <string>

namespace weft::inline v0 {

using namespace rt;

namespace {

struct lock_call {
  detail::lock_word<> &lock;
  lock_waiter<runnable> node{};
};

void publish_waiter(thread_context &, frame &suspended, void *p) {
  auto &call = *static_cast<lock_call *>(p);
  if (take_or_wait<runnable>(call.lock, call.node, suspended))
    make_ready(suspended);
}

// How often a caller looks at a taken mutex before it queues: 0.6 to 2.5 us, because a pause takes
// 6 to 25 ns. A suspension costs as much when the stack is not in the cache. A short section ends
// within that time, and no task queues. Once a task queues, each hand-over waits until the frame of
// the next waiter runs, and tasks that come meanwhile queue as well.
constexpr int k_spins = 100;

/// Returns whether what waits, a frame or the task of a coroutine, is of the parent process.
bool is_of_parent_process(const runnable &waiting) noexcept {
  switch (waiting.base()) {
  case runnable::kind::frame:
    return rt::is_of_parent_process(*static_cast<const frame &>(waiting).current);
  case runnable::kind::task:
    return rt::is_of_parent_process(static_cast<const detail::task &>(waiting));
  default: // a coroutine of another library
    return false;
  }
}

void go_on(runnable &waiting) {
  if (waiting.base() == runnable::kind::frame)
    make_ready(static_cast<frame &>(waiting));
  else
    enqueue_ready(waiting);
}

/// Returns whether the holder can be running now.
bool others_run() noexcept {
  const runtime &rt = the_runtime();
  return rt.spin_ns.load(std::memory_order_relaxed) != 0 &&
         rt.used_slots.load(std::memory_order_relaxed) > 1;
}

} // namespace

static_assert(sizeof(mutex) == 2 * sizeof(void *), "part of the ABI");

void mutex::lock_slow() {
  this_worker();
  for (int spins = others_run() ? k_spins : 0; spins > 0; --spins) {
    if (!m_lock.word.load(std::memory_order_relaxed) && m_lock.try_take()) // a hint, then O1
      return;
    cpu_pause();
  }
  lock_call call{m_lock};
  suspend(&publish_waiter, &call, {waits_for::lock, &m_lock});
}

void mutex::unlock_slow() {
  const gate_guard here;
  do {
    runnable *next = hand_over<runnable>(m_lock);
    if (!next)
      throw_error(errc::invalid_argument,
                  "unlock() of a weft::mutex that no task holds; unlock once per lock");
    if (functions_generation() == 0 || !is_of_parent_process(*next)) [[likely]]
      return unless(bug::mutex_hands_over_silently, [&] { go_on(*next); });
  } while (!m_lock.try_give_up()); // fork(): a waiter of the parent process goes on there only
}

namespace {

using named_mutexes = std::map<std::string, mutex>;
std::mutex g_critical_guard;
named_mutexes *g_criticals = nullptr; // never destroyed: tasks may outlive static destructors

/// Forgets the critical sections in a forked child, because a task that was in a section of the
/// parent process never leaves it in the child.
void forget_criticals_in_child() noexcept {
  ::new (&g_critical_guard) std::mutex;
  g_criticals = nullptr;
}

// Registered when the library is loaded: if another thread forks during the registration, the
// handler may not run in that child.
[[maybe_unused]] const int g_fork_is_handled =
    pthread_atfork(nullptr, nullptr, &forget_criticals_in_child);

} // namespace

namespace detail {

mutex &critical_mutex(const char *name) {
  std::lock_guard lock(g_critical_guard);
  if (!g_criticals)
    g_criticals = new named_mutexes;
  return (*g_criticals)[name ? name : ""];
}

} // namespace detail
} // namespace weft::inline v0
