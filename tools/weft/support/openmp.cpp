// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/openmp.hpp"

#include "tools/weft/support/child.hpp"
#include "tools/weft/support/text.hpp"

#include "base/error.hpp"
#include "os/file.hpp"

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>

#include <sys/stat.h>
#include <unistd.h>

namespace weft_tool {

using namespace weft::rt;

namespace {

constexpr std::chrono::milliseconds k_longest_loading{30'000};

enum class kind { none, script, fixed, dynamic };

/// A file that is open for reading, or none.
class open_file {
 public:
  explicit open_file(const std::string &file) noexcept
      : m_descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC)) {}
  open_file(const open_file &) = delete;
  open_file &operator=(const open_file &) = delete;
  ~open_file() {
    if (m_descriptor >= 0)
      close(m_descriptor);
  }

  /// Reads up to `bytes` bytes at an offset. Returns how many there were.
  std::size_t read(void *to, std::size_t bytes, std::uint64_t offset) const noexcept {
    const ssize_t n = pread(m_descriptor, to, bytes, static_cast<off_t>(offset));
    return n < 0 ? 0 : static_cast<std::size_t>(n);
  }

 private:
  int m_descriptor;
};

/// Returns the kind of a file; sets `interpreter` to that of a script, or to the loader of a program.
kind kind_of(const std::string &file, std::string &interpreter) {
  const open_file in(file);
  char head[256] = {};
  in.read(head, sizeof head - 1, 0);
  if (std::memcmp(head, "#!", 2) == 0) {
    if (const auto found = split_words(head + 2); !found.empty())
      interpreter = found.front();
    return kind::script;
  }
  Elf64_Ehdr elf;
  std::memcpy(&elf, head, sizeof elf);
  if (std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64)
    return kind::none;
  for (unsigned i = 0; i < elf.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (in.read(&segment, sizeof segment, elf.e_phoff + i * sizeof segment) != sizeof segment ||
        segment.p_type != PT_INTERP)
      continue;
    char path[4096] = {}; // PATH_MAX, the longest that the kernel takes
    in.read(path, std::min<std::size_t>(segment.p_filesz, sizeof path - 1), segment.p_offset);
    interpreter = path;
    return kind::dynamic;
  }
  return kind::fixed;
}

/// Says whether a loader is glibc's, by its name. Others, as musl's, know no LD_TRACE_LOADED_OBJECTS:
/// they would run the program.
bool is_of_glibc(const std::string &loader) {
  const std::string name = loader.substr(loader.rfind('/') + 1);
  return name.starts_with("ld-linux") || name.starts_with("ld64.");
}

/// Says whether a loader is this program's own, or root has installed it and no other user can
/// change it.
bool is_of_system(const std::string &loader) {
  std::string own;
  struct stat about;
  return (kind_of("/proc/self/exe", own) == kind::dynamic && same_file(loader, own)) ||
         (stat(loader.c_str(), &about) == 0 && about.st_uid == 0 && (about.st_mode & 022) == 0);
}

/// Returns the file named in "libx.so => /folder/libx.so (0x...)" or "/folder/libx.so (0x...)". Folders
/// may have spaces in their names.
std::string file_of(const std::string &line) {
  const std::size_t arrow = line.find(" => "),
                    begin = arrow != std::string::npos ? arrow + 4 : line.find_first_not_of(" \t"),
                    end = line.rfind(" (0x");
  return begin < end && end != std::string::npos ? line.substr(begin, end - begin) : "";
}

void read_trace(const outcome &result, loading &into) {
  for (const std::string &line : split(result.output + "\n" + result.complaints, '\n')) {
    if (line.find("undefined symbol") != std::string::npos ||
        line.find("not found") != std::string::npos)
      into.complaints.push_back(line.substr(line.find_first_not_of(" \t")));
    else if (const std::string file = file_of(line); file.starts_with('/')) {
      into.files.push_back(file);
      if (is_openmp_runtime(file))
        into.runtimes.push_back(file);
    }
  }
}

} // namespace

bool is_openmp_runtime(const std::string &file) {
  const std::string name = file.substr(file.rfind('/') + 1);
  if (name.find(".so") == std::string::npos)
    return false;
  for (const std::string_view stem : {"libgomp", "libomp", "libiomp5"})
    if (name.starts_with(stem) &&
        (name[stem.size()] == '.' || name[stem.size()] == '-')) // wheels put a hash behind it
      return true;
  return false;
}

loading try_loading(const std::string &file, loaders which) {
  loading found;
  std::string looked_at = file, loader;
  kind is = kind_of(file, loader);
  if (is == kind::script) {
    looked_at = found.interpreter = loader;
    is = kind_of(looked_at, loader);
  }
  found.is_dynamic = is == kind::dynamic;
  if (found.is_dynamic &&
      (!is_of_glibc(loader) || (which == loaders::of_system && !is_of_system(loader)))) {
    found.is_dynamic = false;
    found.own_loader = loader;
  }
  found.files.push_back(looked_at);
  if (!found.is_dynamic)
    return found; // the program would run
  // The loader lists the libraries instead of running the program; with LD_WARN and LD_BIND_NOW it
  // looks for the functions, too. It is run as ldd runs it: a program with the rights of its owner
  // would ignore the variables.
  for (const char *variable : {"LD_TRACE_LOADED_OBJECTS", "LD_WARN", "LD_BIND_NOW"})
    setenv(variable, "1", 1);
  const outcome o = watcher(k_longest_loading).run({loader, looked_at});
  for (const char *variable : {"LD_TRACE_LOADED_OBJECTS", "LD_WARN", "LD_BIND_NOW"})
    unsetenv(variable);
  read_trace(o, found);
  return found;
}

std::string find_program(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return access(name.c_str(), X_OK) == 0 ? name : "";
  const char *path = weft::layer::environment("PATH");
  for (const std::string &folder : split(path ? path : "/usr/bin:/bin", ':')) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    struct stat s;
    if (stat(file.c_str(), &s) == 0 && S_ISREG(s.st_mode) && access(file.c_str(), X_OK) == 0)
      return file;
  }
  return "";
}

std::vector<std::string> mapped_runtimes(long pid) {
  const auto maps = read_file("/proc/" + std::to_string(pid) + "/maps");
  if (!maps)
    throw_error(weft::errc::invalid_argument,
                "process %ld cannot be looked at: it has ended, or is another user's", pid);
  std::vector<std::string> found;
  for (const std::string &line : split(*maps, '\n')) {
    const auto at = line.find('/');
    if (at == std::string::npos)
      continue;
    const std::string file = line.substr(at);
    if (is_openmp_runtime(file) && std::find(found.begin(), found.end(), file) == found.end())
      found.push_back(file);
  }
  return found;
}

std::string openmp_library() { return own_library("weft-omp/libgomp.so.1"); }

bool same_file(const std::string &one, const std::string &other) {
  struct stat a, b;
  return stat(one.c_str(), &a) == 0 && stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

void put_first(const char *variable, const std::string &what) {
  const char *before = weft::layer::environment(variable);
  setenv(variable, before && *before ? (what + ":" + before).c_str() : what.c_str(), 1);
}

void use_openmp_library(bool preloaded) {
  const std::string library = openmp_library();
  if (library.empty())
    return;
  put_first("LD_LIBRARY_PATH", library.substr(0, library.rfind('/')));
  if (preloaded)
    put_first("LD_PRELOAD", library);
}

} // namespace weft_tool
