// SPDX-License-Identifier: Apache-2.0
// Finds copies of OpenBLAS, FFTW and C-Blosc2, and reads from their files what Weft can do for them.
#pragma once

#include "tools/weft/commands.hpp"

#include "config/settings.hpp"

namespace weft_tool {

/// Describes a copy by what its file holds; nothing of it is run.
struct openblas_copy {
  std::string file;
  std::string library; ///< "OpenBLAS", "FFTW", "C-Blosc2"
  std::string since; ///< its first version with a threads callback
  std::string version; ///< "0.3.28"; "" if the file does not say
  bool has_callback = false; ///< it can give its jobs to Weft
  bool uses_openmp = false; ///< its threads are those of an OpenMP runtime
  bool has_threads = false; ///< false: it is built without threads
  std::string variable; ///< limits its jobs where nothing else does; "" for none
};

/// Returns the copies of the three libraries among the files: those with their names. The part of
/// FFTW without threads is none.
///
/// Cost. Reads all of each copy.
[[nodiscard]] std::vector<openblas_copy> openblas_of(const std::vector<std::string> &files);

/// Returns Weft's library that attaches copies as they are loaded, beside this program's folder; ""
/// for none.
[[nodiscard]] std::string blas_library();

/// Returns what limits the copy's jobs, with the values in an environment: "OPENBLAS_NUM_THREADS=4
/// limits it"; "" for a library whose program sets the number itself.
[[nodiscard]] std::string limit_of(const openblas_copy &copy,
                                   const std::vector<weft::rt::key_value> &environment);

} // namespace weft_tool
