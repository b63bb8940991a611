// SPDX-License-Identifier: Apache-2.0
// What gives one TBB its worker threads.
//
// TBB says by how much its need of threads changes. The server starts or wakes that many
// lightweight threads. Each calls the client's process(), which works for TBB until TBB has nothing
// for it, and sleeps when there are more such threads than TBB needs.
#pragma once

#include "client.hpp"
#include "work_force.hpp"
#include "worker_thread.hpp"

#include <mutex>

#include <weft/detail/core.hpp>

namespace weft_tbb {

class server final {
 public:
  server(const server &) = delete;
  server &operator=(const server &) = delete;
  /// Makes a server for a client and returns the object that TBB calls. The server ends with the
  /// client's call of request_close_connection().
  [[nodiscard]] static void *make(any_client client);

  /// Returns whether a thread of any server is at work for its client.
  [[nodiscard]] static bool any_works() noexcept;
  /// Prepares for a fork(): waits until TBB is at rest, for 0.1 s at least.
  static void before_fork() noexcept;

 private:
  struct worker;
  template <class Interface>
  class facade;

  explicit server(any_client client);
  ~server();

  void adjust(int delta);
  /// Starts or wakes threads while there are fewer than TBB wants, two at most: each of them does
  /// the same.
  void start_some() noexcept;
  [[nodiscard]] bool start_one() noexcept;
  void work(worker &me) noexcept;
  using threads = work_force<worker, weft::detail::runnable>;
  [[nodiscard]] threads::next after_work(worker &me) noexcept;
  void leave(worker &me) noexcept;
  void close() noexcept;
  [[nodiscard]] bool has_parked(weft::detail::runnable &closer) noexcept;
  [[nodiscard]] bool is_on_own_thread() noexcept;
  void finish() noexcept;
  static void forget_all() noexcept;

  const any_client m_client;
  const unsigned m_limit;
  const std::size_t m_stack;
  void *m_facade = nullptr;
  void (*m_delete_facade)(void *) = nullptr;
  server *m_next = nullptr; // of all servers

  std::mutex m_lock; // protects all that follows
  threads m_threads;
  unsigned m_life = 0; // children of fork() so far: a thread of another life is the parent's
  worker *m_workers = nullptr;
  bool m_warned = false;
};

} // namespace weft_tbb
