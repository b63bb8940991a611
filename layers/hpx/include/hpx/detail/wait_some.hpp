// SPDX-License-Identifier: Apache-2.0
// Waits for some of several futures, which stay the caller's.
#pragma once

#include <weft/future.hpp>
#include <weft/sync/semaphore.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace hpx::detail {

/// Counts futures that become ready. It lives until each node was taken back or its record has run.
class ready_count {
 public:
  explicit ready_count(const std::vector<weft::detail::task *> &states)
      : m_users(states.size() + 1) {
    m_nodes.reserve(states.size());
    for (weft::detail::task *state : states) {
      m_nodes.push_back(std::make_unique<node>(*this, state));
      weft::detail::task_start(state);
      if (!weft::detail::task_attach(state, m_nodes.back().get())) {
        m_nodes.back()->attached = false;
        m_ready.release();
        leave();
      }
    }
  }
  void wait(std::size_t n) {
    while (n-- != 0)
      m_ready.acquire();
  }
  /// Takes back what is not ready; the object ends itself.
  void end() noexcept {
    for (const auto &n : m_nodes)
      if (n->attached && weft::detail::task_detach(n->state, n.get()))
        leave();
    leave();
  }

 private:
  struct node : weft::detail::posting_waiter {
    node(ready_count &all, weft::detail::task *t) noexcept
        : posting_waiter(&run), of(&all), state(t) {}
    static void run(weft::detail::call_record *call) noexcept {
      ready_count &all =
          *static_cast<node *>(static_cast<weft::detail::posted_call *>(call)->owner)->of;
      all.m_ready.release();
      all.leave();
    }
    ready_count *of;
    weft::detail::task *state;
    bool attached = true;
  };
  void leave() noexcept {
    if (m_users.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

  weft::counting_semaphore<> m_ready{0};
  std::atomic<std::size_t> m_users;
  std::vector<std::unique_ptr<node>> m_nodes;
};

inline void wait_some_of(std::size_t n, const std::vector<weft::detail::task *> &states) {
  struct ender {
    ~ender() { count->end(); }
    ready_count *count;
  } const all{new ready_count(states)};
  all.count->wait(n < states.size() ? n : states.size());
}

} // namespace hpx::detail
