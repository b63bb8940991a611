// SPDX-License-Identifier: Apache-2.0
// What the user asks for on the command line.
#pragma once

#include <string>

namespace demo {

struct options {
  std::string data; // empty: search the usual places
  std::string kernels; // empty: the fastest
  int order = 0;    // 0: the digits
  int tile = 0;     // 0: the size that was measured to be best
  int repeat = 0;   // 0: 5 for a generated matrix, 1 for the digits
  int workers = 0;  // 0: as the runtime decides
  double shift = 0; // added to the diagonal of a generated matrix
  bool help = false;
  bool measure = false; // print nothing but the seconds: what the program asks of itself
};

/// Throws input_error with a message that names the option and the remedy.
options parse_options(int argc, char **argv);

/// Holds the text of --help.
extern const char k_help[];

} // namespace demo
