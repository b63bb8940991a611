// SPDX-License-Identifier: Apache-2.0
#include "trace/folder.hpp"

#include "os/file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
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
  return name == "metadata" || name == ".weft" || name == ".types" || name.starts_with(".ring") || name.starts_with(".new") ||
         ((name[0] == 'w' || name[0] == 'k') && name.size() >= 5 && name.find_first_not_of("0123456789", 1) == std::string::npos);
}

} // namespace

std::string stream_path(const std::string &folder, unsigned slot) { return numbered(folder, "w", slot); }
std::string kernel_path(const std::string &folder, unsigned slot) { return numbered(folder, "k", slot); }
std::string ring_path(const std::string &folder, unsigned slot) { return numbered(folder, ".ring", slot); }
std::string types_path(const std::string &folder) { return folder + "/.types"; }
std::string description_path(const std::string &folder) { return folder + "/.weft"; }

namespace {

/// Of a trace that is being written by another process; 0: of none.
long writer_of(const std::string &path) {
  const auto text = read_file(description_path(path));
  if (!text)
    return 0;
  const trace_description d = parse_description(*text);
  return d.state == trace_description::running && d.pid > 0 && d.pid != getpid() && kill(static_cast<pid_t>(d.pid), 0) == 0 ? d.pid : 0;
}

} // namespace

std::string make_trace_folder(const std::string &path) {
  if (mkdir(path.c_str(), 0777) == 0)
    return "";
  if (const long pid = errno == EEXIST ? writer_of(path) : 0)
    return "process " + std::to_string(pid) + " writes its trace there; put %p into the name";
  DIR *const old = opendir(path.c_str());
  if (!old)
    return std::strerror(errno);
  std::vector<std::string> names;
  bool strangers = false;
  while (const dirent *e = readdir(old)) {
    const std::string name = e->d_name;
    if (name == "." || name == "..")
      continue;
    names.push_back(name);
    strangers |= !is_of_a_trace(name);
  }
  closedir(old);
  if (strangers)
    return "it holds files that are no trace";
  for (const std::string &name : names)
    unlink((path + "/" + name).c_str());
  return "";
}

void *map_new_file(const std::string &path, std::size_t bytes) noexcept {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return nullptr;
  const int failure = posix_fallocate(file, 0, static_cast<off_t>(bytes)); // a full disk is told now, not by SIGBUS
  void *const p = failure ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
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
  constexpr int k_populate_write = 23; // MADV_POPULATE_WRITE of Linux 5.14, which older headers do not know
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
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0)
    return false;
  const bool whole = write_whole(file, text.data(), text.size());
  close(file);
  return whole && rename(fresh.c_str(), path.c_str()) == 0;
}

} // namespace rt
} // namespace weft::inline v0
