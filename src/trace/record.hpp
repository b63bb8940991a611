// SPDX-License-Identifier: Apache-2.0
// The records of a trace, in memory and on disk: records of 32 bytes in packets of 64 KiB, one
// stream per worker slot. A packet is one of the Common Trace Format 1.8, so what the workers write
// needs no conversion; metadata.cpp describes it to readers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft::inline v0 {
namespace rt {

enum class trace_level : std::uint8_t { off, switches, tasks, graph, runtime };

/// Lists the events: name in traces, level from which it is written, names of the two words in its
/// payload.
///   begin     a body begins;  `outer`: the task on whose frame it runs, `flags`: body_flag
///   end       a body has ended;   at level switch only if it ran on another task's frame, else the
///             worker's next record implies it
///   suspend   the running task leaves its worker: what it waits for (waits_for), and the object, a task by its number
///   idle, busy  the worker has no work; has found some
///   create    a task; its parent (low half of `parent`) and number of accesses (high half), its group
///   access    of the task created before it: address, bytes (low half) and mode (high half)
///   ready     nothing holds the task any more; the task whose end released it, or 0. Common tasks
///             have no such event: the graph contains all there is to know
///   waited    the running task has waited for its children or a group, since the time `since`
///   abandon   a task that was created cannot be entered, and is gone
///   root      the worker adopts a thread; the thread's task
///   counted   at the end: a counter of the worker
///   next      `end` and `begin` in one, of bodies that began on no other frame: the body of
///             `before` (its type in the upper half) ended at the time `ended`, and that of `task`
///             begins
///   create_one  `create` and `access` in one, of a task without a group that names one object of
///               less than
///             16 MiB: `address`; in `rest` the parent (low half), the bytes (24 bits) and the mode
///   replaced  of the kernel's tracepoint sched_switch, with privilege: the thread that got the
///             processor next (0: none), and why the worker lost it, in the kernel's bits (0: by
///             force)
///   decided   a session or a policy has given knobs other values: the type's name says which, `ratio`
///             is the cost of the last trial in thousandths of the default's, 0 where none was made
///   send      an operation to another rank begins, which the type names: `message` (word_of_message)
///             has the ranks and the number of the notification, `size` (size_of_message) bytes and
///             the number of the operation
///   began     the operation of this number, whose record of send came late, began at the time `at`
///   landed    the operation of this number has ended, at the time `at`: the record may come later
///   arrived   a notification or message has come from another rank, at the time `at`
///   awaits    the running task waits for `count` notifications
///   left      the running task is a coroutine, and leaves the worker to wait: the type is the function of
///             that coroutine; `chain` (word_of_left) has the number of coroutines that await it, the
///             function of the first of them, or its own (0 of both: more than k_most_callers), and
///             what it waits for; `object` is the object concerned, of a task its number
///   after     the task, or the result of several futures, is ready no earlier than `before` has ended;
///             `kinds` (after_kind) says what these are
///   given     the running task gives this promise its result; `by`: it, or the task that ended last
///   switched_out, switched_in  of the kernel: the worker's thread lost its processor (by force, or
///                              by
///             waiting), and has one again
#define WEFT_TRACE_EVENTS(X)                                                                       \
  X(begin, switches, outer, flags)                                                                 \
  X(end, switches, flags, unused)                                                                  \
  X(suspend, switches, reason, target)                                                             \
  X(resume, switches, unused, unused2)                                                             \
  X(idle, switches, unused, unused2)                                                               \
  X(busy, switches, unused, unused2)                                                               \
  X(root, switches, slot, unused)                                                                  \
  X(counted, switches, counter, value)                                                             \
  X(create, tasks, parent, group)                                                                  \
  X(abandon, tasks, unused, unused2)                                                               \
  X(access, graph, address, extent)                                                                \
  X(ready, graph, released_by, unused)                                                             \
  X(waited, graph, since, what)                                                                    \
  X(sleep, runtime, unused, unused2)                                                               \
  X(wake, runtime, unused, unused2)                                                                \
  X(held_back, runtime, unused, unused2)                                                           \
  X(switched_out, switches, cpu, preempted)                                                        \
  X(switched_in, switches, cpu, unused)                                                            \
  X(replaced, switches, next_pid, state)                                                           \
  X(next, tasks, before, ended)                                                                    \
  X(create_one, graph, address, rest)                                                              \
  X(decided, switches, ratio, unused)                                                              \
  X(send, tasks, message, size)                                                                    \
  X(landed, tasks, message, at)                                                                    \
  X(arrived, tasks, message, at)                                                                   \
  X(awaits, tasks, message, count)                                                                 \
  X(began, tasks, message, at)                                                                     \
  X(left, switches, chain, object)                                                                 \
  X(after, graph, before, kinds)                                                                   \
  X(given, graph, by, unused)

enum class trace_event : std::uint16_t {
#define X(name, ...) name,
  WEFT_TRACE_EVENTS(X)
#undef X
      limit
};

enum body_flag : std::uint64_t {
  k_round = 1, // of a recorded task: not counted as executed
  k_skipped = 2, // its group was cancelled
  k_again = 4, // the body is to run once more
  k_external = 16, // a thread of a layer runs it
  k_branch = 8, // a join's branch that was taken by another worker: neither created nor counted
};
/// Says of `after` what waits, and for what: a task where a bit is not set. Promises and the results of several
/// futures have numbers among those of tasks.
enum after_kind : std::uint64_t {
  k_is_result = 1, // what waits is a result of several futures
  k_awaits_result = 2, // what it waits for is such a result, or a promise
  k_ends_after = 4, // the task has run: its end, with that result, comes after `before`
};
inline constexpr std::uint64_t k_most_callers = 64; // of a coroutine that leaves
/// Holds the parts of `chain` of `left`: `reason` is a waits_for, `awaited` the type of the task that
/// the coroutine waits for.
struct left_word {
  std::uint8_t callers = 0, reason = 0;
  std::uint16_t first = 0, awaited = 0;
};
[[nodiscard]] constexpr std::uint64_t word_of_left(const left_word &left) noexcept {
  return left.callers | std::uint64_t{left.reason} << 8 | std::uint64_t{left.first} << 16 |
         std::uint64_t{left.awaited} << 32;
}
[[nodiscard]] constexpr left_word left_of_word(std::uint64_t word) noexcept {
  return {static_cast<std::uint8_t>(word), static_cast<std::uint8_t>(word >> 8),
          static_cast<std::uint16_t>(word >> 16), static_cast<std::uint16_t>(word >> 32)};
}
/// Returns whether the type of the record is that of its task.
[[nodiscard]] constexpr bool has_type_of_task(trace_event event) noexcept {
  return event != trace_event::decided && event != trace_event::left &&
         (event < trace_event::send || event > trace_event::began);
}
/// Marks, in `extent` of an access, that siblings are ordered by the bytes that they have in common
/// rather than by first bytes. The low half of `extent` holds the bytes, the byte above it the
/// mode.
inline constexpr std::uint64_t k_by_bytes = std::uint64_t{1} << 40;
[[nodiscard]] inline bool is_of_kernel(trace_event event) noexcept {
  return event == trace_event::switched_out || event == trace_event::switched_in ||
         event == trace_event::replaced;
}
// The parts of `rest` of `create_one`.
inline constexpr std::uint64_t k_one_bytes = std::uint64_t{1} << 24; // fewer
[[nodiscard]] constexpr std::uint64_t rest_of_one(std::uint32_t parent, std::uint64_t bytes,
                                                  std::uint8_t mode) noexcept {
  return parent | bytes << 32 | std::uint64_t{mode} << 56;
}
// The words of messages between ranks: the number of a notification (of `landed`: of the operation) in
// the low half, then the own rank and the other one, of which the last number stands for any.
inline constexpr std::uint32_t k_message_numbers = (1u << 24) - 1; // of operations
inline constexpr std::uint64_t k_message_bytes = (std::uint64_t{1} << 40) - 1;
[[nodiscard]] constexpr std::uint64_t word_of_message(std::uint16_t own, std::uint16_t peer,
                                                      std::uint32_t low) noexcept {
  return low | std::uint64_t{own} << 32 | std::uint64_t{peer} << 48;
}
[[nodiscard]] constexpr std::uint64_t size_of_message(std::uint64_t bytes,
                                                      std::uint32_t number) noexcept {
  return (bytes < k_message_bytes ? bytes : k_message_bytes) |
         std::uint64_t{number & k_message_numbers} << 40;
}
enum creation_flag : std::uint64_t { k_created_for_rounds = std::uint64_t{1} << 63 }; // of `parent`

/// Lists the values that `counted` has, at the end of an orderly run.
enum class counted_value : std::uint64_t { executed, created, reruns, rounds, suspended, limit };

struct trace_record {
  std::uint64_t time; // ticks of the trace's clock
  std::uint16_t event;
  std::uint16_t type; // of the task; 0: unknown
  std::uint32_t task; // 0: none
  std::uint64_t a, b;
};
static_assert(sizeof(trace_record) == 32);

inline constexpr std::uint32_t k_ctf_magic = 0xc1fc1fc1u;

struct packet_header {
  std::uint32_t magic = k_ctf_magic;
  std::uint32_t stream_id = 0;
  unsigned char uuid[16]{};
  std::uint64_t begin = 0, end = 0; // ticks
  std::uint64_t content_bits = 0, packet_bits = 0;
  std::uint64_t number = 0; // of the packet in its stream
  std::uint64_t discarded = 0; // records of the stream, up to the packet's end
  std::uint32_t worker = 0;
  std::uint32_t kind = 0; // 0: of a worker, 1: of the kernel
  std::uint64_t room[2]{};
};
inline constexpr std::size_t k_packet_head = sizeof(packet_header);
static_assert(k_packet_head == 3 * sizeof(trace_record));

inline constexpr std::size_t k_packet_bytes = 64 << 10;
inline constexpr std::size_t k_packet_records =
    (k_packet_bytes - k_packet_head) / sizeof(trace_record);

/// Describes the first page of a ring's file; see ring.hpp.
struct ring_header {
  char magic[8];
  std::uint32_t version, packets;
  std::uint64_t head; // number of the packet that is being filled
  std::uint64_t tail; // packets that have been written to the stream's file
  std::uint64_t used; // records in the packet that is being filled
  std::uint64_t discarded; // records
  std::uint64_t written; // records in closed packets
  // An end that the owner writes with its next record. Read when the owner is dead, like the
  // records.
  std::uint64_t ended; // the time of the end; 0: none
  std::uint64_t ended_task; // the task; its type is in the upper half
};
inline constexpr char k_ring_magic[8] = {'w', 'e', 'f', 't', 'r', 'i', 'n', 'g'};
inline constexpr std::uint32_t k_ring_version = 1;
inline constexpr std::size_t k_ring_head = 4096;

/// Says what names a type: a label, whose text is compared, or a closure, whose address is enough. That
/// of a coroutine's function is its address; the description of the trace has its name.
enum class named_by : std::uint32_t { label, closure, coroutine };
/// Describes a task type: a label, or the name of a closure's type. The table lies in a file of the
/// trace.
struct trace_type {
  std::uint64_t key; // 0: free
  std::uint32_t ready;
  named_by named;
  char name[112];
};
static_assert(sizeof(trace_type) == 128);
inline constexpr std::size_t k_trace_types = 4096;

// Streams that are no worker's: of what is decided, and of the counters at the end.
inline constexpr unsigned k_decisions_slot = 9998, k_counters_slot = 9999;
[[nodiscard]] constexpr bool is_of_worker(unsigned slot) noexcept {
  return slot < k_decisions_slot;
}

} // namespace rt
} // namespace weft::inline v0
