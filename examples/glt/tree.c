// SPDX-License-Identifier: Apache-2.0
// Lightweight threads that create lightweight threads: the sum of a tree of 2^15 - 1 nodes.
#include <glt.h>
#include <stdio.h>

struct node {
  int depth;
  long sum; // of the depths below, this one included
};

static void add_up(void *p) {
  struct node *n = p;
  n->sum = n->depth;
  if (n->depth == 0)
    return;
  struct node left = {n->depth - 1, 0}, right = {n->depth - 1, 0};
  GLT_ult ult;
  glt_ult_create(add_up, &left, &ult);
  add_up(&right);
  glt_ult_join(&ult); // suspends this one: its worker runs others
  n->sum += left.sum + right.sum;
}

int main(int argc, char *argv[]) {
  glt_init(argc, argv);
  struct node root = {14, 0};
  GLT_ult ult;
  glt_ult_create_to(add_up, &root, &ult, glt_get_num_threads() - 1);
  glt_ult_join(&ult);
  printf("%ld with %d threads\n", root.sum, glt_get_num_threads());
  glt_finalize();
  return root.sum == 32752 ? 0 : 1;
}
