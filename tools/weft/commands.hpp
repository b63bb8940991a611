// SPDX-License-Identifier: Apache-2.0
// The commands of `weft`. Each gets the words after its name and returns the exit status.
// Bodies: main.cpp, cmd/*.cpp
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft_tool {

using words = std::vector<std::string>;
class output_file;

inline constexpr int k_ok = 0;
inline constexpr int k_failed = 1; ///< the settings or the machine do not allow it
inline constexpr int k_usage = 2;  ///< the command line makes no sense
inline constexpr int k_differs = 3; ///< a seed gave another result
inline constexpr int k_no_program = 127;

int run_info(const words &arguments);
int run_config(const words &arguments);
int run_run(const words &arguments);
int run_launch(const words &arguments);
int run_list(const words &arguments);
int run_get(const words &arguments);
int run_set(const words &arguments);
int run_top(const words &arguments);
int run_doctor(const words &arguments);
int run_trace(const words &arguments);
int run_predict(const words &arguments);
int run_report(const words &arguments);
int run_dump(const words &arguments);
int run_gdb(const words &arguments);
int run_why(const words &arguments);
int run_diff(const words &arguments);
int run_completion(const words &arguments);

extern const char k_info_help[];
extern const char k_config_help[];
extern const char k_run_help[];
extern const char k_launch_help[];
extern const char k_list_help[];
extern const char k_get_help[];
extern const char k_set_help[];
extern const char k_top_help[];
extern const char k_doctor_help[];
extern const char k_trace_help[];
extern const char k_predict_help[];
extern const char k_report_help[];
extern const char k_dump_help[];
extern const char k_gdb_help[];
extern const char k_why_help[];
extern const char k_diff_help[];
extern const char k_completion_help[];
/// Writes the page to the file `output`, and prints the findings and where the page is. `out`: that
/// file, if it is open already.
int write_report(const std::string &folder, const std::string &output,
                 std::optional<output_file> &out);

/// Describes a command for pages and completions.
struct command_row {
  const char *name;
  const char *help;
  const char *summary;
};
/// Returns all commands, in the order of `weft help`.
std::vector<command_row> command_rows();
/// Prints a page of the manual, "weft" or "weft-settings", for troff.
int print_manual(const std::string &page);

/// Prints "weft: ..." on stderr and returns k_usage.
int usage_error(const std::string &what);
/// Returns "; did you mean 'x'?" or "".
std::string suggestion(std::string_view word, const std::vector<std::string_view> &candidates);
/// Returns the path of a library of Weft's in the library folder beside this program's; "" without
/// one.
std::string own_library(const std::string &name);
/// Writes what is left of the output. Returns false if something could not be written: main() says
/// why, and a command that repeats itself ends.
bool flush_output();
/// Returns whether the only argument asks for help.
bool asks_for_help(const words &arguments);

} // namespace weft_tool
