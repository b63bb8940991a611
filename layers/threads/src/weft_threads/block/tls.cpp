// SPDX-License-Identifier: Apache-2.0
// A block is what the loader allocates for a new thread, with the thread descriptor in front of it.
// The library fills in the descriptor as pthread_create() does.
// The library does not guess the offsets in the descriptor: they come from the tables that the C
// library gives to debuggers, from the kernel, and from a probe thread on a stack of known bounds.
// If it does not find one of them, it makes no blocks.
#include "weft_threads/block/tls.hpp"

#include "weft_threads/block/sanitizer.hpp"

#include <weft_common/rseq.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <link.h>
#include <linux/futex.h>
#include <locale.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <asm/prctl.h>
#endif

namespace weft_threads {

#if defined(WEFT_THREADS_MAKES_BLOCKS)
namespace {

/// A field as libthread_db reads it: size in bits, number, offset.
struct field {
  std::uint32_t bits, count, offset;
};

struct layout {
  void *(*allocate)(void *) = nullptr;
  void (*deallocate)(void *, bool) = nullptr;
  void (*init_ctype)() = nullptr;
  void (*run_destructors)() = nullptr; // of thread_local objects
  void (*static_info)(std::size_t *,
                      std::size_t *) = nullptr; // bytes of a block, and its alignment
  std::size_t bytes = 0; // of the descriptor
  std::ptrdiff_t own = 0; // where the C library's own variables are
  std::size_t own_bytes = 0;
  const char *keys = nullptr; // of thread-specific data
  std::size_t key_bytes = 0, key_life = 0, key_destructor = 0;
  std::size_t tid = 0, specific = 0, first_keys = 0, robust = 0, stack = 0, stack_bytes = 0,
              list = 0;
  bool known = false;
};

constexpr std::size_t k_most_own_bytes = 1024;

template <class T>
T &at(void *block, std::size_t offset) noexcept {
  return *reinterpret_cast<T *>(static_cast<char *>(block) + offset);
}

std::size_t find_word(const void *block, std::size_t bytes, std::uintptr_t value) noexcept {
  for (std::size_t o = 0; o + sizeof value <= bytes; o += sizeof value)
    if (at<std::uintptr_t>(const_cast<void *>(block), o) == value)
      return o;
  return 0;
}

struct probe {
  layout *found;
  void *stack;
  std::size_t bytes;
};

/// Finds the stack's bounds in the descriptor. Runs on a thread whose stack the caller knows.
void *look_at_thread(void *p) {
  auto &s = *static_cast<probe *>(p);
  void *const self = thread_pointer();
  s.found->stack = find_word(self, s.found->bytes, reinterpret_cast<std::uintptr_t>(s.stack));
  if (s.found->stack && at<std::uintptr_t>(self, s.found->stack + 8) == s.bytes)
    s.found->stack_bytes = s.found->stack + 8;
  return nullptr;
}

void find_stack_fields(layout &fields) noexcept {
  constexpr std::size_t k_bytes =
      0x2ab000; // a size that nothing else in a descriptor has, and enough for the variables of sanitizers
  void *stack = mmap(nullptr, k_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED)
    return;
  pthread_attr_t a;
  pthread_t t;
  probe p{&fields, stack, k_bytes};
  if (pthread_attr_init(&a) != 0)
    return;
  if (pthread_attr_setstack(&a, stack, k_bytes) == 0 &&
      pthread_create(&t, &a, &look_at_thread, &p) == 0)
    pthread_join(t, nullptr);
  pthread_attr_destroy(&a);
  munmap(stack, k_bytes);
}

bool find_keys(layout &fields) noexcept {
  void *const self = thread_pointer();
  const auto *f = static_cast<const field *>(dlsym(RTLD_DEFAULT, "_thread_db_pthread_specific"));
  if (!f)
    return false;
  fields.specific = f->offset;
  const auto first =
      at<std::uintptr_t>(self, fields.specific) - reinterpret_cast<std::uintptr_t>(self);
  fields.first_keys = first < fields.bytes ? first : 0;
  return fields.first_keys != 0;
}

bool find_robust_list(layout &fields) noexcept {
  char *const self = static_cast<char *>(thread_pointer());
  char *head = nullptr;
  std::size_t bytes = 0;
  if (syscall(SYS_get_robust_list, 0, &head, &bytes) != 0 || head < self ||
      head >= self + fields.bytes)
    return false;
  fields.robust = static_cast<std::size_t>(head - self);
  return true;
}

/// Notes the offset of the C library's variables from the thread pointer. A callback of
/// dl_iterate_phdr.
int note_own_variables(dl_phdr_info *info, std::size_t, void *p) {
  auto &l = *static_cast<layout *>(p);
  bool meant = false;
  const auto mark = reinterpret_cast<std::uintptr_t>(l.init_ctype) - info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    meant |= info->dlpi_phdr[i].p_type == PT_LOAD &&
             mark - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz;
  for (int i = 0; meant && info->dlpi_tls_data && i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_TLS) {
      l.own = static_cast<char *>(info->dlpi_tls_data) - static_cast<char *>(thread_pointer());
      l.own_bytes = info->dlpi_phdr[i].p_memsz;
    }
  return meant;
}

void find_key_destructors(layout &fields) noexcept {
  const auto *keys = static_cast<const char *>(dlsym(RTLD_DEFAULT, "__pthread_keys"));
  const auto *bytes = static_cast<const std::uint32_t *>(
      dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread_key_struct"));
  const auto *destructor =
      static_cast<const field *>(dlsym(RTLD_DEFAULT, "_thread_db_pthread_key_struct_destr"));
  const auto *life =
      static_cast<const field *>(dlsym(RTLD_DEFAULT, "_thread_db_pthread_key_struct_seq"));
  if (!keys || !bytes || !destructor || !life)
    return;
  fields.keys = keys;
  fields.key_bytes = *bytes;
  fields.key_destructor = destructor->offset;
  fields.key_life = life->offset;
}

layout find_layout() noexcept {
  layout l;
  l.allocate = reinterpret_cast<void *(*)(void *)>(dlsym(RTLD_DEFAULT, "_dl_allocate_tls"));
  l.deallocate =
      reinterpret_cast<void (*)(void *, bool)>(dlsym(RTLD_DEFAULT, "_dl_deallocate_tls"));
  l.init_ctype = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "__ctype_init"));
  l.run_destructors = reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "__call_tls_dtors"));
  l.static_info = reinterpret_cast<void (*)(std::size_t *, std::size_t *)>(
      dlsym(RTLD_DEFAULT, "_dl_get_tls_static_info"));
  const auto *bytes =
      static_cast<const std::uint32_t *>(dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread"));
  const auto *tid = static_cast<const field *>(dlsym(RTLD_DEFAULT, "_thread_db_pthread_tid"));
  const auto *list = static_cast<const field *>(dlsym(RTLD_DEFAULT, "_thread_db_pthread_list"));
  if (!l.allocate || !l.init_ctype || !bytes || !tid || !list)
    return l;
  l.list = list->offset;
  l.bytes = *bytes;
  l.tid = tid->offset;
  if (at<pid_t>(thread_pointer(), l.tid) != static_cast<pid_t>(syscall(SYS_gettid)) ||
      !find_keys(l) || !find_robust_list(l))
    return l;
  find_stack_fields(l);
  find_key_destructors(l);
  dl_iterate_phdr(&note_own_variables, &l);
  l.known = l.stack != 0 && l.stack_bytes != 0;
  return l;
}

const layout &known_layout() noexcept {
  static const layout l = find_layout();
  return l;
}

constexpr pid_t k_beyond_kernel = 1 << 23; // PID_MAX_LIMIT is 1 << 22
std::atomic<std::size_t> g_number_at{0}; // the offset in a block, once a block was made

/// Returns a number that no thread of the kernel has. Recursive mutexes tell their owners apart by
/// it.
pid_t next_number() noexcept {
  static std::atomic<pid_t> g_last{k_beyond_kernel};
  return g_last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void leave_rseq(void *block) noexcept {
  constexpr std::uint32_t k_not_registered =
      static_cast<std::uint32_t>(-2); // sched_getcpu() then asks the kernel
  if (weft_common::has_rseq())
    at<std::uint32_t>(weft_common::rseq_of(block), 4) = k_not_registered;
}

/// Fills in the descriptor as pthread_create() does.
void describe_thread(const layout &fields, void *block, void *stack, std::size_t bytes) noexcept {
  void *const self = thread_pointer();
  for (const std::size_t o : k_own_addresses)
    at<void *>(block, o) = block;
  for (std::size_t o : k_header_words)
    at<std::uintptr_t>(block, o) = at<std::uintptr_t>(self, o);
  at<int>(block, k_multiple_threads) = 1;
  at<void *>(block, fields.specific) = static_cast<char *>(block) + fields.first_keys;
  at<void *>(block, fields.robust) = static_cast<char *>(block) + fields.robust;
  at<long>(block, fields.robust + 8) = at<long>(self, fields.robust + 8);
  at<void *>(block, fields.robust - 8) = static_cast<char *>(block) + fields.robust;
  for (const std::size_t o :
       {fields.list,
        fields.list + 8}) // a list of one: fork() takes the caller out of the list of threads
    at<void *>(block, o) = static_cast<char *>(block) + fields.list;
  at<void *>(block, fields.stack) = stack;
  at<std::size_t>(block, fields.stack_bytes) = bytes;
  leave_rseq(block);
  announce_to_sanitizer(block);
}

} // namespace

void prepare_tls_blocks() noexcept { (void)known_layout(); }

void *make_tls_block(void *stack, std::size_t bytes) noexcept {
  const layout &l = known_layout();
  void *const b = l.known ? l.allocate(nullptr) : nullptr;
  if (!b)
    return nullptr;
  at<pid_t>(b, l.tid) = next_number();
  describe_thread(l, b, stack, bytes);
  g_number_at.store(l.tid, std::memory_order_relaxed); // only a thread that has a block uses it
  return b;
}

block_range range_of_block(void *block) noexcept {
  const layout &l = known_layout();
  const std::size_t behind = l.bytes;
  std::size_t bytes = behind, alignment = 0;
  if (l.static_info)
    l.static_info(&bytes, &alignment); // with the descriptor
  return {static_cast<char *>(block) + behind - bytes, bytes};
}

int number_of_block(const void *block) noexcept {
  return at<pid_t>(const_cast<void *>(block), known_layout().tid);
}

bool is_made_block(const void *block) noexcept {
  const std::size_t offset = g_number_at.load(std::memory_order_relaxed);
  return offset != 0 && at<pid_t>(const_cast<void *>(block), offset) > k_beyond_kernel;
}

void *renew_tls_block(void *block, void *stack, std::size_t bytes) noexcept {
  const layout &l = known_layout();
  if (!l.deallocate || l.own_bytes == 0 || l.own_bytes > k_most_own_bytes)
    return make_tls_block(stack, bytes);
  char own[k_most_own_bytes]; // they refer to the allocator's caches
  std::memcpy(own, static_cast<char *>(block) + l.own, l.own_bytes);
  l.deallocate(
      block,
      false); // frees what the block refers to: memory for variables of libraries loaded later
  if (!l.allocate(block))
    return nullptr;
  std::memcpy(static_cast<char *>(block) + l.own, own, l.own_bytes);
  describe_thread(l, block, stack, bytes);
  return block;
}

key_state state_of_key(unsigned key) noexcept {
  const layout &l = known_layout();
  if (!l.keys)
    return {};
  // Other threads may make and delete keys meanwhile.
  const char *const at = l.keys + key * l.key_bytes;
  return {
      __atomic_load_n(reinterpret_cast<const std::uintptr_t *>(at + l.key_life), __ATOMIC_RELAXED),
      __atomic_load_n(reinterpret_cast<void (*const *)(void *)>(at + l.key_destructor),
                      __ATOMIC_RELAXED)};
}

void complete_tls_block() noexcept {
  errno = 0;
  uselocale(LC_GLOBAL_LOCALE);
  known_layout().init_ctype();
}

namespace {

/// Destroys the values of pthread_setspecific(). Returns false if there was nothing to destroy.
bool end_specific_data(const layout &fields) noexcept {
  constexpr unsigned k_keys_per_table = 32;
  bool any = false;
  for (unsigned key = 0; key < PTHREAD_KEYS_MAX; ++key) {
    if (key % k_keys_per_table == 0 &&
        !at<void *>(thread_pointer(), fields.specific + key / k_keys_per_table * sizeof(void *))) {
      key += k_keys_per_table - 1;
      continue;
    }
    void *const value = pthread_getspecific(key);
    if (!value)
      continue;
    pthread_setspecific(key, nullptr);
    if (const auto destroy = *reinterpret_cast<void (*const *)(void *)>(
            fields.keys + key * fields.key_bytes + fields.key_destructor)) {
      any = true;
      destroy(value);
    }
  }
  return any;
}

} // namespace

void end_tls_block() noexcept {
  const layout &l = known_layout();
  if (l.run_destructors)
    l.run_destructors();
  for (int round = 0; l.keys && round < PTHREAD_DESTRUCTOR_ITERATIONS && end_specific_data(l);
       ++round) {
  }
}

#else

void prepare_tls_blocks() noexcept {}
void *make_tls_block(void *, std::size_t) noexcept { return nullptr; }
void *renew_tls_block(void *, void *, std::size_t) noexcept { return nullptr; }
block_range range_of_block(void *block) noexcept { return {block, 0}; }
int number_of_block(const void *) noexcept { return 0; }
key_state state_of_key(unsigned) noexcept { return {}; }
bool is_made_block(const void *) noexcept { return false; }
void complete_tls_block() noexcept {}
void end_tls_block() noexcept {}

#endif

} // namespace weft_threads
