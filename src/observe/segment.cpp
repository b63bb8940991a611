// SPDX-License-Identifier: Apache-2.0
#include "observe/segment.hpp"

#include "base/error.hpp"
#include "base/log.hpp"
#include "observe/layout.hpp"
#include "os/file.hpp"
#include "os/leftovers.hpp"

#include <weft_common/user_folder.hpp>

#include <weft/error.hpp>
#include <weft/layer/environment.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <new>
#include <optional>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr char k_prefix[] = "weft.";
constexpr std::size_t k_least_listed =
    64 << 10; // sizes are entered as powers of two, so a growing program enters few
constexpr std::size_t k_longest_dump = 64 << 20;

using weft_common::user_folder;

constexpr char k_variable[] = "XDG_RUNTIME_DIR";

/// Holds the folder of one user, and that of a test.
struct chosen_folder {
  uid_t user = geteuid();
  user_folder folder = weft_common::make_user_folder(layer::environment(k_variable), user);
  std::string of_test;
};

chosen_folder &chosen() {
  static auto *const first = new chosen_folder; // threads may ask while the program exits
  return *first;
}

/// Returns the folder of the present user; setuid() changes the user.
user_folder own_folder() {
  const chosen_folder &first = chosen();
  if (!first.of_test.empty())
    return {first.of_test, "", false};
  const uid_t user = geteuid();
  return user == first.user ? first.folder : weft_common::make_user_folder(nullptr, user);
}

/// Returns the user of a process; the present one if there is no such process.
uid_t user_of(long pid) noexcept {
  struct stat about{};
  return stat(("/proc/" + std::to_string(pid)).c_str(), &about) == 0 ? about.st_uid : geteuid();
}

/// Returns where programs of the user may have files: the environment of a program may differ from
/// this one's.
std::vector<std::string> folders_of(uid_t user) {
  if (!chosen().of_test.empty())
    return {chosen().of_test};
  std::vector<std::string> found;
  const auto add = [&](const std::string &above, const std::string &name) {
    const std::string path = weft_common::checked_folder(above, name, user, false).path;
    if (!path.empty() && std::find(found.begin(), found.end(), path) == found.end())
      found.push_back(path);
  };
  if (user == geteuid())
    if (const std::string own = own_folder().path; !own.empty())
      found.push_back(own);
  add("/run/user/" + std::to_string(user), "weft");
  add("/dev/shm", weft_common::shared_name(user));
  return found;
}

/// Adds the users that have a folder named after them: `prefix` and their number.
void add_users(std::vector<uid_t> &users, const char *folder, std::string_view prefix) {
  DIR *const list = opendir(folder);
  if (!list)
    return;
  while (const dirent *e = readdir(list)) {
    const std::string_view name = e->d_name;
    const auto user =
        name.starts_with(prefix) ? parse_unsigned(name.substr(prefix.size())) : std::nullopt;
    if (user && std::find(users.begin(), users.end(), *user) == users.end())
      users.push_back(static_cast<uid_t>(*user));
  }
  closedir(list);
}

long pid_in(const std::string &path) noexcept {
  const auto dot = path.rfind('.');
  return dot == std::string::npos ? 0 : std::strtol(path.c_str() + dot + 1, nullptr, 10);
}

bool segment_lives(const std::string &path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return errno != ENOENT;
  const bool lives = is_locked(file);
  close(file);
  return lives;
}

void remove_files(const std::string &path) {
  unlink(path.c_str());
  unlink((path + ".waits").c_str());
  unlink((path + ".waits.new").c_str());
}

std::vector<std::string> all_segments() {
  std::vector<std::pair<std::time_t, std::string>> found;
  const std::string place = own_folder().path;
  DIR *const folder = opendir(place.c_str());
  if (!folder)
    return {};
  while (const dirent *e = readdir(folder)) {
    struct stat about{};
    const std::string_view name = e->d_name;
    if (name.starts_with(k_prefix) && parse_unsigned(name.substr(sizeof k_prefix - 1)) &&
        fstatat(dirfd(folder), e->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(about.st_mode) && about.st_uid == geteuid())
      found.emplace_back(about.st_mtime, place + e->d_name);
  }
  closedir(folder);
  std::sort(found.begin(), found.end());
  std::vector<std::string> paths;
  for (auto &[when, path] : found)
    paths.push_back(std::move(path));
  return paths;
}

// 64: more programs than are looked into after a bad day; a segment takes 0.1 to 2 MiB.
constexpr leftover_kind k_segments{64, 64 << 20, 24 * 3600, &segment_lives, nullptr, &remove_files};

leftovers list_of_segments() { return {list_path("left"), k_segments}; }

/// Creates the file of this process, unless another live one has the name: one in another pid
/// namespace.
int create_file(const std::string &path) noexcept {
  const int old = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (old >= 0) {
    const bool taken = is_locked(old);
    close(old);
    if (taken) {
      errno = EEXIST;
      return -1;
    }
    remove_files(path);
  }
  return open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

bool share(segment &area) {
  const user_folder folder = own_folder();
  if (folder.path.empty()) {
    area.trouble = folder.trouble;
    if (folder.planted)
      warn("no other program can read the counters of this one: %s", folder.trouble.c_str());
    return false;
  }
  area.path = folder.path + k_prefix + std::to_string(getpid());
  area.file = create_file(area.path);
  if (area.file < 0) {
    area.trouble = area.path + ": " + std::strerror(errno);
    return false;
  }
  struct stat about{};
  fstat(area.file, &about);
  area.device = about.st_dev;
  area.inode = about.st_ino;
  void *p = MAP_FAILED;
  if (lock_for_life(area.file) && ftruncate(area.file, static_cast<off_t>(area.bytes)) == 0 &&
      area.reserve(0, k_header_bytes))
    p = mmap(nullptr, area.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, area.file, 0);
  if (p != MAP_FAILED) {
    area.base = static_cast<char *>(p);
    return true;
  }
  area.trouble = area.path + ": " + std::strerror(errno);
  unlink(area.path.c_str());
  close(area.file);
  area.file = -1;
  return false;
}

[[noreturn]] void refuse(const std::string &path, const char *why) {
  throw_error(errc::invalid_argument, "'%s' holds no counters of a Weft program: %s", path.c_str(),
              why);
}

constexpr std::uint32_t k_most_entries = 16 * k_entry_limit, k_most_blocks = 1 << 16;
constexpr std::uint64_t k_most_cells = 1 << 22; // of a reading: 32 MiB

} // namespace

segment_header checked_header(const segment &area) {
  segment_header h; // a copy, because the program may change its own at any time
  std::memcpy(&h, area.base, sizeof h);
  if (std::memcmp(h.magic, k_segment_magic, sizeof h.magic) != 0)
    refuse(area.path, "it is another kind of file, or the program is just starting");
  if (h.version != k_segment_version)
    throw_error(
        errc::invalid_argument,
        "the counters in '%s' have layout %u, this is for layout %u; use the command of the program's library",
        area.path.c_str(), h.version, k_segment_version);
  const std::uint64_t catalogue = std::uint64_t{h.entry_bytes} * h.entry_limit,
                      blocks = std::uint64_t{h.block_bytes} * h.block_limit;
  if (h.entry_limit > k_most_entries || h.block_limit > k_most_blocks ||
      h.entry_limit * (h.block_limit + std::uint64_t{1}) > k_most_cells)
    refuse(area.path, "it has more counters or workers than any program");
  if (h.catalogue_offset % 8 != 0 || h.entry_bytes % 8 != 0 || h.process_offset % 8 != 0 ||
      h.block_offset % 8 != 0 || h.block_bytes % 8 != 0 || h.entry_bytes < sizeof(catalogue_entry) || h.block_bytes < k_block_head ||
      h.catalogue_offset > area.bytes || catalogue > area.bytes - h.catalogue_offset ||
      h.process_offset > area.bytes || h.process_bytes > area.bytes - h.process_offset ||
      h.block_offset > area.bytes || blocks > area.bytes - h.block_offset)
    refuse(area.path, "its parts lie outside of it");
  return h;
}

std::string segment_folder() { return own_folder().path; }
void use_segment_folder(const std::string &folder) { chosen().of_test = folder; }

std::vector<std::string> segment_folders() {
  if (geteuid() != 0 || !chosen().of_test.empty())
    return folders_of(geteuid());
  std::vector<uid_t> users{0};
  add_users(users, "/dev/shm", "weft-");
  add_users(users, "/run/user", "");
  std::vector<std::string> all;
  for (const uid_t user : users)
    for (std::string &folder : folders_of(user))
      all.push_back(std::move(folder));
  return all;
}

std::string list_path(const char *kind) {
  const std::string folder = own_folder().path;
  return folder.empty() ? "" : folder + k_prefix + kind;
}

std::string segment_path(long pid) {
  const std::string name = k_prefix + std::to_string(pid);
  const std::string own = own_folder().path + name;
  if (pid == getpid())
    return own;
  for (const std::string &folder : folders_of(user_of(pid)))
    if (access((folder + name).c_str(), F_OK) == 0)
      return folder + name;
  return own;
}

bool segment::reserve(std::size_t from, std::size_t length) noexcept {
  if (file < 0)
    return true;
  struct stat about{};
  if (fstat(file, &about) != 0 || about.st_dev != device || about.st_ino != inode) {
    errno = EBADF;
    return false;
  }
  errno = posix_fallocate(file, static_cast<off_t>(from), static_cast<off_t>(length));
  return errno == 0;
}

segment make_segment(std::size_t bytes, readable_by whom) {
  segment s;
  s.bytes = bytes;
  if (whom == readable_by::others && share(s))
    return s;
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  s.base = p == MAP_FAILED ? nullptr : static_cast<char *>(p);
  return s;
}

segment map_segment(const std::string &path) {
  segment s;
  s.path = path;
  s.file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (s.file < 0)
    throw_error(errc::invalid_argument, "'%s' cannot be opened: %s", path.c_str(),
                std::strerror(errno));
  if (!is_of_owner(s.file, pid_in(path))) {
    unmap(s);
    refuse(path, "it is another user's");
  }
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
    static_cast<void>(checked_header(s));
  } catch (...) {
    unmap(s);
    throw;
  }
  return s;
}

void unmap(segment &area) noexcept {
  if (area.base)
    munmap(area.base, area.bytes);
  if (area.file >= 0)
    close(area.file);
  area.base = nullptr;
  area.file = -1;
}

bool owner_lives(const segment &area) noexcept { return area.file >= 0 && is_locked(area.file); }

void list_segment(segment &area, std::uint64_t bytes) noexcept try {
  area.listed_bytes = std::bit_ceil(std::max<std::uint64_t>(bytes, k_least_listed));
  list_of_segments().enter(area.path, area.listed_bytes, &all_segments);
} catch (const std::bad_alloc &) { // a later program removes the file
}

void resize_listed(segment &area, std::uint64_t bytes) noexcept try {
  if (area.file < 0 || bytes <= area.listed_bytes)
    return;
  area.listed_bytes = std::bit_ceil(bytes);
  list_of_segments().resize(area.path, area.listed_bytes);
} catch (const std::bad_alloc &) { // the segment counts with its old size
}

void remove_segment(const segment &area) noexcept try {
  unlink(area.path.c_str());
  list_of_segments().take_off(area.path);
} catch (const std::bad_alloc &) { // the list drops the entry when it is the oldest
}

bool is_of_owner(int file, long pid) noexcept {
  struct stat about{}, program{};
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
    return false;
  if (about.st_uid == geteuid())
    return true;
  char path[40];
  std::snprintf(path, sizeof path, "/proc/%ld", pid);
  return geteuid() == 0 && stat(path, &program) == 0 && program.st_uid == about.st_uid;
}

std::string dump_path(long pid) { return segment_path(pid) + ".waits"; }

std::string read_dump_text(long pid) {
  const int file = open(dump_path(pid).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return "";
  auto text = is_of_owner(file, pid) ? read_all(file, k_longest_dump) : std::nullopt;
  close(file);
  return text ? std::move(*text) : "";
}

} // namespace rt
} // namespace weft::inline v0
