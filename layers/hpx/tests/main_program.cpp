// SPDX-License-Identifier: Apache-2.0
// A program whose main() is a thread of HPX: hpx_main.hpp. Run with --hpx:threads=3.
#include "check.hpp"

#include <hpx/hpx_main.hpp>
#include <hpx/include/lcos.hpp>
#include <hpx/iostream.hpp>

#include <cstdint>
#include <vector>

namespace {
std::uint64_t fibonacci(std::uint64_t n) {
  if (n < 2)
    return n;
  hpx::future<std::uint64_t> before = hpx::async(&fibonacci, n - 1);
  const std::uint64_t last = fibonacci(n - 2);
  return before.get() + last;
}
} // namespace

int main(int argc, char *argv[]) {
  CHECK(argc == 2 && argv[1][0] == '-');
  CHECK(hpx::get_os_thread_count() == 3);
  CHECK(fibonacci(15) == 610);

  hpx::lcos::local::channel<int> numbers;
  hpx::future<int> first = numbers.get();
  CHECK(!first.is_ready());
  numbers.set(42);
  CHECK(first.get() == 42);
  hpx::lcos::local::channel<> done;
  hpx::apply(
      [](hpx::lcos::local::receive_channel<int> from, hpx::lcos::local::send_channel<> to) {
        CHECK(from.get(hpx::launch::sync) == 43);
        to.set();
      },
      numbers, done);
  numbers.set(43);
  done.get().wait();
  hpx::cout << "done" << hpx::endl;
  return 0;
}
