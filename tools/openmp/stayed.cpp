// SPDX-License-Identifier: Apache-2.0
// Prints, at the end of a program, which OpenMP runtime the program has loaded under an unusual
// name, as Python's packages do; `weft run` without --openmp does not replace such a one. `weft
// run` preloads this library into interpreters. It needs only libc.
#include <initializer_list>
#include <link.h>
#include <stdio.h>
#include <string.h>

namespace {

bool is_another_runtime(const char *path) noexcept {
  const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path;
  if (strstr(path, "/weft-omp/") || !strstr(name, ".so"))
    return false;
  for (const char *runtime : {"libgomp", "libomp", "libiomp5"})
    if (const size_t n = strlen(runtime);
        strncmp(name, runtime, n) == 0 && (name[n] == '.' || name[n] == '-'))
      return true;
  return false;
}

__attribute__((destructor)) void report() noexcept {
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *) {
        if (info->dlpi_name && is_another_runtime(info->dlpi_name))
          fprintf(
              stderr,
              "weft: note: this program has loaded %s, which stays beside Weft; `weft run --openmp` puts Weft in its place\n",
              info->dlpi_name);
        return 0;
      },
      nullptr);
}

} // namespace
