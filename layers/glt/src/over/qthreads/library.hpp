// SPDX-License-Identifier: Apache-2.0
// Qthreads. A GLT thread is a shepherd with one worker.
#pragma once

#include <qthread/qthread.h>

#include <cstdlib>
#include <string>

namespace weft_glt::library {

constexpr const char *k_name = "Qthreads";
constexpr bool k_places = true;

inline int thread() noexcept {
  const qthread_shepherd_id_t number = qthread_shep();
  return number == NO_SHEPHERD ? 0 : static_cast<int>(number);
}

inline void **place_of_current() noexcept {
  return static_cast<void **>(qthread_get_tasklocal(sizeof(void *)));
}
inline void *current() noexcept {
  void *const *const place = place_of_current();
  return place ? *place : nullptr;
}
inline void set_current(void *p) {
  if (void **const place = place_of_current())
    *place = p;
}

inline int begin(int threads) {
  const std::string count = std::to_string(threads);
  setenv("QTHREAD_NUM_SHEPHERDS", count.c_str(), 1);
  setenv("QTHREAD_NUM_WORKERS_PER_SHEPHERD", "1", 1);
  // The usual stack of 4 KiB is small for a program that was written for other libraries.
  setenv("QTHREAD_STACK_SIZE", "65536", 0);
  if (qthread_initialize() != QTHREAD_SUCCESS)
    return 0;
  set_current(nullptr);
  return static_cast<int>(qthread_num_shepherds());
}
inline void end() { qthread_finalize(); }
inline void yield() { qthread_yield(); }

/// Is full once the work has ended.
struct work {
  aligned_t ended = 0;
};

struct call {
  void (*run)(void *);
  void *p;
};
inline aligned_t run_call(void *p) {
  const call c = *static_cast<call *>(p); // a copy that the library has made
  set_current(nullptr);
  c.run(c.p);
  return 0;
}
inline bool spawn(aligned_t *ended, void (*run)(void *), void *p, int number) {
  const call c{run, p};
  return qthread_spawn(&run_call, &c, sizeof c, ended, 0, nullptr,
                       number < 0 ? NO_SHEPHERD : static_cast<qthread_shepherd_id_t>(number),
                       0) == QTHREAD_SUCCESS;
}
inline bool start(work &made, void (*run)(void *), void *p, int number) {
  return spawn(&made.ended, run, p, number);
}
inline bool start_detached(void (*run)(void *), void *p, int number) {
  return spawn(nullptr, run, p, number);
}
inline void join(work &made) { qthread_readFF(nullptr, &made.ended); }

/// A word that is full while no caller holds it.
class exclusion {
 public:
  exclusion() = default;
  exclusion(const exclusion &) = delete;
  exclusion &operator=(const exclusion &) = delete;
  void lock() { qthread_lock(&m_word); }
  [[nodiscard]] bool try_lock() { return qthread_trylock(&m_word) == QTHREAD_SUCCESS; }
  void unlock() { qthread_unlock(&m_word); }

 private:
  aligned_t m_word = 0;
};

class sleeper {
 public:
  sleeper() { qthread_empty(&m_woken); }
  sleeper(const sleeper &) = delete;
  sleeper &operator=(const sleeper &) = delete;
  void wait() { qthread_readFF(nullptr, &m_woken); }
  void wake() { qthread_fill(&m_woken); }

 private:
  aligned_t m_woken = 0;
};

} // namespace weft_glt::library
