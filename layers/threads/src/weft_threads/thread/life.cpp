// SPDX-License-Identifier: Apache-2.0
// The life of a lightweight thread, and what fork() and exit() do to it.
#include "weft_threads/block/sanitizer.hpp"
#include "weft_threads/block/stack_values.hpp"
#include "weft_threads/kernel/posix.hpp"
#include "weft_threads/kernel/preempt.hpp"
#include "weft_threads/thread/fatal.hpp"
#include "weft_threads/thread/thread_record.hpp"

#include <weft/layer/task.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <utility>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

namespace weft_threads {

constinit thread_local thread_record *t_self = nullptr;
constinit thread_local thread_record *t_of_block = nullptr;

namespace {

std::atomic<bool> g_gone{false}; // Weft cannot be used: see give_up_runtime()

/// Records that no thread uses, the newest first.
struct unused_records {
  spin_lock lock;
  thread_record *newest = nullptr;
};
constinit unused_records g_unused;

/// How many lightweight threads of a kind there are.
struct kind_count {
  std::atomic<const char *> kind{nullptr};
  std::atomic<std::size_t> threads{0};
};
constexpr unsigned k_kinds = 16;
constinit kind_count g_kinds[k_kinds];

/// Functions that doors have given, which are never taken back.
template <class F>
class given_functions {
 public:
  void add(F *f) noexcept {
    std::lock_guard lock(m_lock);
    if (m_count == k_most)
      fatal("too many doors in one process");
    m_all[m_count] = f;
    m_count = m_count + 1;
  }
  template <class Visit>
  void visit(Visit each) const noexcept {
    for (unsigned i = 0; i < m_count; ++i)
      each(m_all[i]);
  }

 private:
  static constexpr unsigned k_most = 16;
  spin_lock m_lock;
  F *m_all[k_most] = {};
  relaxed_value<unsigned> m_count;
};
constinit given_functions<void()> g_forget;
constinit given_functions<bool()> g_compute;

/// Returns the count of a kind. The last count is of all kinds for which there is no other.
kind_count &count_of(const char *kind) noexcept {
  for (unsigned i = 0; i + 1 < k_kinds; ++i) {
    const char *there = nullptr;
    if (g_kinds[i].kind.compare_exchange_strong(there, kind, std::memory_order_relaxed) ||
        std::strcmp(there, kind) == 0) // a literal, which is there for all
      return g_kinds[i];
  }
  return g_kinds[k_kinds - 1];
}

} // namespace

thread_record *calling_record() noexcept {
  if (thread_record *const t = running_record())
    return t;
  return weft::layer::own_stack().low ? nullptr : t_of_block;
}

bool runtime_is_gone() noexcept {
  return g_gone.load(std::memory_order_relaxed) || weft::layer::is_over();
}
void give_up_runtime() noexcept { g_gone.store(true, std::memory_order_relaxed); }

bool sanitizer_forbids_blocks() noexcept {
  return !k_under_tsan && dlsym(RTLD_DEFAULT, "__tsan_init");
}

thread_record *take_record(record_is wanted) noexcept {
  if (wanted == record_is::any) {
    std::lock_guard lock(g_unused.lock);
    if (thread_record *const t = g_unused.newest) {
      g_unused.newest = t->next_free;
      static_cast<record_state &>(*t) = record_state();
      t->signals.store(0, std::memory_order_relaxed);
      return t;
    }
  }
  void *const memory = std::aligned_alloc(alignof(thread_record), k_record_bytes);
  if (!memory)
    return nullptr;
  ignore_leak(memory);
  return ::new (memory) thread_record;
}

void put_record(thread_record &thread) noexcept {
  std::lock_guard lock(g_unused.lock);
  thread.next_free = g_unused.newest;
  g_unused.newest = &thread;
}

namespace {

/// Puts the kernel thread's block in place when exit() is called on a lightweight thread, because
/// Weft needs it at the end of the process.
void leave_block() {
  if (const thread_record *const t = t_of_block; t && t->block)
    set_thread_pointer(t->carrier);
}

void count_thread(const thread_record &thread, std::size_t by) noexcept {
  if (thread.request.kind)
    count_of(thread.request.kind).threads.fetch_add(by, std::memory_order_relaxed);
}

bool threads_compute() noexcept {
  bool any = false;
  for (const kind_count &k : g_kinds)
    any |= k.threads.load(std::memory_order_relaxed) != 0;
  g_compute.visit([&any](bool (*f)()) { any |= f(); });
  return any;
}

void forget_after_fork() {
  new (&g_unused) unused_records; // a thread of the parent may have held the lock
  forget_values_of_stacks();
  for (kind_count &k : g_kinds)
    k.threads.store(0, std::memory_order_relaxed);
  if (thread_record *const t = calling_record()) {
    t->signals.store(0, std::memory_order_relaxed); // they were sent in the parent
    note_kernel_thread();
    if (t->light) {
      give_up_runtime();
      count_thread(*t, 1);
      leave_mask_to_kernel(*t);
    }
    if (t->is_of_program())
      t->external.tid.store(static_cast<int>(gettid()),
                            std::memory_order_relaxed); // the child has no other thread
  }
  g_forget.visit([](void (*f)()) { f(); });
}

void know_forks() noexcept {
  static const int once = pthread_atfork(nullptr, nullptr, &forget_after_fork);
  (void)once;
}

void register_with_process() {
  static const bool once = [] {
    know_forks();
    note_process_cpus();
    prepare_tls_blocks();
    std::atexit(&leave_block);
    weft::layer::outlive_exit(&threads_compute);
    static constexpr weft::layer::carrier_calls carrier{&is_carried, &park_carried,
                                                          &count_spin_locks};
    weft::layer::park_on_carriers(carrier);
    install_preemption();
    know_masks();
    return true;
  }();
  (void)once;
}

void life_of(void *p) {
  thread_record &t = *static_cast<thread_record *>(p);
  const weft::layer::stack_range stack = weft::layer::own_stack();
  t.carrier = thread_pointer();
  arrive(t);
  t.block = t.block ? renew_tls_block(t.block, stack.low, stack.bytes)
                    : make_tls_block(stack.low, stack.bytes);
  if (!t.block)
    fatal("no thread-local block for a thread: out of memory, or this C library is not known");
  set_thread_pointer(t.block);
  complete_tls_block();
  t.stack_low = reinterpret_cast<std::uintptr_t>(stack.low);
  t.stack_bytes = stack.bytes;
  t_of_block = &t;
  const block_range variables = range_of_block(t.block);
  begin_roots(stack.low, stack.bytes);
  begin_roots(variables.low, variables.bytes);
  t.request.run(t.request.argument);
  end_tls_block(); // as the end of a thread does: destructors may use a runtime
  const bool reusable = !t.end_part || t.end_part(t);
  end_roots(stack.low, stack.bytes);
  end_roots(variables.low, variables.bytes);
  set_thread_pointer(t.carrier);
  count_thread(t, std::size_t{0} - 1);
  if (t.request.ended)
    t.request.ended(t.request.argument);
  if (reusable)
    put_record(t); // the last touch
}

} // namespace

const char *start_in(thread_record &thread, thread_record *creator) noexcept {
  if (sanitizer_forbids_blocks())
    return "the program was built with ThreadSanitizer and Weft was not";
  thread.light = true;
  inherit_requests(thread, creator);
  count_thread(thread, 1);
  const char *failure = nullptr;
  static char reason[256];
  in_core(creator, [&] {
    try {
      (void)weft::layer::
          workers(); // started first, so that Weft's handler of exit() runs after this one's
      register_with_process();
      weft::layer::start_thread(thread.request.stack_bytes, &life_of, &thread, thread.request.runs);
    } catch (const std::exception &e) {
      std::snprintf(reason, sizeof reason, "%s", e.what());
      failure = reason;
    }
  });
  if (failure)
    count_thread(thread, std::size_t{0} - 1);
  return failure;
}

// ---- for doors -----------------------------------------------------------------------------------

thread_record *start_light_thread(const light_thread_request &request,
                                  const char **reason) noexcept {
  constexpr std::size_t k_usual_stack = std::size_t{2} << 20;
  const char *failure = nullptr;
  thread_record *const t = runtime_is_gone() ? nullptr : take_record();
  if (!t) {
    failure = runtime_is_gone() ? "Weft has ended in this process" : "no memory for a thread";
  } else {
    t->request = request;
    if (request.stack_bytes == 0)
      t->request.stack_bytes = k_usual_stack;
    failure = start_in(*t, calling_record());
    if (failure)
      put_record(*t);
  }
  if (reason)
    *reason = failure;
  return failure ? nullptr : t;
}

thread_record *this_light_thread() noexcept {
  thread_record *const t = t_of_block;
  return t && t->light && t->block == thread_pointer() ? t : nullptr;
}

void park_light_thread() noexcept {
  thread_record *const t = this_light_thread();
  if (!t || runtime_is_gone()) // no thread can continue it
    return yield_kernel_thread();
  t->door_parker.wait(*t, 0);
}
void unpark(thread_record &sleeper) noexcept { sleeper.door_parker.signal(calling_record()); }

void yield_light_thread() noexcept {
  if (thread_record *const t = this_light_thread())
    yield_now(*t);
  else
    yield_kernel_thread();
}

void call_in_weft(void (*f)(void *), void *argument) {
  std::exception_ptr thrown; // rethrown with the caller's block in place
  in_core(calling_record(), [&] {
    try {
      f(argument);
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  if (thrown)
    std::rethrow_exception(std::move(thrown));
}

std::size_t light_threads(const char *kind) noexcept {
  for (const kind_count &k : g_kinds)
    if (const char *const there = k.kind.load(std::memory_order_relaxed);
        there && std::strcmp(there, kind) == 0)
      return k.threads.load(std::memory_order_relaxed);
  return 0;
}

void forget_in_child(void (*forget)()) noexcept {
  know_forks();
  g_forget.add(forget);
}
void outlive_exit(bool (*threads_compute)()) noexcept { g_compute.add(threads_compute); }

} // namespace weft_threads
