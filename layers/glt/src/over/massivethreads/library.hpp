// SPDX-License-Identifier: Apache-2.0
// MassiveThreads. It runs a new thread before its creator goes on, and knows no places: the number of
// a thread that is to run some work is a hint that it does not take.
#pragma once

#include <myth/myth.h>

#include <atomic>
#include <cstddef>

namespace weft_glt::library {

constexpr const char *k_name = "MassiveThreads";
constexpr bool k_places = false;

inline int thread() noexcept { return myth_get_worker_num(); }

inline myth_key_t &key_of_current() {
  static myth_key_t key;
  return key;
}

inline int begin(int threads) {
  myth_globalattr_t attributes;
  myth_globalattr_init(&attributes);
  myth_globalattr_set_n_workers(&attributes, static_cast<std::size_t>(threads));
  myth_init_ex(&attributes);
  myth_globalattr_destroy(&attributes);
  if (myth_key_create(&key_of_current(), nullptr) != 0)
    return 0;
  return myth_get_num_workers();
}
inline void end() { myth_fini(); }
inline void yield() { myth_yield(); }

/// The library ends the program if another thread than its workers asks.
inline void *current() noexcept { return myth_getspecific(key_of_current()); }
inline void set_current(void *p) { myth_setspecific(key_of_current(), p); }

struct work {
  myth_thread_t id = nullptr;
  void (*run)(void *) = nullptr;
  void *p = nullptr;
};
inline void *run_work(void *p) {
  const work &w = *static_cast<work *>(p);
  w.run(w.p);
  return nullptr;
}
/// `made` lasts until the work has ended.
inline bool start(work &made, void (*run)(void *), void *p, int) {
  made.run = run;
  made.p = p;
  return myth_create_ex(&made.id, nullptr, &run_work, &made) == 0;
}
inline bool start_detached(void (*run)(void *), void *p, int) {
  auto *const w = new work{nullptr, run, p};
  myth_thread_t id = nullptr;
  if (myth_create_ex(
          &id, nullptr,
          [](void *at) -> void * {
            const work w = *static_cast<work *>(at);
            delete static_cast<work *>(at);
            w.run(w.p);
            return nullptr;
          },
          w) != 0) {
    delete w;
    return false;
  }
  myth_detach(id);
  return true;
}
inline void join(work &made) { myth_join(made.id, nullptr); }

class exclusion {
 public:
  exclusion() { myth_mutex_init(&m_mutex, nullptr); }
  ~exclusion() { myth_mutex_destroy(&m_mutex); }
  exclusion(const exclusion &) = delete;
  exclusion &operator=(const exclusion &) = delete;
  void lock() { myth_mutex_lock(&m_mutex); }
  [[nodiscard]] bool try_lock() { return myth_mutex_trylock(&m_mutex) == 0; }
  void unlock() { myth_mutex_unlock(&m_mutex); }

 private:
  myth_mutex_t m_mutex;
};

class sleeper {
 public:
  sleeper() { myth_uncond_init(&m_woken); }
  ~sleeper() { myth_uncond_destroy(&m_woken); }
  sleeper(const sleeper &) = delete;
  sleeper &operator=(const sleeper &) = delete;
  void wait() {
    if (m_state.exchange(k_waits, std::memory_order_acq_rel) != k_woken)
      myth_uncond_wait(&m_woken);
  }
  /// The library's signal spins until the waiter is there, so it is called for one that comes.
  void wake() {
    if (m_state.exchange(k_woken, std::memory_order_acq_rel) == k_waits)
      myth_uncond_signal(&m_woken);
  }

 private:
  enum state : int { k_neither, k_waits, k_woken };
  std::atomic<int> m_state{k_neither};
  myth_uncond_t m_woken;
};

} // namespace weft_glt::library
