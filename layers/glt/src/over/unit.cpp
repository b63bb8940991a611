// SPDX-License-Identifier: Apache-2.0
#include "unit.hpp"

#include "../object.hpp"
#include "../session.hpp"
#include "../unit_ends.hpp"

#include <cstdlib>

namespace weft_glt {

namespace {

constexpr kind_of_object k_ult{"a ULT", "glt_ult_create()"};
constexpr kind_of_object k_tasklet{"a tasklet", "glt_tasklet_create()"};

const kind_of_object &names(unit_kind kind) noexcept {
  return kind == unit_kind::tasklet ? k_tasklet : k_ult;
}

std::atomic<long> g_running{0}; // units whose function has not ended

unit_kind kind_of(const unit &target) noexcept {
  return target.kind.load(std::memory_order_relaxed);
}

/// Makes the caller the claimer. Returns false if there is one.
bool claim(unit &target) noexcept {
  return !target.claimed.exchange(true, std::memory_order_acq_rel);
} // O2

void give_back(unit &target) {
  target.kind.store(unit_kind::none, std::memory_order_relaxed);
  table_of<unit>().release(target.number);
}

void run_function(unit &target) {
  if (target.cancelled.load(std::memory_order_relaxed))
    return;
  try {
    target.f(target.arg);
  } catch (const unit_ends &) {
  }
}

void run_unit(void *p) {
  unit &target = *static_cast<unit *>(p);
  library::set_current(&target);
  run_function(target);
  target.has_ended = true; // destructors of values may yield
  target.values.end();
  if (!target.has_handle)
    give_back(target);
  g_running.fetch_sub(1, std::memory_order_release); // O1
}

unit &take_unit(unit_kind kind) {
  const auto [target, number] = table_of<unit>().take();
  target->number = number;
  target->claimed.store(false, std::memory_order_release); // O2
  target->cancelled.store(false, std::memory_order_relaxed);
  target->started.store(false, std::memory_order_relaxed);
  target->has_ended = false;
  target->kind.store(kind, std::memory_order_relaxed);
  return *target;
}

template <class Handle>
void create(const char *call, unit_kind kind, void (*f)(void *), void *arg, Handle *to,
            int thread) noexcept {
  require_session(call);
  if (!f) [[unlikely]]
    misuse(call, "thread_func is NULL; pass a function");
  if (thread != k_any_thread)
    require_thread(call, thread);
  in_weft(call, [&] {
    unit &target = take_unit(kind);
    target.f = f;
    target.arg = arg;
    target.has_handle = to != nullptr;
    if (to)
      *to = handle_of<Handle>(target.number);
    g_running.fetch_add(1, std::memory_order_relaxed); // alone: the library orders its threads
    const bool made = to ? library::start(target.work, &run_unit, &target, thread)
                         : library::start_detached(&run_unit, &target, thread);
    if (!made)
      misuse(call, "%s has no memory for another thread; create fewer at a time", library::k_name);
    if (to)
      target.started.store(true, std::memory_order_release); // O3
  });
}

template <class Handle>
Handle *allocate(const char *call, int count) noexcept {
  if (count < 0)
    misuse(call, "%d is less than no handle; pass the number of handles", count);
  auto *const all = static_cast<Handle *>(
      std::calloc(count == 0 ? 1 : static_cast<std::size_t>(count), sizeof(Handle)));
  if (!all)
    misuse(call, "no memory is left for %d handles; allocate fewer", count);
  return all;
}

unit &find_unit(const char *call, handle name, unit_kind kind) noexcept {
  require_session(call);
  unit *const target = table_of<unit>().find(name);
  if (!target)
    refuse_handle(call, name, names(kind));
  if (kind_of(*target) != kind && kind_of(*target) != unit_kind::thread)
    misuse(call, "the handle names %s, and not %s; use the calls of its kind",
           names(kind_of(*target)).name, names(kind).name);
  return *target;
}

/// Waits for the end of a unit of which the caller is the claimer, and gives it back.
void join_and_give_back(unit &target) {
  while (!target.started.load(
      std::memory_order_acquire)) // O3: another unit joins what its creator makes
    library::yield();
  library::join(target.work);
  give_back(target);
}

void wait_and_give_back(const char *call, const char *verb, handle name, unit_kind kind) noexcept {
  unit &target = find_unit(call, name, kind);
  if (kind_of(target) == unit_kind::thread)
    misuse(call,
           "the handle names a thread of the program, which is not %s; pass the handle of "
           "%s that was created",
           verb, names(kind).name);
  if (&target == this_unit())
    misuse(call,
           "%s is %s by itself, and would wait for its own end; let its creator call this, or "
           "leave early by glt_ult_exit()",
           names(kind).name, verb);
  if (!claim(target))
    misuse(call, "%s is %s while another call joins or frees it; let one call do so",
           names(kind).name, verb);
  in_weft(call, [&] { join_and_give_back(target); });
}

template <class Handle>
void join(const char *call, Handle *unit_to_join, unit_kind kind) noexcept {
  require(call, unit_to_join, "the handle's address");
  wait_and_give_back(call, "joined", number_of(*unit_to_join), kind);
  *unit_to_join = handle_of<Handle>(k_joined);
}

template <class Handle>
void free_unit(const char *call, Handle *unit_to_free, unit_kind kind) noexcept {
  require_session(call);
  require(call, unit_to_free, "the handle's address");
  if (number_of(*unit_to_free) != k_joined)
    wait_and_give_back(call, "freed", number_of(*unit_to_free), kind);
  *unit_to_free = Handle{};
}

void cancel(const char *call, handle name, unit_kind kind) noexcept {
  unit &target = find_unit(call, name, kind);
  if (kind_of(target) == unit_kind::thread)
    misuse(call,
           "the handle names a thread of the program, which cannot be cancelled; pass the "
           "handle of %s that was created",
           names(kind).name);
  target.cancelled.store(true, std::memory_order_relaxed);
}

void end_if_cancelled() {
  if (const unit *const target = this_unit();
      target && kind_of(*target) == unit_kind::ult &&
      target->cancelled.load(std::memory_order_relaxed) && !target->has_ended && !ends_already())
    throw unit_ends{};
}

void let_others_run() {
  end_if_cancelled();
  library::yield();
  end_if_cancelled();
}

unit *g_of_program = nullptr;

} // namespace

unit *this_unit() noexcept { return static_cast<unit *>(library::current()); }

key_values &values_of_caller() {
  if (unit *const self = this_unit())
    return self->values;
  static thread_local key_values of_thread; // a thread of the program that is not the library's
  return of_thread;
}

void begin_unit_of_program() {
  g_of_program = &take_unit(unit_kind::thread);
  library::set_current(g_of_program);
}
void end_unit_of_program() {
  g_of_program->values.end();
  library::set_current(nullptr);
  give_back(*g_of_program);
}

void wait_for_all_units() {
  while (g_running.load(std::memory_order_acquire) != 0) // O1
    library::yield();
  table_of<unit>().for_each([](unit &target, handle) {
    if (kind_of(target) != unit_kind::thread && claim(target))
      join_and_give_back(target);
  });
}

} // namespace weft_glt

using namespace weft_glt;

GLT_ult *glt_ult_malloc(int number_of_ult) {
  return allocate<GLT_ult>("glt_ult_malloc", number_of_ult);
}
GLT_tasklet *glt_tasklet_malloc(int number_of_tasklets) {
  return allocate<GLT_tasklet>("glt_tasklet_malloc", number_of_tasklets);
}

void glt_ult_create(void (*thread_func)(void *), void *arg, GLT_ult *new_ult) {
  create("glt_ult_create", unit_kind::ult, thread_func, arg, new_ult, k_any_thread);
}
void glt_ult_create_to(void (*thread_func)(void *), void *arg, GLT_ult *new_ult, int dest) {
  require_session("glt_ult_create_to");
  require_thread("glt_ult_create_to", dest);
  create("glt_ult_create_to", unit_kind::ult, thread_func, arg, new_ult, dest);
}
void glt_tasklet_create(void (*thread_func)(void *), void *arg, GLT_tasklet *new_tasklet) {
  create("glt_tasklet_create", unit_kind::tasklet, thread_func, arg, new_tasklet, k_any_thread);
}
void glt_tasklet_create_to(void (*thread_func)(void *), void *arg, GLT_tasklet *new_tasklet,
                           int dest) {
  require_session("glt_tasklet_create_to");
  require_thread("glt_tasklet_create_to", dest);
  create("glt_tasklet_create_to", unit_kind::tasklet, thread_func, arg, new_tasklet, dest);
}

void glt_yield(void) {
  require_session("glt_yield");
  let_others_run();
}
void glt_yield_to(GLT_ult ult) {
  static_cast<void>(find_unit("glt_yield_to", number_of(ult), unit_kind::ult));
  let_others_run();
}

void glt_ult_join(GLT_ult *ult) { join("glt_ult_join", ult, unit_kind::ult); }
void glt_tasklet_join(GLT_tasklet *tasklet) {
  join("glt_tasklet_join", tasklet, unit_kind::tasklet);
}
void glt_ult_free(GLT_ult *ult) { free_unit("glt_ult_free", ult, unit_kind::ult); }
void glt_tasklet_free(GLT_tasklet *tasklet) {
  free_unit("glt_tasklet_free", tasklet, unit_kind::tasklet);
}

void glt_ult_get_id(GLT_ult_id *id, GLT_ult ult) {
  require("glt_ult_get_id", id, "id");
  *id = find_unit("glt_ult_get_id", number_of(ult), unit_kind::ult).number;
}

void glt_ult_migrate_self_to(GLT_thread_id id) {
  constexpr const char *k_call = "glt_ult_migrate_self_to";
  require_session(k_call);
  require_thread(k_call, id);
  if (const unit *const target = this_unit(); !target || kind_of(*target) == unit_kind::thread)
    misuse(k_call, "the caller is not a ULT, and keeps to its thread; call it in a ULT");
  let_others_run(); // the ULT stays where the library has it
}

void glt_ult_self(GLT_ult *ult) {
  require_session("glt_ult_self");
  require("glt_ult_self", ult, "ult");
  const unit *const target = this_unit();
  *ult = target && kind_of(*target) != unit_kind::tasklet ? handle_of<GLT_ult>(target->number)
                                                          : nullptr;
}
void glt_tasklet_self(GLT_tasklet *tasklet) {
  require_session("glt_tasklet_self");
  require("glt_tasklet_self", tasklet, "tasklet");
  const unit *const target = this_unit();
  *tasklet = target && kind_of(*target) == unit_kind::tasklet
                 ? handle_of<GLT_tasklet>(target->number)
                 : nullptr;
}

void glt_ult_cancel(GLT_ult ult) { cancel("glt_ult_cancel", number_of(ult), unit_kind::ult); }
void glt_tasklet_cancel(GLT_tasklet tasklet) {
  cancel("glt_tasklet_cancel", number_of(tasklet), unit_kind::tasklet);
}

void glt_ult_exit(void) {
  require_session("glt_ult_exit");
  const unit *const target = this_unit();
  if (!target || kind_of(*target) == unit_kind::thread)
    misuse("glt_ult_exit",
           "the caller is not a ULT; return from the function, or call exit() to end the program");
  end_early("glt_ult_exit", target->has_ended);
}
