// SPDX-License-Identifier: Apache-2.0
#include "weft_lpf/code.hpp"

#include <cstdint>
#include <stdexcept>

#include <link.h>

namespace weft_lpf {

namespace {

struct search {
  std::uintptr_t address = 0; // what is looked for: an address, or
  const std::string *file = nullptr;
  code found;
  std::uintptr_t base = 0;
  bool is_found = false;
};

bool has(const dl_phdr_info &file, std::uintptr_t address) {
  for (int i = 0; i != file.dlpi_phnum; ++i) {
    const auto &part = file.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && address - (file.dlpi_addr + part.p_vaddr) < part.p_memsz)
      return true;
  }
  return false;
}

int look(dl_phdr_info *file, std::size_t, void *context) {
  search &what = *static_cast<search *>(context);
  const bool fits = what.file ? *what.file == file->dlpi_name : has(*file, what.address);
  if (!fits)
    return 0;
  what.is_found = true;
  what.base = file->dlpi_addr;
  what.found = {file->dlpi_name, what.address - file->dlpi_addr};
  return 1;
}

} // namespace

code place_of(lpf_func_t function) {
  search what;
  what.address = reinterpret_cast<std::uintptr_t>(function);
  dl_iterate_phdr(&look, &what);
  if (!what.is_found)
    throw std::runtime_error("a function is in no file that was loaded, so other processes do not "
                             "have it; name one of the program or of a library");
  return what.found;
}

lpf_func_t function_at(const code &place) {
  search what;
  what.file = &place.file;
  dl_iterate_phdr(&look, &what);
  if (!what.is_found)
    throw std::runtime_error("'" + place.file +
                             "' is loaded in process 0 and not here; link the "
                             "program with it");
  return reinterpret_cast<lpf_func_t>(what.base + place.offset);
}

} // namespace weft_lpf
