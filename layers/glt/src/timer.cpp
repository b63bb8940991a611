// SPDX-License-Identifier: Apache-2.0
#include "object.hpp"

#include <chrono>

using namespace weft_glt;

namespace {

double now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct timer {
  static constexpr kind_of_object k_kind{"a timer", "glt_timer_create()"};
  enum { never, running, stopped } state = never;
  double from = 0;
  double to = 0;
};

} // namespace

double glt_get_wtime(void) { return now(); }

void glt_timer_create(GLT_timer *timer_to_make) {
  new_object<timer>("glt_timer_create", timer_to_make).state = timer::never;
}
void glt_timer_free(GLT_timer *timer_to_free) {
  require("glt_timer_free", timer_to_free, "timer");
  static_cast<void>(object_of<timer>("glt_timer_free", number_of(*timer_to_free)));
  free_object<timer>(timer_to_free);
}

void glt_timer_start(GLT_timer timer_to_start) {
  timer &t = object_of<timer>("glt_timer_start", number_of(timer_to_start));
  t.state = timer::running;
  t.from = now();
}
void glt_timer_stop(GLT_timer timer_to_stop) {
  const double stopped_at = now();
  timer &t = object_of<timer>("glt_timer_stop", number_of(timer_to_stop));
  if (t.state != timer::running)
    misuse("glt_timer_stop", "the timer does not run; start it with glt_timer_start() first");
  t.state = timer::stopped;
  t.to = stopped_at;
}
void glt_timer_get_secs(GLT_timer timer_to_read, double *secs) {
  require("glt_timer_get_secs", secs, "secs");
  const timer &t = object_of<timer>("glt_timer_get_secs", number_of(timer_to_read));
  *secs = t.state == timer::never ? 0 : (t.state == timer::running ? now() : t.to) - t.from;
}
