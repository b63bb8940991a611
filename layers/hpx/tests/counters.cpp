// SPDX-License-Identifier: Apache-2.0
// Each counter that P. Grubel, Dynamic Adaptation in HPX (2016), reads or adds.
#include "check.hpp"

#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/performance_counters.hpp>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
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

/// Each name stands, and has a value or a reason.
void offcore_requests() {
  using hpx::performance_counters::counter_status;
  std::ifstream cpuinfo("/proc/cpuinfo");
  const bool known = hpx::performance_counters::detail::knows_offcore_requests(cpuinfo);
  for (const char *event : {"ALL_DATA_RD", "DEMAND_CODE_RD", "DEMAND_RFO"})
    for (const char *object : {"papi", "/papi", "/papi{locality#0/total}"}) {
      performance_counter requests(std::string(object) + "/OFFCORE_REQUESTS:" + event);
      work();
      const auto seen = requests.get_counter_value(hpx::launch::sync, true);
      const auto about = requests.get_info().get();
      CHECK(seen.status_ == about.status_ && !about.helptext_.empty() && seen.value_ >= 0);
      CHECK(known || seen.status_ == counter_status::invalid_data);
      CHECK(known == (about.helptext_.find("Sandy Bridge") == std::string::npos));
    }
  performance_counter of_worker("/papi{locality#0/worker-thread#0}/OFFCORE_REQUESTS:DEMAND_RFO");
  CHECK(of_worker.get_counter_value(hpx::launch::sync).status_ == counter_status::invalid_data);
  CHECK(of_worker.get_info(hpx::launch::sync).helptext_.find("whole program") != std::string::npos);
  bool refused = false;
  try {
    performance_counter none("papi/OFFCORE_REQUESTS:NONE");
  } catch (const std::exception &) {
    refused = true;
  }
  CHECK(refused);
}

/// The numbers of the event are asked for only where they are known.
void models() {
  const auto known = [](const char *vendor, const char *generation, const char *model) {
    std::istringstream text(std::string("processor\t: 0\nvendor_id\t: ") + vendor +
                            "\ncpu family\t: " + generation + "\nmodel\t\t: " + model +
                            "\nmodel name\t: 62\nflags\t:\n\nvendor_id\t: GenuineIntel\n");
    return hpx::performance_counters::detail::knows_offcore_requests(text);
  };
  CHECK(known("GenuineIntel", "6", "62")); // Ivy Bridge
  CHECK(known("GenuineIntel", "6", "85")); // Skylake
  CHECK(!known("GenuineIntel", "6", "143")); // Sapphire Rapids
  CHECK(!known("GenuineIntel", "15", "62") && !known("AuthenticAMD", "6", "62"));
  std::istringstream nothing("");
  CHECK(!hpx::performance_counters::detail::knows_offcore_requests(nothing));
}

/// An event that the kernel itself counts is counted in threads of before and of later.
void processor_events() {
  models();
  using hpx::performance_counters::detail::processor_event;
  std::atomic<int> step{0};
  const auto compute = [] {
    volatile long sum = 0;
    for (int i = 0; i != 3'000'000; ++i)
      sum = sum + i;
  };
  std::thread before([&] {
    while (step == 0)
      std::this_thread::yield();
    compute();
  });
  processor_event none(PERF_TYPE_RAW, ~std::uint64_t{0});
  CHECK(!none.absent().empty() && none.count() == 0);
  processor_event clock(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  const double idle = clock.count();
  std::thread(compute).join();
  const double one = clock.count();
  step = 1;
  before.join();
  CHECK(!clock.absent().empty() || (one > idle && clock.count() > one));
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

  offcore_requests();
  processor_events();

  performance_counter c(threads + "/count/cumulative");
  CHECK(c.get_info(hpx::launch::sync).status_ ==
        hpx::performance_counters::counter_status::valid_data);
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
