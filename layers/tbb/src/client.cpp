// SPDX-License-Identifier: Apache-2.0
#include "client.hpp"

#include <cstring>
#include <dlfcn.h>
#include <typeinfo>

namespace weft_tbb {
namespace {

constexpr int k_first_of_one = 12000; // TBB_runtime_interface_version of oneTBB 2021.1

/// Returns what TBB_runtime_interface_version() of the object file at `address` returns; 0 for none.
int interface_version_at(const void *address) noexcept {
  Dl_info holder, found;
  if (!dladdr(address, &holder) || !holder.dli_fname)
    return 0;
  void *handle = dlopen(holder.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle)
    handle = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD); // the program has no name to ask for
  void *const function = handle ? dlsym(handle, "TBB_runtime_interface_version") : nullptr;
  const bool is_its_own =
      function && dladdr(function, &found) && found.dli_fbase == holder.dli_fbase;
  const int version = is_its_own ? reinterpret_cast<int (*)()>(function)() : 0;
  if (handle)
    dlclose(handle);
  return version;
}

} // namespace

generation generation_of(const void *client) noexcept {
  const void *const *const functions = *static_cast<const void *const *const *>(client);
  if (const auto *const type = static_cast<const std::type_info *>(functions[-1])) {
    if (std::strstr(type->name(), "3tbb8internal"))
      return generation::classic;
    if (std::strstr(type->name(), "3tbb6detail"))
      return generation::one;
  }
  const int version = interface_version_at(functions);
  return version == 0               ? generation::unknown
         : version < k_first_of_one ? generation::classic
                                    : generation::one;
}

} // namespace weft_tbb
