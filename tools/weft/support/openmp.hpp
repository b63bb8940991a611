// SPDX-License-Identifier: Apache-2.0
// OpenMP runtimes that a program loads, and Weft's in their place.
#pragma once

#include "tools/weft/commands.hpp"

namespace weft_tool {

/// What the loader would do with a program.
struct loading {
  bool is_dynamic = false;            ///< false: linked statically, or no program; nothing was tried
  std::string interpreter;            ///< of a script: what runs it, and is looked at in its place
  std::vector<std::string> runtimes;  ///< files of OpenMP runtimes, in the order of loading
  std::vector<std::string> complaints; ///< versions and functions that nobody has
};

/// Of an executable file, with this process's environment. The program is not run.
[[nodiscard]] loading try_loading(const std::string &file);
/// The file that execvp() would run; "" for none.
[[nodiscard]] std::string find_program(const std::string &name);
/// Files of OpenMP runtimes in a process's memory. Throws weft::error where it cannot be read.
[[nodiscard]] std::vector<std::string> mapped_runtimes(long pid);
[[nodiscard]] bool is_openmp_runtime(const std::string &file);

/// Weft's OpenMP library, beside this program's folder; "" for none.
[[nodiscard]] std::string openmp_library();
/// Whether both are one file, whatever names lead there.
[[nodiscard]] bool same_file(const std::string &one, const std::string &other);

/// Puts a library before what a list of the environment names.
void put_first(const char *variable, const std::string &what);
/// For the programs that this process becomes or starts: Weft's library under the usual names, and, `preloaded`, under any.
void use_openmp_library(bool preloaded);

} // namespace weft_tool
