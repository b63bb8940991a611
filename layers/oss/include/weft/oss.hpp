// SPDX-License-Identifier: Apache-2.0
// What the code that stands for `#pragma oss` calls in C++. Programs do not include it: weft-c++ does.
#pragma once
#ifndef __ASSEMBLER__ // -include in front of a file of the assembler

#include <weft/layer/default_setting.hpp>
#include <weft/mutex.hpp>
#include <weft/oss/atomic.hpp>
#include <weft/oss/function.hpp>
#include <weft/oss/items.hpp>
#include <weft/oss/loops.hpp>
#include <weft/oss/reductions.hpp>
#include <weft/task.hpp>

#include <new>
#include <type_traits>

#ifndef _OMPSS_2
/// Says that `#pragma oss` is compiled.
#define _OMPSS_2 1
#endif

namespace weft::inline v0 {
namespace oss {

namespace detail {

/// Programs of OmpSs-2 expect stacks like those of threads; this is address space, not memory.
[[gnu::used]] inline const bool k_large_stacks = (layer::set_default("stack.bytes", "8MiB"), true);

} // namespace detail

/// Returns a callable that holds a copy of `object`, array or not, and returns a reference to the copy.
template <class T>
[[nodiscard]] auto copied(T &object) {
  return [object]() mutable -> T & { return object; };
}
namespace detail {
template <class T>
inline constexpr bool is_pointer_like = std::is_pointer_v<T> || is_own_elements<T>;
} // namespace detail
/// Returns a callable that returns a reference: to a copy of a pointer, to anything else itself.
template <class T>
[[nodiscard]] auto copied_if_pointer(T &object) noexcept {
  if constexpr (detail::is_pointer_like<T>)
    return copied(object);
  else
    return [&object]() -> T & { return object; };
}
/// Returns a callable that returns a reference to a copy of a pointer; of anything else, one that is never called.
template <class T>
[[nodiscard]] auto copy_of_pointer(T &object) noexcept {
  if constexpr (detail::is_pointer_like<T>)
    return copied(object);
  else
    return []() -> T & { __builtin_unreachable(); };
}
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
/// @{ Refuses arrays that fit no template: their extents are known at run time only.
inline auto copied(...)
    __attribute__((diagnose_if(true,
                               "a task of C++ cannot copy an array whose extent is known at run time only: share "
                               "it, or use a pointer to its first element",
                               "error"))) {
  return []() -> int *& { __builtin_unreachable(); };
}
inline auto copy_of_pointer(...)
    __attribute__((diagnose_if(true,
                               "in C++ an item of a dependence of '#pragma oss' must not be in an array whose "
                               "extent is known at run time only: use a pointer to its first element",
                               "error"))) {
  return []() -> int *& { __builtin_unreachable(); };
}
/// @}
#pragma clang diagnostic pop
#endif
/// Tells of the type of a reference whether the object is a pointer.
template <class T>
inline constexpr bool refers_to_pointer = detail::is_pointer_like<std::remove_reference_t<T>>;
/// Names the type of a private variable.
template <class T>
using own = std::remove_cv_t<std::remove_reference_t<T>>;

/// Is a private variable of a task: made when the task's statement begins, and there until the task's children are complete. A
/// copy of the task's variables has one of its own.
template <class T>
class own_variable {
 public:
  own_variable() noexcept {} ///< not made yet
  own_variable(const own_variable &) noexcept {} ///< not made yet
  own_variable &operator=(const own_variable &) = delete;
  ~own_variable() {
    if (m_made)
      m_made->~kept();
  }
  /// Returns the variable.
  [[nodiscard]] T &get() {
    if (!m_made)
      m_made = ::new (static_cast<void *>(m_bytes)) kept;
    return m_made->value;
  }

 private:
  struct kept {
    T value; // without an initializer, arrays included
  };
  alignas(kept) unsigned char m_bytes[sizeof(kept)];
  kept *m_made = nullptr;
};

/// Returns what a condition says: of anything that converts to bool.
template <class T>
[[nodiscard]] bool truth(const T &condition) noexcept {
  return static_cast<bool>(condition);
}

/// Spawns a task, as weft::spawn().
template <class F, class... Clauses>
void spawn(F &&body, const Clauses &...clauses) {
  weft::spawn(static_cast<F &&>(body), clauses...);
}

/// Is a critical section while it lives.
class critical_section {
 public:
  /// Waits until no other section of the name is there.
  explicit critical_section(const char *name) : m_mutex(weft::v0::detail::critical_mutex(name)) {
    m_mutex.lock();
  }
  critical_section(const critical_section &) = delete;
  critical_section &operator=(const critical_section &) = delete;
  ~critical_section() { m_mutex.unlock(); }

 private:
  mutex &m_mutex;
};

} // namespace oss
} // namespace weft::inline v0

#endif // __ASSEMBLER__
