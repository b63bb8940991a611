// SPDX-License-Identifier: Apache-2.0
// Macros for the functions of <omp.h>, in the versions of both ABIs: programs of GCC bind to the
// nodes OMP_*, programs of Clang to VERSION.
#pragma once

#define OMP_API extern "C" __attribute__((visibility("default")))
/// Adds one more version of a function: `SYMBOL` at `NODE`.
/// Uses an alias, because the assembler gives each symbol one version.
#define OMP_VERSION(FUNCTION, SYMBOL, NODE, ALIAS)                                                 \
  asm(".globl " #ALIAS "\n.set " #ALIAS ", " #FUNCTION "\n.symver " #ALIAS ", " #SYMBOL "@" #NODE)
/// Defines the version that a program gets which names none.
#define OMP_DEFAULT(NAME, NODE) asm(".symver " #NAME ", " #NAME "@@" #NODE ", remove")
/// Defines the versions for both ABIs, under the same name. If one of the two is given explicitly,
/// the linker needs both.
#define OMP_ALSO_LLVM(NAME, NODE)                                                                  \
  OMP_DEFAULT(NAME, NODE);                                                                         \
  OMP_VERSION(NAME, NAME, VERSION, weft_llvm_##NAME)
