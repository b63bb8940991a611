// SPDX-License-Identifier: Apache-2.0
#include "worker/last_thread.hpp"

#include "os/thread.hpp"
#include "os/thread_state.hpp"
#include "publish/reporting.hpp"
#include "trace/session.hpp"
#include "tune/policies.hpp"
#include "worker/phase.hpp"
#include "worker/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>

#include <pthread.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

// The kernel does not report the end of a thread that Weft does not know of. So the substitute
// polls, at first often.
constexpr long k_first_pause_ns = 100'000, k_longest_pause_ns = 50'000'000;

std::atomic<int> g_stands_in{0}; // process in which the substitute of the first thread runs

std::atomic<unsigned> g_layer_threads{0}; // relaxed: a thread that is counted late is the program's

std::atomic<int> g_ends{0}; // process in which a thread ends Weft's threads

bool stand_in_runs() noexcept { return g_stands_in.load(std::memory_order_relaxed) == getpid(); }

/// Returns the number of adopted threads of the program.
unsigned adopted_threads(runtime &rt) {
  start_lock lock;
  unsigned n = 0;
  for (unsigned i = 0; i < rt.spare_threads.slots(); ++i)
    if (const worker *w = rt.slots[i].load(std::memory_order_relaxed))
      n += w->adopted && !w->keeps_time.load(std::memory_order_relaxed);
  return n;
}

/// Returns whether only Weft's threads are left. Threads that come, go or begin to use Weft
/// meanwhile are counted as the program's.
bool only_weft_is_left() {
  runtime *const rt = runtime_or_null();
  if (!rt)
    return true;
  constexpr unsigned k_first = 1; // the kernel counts it as long as there are others
  const unsigned before = known_threads(*rt), all = process_threads(),
                 adopted = adopted_threads(*rt);
  if (g_ends.load(std::memory_order_acquire) == getpid()) // O1: behind the end no count is too large
    return false;
  return all != 0 &&
         all + adopted <= std::min(before, known_threads(*rt)) + k_first; // 0: it cannot be known
}

void *stand_in(void *) noexcept {
  pthread_setname_np(pthread_self(), "weft-main");
  while (!thread_has_ended(getpid())) // the first thread has little left to do
    usleep(k_first_pause_ns / 1000);
  for (long pause = k_first_pause_ns; !only_weft_is_left();
       pause = std::min(2 * pause, k_longest_pause_ns)) {
    const timespec t{0, pause};
    nanosleep(&t, nullptr);
  }
  std::exit(0);
}

} // namespace

end_of_threads::end_of_threads() noexcept {
  g_ends.store(getpid(), std::memory_order_relaxed); // a thread that is seen to be gone ends later
}
end_of_threads::~end_of_threads() {
  g_ends.store(0, std::memory_order_release); // O1: pairs with only_weft_is_left
}

unsigned known_threads(runtime &rt) noexcept {
  unsigned n = rt.watch.has_thread() + rt.clock.has_thread() + rt.manage.has_thread() +
               trace_has_thread() + reporting_threads() + policy_threads() + stand_in_runs() +
               g_layer_threads.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < rt.spare_threads.slots(); ++i)
    if (const worker *w = rt.slots[i].load(std::memory_order_acquire)) // O4: pairs with make_worker
      n += w->tid.load(std::memory_order_relaxed) > 0 &&
           !w->keeps_time.load(std::memory_order_relaxed);
  return n;
}

int start_layer_thread(const char *name, void (*run)(void *), void *argument) noexcept {
  thread made;
  if (const int failure = made.start(name, run, argument))
    return failure;
  made.forget(); // nothing waits for it
  g_layer_threads.fetch_add(1, std::memory_order_relaxed);
  return 0;
}
void forget_layer_threads_in_child() noexcept {
  g_layer_threads.store(0, std::memory_order_relaxed);
}

void stand_for_first_thread() noexcept {
  const int process = getpid();
  if (this_thread_id() != process && !thread_has_ended(process))
    return;
  if (g_stands_in.exchange(process, std::memory_order_relaxed) == process)
    return;
  pthread_attr_t attributes;
  pthread_t id;
  bool begun = false;
  if (pthread_attr_init(&attributes) == 0) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    begun = pthread_create(&id, &attributes, &stand_in, nullptr) == 0; // with the caller's mask
    pthread_attr_destroy(&attributes);
  }
  if (!begun)
    g_stands_in.store(0, std::memory_order_relaxed); // the next thread that ends tries again
}

} // namespace rt
} // namespace weft::inline v0
