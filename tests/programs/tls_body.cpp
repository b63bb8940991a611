// SPDX-License-Identifier: Apache-2.0
// Tasks that move from thread to thread and look at what belongs to threads: by the rule, in functions that
// do not wait; and against it.
#include "tls_body.hpp"

#include <weft/weft.hpp>

#include <atomic>
#include <cerrno>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#define APART __attribute__((noinline))

namespace {

std::atomic<long> g_made{0}, g_gone{0};

/// One per thread that looks at it.
struct resident {
  pthread_t thread = pthread_self();
  resident() { ++g_made; }
  ~resident() { ++g_gone; }
};
thread_local resident t_resident;
thread_local int t_number = 0;

APART bool resident_is_of_this_thread() {
  return pthread_equal(t_resident.thread, pthread_self()) != 0;
}
APART void put_errno(int value) { errno = value; }
APART int get_errno() { return errno; }
APART long this_thread() { return syscall(SYS_gettid); }

struct counts {
  std::atomic<long> migrations{0}, wrong{0}, naive_errno{0}, naive_local{0};
};

void throw_and_catch(int i, counts &c) {
  try {
    throw i;
  } catch (int caught) {
    c.wrong += caught != i;
  }
}

void wait_in_handler(int i, counts &c) {
  try {
    try {
      throw i;
    } catch (...) {
      weft::taskyield();
      throw;
    }
  } catch (int caught) {
    c.wrong += caught != i;
  }
}

void wait_while_unwinding(int i, counts &c) {
  struct yields {
    ~yields() { weft::taskyield(); }
  };
  try {
    yields y;
    throw i;
  } catch (int caught) {
    c.wrong += caught != i;
  }
}

void careful(int i, long enough, counts &c) {
  for (int turn = i; c.migrations < enough; ++turn) {
    const long before = this_thread();
    put_errno(1000 + i);
    switch (turn % 4) {
    case 0:
      wait_in_handler(i, c);
      break;
    case 1:
      wait_while_unwinding(i, c);
      break;
    default:
      weft::taskyield();
    }
    if (this_thread() != before) {
      ++c.migrations;
      throw_and_catch(i, c);
    }
    c.wrong += get_errno() != 1000 + i;
    c.wrong += !resident_is_of_this_thread();
  }
}

/// The compiler may keep errno's address over the wait: the C library declares the function that gives it
/// const.
void naive(int i, long enough, counts &c) {
  while (c.migrations < enough) {
    const long before = this_thread();
    errno = 2000 + i;
    t_number = 2000 + i;
    weft::taskyield();
    c.naive_errno += errno != 2000 + i;
    c.naive_local += t_number != 2000 + i;
    c.migrations += this_thread() != before;
  }
}

template <class F>
void run_sixteen(const char *label, F f) {
  for (int i = 0; i != 16; ++i)
    weft::spawn([f, i] { f(i); }, weft::label(label));
  weft::taskwait();
}

} // namespace

tls_report tls_torture(long migrations) {
  counts by_rule, against;
  run_sixteen("careful", [&](int i) { careful(i, migrations, by_rule); });
  run_sixteen("naive", [&](int i) { naive(i, migrations / 10, against); });
  return {by_rule.migrations, by_rule.wrong, against.naive_errno, against.naive_local};
}

long tls_residents_made() { return g_made; }
long tls_residents_gone() { return g_gone; }
