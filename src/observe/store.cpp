// SPDX-License-Identifier: Apache-2.0
#include "observe/store.hpp"

#include "base/clock.hpp"
#include "base/leak.hpp"
#include "base/log.hpp"
#include "observe/segment.hpp"
#include "observe/user_counter.hpp"

#include <weft/version.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <errno.h>
#include <memory>
#include <mutex>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

struct store {
  segment memory;
  bool keep = false;
  std::atomic<counter_block *> *blocks = nullptr; // by slot
  unsigned slots = 0;
  std::atomic<std::uint64_t> own_bytes{0}, beside_bytes{0};
  std::mutex resizing;

  segment_header &header() noexcept { return *reinterpret_cast<segment_header *>(memory.base); }
  process_block &process() noexcept {
    return *reinterpret_cast<process_block *>(memory.base + header().process_offset);
  }
  catalogue_entry *catalogue() noexcept {
    return reinterpret_cast<catalogue_entry *>(memory.base + header().catalogue_offset);
  }
};

std::atomic<store *> g_store{nullptr}; // never freed: threads of the user may count late

store &the_store() noexcept { return *g_store.load(std::memory_order_acquire); } // O1

constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

constexpr std::size_t mailbox_begin() noexcept {
  return round_up(k_header_bytes + sizeof(catalogue_entry) * k_entry_limit + sizeof(process_block),
                  4096);
}
constexpr std::size_t blocks_begin() noexcept {
  return round_up(mailbox_begin() + sizeof(settings_mailbox), 4096);
}

void copy_text(char *to, std::size_t size, const char *from) noexcept {
  std::strncpy(to, from ? from : "", size - 1);
  to[size - 1] = '\0';
}

/// Writes a text that a reader may read meanwhile.
void put_text(char *to, std::size_t size, const char *from) noexcept {
  for (std::size_t i = 0; i + 1 < size; ++i) {
    __atomic_store_n(to + i, *from, __ATOMIC_RELAXED);
    from += *from != '\0';
  }
}

void add_entry(store &target, const char *name, const char *unit, const char *help,
               counter_kind kind, counter_scope scope, std::size_t in_worker,
               std::size_t in_process, std::uint32_t words = 1) noexcept {
  segment_header &h = target.header();
  if (h.entries == h.entry_limit)
    return;
  catalogue_entry &e = target.catalogue()[h.entries];
  copy_text(e.name, sizeof e.name, name);
  copy_text(e.unit, sizeof e.unit, unit);
  copy_text(e.help, sizeof e.help, help);
  e.worker_offset = static_cast<std::uint32_t>(in_worker);
  e.process_offset = static_cast<std::uint32_t>(in_process);
  e.words = words;
  e.kind = kind;
  e.scope = scope;
  __atomic_store_n(&h.entries, h.entries + 1, __ATOMIC_RELEASE); // O1
}

void fill_catalogue(store &target) noexcept {
#define WEFT_COUNTER(field, kind, name, unit, help)                                                \
  add_entry(target, name, unit, help, counter_kind::kind, counter_scope::worker,                   \
            offsetof(counter_block, field), 0);
#define WEFT_GAUGE(field, kind, name, unit, help)                                                  \
  add_entry(target, name, unit, help, counter_kind::kind, counter_scope::process, 0,               \
            offsetof(process_block, field));
#include "observe/counters.def"
  add_entry(target, "/threads/time/duration", "ns",
            "tasks by how long they ran, of those timed that did not wait", counter_kind::histogram,
            counter_scope::worker, offsetof(counter_block, durations), 0, k_duration_buckets);
}

void fill_header(store &target, const store_options &options) noexcept {
  segment_header &h = target.header();
  h.version = k_segment_version;
  h.pid = static_cast<std::uint32_t>(getpid());
  h.started_ns = now_ns();
  timespec real{};
  clock_gettime(CLOCK_REALTIME, &real);
  h.started_realtime_ns = static_cast<std::uint64_t>(real.tv_sec) * 1'000'000'000u +
                          static_cast<std::uint64_t>(real.tv_nsec);
  copy_text(h.library, sizeof h.library, WEFT_VERSION_STRING);
  copy_text(h.program, sizeof h.program, program_invocation_short_name);
  h.workers = options.workers;
  h.cpus = options.cpus;
  h.exact_time = options.exact_time;
  h.catalogue_offset = k_header_bytes;
  h.entry_bytes = sizeof(catalogue_entry);
  h.entry_limit = k_entry_limit;
  h.process_offset = h.catalogue_offset + sizeof(catalogue_entry) * k_entry_limit;
  h.process_bytes = sizeof(process_block);
  h.mailbox_offset = mailbox_begin();
  h.block_offset = blocks_begin();
  h.block_bytes = sizeof(counter_block);
  h.block_limit = options.slots;
  h.types_offset = offsetof(counter_block, types) + offsetof(type_times, entries);
  h.type_bytes = sizeof(type_time);
  h.types = k_type_times;
  fill_catalogue(target);
  std::memcpy(h.magic, k_segment_magic, sizeof h.magic);
  __atomic_store_n(&h.state, static_cast<std::uint32_t>(segment_state::running),
                   __ATOMIC_RELEASE); // O1
}

/// Enters the size in the list. If another thread is entering one, the next call enters this size,
/// too.
void note_size(store &target) noexcept {
  if (const std::unique_lock alone(target.resizing, std::try_to_lock); alone)
    resize_listed(target.memory, target.own_bytes.load(std::memory_order_relaxed) +
                                     target.beside_bytes.load(std::memory_order_relaxed));
}

} // namespace

void open_store(const store_options &options) {
  auto fresh = std::make_unique<store>();
  const std::size_t begin = blocks_begin(), bytes = begin + sizeof(counter_block) * options.slots;
  fresh->memory =
      make_segment(bytes, options.share ? readable_by::others : readable_by::this_program);
  if (fresh->memory.file >= 0 &&
      !fresh->memory.reserve(0, begin + sizeof(counter_block) * options.workers)) {
    std::string trouble = fresh->memory.path + ": " + std::strerror(errno);
    unlink(fresh->memory.path.c_str());
    unmap(fresh->memory);
    fresh->memory = make_segment(bytes, readable_by::this_program);
    fresh->memory.trouble = std::move(trouble);
  }
  if (!options.share)
    fresh->memory.trouble = "counters.share is false";
  if (!fresh->memory.base)
    throw std::bad_alloc();
  fresh->own_bytes = begin + sizeof(counter_block) * options.workers;
  if (fresh->memory.file >= 0)
    list_segment(fresh->memory, fresh->own_bytes);
  fresh->keep = options.keep;
  fresh->slots = options.slots;
  fresh->blocks = new std::atomic<counter_block *>[options.slots] {};
  fill_header(*fresh, options);
  g_store.store(fresh.release(), std::memory_order_release); // O1
  enter_user_counters();
}

bool store_is_open() noexcept { return g_store.load(std::memory_order_acquire) != nullptr; } // O1
const std::string &why_private() noexcept { return the_store().memory.trouble; }
segment_header &store_header() noexcept { return the_store().header(); }
segment_request &store_request() noexcept {
  return *reinterpret_cast<segment_request *>(the_store().memory.base + k_request_offset);
}
settings_mailbox &store_mailbox() noexcept {
  return *reinterpret_cast<settings_mailbox *>(the_store().memory.base + mailbox_begin());
}
const char *store_base() noexcept { return the_store().memory.base; }
process_block &process_counters() noexcept { return the_store().process(); }

counter_block &block_of_slot(unsigned id, block_kind kind) {
  store &s = the_store();
  counter_block *block = s.blocks[id].load(std::memory_order_relaxed);
  if (!block) {
    segment_header &h = s.header();
    const std::size_t at = h.block_offset + sizeof(counter_block) * id;
    if (s.memory.reserve(at, sizeof(counter_block))) {
      // A new segment is zero, as a block is at first. It is not written: readers look at all blocks
      // below the largest number, and workers begin in any order.
      block = std::launder(reinterpret_cast<counter_block *>(s.memory.base + at));
      if (h.blocks <= id)
        __atomic_store_n(&h.blocks, id + 1, __ATOMIC_RELEASE); // O1
      s.own_bytes.store(std::max<std::uint64_t>(s.own_bytes.load(std::memory_order_relaxed),
                                                at + sizeof(counter_block)),
                        std::memory_order_relaxed);
      note_size(s);
    } else {
      block = new counter_block; // other processes do not see it
      __atomic_store_n(&h.missing_blocks, h.missing_blocks + 1, __ATOMIC_RELAXED);
    }
    s.blocks[id].store(block, std::memory_order_release); // O1
  }
  put(block->kind, static_cast<std::uint64_t>(kind));
  return *block;
}

counter_block *find_block(unsigned id) noexcept {
  store *s = g_store.load(std::memory_order_acquire); // O1
  return s && id < s->slots ? s->blocks[id].load(std::memory_order_acquire) : nullptr; // O1
}

void note_bytes_beside(std::uint64_t bytes) noexcept {
  the_store().beside_bytes.store(bytes, std::memory_order_relaxed);
  note_size(the_store());
}

void end_store() noexcept {
  store *s = g_store.load(std::memory_order_acquire); // O1
  if (!s || s->header().pid != static_cast<std::uint32_t>(getpid()))
    return;
  __atomic_store_n(&s->header().ended_ns, now_ns(), __ATOMIC_RELAXED);
  __atomic_store_n(&s->header().state, static_cast<std::uint32_t>(segment_state::ended),
                   __ATOMIC_RELEASE); // O1
  if (s->memory.file >= 0 && !s->keep)
    remove_segment(s->memory);
}

void mark_absent(const char *name, const char *why) noexcept {
  store &s = the_store();
  const std::uint32_t entries = __atomic_load_n(&s.header().entries, __ATOMIC_ACQUIRE); // O1
  for (std::uint32_t i = 0; i < entries; ++i) {
    catalogue_entry &e = s.catalogue()[i];
    if (std::strcmp(e.name, name) != 0)
      continue;
    put_text(e.help, sizeof e.help, why);
    __atomic_store_n(&e.absent, std::uint8_t{1}, __ATOMIC_RELEASE); // O1
  }
}

void enter_user_counter(user_counter &counter) noexcept {
  store *const s = g_store.load(std::memory_order_acquire); // O1
  if (!s || counter.entered_in == s)
    return;
  counter.entered_in = s;
  add_entry(*s, counter.name.c_str(), counter.unit.c_str(), counter.help.c_str(), counter.kind,
            counter_scope::both, offsetof(counter_block, user) + 8 * counter.index,
            offsetof(process_block, user) + 8 * counter.index);
}

void forget_store_in_child() noexcept {
  if (store *s = g_store.load(std::memory_order_relaxed)) {
    if (s->memory.file >= 0)
      close(s->memory.file); // the parent's file: the parent holds its lock
    s->memory.file = -1;
    ignore_leak(s);
  }
  g_store.store(nullptr, std::memory_order_relaxed);
}

} // namespace rt
} // namespace weft::inline v0
