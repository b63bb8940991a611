// SPDX-License-Identifier: Apache-2.0
#include "trace/folder.hpp"

#include "observe/segment.hpp"
#include "os/file.hpp"
#include "os/leftovers.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

std::string numbered(const std::string &folder, const char *name, unsigned slot) {
  char text[32];
  std::snprintf(text, sizeof text, "/%s%04u", name, slot);
  return folder + text;
}

bool is_of_a_trace(const std::string &name) {
  return name == "metadata" || name == ".weft" || name == ".types" || name.starts_with(".ring") ||
         name.starts_with(".new") ||
         ((name[0] == 'w' || name[0] == 'k') && name.size() >= 5 &&
          name.find_first_not_of("0123456789", 1) == std::string::npos);
}

} // namespace

std::string stream_path(const std::string &folder, unsigned slot) {
  return numbered(folder, "w", slot);
}
std::string kernel_path(const std::string &folder, unsigned slot) {
  return numbered(folder, "k", slot);
}
std::string ring_path(const std::string &folder, unsigned slot) {
  return numbered(folder, ".ring", slot);
}
std::string types_path(const std::string &folder) { return folder + "/.types"; }
std::string description_path(const std::string &folder) { return folder + "/.weft"; }

namespace {

/// Returns the pid of the other process that is writing a trace there; 0: none.
long writer_of(const std::string &path) {
  const auto text = read_file(description_path(path));
  if (!text)
    return 0;
  const trace_description d = parse_description(*text);
  return d.state == trace_description::running && d.pid > 0 && d.pid != getpid() &&
                 kill(static_cast<pid_t>(d.pid), 0) == 0
             ? d.pid
             : 0;
}

} // namespace

namespace {

struct close_folder {
  void operator()(DIR *folder) const noexcept { closedir(folder); }
};
using open_folder = std::unique_ptr<DIR, close_folder>;

/// Returns the names in the folder except "." and "..".
std::vector<std::string> names_in(DIR *folder) {
  std::vector<std::string> names;
  while (const dirent *e = readdir(folder))
    if (const std::string name = e->d_name; name != "." && name != "..")
      names.push_back(name);
  return names;
}

bool trace_lives(const std::string &path) {
  const int file = open(types_path(path).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return false;
  const bool lives = is_locked(file);
  close(file);
  return lives;
}

std::uint64_t bytes_of_trace(const std::string &path) {
  std::uint64_t bytes = 0;
  if (const open_folder folder{opendir(path.c_str())})
    for (const std::string &name : names_in(folder.get()))
      if (struct stat s{}; fstatat(dirfd(folder.get()), name.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0)
        bytes += static_cast<std::uint64_t>(s.st_blocks) * 512;
  return bytes;
}

/// Removes a trace, unless the user has put other files there.
void remove_trace(const std::string &path) {
  const auto text = read_file(description_path(path));
  const open_folder folder{opendir(path.c_str())};
  if (!folder || !text || parse_description(*text).state != trace_description::running)
    return;
  const auto names = names_in(folder.get());
  if (!std::all_of(names.begin(), names.end(), is_of_a_trace))
    return;
  for (const std::string &name : names)
    unlinkat(dirfd(folder.get()), name.c_str(), 0);
  rmdir(path.c_str());
}

constexpr leftover_kind k_traces{16, 4ULL << 30, 0, &trace_lives, &bytes_of_trace, &remove_trace};

leftovers list_of_traces() { return {list_path("traces"), k_traces}; }

} // namespace

void trace_in_progress::begin(const std::string &folder) noexcept try {
  const int file =
      open(types_path(folder).c_str(),
           O_RDWR | O_CLOEXEC | O_NOFOLLOW); // stays open, because the lock ends with it
  const std::unique_ptr<char, void (*)(void *)> whole(realpath(folder.c_str(), nullptr),
                                                      &std::free);
  if (file < 0 || !whole || !lock_for_life(file))
    return;
  m_path = whole.get();
  list_of_traces().enter(m_path, 0);
} catch (const std::bad_alloc &) { // the trace stays until the user removes it
}

void trace_in_progress::end() noexcept try {
  if (!m_path.empty())
    list_of_traces().take_off(m_path);
  m_path.clear();
} catch (const std::bad_alloc &) { // the entry stays, and its trace counts as the user's
}

namespace {

/// Says why a folder that exists cannot hold a new trace; empty if it can. Opens it.
std::string why_not_used_again(const std::string &path, open_folder &old) {
  if (const long pid = writer_of(path))
    return "process " + std::to_string(pid) + " writes its trace there; put %p into the name";
  old.reset(opendir(path.c_str()));
  if (!old)
    return std::strerror(errno);
  struct stat about{};
  if (fstat(dirfd(old.get()), &about) != 0 || (about.st_uid != geteuid() && about.st_uid != 0))
    return "it is another user's"; // the other user could put links to our files there; root need not
  const auto names = names_in(old.get());
  rewinddir(old.get());
  return std::all_of(names.begin(), names.end(), is_of_a_trace) ? ""
                                                                : "it holds files that are no trace";
}

} // namespace

std::string why_no_trace_folder(const std::string &path) {
  open_folder old;
  struct stat about{};
  return lstat(path.c_str(), &about) != 0 && errno == ENOENT ? "" : why_not_used_again(path, old);
}

std::string make_trace_folder(const std::string &path) {
  if (mkdir(path.c_str(), 0700) == 0)
    return "";
  if (errno != EEXIST)
    return std::strerror(errno);
  open_folder old;
  if (std::string why = why_not_used_again(path, old); !why.empty())
    return why;
  for (const std::string &name : names_in(old.get()))
    unlinkat(dirfd(old.get()), name.c_str(), 0);
  return "";
}

void *map_new_file(const std::string &path, std::size_t bytes) noexcept {
  const int file = open_new(path, O_RDWR);
  if (file < 0)
    return nullptr;
  const int failure = posix_fallocate(
      file, 0, static_cast<off_t>(bytes)); // reports a full disk now, rather than by SIGBUS
  void *const p =
      failure ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (failure)
    errno = failure;
  const int saved = errno;
  close(file);
  if (p != MAP_FAILED)
    return p;
  unlink(path.c_str());
  errno = saved;
  return nullptr;
}

void touch(void *memory, std::size_t bytes) noexcept {
  constexpr int k_populate_write =
      23; // MADV_POPULATE_WRITE of Linux 5.14, which older headers do not know
  madvise(memory, bytes, k_populate_write);
}

bool write_whole(int file, const char *data, std::size_t bytes) noexcept {
  while (bytes) {
    const ssize_t n = write(file, data, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    data += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

bool replace_file(const std::string &path, const std::string &text) noexcept {
  const std::string fresh = path.substr(0, path.rfind('/')) + "/.new";
  unlink(fresh.c_str());
  const int file = open_new(fresh, O_WRONLY);
  if (file < 0)
    return false;
  const bool whole = write_whole(file, text.data(), text.size());
  close(file);
  return whole && rename(fresh.c_str(), path.c_str()) == 0;
}

} // namespace rt
} // namespace weft::inline v0
