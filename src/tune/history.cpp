// SPDX-License-Identifier: Apache-2.0
#include "tune/history.hpp"

#include "atomic/hooks.hpp"
#include "base/clock.hpp"
#include "config/cache_folder.hpp"
#include "os/file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::string_view k_head = "weft-tuning 1";
constexpr std::int64_t k_lock_pause_ns = 2'000'000;

/// Is a file that closes itself.
struct open_file {
  int number = -1;
  explicit open_file(int of) noexcept : number(of) {}
  open_file(const open_file &) = delete;
  open_file &operator=(const open_file &) = delete;
  ~open_file() {
    if (number >= 0)
      close(number);
  }
};

/// Has the lock of a file. The child of a fork() has the file open, too, so closing it is not enough.
struct unlock_later {
  const open_file &of;
  ~unlock_later() { flock(of.number, LOCK_UN); }
};

std::uint64_t sum_of(std::string_view text) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325u; // FNV-1a
  for (const char c : text)
    sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return sum;
}

std::string hex(std::uint64_t number) {
  char text[17];
  return {text, std::to_chars(text, text + sizeof text, number, 16).ptr};
}

/// Returns a field without what would end it.
std::string field(std::string_view text) {
  std::string out(text);
  for (char &c : out)
    if (static_cast<unsigned char>(c) < ' ')
      c = ' ';
  return out;
}

/// Returns a key as a reader of the file gets it.
finding_key as_written(finding_key key) {
  for (std::string *const text : {&key.build, &key.site, &key.machine})
    *text = field(*text);
  return key;
}

constexpr std::string_view k_escaped = " =%\t\n\r";

/// Writes a value so that it has none of the characters that end it.
std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value)
    if (k_escaped.find(c) == std::string_view::npos)
      out += c;
    else
      out += '%' + std::string(1, static_cast<char>('a' + k_escaped.find(c)));
  return out;
}
std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (++i == text.size() || text[i] < 'a' ||
        static_cast<std::size_t>(text[i] - 'a') >= k_escaped.size())
      return std::nullopt;
    out += k_escaped[static_cast<std::size_t>(text[i] - 'a')];
  }
  return out;
}

std::string line_of(const finding &found) {
  std::string values;
  for (const auto &[name, value] : found.values)
    values += (values.empty() ? "" : " ") + name + "=" + escaped(value);
  char ratio[32];
  const auto end = std::to_chars(ratio, ratio + sizeof ratio, found.ratio).ptr;
  std::string line = field(found.key.build) + '\t' + field(found.key.site) + '\t' +
                     std::to_string(found.key.size) + '\t' + field(found.key.machine) + '\t' +
                     std::to_string(found.key.workers) + '\t' + field(values) + '\t' +
                     std::string(ratio, end);
  return hex(sum_of(line)) + '\t' + line;
}

template <class Number>
bool read_number(std::string_view text, Number &number) noexcept {
  const char *const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  return failure == std::errc() && stop == end;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos)
      return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<finding> parse_line(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (line.size() > k_longest_finding || tab == std::string_view::npos)
    return std::nullopt;
  const std::string_view rest = line.substr(tab + 1);
  if (line.substr(0, tab) != hex(sum_of(rest)))
    return std::nullopt;
  const auto parts = split(rest, '\t');
  finding found;
  if (parts.size() != 7 || !read_number(parts[2], found.key.size) ||
      !read_number(parts[4], found.key.workers) || !read_number(parts[6], found.ratio) ||
      !std::isfinite(found.ratio))
    return std::nullopt;
  found.key.build = parts[0];
  found.key.site = parts[1];
  found.key.machine = parts[3];
  for (const std::string_view pair : split(parts[5], ' ')) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos)
      return std::nullopt;
    auto value = unescaped(pair.substr(equals + 1));
    if (!value)
      return std::nullopt;
    found.values.emplace_back(pair.substr(0, equals), std::move(*value));
  }
  return found;
}

std::string sentence(const std::string &path, const std::string &what) {
  return "the history '" + path + "' is ignored: " + what +
         "; remove it, or let tune.history name another file";
}

/// Says why a file is not read; empty: it is.
std::string fault_of(const struct stat &about) {
  if (!S_ISREG(about.st_mode))
    return "it is no plain file";
  if (about.st_uid != geteuid())
    return "it belongs to another user";
  if (about.st_mode & (S_IWGRP | S_IWOTH))
    return "other users can write it";
  if (about.st_size > static_cast<off_t>(k_largest_history))
    return "it is larger than " + std::to_string(k_largest_history >> 10) + " KiB";
  return "";
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(file, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Makes the folders of a file.
void make_folders(const std::string &path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    mkdir(path.substr(0, at).c_str(), 0700);
}

std::string cannot(const char *what, const std::string &path) {
  return std::string("the history cannot be ") + what + " ('" + path +
         "': " + std::strerror(errno) + "); the program goes on without";
}

} // namespace

std::optional<std::vector<finding>> read_own_history(const std::string &path,
                                                     std::string &trouble) {
  trouble.clear();
  std::vector<finding> all;
  const open_file file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.number < 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return all;
    trouble = sentence(path, errno == ELOOP ? "it is a link" : std::strerror(errno));
    return std::nullopt;
  }
  struct stat about{};
  std::string text;
  if (fstat(file.number, &about) != 0 || (trouble = fault_of(about)).empty()) {
    if (auto whole = read_all(file.number, k_largest_history))
      text = std::move(*whole);
    else
      trouble = std::strerror(errno); // also of a file that has grown since
  }
  const auto lines = split(text, '\n');
  if (trouble.empty() && lines.front() != k_head && !text.empty())
    trouble = "its first line is not '" + std::string(k_head) + "'";
  if (!trouble.empty()) {
    trouble = sentence(path, trouble);
    return std::nullopt;
  }
  std::size_t bad = lines.back().empty() ? 0 : 1; // a whole file ends with a line's end
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    auto found = parse_line(lines[i]);
    if (found && all.size() < k_most_findings)
      all.push_back(std::move(*found));
    else
      ++bad;
  }
  if (bad)
    trouble = std::to_string(bad) +
              (bad == 1 ? " line of the history '" : " lines of the history '") + path +
              "' is ignored: it is cut or was changed";
  return all;
}

std::optional<finding> find_in(const std::vector<finding> &all, const finding_key &asked) {
  const finding_key key = as_written(asked);
  const auto at =
      std::find_if(all.begin(), all.end(), [&key](const finding &one) { return one.key == key; });
  return at != all.end() ? std::optional(*at) : std::nullopt;
}

bool is_of_site(const finding &one, std::string_view site) { return one.key.site == field(site); }

std::optional<std::string> write_history(const std::string &path, const finding &found,
                                         std::uint64_t patience_ns) {
  if (line_of(found).size() > k_longest_finding)
    return "the history keeps nothing of site '" + found.key.site +
           "': its line would be longer than " + std::to_string(k_longest_finding) +
           " bytes; give site and knobs shorter names";
  make_folders(path);
  const std::string lock_path = path + ".lock";
  const open_file lock(open_shared(lock_path));
  if (lock.number < 0)
    return cannot("locked", lock_path);
  const std::uint64_t until = now_ns() + patience_ns;
  while (flock(lock.number, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return cannot("locked", lock_path);
    if (now_ns() >= until)
      return std::nullopt;
    os_sleep(k_lock_pause_ns);
  }
  const unlock_later locked{lock};
  std::string trouble;
  auto own = read_own_history(path, trouble);
  if (!own)
    return trouble;
  std::vector<finding> &all = *own;
  const finding_key key = as_written(found.key);
  std::erase_if(all, [&key](const finding &one) { return one.key == key; });
  if (!found.values.empty())
    all.push_back(found);
  if (all.size() > k_most_findings)
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(k_most_findings));
  std::string text = std::string(k_head) + '\n';
  for (const finding &one : all)
    text += line_of(one) + '\n';
  const std::string fresh_path = path + "." + std::to_string(getpid());
  unlink(fresh_path.c_str()); // of a process that was killed
  const open_file fresh(open_new(fresh_path, O_WRONLY));
  if (fresh.number < 0)
    return cannot("written", fresh_path);
  if (!write_all(fresh.number, text) || fsync(fresh.number) != 0 ||
      rename(fresh_path.c_str(), path.c_str()) != 0) {
    const std::string why = cannot("written", path);
    unlink(fresh_path.c_str());
    return why;
  }
  return "";
}

std::string history_path(std::string_view setting) {
  if (setting == "none")
    return "";
  if (setting != "auto")
    return std::string(setting);
  const std::string folder = cache_folder();
  return folder.empty() ? "" : folder + "/tuning";
}

std::string build_of_program() {
  std::string id;
  dl_iterate_phdr(
      [](dl_phdr_info *object, std::size_t, void *p) {
        for (int i = 0; i < object->dlpi_phnum; ++i) {
          const auto &part = object->dlpi_phdr[i];
          if (part.p_type != PT_NOTE)
            continue;
          const char *at = reinterpret_cast<const char *>(object->dlpi_addr + part.p_vaddr);
          const char *const end = at + part.p_memsz;
          while (end - at >= 12) {
            std::uint32_t name = 0, bytes = 0, type = 0;
            std::memcpy(&name, at, 4);
            std::memcpy(&bytes, at + 4, 4);
            std::memcpy(&type, at + 8, 4);
            const std::size_t whole = 12 + ((name + 3ull) & ~3ull) + ((bytes + 3ull) & ~3ull);
            if (whole > static_cast<std::size_t>(end - at))
              break;
            if (type == 3 && name == 4 && std::memcmp(at + 12, "GNU", 4) == 0) // NT_GNU_BUILD_ID
              for (std::uint32_t b = 0; b < bytes; ++b) {
                const auto byte = static_cast<unsigned char>(at[16 + b]);
                constexpr char digits[] = "0123456789abcdef";
                static_cast<std::string *>(p)->append({digits[byte >> 4], digits[byte & 15]});
              }
            at += whole;
          }
        }
        return 1; // the program is the first object
      },
      &id);
  struct stat about{};
  if (id.empty() && stat("/proc/self/exe", &about) == 0)
    id = "size-" + std::to_string(about.st_size) + "-of-" + std::to_string(about.st_mtim.tv_sec);
  return id;
}

std::string machine_name(unsigned cpus) {
  constexpr std::string_view k_model = "model name";
  std::string model = "unknown";
  if (const auto text = read_file("/proc/cpuinfo"))
    if (const std::size_t at = text->find(k_model); at != std::string::npos) {
      const std::size_t begin = text->find(": ", at), end = text->find('\n', at);
      if (begin != std::string::npos && begin < end)
        model = text->substr(begin + 2, std::min<std::size_t>(end - begin - 2, 100));
    }
  return field(model) + ", " + std::to_string(cpus) + " cpus";
}

int size_bucket(double work) noexcept {
  return work > 0 && std::isfinite(work) ? std::ilogb(work) : 0;
}

} // namespace rt
} // namespace weft::inline v0
