// SPDX-License-Identifier: Apache-2.0
#include "task/locals.hpp"

#include "base/error.hpp"

#include <new>

namespace weft::inline v0 {
namespace rt {

/// In one block in front of the value.
struct local_value {
  local_value *older;
  std::uint64_t key;
  void (*destroy)(void *) noexcept;
  std::size_t offset; // from here to the value
  std::size_t alignment;
  [[nodiscard]] void *value() noexcept { return reinterpret_cast<char *>(this) + offset; }
};

namespace {

local_value *find(local_value *newest, std::uint64_t key) noexcept {
  while (newest && newest->key != key)
    newest = newest->older;
  return newest;
}

void free_block(local_value &v) noexcept {
  const std::align_val_t alignment{v.alignment};
  ::operator delete(static_cast<void *>(&v), alignment);
}

local_value *make(std::uint64_t key, const detail::local_ops &ops, const void *variable) {
  const std::size_t alignment = ops.alignment > alignof(local_value) ? ops.alignment : alignof(local_value);
  const std::size_t offset = (sizeof(local_value) + alignment - 1) / alignment * alignment;
  void *block = ::operator new(offset + ops.bytes, std::align_val_t{alignment}, std::nothrow);
  if (!block)
    throw_error(errc::out_of_resources, "no memory for a task_local value (%zu bytes)", ops.bytes);
  auto *v = ::new (block) local_value{nullptr, key, ops.destroy, offset, alignment};
  try {
    ops.construct(v->value(), variable);
  } catch (...) {
    free_block(*v);
    throw;
  }
  return v;
}

void destroy(local_value &v) noexcept {
  v.destroy(v.value());
  free_block(v);
}

} // namespace

void *find_local(const task_extra &x, std::uint64_t key) noexcept {
  local_value *v = find(x.locals.load(std::memory_order_acquire), key); // O1
  return v ? v->value() : nullptr;
}

void *add_local(task_extra &x, std::uint64_t key, const detail::local_ops &ops, const void *variable) {
  local_value *fresh = make(key, ops, variable);
  local_value *newest = x.locals.load(std::memory_order_acquire); // O1
  do {
    if (local_value *other = find(newest, key)) {
      destroy(*fresh);
      return other->value();
    }
    fresh->older = newest;
  } while (!x.locals.compare_exchange_weak(newest, fresh, std::memory_order_acq_rel, std::memory_order_acquire)); // O1
  return fresh->value();
}

void end_locals(task_extra &x) noexcept {
  while (local_value *v = x.locals.load(std::memory_order_acquire)) { // O1
    x.locals.store(v->older, std::memory_order_relaxed); // its destructor may still use the older ones
    destroy(*v);
  }
}

} // namespace rt
} // namespace weft::inline v0
