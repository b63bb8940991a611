// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/support/tbb.hpp"

#include "tools/weft/support/openmp.hpp"
#include "tools/weft/support/text.hpp"

#include "base/error.hpp"
#include "os/file.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <string_view>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft_tool {

using namespace weft::rt;

namespace {

std::string name_of(const std::string &file) { return file.substr(file.rfind('/') + 1); }

} // namespace

bool contains(const std::string &file, std::string_view text) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return false;
  struct stat s{};
  bool found = false;
  if (fstat(descriptor, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0) {
    const auto bytes = static_cast<std::size_t>(s.st_size);
    if (void *const at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
        at != MAP_FAILED) {
      found = memmem(at, bytes, text.data(), text.size()) != nullptr;
      munmap(at, bytes);
    }
  }
  close(descriptor);
  return found;
}

bool is_tbb(const std::string &file) {
  const std::string name = name_of(file);
  for (const std::string_view stem : {"libtbb", "libtbb_debug"})
    if (name.starts_with(stem) && name.find(".so") != std::string::npos &&
        (name[stem.size()] == '.' || name[stem.size()] == '-')) // wheels put a hash behind it
      return true;
  return false;
}

bool holds_tbb(const std::string &file) {
  if (is_weft_tbb(file) || name_of(file).starts_with("libirml"))
    return false;
  return is_tbb(file) || (contains(file, "libirml.so.1") && contains(file, "__RML_open_factory"));
}

bool holds_weft(const std::string &file) {
  // A message of every spawn; a program that is linked with libweft.so has it not.
  return contains(file, "no memory for a task; spawn fewer at a time or lower throttle.bytes");
}

std::vector<std::string> tbbs_of(const std::vector<std::string> &files) {
  std::vector<std::string> found;
  std::copy_if(files.begin(), files.end(), std::back_inserter(found), &holds_tbb);
  return found;
}

std::vector<std::string> mapped_files(long pid) {
  const auto maps = read_file("/proc/" + std::to_string(pid) + "/maps");
  if (!maps)
    throw_error(weft::errc::invalid_argument,
                "process %ld cannot be looked at: it has ended, or is another user's", pid);
  std::vector<std::string> found;
  for (const std::string &line : split(*maps, '\n')) {
    const auto at = line.find('/');
    if (at == std::string::npos || line.find(" r-xp ") == std::string::npos)
      continue;
    const std::string file = line.substr(at);
    if (std::find(found.begin(), found.end(), file) == found.end())
      found.push_back(file);
  }
  return found;
}

std::string tbb_library() { return own_library("weft-tbb/libirml.so.1"); }

bool is_weft_tbb(const std::string &file) {
  return same_file(file, tbb_library()) || file.find("/weft-tbb/lib") != std::string::npos;
}

void use_tbb_library(bool with_budget) {
  if (const std::string library = tbb_library(); !library.empty())
    put_first("LD_PRELOAD", library);
  if (const std::string library = own_library("weft-tbb/libtcm.so.1");
      with_budget && !library.empty())
    put_first("LD_PRELOAD", library);
}

} // namespace weft_tool
