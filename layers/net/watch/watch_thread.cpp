// SPDX-License-Identifier: Apache-2.0
#include "watch/watch_thread.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string>
#include <system_error>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace weft_net_watch {

namespace {

// Sleeps of the thread: while others poll or the network cannot wake it, and at most, because UCX looks
// for dead peers in progress.
constexpr auto k_while_polled = std::chrono::milliseconds(1);
constexpr auto k_most = std::chrono::milliseconds(200);
// A network that cannot wake the thread is looked at again after this time, which doubles while
// nothing comes, up to k_while_polled.
constexpr auto k_least = std::chrono::microseconds(32);
constexpr unsigned long k_slack_ns = 1000;

} // namespace

void watch_thread::prepare(int wakes, const char *engine) {
  m_wakes = wakes;
  m_name = std::string("weft-net-") + engine;
  m_stops = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (m_stops < 0)
    throw weft::error(weft::errc::out_of_resources,
                      std::string(engine) + ": cannot make an eventfd: " + std::strerror(errno) +
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
bool watch_thread::sleep(bool until_woken, std::chrono::nanoseconds most) const noexcept {
  pollfd waits[2] = {{m_stops, POLLIN, 0}, {m_wakes, POLLIN, 0}};
  const timespec time{0, static_cast<long>(most.count())};
  ppoll(waits, until_woken ? 2 : 1, &time, nullptr);
  return waits[0].revents == 0;
}

void watch_thread::run(weft::net::engine_events &to) noexcept {
  pthread_setname_np(pthread_self(), m_name.c_str());
  prctl(PR_SET_TIMERSLACK, k_slack_ns, 0, 0, 0);
  std::chrono::nanoseconds pause = k_while_polled;
  std::uint64_t seen = m_calls.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t calls = m_calls.load(std::memory_order_relaxed);
    const bool is_polled = calls != seen;
    seen = calls;
    if (is_polled) { // by another thread: no need to
      if (!sleep(false, k_while_polled))
        return;
      continue;
    }
    m_is_armed.store(false, std::memory_order_relaxed);
    m_wants_arm.store(true, std::memory_order_relaxed);
    m_has_found.store(false, std::memory_order_relaxed);
    to.serve();
    m_wants_arm.store(false, std::memory_order_relaxed);
    seen = m_calls.load(std::memory_order_relaxed);
    const bool is_armed = m_is_armed.load(std::memory_order_relaxed);
    const bool has_found = m_has_found.load(std::memory_order_relaxed);
    if (!sleep(is_armed, is_armed ? k_most : has_found ? std::chrono::nanoseconds(0) : pause))
      return;
    pause = has_found ? std::chrono::nanoseconds(k_least)
                      : std::min<std::chrono::nanoseconds>(2 * pause, k_while_polled);
  }
}

} // namespace weft_net_watch
