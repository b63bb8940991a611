// SPDX-License-Identifier: Apache-2.0
// What a call of MPI finds out about its caller, and how it suspends the caller's task.
//
// A task is parked in Weft, one of another layer (OpenMP) as well: its stack is that of a thread which Weft suspends. So
// block() and unblock() of either, and their tokens, are the user's.
//
// Roles       Waiter: the task, in wait_for. Poller: the service, one thread at a time.
// Invariants  I1  The poller finds a `suspended` only when its waiter has left the stack, and m_frame is written: the
//                 function that park_blocked() calls on another stack adds it.
//             I2  The poller resumes it once, when it is in no list any more, and unpark() is the poller's last access
//                 to it and to the task. Only then can the waiter go on, end its task, and have both used again.
// Orders      The lock of the table is between add() and the poller; park_blocked() and unpark() are between the poller
//             and the waiter.
// Checked by  layers/mpi/tests: openmp.cpp, calls.cpp; the suspension: tests/model/suspension_models.cpp
#pragma once

#include "weft_mpi/service/begun.hpp"
#include "weft_mpi/service/errors.hpp"
#include "weft_mpi/service/service.hpp"

#include <weft/layer/task.hpp>
#include <weft/layer/thread.hpp>

#include <atomic>
#include <string>

namespace weft_mpi {

/// Says what a call of MPI may do.
enum class may {
  pass, ///< no task runs here: the call is MPI's own
  suspend, ///< a task runs here
  not_call ///< MPI may not be called here, and a message has said so
};

class caller {
 public:
  /// Finds out. `name` is that of the function of MPI, for messages.
  explicit caller(const char *name) noexcept;

  [[nodiscard]] bool is_task() const noexcept { return m_may == may::suspend; }
  [[nodiscard]] bool is_refused() const noexcept { return m_may == may::not_call; }
  [[nodiscard]] const char *name() const noexcept { return m_name; }
  /// Returns the error of a refused call, which it has told the handler of MPI_COMM_WORLD.
  [[nodiscard]] int refuse() const noexcept;

  /// Suspends the task until `ended()` holds, which the polling service asks. If that is not possible,
  /// because there is no stack to go on with, it returns at once: MPI's own wait follows.
  template <class Ended>
  void wait_until(Ended &&ended, const awaited &what = {}) const noexcept {
    wait_until(ended, what, [] { return MPI_REQUEST_NULL; });
  }
  /// The same, of a call that waits for requests: `request()` is one that it waits for now. Reports ask, and the
  /// service does not ask for the end meanwhile.
  template <class Ended, class Request>
  void wait_until(Ended &&ended, const awaited &what, Request &&request) const noexcept {
    if (ended())
      return;
    struct waiting final : suspended {
      waiting(const caller &calling, Ended &is_over, const awaited &waits,
              Request &of_request) noexcept
          : suspended(calling), ended(is_over), what(waits), request(of_request) {}
      bool has_ended() noexcept override { return ended(); }
      [[nodiscard]] std::string describe() const override {
        const begun_call began = begun_of(request());
        return name() + (began.name ? " of " + text_of(began) : text_of(what));
      }
      Ended &ended;
      const awaited what;
      Request &request;
    } w(*this, ended, what, request);
    wait_for(w);
  }

  /// Waits for a request of the library's own, and ends the request as the blocking call on `comm`.
  [[nodiscard]] int finish(MPI_Comm comm, MPI_Request &request, MPI_Status *status,
                           awaited what = {awaited::is::all}) const noexcept {
    if (what.who == awaited::is::all)
      what.comm = comm;
    wait_until([&request] { return is_complete(request); }, what);
    return weft_mpi::finish(comm, request, status);
  }

  /// Runs `f()`, which may block in MPI, on a thread of the library, and suspends the task meanwhile.
  template <class F>
  int on_helper(F &&f) const noexcept {
    struct job {
      F &f;
      std::atomic<bool> is_over{false};
      int result = MPI_SUCCESS;
    } j{f};
    const auto run = [](void *p) noexcept {
      auto &own = *static_cast<job *>(p);
      own.result = own.f();
      own.is_over.store(true, std::memory_order_release); // O1: after the call's effects
    };
    if (!give_to_helper(run, &j))
      return f();
    wait_until([&j] { return j.is_over.load(std::memory_order_acquire); }); // O1
    while (!j.is_over.load(std::memory_order_acquire)) // O1: the task could not be suspended
      yield_kernel_thread();
    return j.result;
  }

  /// Lets other ready work run, for a test that found nothing: a task may test in a loop.
  void yield() const noexcept;

 private:
  class suspended : public call {
   public:
    explicit suspended(const caller &calling) noexcept
        : call(calling.m_name), m_other(calling.m_other), m_task(calling.m_task) {}

   protected:
    ~suspended() = default;

   private:
    friend class caller;
    void resume() noexcept final;
    [[nodiscard]] waiter who() const override { return waiter_of({m_task, m_other}); }

    void *const m_other;
    const weft::task_ref m_task;
    weft::detail::runnable *m_frame = nullptr;
  };

  void wait_for(suspended &waiting) const noexcept;
  static bool give_to_helper(void (*run)(void *) noexcept, void *job) noexcept;

  const char *const m_name;
  void *m_other = nullptr; // the task of another layer
  weft::task_ref m_task; // else Weft's
  may m_may = may::pass;
};

/// Returns the level of threads that MPI has given, or -1 while MPI is not initialised.
[[nodiscard]] int thread_level() noexcept;
/// Forgets it: MPI has just been initialised, or is about to end.
void forget_thread_level() noexcept;
/// Notes that the program has begun MPI by a session: blocking calls in tasks warn unless it calls MPI_Init, too.
void note_session() noexcept;
/// Ends the threads of on_helper(), which are idle. Called before MPI ends.
void end_helpers() noexcept;

} // namespace weft_mpi
