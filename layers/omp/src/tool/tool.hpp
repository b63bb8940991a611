// SPDX-License-Identifier: Apache-2.0
// The tool that watches this process through OMPT: how it is found, and which callbacks it has set.
// docs/design/ompt.md has the design.
// Bodies: tool.cpp, query.cpp
//
// Roles       Searcher: the first thread that uses OpenMP, which looks for the tool. Caller: a thread
//             with an event. Setter: the tool, which sets callbacks at any time.
// Orders      O1  g_callbacks store release, load acquire: a caller's callback sees what the tool did
//                 before it set it.
//             O2  g_search compare_exchange acq_rel, store release, load acquire: other threads see
//                 what the searcher has found.
// Progress    Wait-free, but for the search: other threads wait until it is over.
// Checked by  weft_omp_ompt_*
#pragma once

#include "thread/hooks.hpp"
#include "tool/ompt.hpp"

#include <atomic>

namespace weft_omp {

/// Ends the tool: no callback comes afterwards.
void finalize_tool() noexcept;

extern std::atomic<ompt::function> g_callbacks[ompt::k_events]
    __attribute__((visibility("hidden")));

/// Returns the tool's callback for an event. Null: it has set none.
template <class Function>
[[nodiscard]] Function callback_for(ompt::event event) noexcept {
  return reinterpret_cast<Function>( // O1
      g_callbacks[static_cast<unsigned>(event)].load(std::memory_order_acquire));
}
/// Calls the tool's callback for an event, if it has set one.
template <class... Arguments>
void report(ompt::event event, Arguments... arguments) {
  if (auto *const f = callback_for<void (*)(Arguments...)>(event))
    f(arguments...);
}

/// Returns the function that a tool asks for by name. Null: there is none of this name.
[[nodiscard]] ompt::function entry_point(const char *name) noexcept;

} // namespace weft_omp
