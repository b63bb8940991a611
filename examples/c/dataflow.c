// SPDX-License-Identifier: Apache-2.0
// Weft from C99: a data-flow graph, a group that fails, a handle and a join.
#include <weft.h>

#include <stdio.h>
#include <string.h>

struct sum {
  const int *left, *right;
  int *result;
};

static int add(void *arg) {
  const struct sum *s = arg; // the task's own copy
  *s->result = *s->left + *s->right;
  return 0;
}

static int spawn_add(const int *left, const int *right, int *result) {
  const struct sum s = {left, right, result};
  const weft_access list[] = {weft_in(left), weft_in(right), weft_out(result)};
  return weft_spawn(add, &s, sizeof s, list, 3, NULL, NULL);
}

// d = (a + b) + (a + c), each sum a task.
static int dataflow(void) {
  int a = 1, b = 2, c = 3, ab = 0, ac = 0, d = 0;
  if (spawn_add(&a, &b, &ab) || spawn_add(&a, &c, &ac) || spawn_add(&ab, &ac, &d) || weft_taskwait(NULL))
    return 1;
  printf("%d + %d = %d\n", ab, ac, d);
  return d != 7;
}

static int fail_when_odd(void *arg) {
  return *(const int *)arg % 2 ? 40 + *(const int *)arg : 0;
}

// A body that returns another number than 0 has failed; the task that waits for it gets the code.
static int group(void) {
  weft_group *g = NULL;
  if (weft_group_create(WEFT_POLICY_COLLECT_ALL, &g))
    return 1;
  weft_spawn_options options = {.size = sizeof options, .label = "odd", .group = g};
  int refused = 0;
  for (int i = 0; i < 4; ++i)
    refused |= weft_spawn(fail_when_odd, &i, sizeof i, NULL, 0, &options, NULL);

  int code = 0, codes[4] = {0};
  size_t count = 0;
  const int status = weft_group_wait(g, &code);
  refused |= weft_group_failures(g, codes, 4, &count);
  printf("%s: %zu tasks failed (%s)\n", weft_error_string(status), count, weft_last_error_message());
  refused |= weft_group_destroy(g);
  return refused || status != WEFT_ERR_TASK_FAILED || count != 2 || codes[0] + codes[1] != 41 + 43;
}

static int answer(void *arg) {
  *(int *)arg = 42;
  return 0;
}

static int handle(void) {
  int x = 0, code = -1;
  weft_handle *h = NULL;
  if (weft_spawn(answer, &x, 0, NULL, 0, NULL, &h)) // 0 bytes: the body gets &x itself
    return 1;
  const int status = weft_handle_wait(h, &code);
  return weft_handle_destroy(h) || status || code || x != 42;
}

struct range {
  const int *first;
  int count;
  long sum;
};

static int sum_up(void *arg) {
  struct range *r = arg;
  if (r->count <= 16) {
    for (int i = 0; i < r->count; ++i)
      r->sum += r->first[i];
    return 0;
  }
  struct range left = {r->first, r->count / 2, 0};
  struct range right = {r->first + left.count, r->count - left.count, 0};
  const int status = weft_join(sum_up, &left, sum_up, &right, NULL);
  r->sum = left.sum + right.sum;
  return status;
}

static int join(void) {
  int numbers[1000];
  for (int i = 0; i < 1000; ++i)
    numbers[i] = i;
  struct range all = {numbers, 1000, 0};
  if (sum_up(&all))
    return 1;
  printf("the sum is %ld\n", all.sum);
  return all.sum != 499500;
}

int main(void) {
  if (strcmp(weft_version(), WEFT_VERSION_STRING) != 0)
    return 1;
  return dataflow() || group() || handle() || join();
}
