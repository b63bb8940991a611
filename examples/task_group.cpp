// SPDX-License-Identifier: Apache-2.0
// Tasks that are waited for, fail and are cancelled together.
#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

// The first exception cancels the group and comes out of wait().
static bool first_failure() {
  std::string said;
  weft::task_group group;
  for (int i = 0; i < 100; ++i)
    group.spawn([i] {
      if (i == 7)
        throw std::runtime_error("file 7 is missing");
    });
  try {
    group.wait();
  } catch (const std::runtime_error &e) {
    said = e.what();
  }
  std::printf("first_cancels: %s\n", said.c_str());
  return said == "file 7 is missing";
}

// All tasks run, and wait() throws all that they threw.
static bool all_failures() {
  weft::task_group group(weft::exception_policy::collect_all);
  for (int i = 0; i < 4; ++i)
    group.spawn([i] { throw i; });
  int sum = 0;
  try {
    group.wait();
  } catch (const weft::exception_list &list) {
    for (const std::exception_ptr &one : list) {
      try {
        std::rethrow_exception(one);
      } catch (int thrown) {
        sum += thrown;
      }
    }
  }
  std::printf("collect_all: the sum of what was thrown is %d\n", sum);
  return sum == 0 + 1 + 2 + 3;
}

// A search that ends when the first task has found something.
static bool search() {
  std::vector<int> haystack(10'000, 1);
  haystack[4321] = 0;
  std::atomic<int> found = -1;
  weft::task_group group;
  for (int begin = 0; begin < 10'000; begin += 100)
    group.spawn([&, begin] {
      for (int i = begin; i < begin + 100 && !weft::this_task::cancelled(); ++i)
        if (haystack[i] == 0) {
          found = i;
          group.cancel();
        }
    });
  group.wait();
  std::printf("cancel: found %d\n", found.load());
  return found == 4321;
}

int main() {
  return first_failure() && all_failures() && search() ? 0 : 1;
}
