// SPDX-License-Identifier: Apache-2.0
// Tasks of C. A closure is the function and its argument; the argument is behind the closure, on the
// heap, or with the caller.
#include "task/task.hpp"
#include "api/c/guard.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

static_assert(int{WEFT_TASK_FINAL} == int{detail::k_final} &&
              int{WEFT_TASK_UNDEFERRED} == int{detail::k_undeferred} &&
              int{WEFT_TASK_WAIT} == int{detail::k_wait});
static_assert(WEFT_WEAK_REDUCTION == static_cast<int>(access_mode::weak_reduction));

struct c_body {
  weft_body body;
  void *arg;

  static void invoke(void *p) {
    const auto *self = static_cast<c_body *>(p);
    if (const int code = self->body(self->arg))
      throw_body_failed(code);
  }
  /// Measures the body for its estimate: of a task that may run in place, and does not.
  static void invoke_measured(void *p) {
    detail::work_timer timer;
    detail::begin_timer(
        timer, detail::site_of_body(reinterpret_cast<const void *>(static_cast<c_body *>(p)->body)),
        this_task::cost(), detail::work_way::apart_measured);
    invoke(p);
  }
  static void free_arg(void *p) noexcept { std::free(static_cast<c_body *>(p)->arg); }
};
static_assert(sizeof(c_body) == 16, "the copy behind it is aligned to 16 bytes");

// An argument of at most this size is in the task's block, in steps; a longer one costs a malloc
// beside its memcpy.
constexpr std::size_t k_inline_bytes = 1024;
constexpr std::size_t k_step = 32;

template <std::size_t... I>
constexpr std::array<detail::body_ops, sizeof...(I)> make_ops(void (*invoke)(void *),
                                                              std::index_sequence<I...>) {
  return {{{invoke, nullptr, nullptr, false, sizeof(c_body) + I * k_step}...}};
}
using inline_ops = std::array<detail::body_ops, k_inline_bytes / k_step + 1>;
constexpr inline_ops k_inline_ops =
    make_ops(&c_body::invoke, std::make_index_sequence<k_inline_bytes / k_step + 1>{});
constexpr inline_ops k_measured_ops =
    make_ops(&c_body::invoke_measured, std::make_index_sequence<k_inline_bytes / k_step + 1>{});
constexpr detail::body_ops k_heap_ops{&c_body::invoke, &c_body::free_arg, nullptr, true,
                                      sizeof(c_body)};

/// Holds the list in the form of the core; a few accesses need no allocation.
class access_list {
 public:
  access_list(const weft_access *list, std::size_t count, const char *function) : m_count(count) {
    if (count > 0)
      require(list, function, "list");
    if (count > detail::k_most_accesses)
      detail::refuse_accesses(count);
    if (count > std::size(m_few)) {
      m_many.resize(count);
      m_first = m_many.data();
    }
    std::size_t reductions = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const int mode = bare_mode(list[i].mode);
      if (mode < WEFT_IN || mode > WEFT_WEAK_REDUCTION)
        throw_error(errc::invalid_argument,
                    "%s: access %zu has mode %d; it must be one of enum weft_access_mode (0 to %d)",
                    function, i, list[i].mode, static_cast<int>(WEFT_WEAK_REDUCTION));
      m_first[i] = {list[i].address, static_cast<access_mode>(mode), size_in_mode(list[i].mode)};
      reductions += is_reduction(m_first[i]);
    }
    if (reductions > 0)
      translate(function, reductions);
  }
  access_list(const access_list &) = delete;
  access_list &operator=(const access_list &) = delete;
  [[nodiscard]] std::span<const access> span() const noexcept { return {m_first, m_count}; }
  [[nodiscard]] bool reduces() const noexcept { return !m_reductions.empty(); }

 private:
  static bool is_reduction(const access &a) noexcept {
    return a.address && a.mode >= access_mode::reduction;
  }

  void translate(const char *function, std::size_t reductions) {
    m_reductions.reserve(reductions);
    for (std::size_t i = 0; i < m_count; ++i)
      if (is_reduction(m_first[i])) {
        const auto &r = *static_cast<const weft_reduction *>(m_first[i].address);
        if (!r.init || !r.combine)
          throw_error(errc::invalid_argument,
                      "%s: access %zu reduces without init or combine; see weft_reduction_builtin",
                      function, i);
        m_first[i].address = &m_reductions.emplace_back(c_reduction(r));
      }
  }

  std::vector<detail::reduction_spec> m_reductions;
  access m_few[8];
  std::vector<access> m_many;
  access *m_first = m_few;
  std::size_t m_count;
};

std::vector<region_access> region_list(const weft_region *regions, std::size_t count,
                                       const char *function) {
  if (count > 0)
    require(regions, function, "regions");
  if (count > detail::k_most_accesses)
    detail::refuse_accesses(count);
  std::vector<region_access> list(count, {region(static_cast<const char *>(nullptr), 0)});
  for (std::size_t i = 0; i < count; ++i) {
    const weft_region &from = regions[i];
    if (from.mode < WEFT_IN || from.mode > WEFT_WEAK_COMMUTATIVE)
      throw_error(errc::invalid_argument,
                  "%s: region %zu has mode %d; it must be one of enum weft_access_mode (0 to %d)",
                  function, i, from.mode, static_cast<int>(WEFT_WEAK_COMMUTATIVE));
    if (from.dimensions < 1 || from.dimensions > 3 || from.element_bytes == 0)
      throw_error(
          errc::invalid_argument,
          "%s: region %zu has %d dimensions of elements of %zu bytes; there must be one to three, and at least a byte",
          function, i, from.dimensions, from.element_bytes);
    detail::region_dimension dimensions[3];
    for (int d = 0; d < from.dimensions; ++d)
      dimensions[d] = {from.dimension[d].extent, from.dimension[d].first, from.dimension[d].count,
                       from.dimension[d].stride};
    list[i] = {region(from.address, from.element_bytes, static_cast<unsigned>(from.dimensions),
                      dimensions),
               static_cast<access_mode>(from.mode)};
  }
  return list;
}

struct free_deleter {
  void operator()(void *p) const noexcept { std::free(p); }
};
using heap_copy = std::unique_ptr<void, free_deleter>;

heap_copy copy_to_heap(const void *arg, std::size_t bytes) {
  heap_copy copy(std::malloc(bytes));
  if (!copy)
    throw_error(errc::out_of_resources,
                "weft_spawn: no memory for a copy of the argument (%zu bytes)", bytes);
  std::memcpy(copy.get(), arg, bytes);
  return copy;
}

detail::task *create(weft_body body, const void *arg, std::size_t bytes, std::size_t accesses,
                     const detail::spawn_options &options, const inline_ops &ops) {
  if (bytes > k_inline_bytes) {
    heap_copy copy = copy_to_heap(arg, bytes);
    detail::task *t = detail::task_create_with(k_heap_ops, accesses, options);
    ::new (detail::storage(t)) c_body{body, copy.release()};
    return t;
  }
  detail::task *t =
      detail::task_create_with(ops[(bytes + k_step - 1) / k_step], accesses, options);
  auto *closure = ::new (detail::storage(t)) c_body{body, const_cast<void *>(arg)};
  if (bytes > 0) {
    closure->arg = closure + 1;
    std::memcpy(closure->arg, arg, bytes);
  }
  return t;
}

/// Returns whether the options name a task, and ask for nothing else.
bool only_name(const weft_spawn_options &options) noexcept {
  return options.size == sizeof options &&
         (static_cast<unsigned>(options.priority) | options.flags | options.stack_bytes |
          options.cost | reinterpret_cast<std::uintptr_t>(options.onready) |
          reinterpret_cast<std::uintptr_t>(options.group)) == 0;
}

/// Creates a task whose argument the caller fills.
detail::task *create_empty(weft_body body, std::size_t bytes, std::size_t accesses,
                           const weft_spawn_options *options) {
  if (bytes > k_inline_bytes) {
    heap_copy room(std::malloc(bytes));
    if (!room)
      throw_error(errc::out_of_resources,
                  "weft_task_prepare: no memory for the argument (%zu bytes)", bytes);
    detail::task *t =
        detail::task_create_with(k_heap_ops, accesses, core_options(known_spawn_options(options)));
    ::new (detail::storage(t)) c_body{body, room.release()};
    return t;
  }
  const detail::body_ops &ops = k_inline_ops[(bytes + k_step - 1) / k_step];
  const bool plain = !options || only_name(*options);
  detail::task *t =
      plain ? detail::task_create(ops, accesses, nullptr)
            : detail::task_create_with(ops, accesses, core_options(known_spawn_options(options)));
  if (options && plain)
    t->label = options->label;
  auto *closure = static_cast<c_body *>(detail::storage(t));
  ::new (closure) c_body{body, bytes > 0 ? closure + 1 : nullptr};
  return t;
}

/// Frees a task that was never submitted.
void discard(detail::task *t) noexcept {
  if (t->ops->destroy)
    t->ops->destroy(detail::storage(t));
  detail::task_abandon(t);
}

} // namespace

detail::spawn_options core_options(const weft_spawn_options &from) noexcept {
  detail::spawn_options to;
  to.label = from.label;
  to.group = from.group ? &from.group->group : nullptr;
  to.onready = from.onready;
  to.onready_context = from.onready_context;
  to.stack_bytes = from.stack_bytes;
  to.cost = from.cost;
  to.priority = from.priority;
  to.flags = static_cast<std::uint8_t>(
      from.flags & unsigned{WEFT_TASK_FINAL | WEFT_TASK_UNDEFERRED | WEFT_TASK_WAIT});
  return to;
}

weft_spawn_options known_spawn_options(const weft_spawn_options *from, unsigned more_flags) {
  weft_spawn_options known = WEFT_SPAWN_OPTIONS_INIT;
  if (!from)
    return known;
  if (from->size < sizeof from->size)
    throw_error(errc::invalid_argument,
                "weft_spawn: options->size is %zu; set it to sizeof(weft_spawn_options)",
                from->size);
  const auto *bytes = reinterpret_cast<const unsigned char *>(from);
  for (std::size_t i = sizeof known; i < from->size; ++i)
    if (bytes[i] != 0)
      throw_error(
          errc::not_supported,
          "weft_spawn: the options are of a later version (%zu bytes, this library knows %zu) and use what "
          "this version lacks; link a newer libweft",
          from->size, sizeof known);
  std::memcpy(&known, from, std::min(from->size, sizeof known));
  if (known.flags &
      ~(unsigned{WEFT_TASK_FINAL | WEFT_TASK_UNDEFERRED | WEFT_TASK_WAIT} | more_flags))
    throw_error(
        errc::invalid_argument,
        "weft_spawn: options->flags is %#x; it may hold WEFT_TASK_FINAL, _UNDEFERRED and _WAIT",
        known.flags);
  return known;
}

} // namespace rt
} // namespace weft::inline v0

using namespace weft::rt;

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_in_place_bytes = 256; // of an argument that is copied to the creator's stack

/// Returns whether the options let the task run in place.
bool may_run_in_place(const weft_spawn_options &options, std::size_t arg_bytes) noexcept {
  return options.flags == WEFT_TASK_MAY_INLINE && options.cost != 0 && options.priority == 0 &&
         options.stack_bytes == 0 && !options.onready && arg_bytes <= k_in_place_bytes;
}

/// Chooses how a task without a handle goes on, and runs it in place if that is it.
detail::work_way choose_and_run(weft_body body, const void *arg, std::size_t arg_bytes,
                                std::span<const access> accesses,
                                const detail::spawn_options &options) {
  detail::work_site &site = detail::site_of_body(reinterpret_cast<const void *>(body));
  const detail::work_way way = detail::choose_spawn(site, options.cost, options.group,
                                                    accesses.data(), accesses.size(), nullptr, 0);
  if (way == detail::work_way::apart || way == detail::work_way::apart_measured)
    return way;
  alignas(16) unsigned char copy[k_in_place_bytes];
  c_body closure{body, const_cast<void *>(arg)};
  if (arg_bytes > 0)
    closure.arg = std::memcpy(copy, arg, arg_bytes);
  detail::run_task_in_place({&site, options.cost, options.group, options.label, &c_body::invoke,
                             nullptr, &closure},
                            way);
  return way;
}

struct submit_accesses {
  void operator()(weft::detail::task *t, std::span<const weft::access> accesses) const {
    weft::detail::task_submit(t, accesses.data(), accesses.size(), nullptr, 0);
  }
};

/// Creates a task, and has `submit` submit it.
template <class Submit>
int spawn(const char *function, weft_body body, const void *arg, std::size_t arg_bytes,
          const weft_access *list, std::size_t count, const weft_spawn_options *options,
          weft_handle **handle, Submit submit) {
  if (handle)
    *handle = nullptr;
  return guarded([&] {
    require_body(body, function);
    if (arg_bytes > 0)
      require(arg, function, "arg");
    const access_list accesses(list, count, function);
    const weft_spawn_options known = known_spawn_options(options, WEFT_TASK_MAY_INLINE);
    weft::detail::spawn_options core = core_options(known);
    const inline_ops *ops = &k_inline_ops;
    if (!handle && std::is_same_v<Submit, submit_accesses> && may_run_in_place(known, arg_bytes)) {
      const detail::work_way way = choose_and_run(body, arg, arg_bytes, accesses.span(), core);
      if (way == detail::work_way::in_place || way == detail::work_way::in_place_measured)
        return;
      if (way == detail::work_way::apart_measured)
        ops = &k_measured_ops;
    }
    std::unique_ptr<weft_handle> made;
    if (handle) {
      made = std::make_unique<weft_handle>();
      core.flags |= weft::detail::k_tracked;
    }
    weft::detail::task *t = create(body, arg, arg_bytes, count, core, *ops);
    submit(t, accesses.span());
    if (!handle)
      return;
    made->task = t;
    *handle = made.release();
  });
}

/// Returns what a task is submitted with. The task is gone when that cannot be read.
template <class Read>
auto read_or_discard(weft::detail::task *t, Read read) {
  try {
    return read();
  } catch (...) {
    discard(t);
    throw;
  }
}

/// Takes the task out of what the caller holds, for `count` accesses.
weft::detail::task *take_prepared(weft_prepared *prepared, std::size_t count,
                                  const char *function) {
  require(prepared, function, "prepared");
  auto *const t = static_cast<weft::detail::task *>(std::exchange(prepared->task, nullptr));
  if (!t)
    throw_error(errc::invalid_argument, "%s: no task is prepared; call weft_task_prepare first",
                function);
  if (count != prepared->count) {
    discard(t);
    throw_error(errc::invalid_argument,
                "%s: the list has %zu accesses, and weft_task_prepare announced %zu", function,
                count, prepared->count);
  }
  return t;
}

/// Submits as weft_task_submit(), whatever the list holds. A function of its own, so that the common case has a small frame.
WEFT_NOINLINE int submit_list(weft_prepared *prepared, const weft_access *list, std::size_t count) {
  return guarded([&] {
    weft::detail::task *const t = take_prepared(prepared, count, "weft_task_submit");
    const access_list accesses =
        read_or_discard(t, [&] { return access_list(list, count, "weft_task_submit"); });
    if (accesses.reduces())
      note_reduction(*t);
    if (has_weak(list, count))
      note_weak(*t);
    weft::detail::task_submit(t, accesses.span().data(), count, nullptr, 0);
  });
}

} // namespace
} // namespace rt
} // namespace weft::inline v0

int weft_spawn(weft_body body, const void *arg, size_t arg_bytes, const weft_access *list,
               size_t count, const weft_spawn_options *options, weft_handle **handle) {
  return spawn("weft_spawn", body, arg, arg_bytes, list, count, options, handle,
               submit_accesses{});
}

int weft_spawn_regions(weft_body body, const void *arg, size_t arg_bytes,
                       const weft_region *regions, size_t region_count, const weft_access *list,
                       size_t count, const weft_spawn_options *options, weft_handle **handle) {
  std::vector<weft::region_access> parts;
  if (const int status =
          guarded([&] { parts = region_list(regions, region_count, "weft_spawn_regions"); }))
    return status;
  return spawn("weft_spawn_regions", body, arg, arg_bytes, list, count, options, handle,
               [&](weft::detail::task *t, std::span<const weft::access> accesses) {
                 weft::detail::submission s;
                 s.list = accesses.data();
                 s.list_count = accesses.size();
                 s.region_list = parts.data();
                 s.region_list_count = parts.size();
                 weft::detail::task_submit_regions(t, s);
               });
}

int weft_task_prepare(weft_prepared *prepared, weft_body body, size_t arg_bytes, size_t count,
                      const weft_spawn_options *options) {
  return guarded([&] {
    require(prepared, "weft_task_prepare", "prepared");
    *prepared = {};
    require_body(body, "weft_task_prepare");
    if (count > weft::detail::k_most_accesses)
      weft::detail::refuse_accesses(count);
    weft::detail::task *const t = create_empty(body, arg_bytes, count, options);
    void *const arg = static_cast<c_body *>(weft::detail::storage(t))->arg;
    if (options && options->onready && !options->onready_context)
      t->extra.load(std::memory_order_relaxed)->onready_context = arg;
    *prepared = {arg, t, count};
  });
}

namespace {

[[nodiscard, gnu::always_inline]] inline bool has_one_access(const weft_prepared *prepared, const weft_access *list,
                                  size_t count, weft_access_mode last) noexcept {
  return count == 1 && prepared && prepared->task && prepared->count == 1 && list &&
         static_cast<unsigned>(bare_mode(list->mode)) <= static_cast<unsigned>(last);
}

/// Submits a task with one access, which is no reduction. Each caller has a function of its own: GCC inlines what has one caller.
template <bool IsCommon>
int submit_one(weft_prepared *prepared, const weft_access &one) {
  return guarded([&] {
    weft::detail::task_submit(
        static_cast<weft::detail::task *>(std::exchange(prepared->task, nullptr)),
        weft::access{one.address, static_cast<weft::access_mode>(bare_mode(one.mode)),
                     size_in_mode(one.mode)});
  });
}

WEFT_NOINLINE int submit_other(weft_prepared *prepared, const weft_access *list, size_t count) {
  if (!has_one_access(prepared, list, count, WEFT_WEAK_COMMUTATIVE))
    return submit_list(prepared, list, count);
  if (has_weak(list, 1))
    note_weak(*static_cast<weft::detail::task *>(prepared->task));
  return submit_one<false>(prepared, *list);
}

} // namespace

int weft_task_submit(weft_prepared *prepared, const weft_access *list, size_t count) {
  if (!has_one_access(prepared, list, count, WEFT_INOUT)) [[unlikely]]
    return submit_other(prepared, list, count);
  return submit_one<true>(prepared, *list);
}

int weft_task_submit_regions(weft_prepared *prepared, const weft_region *regions,
                             size_t region_count, const weft_access *list, size_t count) {
  return guarded([&] {
    weft::detail::task *const t = take_prepared(prepared, count, "weft_task_submit_regions");
    const access_list accesses =
        read_or_discard(t, [&] { return access_list(list, count, "weft_task_submit_regions"); });
    if (accesses.reduces())
      note_reduction(*t);
    if (has_weak(list, count) || has_weak(regions, region_count))
      note_weak(*t);
    const std::vector<weft::region_access> parts = read_or_discard(
        t, [&] { return region_list(regions, region_count, "weft_task_submit_regions"); });
    weft::detail::submission s;
    s.list = accesses.span().data();
    s.list_count = count;
    if (parts.size() == 1) {
      s.named_regions = parts.data(); // one alone has a way of its own
      s.named_region_count = 1;
    } else {
      s.region_list = parts.data();
      s.region_list_count = parts.size();
    }
    weft::detail::task_submit_regions(t, s);
  });
}

int weft_task_discard(weft_prepared *prepared) {
  if (prepared)
    if (auto *const t = static_cast<weft::detail::task *>(std::exchange(prepared->task, nullptr)))
      discard(t);
  return WEFT_OK;
}

int weft_taskwait(int *code) {
  return guarded_code(code, [] { weft::taskwait(); });
}

int weft_taskwait_for(int64_t ns, int *code) {
  bool complete = false;
  const int status = guarded_code(
      code, [&] { complete = weft::taskwait_for(std::chrono::nanoseconds(ns)); });
  return status != WEFT_OK || complete
             ? status
             : report(WEFT_ERR_TIMED_OUT, "weft_taskwait_for: children are left at the end of the time");
}

int weft_taskwait_on(const weft_access *list, size_t count) {
  return guarded([&] {
    const access_list accesses(list, count, "weft_taskwait_on");
    weft::taskwait(accesses.span());
  });
}

int weft_release(const weft_access *list, size_t count) {
  return guarded([&] {
    const access_list accesses(list, count, "weft_release");
    weft::release(accesses.span());
  });
}

int weft_release_regions(const weft_region *regions, size_t count) {
  return guarded([&] {
    weft::release(
        std::span<const weft::region_access>(region_list(regions, count, "weft_release_regions")));
  });
}

int weft_taskwait_on_regions(const weft_region *regions, size_t count) {
  return guarded([&] {
    weft::taskwait(std::span<const weft::region_access>(
        region_list(regions, count, "weft_taskwait_on_regions")));
  });
}

int weft_taskyield() {
  return guarded([] { weft::taskyield(); });
}

int weft_task_sleep_for(int64_t ns) {
  return guarded([&] { weft::this_task::sleep_for_ns(ns); });
}

const char *weft_task_label() { return weft::this_task::label(); }
uint64_t weft_task_cost() { return weft::this_task::cost(); }
int weft_task_in_final() { return weft::this_task::in_final() ? 1 : 0; }
int weft_task_cancelled() { return weft::this_task::cancelled() ? 1 : 0; }

int weft_handle_wait(weft_handle *handle, int *code) {
  return guarded_code(code, [&] {
    require(handle, "weft_handle_wait", "handle");
    weft::detail::task_wait_done(handle->task);
    if (!handle->asked)
      handle->failure = weft::detail::task_take_exception(handle->task);
    handle->asked = true;
    if (handle->failure)
      std::rethrow_exception(handle->failure);
  });
}

int weft_handle_ready(const weft_handle *handle) {
  int ready = 0;
  const int status = guarded([&] {
    require(handle, "weft_handle_ready", "handle");
    ready = weft::detail::task_is_done(handle->task) ? 1 : 0;
  });
  return status == WEFT_OK ? ready : status;
}

int weft_handle_destroy(weft_handle *handle) {
  return guarded([&] { delete handle; });
}
