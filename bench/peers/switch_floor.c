/* SPDX-License-Identifier: Apache-2.0
   switch_floor MEMBERS TIMES: what a barrier of members on one kernel thread takes at the least: each
   adds to a shared count and hands over to the next, by a switch of stacks and of the thread pointer
   (x86-64). Prints the processor time of a barrier.

     gcc -O2 -mfsgsbase bench/peers/switch_floor.c -o switch_floor && ./switch_floor 8 1000000 */
#include <immintrin.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { k_most = 64, k_stack_words = 8192 };

static void *g_at[k_most];
static void *g_back;
static int g_members, g_begun;
static long g_times;
static atomic_long g_count;

void switch_stack(void **from, void *to);
__asm__(".text\n.globl switch_stack\nswitch_stack:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n");

static void member(void) {
  const int self = g_begun++;
  const unsigned long long block = _readfsbase_u64();
  void **const next = &g_at[(self + 1) % g_members];
  for (long i = 0; i < g_times; ++i) {
    atomic_fetch_add(&g_count, 1);
    _writefsbase_u64(block);
    switch_stack(&g_at[self], *next);
  }
  switch_stack(&g_at[self], g_back); /* the first one comes here first */
  abort();
}

int main(int argc, char **argv) {
  if (argc != 3 || (g_members = atoi(argv[1])) < 2 || g_members > k_most ||
      (g_times = atol(argv[2])) < 1) {
    fprintf(stderr, "usage: switch_floor MEMBERS TIMES\n");
    return 2;
  }
  for (int i = 0; i < g_members; ++i) {
    void **const stack = malloc(k_stack_words * sizeof *stack);
    if (!stack)
      return 1;
    void **const top = stack + k_stack_words - 2; /* aligned as at a call */
    top[0] = (void *)&member;
    g_at[i] = top - 6; /* the registers that are popped */
  }
  struct timespec begin, end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  switch_stack(&g_back, g_at[0]);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  const double ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec);
  printf("%d members: %.1f ns a barrier\n", g_members, ns / (double)g_times);
  return 0;
}
