// SPDX-License-Identifier: Apache-2.0
// The runtime for which the program was compiled. Where GNU's and LLVM's runtimes differ visibly, a
// program and its user get the behaviour of that runtime.
#pragma once

namespace weft_omp {

enum class abi_flavor { gnu, llvm };

/// Returns the flavor of the first loaded object, in the order of loading, that needs one of the
/// two runtimes by name; GNU's if none does.
[[nodiscard]] abi_flavor program_abi() noexcept;
[[nodiscard]] inline bool is_of_llvm() noexcept { return program_abi() == abi_flavor::llvm; }

} // namespace weft_omp
