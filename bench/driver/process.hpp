// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace bench {

struct outcome {
  bool ok = false;    // exited with zero
  std::string output; // both streams; a sentence if not ok and both are empty
};

/// Runs a program (an absolute path, or a name that PATH finds) to its end, with `settings`
/// (NAME=value) added to the inherited environment; kills it after `limit`.
[[nodiscard]] outcome run(const std::vector<std::string> &command,
                          const std::vector<std::string> &settings = {},
                          std::chrono::seconds limit = std::chrono::seconds(120));

/// Runs processes that only use processor time, while the object lives.
class busy_processes {
 public:
  explicit busy_processes(int count);
  busy_processes(const busy_processes &) = delete;
  busy_processes &operator=(const busy_processes &) = delete;
  ~busy_processes();

 private:
  std::vector<int> m_pids;
};

/// Returns the folder of the build: programs are in bin/, peers in peers/bin/.
[[nodiscard]] std::string build_folder();

} // namespace bench
