// SPDX-License-Identifier: Apache-2.0
#include "weft_threads/block/sanitizer.hpp"

#if defined(WEFT_THREADS_TSAN)

#include "weft_threads/block/tls.hpp"

#include <cstddef>

#include <link.h>

extern "C" void *__tsan_get_current_fiber();

namespace weft_threads {
namespace {

struct copying {
  const void *fiber;
  char *from, *to; // thread pointers
};

/// Copies those words of a library's thread-local variables that name the fiber, wherever the
/// sanitizer's runtime keeps them. A callback of dl_iterate_phdr.
__attribute__((no_sanitize("thread"))) int copy_words(dl_phdr_info *info, std::size_t, void *p) {
  constexpr std::ptrdiff_t k_most =
      1
      << 20; // below the thread pointer: no library that was loaded at the start has variables further away
  const auto &c = *static_cast<const copying *>(p);
  auto *const variables = static_cast<char *>(info->dlpi_tls_data);
  if (!variables || variables >= c.from || c.from - variables > k_most)
    return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &h = info->dlpi_phdr[i];
    for (std::size_t at = 0; h.p_type == PT_TLS && at + sizeof(void *) <= h.p_memsz;
         at += sizeof(void *))
      if (*reinterpret_cast<void **>(variables + at) == c.fiber)
        *reinterpret_cast<const void **>(c.to + (variables - c.from) + at) = c.fiber;
  }
  return 0;
}

} // namespace

void announce_to_sanitizer(void *block) noexcept {
  copying c{__tsan_get_current_fiber(), static_cast<char *>(thread_pointer()),
            static_cast<char *>(block)};
  dl_iterate_phdr(&copy_words, &c);
}

} // namespace weft_threads

#endif
