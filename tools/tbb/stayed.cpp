// SPDX-License-Identifier: Apache-2.0
// Prints, at the end of a program, which TBB the program has loaded after its start, as Python's
// packages do; `weft run` without --tbb does not give Weft's threads to such a one. `weft run`
// preloads this library into interpreters. It needs only libc.
#include <link.h>
#include <stdio.h>
#include <string.h>

namespace {

bool is_tbb(const char *path) noexcept {
  const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
  constexpr char k_stem[] = "libtbb";
  const char after = strncmp(name, k_stem, sizeof k_stem - 1) == 0 ? name[sizeof k_stem - 1] : '\0';
  return (after == '.' || after == '-') && strstr(name, ".so"); // wheels put a hash behind it
}

__attribute__((destructor)) void report() noexcept {
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *) {
        if (info->dlpi_name && is_tbb(info->dlpi_name))
          fprintf(
              stderr,
              "weft: note: this program has loaded %s, which has threads of its own; `weft run --tbb` gives it Weft's\n",
              info->dlpi_name);
        return 0;
      },
      nullptr);
}

} // namespace
