// SPDX-License-Identifier: Apache-2.0
// A program in HPX's names that weft::hpx runs on Weft; prints what was asked of every consumer.
#include <hpx/future.hpp>
#include <hpx/init.hpp>

#include <weft/version.hpp>

#include <cstdio>

int hpx_main() {
  hpx::future<int> left = hpx::async([] { return 20; }), right = hpx::async([] { return 22; });
  const int sum =
      hpx::dataflow(hpx::unwrapping([](int a, int b) { return a + b; }), left, right).get();
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, sum);
  return hpx::finalize() + (sum == 42 ? 0 : 1);
}

int main(int argc, char **argv) { return hpx::init(argc, argv); }
