// SPDX-License-Identifier: Apache-2.0
#include "arch/tls_block.hpp"

#include "arch/thread_pointer.hpp"

#include <weft_common/rseq.hpp>

#include <algorithm>
#include <csignal>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {

namespace {

/// Unregisters the donor's restartable sequences. The kernel writes the donor's cpu into its block,
/// and has no other place for restartable sequences. In an unregistered block, a reader sees that
/// there is no cpu (sched_getcpu() then asks the kernel). A registered one would name the donor's
/// last cpu, and a sequence that another thread runs with the block would not be restarted.
void leave_rseq() noexcept {
  if (weft_common::has_rseq())
    weft_common::unregister_rseq(thread_pointer());
}

/// Returns the size of a donor's stack. The C library takes the block and its own data from the
/// stack too, so its minimum may be too little.
std::size_t donor_stack_bytes() noexcept {
  constexpr std::size_t k_own = 16 << 10;
  const long least = sysconf(_SC_THREAD_STACK_MIN);
  return k_own + static_cast<std::size_t>(std::max(least, 0L));
}

} // namespace

/// Donates the block of the calling thread, the donor. While the donor waits it stays in the
/// kernel, and pthread_cond_wait() sets no errno: the block is left alone.
void *tls_block::donate(void *self) {
  auto &b = *static_cast<tls_block *>(self);
  leave_rseq();
  pthread_mutex_lock(&b.m_mutex);
  b.m_thread_pointer = rt::thread_pointer();
  pthread_cond_signal(&b.m_changed);
  while (b.m_wanted)
    pthread_cond_wait(&b.m_changed, &b.m_mutex);
  b.m_thread_pointer = nullptr;
  pthread_mutex_unlock(&b.m_mutex);
  return nullptr;
}

int tls_block::open() noexcept {
  pthread_attr_t attributes;
  if (int e = pthread_attr_init(&attributes))
    return e;
  const std::size_t bytes = donor_stack_bytes();
  pthread_attr_setstacksize(&attributes, bytes);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // inherited: no handler may run on the donor
  m_wanted = true;
  const int e = pthread_create(&m_donor, &attributes, &donate, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (e != 0) {
    m_wanted = false;
    return e;
  }
  pthread_mutex_lock(&m_mutex);
  while (!m_thread_pointer)
    pthread_cond_wait(&m_changed, &m_mutex);
  pthread_mutex_unlock(&m_mutex);
  return 0;
}

void tls_block::close() noexcept {
  if (!m_wanted)
    return;
  pthread_mutex_lock(&m_mutex);
  m_wanted = false;
  pthread_cond_signal(&m_changed);
  pthread_mutex_unlock(&m_mutex);
  pthread_join(m_donor, nullptr);
}

} // namespace rt
} // namespace weft::inline v0
