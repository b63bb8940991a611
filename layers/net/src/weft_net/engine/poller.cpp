// SPDX-License-Identifier: Apache-2.0
#include "weft_net/engine/poller.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include <sched.h>

namespace weft_net {

void polled::begin_wait() {
  expect_one();
  try {
    be_watched();
  } catch (...) {
    found_one();
    throw;
  }
}

thread_local bool t_is_of_engine = false;

void polled::be_watched() {
  if (!is_own() || !m_watch.watch())
    return;
  try {
    if (!poller::of_process().add(*this))
      m_watch.unwatch();
  } catch (...) {
    m_watch.unwatch(); // the next one tries again
    throw;
  }
}

void polled::leave() noexcept {
  if (is_own())
    poller::of_process().remove(*this);
}

namespace {
std::atomic<poller *> g_newest{nullptr};
} // namespace

poller &poller::of_process() {
  poller *newest = g_newest.load(std::memory_order_acquire);
  while (!newest || newest->m_forks != forks()) {
    auto made = std::make_unique<poller>();
    if (g_newest.compare_exchange_strong(newest, made.get(), std::memory_order_acq_rel, std::memory_order_acquire))
      newest = made.release(); // never destroyed: the service may run as the process ends
  }
  return *newest;
}

bool poller::add(polled &source) {
  {
    const std::lock_guard lock(m_lock);
    if (m_has_service == service_is::absent && t_is_of_engine && source.is_woken())
      return false;
    m_list.push_back(&source);
    m_quiet = 0;
    if (m_has_service != service_is::absent)
      return true;
    m_has_service = service_is::being_made;
  }
  make_service();
  return true;
}

void poller::note_thread_of_engine() noexcept { t_is_of_engine = true; }

/// The constructor of a service may start Weft, and the service may be called before it returns.
void poller::make_service() {
  weft::service *made = nullptr;
  try {
    made = new weft::service(
        "net", weft::poll_point::idle,
        [](void *self) { return static_cast<poller *>(self)->poll(); }, this);
  } catch (...) {
    const std::lock_guard lock(m_lock);
    m_has_service = service_is::absent;
    for (polled *const p : m_list)
      p->m_watch.unwatch();
    m_list.clear();
    throw;
  }
  const std::lock_guard lock(m_lock);
  m_service = made;
  m_has_service = service_is::present;
}

void poller::remove(polled &source) noexcept {
  for (;;) {
    {
      const std::lock_guard lock(m_lock);
      std::erase(m_list, &source);
      if (m_in_poll != &source)
        return;
    }
    sched_yield(); // a call of poll() takes a moment
  }
}

bool poller::has_service() noexcept {
  const std::lock_guard lock(m_lock);
  return m_has_service != service_is::absent;
}

/// Makes a round. Objects may come and go meanwhile.
bool poller::poll() {
  if (m_forks != forks())
    return end_in_child();
  std::size_t found = 0;
  for (std::size_t i = 0;; ++i) {
    polled *now;
    {
      const std::lock_guard lock(m_lock);
      m_in_poll = nullptr;
      if (i >= m_list.size())
        break;
      now = m_in_poll = m_list[i];
    }
    const std::size_t here = now->poll();
    found += here;
    const std::lock_guard lock(m_lock);
    const auto at = std::ranges::find(m_list, now);
    if (at == m_list.end())
      continue; // it has left: it may be gone
    now->m_fruitless = here != 0 ? 0 : now->m_fruitless + 1;
    if (here != 0)
      continue;
    bool is_left = now->m_watch.forget();
    if (!is_left && now->m_fruitless >= k_most_fruitless && now->is_woken()) {
      now->m_watch.unwatch(); // whatever is submitted or comes enters it again
      is_left = true;
    }
    if (is_left) {
      now->m_fruitless = 0;
      m_list.erase(at);
      --i;
    }
  }
  return found != 0 || end_if_quiet();
}

/// Ends the copy of the parent's service. A thread that is not in the child may hold the lock, and none that is there
/// takes it. Returns false, as end_if_quiet().
bool poller::end_in_child() {
  delete std::exchange(m_service, nullptr);
  return false;
}

/// Ends the service when there has been nothing to poll for a while. Returns false: it did nothing
/// that the caller should come back for.
bool poller::end_if_quiet() {
  std::unique_ptr<weft::service> ended;
  const std::lock_guard lock(m_lock);
  if (!m_list.empty())
    m_quiet = 0;
  else if (++m_quiet >= k_quiet_rounds && m_has_service == service_is::present) {
    m_has_service = service_is::absent;
    ended.reset(std::exchange(m_service, nullptr));
  }
  return false;
}

} // namespace weft_net
