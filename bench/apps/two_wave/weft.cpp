// SPDX-License-Identifier: Apache-2.0
#include "two_wave.hpp"

#include <weft/weft.hpp>

void two_wave::run_tasks() {
  for (long i = 0; i < tasks(); ++i)
    weft::spawn([this, i] { first(i); }, weft::inout(a(i)), weft::label("first"));
  for (long i = 0; i < tasks(); ++i)
    weft::spawn([this, i] { second(i); }, weft::in(a(i)), weft::out(b(i)), weft::label("second"));
  weft::taskwait();
}
