// SPDX-License-Identifier: Apache-2.0
// Functions of one stream run one after another, whichever thread spawns them.
#include <weft/weft.hpp>

#include <cstdio>
#include <string>

struct entry {
  std::string *to;
  char what;
};

static void append(void *arg) {
  const auto *e = static_cast<entry *>(arg);
  weft::taskyield(); // the next one waits nevertheless
  *e->to += e->what;
}

int main() {
  std::string text;
  entry entries[] = {{&text, 'w'}, {&text, 'e'}, {&text, 'f'}, {&text, 't'}};
  weft::function_stream log("log");
  weft::function_options in_order;
  in_order.label = "append";
  in_order.in = &log;
  for (entry &e : entries)
    weft::spawn_function(append, &e, nullptr, nullptr, in_order);
  log.wait();
  std::printf("%s\n", text.c_str());
  return text == "weft" ? 0 : 1;
}
