// SPDX-License-Identifier: Apache-2.0
// Is compiled with the check for undefined behaviour, under which GCC takes the address of a function
// for no constant to compare: instances of templates that hold tables of functions.
#include <weft/algorithm.hpp>
#include <weft/coro.hpp>
#include <weft/future.hpp>
#include <weft/weft.hpp>

#include <string>
#include <vector>

weft::task<long> lazy(long value) { co_return value; }
weft::future<std::string> eager() { co_return "text"; }

int main() {
  std::vector<weft::future<std::string>> some;
  some.push_back(weft::async([] { return std::string("text"); }));
  std::vector<weft::shared_future<long>> all;
  all.push_back(weft::async(weft::launch::deferred, [] { return 1L; }).share());
  weft::promise<std::vector<int>> given;
  given.set_value(std::vector<int>{1, 2});
  const auto first = weft::when_any(weft::async([] {}), eager()).get().index;
  const auto one = weft::when_some(1, std::move(some)).get().indices.size();
  const auto each = weft::when_all(std::move(all)).get().size();
  int sum = 0;
  weft::spawn([&] { sum = 1; }, weft::out(sum), weft::tracked).get();
  sum += static_cast<int>(weft::spawn(lazy(1)).get());
  weft::taskwait();
  return static_cast<int>(first + one + each + given.get_future().get().size()) + sum;
}
