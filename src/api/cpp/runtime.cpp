// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime.hpp"
#include "base/error.hpp"
#include "base/mutant.hpp"
#include "config/process.hpp"
#include "services/dispatcher.hpp"

#include <weft/runtime.hpp>

namespace weft::inline v0 {

using namespace rt;

void configure(const char *key, const char *value) {
  if (!key || !value)
    throw_error(errc::invalid_argument,
                "configure() got a null pointer; pass the key and the value as text");
  if (is_shut_down())
    throw_error(errc::shut_down,
                "Weft is used after shutdown(); call shutdown() last, or not at all");
  if (is_started())
    throw_error(errc::already_started,
                "configure(\"%s\", \"%s\") comes too late: the runtime has started; call it first",
                key, value);
  settings_override(key, value);
}

void start() { start_runtime(); }

void shutdown() {
  worker *w = this_worker_or_null();
  if (!is_started())
    return;
  if (!w || w->pool_stack || w->current != &w->root || w->id != 0)
    throw_error(errc::invalid_argument,
                "shutdown() is called by task '%s'; only the main task can end the runtime",
                w && w->current ? label_of(*w->current) : "thread");
  wait_for_children(w->root);
  rethrow_children_error(w->root);
  stop_runtime();
}

int worker_count() {
  this_worker();
  return static_cast<int>(the_runtime().started_workers.load(
      std::memory_order_relaxed)); // written before the start was over
}

int worker_id() { return static_cast<int>(this_worker().id); }

statistics stats() {
  statistics s;
  if (!runtime_or_null())
    return s;
  runtime &rt = *runtime_or_null();
  const unsigned used = rt.used_slots.load(std::memory_order_acquire);
  for (unsigned id = 0; id < used; ++id) {
    worker *w = rt.slots[id].load(std::memory_order_acquire);
    if (!w)
      continue;
    const counter_block &c = *w->counts;
    s.spawned += created(c);
    s.executed += peek(c.executed) + peek(c.rounds);
    s.suspended += peek(c.suspended);
    s.stolen += peek(c.joins_stolen) + peek(c.stolen);
    s.slept += peek(c.slept);
    s.throttled += peek(c.throttled);
    s.cost += peek(c.cost);
    s.ready += rt.ready->length(id);
  }
  const std::uint64_t begun = s.executed + rt.manage.registrations_queued();
  s.in_graph = s.spawned > begun ? s.spawned - begun : 0;
  s.queued = rt.manage.queued();
  s.ready += rt.ready->length(k_outside) + rt.confined.length();
  if (worker *w = this_worker_or_null())
    w->memory->flush_accounting();
  const std::int64_t live = live_bytes();
  s.live_bytes = live > 0 ? static_cast<std::uint64_t>(live) : 0;
  return s;
}

std::uint64_t executed_by(int id) {
  runtime *rt = runtime_or_null();
  if (!rt || id < 0 || static_cast<unsigned>(id) >= k_slots)
    return 0;
  worker *w = rt->slots[id].load(std::memory_order_acquire);
  return w ? peek(w->counts->executed) + peek(w->counts->rounds) : 0;
}

namespace {

/// Is a service with what it owns.
struct owning_entry : service_entry {
  using service_entry::service_entry;
  void (*destroy)(void *callable) noexcept = nullptr; // null: the context is the user's
  void *callable = nullptr;
};

void destroy_entry(owning_entry *owned) noexcept {
  if (owned->destroy)
    owned->destroy(owned->callable);
  delete owned;
}

owning_entry *add_service(const char *name, poll_point where, bool (*f)(void *), void *context,
                          int priority) {
  if (!f)
    throw_error(errc::invalid_argument,
                "service '%s' has no function; pass one that returns whether it did something",
                name ? name : "");
  if (static_cast<std::size_t>(where) >= k_poll_points)
    throw_error(errc::invalid_argument,
                "service '%s' has no poll point of that number (%d); pass one of weft::poll_point",
                name ? name : "", static_cast<int>(where));
  this_worker();
  auto e = std::make_unique<owning_entry>(name ? name : "", where, priority, f, context);
  services(where).add(*e);
  if (where == poll_point::timer || where == poll_point::idle) {
    try {
      the_runtime().clock.poll_services(poll_period_ns(the_runtime()));
    } catch (...) {
      services(where).remove(*e);
      throw;
    }
  }
  unless(bug::service_comes_silently, [&] {
    the_runtime().idle.notify_all();
  }); // sleepers without a deadline do not know of the service yet
  return e.release();
}

} // namespace

service::service(const char *name, poll_point where, bool (*f)(void *), void *context, int priority)
    : m_entry(add_service(name, where, f, context, priority)) {}

service::service(const char *name, poll_point where, bool (*f)(void *), void *callable,
                 void (*destroy)(void *) noexcept, int priority) {
  try {
    owning_entry *const e = add_service(name, where, f, callable, priority);
    e->destroy = destroy; // only the destructor reads them
    e->callable = callable;
    m_entry = e;
  } catch (...) {
    destroy(callable);
    throw;
  }
}

service::~service() {
  auto *e = static_cast<owning_entry *>(m_entry);
  services(e->where).remove(*e);
  destroy_entry(e);
}

} // namespace weft::inline v0
