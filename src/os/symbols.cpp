// SPDX-License-Identifier: Apache-2.0
#include "os/symbols.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

struct function {
  std::uint64_t at, bytes;
  std::string_view name;
};

/// Holds a file, mapped for as long as its names are referred to.
struct mapped {
  const char *data = nullptr;
  std::size_t bytes = 0;
  explicit mapped(const std::string &path) noexcept {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about{};
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0)
      if (void *p = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE,
                         file, 0);
          p != MAP_FAILED) {
        data = static_cast<const char *>(p);
        bytes = static_cast<std::size_t>(about.st_size);
      }
    if (file >= 0)
      close(file);
  }
  mapped(const mapped &) = delete;
  mapped &operator=(const mapped &) = delete;
  ~mapped() {
    if (data)
      munmap(const_cast<char *>(data), bytes);
  }
  template <class T>
  [[nodiscard]] const T *at(std::uint64_t offset, std::uint64_t count) const noexcept {
    return offset <= bytes && count <= (bytes - offset) / sizeof(T)
               ? reinterpret_cast<const T *>(data + offset)
               : nullptr;
  }
};

/// Reads the functions of a symbol table, unless the table is broken.
void read_table(const mapped &file, const ElfW(Shdr) & table, const ElfW(Shdr) & names,
                std::vector<function> &to) {
  const std::size_t count = table.sh_size / sizeof(ElfW(Sym));
  const auto *const all = file.at<ElfW(Sym)>(table.sh_offset, count);
  const char *const text = file.at<char>(names.sh_offset, names.sh_size);
  if (!all || !text)
    return;
  for (const ElfW(Sym) *s = all; s != all + count; ++s)
    if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_value != 0 && s->st_name < names.sh_size)
      to.push_back({s->st_value,
                    s->st_size,
                    {text + s->st_name, strnlen(text + s->st_name, names.sh_size - s->st_name)}});
}

std::vector<function> functions_in(const mapped &file) {
  std::vector<function> all;
  const auto *const head = file.at<ElfW(Ehdr)>(0, 1);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
      head->e_shentsize != sizeof(ElfW(Shdr)))
    return all;
  const auto *const sections = file.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  for (const auto wanted :
       {SHT_SYMTAB,
        SHT_DYNSYM}) { // the first, if it has not been stripped, holds all that the second holds
    for (unsigned i = 0; sections && all.empty() && i < head->e_shnum; ++i)
      if (sections[i].sh_type == static_cast<ElfW(Word)>(wanted) &&
          sections[i].sh_link < head->e_shnum)
        read_table(file, sections[i], sections[sections[i].sh_link], all);
  }
  std::sort(all.begin(), all.end(),
            [](const function &a, const function &b) { return a.at < b.at; });
  return all;
}

std::string demangled(std::string_view name) {
  const std::string mangled(name);
  int status = -1;
  char *const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 && text ? text : mangled;
  std::free(text);
  return result;
}

std::string own_path() {
  char path[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<std::size_t>(n)) : std::string();
}

} // namespace

struct symbols::module {
  std::string path;
  std::uintptr_t base, low, high;
  std::unique_ptr<mapped> file; // once it was asked for
  std::vector<function> functions;

  void read() {
    if (file)
      return;
    file = std::make_unique<mapped>(path);
    functions = functions_in(*file);
  }
};

symbols::symbols() {
  dl_iterate_phdr(
      [](dl_phdr_info *info, std::size_t, void *p) {
        std::uintptr_t low = UINTPTR_MAX, high = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (const auto &h = info->dlpi_phdr[i]; h.p_type == PT_LOAD) {
            low = std::min<std::uintptr_t>(low, info->dlpi_addr + h.p_vaddr);
            high = std::max<std::uintptr_t>(high, info->dlpi_addr + h.p_vaddr + h.p_memsz);
          }
        auto &all = *static_cast<std::vector<std::unique_ptr<module>> *>(p);
        const char *name = info->dlpi_name;
        all.push_back(std::make_unique<module>(
            module{name && *name ? name : own_path(), info->dlpi_addr, low, high, nullptr, {}}));
        return 0;
      },
      &m_modules);
}

symbols::~symbols() = default;

symbols::module *symbols::module_at(std::uintptr_t address) noexcept {
  for (auto &m : m_modules)
    if (address >= m->low && address < m->high)
      return m.get();
  return nullptr;
}

const symbol &symbols::of_call(const void *return_address) {
  const auto [place, is_new] = m_known.try_emplace(return_address);
  symbol &s = place->second;
  if (!is_new)
    return s;
  const std::uintptr_t address =
      reinterpret_cast<std::uintptr_t>(return_address) - 1; // in the call, not behind it
  module *const m = module_at(address);
  if (!m)
    return s;
  s.module = m->path;
  s.offset = address - m->base;
  m->read();
  auto above = std::upper_bound(m->functions.begin(), m->functions.end(), s.offset,
                                [](std::uint64_t at, const function &f) { return at < f.at; });
  if (above == m->functions.begin())
    return s;
  const function &f = *--above;
  if (s.offset - f.at >= std::max<std::uint64_t>(f.bytes, 1))
    return s;
  s.name = demangled(f.name);
  s.behind = s.offset - f.at;
  return s;
}

std::string text_of(const symbol &found) {
  constexpr std::size_t k_most = 120; // of names with many template arguments
  char behind[32], offset[32];
  std::snprintf(behind, sizeof behind, "+0x%llx", static_cast<unsigned long long>(found.behind));
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(found.offset));
  if (found.module.empty())
    return "an unknown place";
  const std::string name =
      found.name.size() > k_most ? found.name.substr(0, k_most) + "..." : found.name;
  return name.empty() ? found.module + offset : name + behind + " (" + found.module + offset + ")";
}

} // namespace rt
} // namespace weft::inline v0
