// SPDX-License-Identifier: Apache-2.0
// The layout of a segment of counters: header, catalogue, a block of the process, the mailbox of
// settings, a block per worker. It describes itself, so that a reader of another version finds what it knows.
//
// Roles       The owner of a block, one: the worker that is in its slot.
//             The publisher, one at a time by its locks (publish/publish.cpp): writes the block of
//             the process, and `queued` and the hardware counts in the blocks of workers.
//             A reader, in this process or in another: only loads, except that it may store a
//             request for a dump (segment_request), or
//             for a change of a setting (settings_mailbox; tune/mailbox.hpp).
// Word        64 bits, aligned. A count, or a bucket of a histogram, only grows. A level is the
//             value that the publisher saw last. A stopwatch that does not run holds the sum of
//             what it has measured. One that runs holds this sum less the time at which it was
//             started; that is negative, because the clock counts from the start of the machine. So
//             one load gives its value at any moment `now`: w, or w + now if w < 0, or 0 if the sum
//             is negative, too (it was started after `now`).
// Invariants  I1  Each word of a block has one writer at a time; a slot passes from thread to
//                 thread with the start lock of the runtime.
//             I2  What a reader sees of one word is a value that it had. A reader does not read all
//                 words at one moment, so ratios of young counts may be off by the counts of a few
//                 microseconds.
// Orders      O1  number of entries or of blocks, or the state of the program, release, with
//                 readers' acquire: the entries and blocks that it counts, or the end time, are
//                 written. So for the pointers to the store and to a slot's block, and for `absent`
//                 of an entry. All else is relaxed, but for segment_request (see diagnose/hang.cpp)
//                 and the tables of types (type_times.hpp).
// Progress    Wait-free, one store per count.
// Reclamation Mapped until the process ends; an orderly end removes the file (counters.keep).
// Source      Own. Designs with values of several words keep a generation, so that a reader detects
//             a torn value; here no value takes two words.
// Checked by  tests/unit/observe: another process reads a running and a killed program.
#pragma once

#include "arch/owner_add.hpp"
#include "observe/type_times.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

inline constexpr char k_segment_magic[8] = {'w', 'e', 'f', 't', 'c', 'n', 't', '\n'};
inline constexpr std::uint32_t k_segment_version = 1;
inline constexpr unsigned k_user_counters = 64;
inline constexpr unsigned k_duration_buckets = 144; // four per power of two, from 16 ns to 2^40 ns

enum class counter_kind : std::uint8_t { count, stopwatch, level, histogram };
enum class counter_scope : std::uint8_t { worker, process, both };
enum class block_kind : std::uint64_t { none, worker, thread, spare };
enum class segment_state : std::uint32_t { starting, running, ended };

/// Holds the counters of one worker.
struct alignas(128) counter_block {
  std::uint64_t kind = 0; // block_kind
#define WEFT_COUNTER(field, ...) std::uint64_t field = 0;
#include "observe/counters.def"
  std::uint64_t user[k_user_counters]{};
  std::uint64_t durations[k_duration_buckets]{};
  type_times types;
};

/// Returns the tasks that the worker has created. Each is counted once, by whether it had to wait.
[[nodiscard]] inline std::uint64_t created(const counter_block &block) noexcept {
  return peek(block.without_accesses) + peek(block.waited) + peek(block.free_at_once);
}

inline constexpr std::size_t k_block_head =
    32; // what every reader knows of a block: kind, overall, idle, last_seen
static_assert(offsetof(counter_block, last_seen) + 8 == k_block_head);

/// Holds the counters of the process.
struct alignas(128) process_block {
#define WEFT_GAUGE(field, ...) std::uint64_t field = 0;
#include "observe/counters.def"
  std::uint64_t user[k_user_counters]{};
};

/// Describes one line of the catalogue.
struct catalogue_entry {
  char name[96];
  char unit[16];
  char help[128]; // of a counter that is absent: why
  std::uint32_t worker_offset; // in a worker's block
  std::uint32_t process_offset; // in the block of the process
  std::uint32_t words; // 1, or the buckets of a histogram
  counter_kind kind;
  counter_scope scope;
  std::uint8_t absent; // it cannot be counted here
  std::uint8_t padding;
};
static_assert(sizeof(catalogue_entry) == 256);

struct segment_header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t pid;
  std::uint64_t started_ns; // monotonic
  std::uint64_t started_realtime_ns; // since 1970
  std::uint64_t ended_ns; // 0: not in order
  char library[16];
  char program[64];
  std::uint32_t workers;
  std::uint32_t cpus;
  std::uint32_t exact_time; // every task is timed
  std::uint32_t state; // segment_state
  std::uint64_t catalogue_offset;
  std::uint64_t process_offset;
  std::uint64_t block_offset;
  std::uint32_t entry_bytes, entry_limit, entries;
  std::uint32_t process_bytes;
  std::uint32_t block_bytes, block_limit, blocks; // of slots 0..blocks-1
  std::uint32_t missing_blocks; // for which there was no room
  double reference_task_ns; // a task's duration on one worker; 0: not known
  double reference_run_ns; // how long that run took
  std::uint32_t types_offset, type_bytes,
      types; // entries of type_time in a block; 0 in segments of before
  std::uint64_t mailbox_offset; // 0 in segments of before
};

inline constexpr std::uint32_t k_entry_limit = 256;
inline constexpr std::size_t k_header_bytes = 4096;

/// Lies at the end of the header's page. A reader that may write asks for a dump of the live tasks:
/// it stores a number that is not in `answered`. When it finds the number there, the dump is in the
/// file beside the segment (diagnose/last_dump.hpp).
struct segment_request {
  std::uint64_t asked, answered;
};
inline constexpr std::size_t k_request_offset = k_header_bytes - 64;
static_assert(sizeof(segment_header) <= k_request_offset);

/// Takes requests to change settings, and their answers, as text that a zero ends. tune/mailbox.hpp
/// has the protocol.
struct settings_mailbox {
  std::uint64_t asked, answered; // numbers of requests
  std::uint32_t open; // the program answers
  std::uint32_t status; // of the answer: 0, or a number of weft::errc
  char request[1000];
  char reply[15 * 1024];
};
static_assert(sizeof(settings_mailbox) <= 4 * 4096);

[[nodiscard]] inline bool is_running(std::uint64_t stopwatch) noexcept {
  return static_cast<std::int64_t>(stopwatch) < 0;
}
/// Returns the value of a stopwatch at `now`.
[[nodiscard]] inline std::uint64_t elapsed(std::uint64_t stopwatch, std::uint64_t now) noexcept {
  const std::uint64_t sum = is_running(stopwatch) ? stopwatch + now : stopwatch;
  return is_running(sum) ? 0 : sum; // the owner has started the stopwatch after `now`
}

/// Returns the bucket of a duration: the first below 16 ns, the last beyond 2^40 ns.
[[nodiscard]] inline unsigned duration_bucket(std::uint64_t ns) noexcept {
  if (ns < 16)
    return 0;
  const unsigned power = 63u - static_cast<unsigned>(__builtin_clzll(ns));
  const unsigned at = (power - 4) * 4 + static_cast<unsigned>((ns >> (power - 2)) & 3);
  return at < k_duration_buckets ? at : k_duration_buckets - 1;
}
/// Returns the least duration of a bucket.
[[nodiscard]] inline std::uint64_t bucket_floor(unsigned bucket) noexcept {
  return bucket == 0 ? 0 : (std::uint64_t{4 + bucket % 4} << (bucket / 4 + 4)) >> 2;
}

} // namespace rt
} // namespace weft::inline v0
