// SPDX-License-Identifier: Apache-2.0
#include "task/tracing.hpp"

#include "task/hooks.hpp"

#include "deps/regions/region_scope.hpp"
#include "deps/regions/regions.hpp"
#include "deps/sharing/reduction.hpp"
#include "task/recorded.hpp"
#include "task/spawn_site.hpp"
#include "task/wait/listed_states.hpp"
#include "trace/hooks.hpp"
#include "trace/structure.hpp"
#include "ult/backtrace.hpp"
#include "ult/hooks.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

std::uint16_t type_of(tracer &trace, const task &t) noexcept {
  return trace.types.find(t.label, t.ops->closure);
}

/// Returns whether the trace has a record of the task besides its body: only at level `tasks` and
/// above, and for no implicit task.
bool is_named(const task &t) noexcept {
  return traces(trace_level::tasks) && !t.has_meanwhile(detail::k_implicit);
}

void put_access(trace_ring &ring, std::uint32_t id, const void *address, access_mode mode,
                std::uint64_t bytes, bool by_bytes) noexcept {
  constexpr std::uint64_t k_most = UINT32_MAX;
  if (address)
    ring.put_now(trace_event::access, 0, id, reinterpret_cast<std::uintptr_t>(address),
                 std::min(bytes, k_most) | static_cast<std::uint64_t>(mode) << 32 |
                     (by_bytes ? k_by_bytes : 0));
}

void put_accesses(trace_ring &ring, const task &t, const access *list, std::size_t count,
                  bool by_bytes) noexcept {
  for (const access *a = list; a != list + count; ++a) {
    const bool reduces =
        a->mode == access_mode::reduction || a->mode == access_mode::weak_reduction;
    const auto *wanted =
        reduces ? static_cast<const detail::reduction_spec *>(a->address) : nullptr;
    const std::uint64_t bytes =
        wanted
            ? wanted->bytes * static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(wanted->count, 0))
            : a->bytes;
    put_access(ring, t.trace_id, wanted ? wanted->address : a->address, a->mode, bytes, by_bytes);
  }
}

void put_regions(trace_ring &ring, std::uint32_t id, const region_entry *regions,
                 std::size_t count) noexcept {
  for (const region_entry *g = regions; g != regions + count; ++g)
    g->shape->for_each_run([&](std::uintptr_t low, std::uintptr_t end) {
      put_access(ring, id, reinterpret_cast<const void *>(low), g->mode, end - low, true);
    });
}

} // namespace

namespace {

/// Clears the mark that trace_birth() has set, unless something else needs it.
void clear_birth_mark(task &t) noexcept {
  if (!peek_extra(t) && t.priority >= 0)
    t.clear(detail::k_special);
}

} // namespace

bool trace_common_creation(tracer &trace, task &t, const access *only) noexcept {
  const task &parent = *t.parent;
  if (!t.has(detail::k_special) || !t.is_plain(detail::k_undeferred) || peek_extra(t) ||
      parent.children_need_general_path() || !traces(trace_level::tasks))
    return false;
  const bool names = only && traces(trace_level::graph);
  if (names && (t.group || only->mode > access_mode::inout || !only->address ||
                only->bytes >= k_one_bytes || orders_regions(parent))) [[unlikely]] {
    trace_creation(trace, t, {only, 1}, created_for::one_run);
    return true;
  }
  trace_ring &r = trace.ring;
  r.ending = 0;
  t.clear(detail::k_special);
  if (names)
    r.put(trace_event::create_one, type_of(trace, t), t.trace_id,
          reinterpret_cast<std::uintptr_t>(only->address),
          rest_of_one(parent.trace_id, only->bytes, static_cast<std::uint8_t>(only->mode)));
  else
    r.put(trace_event::create, type_of(trace, t), t.trace_id,
          parent.trace_id | std::uint64_t{only != nullptr} << 32,
          reinterpret_cast<std::uintptr_t>(t.group));
  return true;
}

void trace_creation(tracer &trace, task &t, const traced_accesses &accesses,
                    created_for runs) noexcept {
  if (!traces(trace_level::tasks))
    return;
  trace_ring &r = trace.ring;
  r.ending = 0;
  const std::size_t all = accesses.first_count + accesses.second_count + accesses.region_count;
  r.put(trace_event::create, type_of(trace, t), t.trace_id,
        t.parent->trace_id | std::uint64_t{std::min<std::size_t>(all, 0xffffff)} << 32 |
            (runs == created_for::rounds ? std::uint64_t{k_created_for_rounds} : 0),
        reinterpret_cast<std::uintptr_t>(t.group));
  clear_birth_mark(t);
  if (!traces(trace_level::graph))
    return;
  const bool by_bytes = accesses.region_count > 0 || orders_regions(*t.parent);
  put_accesses(r, t, accesses.first, accesses.first_count, by_bytes);
  put_accesses(r, t, accesses.second, accesses.second_count, by_bytes);
  put_regions(r, t.trace_id, accesses.regions, accesses.region_count);
}

namespace {

spawn_site
    g_type_spawn_sites[k_trace_types]; // each written by one thread, before the type is ready

} // namespace

void note_type_spawn_site(std::size_t type) noexcept {
  spawn_site &p = g_type_spawn_sites[type];
  p.count = traces(trace_level::tasks) ? own_backtrace(p.calls, k_spawn_site_depth, 1)
                                       : 0; // 1: this function
}

spawn_site spawn_site_of_type(std::size_t type) noexcept { return g_type_spawn_sites[type]; }

namespace {

// Each is set once, by the thread that meets the type, and stays: a reader may have it.
std::atomic<const char *> g_named_sites[k_trace_types];

} // namespace

// O1: release and acquire, with each other: the text.
void name_spawn_site(std::uint16_t type, std::string_view site) noexcept {
  char *const text = static_cast<char *>(std::malloc(site.size() + 1));
  if (!text)
    return;
  text[site.copy(text, site.size())] = '\0';
  const char *none = nullptr;
  if (!g_named_sites[type].compare_exchange_strong(none, text, std::memory_order_acq_rel)) // O1
    std::free(text);
}
bool has_named_site(std::uint16_t type) noexcept {
  return g_named_sites[type].load(std::memory_order_relaxed) != nullptr; // a hint
}
std::string_view named_spawn_site(std::size_t type) noexcept {
  const char *const text = g_named_sites[type].load(std::memory_order_acquire); // O1
  return text ? text : "";
}

std::uint32_t trace_external_creation(tracer &trace, const char *label, const void *group,
                                      const region_entry *regions, std::size_t count) noexcept {
  trace_ring &r = trace.ring;
  const std::uint32_t id = r.fresh_id();
  r.ending = 0;
  r.put(trace_event::create, trace.types.find(label, nullptr), id,
        r.running | std::uint64_t{std::min<std::size_t>(count, 0xffffff)} << 32,
        reinterpret_cast<std::uintptr_t>(group));
  if (traces(trace_level::graph))
    put_regions(r, id, regions, count);
  return id;
}

traced_body trace_external_begin(tracer &trace, std::uint32_t task, const char *label) noexcept {
  trace_ring &r = trace.ring;
  const std::uint32_t id = traces(trace_level::tasks) ? task : r.fresh_id();
  const traced_body body{id, std::exchange(r.running, id), trace.types.find(label, nullptr)};
  r.ending = 0;
  r.put(trace_event::begin, body.type, id, body.outer, k_external);
  return body;
}

void trace_external_end(tracer &trace, const traced_body &body) noexcept {
  trace.ring.running = body.outer;
  trace.ring.ending = body.task;
  trace.ring.put(trace_event::end, body.type, body.task);
}

void trace_external_skipped(tracer &trace, std::uint32_t task, const char *label) noexcept {
  trace_ring &r = trace.ring;
  const std::uint32_t id = traces(trace_level::tasks) ? task : r.fresh_id();
  const std::uint16_t type = trace.types.find(label, nullptr);
  r.put(trace_event::begin, type, id, r.running, k_skipped | k_external);
  r.put(trace_event::end, type, id, k_skipped);
  r.ending = id;
}

void trace_abandoned(task &t) noexcept {
  if (tracer *x = this_thread_context()->trace; x && traces(trace_level::tasks))
    x->ring.put(trace_event::abandon, 0, t.trace_id);
}

void trace_ready(const task &t) noexcept {
  const thread_context *e = this_thread_context(); // null on a thread that only decreases events
  if (!e || !e->trace)
    return;
  trace_ring &r = e->trace->ring;
  r.put(trace_event::ready, 0, t.trace_id, r.ending ? r.ending : r.running);
}

void trace_after(const task &t, const task &before, comes_after how) noexcept {
  const thread_context *const here = this_thread_context();
  if (!here || !here->trace || !traces(trace_level::graph))
    return;
  const auto number_of = [](const task &of) { return is_state(of) || is_named(of) ? of.trace_id : 0; };
  const std::uint32_t number = number_of(t), awaited = number_of(before);
  if (number == 0 || awaited == 0)
    return;
  here->trace->ring.put(trace_event::after, is_state(t) ? type_of(*here->trace, t) : 0, number, awaited,
                        (is_state(t) ? std::uint64_t{k_is_result} : 0) |
                            (is_state(before) ? std::uint64_t{k_awaits_result} : 0) |
                            (how == comes_after::ends ? std::uint64_t{k_ends_after} : 0));
}

void trace_given(const task &state) noexcept {
  const thread_context *const here = this_thread_context(); // null on a thread that Weft does not know
  if (!here || !here->trace)
    return;
  trace_ring &r = here->trace->ring;
  r.put(trace_event::given, type_of(*here->trace, state), state.trace_id, r.ending ? r.ending : r.running);
}

void trace_nested_begin(tracer &trace, task &t, const traced_body &body) noexcept {
  trace.ring.put(trace_event::begin, body.type, body.task, body.outer,
                 is_recorded(t) ? std::uint64_t{k_round} : 0);
}

void trace_uncommon_end(tracer &trace, task &t, const traced_body &body) noexcept {
  const task_extra *const extra = peek_extra(t);
  const bool again = extra && extra->instead_of_end && !t.has_meanwhile(detail::k_cancelled);
  trace.ring.put(trace_event::end, body.type, body.task,
                 (is_recorded(t) ? std::uint64_t{k_round} : 0) |
                     (again ? std::uint64_t{k_again} : 0));
}

std::uint64_t traced_object(const wait_reason &why) noexcept {
  if (why.what != waits_for::end_of_task)
    return reinterpret_cast<std::uintptr_t>(why.target);
  const task &awaited = *static_cast<const task *>(why.target); // which lives: the waiter refers to it
  return is_named(awaited) && !is_state(awaited) ? awaited.trace_id : 0; // a promise has none
}

void trace_left(tracer &trace, const task &t) noexcept {
  const detail::coro_root *const root = peek_extra(t)->coroutine;
  if (!root) // no coroutine, or one that is over
    return;
  const auto function_of = [&trace](const detail::coro_link &link) {
    return trace.types.find_coroutine(*static_cast<void *const *>(link.frame)); // of both compilers
  };
  std::uint64_t callers = 0;
  const detail::coro_link *first = root->at;
  while (first->caller && callers <= k_most_callers) {
    first = first->caller;
    ++callers;
  }
  left_word left;
  if (callers <= k_most_callers) {
    left.callers = static_cast<std::uint8_t>(callers);
    left.first = function_of(*first);
  }
  const wait_reason why = reason_of_leaving(*root);
  left.reason = static_cast<std::uint8_t>(why.what);
  if (why.what == waits_for::end_of_task)
    left.awaited = type_of(trace, *static_cast<const task *>(why.target));
  trace.ring.put(trace_event::left, function_of(*root->at), t.trace_id, word_of_left(left),
                 traced_object(why));
}

void trace_skipped(task &t) noexcept {
  tracer *const x = this_thread_context()->trace;
  if (!x)
    return;
  if (!is_named(t))
    t.trace_id = x->ring.fresh_id();
  x->ring.put(trace_event::begin, type_of(*x, t), t.trace_id, x->ring.running, k_skipped);
  x->ring.put(trace_event::end, type_of(*x, t), t.trace_id, k_skipped);
  x->ring.ending = t.trace_id;
}

void trace_root(tracer &trace, task &root) noexcept {
  root.trace_id = trace.ring.fresh_id();
  trace.ring.running = root.trace_id;
  trace.ring.put(trace_event::root, trace.types.find(root.label, nullptr), root.trace_id,
                 trace.ring.slot());
}

std::uint32_t trace_branch_begins(tracer &trace, task &branch) noexcept {
  branch.trace_id = trace.ring.fresh_id();
  const std::uint32_t outer = std::exchange(trace.ring.running, branch.trace_id);
  trace.ring.put(trace_event::begin, trace.types.find(branch.label, nullptr), branch.trace_id,
                 outer, flags_of_branch(branch.parent->trace_id));
  return outer;
}

void trace_branch_ends(tracer &trace, std::uint32_t id, std::uint32_t outer) noexcept {
  trace.ring.running = outer;
  trace.ring.put(trace_event::end, 0, id, k_branch);
}

} // namespace rt
} // namespace weft::inline v0
