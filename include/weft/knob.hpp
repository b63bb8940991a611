// SPDX-License-Identifier: Apache-2.0
// Knobs: settings that change while the program runs, and numbers of the program's own that others
// may change: a user by `weft set`, a policy, a search. Not part of <weft/weft.hpp>.
//
//   weft::tune::knob tile("matmul.tile", 128, weft::tune::range{16, 1024, weft::tune::steps::logarithmic});
//   for (...)
//     multiply(a, b, tile.value()); // `weft set PID matmul.tile=256` changes it
//   weft::tune::set("sched.workers", "2"); // one of Weft's
//
// docs/user/knobs.md lists the settings that can change, and says from when on a change holds.
#pragma once

#include <weft/config.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weft::inline v0 {

namespace rt {
struct program_knob;
}

namespace tune {

/// Says from when on a change holds.
enum class takes_hold {
  next_call, ///< of the function that reads the knob
  next_loop, ///< that begins
  when_quiet, ///< when no task runs that has read the knob
};

/// Says in which steps a search tries values.
enum class steps {
  linear, ///< equal differences
  logarithmic, ///< equal factors
};

/// Holds the whole numbers from `least` to `most`.
struct range {
  std::int64_t least = 0; ///< the smallest value
  std::int64_t most = 0; ///< the largest value
  tune::steps in = tune::steps::linear; ///< how a search goes through them
};

/// Holds the numbers from `least` to `most`.
struct real_range {
  double least = 0; ///< the smallest value
  double most = 0; ///< the largest value
  tune::steps in = tune::steps::linear; ///< how a search goes through them
};

class session;

/// Holds what the three types of knobs share. A knob is entered in a registry by its name, from its
/// constructor to its destructor.
///
/// Names are `object.property`, of a-z, 0-9, '_', '-' and '.', 64 characters at most.
///
/// Cost. Reading: one load. Changing: a lock.
/// Threads. Any may read and change; the constructor and the destructor are for one thread, and the
/// destructor comes after all reads.
/// Errors. Constructors: invalid_argument for a name that is bad or taken, no values, a first value
/// that is not allowed. set(): bad_setting for a value that is not allowed.
class WEFT_API any_knob {
 public:
  any_knob(const any_knob &) = delete;
  any_knob &operator=(const any_knob &) = delete;
  /// Returns the name.
  [[nodiscard]] std::string name() const;
  /// Gives the knob a value by its text, as `weft set` does.
  void set_text(std::string_view text);

 protected:
  any_knob() noexcept = default;
  ~any_knob();
  void enter(std::unique_ptr<rt::program_knob> knob); ///< for the library
  void set_word(std::int64_t value); ///< for the library
  /// Returns the value as the library keeps it.
  [[nodiscard]] std::int64_t word() const noexcept {
    return m_word->load(std::memory_order_relaxed);
  }

 private:
  friend class session;
  rt::program_knob *m_knob = nullptr;
  const std::atomic<std::int64_t> *m_word = nullptr;
};

/// Is a whole number of the program's: from a range, or one of a list.
class WEFT_API knob : public any_knob {
 public:
  /// Makes a knob whose value is `first` until it is changed.
  knob(std::string_view name, std::int64_t first, const range &allowed,
       takes_hold when = takes_hold::next_call, std::string_view help = {});
  /// Makes a knob that has one of the values of a list.
  knob(std::string_view name, std::int64_t first, std::vector<std::int64_t> allowed,
       takes_hold when = takes_hold::next_call, std::string_view help = {});
  /// Returns the present value.
  [[nodiscard]] std::int64_t value() const noexcept { return word(); }
  /// Changes the value.
  void set(std::int64_t value) { set_word(value); }
};

/// Is a number of the program's, from a range.
class WEFT_API real_knob : public any_knob {
 public:
  /// Makes a knob whose value is `first` until it is changed.
  real_knob(std::string_view name, double first, const real_range &allowed,
            takes_hold when = takes_hold::next_call, std::string_view help = {});
  /// Returns the present value.
  [[nodiscard]] double value() const noexcept { return std::bit_cast<double>(word()); }
  /// Changes the value.
  void set(double value) { set_word(std::bit_cast<std::int64_t>(value)); }
};

/// Is a choice of the program's: one of several words.
class WEFT_API choice_knob : public any_knob {
 public:
  /// Makes a knob whose value is `first`, one of the words, until it is changed.
  choice_knob(std::string_view name, std::string_view first, std::vector<std::string> allowed,
              takes_hold when = takes_hold::next_call, std::string_view help = {});
  /// Returns the index of the present word in the list.
  [[nodiscard]] std::size_t index() const noexcept { return static_cast<std::size_t>(word()); }
  /// Changes the value to the word of an index.
  void set(std::size_t index) { set_word(static_cast<std::int64_t>(index)); }
};

/// Changes a setting of Weft, or a knob of the program, while the program runs. Before Weft starts,
/// a setting gets its value as by configure().
///
/// Cost. A lock.
/// Threads. Any, and tasks. Not a function that a knob's change calls.
/// Errors. bad_setting for an unknown name (the message names the nearest one) or a bad value;
/// already_started for a setting that is read at start only; not_supported if the runtime cannot
/// follow (the message says why); shut_down. Nothing changes then.
WEFT_API void set(std::string_view name, std::string_view value);

/// Returns the present value of a setting, or of a knob, as text that set() takes.
///
/// Threads. Any, and tasks.
/// Errors. bad_setting for an unknown name.
[[nodiscard]] WEFT_API std::string get(std::string_view name);

/// Describes a setting or a knob that can change while the program runs.
struct info {
  std::string name; ///< as set() takes it
  std::string type; ///< "int", "real", "bool", "bytes", "duration", "choice" or "text"
  std::string value; ///< at present
  std::string first; ///< of a setting: at the start; of a knob: what it was made with
  std::string allowed; ///< "an integer from 1 to 8"
  std::string help; ///< a sentence
  takes_hold when = takes_hold::next_call; ///< from when on a change holds
  steps in = steps::linear; ///< how a search goes through the values
  bool of_program = false; ///< whether it is the program's own
};
/// Returns what can change while the program runs: Weft's settings, then the program's knobs, by
/// name.
///
/// Threads. Any, and tasks.
[[nodiscard]] WEFT_API std::vector<info> list();

} // namespace tune
} // namespace weft::inline v0
