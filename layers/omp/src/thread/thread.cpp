// SPDX-License-Identifier: Apache-2.0
#include "thread/thread.hpp"

#include "helper/helpers.hpp"
#include "helper/proxy_thread.hpp"
#include "placement/affinity.hpp"
#include "placement/posix.hpp"
#include "sync/free_list.hpp"
#include "team/team.hpp"
#include "thread/preempt.hpp"
#include "thread/sanitizer.hpp"

#include <weft/error.hpp>
#include <weft/layer/task.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace weft_omp {

constinit thread_local thread *t_self = nullptr;
constinit thread_local thread *t_of_block = nullptr;

namespace {

std::atomic<bool> g_gone{
    false}; // Weft cannot be used: the process was forked inside a region and lacks Weft's threads; or see look_for_sanitizer()
std::atomic<std::uint32_t> g_known{0}; // a count of threads

/// Gives a thread its number. The first thread is number 0; the next numbers are kept for hidden
/// helpers.
void give_number(thread &t) noexcept {
  const std::uint32_t before = g_known.fetch_add(1, std::memory_order_relaxed);
  t.gtid = before == 0 ? 0 : before + g_globals.helper_numbers;
}

} // namespace

std::size_t known_threads() noexcept { return g_known.load(std::memory_order_relaxed); }

namespace {

free_list<thread> g_light, g_of_program; // data of threads that have ended

thread *numbered_thread() noexcept {
  auto *const t = new (std::nothrow) thread;
  if (t) {
    ignore_leak(t);
    give_number(*t);
  }
  return t;
}

/// Returns the data of a thread that has ended, or new data. Null: no memory.
thread *acquire_thread(free_list<thread> &ended) noexcept {
  thread *const t = ended.take();
  if (!t)
    return numbered_thread();
  static_cast<thread_state &>(*t) = thread_state();
  t->signals.store(0, std::memory_order_relaxed);
  return t;
}

/// Sets up a thread that is not a lightweight thread.
thread &begin_thread(thread *t, const weft::layer::stack_range &stack) noexcept {
  if (!t)
    fatal("no memory for the data of a thread");
  t->stack_low = reinterpret_cast<std::uintptr_t>(stack.low);
  t->stack_bytes = stack.bytes;
  t->runs_on = number_of_kernel_thread();
  t->team = make_initial_team(*t);
  t->task = &t->team->implicit[0];
  return *t;
}

/// Returns the calling thread's own stack. If its bounds are not known, returns one page of it: a
/// thread that runs elsewhere on it is found by its block.
weft::layer::stack_range stack_of_thread() noexcept {
  pthread_attr_t a;
  weft::layer::stack_range all{reinterpret_cast<void *>(stack_pointer() & ~std::uintptr_t{4095}),
                               4096};
  if (pthread_getattr_np(pthread_self(), &a) == 0) {
    pthread_attr_getstack(&a, &all.low, &all.bytes);
    pthread_attr_destroy(&a);
  }
  return all;
}

/// The OpenMP threads that represent tasks of Weft's own, by the stacks on which these run. They
/// are never freed, because stacks are used again.
struct task_hosts {
  spin_lock lock;
  std::unordered_map<void *, thread *> by_stack;
};
task_hosts &all_task_hosts() {
  static auto *all = new task_hosts;
  return *all;
}

thread *host_on(const weft::layer::stack_range &stack) {
  task_hosts &all = all_task_hosts();
  std::lock_guard lock(all.lock);
  const auto found = all.by_stack.find(stack.low);
  return found == all.by_stack.end() ? nullptr : found->second;
}

thread &become_host(const weft::layer::stack_range &stack) {
  thread &t = begin_thread(numbered_thread(), stack);
  t.hosts_weft_task = true;
  task_hosts &all = all_task_hosts();
  std::lock_guard lock(all.lock);
  all.by_stack[stack.low] = &t;
  return t;
}

/// Ends the OpenMP part of a program's thread, as the destructor of a key. Leaves what the thread's
/// teams had to later threads.
/// Destructors that come later may use OpenMP again: then the C library calls this one again.
void thread_ends(void *p) noexcept {
  thread &t = *static_cast<thread *>(p);
  t.external.tid.store(0, std::memory_order_relaxed);
  const bool at_rest =
      t.team->level == 0 && t.task == &t.team->implicit[0] && children_of(*t.task) == 0;
  if (!at_rest || weft::layer::is_over())
    return; // the thread ends inside a region, or its tasks wait for events: the tasks still use these data
  forget_threads(t);
  let_members_leave(t);
  omp_team &own = *t.team;
  if (const std::int64_t n =
          slot_of(t).take_unpublished()) // of tasks that ended elsewhere: only a barrier publishes
    own.publish(n);
  if (own.tasks_left() != 0)
    return; // this runs inside one of its tasks, or the end of one is not published yet
  t.task->end_implicit(t);
  empty_pool(t);
  t_self = t_of_block = nullptr;
  put_free_team(*std::exchange(t.team, nullptr));
  g_of_program.put(t);
}

/// Makes Weft know a thread of the program, and its end.
void be_known(thread &t) noexcept {
  static pthread_key_t key;
  static const int failed = pthread_key_create(&key, &thread_ends);
  if (failed || pthread_setspecific(key, &t))
    return; // the watcher never asks this thread to suspend itself
  t.external.tid.store(static_cast<int>(gettid()), std::memory_order_relaxed);
  if (!std::exchange(t.is_known, true))
    weft::layer::add_external_thread(t.external);
}

/// Runs regions with one thread if the program was built with ThreadSanitizer and this layer was
/// not. The sanitizer's runtime tells threads apart by thread-local variables that it sets up
/// itself.
/// It knows nothing of this layer's blocks, so the program would end at once.
void look_for_sanitizer() noexcept {
  if (k_under_tsan || !dlsym(RTLD_DEFAULT, "__tsan_init"))
    return;
  warn(
      "the program was built with ThreadSanitizer and Weft was not: regions have one thread; use a Weft that is built with it (WEFT_SANITIZE=thread)");
  g_gone.store(true, std::memory_order_relaxed);
}

thread &become_thread() noexcept {
  t_of_block = &begin_thread(acquire_thread(g_of_program), stack_of_thread());
  be_known(*t_of_block);
  note_usual_cpus(*t_of_block);
  return *t_of_block;
}

void forget_after_fork();

} // namespace

thread *self_if_any() noexcept {
  if (thread *const t = self_or_null())
    return t;
  const weft::layer::stack_range stack = weft::layer::own_stack();
  return stack.low ? host_on(stack) : t_of_block;
}

thread &find_self() noexcept {
  thread *t = self_if_any();
  if (!t) {
    const int before = errno;
    load_environment();
    static const bool first =
        (look_for_sanitizer(), pthread_atfork(nullptr, nullptr, &forget_after_fork) == 0);
    (void)first;
    errno = before;
    const weft::layer::stack_range stack = weft::layer::own_stack();
    t = stack.low ? &become_host(stack) : &become_thread();
  }
  return *(t_self = t);
}

// ---- waiting ---------------------------------------------------------------------------------------------------------

void parker::publish(weft::detail::runnable &parked, void *p) {
  const park_request &v = *static_cast<park_request *>(p);
  parker &at =
      *v.at; // read now: the request is on the stack that another thread may continue at once
  const reason why = v.why ? *v.why : reason{};
  if (!at.m_word.publish(parked, [&why] { return !why.holds || why.holds(why); }))
    weft::layer::unpark(parked);
}

/// Parks the thread. `if_runnable`: only if the kernel thread has another thread to run. Returns
/// false if it has none.
bool parker::park(thread &me, const reason *why, bool if_runnable) noexcept {
  bool parked = true;
  me.pinned = false;
  if (!m_word.is_signalled()) {
    park_request v{this, why};
    try {
      in_core(&me, [&v, &parked, if_runnable] {
        try {
          if (if_runnable)
            parked = weft::layer::park_if_runnable(&publish, &v);
          else
            weft::layer::park(&publish, &v);
        } catch (
            const weft::error &) { // no stack to go on with, or Weft has ended: look again later
          usleep(100);
        }
      });
    } catch (...) {
      fatal("a thread cannot wait");
    }
  }
  m_word.clear();
  return parked;
}

void parker::wait(thread &me, int spins) noexcept {
  adaptive_spin s(me, spins);
  bool there = m_word.is_signalled();
  while (!there && s.goes_on())
    there = m_word.is_signalled();
  s.end(there);
  park(me, nullptr);
}

void parker::wait_for(thread &me, const reason &why) noexcept {
  if (why.holds(why))
    park(me, &why);
}

void parker::signal(thread *me) noexcept {
  if (weft::detail::runnable *const f = m_word.signal())
    in_core(me, [f] { weft::layer::unpark(*f); });
}

namespace {

constexpr unsigned k_least_skipped = 16,
                   k_most_skipped = 1024; // times that a thread keeps its kernel thread

/// Returns whether a program's own thread keeps its kernel thread instead of yielding.
bool keeps_cpu(thread &me) noexcept {
  if (!others_can_be_interrupted())
    return true;
  if (me.keeps_cpu == 0)
    return false;
  --me.keeps_cpu;
  return true;
}

} // namespace

bool yield_now(thread &me) noexcept {
  me.pinned = false;
  const bool owns_kernel_thread = me.is_of_program();
  if (runtime_is_gone() || (owns_kernel_thread && keeps_cpu(me))) {
    yield_kernel_thread();
    return false;
  }
  const unsigned before = times_called_off();
  in_core(&me, [] {
    try {
      weft::layer::yield_now();
    } catch (const weft::error &) { // no stack to go on with
      yield_kernel_thread();
    }
  });
  if (owns_kernel_thread && times_called_off() != before)
    me.keeps_cpu = me.kept_cpu = std::clamp(2 * me.kept_cpu, k_least_skipped, k_most_skipped);
  return true;
}

void yield_to_pinned(thread &me) noexcept {
  if (!me.block || runtime_is_gone())
    return;
  in_core(&me, [] {
    try {
      weft::layer::yield_to_pinned();
    } catch (const weft::error &) { // no stack to go on with
    }
  });
}

int spins_for(const omp_team &t) noexcept {
  static const unsigned workers = static_cast<unsigned>(effective_cpus());
  return t.size <= workers && threads_in_teams() <= workers ? g_globals.spins : 0;
}

bool runtime_is_gone() noexcept {
  return g_gone.load(std::memory_order_relaxed) || weft::layer::is_over();
}

// ---- lightweight threads -----------------------------------------------------------------------------------------------

namespace {

/// Puts the kernel thread's block in place when exit() is called inside a region, because Weft
/// needs it at the end of the process.
void leave_block() {
  if (const thread *const t = t_of_block; t && t->block)
    set_thread_pointer(t->carrier);
}

void forget_after_fork() {
  forget_helpers();
  forget_proxies();
  g_light.forget();
  g_of_program.forget();
  thread *const t = self_if_any();
  forget_teams_of_parent(t);
  if (!t)
    return;
  t->signals.store(0, std::memory_order_relaxed); // they were sent in the parent
  note_kernel_thread();
  if (t->light || t->team->size > 1)
    g_gone.store(true, std::memory_order_relaxed);
  if (t->is_of_program())
    t->external.tid.store(static_cast<int>(gettid()),
                          std::memory_order_relaxed); // the child has no other thread
  if (!t->light && t->team->level == 0)
    unbind_after_fork(*t);
  t->hot = nullptr; // that team's threads are the parent's
  for (omp_team *c = t->team; c; c = c->outer)
    c->hot = nullptr;
}

void register_with_process() {
  static const bool once = [] {
    std::atexit(&leave_block);
    weft::layer::outlive_exit([] { return threads_in_teams() > 1; });
    install_preemption();
    return true;
  }();
  (void)once;
}

void light_main(void *p) {
  thread &t = *static_cast<thread *>(p);
  const weft::layer::stack_range stack = weft::layer::own_stack();
  t.carrier = thread_pointer();
  arrive(t);
  t.block = t.block ? renew_tls_block(t.block, stack.low, stack.bytes)
                    : make_tls_block(stack.low, stack.bytes);
  if (t.block) {
    set_thread_pointer(t.block);
    complete_tls_block();
  } else {
    fatal(
        "no thread-local block for an OpenMP thread: out of memory, or this C library is not known");
  }
  t.stack_low = reinterpret_cast<std::uintptr_t>(stack.low);
  t.stack_bytes = stack.bytes;
  t_self = t_of_block = &t;
  const block_range variables = range_of_block(t.block);
  begin_roots(stack.low, stack.bytes);
  begin_roots(variables.low, variables.bytes);
  omp_team *const serves = t.team;
  t.life(t);
  end_tls_block(); // as the end of a thread does: destructors may use OpenMP
  dismiss(t, std::exchange(t.hot, nullptr));
  empty_pool(t);
  end_roots(stack.low, stack.bytes);
  end_roots(variables.low, variables.bytes);
  set_thread_pointer(t.carrier);
  if (serves)
    leave_team(*serves);
  g_light.put(t); // the last touch
}

} // namespace

thread *start_light_thread(thread &me, void (*life)(thread &), std::uint32_t gtid, omp_team *team,
                           unsigned number) noexcept {
  thread *const t = gtid == 0 ? acquire_thread(g_light) : new (std::nothrow) thread;
  if (!t)
    return nullptr;
  t->light = true;
  t->life = life;
  inherit_requests(*t, me);
  if (gtid != 0)
    t->gtid = gtid;
  t->team = team;
  t->number = number;
  const char *failure = nullptr;
  static char reason[256];
  in_core(&me, [&] {
    try {
      (void)weft::layer::
          workers(); // started first, so that Weft's handler of exit() runs after this layer's
      register_with_process();
      weft::layer::start_thread(g_globals.stack_bytes, &light_main, t);
    } catch (const std::exception &e) {
      std::snprintf(reason, sizeof reason, "%s", e.what());
      failure = reason;
    }
  });
  if (failure) {
    warn("cannot start a thread (%s); other threads do its work", failure);
    if (gtid == 0)
      g_light.put(*t);
    else
      delete t;
    return nullptr;
  }
  return t;
}

} // namespace weft_omp
