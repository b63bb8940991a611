// SPDX-License-Identifier: Apache-2.0
#include "subjects.hpp"

#include "../arguments.hpp"
#include "../process.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace bench::apps {

const std::vector<series> &all_series() {
  using enum series::kind;
  static const std::vector<series> all{
      {"weft", "weft", {}, weft},
      {"weft:deps=locks", "weft", {"WEFT_DEPS_SYSTEM=locks"}, ablation},
      {"weft:delegated", "weft", {"WEFT_SCHED_POLICY=delegated"}, ablation},
      {"weft:ticket", "weft", {"WEFT_SCHED_POLICY=delegated", "WEFT_SCHED_LOCK=ticket"}, ablation},
      {"weft:mem=system", "weft", {"WEFT_MEM_ALLOCATOR=system"}, ablation},
      {"libgomp", "libgomp", {}, peer},
      {"libiomp5", "libiomp5", {}, peer},
      {"libomp", "libomp", {}, peer},
      {"weft:taskfor", "taskfor", {}, variant},
      {"weft:clang", "clang", {}, variant},
      {"oss", "oss", {}, variant},
      {"threads", "threads", {}, variant},
  };
  return all;
}

std::string field(const std::string &line, const std::string &name) {
  for (const std::string &word : split(line, ' '))
    if (word.rfind(name + "=", 0) == 0)
      return word.substr(name.size() + 1);
  return {};
}

std::string program(const std::string &app, const std::string &backend) {
  const bool from_peers = backend == "libiomp5" || backend == "libomp";
  return build_folder() + (from_peers ? "/peers/bin/app-" : "/bin/app-") + app + "-" + backend;
}

void require_pragma_programs(const std::vector<subject> &subjects,
                             const std::vector<std::string> &chosen) {
  for (const subject &s : subjects)
    for (const series &one : all_series()) {
      const bool compared = one.name == "weft:clang" || one.name == "oss";
      const bool named = std::find(chosen.begin(), chosen.end(), one.name) != chosen.end();
      const std::string path = program(s.name, one.backend);
      if ((chosen.empty() ? compared : named) && !std::filesystem::exists(path))
        throw std::runtime_error("--pragmas compares " + path +
                                 ", which is absent; build the target weft_apps_clang");
    }
}

subject parse_description(const std::string &line) {
  subject s;
  try {
    s.name = field(line, "app");
    s.size = std::stol(field(line, "size"));
    s.coarse = std::stol(field(line, "coarse"));
    for (const std::string &tile : split(field(line, "sweep")))
      s.sweep.push_back(std::stol(tile));
  } catch (const std::exception &) {
    s.sweep.clear();
  }
  const std::size_t title = line.find(" title=");
  if (s.name.empty() || s.sweep.empty() || title == std::string::npos)
    throw std::runtime_error("no description of an application: " + line);
  s.title = line.substr(title + 7, line.find('\n') - title - 7);
  return s;
}

std::vector<subject> find_subjects() {
  std::vector<subject> all;
  const std::string before = "app-", after = "-weft";
  for (const auto &entry : std::filesystem::directory_iterator(build_folder() + "/bin")) {
    const std::string file = entry.path().filename().string();
    if (file.rfind(before, 0) != 0 || !file.ends_with(after))
      continue;
    const outcome described = run({entry.path().string(), "--describe"});
    if (!described.ok)
      throw std::runtime_error(file + " failed: " + described.output);
    all.push_back(parse_description(described.output));
  }
  std::sort(all.begin(), all.end(),
            [](const subject &a, const subject &b) { return a.name < b.name; });
  return all;
}

} // namespace bench::apps
