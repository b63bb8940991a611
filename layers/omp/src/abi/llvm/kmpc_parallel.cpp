// SPDX-License-Identifier: Apache-2.0
// LLVM's entry points: parallel regions, teams on the host, synchronisation.
#include "abi/llvm/kmpc.hpp"
#include "config/once.hpp"
#include "helper/proxy_thread.hpp"
#include "placement/affinity.hpp"
#include "placement/affinity_text.hpp"
#include "team/barrier.hpp"
#include "tool/enter.hpp"
#include "tool/regions.hpp"

#include <weft_threads/thread/fork_locks.hpp>

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <deque>
#include <mutex>

using namespace weft_omp;

// The outlined function takes its arguments one by one: two, and the captured ones. Four of the
// captured ones are in registers, the others on the stack, which stays aligned. rdi = f, rsi =
// thread, rdx = zero, rcx = count, r8 = arguments, r9 = where to note the frame.
asm(R"(
        .macro  WEFT_CALL_MICROTASK name, notes_frame
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        endbr64
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        .if \notes_frame
        movq    %rbp, (%r9)
        .endif
        movq    %rdi, %rax
        movq    %r8, %r10
        movq    %rcx, %r11
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        cmpq    $4, %r11
        jbe     2f
        leaq    -4(%r11), %rcx
        testq   $1, %rcx
        jz      1f
        subq    $8, %rsp
1:      cmpq    $4, %r11
        jbe     2f
        pushq   -8(%r10,%r11,8)
        decq    %r11
        jmp     1b
2:      testq   %r11, %r11
        jz      3f
        movq    (%r10), %rdx
        decq    %r11
        jz      3f
        movq    8(%r10), %rcx
        decq    %r11
        jz      3f
        movq    16(%r10), %r8
        decq    %r11
        jz      3f
        movq    24(%r10), %r9
3:      call    *%rax
        leave
        .cfi_def_cfa rsp, 8
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm
        .text
        WEFT_CALL_MICROTASK weft_omp_call_microtask, 0
        WEFT_CALL_MICROTASK weft_omp_call_watched_microtask, 1
)");

namespace {

/// Returns the one list with these numbers. It is made once and never freed, because teams keep it.
const level_list *intern(unsigned first, const std::int32_t *list, std::uint32_t count) {
  static spin_lock lock;
  static const once held([] { hold_over_fork(lock); });
  static auto *all = new std::deque<level_list>;
  std::lock_guard guard(lock);
  for (const level_list &l : *all)
    if (l.first == first && std::equal(l.threads.begin(), l.threads.end(), list, list + count))
      return &l;
  return &all->emplace_back(level_list{first, std::vector<int>(list, list + count)});
}

void ask_for(thread &self, const std::int32_t *list, std::uint32_t count) {
  if (count == 0 || std::any_of(list, list + count, [](std::int32_t n) { return n <= 0; }))
    return warn("num_threads names a number that is not positive; it is ignored");
  self.asked.threads = static_cast<unsigned>(list[0]);
  self.asked.levels = count > 1 ? intern(self.team->level + 1, list, count) : nullptr;
}

constexpr int k_severity_fatal = 2;

void check_strict(const asked_region &asked, unsigned got) {
  if (!asked.strict || got >= asked.threads)
    return;
  const char *const what = asked.strict_message
                               ? asked.strict_message
                               : "num_threads(strict): the region gets fewer threads";
  if (asked.strict_is_fatal)
    fatal("%s (%u asked for, %u there)", what, asked.threads, got);
  warn("%s (%u asked for, %u there)", what, asked.threads, got);
}

void ask_strictly(thread &self, int severity, const char *message) {
  self.asked.strict = true;
  self.asked.strict_is_fatal = severity == k_severity_fatal;
  self.asked.strict_message = message;
}

void call_microtask(const region_body &body) {
  auto number = static_cast<std::int32_t>(self().gtid);
  std::int32_t zero = 0;
  weft_omp_call_microtask(body.f, &number, &zero, body.count, static_cast<void **>(body.arguments));
}

void call_watched_microtask(const region_body &body, ompt::data *exit) {
  auto number = static_cast<std::int32_t>(self().gtid);
  std::int32_t zero = 0;
  weft_omp_call_watched_microtask(body.f, &number, &zero, body.count,
                                  static_cast<void **>(body.arguments), &exit->pointer);
  exit->pointer = nullptr;
}

/// Says whether a region gets a team, or runs with its creator alone.
enum class region_kind : bool { serialized, parallel };

/// Returns the number of the region's threads, of which the thread has `asked`.
unsigned take_asked(thread &self, region_kind kind, unsigned asked) {
  const unsigned threads = kind == region_kind::parallel ? resolve_threads(self, asked) : 1;
  if (self.asked.strict) [[unlikely]]
    check_strict(self.asked, threads);
  self.asked.threads = 0;
  self.asked.strict = false;
  return threads;
}

void fork(thread &self, void (*f)(), int count, void **arguments, region_kind kind) {
  if (needs_proxy(self)) [[unlikely]]
    return on_proxy_thread(self, [=] { fork(weft_omp::self(), f, count, arguments, kind); });
  const unsigned threads = take_asked(self, kind, self.asked.threads);
  run_parallel(self, {&call_microtask, f, arguments, static_cast<unsigned>(count)}, threads,
               std::exchange(self.asked.bind, 0u));
}

void fork_watched(thread &self, void (*f)(), int count, void **arguments, region_kind kind,
                  const call_site &at) {
  if (needs_proxy(self)) [[unlikely]]
    return on_proxy_thread(self,
                           [=] { fork_watched(weft_omp::self(), f, count, arguments, kind, at); });
  const unsigned asked = kind == region_kind::parallel ? self.asked.threads : 1;
  const unsigned threads = take_asked(self, kind, self.asked.threads);
  const region_body body{&call_microtask, f, arguments, static_cast<unsigned>(count)};
  closed_region region(body, at, ompt::work_kind::none, &call_watched_microtask);
  omp_team &team = region.begin(self, asked, threads, std::exchange(self.asked.bind, 0u));
  region.launch(self, team, body, region_entry::plain);
  region.run(self, body);
  region.end(self);
}

[[gnu::always_inline]] inline void enter_fork(void (*f)(), int count, void **arguments,
                                              region_kind kind) {
  if (thread *const self = self_or_null()) [[likely]]
    return fork(*self, f, count, arguments, kind);
  enter_slow([=](thread &self) { fork(self, f, count, arguments, kind); },
             [=](thread &self, const call_site &at, auto) {
               fork_watched(self, f, count, arguments, kind, at);
             },
             this_call());
}

/// Returns what kind of barrier the compiler has made.
ompt::sync_kind barrier_kind_of(const location *where) noexcept {
  const int flags = where ? where->flags : 0;
  return flags & k_explicit_barrier   ? ompt::sync_kind::barrier_explicit
         : flags & k_implicit_barrier ? ompt::sync_kind::barrier_implicit_workshare
                                      : ompt::sync_kind::barrier_implementation;
}

bool start_single(thread &self) {
  std::uint64_t mine = self.workshare.singles++;
  return self.team->singles.compare_exchange_strong(mine, mine + 1, std::memory_order_relaxed);
}

void report_masked(watched_thread &me, ompt::endpoint at, const void *return_address) {
  report(ompt::event::masked, static_cast<int>(at), data_of(me.task->region), &me.task->data,
         return_address);
}
/// Events of the begin of a masked region, if the thread runs it.
constexpr auto as_masked = [](thread &self, const call_site &at, auto plain) {
  const bool runs = plain(self);
  if (runs)
    report_masked(watched_self(self), ompt::endpoint::begin, at.return_address);
  return runs;
};
[[gnu::always_inline]] inline void end_masked() {
  report_if_watched([](thread &self, const call_site &at) {
    report_masked(watched_self(self), ompt::endpoint::end, at.return_address);
  });
}

void report_reduction(watched_thread &me, ompt::endpoint at, const void *return_address) {
  report_sync(ompt::event::reduction, me, ompt::sync_kind::reduction, at, return_address);
}
constexpr auto as_reduction_begin = [](thread &self, const call_site &at, auto plain) {
  plain(self);
  report_reduction(watched_self(self), ompt::endpoint::begin, at.return_address);
};

[[gnu::always_inline]] inline void lock_critical(void *name, unsigned hint) {
  enter([=](thread &self) { word_lock::at(name).lock(self); },
        as_lock(ompt::mutex_kind::critical, name, hint));
}

constexpr int k_most_arguments = 512;

} // namespace

#define TAKE_ARGUMENTS(LAST)                                                                       \
  void *arguments[k_most_arguments];                                                               \
  if (count > k_most_arguments)                                                                    \
    fatal(                                                                                         \
        "a region shares %d variables; more than %d are not supported: put them into a structure", \
        count, k_most_arguments);                                                                  \
  va_list list;                                                                                    \
  va_start(list, LAST);                                                                            \
  for (int i = 0; i < count; ++i)                                                                  \
    arguments[i] = va_arg(list, void *);                                                           \
  va_end(list)

KMP_API void __kmpc_fork_call(location *, std::int32_t count, void (*f)(), ...) {
  TAKE_ARGUMENTS(f);
  enter_fork(f, count, arguments, region_kind::parallel);
}
KMP_API void __kmpc_fork_call_if(location *, std::int32_t count, void (*f)(),
                                 std::int32_t condition, void *argument) {
  enter_fork(f, count, &argument, condition != 0 ? region_kind::parallel : region_kind::serialized);
}
KMP_API void __kmpc_fork_teams(location *, std::int32_t count, void (*f)(), ...) {
  TAKE_ARGUMENTS(f);
  const region_body body{&call_microtask, f, arguments, static_cast<unsigned>(count)};
  const auto teams_asked = [](thread &self) {
    const unsigned asked = std::exchange(self.asked.teams, 0u);
    return asked ? asked : g_globals.teams ? static_cast<unsigned>(g_globals.teams) : 1;
  };
  enter(
      [&](thread &self) {
        const unsigned teams = teams_asked(self);
        run_league(self, body, teams, std::exchange(self.asked.limit, 0u));
      },
      [&](thread &self, const call_site &at, auto) {
        const unsigned teams = teams_asked(self);
        run_watched_league(self, body, &call_watched_microtask, teams,
                           std::exchange(self.asked.limit, 0u), at);
      });
}
KMP_API void __kmpc_push_num_threads(location *, std::int32_t, std::int32_t n) {
  thread &self = weft_omp::self();
  self.asked.threads = n > 0 ? static_cast<unsigned>(n) : 0;
  self.asked.strict = false;
}
KMP_API void __kmpc_push_num_threads_strict(location *, std::int32_t, std::int32_t n, int severity,
                                            const char *message) {
  ask_for(self(), &n, 1);
  ask_strictly(self(), severity, message);
}
KMP_API void __kmpc_push_num_threads_list(location *, std::int32_t, std::uint32_t count,
                                          std::int32_t *list) {
  ask_for(self(), list, count);
}
KMP_API void __kmpc_push_num_threads_list_strict(location *, std::int32_t, std::uint32_t count,
                                                 std::int32_t *list, int severity,
                                                 const char *message) {
  ask_for(self(), list, count);
  ask_strictly(self(), severity, message);
}
KMP_API void __kmpc_push_proc_bind(location *, std::int32_t, int bind) {
  self().asked.bind = static_cast<unsigned>(bind) & 7;
}
KMP_API void __kmpc_push_num_teams(location *, std::int32_t, std::int32_t teams,
                                   std::int32_t limit) {
  self().asked.teams = teams > 0 ? static_cast<unsigned>(teams) : 0;
  self().asked.limit = limit > 0 ? static_cast<unsigned>(limit) : 0;
}
KMP_API void __kmpc_push_num_teams_51(location *where, std::int32_t n, std::int32_t,
                                      std::int32_t most, std::int32_t limit) {
  __kmpc_push_num_teams(where, n, most, limit);
}
KMP_API void __kmpc_serialized_parallel(location *, std::int32_t) {
  const auto prepare = [](thread &self) {
    const unsigned teams = self.asked.teams, limit = self.asked.limit;
    self.asked = {};
    self.asked.teams = teams;
    self.asked.limit = limit;
  };
  enter(
      [=](thread &self) {
        prepare(self);
        begin_team(self, 1);
        show_affinity(self);
      },
      [=](thread &self, const call_site &at, auto) {
        prepare(self);
        open_region &region = open_region::make({}, at, nullptr);
        omp_team &team = region.begin(self, 1, 1, 0);
        region.launch(self, team, {}, region_entry::plain);
        region.enter(self, at.caller);
      });
}
KMP_API void __kmpc_end_serialized_parallel(location *, std::int32_t) {
  enter([](thread &self) { end_team(self); },
        [](thread &self, const call_site &, auto) { open_region::close(self); });
}

KMP_API std::int32_t __kmpc_global_thread_num(location *) {
  return static_cast<std::int32_t>(self().gtid);
}
KMP_API std::int32_t __kmpc_global_num_threads(location *) {
  return static_cast<std::int32_t>(self().team->size);
}
KMP_API std::int32_t __kmpc_bound_thread_num(location *) {
  return static_cast<std::int32_t>(self().number);
}
KMP_API std::int32_t __kmpc_bound_num_threads(location *) {
  return static_cast<std::int32_t>(self().team->size);
}
KMP_API std::int32_t __kmpc_ok_to_fork(location *) { return 1; }
KMP_API std::int32_t __kmpc_in_parallel(location *) { return self().team->active_level > 0; }
KMP_API void __kmpc_begin(location *, std::int32_t) {}
KMP_API void __kmpc_end(location *) {}
KMP_API void __kmpc_flush(location *) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (thread *const self = self_or_null())
    count_failed_test(*self);
  else if (g_may_be_watched)
    enter_slow([](thread &) {},
               [](thread &me, const call_site &at, auto) {
                 report(ompt::event::flush, &watched_self(me).data, at.return_address);
                 count_failed_test(me);
               },
               this_call());
}

KMP_API void __kmpc_barrier(location *where, std::int32_t) {
  enter([](thread &self) { team_barrier(self); },
        [where](thread &self, const call_site &at, auto plain) {
          as_barrier(barrier_kind_of(where))(self, at, plain);
        });
}
KMP_API std::int32_t __kmpc_cancel_barrier(location *where, std::int32_t) {
  return enter([](thread &self) -> bool { return !team_barrier(self, barrier_kind::cancellable); },
               [where](thread &self, const call_site &at, auto plain) {
                 return as_barrier(barrier_kind_of(where))(self, at, plain);
               });
}
KMP_API std::int32_t __kmpc_barrier_master(location *where, std::int32_t) {
  return enter(
      [](thread &self) {
        team_barrier(self);
        return self.number == 0;
      },
      [where](thread &self, const call_site &at, auto plain) {
        return as_barrier(barrier_kind_of(where))(self, at, plain);
      });
}
KMP_API void __kmpc_end_barrier_master(location *where, std::int32_t) {
  enter([](thread &self) { team_barrier(self); },
        [where](thread &self, const call_site &at, auto plain) {
          as_barrier(barrier_kind_of(where))(self, at, plain);
        });
}
KMP_API std::int32_t __kmpc_barrier_master_nowait(location *where, std::int32_t n) {
  return __kmpc_barrier_master(where, n);
}

KMP_API std::int32_t __kmpc_master(location *, std::int32_t) {
  return enter([](thread &self) { return self.number == 0; }, as_masked);
}
KMP_API void __kmpc_end_master(location *, std::int32_t) { end_masked(); }
KMP_API std::int32_t __kmpc_masked(location *, std::int32_t, std::int32_t filter) {
  return enter([=](thread &self) { return static_cast<std::int32_t>(self.number) == filter; },
               as_masked);
}
KMP_API void __kmpc_end_masked(location *, std::int32_t) { end_masked(); }
KMP_API std::int32_t __kmpc_single(location *, std::int32_t) {
  return enter([](thread &self) { return start_single(self); }, as_single);
}
KMP_API void __kmpc_end_single(location *, std::int32_t) { end_watched_work(); }
KMP_API void __kmpc_scope(location *, std::int32_t, void *) {
  report_if_watched([](thread &self, const call_site &at) {
    begin_work(watched_self(self), ompt::work_kind::scope, 1, at.return_address);
  });
}
KMP_API void __kmpc_end_scope(location *, std::int32_t, void *) { end_watched_work(); }
KMP_API void __kmpc_copyprivate(location *where, std::int32_t, std::size_t, void *data,
                                void (*copy)(void *, void *), std::int32_t did_it) {
  const auto give = [=](thread &self) {
    if (did_it)
      self.team->copied.store(data, std::memory_order_release); // O5
  };
  const auto take = [=](thread &self) {
    if (!did_it)
      copy(data, self.team->copied.load(std::memory_order_acquire)); // O5
  };
  const auto plain = [=](thread &self) {
    give(self);
    team_barrier(self);
    take(self);
    team_barrier(self);
  };
  if (thread *const self = self_or_null()) [[likely]]
    return plain(*self);
  enter_slow(
      plain,
      [=](thread &self, const call_site &at, auto) {
        const auto barrier = as_barrier(barrier_kind_of(where));
        const auto wait = [](thread &me) { team_barrier(me); };
        give(self);
        barrier(self, at, wait);
        take(self);
        barrier(self, at, wait);
      },
      this_call());
}

KMP_API void __kmpc_critical(location *, std::int32_t, void *name) { lock_critical(name, 0); }
KMP_API void __kmpc_critical_with_hint(location *, std::int32_t, void *name, std::uint32_t hint) {
  lock_critical(name, hint);
}
KMP_API void __kmpc_end_critical(location *, std::int32_t, void *name) {
  enter([=](thread &self) { word_lock::at(name).unlock(self); },
        as_unlock(ompt::mutex_kind::critical, name));
}

// The members make a reduction one after the other: each combines its own copy under the lock.
KMP_API std::int32_t __kmpc_reduce_nowait(location *, std::int32_t, std::int32_t, std::size_t,
                                          void *, void (*)(void *, void *), void *name) {
  enter([=](thread &self) { word_lock::at(name).lock(self); }, as_reduction_begin);
  return 1;
}
KMP_API void __kmpc_end_reduce_nowait(location *, std::int32_t, void *name) {
  enter([=](thread &self) { word_lock::at(name).unlock(self); },
        [](thread &self, const call_site &at, auto plain) {
          report_reduction(watched_self(self), ompt::endpoint::end, at.return_address);
          plain(self);
        });
}
KMP_API std::int32_t __kmpc_reduce(location *, std::int32_t, std::int32_t, std::size_t, void *,
                                   void (*)(void *, void *), void *name) {
  enter([=](thread &self) { word_lock::at(name).lock(self); }, as_reduction_begin);
  return 1;
}
KMP_API void __kmpc_end_reduce(location *where, std::int32_t, void *name) {
  enter(
      [=](thread &self) {
        word_lock::at(name).unlock(self);
        team_barrier(self);
      },
      [=](thread &self, const call_site &at, auto) {
        report_reduction(watched_self(self), ompt::endpoint::end, at.return_address);
        word_lock::at(name).unlock(self);
        as_barrier(barrier_kind_of(where))(self, at, [](thread &me) { team_barrier(me); });
      });
}
