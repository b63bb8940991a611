// SPDX-License-Identifier: Apache-2.0
#include "os/leftovers.hpp"

#include "atomic/hooks.hpp"
#include "os/file.hpp"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <new>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_longest_list = 1 << 20;
constexpr int k_old_looks = 4; // at old entries, per start: each start adds one, so the list shrinks
constexpr int k_tries =
    50; // for the lock, a millisecond apart: a program that is stopped may hold it
constexpr std::uint64_t k_stray_s = 24 * 3600;

std::uint64_t now_s() noexcept { return static_cast<std::uint64_t>(std::time(nullptr)); }

/// Holds a line of the list: "SECONDS DEVICE INODE BYTES PATH".
struct entry {
  std::uint64_t entered = 0, device = 0, inode = 0, bytes = 0;
  std::string path;

  /// Returns whether the file at the path is the one that was entered.
  [[nodiscard]] bool is_there() const noexcept {
    struct stat s{};
    return lstat(path.c_str(), &s) == 0 && s.st_dev == device && s.st_ino == inode &&
           s.st_uid == geteuid();
  }
};

bool parse(std::string_view line, entry &to) {
  for (std::uint64_t *number : {&to.entered, &to.device, &to.inode, &to.bytes}) {
    const auto blank = line.find(' ');
    const auto n = parse_unsigned(line.substr(0, blank));
    if (!n || blank == std::string_view::npos)
      return false;
    *number = *n;
    line.remove_prefix(blank + 1);
  }
  to.path = line;
  return line.starts_with('/');
}

/// Holds the list in memory, under its lock; save() writes it back.
class open_list {
 public:
  explicit open_list(const std::string &path) : m_file(open_shared(path)) {
    if (m_file < 0)
      return;
    if (!is_ours() || !lock()) {
      close(m_file);
      m_file = -1;
      return;
    }
    read();
  }
  open_list(const open_list &) = delete;
  open_list &operator=(const open_list &) = delete;
  ~open_list() {
    if (m_file < 0)
      return;
    flock(m_file, LOCK_UN); // a child of a fork may have the file open, too
    close(m_file);
  }

  [[nodiscard]] bool is_open() const noexcept { return m_file >= 0; }

  void save() const {
    std::string text = "swept " + std::to_string(swept) + "\n";
    for (const entry &e : entries)
      text += std::to_string(e.entered) + " " + std::to_string(e.device) + " " +
              std::to_string(e.inode) + " " + std::to_string(e.bytes) + " " + e.path + "\n";
    if (pwrite(m_file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()) &&
        text.size() < m_size)
      static_cast<void>(!ftruncate(
          m_file, static_cast<off_t>(text.size()))); // if this fails, a line is there twice
  }

  std::vector<entry> entries;
  std::uint64_t swept = 0; // when strays were last looked for; 0: never

 private:
  [[nodiscard]] bool is_ours() const noexcept {
    struct stat s{};
    // A private file of this user. One with a second name is refused: another user may have made a
    // link to it.
    return fstat(m_file, &s) == 0 && S_ISREG(s.st_mode) && s.st_nlink == 1 &&
           s.st_uid == geteuid() && (s.st_mode & 077) == 0;
  }
  [[nodiscard]] bool lock() const noexcept {
    for (int i = 0; i < k_tries; ++i) {
      if (flock(m_file, LOCK_EX | LOCK_NB) == 0)
        return true;
      os_sleep(1'000'000); // under the start lock
    }
    return false;
  }
  void read() {
    const auto text = read_all(m_file, k_longest_list);
    m_size = text ? text->size() : k_longest_list;
    for_each_line(text ? *text : std::string(), [this](std::string_view line) {
      if (line.starts_with("swept "))
        swept = parse_unsigned(line.substr(6)).value_or(0);
      else if (entry e; parse(line, e))
        entries.push_back(std::move(e));
    });
  }

  int m_file;
  std::size_t m_size = 0;
};

void erase(std::vector<entry> &entries, const std::string &path) {
  std::erase_if(entries, [&path](const entry &e) { return e.path == path; });
}

void append(std::vector<entry> &entries, const std::string &path, std::uint64_t bytes) {
  struct stat s{};
  if (path.starts_with('/') && path.find('\n') == std::string::npos && lstat(path.c_str(), &s) == 0)
    entries.push_back({now_s(), s.st_dev, s.st_ino, bytes, path});
}

/// Appends what was not entered: the list was lost, or could not be locked then.
void append_strays(open_list &list, std::vector<std::string> (*stray)()) {
  std::vector<entry> found;
  for (const std::string &path : stray()) {
    struct stat s{};
    const bool known = std::any_of(list.entries.begin(), list.entries.end(),
                                   [&path](const entry &e) { return e.path == path; });
    if (!known && lstat(path.c_str(), &s) == 0)
      append(found, path, static_cast<std::uint64_t>(s.st_blocks) * 512);
  }
  list.entries.insert(list.entries.begin(), found.begin(), found.end());
  list.swept = now_s();
}

bool exceeds(const std::vector<entry> &entries, const leftover_kind &kind) {
  std::uint64_t bytes = 0;
  for (const entry &e : entries)
    bytes += e.bytes;
  const bool is_old = !entries.empty() && kind.most_age_s != 0 &&
                      entries.front().entered + kind.most_age_s < now_s();
  return entries.size() > kind.most || (entries.size() > 1 && bytes > kind.most_bytes) || is_old;
}

/// Goes through the entries, the oldest first. An entry of a dead program is removed; one of a
/// living program becomes the newest.
void remove_oldest(std::vector<entry> &entries, const leftover_kind &kind, std::size_t looks) {
  for (; looks > 0 && exceeds(entries, kind); --looks) {
    entry e = std::move(entries.front());
    entries.erase(entries.begin());
    if (!e.is_there())
      continue;
    if (kind.lives(e.path)) {
      e.entered = now_s();
      entries.push_back(std::move(e));
    } else {
      kind.remove(e.path);
    }
  }
}

} // namespace

void leftovers::enter(const std::string &path, std::uint64_t bytes,
                      std::vector<std::string> (*stray)()) const noexcept try {
  open_list list(m_list);
  if (!list.is_open())
    return;
  std::size_t looks = k_old_looks;
  if (stray && list.swept + k_stray_s < now_s()) {
    append_strays(list, stray);
    looks = 2 * list.entries.size();
  }
  if (m_kind.size)
    for (entry &e : list.entries)
      e.bytes = m_kind.size(e.path);
  erase(list.entries, path);
  remove_oldest(list.entries, m_kind, looks);
  append(list.entries, path, bytes);
  list.save();
} catch (const std::bad_alloc &) { // a later start finds the file as a stray
}

void leftovers::resize(const std::string &path, std::uint64_t bytes) const noexcept try {
  open_list list(m_list);
  for (entry &e : list.entries)
    if (e.path == path) {
      e.bytes = bytes;
      return list.save();
    }
} catch (const std::bad_alloc &) { // the file counts as smaller
}

void leftovers::take_off(const std::string &path) const noexcept try {
  open_list list(m_list);
  const std::size_t before = list.entries.size();
  erase(list.entries, path);
  if (list.entries.size() != before)
    list.save();
} catch (const std::bad_alloc &) { // the entry stays, without a file, until it is the oldest
}

} // namespace rt
} // namespace weft::inline v0
