// SPDX-License-Identifier: Apache-2.0
// Waiting for each other, under the standard's names: a channel between tasks and threads, a latch, a
// condition variable, and a semaphore with a deadline.
#include <weft/sync.hpp>
#include <weft/thread.hpp>
#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <thread>

namespace {

int sum_through_a_channel() {
  weft::channel<int> numbers(16); // senders wait while 16 values are in it
  std::jthread outside([&] {      // a thread of the program
    for (int i = 1; i <= 100; ++i)
      (void)numbers.push(i);
    numbers.close();
  });
  int sum = 0;
  for (int n : numbers) // until the channel is closed and empty
    sum += n;
  return sum;
}

int wait_for_a_condition() {
  weft::mutex m;
  weft::condition_variable changed;
  int stock = 0, sold = 0;
  weft::thread shop([&] {
    std::unique_lock lock(m);
    changed.wait(lock, [&] { return stock >= 3; });
    sold = stock;
  });
  for (int i = 0; i < 3; ++i) {
    const std::lock_guard lock(m);
    ++stock;
    changed.notify_one();
  }
  shop.join();
  return sold;
}

} // namespace

int main() {
  weft::latch done(2);
  int a = 0, b = 0;
  weft::spawn([&] {
    a = sum_through_a_channel();
    done.count_down();
  });
  weft::spawn([&] {
    b = wait_for_a_condition();
    done.count_down();
  });
  done.wait();

  using namespace std::chrono_literals;
  weft::binary_semaphore free_place(0);
  const bool found = free_place.try_acquire_for(1ms);
  weft::taskwait();
  std::printf("%d %d %s\n", a, b, found ? "found" : "no place");
  return a == 5050 && b == 3 && !found ? 0 : 1;
}
