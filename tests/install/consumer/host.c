// SPDX-License-Identifier: Apache-2.0
// host PLUGIN: loads a module, runs it, unloads it while the workers are alive, and exits.
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
  void *plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!plugin) {
    fprintf(stderr, "host: %s\n", dlerror());
    return 2;
  }
  int (*run)(void);
  *(void **)&run = dlsym(plugin, "plugin_run");
  int rc = run ? run() : 3;
  return rc ? rc : dlclose(plugin);
}
