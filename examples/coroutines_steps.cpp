// SPDX-License-Identifier: Apache-2.0
// Step by step with coroutines: a desk that answers questions (docs/user/coroutines.md).
#include <weft/coro.hpp>
#include <weft/sync.hpp>
#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// 1. A function that waits, without a stack.
weft::task<int> answer(int question) {
  co_await weft::this_task::async_sleep_for(std::chrono::microseconds(10)); // looks it up
  if (question < 0)
    throw std::invalid_argument("no question");
  co_return 2 * question;
}

// 2. A coroutine calls another one by co_await: no task is made, and exceptions come up.
weft::task<std::string> polite(int question) {
  int found = 0;
  try {
    found = co_await answer(question);
  } catch (const std::invalid_argument &) {
    co_return "pardon?";
  }
  co_return "it is " + std::to_string(found);
}

// 3. Two at a time: async() makes a task of the one, and the future is awaited.
weft::task<int> both(int left, int right) {
  weft::future<int> other = weft::async(answer(left));
  const int mine = co_await answer(right);
  co_return mine + co_await other;
}

// 4. A desk that takes questions until no more come.
weft::task<int> desk(weft::channel<int> &questions) {
  int sum = 0;
  while (auto question = co_await questions.async_pop())
    sum += co_await answer(*question);
  co_return sum;
}

} // namespace

int main() {
  // Plain code runs a coroutine as a task, and waits for it.
  const std::string text = polite(21).get();
  const bool was_polite = polite(-1).get() == "pardon?";
  const int four = both(1, 1).get();

  // A thousand desks wait at a time; each takes its frame, and no stack.
  weft::channel<int> questions(16);
  std::vector<weft::future<int>> desks;
  for (int i = 0; i != 1000; ++i)
    desks.push_back(weft::async(desk(questions)));
  for (int i = 1; i <= 100; ++i)
    (void)questions.push(i);
  questions.close();
  int sum = 0;
  for (weft::future<int> &each : desks)
    sum += each.get();

  // 5. A coroutine with data: `sum` is the task's until the coroutine has ended.
  weft::spawn(
      [&sum]() -> weft::task<void> {
        const int more = co_await answer(5);
        sum += more;
      },
      weft::inout(sum));
  weft::taskwait(weft::in(sum));

  const bool right = text == "it is 42" && was_polite && four == 4 && sum == 10'110;
  std::printf("%s: %s\n", text.c_str(), right ? "right" : "wrong");
  return right ? 0 : 1;
}
