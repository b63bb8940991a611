// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: macros that programs use. docs/user/hpx.md lists what exists.
#pragma once

#include <cassert>
#include <utility>

#define HPX_WEFT 1 // says that these are not HPX's own headers

#if !defined(HPX_APPLICATION_STRING)
#define HPX_APPLICATION_STRING "program"
#endif
#define HPX_ASSERT(condition) assert(condition)
#define HPX_ASSERT_MSG(condition, text) assert((condition) && (text))
#define HPX_MOVE(...) std::move(__VA_ARGS__)
#define HPX_FORWARD(type, ...) static_cast<type &&>(__VA_ARGS__)
#define HPX_NOINLINE [[gnu::noinline]]
#define HPX_FORCEINLINE inline
#define HPX_UNUSED(name) static_cast<void>(name)
#define HPX_NON_COPYABLE(type)                                                                     \
  type(const type &) = delete;                                                                     \
  type &operator=(const type &) = delete
#define HPX_MOVABLE_ONLY(type)                                                                     \
 public:                                                                                           \
  type(const type &) = delete;                                                                     \
  type &operator=(const type &) = delete
