// SPDX-License-Identifier: Apache-2.0
// The counters of this process: where they are kept, and what they are called.
#pragma once

#include "observe/layout.hpp"

#include <string>

namespace weft::inline v0 {
namespace rt {

struct store_options {
  unsigned workers = 0;
  unsigned cpus = 0;
  unsigned slots = 0;
  bool share = true; // other processes may read
  bool keep = false; // after an orderly end too
  bool exact_time = false;
};

/// Where a process's segment lies; `pid` of another pid namespace has another number.
[[nodiscard]] std::string segment_path(long pid);

/// A store for a runtime that starts. Never fails: without a place that others can read it is memory of this process, and
/// why_private() says why. With the start lock.
void open_store(const store_options &o);
[[nodiscard]] bool store_is_open() noexcept;
/// Empty while others can read.
[[nodiscard]] const std::string &why_private() noexcept;
/// A worker's block. With the start lock. Memory of this process alone where the segment has no room.
counter_block &block_of_slot(unsigned id, block_kind kind);
/// Null when that slot has never had one.
[[nodiscard]] counter_block *find_block(unsigned id) noexcept;
[[nodiscard]] process_block &process_counters() noexcept;
[[nodiscard]] segment_header &store_header() noexcept;
[[nodiscard]] segment_request &store_request() noexcept;
/// How much lies beside the segment for readers: it counts among what killed programs leave.
void note_bytes_beside(std::uint64_t bytes) noexcept;
/// What a reader of this process looks at.
[[nodiscard]] const char *store_base() noexcept;
/// In order: the file goes, unless it is kept.
void end_store() noexcept;

/// What the library counts by itself cannot be had: a reader is told why.
void mark_absent(const char *name, const char *why) noexcept;

// ---- counters of the user. Any thread, before and after the start; they outlive the store. --------------------------------------------

struct user_counter;
/// Throws weft::error: a bad or a known name, or more than k_user_counters.
user_counter &define_counter(const char *name, const char *unit, const char *help, counter_kind kind, double (*level)(void *) = nullptr,
                             void *context = nullptr);
/// The counts stay.
void withdraw_level(user_counter &c) noexcept;
void add_to(user_counter &c, counter_block *mine, std::uint64_t n) noexcept;
/// Calls the functions of levels; by the publisher.
void publish_user_counters() noexcept;

void store_before_fork();
void store_after_fork() noexcept;
/// The parent's store is left alone.
void forget_store_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
