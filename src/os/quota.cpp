// SPDX-License-Identifier: Apache-2.0
#include "os/quota.hpp"

#include "os/file.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace weft::inline v0 {
namespace rt {

namespace {

using std::string;
using std::string_view;

struct cgroup_mount {
  string root;  ///< the mounted group
  string point; ///< where it is mounted
  bool v2 = false;
  string options; ///< of version 1: the controllers, comma separated
};

string_view next_word(string_view &text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == string_view::npos) {
    text = {};
    return {};
  }
  text.remove_prefix(begin);
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

/// Replaces \ooo by its character: mountinfo writes blanks and backslashes so.
string unescape(string_view text) {
  string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_octal = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '7';
    };
    if (text[i] == '\\' && is_octal(i + 1) && is_octal(i + 2) && is_octal(i + 3)) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

bool lists(string_view comma_separated, string_view word) {
  while (!comma_separated.empty()) {
    const auto comma = comma_separated.find(',');
    if (comma_separated.substr(0, comma) == word)
      return true;
    if (comma == string_view::npos)
      break;
    comma_separated.remove_prefix(comma + 1);
  }
  return false;
}

/// Reads one line of mountinfo: id parent device root point options [optional...] - type source
/// super-options
std::optional<cgroup_mount> parse_mount(string_view line) {
  const auto dash = line.find(" - ");
  if (dash == string_view::npos)
    return std::nullopt;
  string_view left = line.substr(0, dash), right = line.substr(dash + 3);
  const auto type = next_word(right);
  if (type != "cgroup" && type != "cgroup2")
    return std::nullopt;
  for (int skipped = 0; skipped < 3; ++skipped)
    next_word(left);
  const auto root = next_word(left), point = next_word(left);
  next_word(right);
  return cgroup_mount{unescape(root), unescape(point), type == "cgroup2", string(trim(right))};
}

/// Returns the path of this process's group below the mount's root; nullopt when this mount does
/// not show it.
std::optional<string> below(const string &path, const string &root) {
  if (root == "/")
    return path == "/" ? "" : path;
  if (path == root)
    return "";
  if (path.size() > root.size() && path.compare(0, root.size(), root) == 0 &&
      path[root.size()] == '/')
    return path.substr(root.size());
  return std::nullopt;
}

/// Returns this process's group in one hierarchy: version 2, or the one of version 1 that has
/// `controller`.
std::optional<string> own_group(string_view proc_cgroup, bool v2, string_view controller) {
  std::optional<string> group;
  for_each_line(proc_cgroup, [&](string_view line) { // hierarchy:controllers:path
    const auto first = line.find(':');
    const auto second = first == string_view::npos ? first : line.find(':', first + 1);
    if (second == string_view::npos)
      return;
    const auto controllers = line.substr(first + 1, second - first - 1);
    if (v2 ? line.substr(0, first) == "0" && controllers.empty() : lists(controllers, controller))
      group = string(line.substr(second + 1));
  });
  return group;
}

struct group_folder {
  string path;
  bool v2;
};

/// Returns the folders of this process's group and of all its visible ancestors, in every hierarchy
/// that may limit `controller`.
std::vector<group_folder> group_folders(const string &root, string_view controller) {
  const auto groups = read_file(root + "/proc/self/cgroup");
  const auto mounts = read_file(root + "/proc/self/mountinfo");
  std::vector<group_folder> folders;
  if (!groups || !mounts)
    return folders;
  for_each_line(*mounts, [&](string_view line) {
    const auto mount = parse_mount(line);
    if (!mount || (!mount->v2 && !lists(mount->options, controller)))
      return;
    const auto group = own_group(*groups, mount->v2, controller);
    if (!group)
      return;
    auto path = below(*group, mount->root);
    if (!path || path->find("/..") != string::npos) {
      // Seen from another namespace, one of the two paths cannot be followed (it climbs with "..").
      // Then the mounted part is this process's own part of the tree. A mount of a known part
      // outside of it says nothing about this process.
      if (mount->root.find("/..") == string::npos && group->find("/..") == string::npos)
        return;
      path = "";
    }
    for (;;) {
      folders.push_back({root + mount->point + *path, mount->v2});
      if (path->empty())
        break;
      path->resize(path->rfind('/'));
    }
  });
  return folders;
}

/// Reads "200000 100000" of version 2; "max ..." sets no limit.
std::optional<double> parse_cpu_max(string_view text) {
  text = trim(text);
  const auto quota = parse_unsigned(next_word(text)), period = parse_unsigned(next_word(text));
  if (!quota || !period || *quota == 0 || *period == 0)
    return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> read_v1_quota(const string &folder) {
  const auto quota_text = read_file(folder + "/cpu.cfs_quota_us");
  const auto period_text = read_file(folder + "/cpu.cfs_period_us");
  if (!quota_text || !period_text)
    return std::nullopt;
  const auto quota = parse_unsigned(trim(*quota_text)),
             period = parse_unsigned(trim(*period_text)); // -1: no limit
  if (!quota || !period || *quota == 0 || *period == 0)
    return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

} // namespace

cpu_quota read_cpu_quota(const string &root) {
  cpu_quota smallest;
  for (const auto &folder : group_folders(root, "cpu")) {
    const string file = folder.path + (folder.v2 ? "/cpu.max" : "/cpu.cfs_quota_us");
    std::optional<double> cpus;
    if (!folder.v2)
      cpus = read_v1_quota(folder.path);
    else if (const auto text = read_file(file))
      cpus = parse_cpu_max(*text);
    if (cpus && (!smallest.limited() || *cpus < smallest.cpus))
      smallest = {*cpus, file.substr(root.size())};
  }
  return smallest;
}

memory_limit read_memory_limit(const string &root) {
  memory_limit smallest;
  for (const auto &folder : group_folders(root, "memory")) {
    const string file = folder.path + (folder.v2 ? "/memory.max" : "/memory.limit_in_bytes");
    const auto text = read_file(file);
    const auto bytes = text ? parse_unsigned(trim(*text)) : std::nullopt; // "max": no limit
    constexpr std::uint64_t k_v1_unlimited = UINT64_C(1)
                                             << 62; // version 1 writes LONG_MAX rounded to pages
    if (bytes && *bytes < k_v1_unlimited && *bytes < smallest.bytes)
      smallest = {*bytes, file.substr(root.size())};
  }
  return smallest;
}

} // namespace rt
} // namespace weft::inline v0
