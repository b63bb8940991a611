// SPDX-License-Identifier: Apache-2.0
// Handles: the result of one task, or its exception.
#include <weft/weft.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

int main() {
  int text_length = 0;
  weft::handle<std::string> text = weft::spawn([] { return std::string("woven"); });
  weft::handle<int> failed = weft::spawn([]() -> int { throw std::out_of_range("no such row"); });
  weft::handle<void> done = weft::spawn([&] { text_length = 5; }, weft::tracked);

  std::string said;
  try {
    (void)failed.get();
  } catch (const std::out_of_range &e) {
    said = e.what();
  }
  done.get();
  const std::string word = text.get();
  std::printf("%s has %d letters; %s\n", word.c_str(), text_length, said.c_str());
  return word == "woven" && text_length == 5 && said == "no such row" ? 0 : 1;
}
