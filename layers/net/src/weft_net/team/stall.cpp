// SPDX-License-Identifier: Apache-2.0
#include "weft_net/team/stall.hpp"

#include "weft_net/boot/report.hpp"
#include "weft_net/engine/setting.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <utility>

#include <pthread.h>
#include <unistd.h>

namespace weft_net {

namespace {

constexpr std::chrono::microseconds k_most_sleep = std::chrono::seconds(1);

/// Returns the lines, or what stands for none.
std::string or_nothing(std::string lines) {
  return lines.empty() ? "waits for nothing that another rank sends\n" : std::move(lines);
}

} // namespace

stall_watch &stall_watch::of_process() {
  static stall_watch *const all = new stall_watch; // never destroyed: teams may end late
  return *all;
}

void stall_watch::add(stall_watched &one) noexcept {
  const std::lock_guard guard(m_lock);
  one.m_since = clock::now();
  try {
    m_limit = time_of_setting("net.stall");
    if (m_limit.count() == 0)
      return;
    m_all.push_back(&one);
  } catch (const std::bad_alloc &) { // nothing is reported of it
    return;
  }
  if (m_thread.joinable())
    return;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // signals are the program's
  try {
    m_thread = std::thread([this] { run(); });
  } catch (const std::exception &) { // no thread or no memory for it: the next one tries again
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void stall_watch::remove(stall_watched &one) noexcept {
  std::thread ended;
  {
    const std::lock_guard guard(m_lock);
    if (std::erase(m_all, &one) == 0 || !m_all.empty())
      return;
    ended = std::move(m_thread);
  }
  m_changed.notify_all();
  if (ended.joinable())
    ended.join();
}

void stall_watch::set_sink(std::function<void(const std::string &)> sink) {
  const std::lock_guard guard(m_lock);
  m_sink = std::move(sink);
}

std::string stall_watch::report_alone() {
  const std::lock_guard guard(m_lock);
  if (m_all.empty())
    return or_nothing("");
  m_all[0]->m_is_reported = true; // another rank was first
  return or_nothing(m_all[0]->waits());
}

void stall_watch::run() {
  pthread_setname_np(pthread_self(), "weft-net-stall");
  const pthread_t self = pthread_self();
  std::unique_lock guard(m_lock);
  const auto is_over = [this, self] {
    return m_all.empty() || !pthread_equal(m_thread.native_handle(), self);
  };
  while (!is_over()) {
    m_changed.wait_for(guard, std::min(m_limit / 4, k_most_sleep));
    if (!is_over())
      look(clock::now());
  }
}

/// Looks whether something has arrived at each team. With the lock.
void stall_watch::look(clock::time_point now) {
  for (stall_watched *const one : m_all) {
    const std::uint64_t arrivals = one->m_arrivals.load(std::memory_order_relaxed);
    if (arrivals != one->m_seen || one->waits().empty()) {
      one->m_seen = arrivals;
      one->m_since = now;
      one->m_is_reported = false;
    } else if (!one->m_is_reported && now - one->m_since >= m_limit) {
      report(*one);
    }
  }
}

/// Reports what all ranks wait for. With the lock.
void stall_watch::report(const stall_watched &first) {
  if (!first.world() && m_sink) {
    for (stall_watched *const one : m_all)
      one->m_is_reported = true;
    return m_sink(or_nothing(m_all[0]->waits()));
  }
  std::vector<std::string> reports;
  for (stall_watched *const one : m_all) {
    if (one->world() != first.world())
      continue;
    one->m_is_reported = true;
    const auto rank = static_cast<std::size_t>(one->own());
    reports.resize(std::max(reports.size(), rank + 1));
    reports[rank] = or_nothing(one->waits());
  }
  const std::string text = stall_report(first.own(), reports);
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

} // namespace weft_net

namespace weft::inline v0 {
namespace net {

void stall_watched::watch() noexcept { weft_net::stall_watch::of_process().add(*this); }
void stall_watched::unwatch() noexcept { weft_net::stall_watch::of_process().remove(*this); }

} // namespace net
} // namespace weft::inline v0
