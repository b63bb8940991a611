// SPDX-License-Identifier: Apache-2.0
// The wait for a function's static variable that another thread initializes, with errno kept.
//
// The C++ library waits for it with a system call that may set errno. A door calls its functions
// with the block of the program's thread, whose errno no construct changes. The linker puts this
// function in the place of the C++ library's in each library that calls weft_keep_errno() of
// CMakeLists.txt. The function is called only until the variable is initialized.
#include <cerrno>

extern "C" {
int __real___cxa_guard_acquire(void *guard);
[[gnu::visibility("hidden")]] int __wrap___cxa_guard_acquire(void *guard);

int __wrap___cxa_guard_acquire(void *guard) {
  const int before = errno;
  const int is_ours = __real___cxa_guard_acquire(guard);
  errno = before;
  return is_ours;
}
}
