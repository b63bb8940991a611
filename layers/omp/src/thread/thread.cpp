// SPDX-License-Identifier: Apache-2.0
#include "thread/thread.hpp"

#include "config/once.hpp"
#include "config/topology.hpp"
#include "helper/helpers.hpp"
#include "helper/proxy_thread.hpp"
#include "placement/affinity.hpp"
#include "sync/free_list.hpp"
#include "team/team.hpp"
#include "thread/event.hpp"
#include "thread/hooks.hpp"
#include "thread/task_hosts.hpp"

#include <weft/layer/task.hpp>
#include <weft_threads/block/sanitizer.hpp>
#include <weft_threads/kernel/posix.hpp>

#include <new>

#include <pthread.h>
#include <unistd.h>

namespace weft_omp {
namespace {

std::atomic<std::uint32_t> g_known{0}; // a count of threads

/// In a watched process, the thread that asked last with this block. t_self stays null there, so
/// that each entry point takes its slow way, which is the one that reports (tool/enter.hpp).
constinit thread_local thread *t_watched_self = nullptr;

bool runs_on_its_stack(const thread &who) noexcept {
  return stack_pointer() - who.stack_low < who.stack_bytes;
}

/// Gives a thread its number. The first thread is number 0; the next numbers are kept for hidden
/// helpers.
void give_number(thread &who) noexcept {
  const std::uint32_t before = g_known.fetch_add(1, std::memory_order_relaxed);
  who.gtid = before == 0 ? 0 : before + g_globals.helper_numbers;
}

} // namespace

std::size_t known_threads() noexcept { return g_known.load(std::memory_order_relaxed); }

namespace {

free_list<thread> g_of_program; // data of threads that have ended
free_list<thread> g_of_tasks; // data of threads that stood for tasks of Weft's

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
  static_cast<record_state &>(*t) = record_state();
  static_cast<thread_state &>(*t) = thread_state();
  t->signals.store(0, std::memory_order_relaxed);
  return t;
}

bool end_light_thread(thread_record &thread);

/// Begins this layer's part of a lightweight thread, behind its record. `gtid`: 0 for the next
/// number, which the next thread with the same record keeps.
thread &begin_part(thread_record &record, std::uint32_t gtid = 0) noexcept {
  auto &t = static_cast<thread &>(record);
  if (!record.part_was_made) {
    ::new (static_cast<thread_part *>(&t)) thread_part;
    record.part_was_made = true;
    if (gtid == 0)
      give_number(t);
    else
      t.gtid = gtid;
  } else {
    static_cast<thread_state &>(t) = thread_state();
  }
  t.place = &t.placement.cpus;
  t.end_part = &end_light_thread;
  return t;
}

/// Sets up a thread that is not a lightweight thread.
thread &begin_thread(thread *who, const weft::layer::stack_range &stack) noexcept {
  if (!who)
    fatal("no memory for the data of a thread");
  who->place = &who->placement.cpus;
  who->stack_low = reinterpret_cast<std::uintptr_t>(stack.low);
  who->stack_bytes = stack.bytes;
  who->runs_on = number_of_kernel_thread();
  who->team = make_initial_team(*who);
  who->task = &who->team->implicit[0];
  return *who;
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

/// Ends what a thread that is no member of a team has begun. Returns false if its data must stay:
/// the thread ends inside a region, or its tasks wait for events, and the tasks still use the data.
bool leave_initial_team(thread &who) noexcept {
  const bool at_rest =
      who.team->level == 0 && who.task == &who.team->implicit[0] && children_of(*who.task) == 0;
  if (!at_rest || weft::layer::is_over())
    return false;
  forget_threads(who);
  let_members_leave(who);
  omp_team &own = *who.team;
  if (const std::int64_t n =
          slot_of(who)
              .take_unpublished()) // of tasks that ended elsewhere: only a barrier publishes
    own.publish(n);
  if (own.tasks_left() != 0)
    return false; // this runs inside one of its tasks, or the end of one is not published yet
  who.task->end_implicit(who);
  return true;
}

/// Ends the OpenMP part of a program's thread, as the destructor of a key. Leaves what the thread's
/// teams had to later threads.
/// Destructors that come later may use OpenMP again: then the C library calls this one again.
void thread_ends(void *p) noexcept {
  thread &t = *static_cast<thread *>(p);
  t.external.tid.store(0, std::memory_order_relaxed);
  if (!leave_initial_team(t))
    return;
  empty_pool(t);
  if (g_is_watched) [[unlikely]]
    end_watched(t);
  t_self = t_of_block = t_watched_self = nullptr;
  put_free_team(*std::exchange(t.team, nullptr));
  g_of_program.put(t);
}

/// Makes Weft know a thread of the program, and its end.
void be_known(thread &who) noexcept {
  static pthread_key_t key;
  static const int failed = pthread_key_create(&key, &thread_ends);
  if (failed || pthread_setspecific(key, &who))
    return; // the watcher never asks this thread to suspend itself
  who.external.tid.store(static_cast<int>(gettid()), std::memory_order_relaxed);
  if (!std::exchange(who.is_known, true))
    weft::layer::add_external_thread(who.external);
}

/// Runs regions with one thread if the program was built with ThreadSanitizer and this layer was
/// not. The sanitizer's runtime tells threads apart by thread-local variables that it sets up
/// itself.
/// It knows nothing of this layer's blocks, so the program would end at once.
void look_for_sanitizer() noexcept {
  if (!sanitizer_forbids_blocks())
    return;
  warn(
      "the program was built with ThreadSanitizer and Weft was not: regions have one thread; use a Weft that is built with it (WEFT_SANITIZE=thread)");
  give_up_runtime();
}

thread &become_thread() noexcept {
  thread &t = begin_thread(acquire_thread(g_of_program), stack_of_thread());
  t_of_block = &t;
  be_known(t);
  note_usual_cpus(t);
  return t;
}

/// Begins this layer's part of a lightweight thread that another door has started: an initial
/// thread, whose regions are those of a thread of the program.
thread &adopt(thread_record &record) noexcept {
  thread &t = begin_part(record);
  t.team = make_initial_team(t);
  t.task = &t.team->implicit[0];
  return t;
}

void register_layer() noexcept;

} // namespace

thread &begin_host(const weft::layer::stack_range &stack) noexcept {
  static std::atomic<std::uint64_t> last{0}; // a count
  thread &t = begin_thread(acquire_thread(g_of_tasks), stack);
  t.hosts_weft_task = true;
  t.hosted = t.task;
  t.number_of_hosted = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return t;
}

void end_host(thread &host) noexcept {
  if (!leave_initial_team(host))
    return;
  if (g_is_watched) [[unlikely]]
    end_watched(host);
  put_free_team(*std::exchange(host.team, nullptr));
  g_of_tasks.put(host);
}

thread *self_if_any() noexcept {
  if (thread *const t = self_or_null())
    return t;
  if (thread *const t = t_watched_self; t && runs_on_its_stack(*t))
    return t;
  const weft::layer::stack_range stack = weft::layer::own_stack();
  if (stack.low)
    return find_host(stack);
  thread_record *const t = t_of_block;
  return t && t->place ? static_cast<thread *>(t) : nullptr; // else another door's
}

thread &find_self() noexcept {
  thread *t = self_if_any();
  const bool is_new = !t, is_host = weft::layer::own_stack().low != nullptr;
  bool is_settled = true;
  if (!t) {
    const int before = errno;
    load_environment();
    is_settled = settle_tool();
    static const once at_first([] {
      look_for_sanitizer();
      register_layer();
    });
    errno = before;
    if (is_host)
      t = &make_host(weft::layer::own_stack());
    else
      t = t_of_block ? &adopt(*t_of_block) : &become_thread();
  }
  if (!g_is_watched) {
    if (is_settled && !is_host)
      t_self = t;
    return *t;
  }
  if (!is_host)
    t_watched_self = t;
  if (is_new || !t->watched)
    begin_watched(*t, watched_as::initial);
  return *t;
}

int spins_for(const omp_team &team) noexcept {
  static const unsigned workers = static_cast<unsigned>(effective_cpus());
  return team.size <= workers && threads_in_teams() <= workers ? g_globals.spins : 0;
}

// ---- lightweight threads -----------------------------------------------------------------------------------------------

namespace {

void forget_after_fork() {
  forget_sleepers();
  forget_spare_records();
  forget_hosts();
  forget_helpers();
  forget_proxies();
  g_of_program.forget();
  g_of_tasks.forget();
  thread *const t = self_if_any();
  forget_teams_of_parent(t);
  if (!t)
    return;
  if (t->team->size > 1)
    give_up_runtime(); // forked inside a region: the child lacks Weft's threads
  if (!t->light && t->team->level == 0)
    unbind_after_fork(*t);
  t->hot = nullptr; // that team's threads are the parent's
  for (omp_team *c = t->team; c; c = c->outer)
    c->hot = nullptr;
}

void register_layer() noexcept {
  forget_in_child(&forget_after_fork);
  outlive_exit([] { return threads_in_teams() > 1; });
  use_cpus(&process_cpus);
  g_spins_actively = g_globals.wait_policy == 1;
}

void run_light_thread(void *p) {
  thread &t = *static_cast<thread *>(p);
  if (!g_is_watched) [[likely]]
    t_self = &t;
  else
    t_watched_self = &t;
  t.serves = t.team;
  t.life(t);
}
bool end_light_thread(thread_record &record) {
  auto &t = static_cast<thread &>(record);
  if (!t.life && !leave_initial_team(t))
    return false;
  dismiss(t, std::exchange(t.hot, nullptr));
  if (g_is_watched) [[unlikely]]
    end_watched(t);
  empty_pool(t);
  if (!t.life)
    put_free_team(*std::exchange(t.team, nullptr));
  return true;
}
void light_thread_has_ended(void *p) {
  if (omp_team *const serves = static_cast<thread *>(p)->serves)
    leave_team(*serves);
}

} // namespace

thread *start_light_thread(thread &me, void (*life)(thread &), std::uint32_t gtid, omp_team *team,
                           unsigned number) noexcept {
  thread_record *const record = take_record(gtid != 0 ? record_is::fresh : record_is::any);
  if (!record)
    return nullptr;
  thread &t = begin_part(*record, gtid);
  t.life = life;
  t.team = team;
  t.number = number;
  t.request = {&run_light_thread,     &t,      &light_thread_has_ended,
               g_globals.stack_bytes, nullptr, weft::layer::client::openmp};
  if (const char *const failure = start_in(t, &me)) {
    warn("cannot start a thread (%s); other threads do its work", failure);
    if (gtid != 0)
      t.part_was_made = false; // the number is a helper's
    put_record(t);
    return nullptr;
  }
  return &t;
}

} // namespace weft_omp
