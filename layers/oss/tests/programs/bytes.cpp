// SPDX-License-Identifier: Apache-2.0
// With -foss-regions items are ordered where they overlap; without it where they begin.
#include "check.hpp"

#include <atomic>

struct wide {
  long first = 0, second = 0;
};

int main() {
#ifdef WEFT_OSS_REGIONS
  int v[16] = {}, ok = 0;
  wide w;
#pragma oss task out(v[0; 8])
  {
    be_late();
    v[6] = 1;
  }
#pragma oss task in(v[6])inout(ok)
  ok += v[6];
#pragma oss task inout(v)
  {
    be_late();
    v[9] = 2;
  }
#pragma oss task in(v[9; 1])inout(ok)
  ok += v[9];
#pragma oss task out(w)
  {
    be_late();
    w.second = 4;
  }
#pragma oss task in(w.second)shared(w) inout(ok)
  ok += static_cast<int>(w.second);
#pragma oss task inout({v[i], i = 3 : 5})
  {
    be_late();
    v[5] = 8;
  }
#pragma oss task in(v[4 : 6])inout(ok)
  {
    ok += v[5];
#pragma oss release in(v[4 : 5])
  }
  // A shape takes all dimensions of what its pointer points to, and an enumerator as an extent.
  static int hyper[2][3][4][5];
  int(*const blocks)[3][4][5] = hyper;
  enum : short { both = 2 };
#pragma oss task out([both] blocks)
  {
    be_late();
    blocks[1][2][3][4] = 16;
  }
#pragma oss task in(hyper[1][2][3][4])inout(ok)
  ok += hyper[1][2][3][4];
  const int *const p = v;
#pragma oss taskwait in([16] p)
#pragma oss taskwait
  CHECK(ok == 31);
#else
  // Two items that overlap and begin elsewhere are two data: each task waits until the other has begun.
  int v[16] = {};
  std::atomic<int> begun = 0;
  for (int i = 0; i < 2; ++i) {
#pragma oss task inout(v[4 * i; 12]) shared(begun)
    {
      ++begun;
      while (begun < 2) {
#pragma oss taskyield
      }
    }
  }
#pragma oss taskwait
  CHECK(begun == 2 && v[0] == 0);
#endif
}
