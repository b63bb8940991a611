// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <weft/layer/thread.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include <pthread.h>

namespace weft_tbb {

namespace layer = weft::layer;

/// A lightweight thread of a server.
struct server::worker {
  server &owner;
  const unsigned life;
  thread_record *thread = nullptr;
  worker *next = nullptr;
  real_atomics::var<worker *> next_idle{};
  std::atomic<bool> awake{true}; // of work_force
  layer::stack_range stack{};
};

/// The object that TBB calls, of either generation.
template <class Interface>
class server::facade final : public Interface {
 public:
  explicit facade(server &owner) noexcept : m_server(owner) {}
  unsigned version() const override { return abi::k_version; }
  void request_close_connection(bool) override { m_server.close(); }
  void yield() override { yield_light_thread(); }
  void independent_thread_number_changed(int) override {}
  // Any number of lightweight threads can run; TBB warns where it wants more than this.
  unsigned default_concurrency() const override { return m_server.m_limit; }
  void adjust_job_count_estimate(int delta) override { m_server.adjust(delta); }

 private:
  server &m_server;
};

namespace {

constexpr std::size_t k_margin = std::size_t{64} << 10; // of a stack, for what is below TBB
constexpr unsigned k_rounds_before_fork = 1000; // of 0.1 ms, and longer on a busy machine

struct registry {
  std::mutex lock;
  server *first = nullptr;
};
registry &all() noexcept {
  static registry *const r = new registry; // never destroyed: TBB may end after this library
  return *r;
}

// When the library is loaded: it is loaded before TBB has threads.
[[maybe_unused]] const int g_fork_waits = pthread_atfork(&server::before_fork, nullptr, nullptr);

} // namespace

server::server(any_client client)
    : m_client(client), m_limit(client.max_job_count()),
      m_stack(client.min_stack_size() ? client.min_stack_size() + k_margin : 0) {
  const auto use = [this](auto *made) {
    m_facade = made;
    m_delete_facade = [](void *p) { delete static_cast<decltype(made)>(p); };
  };
  if (client.is() == generation::classic)
    use(new facade<abi::classic::server>(*this));
  else
    use(new facade<abi::one::server>(*this));
}

server::~server() { m_delete_facade(m_facade); }

void *server::make(any_client client) {
  server *const s = new server(client);
  static const bool once = [] {
    forget_in_child(&forget_all);
    outlive_exit(&any_works);
    return true;
  }();
  (void)once;
  in_weft([&] {
    std::lock_guard lock(all().lock);
    s->m_next = std::exchange(all().first, s);
  });
  return s->m_facade;
}

bool server::any_works() noexcept {
  std::lock_guard lock(all().lock);
  for (server *s = all().first; s; s = s->m_next) {
    std::lock_guard own(s->m_lock);
    if (s->m_threads.working() != 0)
      return true;
  }
  return false;
}

void server::adjust(int delta) {
  in_weft([&] {
    std::lock_guard lock(m_lock);
    m_threads.adjust(delta);
  });
  if (delta > 0)
    start_some();
}

void server::start_some() noexcept {
  in_weft([&] {
    std::lock_guard lock(m_lock);
    for (int i = 0; i < 2; ++i)
      if (!m_threads.wants_more() || !start_one())
        return;
  });
}

/// Wakes or starts a thread. The lock is held: a thread that is woken leaves only with the lock, so
/// it lives until unpark() has returned.
bool server::start_one() noexcept {
  if (worker *const w = m_threads.wake_one()) {
    unpark(*w->thread);
    return true;
  }
  if (m_threads.live() >= m_limit)
    return false;
  worker *const w = new (std::nothrow) worker{*this, m_life};
  const char *reason = "out of memory";
  if (w)
    w->thread = start_light_thread(
        m_stack,
        [](void *p) {
          worker *const me = static_cast<worker *>(p);
          me->owner.work(*me);
        },
        [](void *p) {
          worker *const me = static_cast<worker *>(p);
          me->owner.leave(*me);
        },
        w, reason);
  if (!w || !w->thread) {
    if (!m_warned && !runtime_is_gone())
      std::fprintf(stderr,
                   "weft: warning: cannot start a thread for TBB (%s); other threads do its work\n",
                   reason);
    m_warned = true;
    delete w;
    return false;
  }
  w->next = std::exchange(m_workers, w);
  m_threads.start();
  return true;
}

void server::work(worker &me) noexcept {
  in_weft([&] {
    const layer::stack_range stack = layer::own_stack();
    std::lock_guard lock(m_lock);
    me.stack = stack;
  });
  start_some();
  abi::job &job = m_client.create_one_job();
  for (;;) {
    m_client.process(job);
    const threads::next then = after_work(me);
    if (then == threads::next::leave)
      break;
    if (then == threads::next::again) {
      yield_light_thread();
      continue;
    }
    while (!threads::is_awake(me))
      park_light_thread();
    start_some();
  }
  m_client.cleanup(job);
}

server::threads::next server::after_work(worker &me) noexcept {
  threads::next then = threads::next::again;
  in_weft([&] {
    std::lock_guard lock(m_lock);
    if (me.life == m_life) // else the only thread of a child: it cannot sleep
      then = m_threads.after_work(me);
  });
  return then;
}

/// Ends a thread. The destructors of its variables, TBB's own among them, have run: the thread that ends TBB
/// may unload it next, or fork.
void server::leave(worker &me) noexcept {
  threads::end end;
  in_weft([&] {
    std::lock_guard lock(m_lock);
    worker **at = &m_workers;
    while (*at != &me)
      at = &(*at)->next;
    *at = me.next;
    delete &me;
    end = m_threads.leave();
  });
  if (end.closer)
    in_weft([&] { layer::unpark(*end.closer); });
  else if (end.is_callers)
    finish();
}

bool server::is_on_own_thread() noexcept {
  const char here = 0;
  for (const worker *w = m_workers; w; w = w->next)
    if (reinterpret_cast<std::uintptr_t>(&here) - reinterpret_cast<std::uintptr_t>(w->stack.low) <
        w->stack.bytes)
      return true;
  return false;
}

/// Ends the connection. The caller waits until all threads have left, so that what it does next
/// (unload TBB, fork, end) finds none. A thread of the server cannot wait for itself.
///
/// From the look at the threads on, the caller is awaited, and so the last thread leaves the end to it.
/// That thread may come before the caller has parked: then it finds no closer, and the caller, which
/// finds no threads, wakes itself. No stack unlocks what another one has locked.
void server::close() noexcept {
  bool finishes = false;
  in_weft([&] {
    {
      std::lock_guard lock(m_lock);
      m_threads.close([](worker &w) { unpark(*w.thread); });
      finishes = m_threads.live() == 0;
      if (finishes || runtime_is_gone() || is_on_own_thread())
        return;
      m_threads.await_end(true);
    }
    try {
      layer::park(
          [](weft::detail::runnable &self, void *p) {
            if (static_cast<server *>(p)->has_parked(self))
              layer::unpark(self);
          },
          this);
      finishes = true;
    } catch (const std::exception &) { // no stack for others: the last thread finishes
      std::lock_guard lock(m_lock);
      m_threads.await_end(false);
      finishes = m_threads.live() == 0;
    }
  });
  if (finishes)
    finish();
}

/// Returns whether all threads have left before the closer parked. Else the last one wakes it, and the
/// server may be gone at the return.
bool server::has_parked(weft::detail::runnable &closer) noexcept {
  std::lock_guard lock(m_lock);
  return m_threads.has_parked(closer);
}

void server::finish() noexcept {
  in_weft([&] {
    std::lock_guard lock(all().lock);
    server **at = &all().first;
    while (*at != this)
      at = &(*at)->m_next;
    *at = m_next;
  });
  const any_client client = m_client;
  delete this;
  client.acknowledge_close_connection();
}

/// Waits until no thread works for a client, because such a thread may hold a lock of TBB's, which
/// the child would find taken for ever: threads look for work for a while after a loop has ended.
/// Gives up where TBB has work for long. The child of a task or of a lightweight thread is none
/// that may use TBB, so these do not wait.
///
/// The caller only sleeps: as a worker it would run tasks, too, which may wait for what it holds. Where
/// it is the only worker a spare runs TBB's threads.
void server::before_fork() noexcept {
  if (runtime_is_gone() || this_light_thread() || layer::own_stack().low)
    return;
  for (unsigned round = 0; round < k_rounds_before_fork && any_works(); ++round)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void server::forget_all() noexcept {
  new (&all().lock) std::mutex;
  for (server *s = all().first; s; s = s->m_next) {
    new (&s->m_lock) std::mutex;
    s->m_workers = nullptr;
    s->m_threads.forget();
    ++s->m_life;
  }
}

} // namespace weft_tbb
