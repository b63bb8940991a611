// SPDX-License-Identifier: Apache-2.0
#include "ucx/watch_thread.hpp"

#include <weft/error.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <system_error>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace weft_net_ucx {

namespace {

// Sleeps of the thread: while others poll, and at most, because UCX looks for dead peers in progress.
constexpr int k_while_polled_ms = 1;
constexpr int k_most_ms = 200;

} // namespace

void watch_thread::prepare(int wakes) {
  m_wakes = wakes;
  m_stops = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (m_stops < 0)
    throw weft::error(weft::errc::out_of_resources, std::string("ucx: cannot make an eventfd: ") +
                                                        std::strerror(errno) +
                                                        "; `ulimit -n` bounds them");
}

bool watch_thread::start(weft::net::engine_events &to) noexcept {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // signals are the program's
  try {
    m_thread = std::thread([this, &to] { run(to); });
  } catch (const std::system_error &) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return m_thread.joinable();
}

void watch_thread::stop() noexcept {
  if (m_thread.joinable()) {
    const std::uint64_t one = 1;
    static_cast<void>(!write(m_stops, &one, sizeof one));
    m_thread.join();
  }
  if (m_stops >= 0)
    close(m_stops);
  m_stops = -1;
}

/// Returns false when the thread is to end.
bool watch_thread::sleep(bool until_woken, int milliseconds) const noexcept {
  pollfd waits[2] = {{m_stops, POLLIN, 0}, {m_wakes, POLLIN, 0}};
  poll(waits, until_woken ? 2 : 1, milliseconds);
  return waits[0].revents == 0;
}

void watch_thread::run(weft::net::engine_events &to) noexcept {
  pthread_setname_np(pthread_self(), "weft-net-ucx");
  std::uint64_t seen = m_calls.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t calls = m_calls.load(std::memory_order_relaxed);
    const bool is_polled = calls != seen;
    seen = calls;
    if (is_polled) { // by another thread: no need to
      if (!sleep(false, k_while_polled_ms))
        return;
      continue;
    }
    m_is_armed.store(false, std::memory_order_relaxed);
    m_wants_arm.store(true, std::memory_order_relaxed);
    to.serve();
    m_wants_arm.store(false, std::memory_order_relaxed);
    seen = m_calls.load(std::memory_order_relaxed);
    const bool is_armed = m_is_armed.load(std::memory_order_relaxed);
    if (!sleep(is_armed, is_armed ? k_most_ms : k_while_polled_ms))
      return;
  }
}

} // namespace weft_net_ucx
