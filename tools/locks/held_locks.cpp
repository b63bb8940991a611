// SPDX-License-Identifier: Apache-2.0
// Counts the C library's mutexes and read-write locks that a thread holds; std::mutex is one of
// them. Debug builds of libweft.so contain this file; for other builds it is libweft-locks.so,
// which `weft run --locks` preloads. It needs only libc.
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#define COUNTED __attribute__((visibility("default")))

namespace {

__attribute__((tls_model("initial-exec"))) thread_local int t_held = 0;

template <class F>
F *next(F *&cached, const char *name) noexcept {
  F *f = __atomic_load_n(&cached, __ATOMIC_RELAXED);
  if (!f) {
    f = reinterpret_cast<F *>(dlsym(RTLD_NEXT, name));
    __atomic_store_n(&cached, f, __ATOMIC_RELAXED);
  }
  return f;
}

int counted(int result) noexcept {
  if (result == 0)
    ++t_held;
  return result;
}

int released(int result) noexcept {
  if (result == 0 && t_held > 0) // another thread, or another library, may have counted the lock
    --t_held;
  return result;
}

} // namespace

extern "C" {

COUNTED int weft_held_locks() noexcept { return t_held; }
COUNTED void weft_set_held_locks(int held) noexcept { t_held = held; }

#define WEFT_LOCK(name, count, type)                                                               \
  COUNTED int name(type *lock) noexcept {                                                          \
    static int (*real)(type *) = nullptr;                                                          \
    return count(next(real, #name)(lock));                                                         \
  }
WEFT_LOCK(pthread_mutex_lock, counted, pthread_mutex_t)
WEFT_LOCK(pthread_mutex_trylock, counted, pthread_mutex_t)
WEFT_LOCK(pthread_mutex_unlock, released, pthread_mutex_t)
WEFT_LOCK(pthread_rwlock_rdlock, counted, pthread_rwlock_t)
WEFT_LOCK(pthread_rwlock_tryrdlock, counted, pthread_rwlock_t)
WEFT_LOCK(pthread_rwlock_wrlock, counted, pthread_rwlock_t)
WEFT_LOCK(pthread_rwlock_trywrlock, counted, pthread_rwlock_t)
WEFT_LOCK(pthread_rwlock_unlock, released, pthread_rwlock_t)

COUNTED int pthread_mutex_timedlock(pthread_mutex_t *lock, const timespec *until) noexcept {
  static int (*real)(pthread_mutex_t *, const timespec *) = nullptr;
  return counted(next(real, "pthread_mutex_timedlock")(lock, until));
}

COUNTED int pthread_mutex_clocklock(pthread_mutex_t *lock, clockid_t clock,
                                    const timespec *until) noexcept {
  static int (*real)(pthread_mutex_t *, clockid_t, const timespec *) = nullptr;
  return counted(next(real, "pthread_mutex_clocklock")(lock, clock, until));
}

} // extern "C"
