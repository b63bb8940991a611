// SPDX-License-Identifier: Apache-2.0
// tls_main MIGRATIONS: prints what tasks that moved so often have seen of their threads.
#include "tls_body.hpp"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  const long migrations = argc == 2 ? std::atol(argv[1]) : 1000;
  std::atexit([] { // older than Weft, so the workers are gone when it runs
    std::printf("residents: %ld made, %ld left\n", tls_residents_made(),
                tls_residents_made() - tls_residents_gone());
    std::fflush(stdout);
  });
  const tls_report r = tls_torture(migrations);
  std::printf("careful: %ld wrong in %s migrations\n", r.wrong,
              r.migrations >= migrations ? "enough" : "too few");
  std::printf("naive: errno %s, thread_local %s\n", r.naive_errno ? "wrong" : "right",
              r.naive_local ? "wrong" : "right");
}
