// SPDX-License-Identifier: Apache-2.0
// one_pool_unload FOLDER: the parts are plug-ins, which come, run inside of each other, and go.
#include "check.hpp"

#include <memory>

#include <dlfcn.h>

namespace {

using one_pool::check;
using one_pool::part;

class plugin {
 public:
  plugin(const std::string &folder, const std::string &stem, int threads)
      : m_file(folder + "/libone_pool_" + stem + ".so"),
        m_handle(dlopen(m_file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    check(m_handle != nullptr, m_file + " can be loaded");
    m_part = static_cast<const part *>(dlsym(m_handle, ("one_pool_" + stem).c_str()));
    check(m_part != nullptr, m_file + " has its part");
    if (m_part->begin)
      m_part->begin(threads);
  }
  plugin(const plugin &) = delete;
  plugin &operator=(const plugin &) = delete;
  ~plugin() {
    if (m_part->end)
      m_part->end();
    dlclose(m_handle);
    check(!dlopen(m_file.c_str(), RTLD_NOW | RTLD_NOLOAD), m_file + " is unloaded");
  }
  [[nodiscard]] const part *which() const { return m_part; }

 private:
  const std::string m_file;
  void *const m_handle;
  const part *m_part = nullptr;
};

void run_pair(const part *outer, const part *inner) {
  for (const bool as_tasks : {false, true})
    one_pool::check_nest({{outer, as_tasks}, {inner, !as_tasks}}, 300);
}

} // namespace

int main(int argc, char **argv) {
  check(argc == 2, "there is one argument, the folder of the parts");
  const std::vector<std::string> stems{
#define PART(stem) #stem,
#include "parts.inc"
#undef PART
  };
  const int threads = one_pool::setting("ONE_POOL_THREADS", 4);
  for (int round = 0; round < 3; ++round)
    for (const std::string &first : stems)
      for (const std::string &second : stems) {
        const plugin a(argv[1], first, threads);
        one_pool::check_nest({{a.which(), round % 2 == 0}}, 300);
        if (first == second)
          continue;
        const plugin b(argv[1], second, threads);
        run_pair(a.which(), b.which());
        run_pair(b.which(), a.which());
      }
  std::printf("unload with %zu parts: ok\n", stems.size());
}
