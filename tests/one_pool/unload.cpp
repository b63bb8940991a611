// SPDX-License-Identifier: Apache-2.0
// one_pool_unload FOLDER [PART]: the parts are plug-ins, which come, run inside of each other, and go;
// with a second argument this part alone.
#include "check.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include <dlfcn.h>

namespace {

using one_pool::check;
using one_pool::part;

class plugin {
 public:
  plugin(const std::string &folder, const std::string &stem, int threads,
         std::chrono::milliseconds gone)
      : m_gone(gone), m_file(folder + "/libone_pool_" + stem + ".so"),
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
    std::this_thread::sleep_for(m_gone); // a thread that is still in it meets nothing
    check(!dlopen(m_file.c_str(), RTLD_NOW | RTLD_NOLOAD), m_file + " is unloaded");
  }
  [[nodiscard]] const part *which() const { return m_part; }

 private:
  const std::chrono::milliseconds m_gone;
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
  check(argc == 2 || argc == 3, "the arguments are the folder of the parts, and perhaps one part");
  setenv("ONE_POOL_PLUGINS", "1", 1); // parts/tbb.cpp asks
  std::vector<std::string> stems{
#define PART(stem) #stem,
#include "parts.inc"
#undef PART
  };
  if (argc == 3)
    stems = {argv[2]};
  const int threads = one_pool::setting("ONE_POOL_THREADS", 4);
  const bool is_alone = stems.size() == 1;
  const std::chrono::milliseconds gone(is_alone ? 5 : 0);
  for (int round = 0; round < (is_alone ? 30 : 3); ++round)
    for (const std::string &first : stems)
      for (const std::string &second : stems) {
        const plugin a(argv[1], first, threads, gone);
        one_pool::check_nest({{a.which(), round % 2 == 0}}, 300);
        if (first == second)
          continue;
        const plugin b(argv[1], second, threads, gone);
        run_pair(a.which(), b.which());
        run_pair(b.which(), a.which());
      }
  std::printf("unload with %zu parts: ok\n", stems.size());
}
