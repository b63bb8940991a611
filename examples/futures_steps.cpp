// SPDX-License-Identifier: Apache-2.0
// Step by step with futures: the price of an order (docs/user/futures.md).
#include <weft/future.hpp>

#include <chrono>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

int price_of(int part) { // asks a slow catalogue
  if (part < 0)
    throw std::out_of_range("no such part");
  return 10 + part;
}

int total_of(const std::vector<int> &prices) {
  return std::accumulate(prices.begin(), prices.end(), 0);
}

} // namespace

int main() {
  // 1. One call beside the caller.
  weft::future<int> bolts = weft::async(price_of, 3);
  const int nails = price_of(4); // meanwhile
  const int both = bolts.get() + nails;

  // 2. As many calls as there are parts.
  std::vector<weft::future<int>> prices;
  for (int part = 0; part != 5; ++part)
    prices.push_back(weft::async(price_of, part));

  // 3. One future for all of them.
  weft::future<int> total = weft::dataflow(weft::unwrapping(total_of), std::move(prices));

  // 4. What is to happen with the result.
  weft::future<std::string> bill =
      total.then([](int euros) { return std::to_string(euros) + " euros"; });

  // 5. An error goes past what takes a value, to what takes a future.
  weft::future<int> twice = weft::async(price_of, -1).then([](int euros) { return 2 * euros; });
  weft::future<int> known = twice.then([](weft::future<int> before) {
    try {
      return before.get();
    } catch (const std::out_of_range &) {
      return 0;
    }
  });

  // 6. A result that a thread of the program knows.
  weft::promise<int> discount;
  weft::future<int> reduced =
      discount.get_future().then([both](int euros) { return both - euros; });
  std::thread shop([&discount] { discount.set_value(7); });

  // 7. The first of two, and a wait that ends.
  auto first = weft::when_any(weft::async(price_of, 1), weft::async(price_of, 2));
  if (first.wait_for(std::chrono::hours(1)) != weft::future_status::ready)
    return 1;
  const std::size_t which = first.get().index;

  const std::string text = bill.get();
  const bool right = both == 27 && text == "60 euros" && known.get() == 0 && reduced.get() == 20 &&
                     which < 2;
  shop.join();
  std::printf("%s: %s\n", text.c_str(), right ? "right" : "wrong");
  return right ? 0 : 1;
}
