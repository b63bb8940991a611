// SPDX-License-Identifier: Apache-2.0
// What a part of the one-pool program is: one runtime, which runs bodies side by side.
//
// A part is one file in parts/. Its stem is its name; it becomes a shared library of that name,
// which defines `extern "C" const one_pool::part one_pool_<stem>`. The file's first lines may say
//
//     // links: TARGET...          targets of CMake; the part is left out where one is absent
//     // compiled by: COMPILER...  a compiler of its own with its flags, such as clang++ -fopenmp
//
// and nothing else has to be listed: the programs run each part inside of and beside each other one.
#pragma once

#include <exception>
#include <mutex>

namespace one_pool {

/// Refers to a callable, as no type of the C++ library may be between two compilers.
class body {
 public:
  template <class F>
  explicit body(F &f) noexcept
      : m_call([](void *p, int i) { return static_cast<bool>((*static_cast<F *>(p))(i)); }),
        m_data(&f) {}
  bool operator()(int i) const { return m_call(m_data, i); }

 private:
  bool (*m_call)(void *, int);
  void *m_data;
};

/// Says where the bodies of a part run, of which the rules about nesting speak.
enum class place {
  task, ///< as tasks of Weft's
  thread, ///< on threads, and a task of Weft's that calls the part waits for these
  caller, ///< on threads, and on the caller's own stack
  own_thread, ///< on kernel threads of the part's own, for which a caller waits in the kernel
};

struct part {
  const char *name;
  place where;
  void (*begin)(int threads); ///< before all else; may be null
  void (*end)(); ///< behind all else; may be null
  void (*begin_in_child)(int threads); ///< in the child of a fork(); may be null
  /// Calls the body with 0 to n - 1, and waits. An exception of the body leaves the call.
  void (*loop)(int n, body b);
  void (*tasks)(int n,
                body b); ///< the same in another form, which the runtime has for single tasks
  /// Calls the body until it returns true; what has not begun then may be left out.
  void (*until)(int n, body b);
};

#define ONE_POOL_PART extern "C" __attribute__((visibility("default"))) const one_pool::part

/// Keeps the first exception of a construct that lets none through.
class kept_exception {
 public:
  template <class F>
  void run(F &&f) noexcept {
    try {
      f();
    } catch (...) {
      const std::lock_guard here(m_lock);
      if (!m_first)
        m_first = std::current_exception();
    }
  }
  void rethrow() const {
    if (m_first)
      std::rethrow_exception(m_first);
  }

 private:
  std::mutex m_lock;
  std::exception_ptr m_first;
};

} // namespace one_pool
