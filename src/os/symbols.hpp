// SPDX-License-Identifier: Apache-2.0
// Names of the addresses in this process, from the symbol tables of its program and libraries: for
// reports.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft::inline v0 {
namespace rt {

struct symbol {
  std::string name;   // demangled; empty: not known
  std::string module; // file of the program or library; empty: not known
  std::uint64_t behind = 0; // bytes from the name's beginning
  std::uint64_t offset = 0; // in the module, for addr2line
};

/// Returns "f(int)+0x12 (/usr/bin/app+0x1234)".
[[nodiscard]] std::string text_of(const symbol &found);

class symbols {
 public:
  symbols();
  symbols(const symbols &) = delete;
  symbols &operator=(const symbols &) = delete;
  ~symbols();
  /// Returns the symbol of the call that returns to `return_address`. Allocates; reads the module's
  /// file at the first use of the module.
  [[nodiscard]] const symbol &of_call(const void *return_address);

 private:
  struct module;
  [[nodiscard]] module *module_at(std::uintptr_t address) noexcept;

  std::vector<std::unique_ptr<module>> m_modules;
  std::unordered_map<const void *, symbol> m_known;
};

} // namespace rt
} // namespace weft::inline v0
