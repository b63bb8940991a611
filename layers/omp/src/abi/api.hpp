// SPDX-License-Identifier: Apache-2.0
// The functions of <omp.h>, in the versions of both ABIs: programs of GCC bind to the nodes OMP_*, programs of Clang to VERSION.
#pragma once

#define OMP_API extern "C" __attribute__((visibility("default")))
/// One more version of a function: `symbol` at `NODE`. Through an alias, for the assembler gives each symbol one version.
#define OMP_VERSION(FUNCTION, SYMBOL, NODE, ALIAS) asm(".globl " #ALIAS "\n.set " #ALIAS ", " #FUNCTION "\n.symver " #ALIAS ", " #SYMBOL "@" #NODE)
/// What programs get that name no version.
#define OMP_DEFAULT(NAME, NODE) asm(".symver " #NAME ", " #NAME "@@" #NODE ", remove")
/// For both ABIs under the same name. The linker wants to be told both, as soon as it is told one.
#define OMP_ALSO_LLVM(NAME, NODE)                                                                                                                    \
  OMP_DEFAULT(NAME, NODE);                                                                                                                           \
  OMP_VERSION(NAME, NAME, VERSION, weft_llvm_##NAME)
