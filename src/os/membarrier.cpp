// SPDX-License-Identifier: Apache-2.0
// The asymmetric StoreLoad barrier of atomic/atomic.hpp: a cheap half for a thread that publishes
// often, a dear half for a thread that seldom sleeps.
//
// Roles       Any thread calls either half. The constructor below runs when the library is loaded,
//             before any of Weft's threads exists.
// Word        g_meeting; its value has no meaning: only its modification order counts.
// Invariants  I1  A store before one half and a load after it are not reordered against the other
//                 half's pair. So, of two threads that each store, pass their half and load, at
//                 least one sees the other's store.
//             I2  g_light_barrier_is_full is false only after the kernel accepted the registration.
// Orders      O1  fetch_add(seq_cst) in full_barrier(), on both sides when membarrier is not used.
//                 Of two such operations the later one reads from the earlier (a release sequence),
//                 so its thread sees all that the other stored before. acq_rel would suffice for
//                 I1; seq_cst is used because it costs the same.
//             With membarrier the light half is a compiler barrier only, and the kernel interrupts
//             every running thread of the process. A thread that is not running passed a barrier in
//             the scheduler.
// Progress    Wait-free but for the system call.
// Reclamation None.
// Source      membarrier(2); J. Evans' and M. Desnoyers' userspace RCU uses the same pair.
// Checked by  tests/unit/os/membarrier_test.cpp; the models of what builds on it, with the
//             checker's own barriers.
#include "atomic/atomic.hpp"
#include "base/log.hpp"

#include <cerrno>
#include <cstring>

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
#define WEFT_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEFT_UNDER_TSAN 1
#endif
#endif

namespace weft::inline v0 {
namespace rt {

bool g_light_barrier_is_full = true;

namespace {

int membarrier(int command) noexcept {
  return static_cast<int>(syscall(SYS_membarrier, command, 0, 0));
}

[[maybe_unused]] bool register_process() noexcept {
  const int commands = membarrier(MEMBARRIER_CMD_QUERY);
  return commands >= 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0 &&
         membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

/// Chooses the barrier. 101 is the first priority that is not reserved: the choice comes before
/// every static object of the program that may use Weft.
[[gnu::constructor(101)]] void choose_barrier() noexcept {
#ifndef WEFT_UNDER_TSAN // TSan cannot see what the kernel orders
  const int saved = errno;
  g_light_barrier_is_full = !register_process();
  errno = saved;
#endif
}

} // namespace

void os_heavy_barrier() noexcept {
  if (g_light_barrier_is_full)
    return full_barrier();
  // A forked child inherits the registration (it belongs to the memory map), so this fails only
  // when a sandbox forbids the call later on; nothing that was built on the cheap half is right
  // then.
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0)
    fatal(
        "membarrier(PRIVATE_EXPEDITED) failed after it had been registered: %s; a seccomp filter must be "
        "installed before Weft is loaded, or allow membarrier",
        std::strerror(errno));
}

} // namespace rt
} // namespace weft::inline v0
