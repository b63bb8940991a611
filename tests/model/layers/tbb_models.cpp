// SPDX-License-Identifier: Apache-2.0
// Models of layers/tbb/src/work_force.hpp: TBB wants a thread, which sleeps, works and leaves, while
// the connection ends. The server's functions around it are images of server.cpp.
#include "checker/models.hpp"

#include "layers/tbb/src/work_force.hpp"

#include <weft_common/spin_lock.hpp>

#include <mutex>

namespace {

using namespace weft_model;
using enum std::memory_order;

/// Is a lightweight thread that parks, or the closer.
struct parked_thread {
  model_atomic<bool> is_woken{false};
  void park() {
    model_atomics::await(is_woken, [](bool woken) { return woken; }, acquire);
    is_woken.exchange(false, acquire);
  }
  void unpark() { is_woken.store(true, release); }
};

struct model_worker : parked_thread {
  model_atomic<bool> awake{true};
  model_var<model_worker *> next_idle{nullptr};
};

struct server {
  using threads_of = weft_tbb::work_force<model_worker, parked_thread, model_atomics>;
  using next = threads_of::next;
  weft_common::spin_lock<model_atomics> lock;
  threads_of all;
  model_worker *worker = new model_worker;
  model_atomic<int> ends{0};
  model_atomic<bool> has_work{false};
  model_var<int> work{0};

  /// The thread has begun, and has slept since TBB wanted it no more.
  server() {
    all.start();
    expect(all.after_work(*worker) == next::sleep, "no thread is wanted");
  }

  // ---- TBB's calls
  void start_some() {
    const std::lock_guard here(lock);
    if (all.wants_more())
      if (model_worker *const w = all.wake_one())
        w->unpark();
  }
  void adjust(int delta) {
    {
      const std::lock_guard here(lock);
      all.adjust(delta);
    }
    if (delta > 0)
      start_some();
  }
  void close() {
    parked_thread closer;
    {
      const std::lock_guard here(lock);
      all.close([](model_worker &w) { w.unpark(); });
      if (all.live() == 0) {
        finish();
        return;
      }
      all.await_end(true);
    }
    bool goes_on = false;
    {
      const std::lock_guard here(lock);
      goes_on = all.has_parked(closer);
    }
    if (!goes_on)
      closer.park();
    finish();
  }
  void finish() { ends.fetch_add(1, relaxed); }

  // ---- the thread, from its sleep on
  /// Is the client's: there may be nothing to do yet.
  void process() {
    if (!has_work.load(acquire))
      return;
    work.set(work.get() + 1);
    has_work.store(false, release);
    adjust(-1);
  }
  void sleep() {
    while (!threads_of::is_awake(*worker))
      worker->park();
    start_some();
  }
  next after_work() {
    const std::lock_guard here(lock);
    return all.after_work(*worker);
  }
  void run_thread() {
    sleep();
    for (;;) {
      process();
      const next then = after_work();
      if (then == next::leave)
        break;
      if (then == next::again)
        model_atomics::yield();
      else
        sleep();
    }
    threads_of::end end;
    {
      const std::lock_guard here(lock);
      delete worker;
      end = all.leave();
    }
    if (end.closer)
      end.closer->unpark();
    else if (end.is_callers)
      finish();
  }
  void expect_ended(int done) {
    expect(ends.load(relaxed) == 1, "the connection ends once");
    expect(all.live() == 0, "behind its threads");
    expect(work.get() == done, "the work is done");
  }
};

/// TBB's work comes behind its wish for a thread, and is waited for; then the connection ends.
struct tbb_thread_works : server {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 1) {
      run_thread();
      return;
    }
    adjust(1);
    has_work.store(true, release);
    model_atomics::await(has_work, [](bool left) { return !left; }, acquire);
    close();
  }
  void check() { expect_ended(1); }
};
const passes<tbb_thread_works> t1{"tbb_threads_work"};

/// The connection ends while its thread sleeps, wakes or leaves.
struct tbb_connection_ends : server {
  static constexpr int threads = 2;
  void run(int t) {
    if (t == 1) {
      run_thread();
      return;
    }
    adjust(1);
    adjust(-1);
    close();
  }
  void check() { expect_ended(0); }
};
const passes<tbb_connection_ends> t2{"tbb_threads_leave"};

/// One thread of TBB's wants a thread while another no longer does: the changes may come in the other
/// order.
struct tbb_changes_cross : server {
  static constexpr int threads = 3;
  model_atomic<bool> has_taken_back{false};
  void run(int t) {
    if (t == 1) {
      run_thread();
    } else if (t == 2) {
      adjust(-1);
      has_taken_back.store(true, release);
    } else {
      adjust(1);
      adjust(1);
      has_work.store(true, release);
      model_atomics::await(has_work, [](bool left) { return !left; }, acquire);
      model_atomics::await(has_taken_back, [](bool has) { return has; }, acquire);
      close();
    }
  }
  void check() { expect_ended(1); }
};
const passes<tbb_changes_cross> t3{"tbb_threads_of_crossing_changes"};

} // namespace
