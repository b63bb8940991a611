// expect: weft::taskiter is neither final nor undeferred
// SPDX-License-Identifier: Apache-2.0
#include <weft/weft.hpp>

int main() {
  weft::taskiter(3, [] {}, weft::final());
}
