// SPDX-License-Identifier: Apache-2.0
// A clock that stands still, as one that is set back again and again.
#pragma once

#include <chrono>

namespace test {

/// Stands still until it has been asked `late` times, and then reads 200 us. It can notify a variable
/// when it is asked, and fail.
struct scripted_clock {
  using duration = std::chrono::microseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<scripted_clock>;
  struct failed {};
  static inline int s_asked = 0, s_late = 0, s_notifies = -1, s_fails = -1; // of one waiter at a time
  static inline void (*s_notify)(void *) = nullptr;
  static inline void *s_variable = nullptr;

  /// `notifies`, `fails`: in which question.
  template <class Variable>
  static time_point begin(Variable &v, int late, int notifies = -1, int fails = -1) {
    s_asked = 0;
    s_late = late;
    s_notifies = notifies;
    s_fails = fails;
    s_variable = &v;
    s_notify = [](void *variable) { static_cast<Variable *>(variable)->notify_one(); };
    return time_point(duration(200));
  }
  static time_point now() {
    const int asked = s_asked++;
    if (asked == s_notifies)
      s_notify(s_variable);
    if (asked == s_fails)
      throw failed();
    return time_point(duration(asked < s_late ? 0 : 200));
  }
};

} // namespace test
