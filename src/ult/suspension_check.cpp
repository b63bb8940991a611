// SPDX-License-Identifier: Apache-2.0
#include "ult/suspension_check.hpp"

#include "arch/sanitizer.hpp"
#include "base/log.hpp"
#include "queue/spin_lock.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <link.h>
#include <mutex>
#include <pthread.h>

/// Returns the number of mutexes that the calling thread has locked and not unlocked.
/// Supplied by libweft-locks.so, or by a debug build.
extern "C" WEFT_API int weft_held_locks() noexcept __attribute__((weak));
extern "C" WEFT_API void weft_set_held_locks(int) noexcept __attribute__((weak));

namespace weft::inline v0 {
namespace rt {

constinit std::atomic<std::uint8_t> g_watch_suspensions{0};
constinit std::atomic<const layer::suspension_calls *> g_suspension_calls{nullptr};

namespace {

#if defined(WEFT_TSAN) || defined(WEFT_ASAN) // their frames are full of thread-local addresses
constexpr bool k_addresses_everywhere = true;
#else
constexpr bool k_addresses_everywhere = false;
#endif

check_kind g_kind = check_kind::off;
const char *(*g_label)() = nullptr;

/// Remembers labels, so that tasks of one label are reported once for each kind of finding.
class reported_labels {
 public:
  bool first(const char *label) noexcept {
    std::lock_guard guard(m_lock);
    for (std::size_t i = 0; i < m_count; ++i)
      if (std::strcmp(m_labels[i], label) == 0)
        return false;
    if (m_count == k_most)
      return false;
    std::strncpy(m_labels[m_count++], label, k_bytes - 1);
    return true;
  }

 private:
  static constexpr std::size_t k_most = 64, k_bytes = 48;
  spin_lock<> m_lock;
  std::size_t m_count = 0;
  char m_labels[k_most][k_bytes]{};
};

reported_labels g_reported_locks, g_reported_addresses;

const char *label() noexcept { return g_label ? g_label() : nullptr; }

void report_locks(int held) noexcept {
  const char *who = label();
  if (!who)
    return; // a thread's own code goes on on that thread
  if (g_kind == check_kind::abort)
    fatal(
        "task '%s' waits while it holds %d std::mutex (or another lock of the C library), which only the thread that locked it "
        "may unlock; unlock it first, or use weft::mutex",
        who, held);
  if (g_reported_locks.first(who))
    warn(
        "task '%s' waits while it holds %d std::mutex (or another lock of the C library), which only the thread that locked it "
        "may unlock; unlock it first, or use weft::mutex",
        who, held);
}

void report_address(const void *address) noexcept {
  const char *who = label();
  if (!who)
    return;
  if (g_kind == check_kind::abort)
    fatal(
        "task '%s' goes on on another thread with the address %p of errno or of a thread_local variable of the thread that it "
        "left; read such variables in functions that do not wait, or use weft::task_local",
        who, address);
  if (g_reported_addresses.first(who))
    warn(
        "task '%s' goes on on another thread with the address %p of errno or of a thread_local variable of the thread that it "
        "left; read such variables in functions that do not wait, or use weft::task_local",
        who, address);
}

struct range {
  std::uintptr_t low, end;
};

/// Describes the calling thread's thread-local memory of which programs take addresses: errno, and
/// the blocks of modules which are not the C and C++ libraries.
struct thread_memory {
  static constexpr int k_most = 32;
  range blocks[k_most];
  int count = 0;
  [[nodiscard]] bool contains(std::uintptr_t word) const noexcept {
    for (int i = 0; i < count; ++i)
      if (word >= blocks[i].low && word < blocks[i].end)
        return true;
    return false;
  }
};

bool is_system_library(const char *path) noexcept {
  const char *slash = std::strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  for (const char *known : {"libc.", "libc-", "libstdc++.", "libc++", "libgcc_s.", "ld-", "libm.",
                            "libpthread", "libweft"})
    if (std::strncmp(name, known, std::strlen(known)) == 0)
      return true;
  return false;
}

int add_block(dl_phdr_info *info, std::size_t, void *p) {
  auto &m = *static_cast<thread_memory *>(p);
  if (!info->dlpi_tls_data || is_system_library(info->dlpi_name) ||
      m.count == thread_memory::k_most)
    return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_TLS) {
      const auto low = reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data);
      m.blocks[m.count++] = {low, low + info->dlpi_phdr[i].p_memsz};
    }
  return 0;
}

/// Returns an address of `memory` among the words of [low, top), or null. Reads all words, whatever
/// they belong to.
__attribute__((no_sanitize("address"))) const void *
find_address(const char *low, const char *top, const thread_memory &memory) noexcept {
  const auto first = (reinterpret_cast<std::uintptr_t>(low) + sizeof(std::uintptr_t) - 1) &
                     ~(sizeof(std::uintptr_t) - 1);
  for (auto at = first; at + sizeof(std::uintptr_t) <= reinterpret_cast<std::uintptr_t>(top);
       at += sizeof(std::uintptr_t)) {
    const std::uintptr_t word = *reinterpret_cast<const volatile std::uintptr_t *>(at);
    if (memory.contains(word))
      return reinterpret_cast<const void *>(word);
  }
  return nullptr;
}

WEFT_NOINLINE const void *find_address_below(const void *top) noexcept {
  thread_memory memory;
  const auto own_errno = reinterpret_cast<std::uintptr_t>(&errno);
  memory.blocks[memory.count++] = {own_errno, own_errno + 1};
  dl_iterate_phdr(&add_block, &memory);
  // From the caller's frame on: this one holds the blocks' bounds.
  return find_address(static_cast<const char *>(__builtin_frame_address(0)),
                      static_cast<const char *>(top), memory);
}

void set_watch(suspension_watch bit, bool on) noexcept {
  if (on)
    g_watch_suspensions.fetch_or(bit, std::memory_order_relaxed);
  else
    g_watch_suspensions.fetch_and(static_cast<std::uint8_t>(~bit), std::memory_order_relaxed);
}

} // namespace

void check_suspensions(check_kind kind, const char *(*label_of_task)()) noexcept {
#ifdef NDEBUG
  constexpr check_kind automatic = check_kind::off;
#else
  constexpr check_kind automatic = check_kind::warn;
#endif
  g_kind = kind == check_kind::automatic ? automatic : kind;
  g_label = label_of_task;
  set_watch(k_checks_suspensions, g_kind != check_kind::off);
}

void trace_suspensions(bool on) noexcept { set_watch(k_traces_suspensions, on); }

void call_at_suspensions(const layer::suspension_calls &calls) noexcept {
  g_suspension_calls.store(&calls, std::memory_order_release); // O1
  set_watch(k_moves_data, true);
}

void note_suspension(suspension_note &note, const void *top) noexcept {
  note = {nullptr, reinterpret_cast<const void *>(pthread_self()), 0};
  if (weft_held_locks && (note.locks = weft_held_locks()) > 0) {
    if (top)
      report_locks(note.locks);
    weft_set_held_locks(0);
  }
  if (k_addresses_everywhere || !top)
    return;
  __builtin_unwind_init(); // saves the registers that callers count on in this frame
  note.address = find_address_below(top);
}

void check_resumption(const suspension_note &note) noexcept {
  if (weft_set_held_locks && note.locks > 0)
    weft_set_held_locks(note.locks);
  if (note.address && note.thread != reinterpret_cast<const void *>(pthread_self()))
    report_address(note.address);
}

} // namespace rt
} // namespace weft::inline v0
