// SPDX-License-Identifier: Apache-2.0
// Bodies: unit.cpp, over/unit.cpp
// The values that a ULT, a thread or a task has for keys.
#pragma once

#include "handle_table.hpp"

#include <vector>

namespace weft_glt {

/// Holds the values of one owner, which alone uses them.
class key_values {
 public:
  key_values() = default;
  key_values(const key_values &) = delete;
  key_values &operator=(const key_values &) = delete;
  ~key_values() { end(); }

  [[nodiscard]] void *get(handle key) const noexcept;
  /// Throws std::bad_alloc.
  void set(handle key, void *value);
  /// Calls the destructors of the keys, and forgets all values. A destructor may set values again;
  /// then there are further rounds, four in all.
  void end() noexcept;

 private:
  struct value_of {
    handle key;
    void *value;
  };
  std::vector<value_of> m_values;
};

/// Returns the values of the caller. Bodies: unit.cpp, over/unit.cpp.
[[nodiscard]] key_values &values_of_caller();

} // namespace weft_glt
