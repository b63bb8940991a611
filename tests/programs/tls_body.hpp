// SPDX-License-Identifier: Apache-2.0
// What tls_body.cpp, compiled as a program's part or as a shared object, offers to tls_main.cpp.
#pragma once

struct tls_report {
  long migrations = 0;  // suspensions that went on on another thread
  long wrong = 0;       // of functions that keep to the rule
  long naive_errno = 0; // wrong values where the rule is broken: errno
  long naive_local = 0; // and a thread_local variable
};

tls_report tls_torture(long migrations);
long tls_residents_made();
long tls_residents_gone();
