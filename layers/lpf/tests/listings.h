// SPDX-License-Identifier: Apache-2.0
// The listings of Task-Aware LPF (2023) as programs of the C interface, a function each.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Runs a listing. Returns 0 if all went as the source says.
typedef struct listing {
  const char *name;
  int (*run)(void);
  int prints; // whether a line on standard error is expected
} listing;

enum { listing_count = 12 };
extern const listing listings[listing_count];

#ifdef __cplusplus
}
#endif
