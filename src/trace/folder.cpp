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
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

std::string numbered(const std::string &folder, const char *name, unsigned slot) {
  char text[32];
  std::snprintf(text, sizeof text, "/%s%04u", name, slot);
  return folder + text;
}

constexpr const char *k_lock = ".lock";

/// Returns the name of the n-th trace of a number, from 2 on.
std::string another_name(const std::string &name, unsigned n) {
  return name + "-" + std::to_string(n);
}

bool is_of_a_trace(const std::string &name) {
  return name == "metadata" || name == ".weft" || name == ".types" || name == k_lock ||
         name.starts_with(".ring") || name.starts_with(".new") ||
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
std::string lock_path(const std::string &folder) { return folder + "/" + k_lock; }

namespace {

struct close_folder {
  void operator()(DIR *folder) const noexcept { closedir(folder); }
};
using open_folder = std::unique_ptr<DIR, close_folder>;

class open_file {
 public:
  explicit open_file(int file) noexcept : m_file(file) {}
  open_file(open_file &&other) noexcept : m_file(other.release()) {}
  open_file &operator=(open_file &&other) noexcept {
    std::swap(m_file, other.m_file);
    return *this;
  }
  ~open_file() {
    if (m_file >= 0)
      close(m_file);
  }
  [[nodiscard]] bool is_open() const noexcept { return m_file >= 0; }
  [[nodiscard]] int number() const noexcept { return m_file; }
  /// Leaves it to the caller to close the file.
  int release() noexcept { return std::exchange(m_file, -1); }

 private:
  int m_file;
};

/// Returns the names in the folder except "." and "..".
std::vector<std::string> names_in(DIR *folder) {
  std::vector<std::string> names;
  rewinddir(folder);
  while (const dirent *e = readdir(folder))
    if (const std::string name = e->d_name; name != "." && name != "..")
      names.push_back(name);
  return names;
}

trace_description description_in(const std::string &path) {
  return parse_description(read_file(description_path(path)).value_or(""));
}
/// Says whether a trace has not been ended; its program may be gone.
bool is_unended(const trace_description &trace) {
  return trace.pid != 0 && trace.state == trace_description::running;
}
bool is_unended(const std::string &path) { return is_unended(description_in(path)); }

enum class lock_state { held, free, unknown };
lock_state state_of_lock(const std::string &path) {
  const open_file file(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open())
    return lock_state::unknown;
  errno = 0;
  if (is_locked(file.number()))
    return lock_state::held;
  return errno == 0 ? lock_state::free : lock_state::unknown;
}

/// Says whether another process writes a trace there. The lock tells, because the number of a process
/// in another container, or on another host, says nothing here, and a number stays over exec. Where
/// the file system knows no locks the number is all there is.
bool trace_lives(const std::string &path) {
  lock_state lock = state_of_lock(lock_path(path));
  if (lock == lock_state::unknown) // a program of an older library has locked its types
    lock = state_of_lock(types_path(path));
  if (lock != lock_state::unknown)
    return lock == lock_state::held;
  const trace_description d = description_in(path);
  const auto pid = static_cast<pid_t>(d.pid);
  return is_unended(d) && pid != getpid() && kill(pid, 0) == 0;
}

std::string writes_there(const std::string &path) {
  const long pid = description_in(path).pid;
  return (pid ? "process " + std::to_string(pid) : "another process") +
         " writes its trace there; put %p into the name";
}

std::uint64_t bytes_of_trace(const std::string &path) {
  std::uint64_t bytes = 0;
  if (const open_folder folder{opendir(path.c_str())})
    for (const std::string &name : names_in(folder.get()))
      if (struct stat s{}; fstatat(dirfd(folder.get()), name.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0)
        bytes += static_cast<std::uint64_t>(s.st_blocks) * 512;
  return bytes;
}

bool holds_others(DIR *folder) {
  const auto names = names_in(folder);
  return !std::all_of(names.begin(), names.end(), is_of_a_trace);
}

constexpr const char *k_holds_others = "it holds files that are no trace";

/// Says why a folder that exists cannot hold a new trace, where none is being written; empty if it
/// can. Opens it.
std::string why_not_used_again(const std::string &path, open_folder &old) {
  old.reset(opendir(path.c_str()));
  if (!old)
    return std::strerror(errno);
  struct stat about{};
  if (fstat(dirfd(old.get()), &about) != 0 || (about.st_uid != geteuid() && about.st_uid != 0))
    return "it is another user's"; // the other user could put links to our files there; root need not
  return holds_others(old.get()) ? k_holds_others : "";
}

/// Returns the path without slashes at its end: with one a link leads to what it names, which
/// mkdir() and lstat() say different things of where that does not exist.
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

bool is_missing(const std::string &path) {
  struct stat about{};
  return lstat(path.c_str(), &about) != 0 && errno == ENOENT;
}

/// Has a folder that exists alone, by its lock, and removes the lock last of all.
class locked_folder {
 public:
  /// missing: the folder, or the file of its lock, has been removed meanwhile. taken: another process
  /// has the lock. refused: it cannot hold a trace.
  enum class outcome { locked, missing, taken, refused };

  explicit locked_folder(const std::string &path) : m_outcome(lock(path)) {}
  locked_folder(const locked_folder &) = delete;
  locked_folder &operator=(const locked_folder &) = delete;
  ~locked_folder() {
    if (m_outcome == outcome::locked && m_lock.is_open())
      unlinkat(dirfd(m_folder.get()), k_lock, 0);
  }
  [[nodiscard]] outcome result() const noexcept { return m_outcome; }
  /// Says why the folder is taken or refused.
  [[nodiscard]] const std::string &why() const noexcept { return m_why; }
  /// Removes all files but the lock. Returns false, and removes none, if there are files of others.
  [[nodiscard]] bool empty() const {
    if (holds_others(m_folder.get()))
      return false;
    for (const std::string &name : names_in(m_folder.get()))
      if (name != k_lock)
        unlinkat(dirfd(m_folder.get()), name.c_str(), 0);
    return true;
  }
  /// Leaves the lock to the caller, which closes the file, because the lock ends with it.
  [[nodiscard]] int release() noexcept { return m_lock.release(); }

 private:
  outcome lock(const std::string &path) {
    if (trace_lives(path)) {
      m_why = writes_there(path);
      return outcome::taken;
    }
    m_why = why_not_used_again(path, m_folder);
    if (!m_why.empty())
      return is_missing(path) ? outcome::missing : outcome::refused;
    m_lock = open_file(openat(dirfd(m_folder.get()), k_lock,
                              O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!m_lock.is_open() && errno == ENOENT)
      return outcome::missing;
    if (!m_lock.is_open()) {
      m_why = std::strerror(errno);
      return outcome::refused;
    }
    if (!lock_for_life(m_lock.number()) && (errno == EACCES || errno == EAGAIN)) {
      m_why = writes_there(path);
      return outcome::taken;
    }
    struct stat locked{}, there{};
    const bool is_of_the_name =
        fstat(m_lock.number(), &locked) == 0 &&
        fstatat(dirfd(m_folder.get()), k_lock, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
        locked.st_ino == there.st_ino;
    return is_of_the_name ? outcome::locked : outcome::missing; // its owner has ended its trace
  }

  open_folder m_folder;
  open_file m_lock{-1};
  std::string m_why;
  const outcome m_outcome;
};

/// Removes a trace, unless the user has put other files there, or a program uses its folder again.
void remove_trace(const std::string &path) {
  if (!is_unended(path)) // it is the user's, and gets no lock
    return;
  {
    const locked_folder folder(path);
    if (folder.result() != locked_folder::outcome::locked || !is_unended(path) || !folder.empty())
      return;
  }
  rmdir(path.c_str());
}

constexpr leftover_kind k_traces{16, 4ULL << 30, 0, &trace_lives, &bytes_of_trace, &remove_trace};

leftovers list_of_traces() { return {list_path("traces"), k_traces}; }

} // namespace

std::string why_no_trace_folder(const std::string &path) {
  if (is_missing(path))
    return "";
  open_folder old;
  return trace_lives(path) ? writes_there(path) : why_not_used_again(path, old);
}

std::string make_trace_folder(const std::string &folder) {
  const std::string path = without_slashes(folder);
  for (;;) {
    if (mkdir(path.c_str(), 0700) == 0)
      return "";
    if (errno != EEXIST)
      return std::strerror(errno);
    const locked_folder old(path);
    if (old.result() == locked_folder::outcome::missing)
      continue;
    if (old.result() != locked_folder::outcome::locked)
      return old.why();
    return old.empty() ? "" : k_holds_others;
  }
}

/// Makes the folder, or empties an older trace there, under its lock. Returns why it cannot; "" if it
/// can. `taken`: nothing is wrong but that the trace there is to stay. `keep`: also if its program is
/// gone.
std::string trace_in_progress::take(const std::string &path, bool keep, bool &taken) {
  for (;;) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
      return std::strerror(errno);
    locked_folder folder(path);
    taken = folder.result() == locked_folder::outcome::taken;
    if (folder.result() == locked_folder::outcome::missing)
      continue;
    if (folder.result() != locked_folder::outcome::locked)
      return folder.why();
    taken = keep && is_unended(path);
    if (taken)
      return "it holds the trace of a program that has not ended it";
    if (!folder.empty())
      return k_holds_others;
    m_lock_path = lock_path(path);
    m_lock = folder.release(); // stays open, because the lock ends with it
    return "";
  }
}

std::string trace_in_progress::begin(const std::string &pattern, std::string &folder) {
  constexpr unsigned k_most_names = 1000;
  std::string name = without_slashes(pattern);
  const auto place = name.find("%p");
  const bool has_number = place != std::string::npos;
  if (has_number)
    name.replace(place, 2, std::to_string(getpid()));
  bool taken = false;
  std::string why = take(folder = name, has_number, taken);
  for (unsigned n = 2; taken && has_number && n != k_most_names; ++n) {
    folder = another_name(name, n);
    why = take(folder, true, taken);
  }
  return why;
}

void trace_in_progress::enter(const std::string &folder) noexcept try {
  const std::unique_ptr<char, void (*)(void *)> whole(realpath(folder.c_str(), nullptr),
                                                      &std::free);
  if (!whole)
    return;
  m_path = whole.get();
  list_of_traces().enter(m_path, 0);
} catch (const std::bad_alloc &) { // the trace stays until the user removes it
}

void trace_in_progress::end() noexcept try {
  if (!m_path.empty())
    list_of_traces().take_off(m_path);
  m_path.clear();
  release();
} catch (const std::bad_alloc &) { // the entry stays, and its trace counts as the user's
}

void trace_in_progress::release() noexcept {
  if (m_lock < 0)
    return;
  unlink(m_lock_path.c_str());
  close(std::exchange(m_lock, -1));
}

std::string newest_trace(const std::string &name) {
  std::string newest = name;
  std::uint64_t began = description_in(name).clock.realtime_ns;
  for (unsigned n = 2;; ++n) {
    const std::string path = another_name(name, n);
    const trace_description d = description_in(path);
    if (d.pid == 0)
      return newest;
    if (d.clock.realtime_ns > began) {
      newest = path;
      began = d.clock.realtime_ns;
    }
  }
}

namespace {

/// Keeps the signal of a file that would exceed the limit of sizes (RLIMIT_FSIZE), which ends the
/// program, from this thread; the call fails all the same.
class no_signal_of_size {
 public:
  no_signal_of_size() noexcept {
    sigemptyset(&m_size);
    sigaddset(&m_size, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &m_size, &m_before);
  }
  no_signal_of_size(const no_signal_of_size &) = delete;
  no_signal_of_size &operator=(const no_signal_of_size &) = delete;
  ~no_signal_of_size() {
    const int saved = errno;
    if (!sigismember(&m_before, SIGXFSZ)) {
      constexpr timespec k_now{};
      sigtimedwait(&m_size, nullptr, &k_now);
      pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
    errno = saved;
  }

 private:
  sigset_t m_size, m_before;
};

} // namespace

void *map_new_file(const std::string &path, std::size_t bytes) noexcept {
  const no_signal_of_size guard;
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
  const no_signal_of_size guard;
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

bool packet_file::create(const std::string &path) noexcept {
  m_file = open_new(path, O_WRONLY);
  return is_open();
}

bool packet_file::append(const char *packet, std::size_t bytes) noexcept {
  if (lseek(m_file, m_bytes, SEEK_SET) == m_bytes && write_whole(m_file, packet, bytes)) {
    m_bytes += static_cast<off_t>(bytes);
    return true;
  }
  const int saved = errno;
  static_cast<void>(!ftruncate(m_file, m_bytes)); // if this fails, the next packet overwrites the part
  errno = saved;
  return false;
}

bool replace_file(const std::string &path, const std::string &text) noexcept {
  const std::string fresh = path.substr(0, path.rfind('/')) + "/.new";
  unlink(fresh.c_str());
  const int file = open_new(fresh, O_WRONLY);
  if (file < 0)
    return false;
  const bool whole = write_whole(file, text.data(), text.size());
  const int saved = errno;
  close(file);
  errno = saved;
  if (whole && rename(fresh.c_str(), path.c_str()) == 0)
    return true;
  const int failure = errno;
  unlink(fresh.c_str()); // it takes room
  errno = failure;
  return false;
}

} // namespace rt
} // namespace weft::inline v0
