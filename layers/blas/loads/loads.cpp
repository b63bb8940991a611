// SPDX-License-Identifier: Apache-2.0
// Attaches copies of OpenBLAS as a program loads them: `weft run` preloads this library.
//
// A program that has loaded a library asks for its functions by dlsym(). This library has that
// function: it looks for new copies, and jumps to the C library's. A jump keeps the return address,
// by which the C library knows the library that asks (RTLD_NEXT, RTLD_DEFAULT).
#include <weft/blas.h>

#include <dlfcn.h>
#include <initializer_list>

namespace {

using find_function = void *(*)(void *handle, const char *name);

/// Set when the libraries below this one are ready. A sanitizer asks for functions before that.
bool g_is_ready = false;

__attribute__((constructor)) void attach_what_is_there() {
  weft_blas_attach_new();
  __atomic_store_n(&g_is_ready, true, __ATOMIC_RELEASE);
}

} // namespace

/// Returns the C library's dlsym(), after a look at what was loaded. Its version is that of
/// x86-64's C library before and since 2.34.
extern "C" __attribute__((visibility("hidden"))) find_function weft_blas_look_and_find() {
  static find_function real = nullptr; // the same in each thread
  find_function found = __atomic_load_n(&real, __ATOMIC_ACQUIRE);
  if (!found) {
    for (const char *version : {"GLIBC_2.34", "GLIBC_2.2.5"})
      if (!found)
        found = reinterpret_cast<find_function>(dlvsym(RTLD_NEXT, "dlsym", version));
    __atomic_store_n(&real, found, __ATOMIC_RELEASE);
  }
  if (__atomic_load_n(&g_is_ready, __ATOMIC_ACQUIRE))
    weft_blas_attach_new();
  return found;
}

asm(R"(
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call weft_blas_look_and_find
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size dlsym, .-dlsym
)");
