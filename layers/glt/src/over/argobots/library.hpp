// SPDX-License-Identifier: Apache-2.0
// Argobots. Each stream has a pool of its own for what only it may run, and one from which the
// others take what is left.
#pragma once

#include <abt.h>

#include <cstdlib>
#include <utility>
#include <vector>

namespace weft_glt::library {

constexpr const char *k_name = "Argobots";
constexpr bool k_places = true;

struct streams {
  std::vector<ABT_xstream> all; // the first one is the program's thread
  std::vector<ABT_pool> own, open; // of each stream
};
inline streams &all_streams() {
  static auto *const s = new streams;
  return *s;
}

inline int thread() noexcept {
  int rank = 0;
  return ABT_self_get_xstream_rank(&rank) == ABT_SUCCESS ? rank : 0;
}

inline int begin_scheduler(ABT_sched, ABT_sched_config) { return ABT_SUCCESS; }

/// Runs what the pools have. The stream's own two take turns in going first: in the library's
/// schedulers one that yields would keep the second pool waiting.
inline void run_pools(ABT_sched scheduler) {
  constexpr unsigned k_looks = 64; // for the end of the stream
  int count = 0;
  ABT_sched_get_num_pools(scheduler, &count);
  std::vector<ABT_pool> pools(static_cast<std::size_t>(count));
  ABT_sched_get_pools(scheduler, count, 0, pools.data());
  for (unsigned turn = 0;; ++turn) {
    ABT_thread found = ABT_THREAD_NULL;
    for (std::size_t i = 0; i < pools.size() && found == ABT_THREAD_NULL; ++i)
      ABT_pool_pop_thread(pools[i < 2 ? i ^ turn % 2 : i], &found);
    if (found != ABT_THREAD_NULL)
      ABT_self_schedule(found, ABT_POOL_NULL);
    if (found != ABT_THREAD_NULL && turn % k_looks != 0)
      continue;
    ABT_bool stops = ABT_FALSE;
    ABT_sched_has_to_stop(scheduler, &stops);
    if (stops == ABT_TRUE)
      return;
    ABT_xstream_check_events(scheduler);
  }
}

inline int begin(int threads) {
  // The usual stack of 16 KiB is small for a program that was written for other libraries.
  setenv("ABT_THREAD_STACKSIZE", "65536", 0);
  if (ABT_init(0, nullptr) != ABT_SUCCESS)
    return 0;
  streams &s = all_streams();
  const auto n = static_cast<std::size_t>(threads);
  s = {std::vector<ABT_xstream>(n), std::vector<ABT_pool>(n), std::vector<ABT_pool>(n)};
  // What is open runs in depth: in breadth a tree's nodes would all have their stacks at once.
  const auto make = [](ABT_pool_kind kind, ABT_pool &to) {
    return ABT_pool_create_basic(kind, ABT_POOL_ACCESS_MPMC, ABT_TRUE, &to) == ABT_SUCCESS;
  };
  for (std::size_t i = 0; i < n; ++i)
    if (!make(ABT_POOL_FIFO, s.own[i]) || !make(ABT_POOL_RANDWS, s.open[i]))
      return 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<ABT_pool> pools{s.open[i], s.own[i]};
    for (std::size_t k = 1; k < n; ++k)
      pools.push_back(s.open[(i + k) % n]);
    ABT_sched scheduler = ABT_SCHED_NULL;
    static ABT_sched_def turns{ABT_SCHED_TYPE_ULT, &begin_scheduler, &run_pools, nullptr, nullptr};
    if (ABT_sched_create(&turns, static_cast<int>(pools.size()), pools.data(),
                         ABT_SCHED_CONFIG_NULL, &scheduler) != ABT_SUCCESS)
      return 0;
    const int failed =
        i == 0 ? (ABT_xstream_self(&s.all[0]), ABT_xstream_set_main_sched(s.all[0], scheduler))
               : ABT_xstream_create(scheduler, &s.all[i]);
    if (failed != ABT_SUCCESS)
      return 0;
  }
  return threads;
}

inline void end() {
  streams &s = all_streams();
  for (std::size_t i = 1; i < s.all.size(); ++i) {
    ABT_xstream_join(s.all[i]);
    ABT_xstream_free(&s.all[i]);
  }
  s = {};
  ABT_finalize();
}

inline void yield() { ABT_self_yield(); }

inline ABT_key key_of_current() {
  static const ABT_key key = [] {
    ABT_key made = ABT_KEY_NULL;
    ABT_key_create(nullptr, &made);
    return made;
  }();
  return key;
}
inline void *current() noexcept {
  void *p = nullptr;
  return ABT_self_get_specific(key_of_current(), &p) == ABT_SUCCESS ? p : nullptr;
}
inline void set_current(void *p) { ABT_self_set_specific(key_of_current(), p); }

using work = ABT_thread;

inline ABT_pool pool_for(int number) {
  const streams &s = all_streams();
  return number < 0 ? s.open[static_cast<std::size_t>(thread())]
                    : s.own[static_cast<std::size_t>(number)];
}
inline bool start(work &made, void (*run)(void *), void *p, int number) {
  return ABT_thread_create(pool_for(number), run, p, ABT_THREAD_ATTR_NULL, &made) == ABT_SUCCESS;
}
inline bool start_detached(void (*run)(void *), void *p, int number) {
  return ABT_thread_create(pool_for(number), run, p, ABT_THREAD_ATTR_NULL, nullptr) == ABT_SUCCESS;
}
inline void join(work &made) { ABT_thread_free(&made); }

class exclusion {
 public:
  exclusion() { ABT_mutex_create(&m_mutex); }
  ~exclusion() { ABT_mutex_free(&m_mutex); }
  exclusion(const exclusion &) = delete;
  exclusion &operator=(const exclusion &) = delete;
  void lock() { ABT_mutex_lock(m_mutex); }
  [[nodiscard]] bool try_lock() { return ABT_mutex_trylock(m_mutex) == ABT_SUCCESS; }
  void unlock() { ABT_mutex_unlock(m_mutex); }

 private:
  ABT_mutex m_mutex = ABT_MUTEX_NULL;
};

class sleeper {
 public:
  sleeper() { ABT_eventual_create(0, &m_woken); }
  ~sleeper() { ABT_eventual_free(&m_woken); }
  sleeper(const sleeper &) = delete;
  sleeper &operator=(const sleeper &) = delete;
  void wait() { ABT_eventual_wait(m_woken, nullptr); }
  void wake() { ABT_eventual_set(m_woken, nullptr, 0); }

 private:
  ABT_eventual m_woken = ABT_EVENTUAL_NULL;
};

} // namespace weft_glt::library
