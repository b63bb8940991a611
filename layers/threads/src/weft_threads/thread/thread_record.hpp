// SPDX-License-Identifier: Apache-2.0
// The record of a thread: of a lightweight thread, which has a thread-local block of its own, or of
// a thread of the program that a runtime knows.
//
// Weft always runs with the thread-local block of the kernel thread that carries the caller.
// in_core() puts that block in place and, afterwards, the caller's own.
// User code, and doors outside in_core(), run with the thread's block; t_of_block is in it.
// Bodies: life.cpp, parker.cpp
#pragma once

#include "weft_threads/block/tls.hpp"
#include "weft_threads/sync/atomics.hpp"
#include "weft_threads/sync/parker_word.hpp"
#include "weft_threads/sync/spin.hpp"
#include "weft_threads/thread/hooks.hpp"

#include <weft/layer/external_thread.hpp>
#include <weft/layer/thread.hpp>
#include <weft_threads/light_thread.hpp>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <vector>

namespace weft_threads {

/// The place where one thread waits until another thread signals it, or until its reason to wait no
/// longer holds. One signal that comes before the wait is kept. A wait may end for no reason.
/// parker_word.hpp describes the protocol.
class parker {
 public:
  /// A reason to wait. The parker copies it, because it is evaluated on another stack.
  struct reason {
    bool (*holds)(const reason &) = nullptr;
    const void *object = nullptr;
    std::uint64_t number = 0;
    bool flag = false;
  };
  WEFT_THREADS_API void wait(thread_record &me, int spins) noexcept;
  /// Waits while the reason holds.
  WEFT_THREADS_API void wait_for(thread_record &me, const reason &why) noexcept;
  /// Waits as wait_for() does, but only if the kernel thread has another thread to run. Returns
  /// false if it has none.
  [[nodiscard]] bool park_if_runnable(thread_record &me, const reason &why) noexcept {
    return park(me, &why, parks::if_runnable);
  }
  /// Signals the thread that waits here. Any thread may call it. `me`: the caller, or null if the
  /// caller is inside Weft already.
  WEFT_THREADS_API void signal(thread_record *me) noexcept;
  /// Takes the parked thread, which the caller unparks. Null: no thread is parked, and one that
  /// parks now sees that its reason no longer holds.
  [[nodiscard]] weft::detail::runnable *take() noexcept { return m_word.take(); }

 private:
  static void publish(weft::detail::runnable &self, void *request);
  struct park_request {
    parker *at;
    const reason *why; // null: a signal
  };
  /// Says when a thread parks: always, or only if its kernel thread has another thread to run.
  enum class parks { always, if_runnable };
  /// Parks the thread. Returns false if it has not parked, because there is no other thread to run.
  WEFT_THREADS_API bool park(thread_record &me, const reason *why,
                             parks when = parks::always) noexcept;
  parker_word<weft::detail::runnable> m_word;
};

/// What a lightweight thread has asked of the kernel (posix.hpp).
struct requests {
  relaxed_value<const std::vector<int> *> cpus,
      usual_cpus; // null: none in particular. usual_cpus: those of a program's thread before it had a record
  int policy = 0, priority = 0; // both 0: as the workers'
  std::uint64_t mask = 0; // blocked signals
  bool has_mask = false; // false: the workers' mask holds, and `mask` is what the program sees
};

/// The data that each thread begins with anew, also when a thread that has ended left it the rest.
struct record_state {
  std::uintptr_t stack_low = 0, stack_bytes = 0;
  unsigned runs_on = 0; // number of the kernel thread below, from 1
  requests asks;
  relaxed_value<int> tid_below{0}; // of the last kernel thread of a lightweight thread; a hint
  void *carrier = nullptr; // thread pointer of the kernel thread below
  light_thread_request request; // of a lightweight thread
  /// Ends a runtime's part of the thread, after its destructors, with the thread's block in use.
  /// Returns false if a later thread must not get the record. Null: there is no part.
  bool (*end_part)(thread_record &) = nullptr;
  /// The cpus of the place where a runtime keeps the thread. Null: no runtime has places.
  const relaxed_value<const std::vector<int> *> *place = nullptr;
  bool light = false;
  bool hosts_weft_task =
      false; // it represents a task of Weft's own, on a stack that any worker continues
  bool in_weft = false; // of a thread without a block of its own
  bool pinned = false; // the running code keeps its kernel thread until it waits: see preempt.cpp
  std::uintptr_t spot = 0; // where a signal found the thread; seen_there: how often in a row
  unsigned seen_there = 0;
  unsigned fruitless_spins = 0, spins_tried = 0; // see adaptive_spin
  unsigned yields = 0;
  unsigned keeps_cpu = 0, kept_cpu = 0; // see yield_now
  unsigned failed_tests = 0; // see count_failed_test
};

/// The record of a thread. It is never freed: a thread that ends leaves it to a later thread.
struct alignas(64) thread_record : record_state {
  void *block = nullptr; // thread-local, of a lightweight thread
  weft::layer::external_thread external; // of one of the program's
  bool is_known = false; // Weft knows of it
  bool part_was_made = false; // the memory behind the record holds a runtime's part
  std::atomic<std::uint64_t> signals{
      0}; // O1: sent to the thread and not delivered; fetch_or and fetch_and acq_rel
  thread_record *next_free = nullptr;
  alignas(64) parker own_parker; // of a runtime; other threads read it all the time
  parker door_parker; // of park_light_thread(), whose signals no wait of a runtime may take
  [[nodiscard]] bool is_of_program() const noexcept { return !light && !hosts_weft_task; }
};

/// The bytes of a lightweight thread's record with the room behind it, in which one runtime, that of
/// OpenMP, makes its part when it first meets the thread. So the part has the address of the record
/// whichever door has started the thread.
inline constexpr std::size_t k_record_bytes = 1024;

// constinit: no access asks whether the variable has been set up.
/// The thread that asked a runtime last with this block; its part of that runtime has begun.
extern WEFT_THREADS_API constinit thread_local thread_record *t_self
    __attribute__((tls_model("initial-exec")));
/// The owner of the block.
extern WEFT_THREADS_API constinit thread_local thread_record *t_of_block
    __attribute__((tls_model("initial-exec")));

/// Returns the record of the thread that a block belongs to. Null: no door knows it.
inline thread_record *thread_of(void *block) noexcept {
  const auto offset = reinterpret_cast<char *>(&t_of_block) - static_cast<char *>(thread_pointer());
  return *reinterpret_cast<thread_record **>(static_cast<char *>(block) + offset);
}
/// Returns the lightweight thread that a block belongs to. Null: the block is a kernel thread's.
inline thread_record *light_thread_of(void *block) noexcept {
  return is_made_block(block) ? thread_of(block) : nullptr;
}

/// Returns the record of the thread whose code runs here, or null if there is none. A kernel thread
/// also runs tasks of Weft's own, with its own block: the stack tells these apart.
inline thread_record *running_record() noexcept {
  thread_record *const t = t_self ? t_self : t_of_block;
  return t && stack_pointer() - t->stack_low < t->stack_bytes ? t : nullptr;
}
/// Returns the same as running_record(), also on a thread of the program whose stack is not known.
/// Null where a task of Weft's own runs: it is inside Weft already.
[[nodiscard]] WEFT_THREADS_API thread_record *calling_record() noexcept;

/// Says whether waiting threads spin for as long as they may (OMP_WAIT_POLICY=active).
extern WEFT_THREADS_API relaxed_value<bool> g_spins_actively;

/// Says whether what a thread waits for came while it was spinning.
enum class spin_result { came, fruitless };

/// A bounded spin before a thread parks. Each fruitless spin halves the limit, because spinning is
/// wasted when the awaited thread has no cpu, as beside busy processes.
class adaptive_spin {
 public:
  adaptive_spin(thread_record &thread, int most) noexcept : m_thread(thread), m_most(most) {
    const bool tries =
        thread.fruitless_spins == 0 || g_spins_actively || ++thread.spins_tried % k_try_each == 0;
    m_left = tries ? most : most >> thread.fruitless_spins;
  }
  [[nodiscard]] bool goes_on() noexcept {
    if (m_left <= 0)
      return false;
    --m_left;
    cpu_pause();
    return true;
  }
  /// Ends the spin.
  void end(spin_result result) noexcept {
    if (m_most == 0)
      return;
    if (result == spin_result::came)
      m_thread.fruitless_spins /= 2;
    else if (m_thread.fruitless_spins < k_least)
      ++m_thread.fruitless_spins;
  }

 private:
  static constexpr unsigned k_try_each =
      64; // a whole spin costs some 60 us, so trying one costs 1 us per wait
  static constexpr unsigned k_least = 6; // halvings: a 64th costs about as much as parking
  thread_record &m_thread;
  int m_most, m_left;
};

/// Says whether any thread is bound to cpus, or has asked for something else that belongs to kernel
/// threads. Each library that swaps blocks has a copy (door.cpp), which begin_binding() sets.
extern relaxed_value<bool> g_binds __attribute__((visibility("hidden")));
/// Calls `f`, which may use Weft and may suspend, with the kernel thread's block.
template <class F>
inline void in_core(thread_record *me, F f) {
  if (!me)
    return f();
  if (!me->block) {
    if (me->hosts_weft_task) [[unlikely]]
      return f();
    const int before = errno; // no construct changes the errno that the program sees
    me->in_weft = true;
    f();
    me->in_weft = false;
    if (g_binds) [[unlikely]]
      follow_binding(*me);
    errno = before;
    return;
  }
  set_thread_pointer(me->carrier);
  f();
  me->carrier = thread_pointer();
  arrive(*me);
  set_thread_pointer(me->block);
}

/// Says whether a record may be one that a thread has left.
enum class record_is { any, fresh };
/// Returns an unused record with room behind it, in which a lightweight thread may be started.
/// Null: no memory.
[[nodiscard]] WEFT_THREADS_API thread_record *
take_record(record_is wanted = record_is::any) noexcept;
/// Puts a record back that no thread uses.
WEFT_THREADS_API void put_record(thread_record &thread) noexcept;
/// Starts a thread in a record of take_record(), whose `request` is set. Returns null, or the reason
/// why it cannot: then the record is still the caller's. `creator` null: the caller is inside Weft
/// or has no record.
[[nodiscard]] WEFT_THREADS_API const char *start_in(thread_record &thread,
                                                    thread_record *creator) noexcept;

/// Notes that a thread begins to take part in what workers do, or has ended that: of a thread of the
/// program, a hint for the watcher.
inline void take_part(thread_record &thread) noexcept {
  thread.external.participation_seq.store(
      thread.external.participation_seq.load(std::memory_order_relaxed) + 1,
      std::memory_order_relaxed);
}
/// Returns whether the thread takes part, so that lightweight threads may run in its place.
[[nodiscard]] inline bool takes_part(const thread_record &thread) noexcept {
  return thread.external.participation_seq.load(std::memory_order_relaxed) % 2 != 0;
}

/// Returns whether the caller is a lightweight thread that uses Weft's functions with its own block.
[[nodiscard]] bool is_carried() noexcept;
/// Parks such a thread while it waits in Weft: weft::layer::carrier_calls.
bool park_carried(void (*left)(weft::detail::runnable &self, void *context),
                  void *context) noexcept;

/// Lets something else that is ready use the cpu. Returns false if the thread has kept its kernel
/// thread instead.
///
/// A program's own thread can go on only on its own kernel thread. Another thread that runs there
/// meanwhile may wait in the kernel for a lock that the program's thread holds: then the watcher
/// has that other thread called off.
/// A program's thread to which that has happened keeps its kernel thread the next times that it
/// yields. Where the library cannot call threads off, a program's thread always keeps it.
WEFT_THREADS_API bool yield_now(thread_record &me) noexcept;
/// Counts a failed test of a construct with which programs spin. A thread whose tests fail again
/// and again lets others run now and then.
inline void count_failed_test(thread_record &me) noexcept {
  constexpr unsigned k_looks = 64;
  if (++me.failed_tests % k_looks == 0) [[unlikely]]
    yield_now(me);
}
/// Lets a program's own thread run that is ready and can go on only on the caller's kernel thread.
WEFT_THREADS_API void yield_to_pinned(thread_record &me) noexcept;
/// Makes runtime_is_gone() true.
WEFT_THREADS_API void give_up_runtime() noexcept;

} // namespace weft_threads
