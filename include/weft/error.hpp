// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weft/config.hpp>

#include <stdexcept>
#include <string>

namespace weft::inline v0 {

/// Says what went wrong. The numbers are part of the ABI: the C functions return them negated, and
/// no number is ever reused.
enum class errc : int {
  invalid_argument = 1, ///< an argument is outside what the function accepts
  bad_setting = 2,      ///< a setting has a value (or a file a key) that Weft does not accept
  out_of_resources = 3, ///< memory, threads, stacks or worker slots ran out
  not_a_task = 4,       ///< called from where no task runs
  no_block = 5,         ///< the caller may not wait here, or a task was unblocked twice
  event_underflow = 6,  ///< more external events were fulfilled than announced
  shut_down = 7,        ///< the runtime was shut down
  deadlock = 8,         ///< every task waits for another one
  already_started = 9,  ///< too late: the workers run
  cancelled = 10,       ///< the work was cancelled before it ran
  not_supported = 11,   ///< this build or this kernel cannot do it
  rank_lost = 12,       ///< another rank of the job, or its memory, is gone (weft/net.hpp)
};

/// Returns the code's name, as it is above; "unknown" for any other number.
WEFT_API const char *to_string(errc code) noexcept;

/// Reports a failure of Weft. Weft itself throws only this type of exception (tasks throw what they
/// like). what() is a sentence that names the thing concerned and the remedy.
class WEFT_API error : public std::runtime_error {
 public:
  error(errc code, const std::string &what); ///< allocates
  error(const error &) noexcept = default; ///< copies share the text
  error &operator=(const error &) noexcept = default; ///< the same
  ~error() override;

  [[nodiscard]] errc code() const noexcept {
    return m_code;
  } ///< what happened, for programs; what() is for people

 private:
  errc m_code;
};

} // namespace weft::inline v0
