// SPDX-License-Identifier: Apache-2.0
// A statement that the file does not end.
// at end: expected '}'
void f(int n) {
#pragma oss task inout(n) // error 9: the file ends before the statement of '#pragma oss task' does
  {
    ++n;
#if 1
#define X
#endif
