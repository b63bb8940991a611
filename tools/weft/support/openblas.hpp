// SPDX-License-Identifier: Apache-2.0
// Finds copies of OpenBLAS, and reads from their files what Weft can do for them.
#pragma once

#include "tools/weft/commands.hpp"

#include "config/settings.hpp"

namespace weft_tool {

/// Describes a copy by what its file holds; nothing of it is run.
struct openblas_copy {
  std::string file;
  std::string version; ///< "0.3.28"; "" if the file does not say
  bool has_callback = false; ///< it can give its jobs to Weft
  bool uses_openmp = false; ///< its threads are those of an OpenMP runtime
  bool has_threads = false; ///< false: it is built without threads
};

/// Returns the copies of OpenBLAS among the files: those with its name.
///
/// Cost. Reads all of each copy.
[[nodiscard]] std::vector<openblas_copy> openblas_of(const std::vector<std::string> &files);

/// Returns Weft's library that attaches copies as they are loaded, beside this program's folder; ""
/// for none.
[[nodiscard]] std::string blas_library();

/// Returns what limits the copy's jobs, with the values in an environment: "OPENBLAS_NUM_THREADS=4
/// limits it".
[[nodiscard]] std::string limit_of(const openblas_copy &copy,
                                   const std::vector<weft::rt::key_value> &environment);

} // namespace weft_tool
