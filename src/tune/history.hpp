// SPDX-License-Identifier: Apache-2.0
// What sessions have found, kept in a file for the next run. A line is one finding: of a build, a
// site, a size of work, a machine and a number of workers. What is read is a proposal: a session
// compares it with the default before it trusts it.
//
// The file may be cut, of another program, or made to do harm. A line that is not whole, whose sum is wrong, or
// that is too long is skipped; a file that another user can write, that is no plain file or too
// large, or that begins otherwise is ignored: neither read nor written. Each gives one sentence. Values
// are read by the knob's own parser.
//
// Several processes write at once: each holds a lock on FILE.lock, reads the file, and puts a new one
// in its place by rename(). A reader takes no lock: it sees the old file or the new one, whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {

/// Says what a finding is about.
struct finding_key {
  std::string build; ///< of the program
  std::string site;
  int size = 0; ///< work per call, as a power of two
  std::string machine;
  unsigned workers = 0;
  friend bool operator==(const finding_key &, const finding_key &) = default;
};
struct finding {
  finding_key key;
  std::vector<std::pair<std::string, std::string>> values; ///< of knobs, as text
  double ratio = 1; ///< cost, as a part of the default's
  friend bool operator==(const finding &, const finding &) = default;
};

inline constexpr std::size_t k_most_findings = 512; ///< the oldest go first
inline constexpr std::size_t k_longest_finding = 1024; ///< bytes of a line
inline constexpr std::size_t k_largest_history = k_most_findings * k_longest_finding;

/// Reads a file. Sets `trouble` to a sentence about what was ignored; a file that does not exist or is
/// empty is no trouble. Returns nothing if the whole file is ignored.
[[nodiscard]] std::optional<std::vector<finding>> read_own_history(const std::string &path,
                                                                   std::string &trouble);
/// Does the same, and returns no findings of a file that is ignored.
[[nodiscard]] inline std::vector<finding> read_history(const std::string &path,
                                                       std::string &trouble) {
  return read_own_history(path, trouble).value_or(std::vector<finding>{});
}
/// Returns the finding of a key.
[[nodiscard]] std::optional<finding> find_in(const std::vector<finding> &all,
                                             const finding_key &key);
/// Says whether a finding that was read is of a site, whose control characters the file has not.
[[nodiscard]] bool is_of_site(const finding &one, std::string_view site);
/// Writes a finding in the place of that of its key; one without values removes it. Returns a
/// sentence about what went wrong, and would again; empty: nothing. Returns no sentence if other
/// processes write, also after `patience_ns`: it may be tried again.
[[nodiscard]] std::optional<std::string>
write_history(const std::string &path, const finding &found, std::uint64_t patience_ns);

/// Returns the file that setting tune.history names; empty: none.
[[nodiscard]] std::string history_path(std::string_view setting);

/// Returns the build id of the program, or its size and time of change.
[[nodiscard]] std::string build_of_program();
/// Returns the model of the processor, and how many processors the machine has.
[[nodiscard]] std::string machine_name(unsigned cpus);
/// Returns the power of two that is nearest below a number of units.
[[nodiscard]] int size_bucket(double work) noexcept;

} // namespace rt
} // namespace weft::inline v0
