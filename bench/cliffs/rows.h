// SPDX-License-Identifier: Apache-2.0
// What the samples of `weft-bench cliffs` have in common, in C and in C++: a table of rows, each of which is run at several sizes.
//   SAMPLE                 one line per row: its name, what its sizes count, the sizes
//   SAMPLE ROW SIZE        runs it until it has taken 20 ms; prints the nanoseconds of an operation, elapsed and of all processors
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CLIFF_MOST_SIZES 8

typedef struct cliff_row {
  const char *name;
  const char *counts; // what its sizes count
  long (*run)(long size); // how many operations it has done
  long sizes[CLIFF_MOST_SIZES]; // ends with 0
} cliff_row;

static inline double cliff_now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int cliff_measure(const cliff_row *row, long size) {
  double elapsed = 0, used = 0, operations = 0;
  row->run(row->sizes[0]); // starts threads and pools
  while (elapsed < 20e6) {
    const double from = cliff_now(CLOCK_MONOTONIC), used_from = cliff_now(CLOCK_PROCESS_CPUTIME_ID);
    operations += (double)row->run(size);
    elapsed += cliff_now(CLOCK_MONOTONIC) - from;
    used += cliff_now(CLOCK_PROCESS_CPUTIME_ID) - used_from;
  }
  printf("elapsed %.4f cpu %.4f\n", elapsed / operations, used / operations);
  return 0;
}

static inline int cliff_main(int count, char **words, const cliff_row *rows, size_t row_count) {
  for (size_t i = 0; i < row_count; ++i) {
    if (count == 1) {
      printf("%s %s", rows[i].name, rows[i].counts);
      for (int k = 0; k < CLIFF_MOST_SIZES && rows[i].sizes[k] != 0; ++k)
        printf(" %ld", rows[i].sizes[k]);
      printf("\n");
    } else if (count == 3 && strcmp(words[1], rows[i].name) == 0) {
      return cliff_measure(&rows[i], atol(words[2]));
    }
  }
  if (count == 1)
    return 0;
  fprintf(stderr, "usage: %s [ROW SIZE]; without words it lists the rows\n", words[0]);
  return 2;
}
