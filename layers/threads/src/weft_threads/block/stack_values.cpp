// SPDX-License-Identifier: Apache-2.0
// Values of pthread keys that belong to stacks.
//
// A kernel thread holds the values of the stack that it is on, in its own thread-local block. Those
// of other stacks are in a table. Weft calls leaves() and continues() where a kernel thread changes
// its stack. A stack that has ended calls neither: its values stay with the kernel thread until the
// next of the two calls, which puts them into the table. By then the stack may be in use again and
// have left values of that use, which are its own: those that come late are older.
//
// Orders      O1  store release by the thread that enters a key, load acquire by a thread that
//             changes its stack: that thread sees the key of this life.
#include "weft_threads/block/stack_values.hpp"

#include "weft_threads/block/tls.hpp"
#include "weft_threads/block/values_by_stack.hpp"
#include "weft_threads/sync/spin.hpp"

#include <weft/layer/thread.hpp>
#include <weft_threads/light_thread.hpp>

#include <atomic>
#include <climits>
#include <cstdint>
#include <mutex>
#include <new>

#include <dlfcn.h>
#include <pthread.h>

namespace weft_threads {
namespace {

constexpr unsigned k_most_keys = 16; // of all libraries together

/// A key, in one of its lives. Threads read it while another one writes it anew: they then see a
/// key in a life that is over, or the new one.
struct moved_key {
  std::atomic<pthread_key_t> key{0};
  std::atomic<std::uintptr_t> life{0}; // 0: the entry is unused

  [[nodiscard]] bool is_alive(std::uintptr_t word) const noexcept {
    return word != 0 && state_of_key(key.load(std::memory_order_relaxed)).life == word;
  }
};
constinit moved_key g_keys[k_most_keys];
constinit spin_lock g_keys_lock; // of writers

/// The values of one stack.
struct values {
  struct entry {
    pthread_key_t key;
    std::uintptr_t life;
    void *value;
  };
  const void *stack = nullptr;
  values *next = nullptr;
  unsigned count = 0;
  entry all[k_most_keys];

  [[nodiscard]] void *of(pthread_key_t key, std::uintptr_t life) const noexcept {
    for (unsigned i = 0; i < count; ++i)
      if (all[i].key == key && all[i].life == life)
        return all[i].value;
    return nullptr;
  }
};

constinit values_by_stack<values, spin_lock> g_table;

// Of a kernel thread.
constinit thread_local const void *t_stack =
    nullptr; // whose values the thread holds; null: not known
constinit thread_local values *t_unused = nullptr; // one piece of memory for the next call

values *new_values() noexcept {
  values *v = t_unused;
  t_unused = nullptr;
  if (!v)
    v = new (std::nothrow) values;
  if (v)
    v->count = 0;
  return v;
}

void free_values(values *kept) noexcept {
  if (t_unused)
    delete kept;
  else
    t_unused = kept;
}

/// Replaces the values that the kernel thread holds by those of `stack`, and puts them under
/// `left`, as its newest or oldest. If there is no memory, the thread keeps what it holds.
void replace(const void *left, const void *stack, age of_left) noexcept {
  values *const next = g_table.take(stack);
  values *held = nullptr;
  for (const moved_key &k : g_keys) {
    const std::uintptr_t life = k.life.load(std::memory_order_acquire); // O1
    if (!k.is_alive(life))
      continue;
    const pthread_key_t key = k.key.load(std::memory_order_relaxed);
    void *const value = pthread_getspecific(key);
    void *const wanted = next ? next->of(key, life) : nullptr;
    if (value) {
      if (!held && !(held = new_values()))
        break;
      held->all[held->count++] = {key, life, value};
    }
    if (value != wanted)
      pthread_setspecific(key, wanted);
  }
  if (held)
    g_table.put(left, *held, of_left);
  if (next)
    free_values(next);
  t_stack = stack;
}

void leaves(const void *stack, const void *next) noexcept { replace(stack, next, age::newest); }

void continues(const void *stack) noexcept {
  if (t_stack != stack) // a stack has ended, or the thread has not left one before
    replace(t_stack ? t_stack : stack, stack, age::oldest);
}

constexpr weft::layer::suspension_calls k_calls{&leaves, &continues};

/// Enters a key in one of its lives. Returns false if there is no room.
bool enter(pthread_key_t key, std::uintptr_t life) noexcept {
  std::lock_guard lock(g_keys_lock);
  moved_key *room = nullptr;
  for (moved_key &k : g_keys) {
    const std::uintptr_t there = k.life.load(std::memory_order_relaxed);
    if (there == life && k.key.load(std::memory_order_relaxed) == key)
      return true;
    if (!room && !k.is_alive(there))
      room = &k;
  }
  if (!room)
    return false;
  room->life.store(0, std::memory_order_relaxed);
  room->key.store(key, std::memory_order_relaxed);
  room->life.store(life, std::memory_order_release); // O1
  return true;
}

} // namespace

bool keep_values_on_stacks(const void *code) noexcept {
  Dl_info library, holder;
  if (!dladdr(code, &library))
    return false;
  bool any = false;
  for (unsigned key = 0; key < PTHREAD_KEYS_MAX; ++key) {
    const key_state k = state_of_key(key);
    if (k.life % 2 == 1 && k.destructor &&
        dladdr(reinterpret_cast<const void *>(k.destructor), &holder) &&
        holder.dli_fbase == library.dli_fbase)
      any |= enter(key, k.life);
  }
  if (any)
    weft::layer::call_at_suspensions(k_calls);
  return any;
}

void forget_values_of_stacks() noexcept {
  new (&g_table) values_by_stack<values, spin_lock>; // a thread of the parent may have held a lock
  new (&g_keys_lock) spin_lock;
}

} // namespace weft_threads
