// SPDX-License-Identifier: Apache-2.0
#include "unit.hpp"

#include "object.hpp"
#include "unit_ends.hpp"

#include <weft/layer/function.hpp>
#include <weft/layer/task.hpp>
#include <weft/layer/thread.hpp>
#include <weft/task.hpp>
#include <weft/task_local.hpp>

#include <chrono>
#include <cstdlib>

namespace weft_glt {

namespace {

constexpr kind_of_object k_ult{"a ULT", "glt_ult_create()"};
constexpr kind_of_object k_tasklet{"a tasklet", "glt_tasklet_create()"};

const kind_of_object &names(unit_kind kind) noexcept {
  return kind == unit_kind::tasklet ? k_tasklet : k_ult;
}

bool is_thread(const unit &work) noexcept {
  return work.kind.load(std::memory_order_relaxed) == unit_kind::thread;
}
bool is_of_parent_process(const unit &work) noexcept {
  return work.kind.load(std::memory_order_relaxed) == unit_kind::of_parent_process;
}
bool is_tasklet(const unit &work) noexcept {
  return work.kind.load(std::memory_order_relaxed) == unit_kind::tasklet;
}

/// Gives a unit whose task has ended back; the claimer calls this. With `t` null the unit has none.
void give_back(unit &work, weft::detail::task *t) {
  if (t)
    weft::detail::task_drop_handle(t);
  work.kind.store(unit_kind::none, std::memory_order_relaxed);
  work.words.close();
  table_of<unit>().release(work.number);
}

/// Ends a unit whose function has returned or thrown.
void end(unit &work) {
  work.has_ended = true; // destructors of values may yield
  work.values.end();
  if (!work.has_handle && work.words.claim(work.number))
    give_back(work, work.words.own_task());
}

void run_unit(void *p) {
  unit &u = *static_cast<unit *>(p);
  struct ending {
    unit &u;
    ~ending() { end(u); }
  } const at_end{u};
  const weft::layer::running_for glt(weft::layer::client::glt);
  if (u.cancelled.load(std::memory_order_relaxed))
    return;
  try {
    u.f(u.arg);
  } catch (const unit_ends &) {
  }
}

unit &take_unit(unit_kind kind) {
  const auto [u, number] = table_of<unit>().take();
  u->number = number;
  u->kind.store(kind, std::memory_order_relaxed);
  u->has_ended = false;
  u->cancelled.store(false, std::memory_order_relaxed);
  u->words.open(kind == unit_kind::thread ? 0 : number);
  return *u;
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
    weft::function_options options;
    options.label = kind == unit_kind::ult ? "ult" : "tasklet";
    options.on = workers_for(thread);
    unit &u = take_unit(kind);
    u.f = f;
    u.arg = arg;
    u.has_handle = to != nullptr;
    weft::detail::task &t = weft::layer::make_function(&run_unit, &u, options);
    if (to)
      *to = handle_of<Handle>(u.number);
    u.words.publish(t);
    weft::layer::submit_function(t); // the last use of the unit, which may be given back
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
  unit *const u = table_of<unit>().find(name);
  if (!u)
    refuse_handle(call, name, names(kind));
  if (is_of_parent_process(*u))
    misuse(call,
           "%s was created before fork(), and only the parent process runs it; create another "
           "one here",
           names(kind).name);
  if (const unit_kind is = u->kind.load(std::memory_order_relaxed);
      is != kind && is != unit_kind::thread)
    misuse(call, "the handle names %s, and not %s; use the calls of its kind", names(is).name,
           names(kind).name);
  return *u;
}

/// Waits for the end of a unit, and gives it back. `verb`: what the caller does to it.
void wait_and_give_back(const char *call, const char *verb, handle name, unit_kind kind) noexcept {
  unit &u = find_unit(call, name, kind);
  if (is_thread(u))
    misuse(call,
           "the handle names a thread of the program, which is not %s; pass the handle of "
           "%s that was created",
           verb, names(kind).name);
  if (&u == this_unit())
    misuse(call,
           "%s is %s by itself, and would wait for its own end; let its creator call this, or "
           "leave early by glt_ult_exit()",
           names(kind).name, verb);
  if (!u.words.claim(name))
    misuse(call, "%s is %s while another call joins or frees it; let one call do so",
           names(kind).name, verb);
  in_weft(call, [&] {
    weft::detail::task *const t = u.words.task();
    weft::detail::task_wait_done(t);
    give_back(u, t);
  });
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
  unit &u = find_unit(call, name, kind);
  if (is_thread(u))
    misuse(call,
           "the handle names a thread of the program, which cannot be cancelled; pass the "
           "handle of %s that was created",
           names(kind).name);
  u.cancelled.store(true, std::memory_order_relaxed);
}

void end_if_cancelled() {
  if (const unit *const u = this_unit();
      u && !is_tasklet(*u) && u->cancelled.load(std::memory_order_relaxed) && !u->has_ended &&
      !ends_already())
    throw unit_ends{};
}

/// The unit of a thread of the program, from its first question to the end of the thread.
struct unit_of_thread {
  unit_of_thread() : u(take_unit(unit_kind::thread)) {}
  ~unit_of_thread() { give_back(u, nullptr); }
  unit_of_thread(const unit_of_thread &) = delete;
  unit_of_thread &operator=(const unit_of_thread &) = delete;
  unit &u;
};

/// Returns the unit of the thread that calls, or null in a task or a callback.
unit *unit_of_this_thread() {
  switch (weft::layer::who_calls()) {
  case weft::layer::caller::task:
  case weft::layer::caller::between:
    return nullptr;
  case weft::layer::caller::unadopted:
  case weft::layer::caller::thread:
    break;
  }
  static auto *const all = new weft::task_local<unit_of_thread>; // outlives static destructors
  return &all->get().u;
}

} // namespace

key_values &values_of_caller() {
  if (unit *const self = this_unit())
    return self->values;
  static auto *const others = new weft::task_local<key_values>; // outlives static destructors
  return others->get();
}

unit *this_unit() noexcept {
  return static_cast<unit *>(weft::layer::argument_of_running(&run_unit));
}

void forget_units_in_child() noexcept {
  table_of<unit>().for_each([](unit &u, handle) {
    u.kind.store(unit_kind::of_parent_process, std::memory_order_relaxed);
  });
}

void wait_for_all_units() {
  constexpr std::chrono::microseconds k_look(50);
  for (bool left = true; left;) {
    left = false;
    table_of<unit>().for_each([&](unit &work, handle number) {
      if (is_thread(work) || is_of_parent_process(work))
        return;
      left = true;
      if (!work.words.task() || !work.words.claim(number))
        return; // it is being created, or another call gives it back, or has done so
      weft::detail::task *t = nullptr;
      while (!(t = work.words.task())) // the task was of an earlier use
        weft::this_task::sleep_for(k_look);
      weft::detail::task_wait_done(t);
      give_back(work, t);
    });
    if (left)
      weft::this_task::sleep_for(k_look); // ULTs may have created further ones
  }
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
  end_if_cancelled();
  in_weft("glt_yield", [] { weft::taskyield(); });
  end_if_cancelled();
}
void glt_yield_to(GLT_ult ult) {
  static_cast<void>(find_unit("glt_yield_to", number_of(ult), unit_kind::ult));
  end_if_cancelled();
  in_weft("glt_yield_to", [] { weft::taskyield(); });
  end_if_cancelled();
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
  if (!this_unit())
    misuse(k_call, "the caller is not a ULT, and keeps to its thread; call it in a ULT");
  end_if_cancelled();
  in_weft(k_call, [id] { weft::layer::move_to(workers_for(id)); });
  end_if_cancelled();
}

void glt_ult_self(GLT_ult *ult) {
  require_session("glt_ult_self");
  require("glt_ult_self", ult, "ult");
  in_weft("glt_ult_self", [ult] {
    const unit *const u = this_unit();
    const unit *const self = u ? u : unit_of_this_thread();
    *ult = self && !is_tasklet(*self) ? handle_of<GLT_ult>(self->number) : nullptr;
  });
}
void glt_tasklet_self(GLT_tasklet *tasklet) {
  require_session("glt_tasklet_self");
  require("glt_tasklet_self", tasklet, "tasklet");
  const unit *const u = this_unit();
  *tasklet = u && is_tasklet(*u) ? handle_of<GLT_tasklet>(u->number) : nullptr;
}

void glt_ult_cancel(GLT_ult ult) { cancel("glt_ult_cancel", number_of(ult), unit_kind::ult); }
void glt_tasklet_cancel(GLT_tasklet tasklet) {
  cancel("glt_tasklet_cancel", number_of(tasklet), unit_kind::tasklet);
}

void glt_ult_exit(void) {
  require_session("glt_ult_exit");
  const unit *const u = this_unit();
  if (!u)
    misuse("glt_ult_exit",
           "the caller is not a ULT; return from the function, or call exit() to end the program");
  end_early("glt_ult_exit", u->has_ended);
}
