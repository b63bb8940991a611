// SPDX-License-Identifier: Apache-2.0
// The template shell of spawn(): sorts the clauses, moves the callable into the task, hands both to the library.
#pragma once

#include <weft/clauses.hpp>
#include <weft/detail/core.hpp>
#include <weft/detail/in_place.hpp>
#include <weft/region.hpp>

#include <concepts>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

template <class T>
class handle;

namespace detail {

/// Holds what a callable returns; on the heap when its alignment exceeds that of a task's block.
template <class T>
struct result_of {
  union {
    T value;
  };
  result_of() noexcept {}
  ~result_of() {}
  template <class F>
  void make(F &f) {
    ::new (static_cast<void *>(std::addressof(value))) T(f());
  }
  T &get() noexcept { return value; }
  void destroy() noexcept { value.~T(); }
};
template <class T>
  requires(alignof(T) > k_storage_align)
struct result_of<T> {
  T *value;
  template <class F>
  void make(F &f) {
    value = new T(f());
  }
  T &get() noexcept { return *value; }
  void destroy() noexcept { delete value; }
};

/// Holds where an object is that the callable returns a reference to.
template <class T>
  requires std::is_reference_v<T>
struct result_of<T> {
  std::remove_reference_t<T> *value;
  template <class F>
  void make(F &f) {
    T &&referred = f();
    value = std::addressof(referred);
  }
  std::remove_reference_t<T> &get() noexcept { return *value; }
  void destroy() noexcept {}
};

/// Whether nothing is to be done when a result goes.
template <class T>
inline constexpr bool is_trivial_result =
    std::is_reference_v<T> ||
    (std::is_trivially_destructible_v<T> && alignof(T) <= k_storage_align);

/// Holds a callable whose alignment exceeds that of a task's block.
template <class F>
class boxed {
 public:
  template <class G>
    requires(!std::is_same_v<std::remove_cvref_t<G>, boxed>)
  explicit boxed(G &&callable) : m_f(new F(static_cast<G &&>(callable))) {}
  boxed(boxed &&other) noexcept : m_f(std::exchange(other.m_f, nullptr)) {}
  boxed &operator=(boxed &&) = delete;
  ~boxed() { delete m_f; }
  decltype(auto) operator()() { return (*m_f)(); }

 private:
  F *m_f;
};

template <class F>
inline constexpr bool uses_itself_up = false;
template <class F>
  requires F::k_uses_itself_up
inline constexpr bool uses_itself_up<F> = true;

/// Holds a callable behind the room for what it returns. The result comes first, so that a handle
/// finds it.
template <class F, class T>
struct body {
  result_of<T> result;
  F f;
  bool has_result = false;
  template <class G>
  explicit body(G &&callable) : f(static_cast<G &&>(callable)) {}
  ~body() {}

  static void invoke(void *p) {
    auto *self = static_cast<body *>(p);
    self->result.make(self->f);
    self->has_result = true;
    if constexpr (uses_itself_up<F> && is_trivial_result<T>)
      task_holds_no_closure(p);
  }
  static void destroy(void *p) noexcept { static_cast<body *>(p)->f.~F(); }
  static constexpr bool k_trivial = std::is_trivially_destructible_v<F>;
  static void destroy_result(void *p) noexcept {
    auto *self = static_cast<body *>(p);
    if (self->has_result)
      self->result.destroy();
  }
  static constexpr body_ops ops{&invoke,         k_trivial ? nullptr : &destroy,
                                &destroy_result, !k_trivial || !is_trivial_result<T>,
                                sizeof(F),       closure_name<F>()};
};

template <class F>
struct body<F, void> {
  F f;
  template <class G>
  explicit body(G &&callable) : f(static_cast<G &&>(callable)) {}

  static void invoke(void *p) {
    static_cast<body *>(p)->f();
    if constexpr (uses_itself_up<F>)
      task_holds_no_closure(p);
  }
  static void destroy(void *p) noexcept { static_cast<body *>(p)->f.~F(); }
  static constexpr bool k_trivial = std::is_trivially_destructible_v<F>;
  static constexpr body_ops ops{
      &invoke, k_trivial ? nullptr : &destroy, nullptr, !k_trivial, sizeof(F), closure_name<F>()};
};

/// Names the body of a callable F that returns an R, and what the handle of its task gives.
/// weft/coro.hpp has a case of its own.
template <class F, class R>
struct body_of {
  using type = body<F, R>;
  using value = R;
  static constexpr bool is_coroutine = false;
};
template <class F>
using body_of_call = body_of<F, std::invoke_result_t<F &>>;

/// Holds a body in front of what makes the task wait for others.
template <class Body, std::size_t Count>
struct waiting_body : Body {
  using Body::Body;
  after_node nodes[Count];
};

template <class Body>
inline constexpr body_ops k_ops{
    Body::ops.invoke, Body::ops.destroy, Body::ops.destroy_result, Body::ops.traits.flags != 0,
    sizeof(Body),     Body::ops.closure};

/// Holds for a clause that names an object and more than fits into an access: a reduction.
template <class Clause>
concept access_source = requires(const Clause &c) {
  { c.as_access() } noexcept -> std::same_as<access>;
};
template <class Clause>
inline constexpr bool is_access = std::is_same_v<Clause, access> || access_source<Clause>;
template <class Clause>
inline constexpr bool is_list = std::is_same_v<Clause, accesses>;
template <class Clause>
inline constexpr bool is_after = std::is_same_v<Clause, after_clause>;
template <class Clause>
inline constexpr bool is_region = std::is_same_v<Clause, region_access>;
template <class Clause>
inline constexpr bool is_region_list = std::is_same_v<Clause, regions>;
template <class Clause>
inline constexpr bool is_option =
    std::is_same_v<Clause, label> || std::is_same_v<Clause, priority> ||
    std::is_same_v<Clause, weft::v0::final> || std::is_same_v<Clause, if_> ||
    std::is_same_v<Clause, wait_clause> || std::is_same_v<Clause, tracked_clause> ||
    std::is_same_v<Clause, stack_bytes> || std::is_same_v<Clause, cost> ||
    std::is_same_v<Clause, onready> || std::is_same_v<Clause, may_inline_clause>;
/// Whether the clause lets a task run in place that may.
template <class Clause>
inline constexpr bool allows_in_place =
    is_access<Clause> || is_list<Clause> || std::is_same_v<Clause, label> ||
    std::is_same_v<Clause, tracked_clause> || std::is_same_v<Clause, cost> ||
    std::is_same_v<Clause, may_inline_clause>;

template <class Clause>
void put_option(spawn_options &options, const Clause &clause) noexcept {
  if constexpr (std::is_same_v<Clause, label>)
    options.label = clause.text;
  else if constexpr (std::is_same_v<Clause, priority>)
    options.priority = clause.value;
  else if constexpr (std::is_same_v<Clause, weft::v0::final>)
    options.flags = static_cast<std::uint8_t>(options.flags | (clause.on ? k_final : 0));
  else if constexpr (std::is_same_v<Clause, if_>)
    options.flags = static_cast<std::uint8_t>(options.flags | (clause.deferred ? 0 : k_undeferred));
  else if constexpr (std::is_same_v<Clause, wait_clause>)
    options.flags |= k_wait;
  else if constexpr (std::is_same_v<Clause, stack_bytes>)
    options.stack_bytes = clause.bytes;
  else if constexpr (std::is_same_v<Clause, cost>)
    options.cost = clause.amount;
  else if constexpr (std::is_same_v<Clause, onready>) {
    options.onready = clause.f;
    options.onready_context = clause.context;
  }
}

template <class Clause>
void put_access(access *&next, const Clause &clause) noexcept {
  if constexpr (access_source<Clause>)
    *next++ = clause.as_access();
  else if constexpr (is_access<Clause>)
    *next++ = clause;
}

template <class Clause>
void put_region(region_access *&next, const Clause &clause) noexcept {
  if constexpr (is_region<Clause>)
    ::new (static_cast<void *>(next++)) region_access(clause);
}

template <class Clause>
void put_after(after_node *&next, const Clause &clause) noexcept {
  if constexpr (is_after<Clause>)
    (next++)->before = clause.before;
}

/// Submits a task of whose clauses some are regions; `submitted` holds the rest.
template <class... Clauses>
void submit_regions(task *t, submission submitted, const Clauses &...clauses) {
  constexpr std::size_t fixed = (std::size_t{0} + ... + std::size_t{is_region<Clauses>});
  alignas(region_access) unsigned char storage[(fixed + 1) * sizeof(region_access)];
  auto *const first = reinterpret_cast<region_access *>(storage);
  region_access *next = first;
  (put_region(next, clauses), ...);
  submitted.named_regions = first;
  submitted.named_region_count = fixed;
  const auto add_list = [&submitted](const auto &clause) {
    if constexpr (is_region_list<std::remove_cvref_t<decltype(clause)>>) {
      submitted.region_list = clause.list.data();
      submitted.region_list_count = clause.list.size();
    }
  };
  (add_list(clauses), ...);
  task_submit_regions(t, submitted);
}

template <class Clause>
const accesses *find_list(const accesses *found, const Clause &clause) noexcept {
  if constexpr (is_list<Clause>)
    return &clause;
  else
    return found;
}

/// Spawns as spawn_in(), once the clauses are known to be right.
template <class Body, class F, class... Clauses>
auto spawn_closure(task_group *group, F &&f, const Clauses &...clauses) {
  using closure = std::decay_t<F>;
  using result = typename body_of_call<closure>::value;
  constexpr std::size_t awaited = (std::size_t{0} + ... + std::size_t{is_after<Clauses>});
  using body_type =
      std::conditional_t<awaited == 0, Body, waiting_body<Body, awaited + (awaited == 0)>>;
  static_assert(alignof(body_type) <= k_storage_align);
  constexpr bool has_handle =
      !std::is_void_v<result> || (std::is_same_v<Clauses, tracked_clause> || ...);
  // A coroutine that has waited ends elsewhere, and if_(false) is over when it has ended.
  constexpr bool may_wait_for_end =
      body_of_call<closure>::is_coroutine && (std::is_same_v<Clauses, if_> || ...);
  constexpr bool has_regions = ((is_region<Clauses> || is_region_list<Clauses>) || ...);
  constexpr bool has_accesses = has_regions || ((is_access<Clauses> || is_list<Clauses>) || ...);
  constexpr bool has_options =
      (has_handle && has_accesses) ||
      ((is_option<Clauses> && !std::is_same_v<Clauses, tracked_clause> &&
        !std::is_same_v<Clauses, may_inline_clause>) ||
       ...);
  constexpr std::size_t fixed = (std::size_t{0} + ... + std::size_t{is_access<Clauses>});

  const access *list = nullptr;
  std::size_t list_count = 0;
  if constexpr ((is_list<Clauses> || ...)) {
    const accesses *found = nullptr;
    ((found = find_list(found, clauses)), ...);
    list = found->list.data();
    list_count = found->list.size();
    if (list_count > k_most_accesses)
      refuse_accesses(list_count);
  }

  task *t = nullptr;
  if constexpr (has_options) {
    spawn_options options;
    options.group = group;
    options.flags = has_handle ? k_tracked : 0;
    (put_option(options, clauses), ...);
    t = task_create_with(k_ops<body_type>, fixed + list_count, options);
  } else if constexpr (has_handle) {
    t = task_create_tracked(k_ops<body_type>, group);
  } else {
    t = task_create(k_ops<body_type>, fixed + list_count, group);
  }
  if constexpr (std::is_nothrow_constructible_v<closure, F>) {
    ::new (storage(t)) body_type(static_cast<F &&>(f));
  } else {
    try {
      ::new (storage(t)) body_type(static_cast<F &&>(f));
    } catch (...) {
      task_abandon(t);
      throw;
    }
  }
  if constexpr (may_wait_for_end)
    task_add_reference(t);
  [[maybe_unused]] after_node *nodes = nullptr;
  [[maybe_unused]] bool held = false;
  if constexpr (awaited > 0) {
    after_node *next = nodes = static_cast<body_type *>(storage(t))->nodes;
    (put_after(next, clauses), ...);
  }
  if constexpr (fixed > 0 || has_regions || (is_list<Clauses> || ...)) {
    if constexpr (awaited > 0)
      held = task_hold(t, nodes, awaited);
    access named[fixed + 1];
    access *next = named;
    (put_access(next, clauses), ...);
    if constexpr (has_regions)
      submit_regions(t, {named, fixed, list, list_count}, clauses...);
    else if constexpr (fixed == 1 && !(is_list<Clauses> || ...))
      task_submit(t, named[0]);
    else
      task_submit(t, named, fixed, list, list_count);
    if (held)
      task_release_held(t, nodes, awaited);
  } else if constexpr (awaited > 0) {
    task_submit_after(t, nodes, awaited);
  } else {
    task_submit(t);
  }
  if constexpr (may_wait_for_end)
    task_wait_undeferred(t);
  if constexpr (has_handle)
    return handle<result>(t);
}

/// Is what is known of the tasks of a type.
template <class F>
inline constinit work_site task_site{closure_name<F>()};

/// Measures the calls of a callable that tasks hold.
template <class F>
struct measured_call {
  F f;
  std::uint64_t amount;
  work_way way;
  decltype(auto) operator()() {
    work_timer timer;
    begin_timer(timer, task_site<F>, amount, way);
    return f();
  }
};

/// Holds a callable that runs in place, until what the library calls last has destroyed it.
template <class F>
union closure_in_place {
  F f;
  template <class G>
  explicit closure_in_place(G &&callable) : f(static_cast<G &&>(callable)) {}
  ~closure_in_place() {}
  closure_in_place(const closure_in_place &) = delete;
  closure_in_place &operator=(const closure_in_place &) = delete;

  static void invoke(void *p) { static_cast<void>(static_cast<closure_in_place *>(p)->f()); }
  static void destroy(void *p) noexcept { static_cast<closure_in_place *>(p)->f.~F(); }
};

/// Spawns a task that may run in place.
template <class F, class... Clauses>
auto spawn_by_cost(task_group *group, F &&f, const Clauses &...clauses) {
  using closure = std::decay_t<F>;
  using result = typename body_of_call<closure>::value;
  constexpr bool has_handle =
      !std::is_void_v<result> || (std::is_same_v<Clauses, tracked_clause> || ...);
  constexpr std::size_t fixed = (std::size_t{0} + ... + std::size_t{is_access<Clauses>});
  spawn_options options;
  (put_option(options, clauses), ...);
  access named[fixed + 1];
  access *next = named;
  (put_access(next, clauses), ...);
  const accesses *list = nullptr;
  ((list = find_list(list, clauses)), ...);
  work_site &site = task_site<closure>;
  const work_way way =
      choose_spawn(site, options.cost, group, named, fixed, list ? list->list.data() : nullptr,
                   list ? list->list.size() : 0);
  if constexpr (!has_handle) {
    if (way == work_way::in_place || way == work_way::in_place_measured) {
      closure_in_place<closure> here(static_cast<F &&>(f));
      return run_task_in_place(
          {&site, options.cost, group, options.label, &closure_in_place<closure>::invoke,
           std::is_trivially_destructible_v<closure> ? nullptr
                                                     : &closure_in_place<closure>::destroy,
           &here},
          way);
    }
  }
  if (way == work_way::apart)
    return spawn_closure<typename body_of_call<closure>::type>(group, static_cast<F &&>(f),
                                                               clauses...);
  using measured = measured_call<closure>;
  return spawn_closure<typename body_of_call<measured>::type>(
      group, measured{static_cast<F &&>(f), options.cost, way}, clauses...,
      if_(way == work_way::apart_measured));
}

template <class F, class... Clauses>
auto spawn_in(task_group *group, F &&f, const Clauses &...clauses) {
  using closure = std::decay_t<F>;
  static_assert(std::is_invocable_v<closure &>,
                "weft::spawn needs a callable without parameters; bind them in a lambda");
  static_assert(
      ((is_access<Clauses> || is_list<Clauses> || is_region<Clauses> || is_region_list<Clauses> ||
        is_option<Clauses> || is_after<Clauses>) &&
       ...),
      "a clause of weft::spawn must be an access (in, out, inout, reduction, weak_in, ...), accesses(list), regions(list), label, priority, "
      "final, if_, wait, tracked, stack_bytes, cost, may_inline, onready or after(future)");
  constexpr bool may_inline = (std::is_same_v<Clauses, may_inline_clause> || ...);
  static_assert(!may_inline || (std::is_same_v<Clauses, cost> || ...),
                "may_inline needs cost(n), by which Weft decides whether the task runs in place");
  static_assert((0 + ... + int{is_list<Clauses>}) <= 1,
                "weft::spawn takes at most one accesses(list)");
  static_assert((0 + ... + int{is_region_list<Clauses>}) <= 1,
                "weft::spawn takes at most one regions(list)");
  static_assert(!std::is_reference_v<typename body_of_call<closure>::value>,
                "the callable of weft::spawn returns a reference: return a value or a pointer");
  using body_type = typename body_of_call<closure>::type;
  if constexpr (alignof(closure) > k_storage_align) {
    return spawn_in(group, boxed<closure>(static_cast<F &&>(f)), clauses...);
  } else {
    static_assert(alignof(body_type) <= k_storage_align);
    if constexpr (may_inline && (allows_in_place<Clauses> && ...) &&
                  !body_of_call<closure>::is_coroutine)
      return spawn_by_cost(group, static_cast<F &&>(f), clauses...);
    else
      return spawn_closure<body_type>(group, static_cast<F &&>(f), clauses...);
  }
}

} // namespace detail
} // namespace weft::inline v0
