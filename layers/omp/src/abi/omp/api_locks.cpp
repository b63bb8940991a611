// SPDX-License-Identifier: Apache-2.0
// omp_*: locks, in these layouts:
// - GCC's omp_lock_t is one word.
// - GCC's omp_nest_lock_t is, since OMP_3.0, a word, a count and the owning task.
// - OMP_1.0's nestable lock has 8 bytes and belongs to a thread.
// - LLVM's nestable lock has 8 bytes and points to a nestable lock of OMP_3.0.
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
  relaxed_value<void *> owner; // relaxed: tasks that are not the owner read it, too
};
static_assert(sizeof(nest_lock) == 16);

void clear(nest_lock &l) noexcept {
  l.lock.clear();
  l.count = 0;
  l.owner = nullptr;
}

struct old_nest_lock { // the owner is a thread, by number + 1
  word_lock lock;
  relaxed_value<std::uint16_t> owner;
  std::uint16_t count;
};
static_assert(sizeof(old_nest_lock) == 8);

/// Tries to take the lock. A thread that spins with it lets other threads run now and then, because
/// one of them holds the lock.
bool test(word_lock &l, thread &self) noexcept {
  if (l.try_lock())
    return true;
  count_failed_test(self);
  return false;
}

/// Says what a thread does if another one holds the lock.
enum class if_held : bool { give_up, wait };

int take(nest_lock &l, thread &self, if_held then) noexcept {
  if (l.owner != self.task) {
    if (then == if_held::wait)
      l.lock.lock(self);
    else if (!test(l.lock, self))
      return 0;
    l.owner = self.task;
    l.count = 0;
  }
  return ++l.count;
}

void give_back(nest_lock &l, thread &self) noexcept {
  if (--l.count != 0)
    return;
  l.owner = nullptr;
  l.lock.unlock(self);
}

int take(old_nest_lock &l, thread &self, if_held then) noexcept {
  const auto me = static_cast<std::uint16_t>(self.gtid + 1);
  if (l.owner != me) {
    if (then == if_held::wait)
      l.lock.lock(self);
    else if (!test(l.lock, self))
      return 0;
    l.owner = me;
    l.count = 0;
  }
  return ++l.count;
}

void give_back(old_nest_lock &l, thread &self) noexcept {
  if (--l.count != 0)
    return;
  l.owner = std::uint16_t{0};
  l.lock.unlock(self);
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
[[gnu::always_inline]] inline int take_nested(Lock &l, if_held then) {
  const ompt::mutex_kind kind =
      then == if_held::wait ? ompt::mutex_kind::nest_lock : ompt::mutex_kind::test_nest_lock;
  return enter([&l, then](thread &self) { return take(l, self, then); },
               [=, &l](thread &self, const call_site &at, auto plain) {
                 int count = 0;
                 set_watched(self, at, kind, &l, [&] { return count = plain(self); });
                 return count;
               });
}

template <class Lock>
[[gnu::always_inline]] inline void give_nested_back(Lock &l) {
  enter([&l](thread &self) { give_back(l, self); },
        [&l](thread &self, const call_site &at, auto plain) {
          const bool is_last = l.count == 1;
          plain(self);
          if (is_last)
            report_mutex(ompt::event::mutex_released, ompt::mutex_kind::nest_lock, &l,
                         at.return_address);
          else
            report(ompt::event::nest_lock, static_cast<int>(ompt::endpoint::end), id_of(&l),
                   at.return_address);
        });
}

[[gnu::always_inline]] inline int test_plain(void *l) {
  return enter([=](thread &self) { return test(word_lock::at(l), self) ? 1 : 0; },
               [=](thread &self, const call_site &at, auto plain) {
                 constexpr auto kind = ompt::mutex_kind::test_lock;
                 report_acquire(ompt::event::mutex_acquire, kind, 0, l, at.return_address);
                 const int taken = plain(self);
                 if (taken)
                   report_mutex(ompt::event::mutex_acquired, kind, l, at.return_address);
                 return taken;
               });
}

[[gnu::always_inline]] inline void report_init(ompt::mutex_kind kind, const void *l,
                                               unsigned hint = 0) {
  report_if_watched([=](thread &, const call_site &at) {
    report_acquire(ompt::event::lock_init, kind, hint, l, at.return_address);
  });
}
[[gnu::always_inline]] inline void report_destruction(ompt::mutex_kind kind, const void *l) {
  report_if_watched([=](thread &, const call_site &at) {
    report_mutex(ompt::event::lock_destroy, kind, l, at.return_address);
  });
}

} // namespace

OMP_API void omp_init_lock(void *l) {
  word_lock::at(l).clear();
  report_init(ompt::mutex_kind::lock, l);
}
OMP_API void omp_init_lock_with_hint(void *l, int hint) {
  word_lock::at(l).clear();
  report_init(ompt::mutex_kind::lock, l, static_cast<unsigned>(hint));
}
OMP_API void omp_destroy_lock(void *l) { report_destruction(ompt::mutex_kind::lock, l); }
OMP_API void omp_set_lock(void *l) {
  enter([=](thread &self) { word_lock::at(l).lock(self); }, as_lock(ompt::mutex_kind::lock, l));
}
OMP_API void omp_unset_lock(void *l) {
  enter([=](thread &self) { word_lock::at(l).unlock(self); }, as_unlock(ompt::mutex_kind::lock, l));
}
OMP_API int omp_test_lock(void *l) { return test_plain(l); }

OMP_API void omp_init_nest_lock(nest_lock *l) {
  clear(*l);
  report_init(ompt::mutex_kind::nest_lock, l);
}
OMP_API void omp_init_nest_lock_with_hint(nest_lock *l, int) { omp_init_nest_lock(l); }
OMP_API void omp_destroy_nest_lock(nest_lock *l) {
  report_destruction(ompt::mutex_kind::nest_lock, l);
}
OMP_API void omp_set_nest_lock(nest_lock *l) { take_nested(*l, if_held::wait); }
OMP_API void omp_unset_nest_lock(nest_lock *l) { give_nested_back(*l); }
OMP_API int omp_test_nest_lock(nest_lock *l) { return take_nested(*l, if_held::give_up); }

// ---- the first ABI of GCC ------------------------------------------------------------------------------------------------

#define OLD(NAME) OMP_VERSION(weft_old_##NAME, NAME, OMP_1.0, weft_old1_##NAME)
extern "C" {
[[gnu::used]] void weft_old_omp_init_lock(void *l) { omp_init_lock(l); }
[[gnu::used]] void weft_old_omp_destroy_lock(void *l) { omp_destroy_lock(l); }
[[gnu::used]] void weft_old_omp_set_lock(void *l) { omp_set_lock(l); }
[[gnu::used]] void weft_old_omp_unset_lock(void *l) { omp_unset_lock(l); }
[[gnu::used]] int weft_old_omp_test_lock(void *l) { return omp_test_lock(l); }
[[gnu::used]] void weft_old_omp_init_nest_lock(old_nest_lock *l) {
  l->lock.clear();
  l->owner = std::uint16_t{0};
  l->count = 0;
  report_init(ompt::mutex_kind::nest_lock, l);
}
[[gnu::used]] void weft_old_omp_destroy_nest_lock(old_nest_lock *l) {
  report_destruction(ompt::mutex_kind::nest_lock, l);
}
[[gnu::used]] void weft_old_omp_set_nest_lock(old_nest_lock *l) { take_nested(*l, if_held::wait); }
[[gnu::used]] void weft_old_omp_unset_nest_lock(old_nest_lock *l) { give_nested_back(*l); }
[[gnu::used]] int weft_old_omp_test_nest_lock(old_nest_lock *l) {
  return take_nested(*l, if_held::give_up);
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

OMP_API void omp_init_lock_(void *l) { omp_init_lock(l); }
OMP_API void omp_destroy_lock_(void *l) { omp_destroy_lock(l); }
OMP_API void omp_set_lock_(void *l) { omp_set_lock(l); }
OMP_API void omp_unset_lock_(void *l) { omp_unset_lock(l); }
OMP_API int omp_test_lock_(void *l) { return omp_test_lock(l); }

// ---- a pointer: LLVM's, and Fortran's since OMP_3.0 ------------------------------------------------------------------------

OMP_API void omp_init_lock_with_hint_(void *l, const int *) { omp_init_lock(l); }

OMP_API void omp_init_nest_lock_(nest_lock **l) {
  *l = new (std::nothrow) nest_lock;
  if (!*l)
    fatal("no memory for a nestable lock");
  clear(**l);
  report_init(ompt::mutex_kind::nest_lock, *l);
}
OMP_API void omp_init_nest_lock_with_hint_(nest_lock **l, const int *) { omp_init_nest_lock_(l); }
OMP_API void omp_destroy_nest_lock_(nest_lock **l) {
  report_destruction(ompt::mutex_kind::nest_lock, *l);
  delete *l;
  *l = nullptr;
}
OMP_API void omp_set_nest_lock_(nest_lock **l) { take_nested(**l, if_held::wait); }
OMP_API void omp_unset_nest_lock_(nest_lock **l) { give_nested_back(**l); }
OMP_API int omp_test_nest_lock_(nest_lock **l) { return take_nested(**l, if_held::give_up); }

extern "C" [[gnu::used]] void weft_llvm_init_nest_lock_with_hint(nest_lock **l, int) {
  omp_init_nest_lock_(l);
}
OMP_VERSION(weft_llvm_init_nest_lock_with_hint, omp_init_nest_lock_with_hint, VERSION,
            weft_llvm_omp_init_nest_lock_with_hint);
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
