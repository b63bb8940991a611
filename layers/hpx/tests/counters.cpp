// SPDX-License-Identifier: Apache-2.0
// Each counter that P. Grubel, Dynamic Adaptation in HPX (2016), reads or adds.
#include "check.hpp"

#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/performance_counters.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using hpx::performance_counters::performance_counter;

void work() {
  std::vector<hpx::future<long>> all;
  for (int i = 0; i != 500; ++i)
    all.push_back(hpx::async([] {
      volatile long sum = 0;
      for (int j = 0; j != 2000; ++j)
        sum = sum + j;
      return long{sum};
    }));
  hpx::wait_all(all);
}

std::int64_t value_after_work(const std::string &name) {
  performance_counter c(name);
  c.reset(hpx::launch::sync);
  work();
  const auto seen = c.get_counter_value(hpx::launch::sync);
  CHECK(seen.status_ != hpx::performance_counters::counter_status::invalid_data);
  return seen.get_value<std::int64_t>();
}

/// Times come from samples, of which a short interval may have none.
bool gets_positive(const std::string &name) {
  for (int i = 0; i != 1000; ++i)
    if (value_after_work(name) > 0)
      return true;
  return false;
}

} // namespace

int hpx_main() {
  const std::string threads = "/threads{locality#0/total}";
  for (const char *counted : {"/count/cumulative", "/count/cumulative-phases"})
    CHECK(value_after_work(threads + counted) >= 500);
  for (const char *timed :
       {"/time/average", "/time/cumulative", "/time/cumulative-overall", "/time/average-phase"})
    CHECK(gets_positive(threads + timed));
  // Overheads may be 0 for long.
  for (const char *overhead :
       {"/time/cumulative-overhead", "/time/average-overhead", "/time/average-phase-overhead"})
    CHECK(value_after_work(threads + overhead) >= 0);
  for (const char *possible : {"/count/pending-accesses", "/count/pending-misses", "/count/stolen"})
    CHECK(value_after_work(threads + possible) >= 0);
  const std::int64_t rate = value_after_work(threads + "/idle-rate");
  CHECK(rate >= 0 && rate <= 10000); // in 0.01 %
  CHECK(value_after_work("/threadqueue{locality#0/total}/length") >= 0);
  CHECK(value_after_work("/threads{locality#0/worker-thread#0}/count/cumulative") >= 0);

  performance_counter c(threads + "/count/cumulative");
  CHECK(c.get_name(hpx::launch::sync) == threads + "/count/cumulative" &&
        c.get_name().get() == c.get_name(hpx::launch::sync));
  CHECK(c.start(hpx::launch::sync) && c.stop().get());
  work();
  const auto all = c.get_value<double>(hpx::launch::sync, true); // and begins anew
  CHECK(all >= 500);
  CHECK(c.get_value<double>().get() < all);
  bool refused = false;
  try {
    performance_counter none("/threads{locality#0/total}/count/none");
  } catch (const std::exception &) {
    refused = true;
  }
  CHECK(refused);
  std::puts("done");
  return hpx::finalize();
}

int main(int argc, char **argv) { return hpx::init(argc, argv); }
