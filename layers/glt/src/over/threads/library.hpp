// SPDX-License-Identifier: Apache-2.0
// POSIX threads: a kernel thread for each ULT. It is there on every machine, so the tests of the
// folder above can run. The number of a GLT thread is the one that the ULT was created for.
#pragma once

#include <atomic>
#include <mutex>
#include <new>
#include <semaphore>
#include <system_error>
#include <thread>

namespace weft_glt::library {

constexpr const char *k_name = "POSIX threads";
constexpr bool k_places = true;

struct of_thread {
  int number = 0;
  void *current = nullptr;
};
inline of_thread &self() {
  static thread_local of_thread own;
  return own;
}
inline std::atomic<unsigned> g_next{0};
inline int g_threads = 0;

inline int begin(int threads) { return g_threads = threads; }
inline void end() {}
inline int thread() noexcept { return self().number; }
inline void yield() { std::this_thread::yield(); }
inline void *current() noexcept { return self().current; }
inline void set_current(void *p) { self().current = p; }

using work = std::thread;

inline bool start(work &made, void (*run)(void *), void *p, int number) {
  if (number < 0)
    number = static_cast<int>(g_next.fetch_add(1, std::memory_order_relaxed) %
                              static_cast<unsigned>(g_threads));
  try {
    made = std::thread([run, p, number] {
      self().number = number;
      run(p);
    });
    return true;
  } catch (const std::system_error &) {
    return false;
  }
}
inline bool start_detached(void (*run)(void *), void *p, int number) {
  work w;
  if (!start(w, run, p, number))
    return false;
  w.detach();
  return true;
}
inline void join(work &made) { made.join(); }

using exclusion = std::mutex;

class sleeper {
 public:
  void wait() { m_woken.acquire(); }
  void wake() { m_woken.release(); }

 private:
  std::binary_semaphore m_woken{0};
};

} // namespace weft_glt::library
