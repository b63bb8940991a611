// SPDX-License-Identifier: Apache-2.0
// Includes GLT's header as programs of GLT do. Prints what was asked of every consumer.
#include <glt.h>
#include <weft/version.hpp>

#include <cstdio>

int main(int argc, char **argv) {
  int answer = 0;
  glt_init(argc, argv);
  GLT_ult ult;
  glt_ult_create([](void *p) { *static_cast<int *>(p) = 42; }, &answer, &ult);
  glt_ult_join(&ult);
  glt_finalize();
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, answer);
  return answer == 42 ? 0 : 1;
}
