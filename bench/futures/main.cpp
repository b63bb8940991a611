// SPDX-License-Identifier: Apache-2.0
// The samples of suite "futures", in the model that the build names:
//
//     <program> fib|skynet|integrate WORKERS COUNT
//
// COUNT is n, or the leaves of the tree. FUTURES_LAUNCH is the launch policy.
#include "../inncabs/support/request.hpp"
#include "workloads.hpp"
#include WEFT_MODEL_HEADER

#include <exception>
#include <sys/resource.h>

namespace {

using model = inncabs::WEFT_MODEL;

void measure(const sample::request &r) {
  const auto run = r.workload == "fib"         ? futures::fib<model>
                   : r.workload == "skynet"    ? futures::skynet<model>
                   : r.workload == "integrate" ? futures::integrate<model>
                                               : nullptr;
  if (!run)
    sample::refuse(r);
  const char *policy = std::getenv("FUTURES_LAUNCH");
  model::runtime runtime({r.workers, inncabs::parse_launch(policy ? policy : "async"), 4000});
  runtime.call([] { futures::fib<model>(7); }); // threads and pools
  long calls = 0;
  const double before = inncabs::cpu_ns();
  const double ns = sample::time_ns([&] { runtime.call([&] { calls = run(r.count); }); });
  sample::print("ns", ns / static_cast<double>(calls));
  sample::print("cpu_ns", (inncabs::cpu_ns() - before) / static_cast<double>(calls));
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  sample::print("peak_mib", static_cast<double>(used.ru_maxrss) / 1024);
}

} // namespace

int main(int argc, char **argv) {
  try {
    measure(sample::parse(argc, argv));
  } catch (const std::exception &e) {
    std::fprintf(stderr, "weft-futures-%s: %s\n", model::k_name, e.what());
    return 1;
  }
}
