// SPDX-License-Identifier: Apache-2.0
// Objects behind the handles of the header, and the messages about handles that have none.
#pragma once

#include "handle_table.hpp"
#include "misuse.hpp"
#include "session.hpp"

#include <weft/glt.h>

#include <cstdint>

namespace weft_glt {

/// The handle of a ULT or tasklet that was joined. It names no object.
constexpr handle k_joined = handle{1} << 32;

template <class Handle>
[[nodiscard]] handle number_of(Handle handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}
template <class Handle>
[[nodiscard]] Handle handle_of(handle name) noexcept {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(name));
}

/// Says which call makes and which frees objects of a type.
struct kind_of_object {
  const char *name; // "a mutex"
  const char *create; // "glt_mutex_create()"
};

/// Says why a handle has no object.
[[noreturn]] void refuse_handle(const char *call, handle name, const kind_of_object &kind) noexcept;

/// Returns the object of a handle. T::k_kind names the type in messages.
template <class T>
[[nodiscard]] T &object_of(const char *call, handle name) noexcept {
  require_session(call);
  T *const found = table_of<T>().find(name);
  if (!found) [[unlikely]]
    refuse_handle(call, name, T::k_kind);
  return *found;
}

/// Takes an object for a new handle, which is written to `*to`.
template <class T, class Handle>
[[nodiscard]] T &new_object(const char *call, Handle *to) noexcept {
  require_session(call);
  require(call, to, "the handle's address");
  const auto [object, number] = in_weft(call, [] { return table_of<T>().take(); });
  *to = handle_of<Handle>(number);
  return *object;
}

/// Gives the object of a handle back, and makes the handle null.
template <class T, class Handle>
void free_object(Handle *from) {
  table_of<T>().release(number_of(*from));
  *from = Handle{};
}

} // namespace weft_glt
