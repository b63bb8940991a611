// SPDX-License-Identifier: Apache-2.0
#include "mutex.hpp"

#include <thread>

using namespace weft_glt;

namespace {

void lock(const char *call, GLT_mutex handle_of_mutex) noexcept {
  mutex &m = object_of<mutex>(call, number_of(handle_of_mutex));
  in_weft(call, [&] {
    const void *const self = mutex::caller();
    if (m.is_held_by(self)) [[unlikely]]
      misuse(call,
             "the caller holds the mutex already, and would wait for itself; unlock it first");
    m.take_by(self);
  });
}

} // namespace

void glt_mutex_create(GLT_mutex *mutex_to_make) {
  static_cast<void>(new_object<mutex>("glt_mutex_create", mutex_to_make));
}

void glt_mutex_lock(GLT_mutex mutex_to_lock) { lock("glt_mutex_lock", mutex_to_lock); }

// weft::mutex spins before it suspends. A holder that is suspended could not give the mutex up to a
// caller that spins for ever on its worker.
void glt_mutex_spinlock(GLT_mutex mutex_to_lock) { lock("glt_mutex_spinlock", mutex_to_lock); }

int glt_mutex_trylock(GLT_mutex mutex_to_lock) {
  mutex &m = object_of<mutex>("glt_mutex_trylock", number_of(mutex_to_lock));
  return in_weft("glt_mutex_trylock", [&]() -> int {
    if (!m.lock.try_lock())
      return GLT_ERR_MUTEX_LOCKED;
    m.holder.store(mutex::caller(), std::memory_order_relaxed);
    return GLT_SUCCESS;
  });
}

void glt_mutex_unlock(GLT_mutex mutex_to_unlock) {
  mutex &m = object_of<mutex>("glt_mutex_unlock", number_of(mutex_to_unlock));
  in_weft("glt_mutex_unlock", [&] {
    if (!m.is_held_by(mutex::caller())) [[unlikely]]
      misuse("glt_mutex_unlock",
             m.is_held_by(nullptr)
                 ? "no ULT holds the mutex; unlock it once per lock"
                 : "another ULT holds the mutex; let the ULT that has locked it unlock it");
    m.give_up();
  });
}

void glt_mutex_free(GLT_mutex *mutex_to_free) {
  require("glt_mutex_free", mutex_to_free, "mutex");
  mutex &m = object_of<mutex>("glt_mutex_free", number_of(*mutex_to_free));
  if (!m.lock.try_lock())
    misuse("glt_mutex_free", "a ULT holds the mutex; unlock it before it is freed");
  in_weft("glt_mutex_free", [&] { m.lock.unlock(); });
  free_object<mutex>(mutex_to_free);
}
