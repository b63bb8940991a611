// SPDX-License-Identifier: Apache-2.0
// The floor under every suspension: a bare context switch of Boost.Context.
#include "sample.hpp"

#include <boost/context/fiber.hpp>

int main(int argc, char **argv) {
  const sample::request r = sample::parse(argc, argv);
  if (r.workload != "suspend")
    sample::refuse(r);
  boost::context::fiber other([](boost::context::fiber &&back) {
    for (;;)
      back = std::move(back).resume();
    return std::move(back); // never: the destructor unwinds
  });
  const auto switches = [&](long n) {
    for (long i = 0; i < n / 2; ++i) // there and back
      other = std::move(other).resume();
  };
  switches(sample::k_warm_up);
  sample::print("ns", sample::time_ns([&] { switches(r.count); }) / static_cast<double>(r.count));
}
