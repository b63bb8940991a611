// SPDX-License-Identifier: Apache-2.0
// host LIBRARY...: loads each library, uses it, unloads it, in turn, three times; the workers live on. A
// library has plugin_run(), or is libweft.so itself.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int g_number = 0; // the plugins name the same address

static void *symbol(void *library, const char *name) {
  void *s = dlsym(library, name);
  return s;
}

static int count(void *arg) {
  __atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
  return 0;
}

static int run_libweft(void *library) {
  typedef int (*spawn)(int (*)(void *), const void *, size_t, const void *, size_t, const void *,
                       void *);
  spawn weft_spawn = NULL;
  int (*weft_taskwait)(int *) = NULL;
  *(void **)&weft_spawn = symbol(library, "weft_spawn");
  *(void **)&weft_taskwait = symbol(library, "weft_taskwait");
  if (!weft_spawn || !weft_taskwait)
    return 3;
  int n = 0;
  for (int i = 0; i < 100; ++i)
    if (weft_spawn(count, &n, 0, NULL, 0, NULL, NULL) != 0)
      return 4;
  if (weft_taskwait(NULL) != 0)
    return 5;
  return n == 100 ? 0 : 6;
}

static int use(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "host: %s\n", dlerror());
    return 2;
  }
  int (*plugin_run)(int *) = NULL;
  *(void **)&plugin_run = symbol(library, "plugin_run");
  const int rc = plugin_run ? plugin_run(&g_number) : run_libweft(library);
  if (rc)
    return rc;
  if (dlclose(library) != 0)
    return 7;
  void *still = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  printf("%s\n", still ? "stays" : "unloaded");
  return 0;
}

int main(int argc, char **argv) {
  for (int round = 0; round < 3; ++round)
    for (int i = 1; i < argc; ++i) {
      const int rc = use(argv[i]);
      if (rc)
        return rc;
    }
  return argc > 1 ? 0 : 2;
}
