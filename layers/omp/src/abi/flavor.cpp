// SPDX-License-Identifier: Apache-2.0
#include "abi/flavor.hpp"

#include <cstring>
#include <initializer_list>

#include <link.h>

namespace weft_omp {
namespace {

bool begins_with(const char *text, const char *start) noexcept {
  return std::strncmp(text, start, std::strlen(start)) == 0;
}
bool is_of_gnu_by_name(const char *library) noexcept { return begins_with(library, "libgomp"); }
bool is_of_llvm_by_name(const char *library) noexcept {
  return begins_with(library, "libomp.") || begins_with(library, "libomp-") ||
         begins_with(library, "libiomp5");
}

/// Reads from the loader's tables which libraries an object needs.
struct needs {
  const ElfW(Dyn) * dynamic;
  const char *strings = nullptr;
  const ElfW(Verneed) *versions = nullptr;

  needs(ElfW(Addr) base, const ElfW(Dyn) * d) noexcept : dynamic(d) {
    for (; d->d_tag != DT_NULL; ++d) {
      const ElfW(Addr) at = d->d_un.d_ptr < base
                                ? base + d->d_un.d_ptr
                                : d->d_un.d_ptr; // relocated, if the loader can write there
      if (d->d_tag == DT_STRTAB)
        strings = reinterpret_cast<const char *>(at);
      else if (d->d_tag == DT_VERNEED)
        versions = reinterpret_cast<const ElfW(Verneed) *>(at);
    }
  }

  /// Returns whether the object needs this version of an OpenMP library.
  /// All of LLVM's symbols have one version, which no other runtime has. A program that was linked
  /// with this library needs it by GNU's name.
  [[nodiscard]] bool has_version(const char *version) const noexcept {
    const auto *v = versions;
    while (v) {
      const auto *library = reinterpret_cast<const char *>(v);
      const auto *name = reinterpret_cast<const ElfW(Vernaux) *>(library + v->vn_aux);
      const char *const file = strings + v->vn_file;
      for (unsigned i = 0; (is_of_gnu_by_name(file) || is_of_llvm_by_name(file)) && i < v->vn_cnt;
           ++i) {
        if (std::strcmp(strings + name->vna_name, version) == 0)
          return true;
        name = reinterpret_cast<const ElfW(Vernaux) *>(reinterpret_cast<const char *>(name) +
                                                       name->vna_next);
      }
      v = v->vn_next ? reinterpret_cast<const ElfW(Verneed) *>(library + v->vn_next) : nullptr;
    }
    return false;
  }

  template <class F>
  [[nodiscard]] bool any_library(F suits) const noexcept {
    for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; ++d)
      if (d->d_tag == DT_NEEDED && suits(strings + d->d_un.d_val))
        return true;
    return false;
  }
};

/// Decides the flavor by one object. True: the object has decided it, and the search ends.
bool decide_by_needs(const needs &wanted, abi_flavor &into) noexcept {
  if (!wanted.strings)
    return false;
  if (wanted.has_version("VERSION") || wanted.any_library(is_of_llvm_by_name))
    into = abi_flavor::llvm;
  else if (wanted.any_library(is_of_gnu_by_name))
    into = abi_flavor::gnu;
  else
    return false;
  return true;
}

int look_at(dl_phdr_info *object, std::size_t, void *result) noexcept {
  for (int i = 0; i < object->dlpi_phnum; ++i)
    if (const ElfW(Phdr) &part = object->dlpi_phdr[i]; part.p_type == PT_DYNAMIC)
      return decide_by_needs(needs(object->dlpi_addr, reinterpret_cast<const ElfW(Dyn) *>(
                                                          object->dlpi_addr + part.p_vaddr)),
                             *static_cast<abi_flavor *>(result));
  return 0;
}

} // namespace

abi_flavor program_abi() noexcept {
  static const abi_flavor found = [] {
    abi_flavor f = abi_flavor::gnu;
    dl_iterate_phdr(&look_at, &f);
    return f;
  }();
  return found;
}

} // namespace weft_omp
