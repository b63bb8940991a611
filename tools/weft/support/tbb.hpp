// SPDX-License-Identifier: Apache-2.0
// Finds the TBBs that a program loads or holds, and gives them Weft's threads.
#pragma once

#include "tools/weft/commands.hpp"

namespace weft_tool {

/// Returns whether the bytes of a file contain a text.
[[nodiscard]] bool contains(const std::string &file, std::string_view text);
/// Returns whether a file is a TBB by its name: libtbb.so.12, libtbb-5ed6ca76.so.2; not the
/// libraries beside it, as libtbbmalloc.
[[nodiscard]] bool is_tbb(const std::string &file);
/// Returns whether a file holds a TBB that asks for threads, also one that is linked into it.
///
/// Cost. Reads all of the file.
[[nodiscard]] bool holds_tbb(const std::string &file);
/// Returns whether Weft is linked into a file statically.
///
/// Cost. As holds_tbb().
[[nodiscard]] bool holds_weft(const std::string &file);
/// Returns the files that hold a TBB.
[[nodiscard]] std::vector<std::string> tbbs_of(const std::vector<std::string> &files);
/// Returns the files of programs and libraries in a process's memory. Throws weft::error where that
/// memory cannot be read.
[[nodiscard]] std::vector<std::string> mapped_files(long pid);

/// Returns Weft's library for TBB, beside this program's folder; "" for none.
[[nodiscard]] std::string tbb_library();
/// Returns whether a file is that library, of this build or of another.
[[nodiscard]] bool is_weft_tbb(const std::string &file);
/// Sets the environment of the programs that this process becomes or starts, so that each TBB takes
/// its threads from Weft. `with_budget`: and asks Weft how many its arenas may have.
void use_tbb_library(bool with_budget);

} // namespace weft_tool
