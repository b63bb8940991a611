// SPDX-License-Identifier: Apache-2.0
// The store: the counters of this process, their memory and their names.
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

/// Opens a store for a runtime that starts. Never fails: if no file can be shared, the store is
/// memory of this process, and why_private() says why. The caller holds the start lock.
void open_store(const store_options &options);
[[nodiscard]] bool store_is_open() noexcept;
/// Returns why other processes cannot read the counters; empty while they can.
[[nodiscard]] const std::string &why_private() noexcept;
/// Returns a worker's block; memory of this process alone if the segment has no room. The caller
/// holds the start lock.
counter_block &block_of_slot(unsigned id, block_kind kind);
/// Returns a slot's block; null if it has never had one.
[[nodiscard]] counter_block *find_block(unsigned id) noexcept;
[[nodiscard]] process_block &process_counters() noexcept;
[[nodiscard]] segment_header &store_header() noexcept;
[[nodiscard]] segment_request &store_request() noexcept;
[[nodiscard]] settings_mailbox &store_mailbox() noexcept;
/// Notes the size of the files beside the segment, which counts in the list of what killed programs
/// leave.
void note_bytes_beside(std::uint64_t bytes) noexcept;
/// Returns the memory that a reader in this process reads.
[[nodiscard]] const char *store_base() noexcept;
/// Ends the store of a program that ends in order: removes the file, unless it is kept.
void end_store() noexcept;

/// Marks a counter of the library as absent, so that a reader shows why. At any time; one caller at a
/// time.
void mark_absent(const char *name, const char *why) noexcept;

// ---- counters of the user. Any thread, before and after the start; they outlive the store. --------------------------------------------

struct user_counter;
/// Enters a counter into the store; the caller holds the lock of definitions.
void enter_user_counter(user_counter &counter) noexcept;
/// Leaves the parent's store alone, in the child of a fork().
void forget_store_in_child() noexcept;

} // namespace rt
} // namespace weft::inline v0
