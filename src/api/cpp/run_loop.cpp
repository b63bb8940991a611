// SPDX-License-Identifier: Apache-2.0
// Loops whose blocks choose their sizes. docs/design/loops.md says why they are cut so.
//
// Roles       The caller: runs alone, then publishes the rest. A helper: a worker that has taken a
//             branch that a participant has pushed. Both are participants of a published loop.
// Word        parts[i].range: the chunks of a part (weft/detail/chunk_range.hpp). parts[i].taken:
//             a participant owns the part. used: parts behind it have had no chunks; a hint, because a
//             participant that sees an older value takes nothing from a part that its owner runs to the
//             end. thieves: so many look for chunks. stopped: no block is given out any more.
// Invariants  I1  A participant owns one part from its begin to its end, and no other participant
//                 owns it. There are as many parts as participants at most.
//             I2  A participant pushes one branch for the next helper at most: before its first
//                 block, or before a later one if the loop has asked for more participants since.
//                 It returns when that branch has ended or was taken back; one that was put among the
//                 ready tasks, for its priority, has to end. So the loop's state outlives all participants.
// Orders      O1  push and wait of a join order what the participants read and write; the other words
//                 of the loop are relaxed.
//             O2  a thief counts itself in `thieves` by acquire, and out by release: the next one sees
//                 the part that it uses, and the chunks that it has put there.
// Checked by  tests/model/loop_models.cpp: chunk_range_*; tests/stress/adaptive_loops.cpp
#include "api/cpp/loop_times.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "observe/tick_clock.hpp"
#include "queue/chunk_range.hpp"
#include "queue/spin_lock.hpp"
#include "task/failure.hpp"
#include "tune/loop_block.hpp"
#include "tune/site_table.hpp"
#include "worker/idle_workers.hpp"
#include "worker/loop.hpp"
#include "worker/runtime.hpp"

#include <weft/detail/loop_block_setting.hpp>
#include <weft/detail/run_loop.hpp>
#include <weft/join.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <cstddef>
#include <cxxabi.h>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace weft::inline v0 {

namespace detail {

using namespace rt;

namespace {

constexpr unsigned k_parts_in_place = 16;
constexpr std::uint64_t k_blocks_per_worker = 8; // where the sizes depend on n and P only
constexpr int k_looks = 100; // of a participant without a block, while others steal
constexpr double k_least_ns = 1e-6; // of an iteration; 0 means unknown
constexpr double k_short_block_ns = 1000; // taking such a block would show in what an iteration takes

double wake_ns() noexcept {
  return static_cast<double>(g_wake_ups.ns.load(std::memory_order_relaxed));
}

/// Returns what it takes until another worker takes part. One that searches for work is awake.
double coming_ns() noexcept {
  const runtime *const rt = runtime_or_null();
  return rt && rt->idle.searching() != 0 ? k_least_wake_ns : wake_ns();
}

/// Returns what a look at the clock takes: the least of some, measured once.
std::uint64_t look_ns() noexcept {
  static constinit std::atomic<std::uint64_t> known{UINT64_MAX};
  std::uint64_t least = known.load(std::memory_order_relaxed);
  if (least == UINT64_MAX) [[unlikely]] {
    for (int i = 0; i != 16; ++i) {
      const std::uint64_t before = now_ns();
      least = std::min(least, now_ns() - before);
    }
    known.store(least, std::memory_order_relaxed);
  }
  return least;
}

/// Returns what is to be done with exceptions. Starts Weft, which reads the setting.
exception_policy policy_of(exception_policy asked) noexcept {
  if (asked != exception_policy::by_setting)
    return asked;
  try {
    if (!is_started() && !is_shut_down())
      static_cast<void>(this_worker());
  } catch (const error &) { // the default
  }
  return g_default_policy;
}

/// Keeps exceptions: the first one needs no memory.
struct loop_errors {
  bool any = false;
  std::exception_ptr first;
  std::vector<std::exception_ptr> later;

  void keep(std::exception_ptr error) noexcept {
    if (!std::exchange(any, true)) {
      first = std::move(error);
      return;
    }
    try {
      later.push_back(std::move(error));
    } catch (const std::bad_alloc &) { // there are others
    }
  }
};

/// Throws all exceptions, or the first one where there is no memory for a list.
[[noreturn]] void throw_list(loop_errors &errors) {
  try {
    errors.later.insert(errors.later.begin(), errors.first);
    throw exception_list(errors.later.data(), errors.later.size());
  } catch (const std::bad_alloc &) {
    std::rethrow_exception(std::move(errors.first));
  }
}

[[noreturn]] void rethrow(exception_policy asked, loop_errors &errors) {
  switch (policy_of(asked)) {
  case exception_policy::collect_all:
    throw_list(errors);
  case exception_policy::terminate:
    fatal("a parallel loop has thrown, and its exception policy is terminate");
  default:
    std::rethrow_exception(std::move(errors.first));
  }
}

bool is_exception_list(const std::exception_ptr &error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const exception_list &) {
    return true;
  } catch (...) {
    return false;
  }
}

struct alignas(k_apart) part {
  chunk_range range;
  std::atomic<bool> taken{false};
};

/// Holds what the participants of a loop share, on the stack of its caller.
struct shared_loop {
  explicit shared_loop(const loop_request &request) noexcept : request(request) {}

  const loop_request &request;
  std::uint64_t base = 0, unit = 1; // the chunks begin at iteration `base`
  unsigned count = 0; // of parts; 0: the caller is alone
  unsigned ranges = 0; // of these, so many had iterations at first
  double ns = 0; // of an iteration, when the loop was published
  bool timed = true;
  std::uint64_t left_alone_until = 0; // a helper waits until then for the end of the loop
  const worker *caller_at = nullptr; // where it began: a helper there means that it waits
  std::atomic<unsigned> members{0}; // participants that are asked for, at most `count`
  std::atomic<unsigned> helpers_left{0};
  std::atomic<unsigned> used{0}, thieves{0};
  std::atomic<bool> stopped{false};
  spin_lock<> lock; // of errors
  loop_errors errors;

  /// Splits the iterations from `done` on, as a static loop of `ranges` threads over all of them
  /// would. There are `slots` parts; those behind the ranges are empty. `asked`: participants.
  void publish(std::uint64_t done, std::uint64_t iterations_per_chunk, unsigned slots,
               unsigned with_range, unsigned asked) {
    base = done;
    unit = iterations_per_chunk;
    count = slots;
    if (slots > k_parts_in_place) {
      m_more.reset(new (std::nothrow) part[slots]);
      if (!m_more)
        count = k_parts_in_place;
    }
    if (!m_more)
      for (unsigned i = 0; i < count; ++i)
        ::new (static_cast<void *>(&m_few[i])) part;
    ranges = std::min(count, with_range);
    used.store(ranges, std::memory_order_relaxed);
    const std::uint64_t size = request.size, n = ranges;
    const auto bound = [&](std::uint64_t i) {
      const std::uint64_t of_all = size / n * i + std::min<std::uint64_t>(i, size % n);
      const std::uint64_t from = std::max(of_all, done) - done;
      return static_cast<std::uint32_t>(from / unit + (from % unit != 0));
    };
    for (unsigned i = 0; i < n; ++i)
      at(i).range.put(bound(i), bound(i + 1));
    members.store(std::min(count, asked), std::memory_order_relaxed);
    helpers_left.store(std::min(count, asked) - 1, std::memory_order_relaxed);
  }

  /// Asks for more participants, if what is left is worth them.
  void ask_for(unsigned wanted) noexcept {
    unsigned now = members.load(std::memory_order_relaxed);
    if (wanted > now && members.compare_exchange_strong(now, wanted, std::memory_order_relaxed))
      helpers_left.fetch_add(wanted - now, std::memory_order_relaxed);
  }

  part &at(unsigned i) noexcept {
    return m_more ? m_more[i] : *std::launder(reinterpret_cast<part *>(&m_few[i]));
  }
  auto range_of() noexcept {
    return [this](unsigned i) -> chunk_range & { return at(i).range; };
  }

  [[nodiscard]] bool exhausted() noexcept {
    if (stopped.load(std::memory_order_relaxed))
      return true;
    for (unsigned i = 0, n = used.load(std::memory_order_relaxed); i < n; ++i)
      if (at(i).range.left() != 0)
        return false;
    return true;
  }

  /// Gives a participant a part: that of its worker where each worker has one, and one that had
  /// iterations while there is such a part.
  unsigned claim(unsigned preferred) noexcept {
    for (unsigned i = 0, at_first = preferred % ranges; i != ranges; ++i)
      if (const unsigned own = (at_first + i) % ranges; take_part(own))
        return own;
    for (unsigned i = ranges;; ++i) // I1: one of them is free
      if (take_part(i)) {
        use(i);
        return i;
      }
  }

  /// Keeps the exception that is being handled. Returns whether the participant goes on.
  bool keep_error() noexcept {
    const bool goes_on = policy_of(request.errors) == exception_policy::collect_all;
    {
      const std::lock_guard guard(lock);
      if (goes_on || !errors.any)
        errors.keep(std::current_exception());
    }
    if (!goes_on)
      stopped.store(true, std::memory_order_relaxed);
    return goes_on;
  }

 private:
  /// Has thieves look at part i, too.
  void use(unsigned i) noexcept {
    unsigned seen = used.load(std::memory_order_relaxed);
    while (seen <= i && !used.compare_exchange_weak(seen, i + 1, std::memory_order_relaxed)) {
    }
  }
  bool take_part(unsigned i) noexcept { return !at(i).taken.exchange(true, std::memory_order_relaxed); }

  struct alignas(part) raw_part {
    std::byte bytes[sizeof(part)];
  };
  raw_part m_few[k_parts_in_place]; // as many as there are participants
  std::unique_ptr<part[]> m_more;
};

bool others_are_idle() noexcept {
  const runtime *rt = runtime_or_null();
  return rt && any_worker_is_idle(*rt);
}

/// Notes that a worker which was woken then has come.
void note_wake_up(std::uint64_t woken_at) noexcept {
  const std::uint64_t now = now_ns();
  const double took = now > woken_at ? static_cast<double>(now - woken_at) : 0;
  g_wake_ups.ns.store(static_cast<float>(wake_after(wake_ns(), took)), std::memory_order_relaxed);
  g_wake_ups.seen.fetch_add(1, std::memory_order_relaxed);
}
/// Notes that a loop is left to its caller. A worker that sleeps may wake up faster than was seen.
void note_refusal(double rest_ns) noexcept {
  if (const double known = wake_ns(); is_left_for_wake(rest_ns, known) && others_are_idle())
    g_wake_ups.ns.store(static_cast<float>(forget_wake(known)), std::memory_order_relaxed);
}

std::uint64_t unit_for(std::uint64_t rest) noexcept { return rest / chunk_range::k_most + 1; }

void help(shared_loop &shared);

} // namespace

/// Holds a participant, on its stack.
struct loop_blocks::state {
  struct branch : join_job {
    explicit branch(shared_loop &loop) noexcept : join_job(&run), shared(loop) {}
    static void run(join_job *job) {
      auto *const self = static_cast<branch *>(job);
      // The first branch wakes a worker, which counts as a wake-up. A later branch is taken at any
      // time, by a worker that was busy perhaps.
      if (const std::uint64_t at = self->woken_at.load(std::memory_order_relaxed))
        note_wake_up(at);
      help(self->shared);
    }
    shared_loop &shared;
    std::atomic<std::uint64_t> woken_at{0}; // when the caller has woken a sleeper for it; 0: it has not
  };

  explicit state(shared_loop &loop) noexcept
      : shared(loop), request(loop.request), next_helper(loop) {}
  ~state() {
    if (m_has_branch) { // a forced unwinding
      shared.stopped.store(true, std::memory_order_relaxed);
      take_branch_back();
    }
  }
  state(const state &) = delete;
  state &operator=(const state &) = delete;

  shared_loop &shared;
  const loop_request &request;
  branch next_helper;
  unsigned me = 0; // the participant's part
  std::uint64_t done = 0; // iterations that the caller has taken while it is alone
  std::uint64_t last = 0, began_at = 0; // iterations of the last block, and its begin
  double ns = 0; // of an iteration
  double remembered_ns = 0; // by the call site; 0: unknown
  std::uint64_t own_iterations = 0, own_ns = 0;
  bool known = false; // `ns` is what the call site remembers
  bool waits = false; // a block has suspended
  const worker *block_at = nullptr; // where the last block began
  std::uint64_t block_suspended = 0; // frames that had left that worker to wait
  bool owes_wake_up = false; // the caller has published the loop, and has woken no worker
  bool stays_alone = false; // the caller stops where it would share the rest
  bool was_refused = false; // because of the time of a wake-up

  /// Returns whether several iterations may be in one block although they are short. Those of a
  /// taskloop may wait, in many blocks at once.
  [[nodiscard]] bool may_be_one_block() const noexcept { return request.participants == 0; }

  /// Returns whether no other worker may take part.
  [[nodiscard]] bool is_for_one() const {
    return request.participants == 1 || (!is_shut_down() && loop_workers() == 1);
  }

  bool next_alone(std::uint64_t &first, std::uint64_t &count);
  bool next_shared(std::uint64_t &first, std::uint64_t &count);
  /// Publishes the rest if that pays. Returns whether it did.
  bool publish();

  void begin_to_share() {
    me = shared.claim(this_worker().id);
    push_branch();
  }
  /// Notes when the branch wakes a worker that sleeps, which tells then how long that took.
  void note_wake_up_to_come() noexcept {
    if (would_wake_a_worker(the_runtime()))
      next_helper.woken_at.store(now_ns(), std::memory_order_relaxed);
  }
  /// Says whether the rest is left to the caller.
  [[nodiscard]] bool is_refused(double rest_ns) noexcept {
    const bool refused = stays_serial(rest_ns, coming_ns());
    if (refused && !std::exchange(was_refused, true))
      note_refusal(rest_ns);
    return refused;
  }
  /// Begins a loop whose blocks may wait: it is published from the start, because a worker whose
  /// caller waits must find the rest. A worker is woken only when that pays.
  void begin_quietly(unsigned preferred) {
    worker &w = this_worker();
    me = shared.claim(preferred);
    shared.helpers_left.fetch_sub(1, std::memory_order_relaxed);
    m_has_branch = true;
    owes_wake_up = true;
    next_helper.parent = w.current;
    w.joins.push(&next_helper);
  }
  void take_branch_back() {
    if (m_has_branch && (m_is_queued || !join_pop(&next_helper)))
      join_wait(&next_helper);
    m_has_branch = false;
  }

 private:
  bool give(std::uint64_t begin, std::uint64_t n, std::uint64_t &first,
            std::uint64_t &count) noexcept {
    first = begin;
    count = n;
    last = n;
    return true;
  }
  void measure() noexcept {
    const std::uint64_t now = now_ns();
    const bool waited = note_waits();
    if (last != 0) {
      const std::uint64_t took = without_look(now - began_at, look_ns());
      waits |= waited;
      own_iterations += last;
      own_ns += took;
      ns = blend(known ? 0 : ns, static_cast<double>(took) / static_cast<double>(last));
      known = false;
    }
    began_at = now;
  }
  /// Returns whether the last block has suspended, and notes where the next one begins.
  bool note_waits() noexcept {
    const worker *const here = this_worker_or_null();
    const std::uint64_t suspended = here ? here->counts->suspended : 0;
    const bool waited = here != block_at || suspended != block_suspended;
    block_at = here;
    block_suspended = suspended;
    return waited;
  }
  /// Wakes a worker if the rest is worth it.
  void wake_up() {
    const std::uint64_t rest = request.size - std::min(request.size, own_iterations);
    if (is_refused(ns * static_cast<double>(rest)))
      return;
    owes_wake_up = false;
    note_wake_up_to_come();
    if (worker &w = this_worker(); outranks_tasks(w) && join_pop(&next_helper))
      queue_branch(w);
    else
      the_runtime().idle.notify_one();
    began_at = now_ns(); // a call of the kernel is no part of an iteration
  }
  /// Lets more workers in where iterations have become longer than they were when the loop was
  /// published. The newest participant does it, because it alone has no branch (I2).
  void ask_for_more(chunk_range &own) {
    const unsigned now = shared.members.load(std::memory_order_relaxed);
    if (now < shared.count) {
      const double left = static_cast<double>(own.left()) * static_cast<double>(shared.unit) * now;
      shared.ask_for(participants_for(ns * left, wake_ns(), shared.count));
    }
    push_branch();
  }
  /// Lets a worker that has nothing else to do become the next helper.
  void push_branch() {
    unsigned left = shared.helpers_left.load(std::memory_order_relaxed);
    while (left != 0 && !shared.helpers_left.compare_exchange_weak(
                            left, left - 1, std::memory_order_relaxed, std::memory_order_relaxed)) {
    }
    if (left == 0)
      return;
    m_has_branch = true;
    if (worker &w = this_worker(); outranks_tasks(w))
      queue_branch(w);
    else
      join_push(&next_helper);
  }
  /// Says whether the loop is that of a task with a priority: workers look for branches behind all ready
  /// tasks, which suits other loops.
  [[nodiscard]] bool outranks_tasks(const worker &w) const noexcept {
    return request.body == loop_body::may_wait && w.current->priority > 0;
  }
  /// Puts the branch among the ready tasks, by that priority.
  void queue_branch(worker &w) {
    next_helper.parent = w.current;
    next_helper.priority = w.current->priority;
    m_is_queued = true;
    enqueue_job(w, next_helper);
  }

  bool m_has_branch = false;
  bool m_is_queued = false; // it has been put among the ready tasks, and is not taken back
};

namespace {

double each_ns(std::uint64_t ns, double iterations) noexcept {
  return std::max(static_cast<double>(ns) / iterations, k_least_ns);
}
/// Keeps what some iterations of a call have taken.
void remember_part(loop_site &site, std::uint64_t ns, double iterations) noexcept {
  if (iterations <= 0)
    return;
  const double known = static_cast<double>(site.ns.load(std::memory_order_relaxed));
  site.ns.store(static_cast<float>(blend_calls(known, each_ns(ns, iterations))),
                std::memory_order_relaxed);
}

/// Notes whether a shared call took longer than one alone. A short call is left alone to learn what
/// that takes.
void note_loss(loop_site &site, double shared_ns, double alone_ns) noexcept {
  constexpr unsigned k_most_losses = 10 * k_losses; // after as many gains no loss counts any more
  if (alone_ns <= 0) {
    site.alone.store(shared_ns < k_long_ns ? 1 : 0, std::memory_order_relaxed);
    return;
  }
  const unsigned before = site.losses.load(std::memory_order_relaxed);
  unsigned losses = losses_after(shared_ns, alone_ns, before);
  if (losses > k_most_losses)
    losses -= k_losses;
  site.losses.store(static_cast<std::uint16_t>(losses), std::memory_order_relaxed);
  if (losses > before)
    site.alone.store(static_cast<std::uint16_t>(calls_alone_after(losses)), std::memory_order_relaxed);
}

/// Has iterations that wait count as long, so that the next call does not run them as one block.
void remember_waits(loop_site &site) noexcept {
  if (static_cast<double>(site.ns.load(std::memory_order_relaxed)) < k_blind_ns)
    site.ns.store(static_cast<float>(k_blind_ns), std::memory_order_relaxed);
}

/// Calls the loop's function, again after an exception if the policy goes on.
void participate(loop_blocks::state &mine) {
  loop_blocks blocks(mine);
  for (;;) {
    try {
      return mine.request.participate(mine.request.context, blocks);
    } catch (abi::__forced_unwind &) {
      throw;
    } catch (...) {
      if (!mine.shared.keep_error())
        return;
    }
  }
}

/// Returns whether a loop that a helper has found goes on, as one does whose caller waits.
bool outlasts_its_caller(shared_loop &shared) noexcept {
  constexpr int k_pauses = 16; // between two looks, which cost the caller a cache line
  return goes_on(
      shared.left_alone_until, [&] { return shared.exhausted(); },
      [&] { return this_worker_or_null() == shared.caller_at; }, [] { return now_ns(); },
      [] {
        for (int i = 0; i != k_pauses; ++i)
          cpu_pause();
      });
}

/// Takes part in a published loop as a helper.
void help(shared_loop &shared) {
  if (!outlasts_its_caller(shared))
    return;
  loop_blocks::state mine(shared);
  mine.ns = shared.ns;
  mine.begin_to_share();
  participate(mine);
  mine.take_branch_back();
}

} // namespace

bool loop_blocks::state::publish() {
  const std::uint64_t rest = request.size - done;
  const double rest_ns = ns * static_cast<double>(rest);
  if (rest < 2 || is_refused(rest_ns) || is_shut_down())
    return false;
  static_cast<void>(this_worker()); // starts Weft, whose workers sleep soon
  if (!others_are_idle())
    return false;
  const unsigned most = request.participants != 0 ? request.participants : loop_workers();
  const unsigned n = participants_for(rest_ns, coming_ns(), most);
  if (n < 2)
    return false;
  if (stays_alone)
    return true;
  shared.publish(done, unit_for(rest), std::max(n, std::min(most, k_parts_in_place)), n, n);
  shared.ns = ns;
  note_wake_up_to_come();
  begin_to_share();
  last = 0;
  return true;
}

bool loop_blocks::state::next_alone(std::uint64_t &first, std::uint64_t &count) {
  const std::uint64_t left = request.size - done;
  if (left == 0 || shared.stopped.load(std::memory_order_relaxed)) {
    if (last > own_iterations) // else it tells little of the loop, and costs a look
      measure();
    return false;
  }
  const bool is_first = last == 0, was_known = known;
  measure();
  std::uint64_t want = 1;
  if (is_first) {
    if (known) { // a prediction that is false is found after an eighth
      if (publish())
        return !stays_alone && next_shared(first, count);
      want = std::clamp<std::uint64_t>(
          next_serial_block(UINT64_MAX, ns, left, loop_block_ns()) / 8, 1, left);
    }
  } else if (own_ns < static_cast<std::uint64_t>(k_prefix_ns) && !was_known) {
    want = std::min(left, 2 * last);
  } else {
    if (publish())
      return !stays_alone && next_shared(first, count);
    const bool as_known = remembered_ns > 0 && ns <= 2 * remembered_ns;
    want = next_serial_block(was_known || as_known ? UINT64_MAX : last, ns, left,
                             lone_block(as_known, is_for_one(), loop_block_ns()));
  }
  const std::uint64_t begin = std::exchange(done, done + want);
  return give(begin, want, first, count);
}

bool loop_blocks::state::next_shared(std::uint64_t &first, std::uint64_t &count) {
  if (shared.stopped.load(std::memory_order_relaxed))
    return false;
  if (request.body == loop_body::may_wait && this_task::cancelled()) {
    shared.stopped.store(true, std::memory_order_relaxed);
    return false;
  }
  chunk_range &own = shared.at(me).range;
  bool decides = false, was_known = false;
  if (shared.timed) {
    was_known = known;
    measure();
    decides = was_known || own_ns >= static_cast<std::uint64_t>(k_prefix_ns);
    if (owes_wake_up && decides)
      wake_up();
    else if (decides && !m_has_branch)
      ask_for_more(own);
  }
  // Returns how many of these chunks the next block has.
  const auto wanted = [&](std::uint32_t chunks_left) {
    const std::uint64_t left = chunks_left * shared.unit;
    std::uint64_t want = 1;
    if (shared.timed && owes_wake_up && decides && may_be_one_block())
      want = next_serial_block(was_known ? UINT64_MAX : last, ns, left, loop_block_ns()) /
             (last == 0 ? 8 : 1); // a prediction that is false is found after an eighth
    else if (shared.timed && (last != 0 || ns > 0))
      want = next_block(last != 0 ? last : left, ns, left,
                        shared_block(ns * static_cast<double>(request.size),
                                     shared.members.load(std::memory_order_relaxed), loop_block_ns()));
    if (shared.timed && may_be_one_block() && last != 0) // one block may not tell of the others
      want = std::max(want, std::min(least_block(ns, left, std::min(loop_block_ns(), k_block_ns)),
                                     2 * last));
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(want / shared.unit, 1, chunk_range::k_most));
  };
  std::uint32_t chunk = 0, chunks = own.take(wanted(own.left()), chunk);
  const bool stole = chunks == 0;
  for (int tries = 0; chunks == 0; ++tries) {
    shared.thieves.fetch_add(1, std::memory_order_acquire); // O2
    const bool stolen =
        steal_half(shared.used.load(std::memory_order_relaxed), me, shared.range_of(), chunk);
    const unsigned others = shared.thieves.fetch_sub(1, std::memory_order_release) - 1; // O2
    if (stolen) {
      chunks = 1;
      std::uint32_t behind = 0;
      if (const std::uint32_t want = wanted(1 + own.left()); shared.timed && want > 1)
        chunks += own.take(want - 1, behind); // they follow the stolen one
    } else if (others == 0 || tries == k_looks) { // a thief may hold chunks that no range has yet
      break;
    } else {
      cpu_pause();
    }
  }
  if (chunks == 0) {
    last = 0;
    return false;
  }
  if (shared.timed && (stole || ns * static_cast<double>(chunks * shared.unit) < k_short_block_ns))
    began_at = now_ns(); // nor is the way to a short block
  const std::uint64_t begin = shared.base + chunk * shared.unit;
  return give(begin, std::min(chunks * shared.unit, request.size - begin), first, count);
}

bool loop_blocks::next(std::uint64_t &first, std::uint64_t &count) {
  state &s = *m_state;
  return s.shared.count == 0 ? s.next_alone(first, count) : s.next_shared(first, count);
}

void loop_blocks::skip() noexcept {
  state &s = *m_state;
  if (s.shared.count == 0) {
    s.done = s.request.size;
    s.last = 0; // which part of it has run is unknown
  } else {
    s.shared.at(s.me).range.drop();
  }
}

void run_loop(const loop_request &request) {
  if (request.size == 0)
    return;
  shared_loop shared(request);
  {
    loop_blocks::state caller(shared);
    const bool deterministic = blocks_ignore_time();
    const std::uint64_t workers = loop_workers();
    if (request.grain != 0 || deterministic) {
      const std::uint64_t grain =
          request.grain != 0
              ? request.grain
              : std::max<std::uint64_t>(request.size / (k_blocks_per_worker * workers), 1);
      const std::uint64_t unit = std::max(grain, unit_for(request.size));
      const std::uint64_t chunks = request.size / unit + (request.size % unit != 0);
      const std::uint64_t most =
          request.participants != 0 ? request.participants : std::max<std::uint64_t>(workers, 2);
      const auto n = static_cast<unsigned>(std::min(chunks, most));
      const auto at_once =
          static_cast<unsigned>(std::min<std::uint64_t>(n, std::max<std::uint64_t>(workers, 2)));
      shared.timed = false;
      shared.publish(0, unit, n, at_once, n);
      caller.begin_to_share();
    } else {
      if (request.site) {
        caller.ns = static_cast<double>(request.site->ns.load(std::memory_order_relaxed));
        caller.remembered_ns = caller.ns;
        caller.known = caller.ns > 0;
      }
      if (request.body == loop_body::may_wait && request.size > 1 && request.participants != 1) {
        const std::uint64_t most =
            request.participants != 0 ? request.participants : std::max<std::uint64_t>(workers, 2);
        // A loop that its caller is to run alone is in one part.
        const double predicted_ns = caller.ns * static_cast<double>(request.size);
        const bool alone = caller.known && caller.may_be_one_block() &&
                           stays_serial(predicted_ns, coming_ns());
        shared.ns = caller.ns;
        if (alone) {
          shared.left_alone_until = now_ns() + 2 * static_cast<std::uint64_t>(predicted_ns);
          shared.caller_at = &this_worker();
        }
        const auto slots = static_cast<unsigned>(std::min(request.size, most));
        shared.publish(0, unit_for(request.size), slots, alone ? 1u : static_cast<unsigned>(workers),
                       slots);
        caller.begin_quietly(alone ? 0 : this_worker().id);
      }
    }
    participate(caller);
    caller.take_branch_back();
    if (request.site) {
      remember_part(*request.site, caller.own_ns, static_cast<double>(caller.own_iterations));
      if (caller.waits && request.body == loop_body::may_wait)
        remember_waits(*request.site);
    }
  }
  if (shared.errors.any)
    rethrow(request.errors, shared.errors);
}

std::uint64_t run_alone(const loop_request &request) {
  if (request.size == 0 || blocks_ignore_time())
    return 0;
  shared_loop shared(request);
  std::uint64_t done = 0;
  {
    loop_blocks::state caller(shared);
    caller.stays_alone = true;
    caller.ns = static_cast<double>(request.site->ns.load(std::memory_order_relaxed));
    caller.remembered_ns = caller.ns;
    caller.known = caller.ns > 0;
    participate(caller);
    done = caller.done;
    (done == request.size ? remember : remember_part)(*request.site, caller.own_ns,
                                                      static_cast<double>(caller.own_iterations));
  }
  if (shared.errors.any)
    rethrow(request.errors, shared.errors);
  return done;
}

bool sharing_pays(double predicted_ns) {
  if (blocks_ignore_time())
    return true;
  if (stays_serial(predicted_ns, coming_ns())) {
    note_refusal(predicted_ns);
    return false;
  }
  if (is_shut_down())
    return false;
  return worker_count() > 1 && (predicted_ns > k_long_ns || others_are_idle());
}

bool blocks_ignore_time() {
  if (is_shut_down())
    return false;
  static_cast<void>(this_worker()); // starts Weft, which reads the setting
  return the_runtime().fixed_blocks;
}
unsigned loop_workers() { return static_cast<unsigned>(worker_count()); }
std::uint64_t loop_clock() noexcept { return now_ns(); }

std::uint64_t tick_clock() noexcept { return read_ticks(); }
void remember_since(loop_site &site, std::uint64_t began, std::uint64_t iterations) noexcept {
  const std::uint64_t ticks = read_ticks() - began;
  if (ticks_are_calibrated()) [[likely]]
    remember(site, ticks_to_ns(ticks), static_cast<double>(iterations));
}
bool took_long(loop_site &site, std::uint64_t began, std::uint64_t iterations) noexcept {
  const std::uint64_t ticks = read_ticks() - began;
  if (!ticks_are_calibrated()) [[unlikely]]
    return false;
  const std::uint64_t ns = ticks_to_ns(ticks);
  if (static_cast<double>(ns) < k_blind_ns) [[likely]]
    return false;
  remember_part(site, ns, static_cast<double>(iterations));
  return true;
}

double loop_block_ns() noexcept {
  return static_cast<double>(g_loop_block_ns.load(std::memory_order_relaxed));
}

void remember(loop_site &site, std::uint64_t ns, double iterations) noexcept {
  if (iterations <= 0)
    return;
  remember_part(site, ns, iterations);
  const double seen = each_ns(ns, iterations);
  const double least = static_cast<double>(site.least_ns.load(std::memory_order_relaxed));
  site.least_ns.store(static_cast<float>(least_of_late(least, seen)), std::memory_order_relaxed);
}

void remember_shared(loop_site &site, std::uint64_t ns, double iterations) noexcept {
  if (iterations <= 0)
    return;
  const runtime *const rt = runtime_or_null(); // null: no worker has come
  const double workers = rt ? rt->started_workers.load(std::memory_order_relaxed) : 1;
  const double known = static_cast<double>(site.ns.load(std::memory_order_relaxed));
  const double least = static_cast<double>(site.least_ns.load(std::memory_order_relaxed));
  if (!blocks_ignore_time())
    note_loss(site, static_cast<double>(ns), least * iterations);
  const double most = most_work(static_cast<double>(ns), wake_ns(), workers) / iterations;
  if (most < known)
    site.ns.store(static_cast<float>(std::max(most, k_least_ns)), std::memory_order_relaxed);
}

std::uint64_t static_grain(std::uint64_t size) {
  const auto workers = static_cast<std::uint64_t>(worker_count());
  return size / workers + (size % workers != 0);
}

void rethrow_current(exception_policy errors) {
  loop_errors one;
  one.keep(std::current_exception());
  if (!one.first) // a forced unwinding
    throw;
  rethrow(errors, one);
}

void rethrow_current_of_loops(exception_policy errors) {
  if (const std::exception_ptr error = std::current_exception();
      error && policy_of(errors) == exception_policy::collect_all && is_exception_list(error))
    std::rethrow_exception(error);
  rethrow_current(errors);
}

loop_site &site_of_function(const void *function) noexcept {
  static constinit site_table<loop_site, 1024> sites;
  static constinit loop_site others; // of functions that are more than sites
  loop_site *const own = sites.find(function);
  return own ? *own : others;
}

} // namespace detail
} // namespace weft::inline v0
