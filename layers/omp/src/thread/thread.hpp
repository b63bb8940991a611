// SPDX-License-Identifier: Apache-2.0
// An OpenMP thread: a thread of the program, or a lightweight thread with a thread-local block of
// its own.
//
// Weft always runs with the thread-local block of the kernel thread that carries the caller.
// in_core() puts that block in place and, afterwards, the caller's own.
// User code, and this layer outside in_core(), run with the OpenMP thread's block; t_self is in it.
#pragma once

#include "config/icv.hpp"
#include "config/message.hpp"
#include "sync/parker_word.hpp"
#include "sync/spin.hpp"
#include "thread/task_pool.hpp"
#include "thread/tls.hpp"
#include "workshare/static_steal.hpp"

#include <weft/layer/external_thread.hpp>
#include <weft/layer/thread.hpp>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace weft_omp {

struct omp_team;
struct omp_task;
struct workshare;
struct thread;

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
  void wait(thread &me, int spins) noexcept;
  /// Waits while the reason holds.
  void wait_for(thread &me, const reason &why) noexcept;
  /// Waits as wait_for() does, but only if the kernel thread has another thread to run. Returns
  /// false if it has none.
  [[nodiscard]] bool park_if_runnable(thread &me, const reason &why) noexcept {
    return park(me, &why, true);
  }
  /// Signals the thread that waits here. Any thread may call it. `me`: the caller, or null if the
  /// caller is inside Weft already.
  void signal(thread *me) noexcept;
  /// Takes the parked thread, which the caller unparks. Null: no thread is parked, and one that
  /// parks now sees that its reason no longer holds.
  [[nodiscard]] weft::detail::runnable *take() noexcept { return m_word.take(); }

 private:
  static void publish(weft::detail::runnable &self, void *request);
  struct park_request {
    parker *at;
    const reason *why; // null: a signal
  };
  bool park(thread &me, const reason *why, bool if_runnable = false) noexcept;
  parker_word<weft::detail::runnable> m_word;
};

/// A thread's own part of its worksharing regions.
struct workshare_state {
  workshare *current = nullptr;
  std::uint64_t entered = 0; // regions so far
  std::uint64_t singles = 0; // single regions so far
  std::uint64_t trip = 0; // static chunks so far
  std::uint64_t first = 0, end = 0; // iterations of the chunk that runs
  basic_chunk_range<> *range =
      nullptr; // of a static_steal loop, once the member has asked for a chunk
  workshare *nest =
      nullptr; // of LLVM's doacross loops; nest_shape: first value, last, step of each dimension
  std::int64_t *nest_shape = nullptr;
  bool has_chunk = false;
  bool ordered = false; // of LLVM's loops
};

/// Where a thread runs: its place, the partition over which its regions spread, and the cpus to
/// which it is bound.
struct thread_placement {
  int place = -1; // number, from 0
  unsigned first = 0, count = 0; // places; none: all
  relaxed_value<const std::vector<int> *>
      cpus; // null: any. A late reader may see those of the next region
};

/// The placement that a thread displayed last.
struct displayed_placement {
  unsigned level = 0, threads = 0;
  int place = -1;
  bool operator==(const displayed_placement &) const = default;
};

/// What clauses ask of LLVM's next region.
struct asked_region {
  unsigned threads = 0, bind = 0, teams = 0, limit = 0;
  const level_list *levels = nullptr;
  bool strict = false,
       strict_is_fatal = false; // num_threads(strict: n): checked when the region begins
  const char *strict_message = nullptr;
};

/// What each member of a region runs: a function of the program, called as its compiler has it.
struct region_body {
  void (*call)(const region_body &) = nullptr;
  void (*f)() = nullptr;
  void *arguments = nullptr;
  unsigned count = 0; // of LLVM's

  region_body() = default;
  region_body(void (*how)(const region_body &), void (*what)(), void *with, unsigned n) noexcept
      : call(how), f(what), arguments(with), count(n) {}
  /// Makes a body as GCC compiles it.
  region_body(void (*what)(void *), void *data) noexcept
      : call(&call_with_data), f(reinterpret_cast<void (*)()>(what)), arguments(data) {}
  void operator()() const { call(*this); }

 private:
  static void call_with_data(const region_body &b) {
    reinterpret_cast<void (*)(void *)>(b.f)(b.arguments);
  }
};

/// What a lightweight thread has asked of the kernel (posix.hpp).
struct requests {
  relaxed_value<const std::vector<int> *> cpus,
      usual_cpus; // null: none in particular. usual_cpus: those of a program's thread before it used OpenMP
  int policy = 0, priority = 0; // both 0: as the workers'
  std::uint64_t mask = 0; // blocked signals
  bool has_mask = false; // false: the workers' mask holds, and `mask` is what the program sees
};

/// The data that each thread begins with anew, also when a thread that has ended left it the rest.
struct thread_state {
  omp_team *team = nullptr;
  omp_task *task = nullptr;
  std::uintptr_t stack_low = 0, stack_bytes = 0;
  unsigned number = 0;
  unsigned runs_on = 0; // number of the kernel thread below, from 1
  workshare_state workshare;
  thread_placement placement;
  requests asks;
  relaxed_value<int> tid_below{0}; // of the last kernel thread of a lightweight thread; a hint
  displayed_placement displayed;
  unsigned teams = 1, teams_number = 0; // of a teams region
  void *carrier = nullptr; // thread pointer of the kernel thread below
  omp_team *hot = nullptr; // of regions that this thread, as a member, begins
  void (*life)(thread &) = nullptr; // of a lightweight thread
  bool light = false;
  bool hosts_weft_task =
      false; // it represents a task of Weft's own, on a stack that any worker continues (proxy_thread.hpp)
  bool in_weft = false; // of a thread without a block of its own
  bool pinned = false; // the running code keeps its kernel thread until it waits: see preempt.cpp
  std::uintptr_t spot = 0; // where a signal found the thread; seen_there: how often in a row
  unsigned seen_there = 0;
  unsigned fruitless_spins = 0, spins_tried = 0; // see adaptive_spin
  unsigned yields = 0;
  unsigned keeps_cpu = 0, kept_cpu = 0; // see yield_now
  unsigned failed_tests = 0; // see count_failed_test
  asked_region asked;
};

/// An OpenMP thread. It is never freed: a thread that ends leaves it to a later thread (team.hpp).
struct alignas(64) thread : thread_state {
  void *block = nullptr; // thread-local, of a lightweight thread
  std::uint32_t gtid = 0; // LLVM's global thread id
  weft::layer::external_thread external; // of one of the program's
  bool is_known = false; // Weft knows of it
  std::atomic<std::uint64_t> signals{
      0}; // O1: sent to the thread and not delivered; fetch_or and fetch_and acq_rel
  thread *next_free = nullptr;
  record_pool pool;
  alignas(64) parker own_parker; // other threads read it in each region
  [[nodiscard]] bool is_of_program() const noexcept { return !light && !hosts_weft_task; }
};

// constinit: no access asks whether the variable has been set up.
extern constinit thread_local thread *t_self
    __attribute__((tls_model("initial-exec"))); // the thread that asked last with this block
extern constinit thread_local thread *t_of_block
    __attribute__((tls_model("initial-exec"))); // the owner of the block

/// Returns the thread that a block belongs to. Null: OpenMP does not know it.
inline thread *thread_of(void *block) noexcept {
  const auto offset = reinterpret_cast<char *>(&t_of_block) - static_cast<char *>(thread_pointer());
  return *reinterpret_cast<thread **>(static_cast<char *>(block) + offset);
}
/// Returns the lightweight thread that a block belongs to. Null: the block is a kernel thread's.
inline thread *light_thread_of(void *block) noexcept {
  return is_made_block(block) ? thread_of(block) : nullptr;
}

inline std::uintptr_t stack_pointer() noexcept {
  std::uintptr_t sp;
#if defined(__x86_64__)
  asm volatile("mov %%rsp, %0" : "=r"(sp));
#elif defined(__aarch64__)
  asm volatile("mov %0, sp" : "=r"(sp));
#endif
  return sp;
}

/// Returns the thread that runs here, or null if it is not known. A kernel thread also runs tasks
/// of Weft's own, with its own block: the stack tells these apart.
inline thread *self_or_null() noexcept {
  thread *const t = t_self;
  return t && stack_pointer() - t->stack_low < t->stack_bytes ? t : nullptr;
}
[[gnu::cold]] thread &find_self() noexcept;
inline thread &self() noexcept {
  thread *const t = self_or_null();
  return t ? *t : find_self();
}
/// Returns the thread that runs here, but makes none. Null: OpenMP has not been used here.
[[nodiscard]] thread *self_if_any() noexcept;
/// Returns the data of the process, after the environment has been read. For callers that need
/// nothing of their own thread.
inline globals &of_process() noexcept {
  (void)self();
  return g_globals;
}

/// A bounded spin before a thread parks. Each fruitless spin halves the limit, because spinning is
/// wasted when the awaited thread has no cpu, as beside busy processes.
class adaptive_spin {
 public:
  adaptive_spin(thread &t, int most) noexcept : m_thread(t), m_most(most) {
    const bool tries =
        t.fruitless_spins == 0 || g_globals.wait_policy == 1 || ++t.spins_tried % k_try_each == 0;
    m_left = tries ? most : most >> t.fruitless_spins;
  }
  [[nodiscard]] bool goes_on() noexcept {
    if (m_left <= 0)
      return false;
    --m_left;
    cpu_pause();
    return true;
  }
  /// Ends the spin. `well`: what the thread waits for came meanwhile.
  void end(bool well) noexcept {
    if (m_most == 0)
      return;
    if (well)
      m_thread.fruitless_spins /= 2;
    else if (m_thread.fruitless_spins < k_least)
      ++m_thread.fruitless_spins;
  }

 private:
  static constexpr unsigned k_try_each =
      64; // a whole spin costs some 60 us, so trying one costs 1 us per wait
  static constexpr unsigned k_least = 6; // halvings: a 64th costs about as much as parking
  thread &m_thread;
  int m_most, m_left;
};

/// Says whether any thread is bound to cpus, or has asked for something else that belongs to kernel
/// threads.
extern relaxed_value<bool> g_binds;
/// Binds the kernel thread below to the cpus of the OpenMP thread. The caller uses the kernel
/// thread's block.
void follow_binding(thread &me) noexcept;
/// Notes that a lightweight thread has come to a kernel thread, perhaps another one. The caller
/// uses the kernel thread's block.
/// It is not inlined, because the compiler must not keep thread-local addresses over this call.
[[gnu::noinline]] void arrive(thread &me) noexcept;
/// Returns the number of the caller's kernel thread, from 1.
[[nodiscard]] unsigned number_of_kernel_thread() noexcept;

/// Calls `f`, which may use Weft and may suspend, with the kernel thread's block.
template <class F>
inline void in_core(thread *me, F f) {
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

/// Starts a lightweight thread, as a member of a team or not. `gtid`: 0 for the next number.
/// Returns null if it cannot; a warning has given the reason.
thread *start_light_thread(thread &me, void (*life)(thread &), std::uint32_t gtid = 0,
                           omp_team *team = nullptr, unsigned number = 0) noexcept;

/// Notes that an initial thread begins a region, or has ended it. It is a hint for the watcher.
inline void take_part(thread &t) noexcept {
  t.external.participation_seq.store(
      t.external.participation_seq.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

/// Lets something else that is ready use the cpu. Returns false if the thread has kept its kernel
/// thread instead.
///
/// A program's own thread can go on only on its own kernel thread. Another thread that runs there
/// meanwhile may wait in the kernel for a lock that the program's thread holds: then the watcher
/// has that other thread called off.
/// A program's thread to which that has happened keeps its kernel thread the next times that it
/// yields. Where the layer cannot call threads off, a program's thread always keeps it.
bool yield_now(thread &me) noexcept;
/// Counts a failed test of a construct with which programs spin. A thread whose tests fail again
/// and again lets others run now and then.
inline void count_failed_test(thread &me) noexcept {
  constexpr unsigned k_looks = 64;
  if (++me.failed_tests % k_looks == 0) [[unlikely]]
    yield_now(me);
}
/// Lets a program's own thread run that is ready and can go on only on the caller's kernel thread.
void yield_to_pinned(thread &me) noexcept;
/// Returns how often a thread of this team looks before it parks.
int spins_for(const omp_team &t) noexcept;
/// Returns whether this process can no longer use Weft.
bool runtime_is_gone() noexcept;
[[nodiscard]] std::size_t known_threads() noexcept;

} // namespace weft_omp
