// SPDX-License-Identifier: Apache-2.0
// Whose runtime the program was made for: where GNU's and LLVM's differ in what a program or its user can see, each gets what it knows.
#pragma once

namespace weft_omp {

enum class abi_flavor { gnu, llvm };

/// The flavor of the first loaded object that needs one of either by name, in the order of loading; GNU's where none does.
[[nodiscard]] abi_flavor program_abi() noexcept;
[[nodiscard]] inline bool is_of_llvm() noexcept { return program_abi() == abi_flavor::llvm; }

} // namespace weft_omp
