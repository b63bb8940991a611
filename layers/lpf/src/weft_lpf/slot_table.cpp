// SPDX-License-Identifier: Apache-2.0
#include "weft_lpf/slot_table.hpp"

#include <algorithm>

namespace weft_lpf {

namespace {

constexpr unsigned k_lone_shift = 26; // kind and owner are below

std::size_t index_of(std::size_t slot) noexcept {
  return is_lone(slot) ? slot >> k_lone_shift : slot >> 2;
}

} // namespace

void slot_table::reserve(std::size_t count) {
  for (column &c : m_columns) {
    c.all.reserve(count);
    c.free.reserve(count);
  }
}

std::size_t slot_table::add(slot_kind kind, void *begin, std::size_t bytes) {
  column &c = m_columns[static_cast<std::size_t>(kind)];
  std::size_t index = c.all.size();
  if (c.free.empty()) {
    if (c.free.capacity() <= index)
      c.free.reserve(std::max<std::size_t>(2 * index, 8));
    c.all.emplace_back();
  } else {
    index = c.free.back();
    c.free.pop_back();
  }
  registration &r = c.all[index];
  r = {};
  r.begin = static_cast<std::byte *>(begin);
  r.bytes = bytes;
  r.is_used = true;
  const auto tag = static_cast<std::size_t>(kind);
  return kind == slot_kind::lone
             ? index << k_lone_shift | static_cast<std::size_t>(m_pid & 0xffffffU) << 2 | tag
             : index << 2 | tag;
}

registration *slot_table::find(std::size_t slot) noexcept {
  const std::size_t tag = slot & 3, index = index_of(slot);
  if (tag == 3 || (is_lone(slot) && owner_of(slot) != (m_pid & 0xffffffU)))
    return nullptr;
  column &c = m_columns[tag];
  return index < c.all.size() && c.all[index].is_used ? &c.all[index] : nullptr;
}

void slot_table::remove(std::size_t slot) noexcept {
  find(slot)->is_used = false;
  m_columns[slot & 3].free.push_back(static_cast<std::uint32_t>(index_of(slot)));
}

} // namespace weft_lpf
