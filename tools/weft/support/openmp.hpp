// SPDX-License-Identifier: Apache-2.0
// Finds the OpenMP runtimes that a program loads, and puts Weft's in their place.
#pragma once

#include "tools/weft/commands.hpp"

namespace weft_tool {

/// Holds what the loader would do with a program.
struct loading {
  bool is_dynamic = false; ///< false: linked statically, or no program; nothing was tried
  std::string interpreter; ///< of a script, and examined in its place
  std::string own_loader; ///< that the program asks for; it was not tried, because it could do anything
  std::vector<std::string>
      files; ///< the examined program and its libraries, in the order of loading
  std::vector<std::string> runtimes; ///< those of them that are OpenMP runtimes
  std::vector<std::string> complaints; ///< versions and functions that no library has
};

/// Says which loaders of glibc may be run: any that a program asks for, where that program runs next,
/// or those that root has installed.
enum class loaders { any, of_system };
/// Examines an executable file, with this process's environment, without running it.
[[nodiscard]] loading try_loading(const std::string &file, loaders which);
/// Returns the file that execvp() would run; "" for none.
[[nodiscard]] std::string find_program(const std::string &name);
/// Returns the files of OpenMP runtimes in a process's memory. Throws weft::error where that memory
/// cannot be read.
[[nodiscard]] std::vector<std::string> mapped_runtimes(long pid);
[[nodiscard]] bool is_openmp_runtime(const std::string &file);

/// Returns Weft's OpenMP library, beside this program's folder; "" for none.
[[nodiscard]] std::string openmp_library();
/// Returns whether both names lead to one file.
[[nodiscard]] bool same_file(const std::string &one, const std::string &other);

/// Puts a library at the front of a list in the environment.
void put_first(const char *variable, const std::string &what);
/// Sets the environment of the programs that this process becomes or starts, so that they find
/// Weft's library under the usual names, and, if `preloaded`, under any name.
void use_openmp_library(bool preloaded);

} // namespace weft_tool
