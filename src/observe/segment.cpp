// SPDX-License-Identifier: Apache-2.0
#include "observe/segment.hpp"

#include "base/error.hpp"
#include "observe/layout.hpp"

#include <weft/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr char k_prefix[] = "weft.";
constexpr std::time_t k_old_s = 24 * 3600;

/// A lock of the process: it is not inherited by fork, and ends with the process. A child that keeps the file open does not look alive.
bool take_lock(int file) noexcept {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(file, F_SETLK, &whole) == 0;
}

bool is_locked(int file) noexcept {
  struct flock whole{};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return fcntl(file, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

/// Of this process, unless another one that lives has taken the name: a neighbour in another pid namespace.
int create_file(const std::string &path) noexcept {
  const int old = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (old >= 0) {
    const bool taken = is_locked(old);
    close(old);
    if (taken)
      return errno = EEXIST, -1;
    unlink(path.c_str());
  }
  return open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

bool share(segment &s) {
  s.path = segment_path(getpid());
  s.file = create_file(s.path);
  if (s.file < 0) {
    s.trouble = s.path + ": " + std::strerror(errno);
    return false;
  }
  struct stat about{};
  fstat(s.file, &about);
  s.device = about.st_dev;
  s.inode = about.st_ino;
  void *p = MAP_FAILED;
  if (take_lock(s.file) && ftruncate(s.file, static_cast<off_t>(s.bytes)) == 0 && s.reserve(0, k_header_bytes))
    p = mmap(nullptr, s.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s.file, 0);
  if (p != MAP_FAILED) {
    s.base = static_cast<char *>(p);
    return true;
  }
  s.trouble = s.path + ": " + std::strerror(errno);
  unlink(s.path.c_str());
  close(s.file);
  s.file = -1;
  return false;
}

[[noreturn]] void refuse(const std::string &path, const char *why) {
  throw_error(errc::invalid_argument, "'%s' holds no counters of a Weft program: %s", path.c_str(), why);
}

void check_layout(const segment &s) {
  const auto &h = *reinterpret_cast<const segment_header *>(s.base);
  if (std::memcmp(h.magic, k_segment_magic, sizeof h.magic) != 0)
    refuse(s.path, "it is another kind of file, or the program is just starting");
  if (h.version != k_segment_version)
    throw_error(errc::invalid_argument, "the counters in '%s' have layout %u, this is for layout %u; use the command of the program's library",
                s.path.c_str(), h.version, k_segment_version);
  const std::uint64_t catalogue = std::uint64_t{h.entry_bytes} * h.entry_limit, blocks = std::uint64_t{h.block_bytes} * h.block_limit;
  if (h.entry_bytes < sizeof(catalogue_entry) || h.block_bytes < k_block_head || h.catalogue_offset > s.bytes ||
      catalogue > s.bytes - h.catalogue_offset || h.process_offset > s.bytes || h.process_bytes > s.bytes - h.process_offset ||
      h.block_offset > s.bytes || blocks > s.bytes - h.block_offset)
    refuse(s.path, "its parts lie outside of it");
}

} // namespace

std::string segment_folder() { return "/dev/shm/"; }
std::string segment_path(long pid) { return segment_folder() + k_prefix + std::to_string(pid); }

bool segment::reserve(std::size_t from, std::size_t length) noexcept {
  if (file < 0)
    return true;
  struct stat about{};
  if (fstat(file, &about) != 0 || about.st_dev != device || about.st_ino != inode)
    return errno = EBADF, false;
  errno = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(length));
  return errno == 0;
}

segment make_segment(std::size_t bytes, bool shared) {
  segment s;
  s.bytes = bytes;
  if (shared && share(s))
    return s;
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  s.base = p == MAP_FAILED ? nullptr : static_cast<char *>(p);
  return s;
}

segment map_segment(const std::string &path) {
  segment s;
  s.path = path;
  s.file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (s.file < 0)
    throw_error(errc::invalid_argument, "'%s' cannot be opened: %s", path.c_str(), std::strerror(errno));
  struct stat about{};
  void *p = MAP_FAILED;
  if (fstat(s.file, &about) == 0 && about.st_size >= static_cast<off_t>(k_header_bytes)) {
    s.bytes = static_cast<std::size_t>(about.st_size);
    p = mmap(nullptr, s.bytes, PROT_READ, MAP_SHARED, s.file, 0);
  }
  s.base = p == MAP_FAILED ? nullptr : static_cast<char *>(p);
  try {
    if (!s.base)
      refuse(path, "it is too short, or the program is just starting");
    check_layout(s);
  } catch (...) {
    unmap(s);
    throw;
  }
  return s;
}

void unmap(segment &s) noexcept {
  if (s.base)
    munmap(s.base, s.bytes);
  if (s.file >= 0)
    close(s.file);
  s.base = nullptr;
  s.file = -1;
}

bool owner_lives(const segment &s) noexcept { return s.file >= 0 && is_locked(s.file); }

void remove_old_segments() noexcept {
  DIR *const folder = opendir(segment_folder().c_str());
  if (!folder)
    return;
  while (const dirent *e = readdir(folder)) {
    if (std::strncmp(e->d_name, k_prefix, sizeof k_prefix - 1) != 0 || std::strtol(e->d_name + sizeof k_prefix - 1, nullptr, 10) == getpid())
      continue;
    const int file = openat(dirfd(folder), e->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
      continue;
    struct stat about{};
    if (fstat(file, &about) == 0 && about.st_uid == geteuid() && about.st_mtime + k_old_s < std::time(nullptr) && !is_locked(file))
      unlinkat(dirfd(folder), e->d_name, 0);
    close(file);
  }
  closedir(folder);
}

} // namespace rt
} // namespace weft::inline v0
