/* SPDX-License-Identifier: Apache-2.0
   Entry points of LLVM's ABI that Clang calls seldom or never, and that Intel's compilers call.
   Clang compiles the program with -fnoopenmp-use-tls, so threadprivate uses the runtime. */
#include <stdio.h>
#include <stdlib.h>

void __kmpc_atomic_fixed4_add(void *, int, int *, int);
void __kmpc_atomic_fixed1_xor(void *, int, signed char *, signed char);
long __kmpc_atomic_fixed8_add_cpt(void *, int, long *, long, int);
void __kmpc_atomic_float8_add(void *, int, double *, double);
float __kmpc_atomic_float4_swp(void *, int, float *, float);
void __kmpc_atomic_fixed4_sub_rev(void *, int, int *, int);
unsigned __kmpc_atomic_fixed4u_shr_cpt(void *, int, unsigned *, unsigned, int);
void __kmpc_atomic_16(void *, int, void *, void *, void (*)(void *, void *, void *));
void *kmp_malloc(size_t);
void kmp_free(void *);
void __kmpc_threadprivate_register_vec(void *, void *, void *(*)(void *, size_t),
                                       void *(*)(void *, void *, size_t), void (*)(void *, size_t),
                                       size_t);
void *__kmpc_threadprivate_cached(void *, int, void *, size_t, void *);
unsigned long __kmpc_get_taskid(void);
unsigned long __kmpc_get_parent_taskid(void);
int omp_get_num_interop_properties(const void *);
long omp_get_interop_int(const void *, int, int *);
const char *omp_get_interop_rc_desc(const void *, int);
extern int omp_get_thread_num(void);

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "llvm_entries: %s\n", what);
    exit(1);
  }
}

static int own = 5;
#pragma omp threadprivate(own)

struct pair {
  long one, two;
};
static void add_pair(void *out, void *x, void *y) {
  ((struct pair *)out)->one = ((struct pair *)x)->one + ((struct pair *)y)->one;
  ((struct pair *)out)->two = ((struct pair *)x)->two + ((struct pair *)y)->two;
}

/* An array of objects, made in place for each thread. */
static short objects[4] = {9, 9, 9, 9};
static void *construct(void *p, size_t count) {
  for (size_t i = 0; i < count; ++i)
    ((short *)p)[i] = (short)(i + 1);
  return p;
}

static void arrays_of_objects(void) {
  __kmpc_threadprivate_register_vec(0, objects, construct, NULL, NULL, 4);
#pragma omp parallel num_threads(4)
  {
    short *mine = __kmpc_threadprivate_cached(0, 0, objects, sizeof objects, 0);
    if (omp_get_thread_num() == 0)
      require(mine == objects && mine[3] == 9,
              "the first thread's objects are those of the program");
    else
      require(mine != objects && mine[0] == 1 && mine[3] == 4, "another thread's are made for it");
  }
}

static void numbers_of_tasks(void) {
  const unsigned long outer = __kmpc_get_taskid();
  unsigned long inner = 0, above = 0;
#pragma omp task if (0) shared(inner, above)
  {
    inner = __kmpc_get_taskid();
    above = __kmpc_get_parent_taskid();
  }
  require(inner != outer && above == outer, "numbers of tasks");
}

static void interop(void) {
  int why = 7;
  require(omp_get_num_interop_properties(NULL) == 0 && omp_get_interop_int(NULL, -5, &why) == 0 &&
              why == -1,
          "no object has no properties");
  require(omp_get_interop_int(NULL, 3, &why) == 0 && why == -2, "a property that there is not");
  require(omp_get_interop_rc_desc(NULL, why) != NULL && omp_get_interop_rc_desc(NULL, 2) == NULL,
          "words for the code");
}

int main(void) {
  enum { threads = 6, times = 500 };
  int sum = 0, first = 0;
  long sequence = 0;
  double whole = 0;
  signed char bits = 0;
  struct pair both = {0, 0};
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < times; ++i) {
    __kmpc_atomic_fixed4_add(0, 0, &sum, 3);
    __kmpc_atomic_fixed1_xor(0, 0, &bits, 1);
    __kmpc_atomic_float8_add(0, 0, &whole, 0.5);
    if (__kmpc_atomic_fixed8_add_cpt(0, 0, &sequence, 1, 0) == 0)
      __atomic_add_fetch(&first, 1, __ATOMIC_RELAXED);
    struct pair more = {1, 2};
    __kmpc_atomic_16(0, 0, &both, &more, add_pair);
  }
  require(sum == 3 * threads * times && bits == 0 && whole == threads * times * 0.5,
          "atomic updates");
  require(first == 1 && sequence == threads * times, "the value before, once");
  require(both.one == threads * times && both.two == 2 * threads * times, "an update of any size");
  float moved = 1.5f;
  require(__kmpc_atomic_float4_swp(0, 0, &moved, 2.5f) == 1.5f && moved == 2.5f, "swap");
  __kmpc_atomic_fixed4_sub_rev(0, 0, &sum, 1);
  require(sum == 1 - 3 * threads * times, "reversed operands");
  unsigned word = 0x80000000u;
  require(__kmpc_atomic_fixed4u_shr_cpt(0, 0, &word, 31, 1) == 1 && word == 1,
          "the value after, unsigned");
  for (int round = 1; round < 4; ++round) {
#pragma omp parallel num_threads(threads)
    {
      require(own == 5 + (round - 1) * (10 + omp_get_thread_num()),
              "threadprivate lasts from region to region");
      own += 10 + omp_get_thread_num();
#pragma omp barrier
      require(own == 5 + round * (10 + omp_get_thread_num()), "threadprivate is the thread's own");
    }
  }
  own = 5;
  int *p = kmp_malloc(100 * sizeof *p);
  require(p != NULL, "kmp_malloc");
  kmp_free(p);
#pragma omp parallel num_threads(threads) copyin(own)
  require(own == 5, "copyin");
  arrays_of_objects();
  numbers_of_tasks();
  interop();
  puts("llvm_entries: ok");
  return 0;
}
