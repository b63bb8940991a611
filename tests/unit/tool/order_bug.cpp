// SPDX-License-Identifier: Apache-2.0
// A program whose reader lacks `in(x)`: it may run before the writer. What comes of that is its argument;
// without one it is right.
#include <weft/weft.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace {

int g_x = 0;

void suffer(const std::string &how) {
  if (how == "output")
    std::printf("begin\nx = %d\nend\n", g_x);
  else if (how == "code" && g_x == 0)
    std::exit(9);
  else if (how == "crash" && g_x == 0)
    std::abort();
  else if (how == "hang" && g_x == 0)
    pause();
}

} // namespace

int main(int argc, char **argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "noise")
    std::printf("%d\n", getpid());
  if (how == "echo")
    for (int c; (c = std::getchar()) != EOF;)
      std::putchar(c);
  weft::spawn([] { g_x = 42; }, weft::out(g_x), weft::label("write"));
  if (how.empty())
    weft::spawn([] { g_x = g_x == 42 ? 43 : 0; }, weft::inout(g_x), weft::label("read"));
  else
    weft::spawn([&] { suffer(how); }, weft::label("read"));
  weft::taskwait();
  return how.empty() && g_x != 43;
}
