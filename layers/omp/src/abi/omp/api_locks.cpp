// SPDX-License-Identifier: Apache-2.0
// omp_*: locks, in these layouts:
// - GCC's omp_lock_t is one word.
// - A nestable lock points to a word, a count and the owning task. LLVM's omp_nest_lock_t has 8
//   bytes, and GCC's 16 since OMP_3.0, of which 8 are used: a program of Clang's that was linked with
//   this library, and not with LLVM's, calls the functions of OMP_3.0.
// - OMP_1.0's nestable lock has 8 bytes and belongs to a thread.
#include "abi/api.hpp"
#include "team/team.hpp"
#include "thread/event.hpp"
#include "tool/enter.hpp"

#include <new>

using namespace weft_omp;

namespace {

struct nest_lock {
  word_lock lock;
  int count;
  relaxed_value<std::uintptr_t> owner; // relaxed: tasks that are not the owner read it, too
};

/// Names the task that runs, as an owner of locks: by its address or, if it stands for a task of
/// Weft's own, by an odd number that no later one has.
std::uintptr_t name_of_task(const thread &self) noexcept {
  return self.task == self.hosted ? 2 * self.number_of_hosted + 1
                                  : reinterpret_cast<std::uintptr_t>(self.task);
}

void clear(nest_lock &lock) noexcept {
  lock.lock.clear();
  lock.count = 0;
  lock.owner = 0;
}

struct old_nest_lock { // the owner is a thread, by number + 1
  word_lock lock;
  relaxed_value<std::uint16_t> owner;
  std::uint16_t count;
};
static_assert(sizeof(old_nest_lock) == 8);

/// Tries to take the lock. A thread that spins with it lets other threads run now and then, because
/// one of them holds the lock.
bool test(word_lock &lock, thread &self) noexcept {
  if (lock.try_lock())
    return true;
  count_failed_test(self);
  return false;
}

/// Says what a thread does if another one holds the lock.
enum class if_held : bool { give_up, wait };

int take(nest_lock &lock, thread &self, if_held then) noexcept {
  const std::uintptr_t me = name_of_task(self);
  if (lock.owner != me) {
    if (then == if_held::wait)
      lock.lock.lock(self);
    else if (!test(lock.lock, self))
      return 0;
    lock.owner = me;
    lock.count = 0;
  }
  return ++lock.count;
}

void give_back(nest_lock &lock, thread &self) noexcept {
  if (--lock.count != 0)
    return;
  lock.owner = 0;
  lock.lock.unlock(self);
}

int take(old_nest_lock &lock, thread &self, if_held then) noexcept {
  const auto me = static_cast<std::uint16_t>(self.gtid + 1);
  if (lock.owner != me) {
    if (then == if_held::wait)
      lock.lock.lock(self);
    else if (!test(lock.lock, self))
      return 0;
    lock.owner = me;
    lock.count = 0;
  }
  return ++lock.count;
}

void give_back(old_nest_lock &lock, thread &self) noexcept {
  if (--lock.count != 0)
    return;
  lock.owner = std::uint16_t{0};
  lock.lock.unlock(self);
}

/// Events of nestable locks. `f(lock)` takes or gives back, and returns how often the task has the
/// lock then; 0: it has not got it, or has given it up.
template <class F>
void set_watched(thread &self, const call_site &at, ompt::mutex_kind kind, const void *lock, F f) {
  watched_thread &me = watched_self(self);
  report_acquire(ompt::event::mutex_acquire, kind, 0, lock, at.return_address);
  int count = 0;
  {
    const state_change change(me, ompt::state::wait_lock, id_of(lock));
    count = f();
  }
  if (count == 1)
    report_mutex(ompt::event::mutex_acquired, kind, lock, at.return_address);
  else if (count > 1)
    report(ompt::event::nest_lock, static_cast<int>(ompt::endpoint::begin), id_of(lock),
           at.return_address);
}

template <class Lock>
[[gnu::always_inline]] inline int take_nested(Lock &lock, if_held then) {
  const ompt::mutex_kind kind =
      then == if_held::wait ? ompt::mutex_kind::nest_lock : ompt::mutex_kind::test_nest_lock;
  return enter([&lock, then](thread &self) { return take(lock, self, then); },
               [=, &lock](thread &self, const call_site &at, auto plain) {
                 int count = 0;
                 set_watched(self, at, kind, &lock, [&] { return count = plain(self); });
                 return count;
               });
}

template <class Lock>
[[gnu::always_inline]] inline void give_nested_back(Lock &lock) {
  enter([&lock](thread &self) { give_back(lock, self); },
        [&lock](thread &self, const call_site &at, auto plain) {
          const bool is_last = lock.count == 1;
          plain(self);
          if (is_last)
            report_mutex(ompt::event::mutex_released, ompt::mutex_kind::nest_lock, &lock,
                         at.return_address);
          else
            report(ompt::event::nest_lock, static_cast<int>(ompt::endpoint::end), id_of(&lock),
                   at.return_address);
        });
}

[[gnu::always_inline]] inline int test_plain(void *lock) {
  return enter([=](thread &self) { return test(word_lock::at(lock), self) ? 1 : 0; },
               [=](thread &self, const call_site &at, auto plain) {
                 constexpr auto kind = ompt::mutex_kind::test_lock;
                 report_acquire(ompt::event::mutex_acquire, kind, 0, lock, at.return_address);
                 const int taken = plain(self);
                 if (taken)
                   report_mutex(ompt::event::mutex_acquired, kind, lock, at.return_address);
                 return taken;
               });
}

[[gnu::always_inline]] inline void report_init(ompt::mutex_kind kind, const void *lock,
                                               unsigned hint = 0) {
  report_if_watched([=](thread &, const call_site &at) {
    report_acquire(ompt::event::lock_init, kind, hint, lock, at.return_address);
  });
}
[[gnu::always_inline]] inline void report_destruction(ompt::mutex_kind kind, const void *lock) {
  report_if_watched([=](thread &, const call_site &at) {
    report_mutex(ompt::event::lock_destroy, kind, lock, at.return_address);
  });
}

[[gnu::always_inline]] inline void init_nested(nest_lock *&lock) {
  lock = new (std::nothrow) nest_lock;
  if (!lock)
    fatal("no memory for a nestable lock");
  clear(*lock);
  report_init(ompt::mutex_kind::nest_lock, lock);
}
[[gnu::always_inline]] inline void destroy_nested(nest_lock *&lock) {
  report_destruction(ompt::mutex_kind::nest_lock, lock);
  delete lock;
  lock = nullptr;
}
/// Returns the lock that a program names.
nest_lock &made(nest_lock *lock) {
  if (!lock)
    fatal("a nestable lock is used before omp_init_nest_lock, or after omp_destroy_nest_lock: "
          "initialise it");
  return *lock;
}

} // namespace

OMP_API void omp_init_lock(void *lock) {
  word_lock::at(lock).clear();
  report_init(ompt::mutex_kind::lock, lock);
}
OMP_API void omp_init_lock_with_hint(void *lock, int hint) {
  word_lock::at(lock).clear();
  report_init(ompt::mutex_kind::lock, lock, static_cast<unsigned>(hint));
}
OMP_API void omp_destroy_lock(void *lock) { report_destruction(ompt::mutex_kind::lock, lock); }
OMP_API void omp_set_lock(void *lock) {
  enter([=](thread &self) { word_lock::at(lock).lock(self); },
        as_lock(ompt::mutex_kind::lock, lock));
}
OMP_API void omp_unset_lock(void *lock) {
  enter([=](thread &self) { word_lock::at(lock).unlock(self); },
        as_unlock(ompt::mutex_kind::lock, lock));
}
OMP_API int omp_test_lock(void *lock) { return test_plain(lock); }

OMP_API void omp_init_nest_lock(nest_lock **lock) { init_nested(*lock); }
OMP_API void omp_init_nest_lock_with_hint(nest_lock **lock, int) { init_nested(*lock); }
OMP_API void omp_destroy_nest_lock(nest_lock **lock) { destroy_nested(*lock); }
OMP_API void omp_set_nest_lock(nest_lock **lock) { take_nested(made(*lock), if_held::wait); }
OMP_API void omp_unset_nest_lock(nest_lock **lock) { give_nested_back(made(*lock)); }
OMP_API int omp_test_nest_lock(nest_lock **lock) {
  return take_nested(made(*lock), if_held::give_up);
}

// ---- the first ABI of GCC ------------------------------------------------------------------------------------------------

#define OLD(NAME) OMP_VERSION(weft_old_##NAME, NAME, OMP_1.0, weft_old1_##NAME)
extern "C" {
[[gnu::used]] void weft_old_omp_init_lock(void *lock) { omp_init_lock(lock); }
[[gnu::used]] void weft_old_omp_destroy_lock(void *lock) { omp_destroy_lock(lock); }
[[gnu::used]] void weft_old_omp_set_lock(void *lock) { omp_set_lock(lock); }
[[gnu::used]] void weft_old_omp_unset_lock(void *lock) { omp_unset_lock(lock); }
[[gnu::used]] int weft_old_omp_test_lock(void *lock) { return omp_test_lock(lock); }
[[gnu::used]] void weft_old_omp_init_nest_lock(old_nest_lock *lock) {
  lock->lock.clear();
  lock->owner = std::uint16_t{0};
  lock->count = 0;
  report_init(ompt::mutex_kind::nest_lock, lock);
}
[[gnu::used]] void weft_old_omp_destroy_nest_lock(old_nest_lock *lock) {
  report_destruction(ompt::mutex_kind::nest_lock, lock);
}
[[gnu::used]] void weft_old_omp_set_nest_lock(old_nest_lock *lock) {
  take_nested(*lock, if_held::wait);
}
[[gnu::used]] void weft_old_omp_unset_nest_lock(old_nest_lock *lock) { give_nested_back(*lock); }
[[gnu::used]] int weft_old_omp_test_nest_lock(old_nest_lock *lock) {
  return take_nested(*lock, if_held::give_up);
}
}
OLD(omp_init_lock);
OLD(omp_destroy_lock);
OLD(omp_set_lock);
OLD(omp_unset_lock);
OLD(omp_test_lock);
OLD(omp_init_nest_lock);
OLD(omp_destroy_nest_lock);
OLD(omp_set_nest_lock);
OLD(omp_unset_nest_lock);
OLD(omp_test_nest_lock);

// Fortran's kinds: a lock is 4 bytes, a nestable one 8.
#define OLD_FORTRAN(NAME) OMP_VERSION(weft_old_##NAME, NAME##_, OMP_1.0, weft_old2_##NAME)
OLD_FORTRAN(omp_init_lock);
OLD_FORTRAN(omp_destroy_lock);
OLD_FORTRAN(omp_set_lock);
OLD_FORTRAN(omp_unset_lock);
OLD_FORTRAN(omp_test_lock);
OLD_FORTRAN(omp_init_nest_lock);
OLD_FORTRAN(omp_destroy_nest_lock);
OLD_FORTRAN(omp_set_nest_lock);
OLD_FORTRAN(omp_unset_nest_lock);
OLD_FORTRAN(omp_test_nest_lock);

OMP_API void omp_init_lock_(void *lock) { omp_init_lock(lock); }
OMP_API void omp_destroy_lock_(void *lock) { omp_destroy_lock(lock); }
OMP_API void omp_set_lock_(void *lock) { omp_set_lock(lock); }
OMP_API void omp_unset_lock_(void *lock) { omp_unset_lock(lock); }
OMP_API int omp_test_lock_(void *lock) { return omp_test_lock(lock); }

// ---- Fortran's, since OMP_3.0 -----------------------------------------------------------------------------------------------

OMP_API void omp_init_lock_with_hint_(void *lock, const int *) { omp_init_lock(lock); }

OMP_API void omp_init_nest_lock_(nest_lock **lock) { init_nested(*lock); }
OMP_API void omp_init_nest_lock_with_hint_(nest_lock **lock, const int *) { init_nested(*lock); }
OMP_API void omp_destroy_nest_lock_(nest_lock **lock) { destroy_nested(*lock); }
OMP_API void omp_set_nest_lock_(nest_lock **lock) { take_nested(made(*lock), if_held::wait); }
OMP_API void omp_unset_nest_lock_(nest_lock **lock) { give_nested_back(made(*lock)); }
OMP_API int omp_test_nest_lock_(nest_lock **lock) {
  return take_nested(made(*lock), if_held::give_up);
}

OMP_VERSION(omp_init_nest_lock_, omp_init_nest_lock, VERSION, weft_llvm_omp_init_nest_lock);
OMP_VERSION(omp_destroy_nest_lock_, omp_destroy_nest_lock, VERSION,
            weft_llvm_omp_destroy_nest_lock);
OMP_VERSION(omp_set_nest_lock_, omp_set_nest_lock, VERSION, weft_llvm_omp_set_nest_lock);
OMP_VERSION(omp_unset_nest_lock_, omp_unset_nest_lock, VERSION, weft_llvm_omp_unset_nest_lock);
OMP_VERSION(omp_test_nest_lock_, omp_test_nest_lock, VERSION, weft_llvm_omp_test_nest_lock);
OMP_ALSO_LLVM(omp_init_lock, OMP_3.0);

OMP_ALSO_LLVM(omp_destroy_lock, OMP_3.0);
OMP_ALSO_LLVM(omp_set_lock, OMP_3.0);
OMP_ALSO_LLVM(omp_unset_lock, OMP_3.0);
OMP_ALSO_LLVM(omp_test_lock, OMP_3.0);
OMP_DEFAULT(omp_init_nest_lock, OMP_3.0);
OMP_DEFAULT(omp_init_lock_, OMP_3.0);
OMP_DEFAULT(omp_init_nest_lock_, OMP_3.0);
OMP_DEFAULT(omp_destroy_nest_lock, OMP_3.0);
OMP_DEFAULT(omp_destroy_lock_, OMP_3.0);
OMP_DEFAULT(omp_destroy_nest_lock_, OMP_3.0);
OMP_DEFAULT(omp_set_nest_lock, OMP_3.0);
OMP_DEFAULT(omp_set_lock_, OMP_3.0);
OMP_DEFAULT(omp_set_nest_lock_, OMP_3.0);
OMP_DEFAULT(omp_unset_nest_lock, OMP_3.0);
OMP_DEFAULT(omp_unset_lock_, OMP_3.0);
OMP_DEFAULT(omp_unset_nest_lock_, OMP_3.0);
OMP_DEFAULT(omp_test_nest_lock, OMP_3.0);
OMP_DEFAULT(omp_test_lock_, OMP_3.0);
OMP_DEFAULT(omp_test_nest_lock_, OMP_3.0);

OMP_VERSION(omp_destroy_lock_, omp_destroy_lock_, VERSION, weft_llvm_omp_destroy_lock_);
OMP_VERSION(omp_destroy_nest_lock_, omp_destroy_nest_lock_, VERSION,
            weft_llvm_omp_destroy_nest_lock_);
OMP_VERSION(omp_init_lock_, omp_init_lock_, VERSION, weft_llvm_omp_init_lock_);
OMP_VERSION(omp_init_nest_lock_, omp_init_nest_lock_, VERSION, weft_llvm_omp_init_nest_lock_);
OMP_VERSION(omp_set_lock_, omp_set_lock_, VERSION, weft_llvm_omp_set_lock_);
OMP_VERSION(omp_set_nest_lock_, omp_set_nest_lock_, VERSION, weft_llvm_omp_set_nest_lock_);
OMP_VERSION(omp_test_lock_, omp_test_lock_, VERSION, weft_llvm_omp_test_lock_);
OMP_VERSION(omp_test_nest_lock_, omp_test_nest_lock_, VERSION, weft_llvm_omp_test_nest_lock_);
OMP_VERSION(omp_unset_lock_, omp_unset_lock_, VERSION, weft_llvm_omp_unset_lock_);
OMP_VERSION(omp_unset_nest_lock_, omp_unset_nest_lock_, VERSION, weft_llvm_omp_unset_nest_lock_);
