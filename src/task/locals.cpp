// SPDX-License-Identifier: Apache-2.0
#include "task/locals.hpp"

#include "base/error.hpp"

#include <new>

namespace weft::inline v0 {
namespace rt {

namespace {

/// Heads the block of a value; the value follows in the same block.
struct local_value : local_link<> {
  void (*destroy)(void *) noexcept = nullptr;
  std::size_t offset = 0; // from here to the value
  std::size_t alignment = 0;
  [[nodiscard]] void *value() noexcept { return reinterpret_cast<char *>(this) + offset; }
};

local_value &whole(local_link<> &link) noexcept { return static_cast<local_value &>(link); }

void free_block(local_value &value) noexcept {
  const std::align_val_t alignment{value.alignment};
  ::operator delete(static_cast<void *>(&value), alignment);
}

local_value *make(std::uint64_t key, const detail::local_ops &ops, const void *variable) {
  const std::size_t alignment =
      ops.alignment > alignof(local_value) ? ops.alignment : alignof(local_value);
  const std::size_t offset = (sizeof(local_value) + alignment - 1) / alignment * alignment;
  void *block = ::operator new(offset + ops.bytes, std::align_val_t{alignment}, std::nothrow);
  if (!block)
    throw_error(errc::out_of_resources, "no memory for a task_local value (%zu bytes)", ops.bytes);
  auto *v = ::new (block) local_value{};
  v->key.set(key);
  v->destroy = ops.destroy;
  v->offset = offset;
  v->alignment = alignment;
  try {
    ops.construct(v->value(), variable);
  } catch (...) {
    free_block(*v);
    throw;
  }
  return v;
}

} // namespace

void *find_local(const task_extra &extra, std::uint64_t key) noexcept {
  local_link<> *found = extra.locals.find(key);
  return found ? whole(*found).value() : nullptr;
}

void *add_local(task_extra &extra, std::uint64_t key, const detail::local_ops &ops,
                const void *variable) {
  local_value *fresh = make(key, ops, variable);
  local_value &one = whole(extra.locals.add(*fresh));
  if (&one != fresh) {
    fresh->destroy(fresh->value());
    free_block(*fresh);
  }
  return one.value();
}

void end_locals(task_extra &extra) noexcept {
  local_link<> *over = nullptr;
  while (local_link<> *newest = extra.locals.take()) {
    newest->older.set(over);
    over = newest;
    whole(*newest).destroy(
        whole(*newest).value()); // the destructor may still use older values, and make new ones
  }
  while (over) {
    local_value &v = whole(*over);
    over = over->older.get();
    free_block(v);
  }
}

} // namespace rt
} // namespace weft::inline v0
