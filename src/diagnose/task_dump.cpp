// SPDX-License-Identifier: Apache-2.0
#include "diagnose/task_dump.hpp"

#include "diagnose/external.hpp"
#include "diagnose/live_tasks.hpp"
#include "diagnose/outside.hpp"
#include "mem/slab.hpp"
#include "services/dispatcher.hpp"
#include "task/recorded.hpp"
#include "task/spawn_site.hpp"
#include "task/wait/coroutine.hpp"
#include "task/wait/lock_queue.hpp"
#include "task/wait/signal_word.hpp"
#include "ult/backtrace.hpp"
#include "worker/functions.hpp"
#include "worker/hooks.hpp"
#include "worker/runtime.hpp"

#include <weft/detail/coro.hpp>
#include <weft/detail/lock_word.hpp>
#include <weft/detail/sync_words.hpp>
#include <weft/layer/external_report.hpp>
#include <weft/layer/outside_wait.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

std::string hexadecimal(const void *p) {
  char text[24];
  std::snprintf(text, sizeof text, "%p", p);
  return text;
}

bool reads(const data_access &a) noexcept { return (flags_of(a) & k_reads) != 0; }

/// Says whether the access keeps its task from starting.
bool holds_back(const data_access &a) noexcept {
  return !(flags_of(a) & (k_weak | (reads(a) ? k_read_ok : k_write_ok)));
}

/// Says whether `t` is only the parent of tasks that no waiter but the end of the program waits
/// for.
bool represents_no_task(const task &t) noexcept {
  return &t == &functions_root() || is_root_of_services(t);
}

const char *reason_of_pending(const task &t) noexcept {
  switch (peek_extra(t)->until) {
  case pending_until::it_may_end:
    return "has ended, but for external events that can only be taken back by";
  case pending_until::it_may_run_again:
    return "runs again after external events that can only be taken back by";
  case pending_until::unblocked:
  case pending_until::coroutine_is_over: // known by what it awaits
    break;
  }
  return "is blocked and can only be unblocked by";
}

/// Looks for an address among the words of a suspended stack or coroutine, which other tools watch.
__attribute__((no_sanitize("address", "thread"), noinline)) bool
has_word(const char *from, const char *end, const void *wanted) noexcept {
  for (const char *p = from; p + sizeof(void *) <= end; p += sizeof(void *))
    if (*reinterpret_cast<const void *const volatile *>(p) == wanted)
      return true;
  return false;
}

/// Adds the words of a suspended stack or coroutine that are among the wanted addresses.
__attribute__((no_sanitize("address", "thread"), noinline)) void
add_words(const char *from, const char *end, const std::set<const void *> &wanted,
          std::set<const void *> &found) {
  const void *const lowest = *wanted.begin(), *const highest = *wanted.rbegin();
  for (const char *p = from; p + sizeof(void *) <= end; p += sizeof(void *))
    if (const void *const word = *reinterpret_cast<const void *const volatile *>(p);
        word >= lowest && word <= highest && wanted.count(word))
      found.insert(word);
}

/// Is the part of a suspended stack that is in use.
struct live_part {
  const char *from, *end;
  explicit live_part(const frame &suspended) noexcept {
    const char *const low = suspended.pool_stack
                                ? static_cast<const char *>(suspended.pool_stack->low)
                                : suspended.home->thread_stack_low;
    end = low + (suspended.pool_stack ? suspended.pool_stack->bytes
                                      : suspended.home->thread_stack_bytes);
    const auto *const own = reinterpret_cast<const char *>(&suspended); // it is near the top
    const auto *const saved = static_cast<const char *>(suspended.state.sp); // the registers
    from = saved >= low && saved < own ? saved : own;
    if (from < low || from >= end)
      from = end;
  }
};

/// Is the frame of a coroutine, with what its block has behind it.
struct coroutine_part {
  const char *from, *end;
  explicit coroutine_part(const detail::coro_link &link) noexcept
      : from(static_cast<const char *>(link.frame)), end(from + heap::bytes_of(link.frame)) {}
  [[nodiscard]] bool has(const void *wanted) const noexcept { return has_word(from, end, wanted); }
  [[nodiscard]] bool covers(const void *at) const noexcept {
    return at >= static_cast<const void *>(from) && at < static_cast<const void *>(end);
  }
};

/// Returns what the coroutine of a task waits for; null if the task is no coroutine that waits.
const detail::coro_root *waiting_coroutine(const task &t) noexcept {
  const task_extra *const extra = peek_extra(t);
  return extra ? extra->coroutine : nullptr;
}

class task_dump {
 public:
  task_dump(runtime &rt, walked when, const layer::external_report &externals)
      : m_all(rt, when, orders_of(externals)), m_externals(externals) {
    for (const layer::external_report::task &one : externals.tasks)
      if (one.order)
        m_by_order.emplace(one.order, &one);
    for (const layer::external_report::task &one : externals.tasks)
      if (one.former_order) // its memory may be another one's by now
        m_by_order.emplace(one.former_order, &one);
    add_to_graph(externals, m_graph);
    for (task *t : m_all.tasks) {
      if (t->parent)
        m_below[t->parent].push_back(t);
      if (t->group)
        m_below[&t->group->internals()].push_back(t);
    }
    auto outside = all_outside_waits();
    m_knows_outside = outside.has_value();
    if (outside)
      for (layer::outside_wait &wait : *outside)
        m_outside[wait.waiter].push_back(std::move(wait));
    for (frame *f : m_all.frames)
      m_stacks.emplace(f->pool_stack ? static_cast<const char *>(f->pool_stack->low)
                                     : f->home->thread_stack_low,
                       f);
  }

  std::optional<wait_graph> take() {
    if (!m_knows_outside)
      return std::nullopt;
    look_at_all();
    note_spawn_sites();
    return std::move(m_graph);
  }

  running_dump take_running() {
    look_at_all();
    std::vector<std::string> notes;
    if (!m_knows_outside)
      notes.emplace_back("a layer was being loaded or unloaded: what it knows of waits is not shown");
    state_of_all(notes);
    const std::vector<std::string> more = add_states(m_externals, m_graph);
    notes.insert(notes.end(), more.begin(), more.end());
    note_spawn_sites();
    return {std::move(m_graph), std::move(notes), m_steps};
  }

 private:
  static std::vector<task *> orders_of(const layer::external_report &externals) {
    std::vector<task *> orders;
    for (const layer::external_report::task &one : externals.tasks)
      if (one.order)
        orders.push_back(one.order);
    return orders;
  }

  void look_at_all() {
    note_descendants();
    for (frame *f : m_all.frames)
      if (!m_all.going.count(f->current))
        reason_of(*f);
    for (task *t : m_all.tasks)
      if (is_cohort(*t))
        exclusions_of(*static_cast<cohort *>(detail::storage(t)));
      else if (!m_all.with_frame.count(t))
        reason_without_frame(*t);
    for (task *t : m_all.tasks)
      if (!is_cohort(*t)) {
        accesses_of(*t);
        functions_behind(*t);
        regions_behind(*t);
      }
    for (std::size_t i = 0; i != m_cohorts.size(); ++i) // one may wait for the next
      members_of(*m_cohorts[i]);
    guess_users();
  }

  /// Notes what the tasks do that wait for nothing.
  void state_of_all(std::vector<std::string> &notes) {
    constexpr std::size_t k_most = 10'000;
    std::vector<bool> waits(m_graph.nodes().size());
    for (const wait_graph::edge &e : m_graph.edges())
      waits[e.from] = true;
    std::size_t shown = 0, left = 0;
    for (task *t : m_all.tasks) {
      const std::size_t known = m_graph.find(t);
      if (is_cohort(*t) || is_state(*t) || is_external(*t) || t->has(detail::k_implicit) ||
          represents_no_task(*t) ||
          (known < waits.size() && waits[known]))
        continue;
      const std::string state = state_of(*t);
      if (!state.empty() && ++shown <= k_most)
        m_graph.at(node(*t)).state = state;
      else if (!state.empty())
        ++left;
    }
    if (left)
      notes.push_back(std::to_string(left) + " more tasks are ready");
    if (m_all.elsewhere)
      notes.push_back(
          std::to_string(m_all.elsewhere) +
          " items are in queues that are not looked through; tasks among them that wait for no data are not shown");
  }

  std::string state_of(const task &t) const {
    if (const auto at = m_all.beginning.find(&t); at != m_all.beginning.end())
      return "begins on worker " + std::to_string(at->second);
    if (m_all.going.count(&t))
      return "is ready to go on";
    if (m_all.with_frame.count(const_cast<task *>(&t)) ||
        m_all.pending.count(const_cast<task *>(&t)) || m_frame_below.count(&t) || has_ended(t))
      return "";
    return "is ready";
  }

  /// Notes return addresses for the tasks in the graph. Their names are made later (describe.hpp),
  /// when no worker is kept from running.
  void note_spawn_sites() {
    constexpr std::size_t k_most = 1000, k_deep = 64; // stacks: walking one takes some 10 us
    for (task *t : m_all.tasks)
      if (const std::size_t n = m_graph.find(t); n != m_graph.nodes().size() && !is_external(*t)) {
        const spawn_site p = spawn_site_of(*t);
        m_graph.at(n).spawn_calls.assign(p.calls, p.calls + p.count);
        if (const std::string_view closure =
                t->has(detail::k_implicit) || !t->label ? std::string_view{} : closure_of(*t);
            !closure.empty())
          m_graph.at(n).spawned = "written as " + std::string(closure);
      }
    std::size_t walked = 0;
    const void *calls[k_deep];
    for (frame *f : m_all.frames)
      if (const std::size_t n = m_graph.find(f->current);
          n != m_graph.nodes().size() && walked++ < k_most)
        m_graph.at(n).calls.assign(calls, calls + backtrace_of(*f, calls, k_deep));
    for (task *t : m_all.pending)
      if (const detail::coro_root *root = waiting_coroutine(*t))
        if (const std::size_t n = m_graph.find(t);
            n != m_graph.nodes().size() && walked++ < k_most)
          note_coroutines(*root, m_graph.at(n).calls);
  }

  /// Notes the functions of the coroutines that await each other, the innermost first: the first
  /// word of a frame is the function that resumes it.
  static void note_coroutines(const detail::coro_root &root, std::vector<const void *> &calls) {
    constexpr std::size_t k_deep = 64;
    for (const detail::coro_link *l = root.at; l && calls.size() != k_deep; l = l->caller)
      if (const char *const resume = *static_cast<const char *const *>(l->frame))
        calls.push_back(resume + 1); // as if it had called in its first byte
  }

  std::size_t node(task &t) {
    if (t.has(detail::k_implicit) && !t.parent)
      return m_graph.add(node_kind::thread, &t, label_of(t));
    if (is_state(t))
      return m_graph.add(node_kind::state, &t, std::string(label_of(t)) + " " + hexadecimal(&t));
    if (const auto known = m_by_order.find(&t); known != m_by_order.end())
      return add_node(*known->second, m_graph);
    return m_graph.add(node_kind::task, &t, t.label ? t.label : name_by_closure(t));
  }
  /// Names a task by its closure and address, because one closure may be the body of several tasks.
  static std::string name_by_closure(const task &t) {
    const std::string_view closure = t.has(detail::k_implicit) ? std::string_view{} : closure_of(t);
    return closure.empty() ? hexadecimal(&t) : std::string(closure) + " " + hexadecimal(&t);
  }
  std::size_t outside() {
    return m_graph.add(node_kind::outside, this, "a thread outside of Weft");
  }
  /// Adds what layers know of the wait of `waiter`, a task, a promise or an event, in which `t` is.
  /// Returns whether they know anything.
  bool waits_outside(task &t, const void *waiter) {
    const auto found = m_outside.find(waiter);
    if (found == m_outside.end())
      return false;
    for (const layer::outside_wait &wait : found->second) {
      const auto owner = m_owners.emplace(wait.owner).first; // its address names the node
      m_graph.wait(node(t), m_graph.add(node_kind::outside, &*owner, wait.owner),
                   "waits for " + wait.what);
    }
    return true;
  }
  std::size_t owner_of_promise() {
    return m_graph.add(node_kind::outside, &m_graph, "the code that has the promise");
  }

  /// Adds edges to the awaited tasks below `above`, a parent or a group.
  void wait_for_all(task &waiter, const char *reason, const void *above,
                    bool (*is_awaited)(const task &, const void *), const void *target) {
    if (auto below = m_below.find(above); below != m_below.end())
      for (task *t : below->second)
        if (t != &waiter && is_awaited(*t, target))
          m_graph.wait(node(waiter), node(*t), reason);
  }
  void wait_for_all(task &waiter, const char *reason, const void *above,
                    bool (*is_awaited)(const task &, const void *)) {
    wait_for_all(waiter, reason, above, is_awaited, above);
  }

  static bool owns_group_of(const task &t, const task &child) noexcept {
    return child.group && child.group->internals().owner == &t;
  }
  /// Says whether the end of `parent`, and its taskwait, wait for `t`.
  static bool is_child(const task &t, const void *parent) noexcept {
    return t.parent == parent && !t.has(detail::k_implicit) && !is_cohort(t) && !is_recorded(t) &&
           !owns_group_of(*t.parent, t);
  }
  static bool is_round(const task &t, const void *owner) noexcept {
    return t.parent == owner && is_recorded(t);
  }
  static bool is_member(const task &t, const void *group) noexcept {
    return t.group && &t.group->internals() == group;
  }
  static bool is_no_ones(const task &t, const void *) noexcept {
    return !is_cohort(t) && !owns_group_of(*t.parent, t);
  }
  static bool is_branch(const task &t, const void *job) noexcept {
    return t.has(detail::k_implicit) && t.parent &&
           t.done_word.load(std::memory_order_relaxed) == job;
  }

  void reason_of(frame &suspended) { reason_of(*suspended.current, suspended.why); }
  /// Notes what a frame of the task waits for, or its coroutine, which has none. A wait that any
  /// thread may end by a stop request is a guess: the task goes on without what it waits for.
  void reason_of(task &t, wait_reason why) {
    const std::size_t first = m_graph.edges().size();
    awaited_by(t, why);
    if (why.may_be_stopped && first != m_graph.edges().size())
      m_graph.doubt(node(t), first);
  }
  void awaited_by(task &t, wait_reason why) {
    const void *target = why.target;
    switch (why.what) {
    case waits_for::children:
      return wait_for_children(t, *static_cast<const task *>(target));
    case waits_for::group:
      return wait_for_all(t, "waits in its group for", target, &is_member);
    case waits_for::branch:
      return wait_for_all(t, "waits in join for",
                          static_cast<const detail::join_job *>(target)->parent, &is_branch,
                          target);
    case waits_for::functions:
      return end_of_program(t);
    case waits_for::end_of_task:
      return wait_for_end(t, *const_cast<task *>(static_cast<const task *>(target)));
    case waits_for::start_of_task:
      return m_graph.wait(node(t), node(*const_cast<task *>(static_cast<const task *>(target))),
                          "waits until there may run");
    case waits_for::unblock:
      return m_graph.wait(node(t), outside(), "is blocked and can only be unblocked by");
    case waits_for::lock:
      return lock(t, *static_cast<const detail::lock_word<> *>(target));
    case waits_for::semaphore:
      return m_graph.wait(node(t), outside(),
                          "waits for a semaphore, which can only be released by");
    case waits_for::latch:
      return m_graph.wait(node(t), outside(),
                          "waits for a latch, which can only be counted down by");
    case waits_for::barrier:
      return m_graph.wait(node(t), outside(), "waits at a barrier, where can only arrive");
    case waits_for::event:
      if (!waits_outside(t, target))
        m_graph.wait(node(t), outside(), "waits for a weft::event, which can only be set by");
      return;
    case waits_for::mutex:
      return lock(t, *static_cast<const detail::shared_lock_state<> *>(target));
    case waits_for::notification:
      return m_graph.wait(node(t), outside(),
                          "waits for a condition variable, which can only be notified by");
    case waits_for::channel:
      return m_graph.wait(node(t), outside(), "waits for a channel, whose other end only has");
    case waits_for::call_once:
      m_sought[target].push_back({node(t), 0});
      return;
    case waits_for::nothing:
      return;
    }
  }

  void wait_for_end(task &t, task &awaited) {
    if (is_raised(awaited.done_word, k_done)) // a coroutine that may go on
      return;
    m_graph.wait(node(t), node(awaited), is_state(awaited) ? "waits for" : "waits for the end of");
  }

  /// Notes also that there are children which nothing refers to but a promise.
  void wait_for_children(task &t, const task &parent) {
    wait_for_all(t, "waits for its child", &parent, &is_child);
    if (m_all.at_rest() && parent.children.settled() &&
        parent.children.left() > children_known(parent))
      m_graph.wait(node(t), owner_of_promise(),
                   "waits for children behind a promise, which can only be kept by");
  }
  [[nodiscard]] std::int64_t children_known(const task &parent) const {
    const auto below = m_below.find(&parent);
    return below == m_below.end()
               ? 0
               : std::count_if(below->second.begin(), below->second.end(),
                               [&](const task *t) { return t->parent == &parent; });
  }

  void end_of_program(task &t) {
    for (const auto &[above, below] : m_below)
      if (represents_no_task(*below.front()->parent) && above == below.front()->parent)
        wait_for_all(t, "waits at the end of the program for", above, &is_no_ones);
  }

  void functions_behind(task &t) {
    std::pair<task_dump *, task *> here(this, &t);
    for_each_behind(
        t,
        [](task &behind, const char *stream, void *p) {
          auto &[self, before] = *static_cast<std::pair<task_dump *, task *> *>(p);
          const std::string reason =
              stream ? "waits in stream '" + std::string(stream) + "' for" : "is to run after";
          self->m_graph.wait(self->node(behind), self->node(*before), reason);
        },
        &here);
  }

  void regions_behind(task &t) {
    if (const region_scope *scope = regions_of(t))
      scope->for_each_successor([&](task &behind) {
        m_graph.wait(node(behind), node(t), "waits, with a region that both touch, for");
      });
  }

  /// Notes for every task the one suspended descendant, or that there are several.
  void note_descendants() {
    for (task *t : m_all.with_frame)
      for (task *on_top = t, *above = m_all.below(*t); above; above = m_all.below(*above)) {
        if (auto [it, first] = m_frame_below.emplace(above, on_top);
            !first && !std::exchange(it->second, nullptr))
          break; // tasks further up have several, too
        if (m_all.waits_in_place(*above))
          on_top = above;
      }
  }

  static const char *reason_below(const task &t, const task &above) noexcept {
    if (above.parent != &t)
      return "is below";
    return owns_group_of(t, above) ? "waits in its group for" : "waits for its child";
  }

  static bool has_ended(const task &t) noexcept { return t.children.settled() && !t.next; }

  /// Adds what a task without a frame waits for. Its body has ended, or has not begun, or is below
  /// the body of a descendant on the same stack.
  void reason_without_frame(task &t) {
    if (represents_no_task(t) || is_external(t))
      return;
    if (is_state(t))
      return reason_of_state(t);
    if (awaits_known(t, m_all.pending.count(&t) ? "has the result of" : "is to run after"))
      return;
    if (m_all.held.count(&t))
      return m_graph.wait(node(t), owner_of_promise(),
                          "is to run after a future that can only be made ready by");
    if (const detail::coro_root *waiting = waiting_coroutine(t))
      return reason_of(t, noted_reason(*waiting));
    if (t.next && t.next->base() == runnable::kind::task) // it runs what it waits for
      return m_graph.wait(node(t), node(static_cast<task &>(*t.next)), "waits for the end of");
    if (const task_extra *const x = peek_extra(t); x && x->iterated) {
      wait_for_all(t, "waits in its rounds for", &t, &is_round);
    } else if (m_all.pending.count(&t)) {
      if (!waits_outside(t, &t))
        m_graph.wait(node(t), outside(), reason_of_pending(t));
    } else if (has_ended(t)) {
      wait_for_children(t, t);
    } else if (auto it = m_frame_below.find(&t); it != m_frame_below.end()) {
      if (it->second)
        return m_graph.wait(node(t), node(*it->second), reason_below(t, *it->second));
      for (task *child : m_below[&t])
        if (!child->has(detail::k_implicit) && !is_cohort(*child))
          m_graph.wait(node(t), node(*child), "waits, perhaps, for its child", wait_graph::guess);
    }
  }

  bool awaits_known(task &t, const char *reason, wait_graph::certainty how = wait_graph::certain) {
    const auto known = m_all.awaited.find(&t);
    if (known == m_all.awaited.end())
      return false;
    for (task *before : known->second)
      m_graph.wait(node(t), node(*before), reason, how);
    return true;
  }
  /// A promise, or a state of several futures.
  void reason_of_state(task &t) {
    if (is_raised(t.done_word, k_done))
      return;
    const bool any = t.ops->inputs && t.ops->inputs(detail::storage(&t)).any;
    if (any ? awaits_known(t, "waits for one of several:", wait_graph::guess)
            : awaits_known(t, "waits for"))
      return;
    if (!waits_outside(t, &t))
      m_graph.wait(node(t), owner_of_promise(), "can only be made ready by");
  }

  /// Says whether tasks that wait may be on the stack of `t`, below it: their frames run other
  /// tasks.
  [[nodiscard]] bool others_stand_below(const task &t) const {
    for (const task *above = m_all.below(t); above && above->parent; above = m_all.below(*above))
      if (!m_all.with_frame.count(const_cast<task *>(above)) && !represents_no_task(*above) &&
          !has_ended(*above))
        return true;
    return false;
  }

  /// Notes that the task waits for a lock, and, for its first waiter, the holder.
  template <class Lock>
  void lock(task &waiter, const Lock &word) {
    const std::size_t mutex = m_graph.add(node_kind::mutex, &word, hexadecimal(&word));
    m_graph.wait(node(waiter), mutex, "waits for");
    const auto [known, first] = m_holders.try_emplace(&word, nullptr);
    if (first)
      known->second = holder(waiter, mutex, word);
    else if (known->second == &waiter) // drawn already, but perhaps without the word "stack"
      m_graph.wait(mutex, node(waiter), "is held on the stack of");
  }

  /// Names a writer that holds the lock, or counts its readers. Returns the task on whose stack it is
  /// held; null where that is not known, or it is held elsewhere.
  template <class Lock>
  task *holder(const task &waiter, std::size_t mutex, const Lock &word) {
    if (const std::uint64_t readers = readers_of(word)) {
      m_sought[&word].push_back({mutex, readers});
      return nullptr;
    }
    const void *const address = holder_of(word);
    frame *const there = frame_at(address);
    if (task *const known = there ? nullptr : task_at(address)) {
      m_graph.wait(mutex, node(*known), "is held by");
      return nullptr;
    }
    return held_on_stack(waiter, mutex, &word, address, there);
  }

  /// Names the task that took the mutex at an address of a stack: the one that is there, on
  /// `frame_there`; or perhaps a coroutine that has left the stack since, and waits.
  task *held_on_stack(const task &waiter, std::size_t mutex, const void *word,
                      const void *address, const frame *frame_there) {
    const std::vector<task *> left = coroutines_that_left(address, word);
    if (left.empty() && !frame_there) {
      m_graph.wait(mutex, outside(), "is not held by a task that waits, so only to be unlocked by");
      return nullptr;
    }
    if (left.empty()) {
      task &there = *frame_there->current;
      m_graph.wait(mutex, node(there),
                   &there == &waiter || others_stand_below(there) ? "is held on the stack of"
                                                                  : "is held by");
      return &there;
    }
    if (frame_there && address >= static_cast<const void *>(live_part(*frame_there).from))
      m_graph.wait(mutex, node(*frame_there->current), "is held, perhaps on the stack of",
                   wait_graph::guess);
    for (task *t : left)
      m_graph.wait(mutex, node(*t), "is held, perhaps by", wait_graph::guess);
    return nullptr;
  }

  /// Returns coroutines that wait for something else, and have run above this address of a stack:
  /// those that have the address of the lock in their frames if there are such ones, else some of
  /// the others.
  [[nodiscard]] std::vector<task *> coroutines_that_left(const void *address,
                                                         const void *word) const {
    constexpr std::size_t k_most = 8;
    constexpr std::uintptr_t k_deep = 64 << 10; // bytes of calls below coro_run()
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    std::vector<task *> with_address, others;
    for (task *t : m_all.pending) {
      ++m_steps;
      const detail::coro_root *const root = waiting_coroutine(*t);
      if (!root || root->awaited == word)
        continue;
      const task_extra &extra = *peek_extra(*t);
      if (!extra.ran_at_several && reinterpret_cast<std::uintptr_t>(extra.ran_at) - at >= k_deep)
        continue;
      bool has_address = false;
      for (const detail::coro_link *l = root->at; l; l = l->caller)
        has_address |= coroutine_part(*l).has(word);
      std::vector<task *> &found = has_address ? with_address : others;
      if (found.size() != k_most)
        found.push_back(t);
    }
    return with_address.empty() ? others : with_address;
  }

  /// Is a node that waits for what unknown tasks do at an address: for readers of a shared mutex, so
  /// many, or for the function of a once_flag (0).
  struct seeker {
    std::size_t node;
    std::uint64_t readers;
  };

  /// Names the tasks that may be readers of a shared mutex, or run the function of a once_flag, for all
  /// that were sought, in one walk of the stacks: they wait for something else, and have the address on
  /// their stacks or in their coroutines, as a std::shared_lock has it. The object itself names none.
  void guess_users() {
    if (m_sought.empty())
      return;
    std::set<const void *> wanted, found;
    for (const auto &[address, seekers] : m_sought)
      wanted.insert(address);
    std::set<const void *> used;
    for (frame *suspended : m_all.frames) {
      const live_part part(*suspended);
      add_words(part.from, part.end, wanted, found);
      note_users(*suspended->current, true, suspended->why.target, found, used);
    }
    for (task *t : m_all.tasks)
      if (const detail::coro_root *root = waiting_coroutine(*t)) {
        for (const detail::coro_link *l = root->at; l; l = l->caller) {
          const coroutine_part part(*l);
          add_words(part.from, part.end, wanted, found);
        }
        note_users(*t, false, root->awaited, found, used);
      }
    for (const auto &[address, seekers] : m_sought)
      if (!used.count(address))
        for (const seeker &s : seekers)
          m_graph.wait(s.node, outside(),
                       s.readers ? held_for_reading(s.readers) +
                                       ", by tasks that are not known, so perhaps only to be unlocked by"
                                 : "waits for a call_once, which is perhaps run by");
  }

  /// Notes that a task has these addresses, and forgets them. It waits at `target`.
  void note_users(task &t, bool on_stack, const void *target, std::set<const void *> &found,
                  std::set<const void *> &used) {
    ++m_steps;
    found.erase(target);
    for (const void *const address : found)
      for (const seeker &s : m_sought[address]) {
        ++m_steps;
        m_graph.wait(s.node, node(t),
                     !s.readers ? "waits for a call_once, which runs perhaps in"
                                : held_for_reading(s.readers) + (on_stack && others_stand_below(t)
                                                                     ? ", perhaps on the stack of"
                                                                     : ", perhaps by"),
                     wait_graph::guess);
      }
    used.merge(found);
    found.clear();
  }

  static std::string held_for_reading(std::uint64_t readers) {
    return "is held for reading, " + std::to_string(readers) + (readers == 1 ? " time" : " times");
  }
  /// Returns an address on the stack of the lock's holder.
  static const void *holder_of(const detail::lock_word<> &word) noexcept;
  /// Returns what names the writer that holds the lock.
  static const void *holder_of(const detail::shared_lock_state<> &word) noexcept {
    return reinterpret_cast<const void *>(word.word.load(std::memory_order_relaxed) &
                                          ~std::uint64_t{3});
  }
  static std::uint64_t readers_of(const detail::lock_word<> &) noexcept { return 0; }
  static std::uint64_t readers_of(const detail::shared_lock_state<> &word) noexcept {
    const std::uint64_t seen = word.word.load(std::memory_order_relaxed);
    return (seen & word.k_exclusive) != 0 ? 0 : seen / word.k_one_shared;
  }
  [[nodiscard]] frame *frame_at(const void *address) const noexcept;
  [[nodiscard]] task *task_at(const void *address) const noexcept;
  void accesses_of(task &t);
  void exclusions_of(const cohort &joined);
  std::size_t cohort_node(data_access &of_cohort);
  void members_of(data_access &of_cohort);
  void wait_until_released(task &t, const data_access &own, data_access *first);
  const std::vector<std::size_t> &nodes_before(bool reading, data_access *first);
  template <class F>
  void for_each_before(bool reading, std::vector<data_access *> todo, F f);
  [[nodiscard]] data_access *before(const data_access *a) const;
  [[nodiscard]] data_access *behind_readers(data_access *a);

  const live_tasks m_all;
  const layer::external_report &m_externals;
  std::unordered_map<const void *, const layer::external_report::task *> m_by_order;
  wait_graph m_graph;
  mutable std::size_t m_steps = 0; // see running_dump
  bool m_knows_outside; // all layers could be asked
  std::unordered_map<const void *, std::vector<layer::outside_wait>> m_outside; // by waiter
  std::set<std::string> m_owners; // of what they wait for
  std::unordered_map<const void *, std::vector<task *>> m_below; // by parent, and by group
  std::unordered_map<const task *, task *>
      m_frame_below; // the one descendant that is suspended; null: several
  std::map<const char *, frame *> m_stacks; // by the lowest address
  std::unordered_map<const void *, task *> m_holders; // of locks, by what holder() returns
  std::map<const void *, std::vector<seeker>> m_sought; // guess_users(), by the address
  live_tasks::access_map m_writers; // of readers
  std::unordered_map<const data_access *, std::vector<std::size_t>>
      m_before[2]; // nodes_before(), for writers and for readers
  std::vector<data_access *> m_cohorts; // those in the graph, by the access in the chain
};

using lock_node = lock_waiter<detail::runnable>;

const void *task_dump::holder_of(const detail::lock_word<> &word) noexcept {
  if (auto *first = static_cast<lock_node *>(word.queue.get()))
    return first->holder.get();
  void *seen = word.word.load(std::memory_order_acquire); // O3: the waiters' nodes
  if (!seen || word.is_held(seen))
    return seen;
  auto *w = static_cast<lock_node *>(seen);
  while (lock_node *older = w->next.get())
    w = older;
  return w->holder.get();
}

frame *task_dump::frame_at(const void *address) const noexcept {
  const char *at = static_cast<const char *>(address);
  auto above = m_stacks.upper_bound(at);
  if (above == m_stacks.begin())
    return nullptr;
  const auto [low, f] = *--above;
  return at < low + (f->pool_stack ? f->pool_stack->bytes : f->home->thread_stack_bytes) ? f
                                                                                         : nullptr;
}

/// Returns the task whose address this is, or the one that has the address in its block or in a
/// coroutine of its own.
task *task_dump::task_at(const void *address) const noexcept {
  const auto *const at = static_cast<const char *>(address);
  for (task *t : m_all.tasks) {
    ++m_steps;
    if (static_cast<const void *>(t) == address)
      return t;
    const detail::coro_root *const root = waiting_coroutine(*t);
    if (!root)
      continue;
    if (const char *const low = reinterpret_cast<const char *>(t);
        at >= low && at < static_cast<const char *>(detail::storage(t)) + t->ops->bytes)
      return t;
    for (const detail::coro_link *l = root->at; l; l = l->caller)
      if (coroutine_part(*l).covers(address))
        return t;
  }
  return nullptr;
}

const char *name_of(sharing how) noexcept {
  return how == sharing::concurrent    ? "concurrent"
         : how == sharing::commutative ? "commutative"
                                       : "reduction";
}
const char *name_of(const data_access &a) noexcept {
  if (a.joined)
    return name_of(a.joined->how);
  return reads(a) ? "in" : "inout";
}

std::string reason_of_access(const data_access &own) {
  return std::string("waits, with ") + name_of(own) + "(" + hexadecimal(own.address) + "), for";
}

/// Adds the tasks that precede a task that has not started.
void task_dump::accesses_of(task &t) {
  for (std::uint32_t i = 0; i < t.extent; ++i)
    if (const data_access &own = t.accesses()[i]; holds_back(own)) {
      data_access *const first = before(&own);
      wait_until_released(t, own, first);
      if (!first && m_all.at_rest()) // the chain begins at a task that has not begun
        m_graph.wait(node(t), owner_of_promise(),
                     reason_of_access(own) + " a task behind a promise, which can only be kept by");
    }
}

/// Returns the access that `a` waits for; a member of a cohort waits for what the cohort waits for.
/// Null: all that precedes it has been released.
data_access *task_dump::before(const data_access *a) const {
  for (;;) {
    if (a->joined)
      a = &a->joined->access();
    if (auto it = m_all.before.find(a); it != m_all.before.end())
      return it->second;
    auto above = m_all.above.find(a); // the access gets what its parent's access gets
    if (above == m_all.above.end())
      return nullptr;
    a = above->second;
  }
}

/// Returns what precedes a row of readers, because all of them wait for the same writer.
data_access *task_dump::behind_readers(data_access *a) {
  std::vector<const data_access *> passed;
  while (a && reads(*a) && !(flags_of(*a) & k_read_ok)) {
    if (auto known = m_writers.find(a); known != m_writers.end()) {
      a = known->second;
      break;
    }
    passed.push_back(a);
    a = before(a);
  }
  for (const data_access *reader : passed)
    m_writers[reader] = a;
  return a;
}

/// Returns the node that stands for the members of a cohort: what waits for them waits for one node,
/// and their number counts once.
std::size_t task_dump::cohort_node(data_access &of_cohort) {
  const auto &joined = *static_cast<const cohort *>(detail::storage(of_cohort.task));
  const std::size_t known = m_graph.find(&joined);
  if (known != m_graph.nodes().size())
    return known;
  m_cohorts.push_back(&of_cohort);
  return m_graph.add(node_kind::cohort, &joined,
                     std::string("the tasks with ") + name_of(joined.how) + "(" +
                         hexadecimal(of_cohort.address) + ")");
}

/// Adds what keeps the access of a cohort: its members, and what precedes them.
void task_dump::members_of(data_access &of_cohort) {
  std::vector<data_access *> todo;
  if (const auto members =
          m_all.members.find(static_cast<const cohort *>(detail::storage(of_cohort.task)));
      members != m_all.members.end())
    todo = members->second;
  if ((flags_of(of_cohort) & k_both_ok) != k_both_ok)
    todo.push_back(before(&of_cohort));
  const std::size_t from = cohort_node(of_cohort);
  for_each_before(false, std::move(todo), [&](std::size_t awaited) {
    m_graph.wait(from, awaited, "are over only after");
  });
}

/// Adds the tasks that keep `own` from being satisfied: `own` is satisfied when `first` has been
/// released, or if both read, when `first` has got its data.
void task_dump::wait_until_released(task &t, const data_access &own, data_access *first) {
  const std::vector<std::size_t> &awaited = nodes_before(reads(own), first);
  if (awaited.empty())
    return;
  const std::string reason = reason_of_access(own);
  const std::size_t from = node(t);
  for (const std::size_t to : awaited)
    m_graph.wait(from, to, reason);
}

/// Returns the nodes for for_each_before(); all readers behind one writer share the same ones.
const std::vector<std::size_t> &task_dump::nodes_before(bool reading, data_access *first) {
  if (reading)
    first = behind_readers(first);
  const auto [known, fresh] = m_before[reading].try_emplace(first);
  if (fresh) // the map moves no element
    for_each_before(reading, {first}, [to = &known->second](std::size_t n) { to->push_back(n); });
  return known->second;
}

/// Calls f(node) for the tasks and cohorts that keep accesses from being released, or, for a task that
/// reads, from having their data. Leaves out those for which one that is found here waits itself.
template <class F>
void task_dump::for_each_before(bool reading, std::vector<data_access *> todo, F f) {
  std::set<data_access *> seen{nullptr};
  while (!todo.empty()) {
    data_access *a = todo.back();
    todo.pop_back();
    ++m_steps;
    if (!seen.insert(a).second)
      continue;
    if (is_cohort(*a->task)) {
      f(cohort_node(*a));
      continue;
    }
    const std::uint32_t flags = flags_of(*a);
    if (reading && reads(*a) && !(flags & k_read_ok)) {
      todo.push_back(behind_readers(a));
      continue;
    }
    const bool has_body_left = !(flags & k_finished);
    if (has_body_left)
      f(node(*a->task));
    else if (!(flags & (reading ? k_children_read : k_children_done))) // its task's body has ended
      if (const auto last = m_all.last_below.find(a); last != m_all.last_below.end())
        todo.push_back(last->second);
    if ((!has_body_left || flags & k_weak) && (flags & k_both_ok) != k_both_ok)
      todo.push_back(before(a));
  }
}

/// Adds edges for commutative tasks that are ready and wait for their turn only.
void task_dump::exclusions_of(const cohort &joined) {
  const auto of = [&joined](task &t) -> data_access * {
    for (std::uint32_t i = 0; i < t.extent; ++i)
      if (data_access &a = t.accesses()[i];
          !is_released(flags_of(a)) && a.joined && a.joined->turns == joined.turns)
        return &a;
    return nullptr;
  };
  task *const holder = joined.turns->holder.load(std::memory_order_acquire); // O2: no worker runs
  data_access *const kept = holder ? of(*holder) : nullptr;
  for (task *t = joined.turns->waiting.get(); t && kept; t = exclusion_traits::next(*t))
    if (const data_access *own = of(*t))
      wait_until_released(*t, *own, kept);
}

} // namespace

std::optional<wait_graph> take_task_dump(runtime &rt, const layer::external_report &externals) {
  return task_dump(rt, walked::at_rest, externals).take();
}
running_dump take_running_dump(runtime &rt, const layer::external_report &externals) {
  return task_dump(rt, walked::at_safepoint, externals).take_running();
}

} // namespace rt
} // namespace weft::inline v0
