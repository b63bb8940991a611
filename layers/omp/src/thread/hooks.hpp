// SPDX-License-Identifier: Apache-2.0
// What this folder calls and a higher folder supplies at link time.
#pragma once

namespace weft_omp {

struct region_body;
struct thread;

// Supplied by task/.

/// Leaves the records that an ending thread has kept to other threads.
void empty_pool(thread &who) noexcept;
/// In the child of a fork(): forgets the records that threads of the parent have left, among which one
/// may have been changing their list.
void forget_spare_records() noexcept;

// Supplied by tool/, which serves tools that attach through OMPT (docs/design/ompt.md).

/// Says whether a tool watches the process. The first thread that uses OpenMP sets it, before any
/// thread has data of this layer: so a thread is watched for all of its life, or never.
extern constinit bool g_is_watched __attribute__((visibility("hidden")));
/// The same, and true before the search for a tool is over.
extern constinit bool g_may_be_watched __attribute__((visibility("hidden")));

/// Looks for a tool at the first call, as OMP_TOOL and OMP_TOOL_LIBRARIES ask. Returns false while
/// the calling thread does that, in the tool's own code: then the caller keeps nothing.
[[nodiscard, gnu::cold]] bool settle_tool() noexcept;

/// What a thread is to a tool: the first thread of a team, another member, or none of both.
enum class watched_as : unsigned char { initial, member, other };
/// Begins and ends what the tool knows of the calling thread, in a watched process.
void begin_watched(thread &self, watched_as how);
void end_watched(thread &self) noexcept;
/// Runs a member's part of a region, and waits at the region's end, in a watched process.
void run_watched(thread &self, const region_body &body, bool in_workshare);
void wait_watched(thread &self);

} // namespace weft_omp
