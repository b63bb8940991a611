// SPDX-License-Identifier: Apache-2.0
// The counters of --hpx:print-counter, evaluated and reset for each sample as the thesis does.
#include "check.hpp"

#include <hpx/hpx_init.hpp>
#include <hpx/include/performance_counters.hpp>

#include <string>
#include <vector>

namespace {

void sample() {
  std::vector<hpx::future<int>> all;
  for (int i = 0; i != 500; ++i)
    all.push_back(hpx::async([i] { return i; }));
  hpx::wait_all(all);
}

/// What the processor counts was asked for, so no counter says that it is off.
void processor() {
  for (const char *name : {"/papi{locality#0/total}/PAPI_TOT_CYC",
                           "/papi{locality#0/total}/PAPI_TOT_INS", "papi/PAPI_BR_MSP"}) {
    hpx::performance_counters::performance_counter c(name);
    const auto about = c.get_info(hpx::launch::sync);
    const auto seen = c.get_counter_value(hpx::launch::sync);
    CHECK(seen.status_ == about.status_ && about.fullname_ == name);
    CHECK(!about.helptext_.empty());
    CHECK(about.helptext_.find("counters.hardware") == std::string::npos);
  }
}

} // namespace

int hpx_main() {
  processor();
  sample();
  hpx::evaluate_active_counters(true, "first sample");
  sample();
  sample();
  hpx::evaluate_active_counters(false, "second sample");
  hpx::reset_active_counters();
  sample();
  return hpx::finalize();
}

int main(int argc, char **argv) { return hpx::init(argc, argv); }
