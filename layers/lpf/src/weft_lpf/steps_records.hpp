// SPDX-License-Identifier: Apache-2.0
// What the records of supersteps and of messages hold (steps.hpp), and how processes write of them to each other.
#pragma once

#include "weft_lpf/steps.hpp"

#include <weft/layer/task.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace weft_lpf {

namespace net = weft::net;

enum letter_kind : std::uint32_t {
  letter_counts,
  letter_beat,
  letter_thanks,
  letter_where,
  letter_here,
  letter_counted
};

constexpr const char *name_of_kind(steps::kind what) {
  switch (what) {
  case steps::kind::put:
    return "talpf_put";
  case steps::kind::get:
    return "talpf_get";
  case steps::kind::fetch_add:
    return "talpf_atomic_fetch_and_add";
  default:
    return "talpf_atomic_cmp_and_swp";
  }
}
/// Returns by what name the program has asked for it.
constexpr const char *called(const steps::request &one) {
  return one.name ? one.name : name_of_kind(one.what);
}
// Names in traces of what has no name of a call. A message behind a get or an atomic operation counts it.
inline constexpr const char *k_name_behind = "talpf_sync end of access";
constexpr const char *name_of_letter(std::uint32_t id) {
  constexpr const char *k_names[] = {"talpf_sync counts", "talpf_sync barrier",
                                     "talpf_sync acknowledgement", "talpf_slot question",
                                     "talpf_slot answer", "lpf_put count"};
  return k_names[id];
}

/// Answers where a slot is.
struct slot_place {
  std::uint64_t slot = 0;
  std::uint64_t is_there = 0;
  std::uint64_t bytes = 0;
  std::uint64_t half = 0; // bytes of a half of a double buffer; 0: it is none
  net::memory_key key;
};

// What a notification carries: the number of the superstep (step_number.hpp), how many parts of the message come besides, and whether it is
// such a part, or follows a get or an atomic operation.
inline constexpr std::uint64_t k_part = std::uint64_t{1} << 63;
inline constexpr std::uint64_t k_behind = std::uint64_t{1} << 62;
inline constexpr std::uint64_t k_most_parts = std::uint64_t{1} << 30;
constexpr std::uint64_t what_of(std::uint32_t sent_step, std::uint64_t parts) {
  return std::uint64_t{sent_step} | parts << 32;
}

template <class T>
std::vector<std::byte> bytes_of(const T &value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}
template <class T>
T value_of(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

inline std::string plural(std::uint64_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// Sets what says why something has failed, for which there may be no memory either.
template <class Text>
void set_reason(std::string &to, Text text) noexcept {
  try {
    to = text();
  } catch (const std::bad_alloc &) {
    to = "no memory"; // which needs none
  }
}

/// Returns what waits here for an end: the running task, whose end it holds back, or nothing.
inline holder holder_of_task() {
  holder made;
  if (weft::layer::who_calls() == weft::layer::caller::task) {
    weft::this_task::increase_events();
    made.task = weft::this_task::self();
    made.is_task = true;
  }
  return made;
}

struct steps::counts_cache {
  bool is_filled = false;
  std::uint64_t step = 0; // whose counts it has
  std::vector<std::uint32_t> counts;
  std::vector<record_ref> waiting;
};

struct steps::record {
  record(std::uint64_t number, unsigned processes, unsigned rounds)
      : step(number), sent(processes), come(processes), expected(processes), thanked(processes),
        awaits_thanks(processes), ended(processes), in(rounds), in_count(rounds) {}

  const std::uint64_t step;
  phase at = phase::open;
  mode how = mode::standard;
  bool has_barrier = false;
  bool is_watched = false; // the transport polls for it
  bool knows = false; // `expected` holds
  std::vector<std::uint32_t> sent, come, expected; // messages, by process
  std::uint64_t counted = 0, all_come = 0; // what the caller expects, and has got
  std::uint64_t issued = 0;
  completion_count<> data, thanks;
  std::vector<bool> thanked, awaits_thanks; // by process
  std::vector<std::uint32_t> ended; // of `sent`, for reports
  holder held;
  // Of the exchange: the count at place i is for the process i places on, at the end from i places before.
  bool exchanges = false;
  std::vector<std::uint32_t> block;
  unsigned round = 0;
  std::vector<std::vector<std::uint32_t>> in; // by round
  std::vector<std::size_t> in_count;
  std::shared_ptr<counts_cache> cache;
  bool fills = false;
  // Of the barrier:
  unsigned beat = 0;
  std::uint64_t beats = 0; // a bit for each that has come
};

struct steps::remote {
  bool is_known = false;
  slot_place where;
  std::vector<own_message *> waiting;
};

/// Is a notification behind a message.
struct tail : net::operation {
  std::shared_ptr<steps> owner;
  std::uint32_t number = 0; // in the trace; 0: none
  bool is_counted = false; // it is a flush that settle() waits for
};

struct steps::own_message {
  struct part : net::operation {
    own_message *whole = nullptr;
  };
  std::shared_ptr<steps> owner;
  request asked;
  std::byte *own = nullptr;
  record_ref in;
  holder held;
  std::uint32_t sent_step = 0; // the number of its superstep in messages
  std::uint32_t number = 0; // in the trace; 0: none
  // With the lock:
  bool is_listed = false;
  bool asks = false; // where its slot is
  own_message *next = nullptr, *before = nullptr; // in the list
  own_message *next_failed = nullptr;
  std::unique_ptr<part[]> parts;
  std::atomic<std::size_t> left{0};
  std::atomic<net::outcome> result{net::outcome::done};
  std::string why; // it was not started
};

} // namespace weft_lpf
