// SPDX-License-Identifier: Apache-2.0
// The life of recorded tasks.
#include "iter/iteration.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "deps/access.hpp"
#include "deps/regions/region_scope.hpp"
#include "deps/regions/regions.hpp"
#include "deps/registration.hpp"
#include "iter/hooks.hpp"
#include "task/complete.hpp"
#include "task/failure.hpp"
#include "task/hooks.hpp"
#include "task/locals.hpp"
#include "task/pending.hpp"
#include "task/ready.hpp"
#include "task/recorded.hpp"
#include "task/run_body.hpp"
#include "ult/light_thread.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_most_tasks = std::size_t{1} << 31; // numbers of two passes fit 32 bits

recorded_node &node_of(const task &t) noexcept {
  return *static_cast<recorded_node *>(static_cast<runnable *>(
      t.done_word.load(std::memory_order_relaxed))); // before the first round
}

/// Returns the cancellation flag of `parent`'s group, or a flag that is never set.
const std::atomic<bool> &cancellation_of(const task &t) noexcept {
  static const std::atomic<bool> never{false};
  return t.group ? t.group->internals().cancelled : never;
}

/// Refuses a task that cannot be recorded. A recorded task runs again and again, so no thread can
/// wait for it, and nothing can be known of a single round.
void refuse_what_ends(const task &t, const task &owner) {
  const char *why =
      t.has(detail::k_undeferred)
          ? "the recording would wait for it: leave if_(false) out, and wait in a task instead"
      : t.has(detail::k_tracked) ? "has a handle: let it return nothing, and leave tracked out"
      : t.group ? "belongs to a group: leave the group out (of a loop that waits: with nogroup)"
                : nullptr;
  if (why)
    throw_error(errc::invalid_argument, "task '%s' cannot be recorded by taskiter '%s': %s",
                label_of(t), label_of(owner), why);
}

} // namespace

iteration::iteration(task &owner) noexcept
    : m_owner(owner), m_cancelled(cancellation_of(owner)), m_regional(all_are_regions()) {}

/// Destroys the recorded tasks. What the destructors of the callables spawn are children of the
/// taskiter.
iteration::~iteration() {
  thread_context *const before =
      this_thread_context(); // null on a thread that only takes events back
  task *const outer = before ? std::exchange(before->current, &m_owner) : nullptr;
  for (const recorded &r : m_tasks) {
    if (r.body->ops->destroy)
      r.body->ops->destroy(detail::storage(r.body));
    free_task(*r.body, own_heap());
  }
  if (task_extra *x = peek_extra(m_owner)) [[unlikely]]
    end_locals(*x); // locals of the destructors: the function that recorded is over
  if (before)
    this_thread_context()->current = outer; // a destructor may have waited
}

void iteration::record(task &t, const access *first, std::size_t first_count, const access *second,
                       std::size_t second_count, const region_entry *regions,
                       std::size_t region_count) {
  refuse_what_ends(t, m_owner);
  if (m_tasks.size() == k_most_tasks)
    throw_error(errc::out_of_resources,
                "taskiter '%s' records more than 2^31 tasks; make an iteration smaller",
                label_of(m_owner));
  const std::size_t begin = m_uses.size();
  const std::uint32_t behind = std::exchange(m_behind, k_itself);
  if (is_final(m_owner))
    t.set(detail::k_final);
  try {
    for (const auto &[list, count] :
         {std::pair(first, first_count), std::pair(second, second_count)})
      for (std::size_t i = 0; i < count; ++i)
        if (list[i].address)
          add_use(t, list[i]);
    for (std::size_t i = 0; i < region_count; ++i)
      add_uses(t, regions[i]);
    const std::size_t uses = merge_uses(t, begin);
    const auto number = static_cast<std::uint32_t>(m_tasks.size());
    m_tasks.push_back({&t, begin, uses, 0, number, behind == k_itself ? number : behind});
    m_tasks.back().reductions = fill_reductions(t, m_uses.data() + begin, uses);
  } catch (...) {
    m_uses.resize(begin);
    throw;
  }
  t.what = runnable::kind::recorded;
  t.confine(m_owner.confinement());
}

namespace {

/// Calls onready of a node whose round is ready, but not of a round that runs no body.
WEFT_INLINE void announce(recorded_node &node) noexcept {
  if (node.flags != 0 && !node.whole->stop.load(std::memory_order_relaxed)) [[unlikely]]
    call_onready(*node.body);
}

/// Ends a round, after the end of all that was spawned in it. Returns a node that may run next, or
/// null.
WEFT_INLINE runnable *pass_on(recorded_node &node) noexcept {
  iteration &whole = *node.whole;
  runnable *next = nullptr;
  const bool over = whole.end(node, [&next](cycle_node<real_atomics> &node) {
    announce(static_cast<recorded_node &>(node));
    if (!next)
      next = &node;
    else
      enqueue_ready(node);
  });
  if (over) [[unlikely]]
    whole.finish();
  return next;
}

/// Clears what a round leaves behind, before the next one.
void renew(task &t, task_extra &extra) noexcept {
  if (std::exception_ptr error = std::exchange(extra.children_error, nullptr))
    recorded_failed(t, std::move(error));
  const auto onready = extra.onready;
  void *const context = extra.onready_context;
  const std::size_t stack_bytes = extra.stack_bytes;
  extra.~task_extra();
  auto *fresh = ::new (static_cast<void *>(&extra)) task_extra;
  fresh->onready = onready;
  fresh->onready_context = context;
  fresh->stack_bytes = stack_bytes;
}

runnable *complete_round(task &t) noexcept {
  if (t.children_domain) {
    ready_list ready;
    (void)release_accesses(
        t, ready); // the task has no accesses of its own: this closes the domain of its children
    enqueue_all(ready);
  }
  give_back_copies(t);
  t.children.reset();
  t.owned_children = 0;
  if (task_extra *x = peek_extra(t))
    renew(t, *x);
  return pass_on(node_of(t));
}

/// Returns whether all children are over, after the body and the events. After false the last child
/// ends the round.
bool children_are_over(task &t) noexcept {
  if (t.children.done(t.owned_children))
    return true;
  t.next = nullptr; // the body has ended, so no frame waits
  return t.children.settle(t.owned_children);
}

WEFT_NOINLINE runnable *end_round(task &t, task *outer) noexcept {
  task_extra *const x = peek_extra(t);
  if (x)
    end_locals(*x); // still as the task
  this_thread_context()->current = outer;
  if (x && x->events.used()) {
    note_pending(t, *x, pending_until::it_may_end);
    if (!x->events.end_body())
      return nullptr;
    forget_pending(*x);
  }
  return children_are_over(t) ? complete_round(t) : nullptr;
}

WEFT_INLINE bool ends_fast(const task &t) noexcept {
  return t.owned_children == 0 && t.children.done(0) && !peek_extra(t) && !t.children_domain;
}

} // namespace

void iteration::start() noexcept {
  for (recorded_node *n : m_first) {
    announce(*n);
    enqueue_ready(*n);
  }
  if (started())
    finish();
}

void iteration::fail(const task &t, std::exception_ptr error) noexcept {
  stop.store(true, std::memory_order_relaxed);
  if (m_failing.exchange(true,
                         std::memory_order_relaxed)) // the end of the graph publishes the error
    return report_lost(label_of(t), error);
  m_error = std::move(error);
}

/// Lets a worker run the destructors of the callables on a stack of their own: a destructor may
/// wait, and a callback must not. Returns false if there are no destructors, or no memory for the
/// stack.
bool iteration::defer_end() noexcept try {
  if (std::none_of(m_tasks.begin(), m_tasks.end(),
                   [](const recorded &r) { return r.body->ops->destroy != nullptr; }))
    return false;
  enqueue_ready(make_light_thread(
      0, [](void *p) { static_cast<iteration *>(p)->end_all(); }, this, layer::client::weft));
  return true;
} catch (const std::exception &) {
  return false;
}

void iteration::finish() noexcept {
  combine_the_rest();
  const thread_context *const e =
      this_thread_context(); // null on a thread that only takes events back
  if (!e || !e->in_callback || !defer_end())
    end_all();
}

void iteration::end_all() noexcept {
  task &owner = m_owner;
  std::exception_ptr error = std::move(m_error);
  task_extra &x = *peek_extra(owner);
  x.iterated = nullptr;
  delete this;
  if (error)
    hand_over_failure(owner, std::move(error));
  if (x.events.decrease(1) == decreased::last)
    events_are_over(owner);
}

namespace {

// What is saved between two members is some 10 ns.
constexpr std::uint32_t k_tiny_ns = 500;
constexpr unsigned k_most_looks = 4; // the first ones find cold caches
// Before the worker looks at other work again.
constexpr int k_most_members = 16;
// A piece that takes longer has members that are tiny no more: twice the most that tiny ones take.
constexpr std::uint64_t k_piece_ns = 2 * k_most_members * k_tiny_ns;

constexpr unsigned k_unit_ns = 16, k_units = 1u << 24;
std::uint32_t now_in_units() noexcept { return (now_ns() / k_unit_ns) % k_units; }

/// Ends the measurement of a member, whose round has just ended. Whatever held it up counts, too.
WEFT_COLD void note_size(chain_member &member) noexcept {
  const std::uint32_t took = (now_in_units() - member.began) % k_units;
  member.began = 0;
  if (took <= k_tiny_ns / k_unit_ns)
    member.tiny = 1;
  else
    ++member.looks;
}

/// Begins to measure the member that comes next, or lets it alone for good.
WEFT_COLD void measure_next(chain_member &member, chain_member &next) noexcept {
  if (next.looks == k_most_looks)
    member.goes_on = 0;
  else
    next.began = now_in_units() | 1u; // 0: none has begun
}

/// Returns the member that runs at once after this one, which has just run; or null.
WEFT_INLINE recorded_node *next_in_chain(const thread_context &here, recorded_node &node) noexcept {
  if (node.chain.began != 0) [[unlikely]]
    note_size(node.chain);
  if (!node.chain.goes_on) {
    if (node.chain.tiny || node.chain.looks == k_most_looks)
      node.extent &= ~k_in_chain; // all is known: its end is a common one from now on
    return nullptr;
  }
  auto &next = static_cast<recorded_node &>(**node.successors);
  if (!next.chain.tiny) [[unlikely]] {
    measure_next(node.chain, next.chain);
    return nullptr;
  }
  // The thread's own stack and more urgent work go first, and a round that is to be timed runs alone.
  return here.time.until == 1 || !goes_at_once(here, next) ? nullptr : &next;
}

/// Returns when a piece of a chain begins, or 0 if it is not watched: two looks at the clock for
/// every piece would cost what the chain saves. About one of four is, whatever their pattern.
WEFT_INLINE std::uint64_t watch_piece(const thread_context &here) noexcept {
  const auto rounds = static_cast<std::uint32_t>(peek(here.counts->rounds));
  return (rounds / k_most_members) * 0x9E3779B9u < 1u << 30 ? now_ns() : 0;
}

/// Ends a piece that began with `first` at a time, and had `followers`. If it took too long, these
/// are measured anew, and other work of the worker does not wait any longer.
WEFT_COLD void end_watch(recorded_node &first, int followers, std::uint64_t began) noexcept {
  if (now_ns() - began <= k_piece_ns)
    return;
  recorded_node *node = &first;
  for (; followers != 0; --followers) {
    node = static_cast<recorded_node *>(*node->successors);
    node->chain.tiny = node->chain.is_always;
    node->extent |= k_in_chain; // the last one, too, is to be known again
  }
  look_at_other_work(*this_thread_context());
}

/// Ends a round of a node that reduces or is a member of a chain, and runs the members that follow.
WEFT_NOINLINE runnable *end_of_special(recorded_node &first, task *outer) noexcept {
  recorded_node *node = &first;
  iteration &whole = *first.whole;
  std::uint64_t began = 0;
  for (int members = 1;; ++members) {
    thread_context &here = *this_thread_context();
    if ((node->extent & ~k_in_chain) != 0)
      give_back_copies(*node->body);
    recorded_node *const next = members < k_most_members ? next_in_chain(here, *node) : nullptr;
    if (!next) {
      if (began != 0) [[unlikely]]
        end_watch(first, members - 1, began); // before others may run the members again
      return pass_on(*node);
    }
    if (members == 1)
      began = watch_piece(here);
    bool over = false;
    if (!whole.end_before(*node, *next, over)) [[unlikely]] {
      if (over)
        whole.finish();
      return nullptr;
    }
    node = next;
    announce(*node);
    --here.time.until;
    count(here.counts->successors);
    task &t = *node->body;
    here.current = &t;
    if (whole.begin(*node, whole.cancelled())) [[likely]] {
      count(here.counts->rounds);
      run_whole(t);
    }
    if (!ends_fast(t)) [[unlikely]] {
      if (began != 0)
        end_watch(first, members, began);
      return end_round(t, outer);
    }
    this_thread_context()->current = outer; // the thread may have changed
  }
}

template <bool Alone>
WEFT_INLINE runnable *execute_round(thread_context &here, recorded_node &node) noexcept {
  iteration &whole = *node.whole;
  task &t = *node.body;
  task *const outer = here.current;
  here.current = &t;
  if (whole.begin(node, whole.cancelled())) [[likely]] {
    count(here.counts->rounds);
    run_whole(t);
  }
  if (!ends_fast(t)) [[unlikely]]
    return end_round(t, outer);
  this_thread_context()->current = outer; // the thread may have changed
  if (node.extent != 0) [[unlikely]] {
    if (!Alone)
      return end_of_special(node, outer);
    if ((node.extent & ~k_in_chain) != 0)
      give_back_copies(t);
  }
  return pass_on(node);
}

} // namespace

runnable *execute_recorded(thread_context &here, recorded_node &node) noexcept {
  return execute_round<false>(here, node);
}
runnable *execute_recorded_alone(thread_context &here, recorded_node &node) noexcept {
  return execute_round<true>(here, node);
}

runnable *execute_recorded_in_place(thread_context &here, recorded_node &node) noexcept {
  const exception_state outer = std::exchange(*here.exceptions, {});
  runnable *next = execute_recorded_alone(here, node);
  *this_thread_context()->exceptions = outer;
  return next;
}

void recorded_failed(task &t, std::exception_ptr error) noexcept {
  node_of(t).whole->fail(t, std::move(error));
}

void recorded_is_over(task &t) noexcept {
  if (children_are_over(t))
    recorded_is_complete(t);
}

void recorded_is_complete(task &t) noexcept {
  if (runnable *next = complete_round(t))
    enqueue_ready(*next);
}

bool recorded_as_writer(const task &t, const void *address) noexcept {
  const recorded_node &n = node_of(t);
  return n.whole->writes(n, address);
}

bool is_final(const task &t) noexcept {
  const task *p = &t;
  while (p->parent && iteration_of(*p)) // of a recorded task the flag says something else
    p = p->parent;
  return p->has(detail::k_final);
}

} // namespace rt
} // namespace weft::inline v0
