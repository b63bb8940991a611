// SPDX-License-Identifier: Apache-2.0
// taskloop, task for and taskloop for with their clauses in C: each iteration once, its variables, its order.
#include "check.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/c/runtime.h>

enum { k_n = 100 };

// What the iterations of a loop have had in their variable, in any order.
struct seen {
  unsigned long long count, sum, mixed, bytes;
};
static void see(struct seen *all, unsigned long long value, unsigned long long bytes) {
  __atomic_fetch_add(&all->count, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&all->sum, value, __ATOMIC_RELAXED);
  __atomic_fetch_add(&all->mixed, (value ^ (value >> 29)) * 0x9e3779b97f4a7c15u, __ATOMIC_RELAXED);
  __atomic_fetch_add(&all->bytes, bytes, __ATOMIC_RELAXED);
}
static bool same(const struct seen *a, const struct seen *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

static long g_index; // also the variable of a loop
static const int k_limit = 40;
enum color { k_red, k_green, k_blue, k_colors };

// Each form of a head, and each type of a variable: the plain loop says what is right.
// clang-format off
static void heads(int n, unsigned char step) {
  int i = -1;
#define HEAD int k = 0; k < n; ++k
#define I k
#define COUNT 100
#include "loop_case.h"
#define HEAD i = n - 1; 0 <= i; i--
#define I i
#define COUNT 100
#include "loop_case.h"
#define HEAD unsigned char k = 3; k != 250; k++
#define I k
#define COUNT 247
#include "loop_case.h"
#define HEAD long k = 5; k <= 95; k += 2 + step
#define I k
#define COUNT 19
#include "loop_case.h"
#define HEAD int k = 98; k > 1; k -= step
#define I k
#define COUNT 33
#include "loop_case.h"
#define HEAD short k = 1; n > k; k = k + 2
#define I k
#define COUNT 50
#include "loop_case.h"
#define HEAD signed char k = 99; k >= -100; k = k - 3
#define I k
#define COUNT 67
#include "loop_case.h"
#define HEAD unsigned k = 7; 40u >= k; k = step + k
#define I k
#define COUNT 12
#include "loop_case.h"
#define HEAD g_index = 0; g_index < k_limit; g_index++
#define I g_index
#define COUNT 40
#include "loop_case.h"
#define HEAD enum color k = k_red; k < k_colors; k++
#define I k
#define COUNT 3
#include "loop_case.h"
#define HEAD bool k = false; k < true; ++k
#define I k
#define COUNT 1
#include "loop_case.h"
#define HEAD size_t k = n; k > 0; --k
#define I k
#define COUNT 100
#include "loop_case.h"
  volatile const short low = -3; // the qualifiers are not those of the variable
#define HEAD __typeof__(+low) k = low; k < 5; ++k
#define I k
#define COUNT 8
#include "loop_case.h"
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-auto-type"
#define HEAD __auto_type k = n; k > 90; --k
#define I k
#define COUNT 10
#include "loop_case.h"
#pragma clang diagnostic pop

  // No iteration.
#define HEAD int k = 3; k < 3; ++k
#define I k
#define COUNT 0
#include "loop_case.h"
#define HEAD int k = 3; k > n; --k
#define I k
#define COUNT 0
#include "loop_case.h"
#define HEAD int k = 3; k <= -7; k += 3
#define I k
#define COUNT 0
#include "loop_case.h"
#define HEAD unsigned long long k = 1; k > ULLONG_MAX; --k
#define I k
#define COUNT 0
#include "loop_case.h"

  // The ends of types, also where the step leads beyond them.
#define HEAD int k = INT_MAX - 4; k < INT_MAX; k += 2
#define I k
#define COUNT 2
#include "loop_case.h"
#define HEAD int k = INT_MIN; k < INT_MIN + 2; ++k
#define I k
#define COUNT 2
#include "loop_case.h"
#define HEAD int k = INT_MIN + 4; k > INT_MIN; k -= 2
#define I k
#define COUNT 2
#include "loop_case.h"
#define HEAD int k = INT_MIN; k <= INT_MAX - INT_MAX / 2; k += INT_MAX / 2
#define I k
#define COUNT 4
#include "loop_case.h"
#define HEAD long long k = LLONG_MIN; k < LLONG_MAX / 2; k += LLONG_MAX / 4
#define I k
#define COUNT 7
#include "loop_case.h"
#define HEAD unsigned long long k = ULLONG_MAX; k > ULLONG_MAX - 9; k -= 4
#define I k
#define COUNT 3
#include "loop_case.h"
#define HEAD unsigned long long k = 0; k < ULLONG_MAX / 2; k += ULLONG_MAX / 8
#define I k
#define COUNT 5
#include "loop_case.h"
#define HEAD uint8_t k = 200; k < 255; k += 5
#define I k
#define COUNT 11
#include "loop_case.h"
}
// clang-format on

// What the plain loop would compute beyond its type no chunk computes.
static void beyond(void) {
  int called = 0;
#pragma oss taskloop grainsize(1) inout(called)
  for (int k = INT_MAX - 4; k < INT_MAX; k += 3)
    ++called;
#pragma oss task for inout(called) chunksize(5)
  for (long long k = LLONG_MAX - 1; k <= LLONG_MAX - 1; k += LLONG_MAX)
    ++called;
#pragma oss taskwait
  CHECK(called == 3);
}

static void collapsed(int m) {
  int at[5][7][3] = {0}, tasks = 0;
#pragma oss taskloop collapse(3) grainsize(10) shared(at, tasks)
  for (int a = 0; a < 5; ++a)
    for (long b = 6; b >= 0; --b) {
      for (unsigned char d = 0; d < 5; d += 2) {
        __atomic_fetch_add(&at[a][b][d / 2], 1, __ATOMIC_RELAXED);
        if (d == 0)
          continue;
        __atomic_fetch_add(&tasks, 1, __ATOMIC_RELAXED);
      }
    }
#pragma oss taskwait
#pragma oss task for collapse(2) shared(at)
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < m; ++b)
      ++at[a][b][0];
#pragma oss taskloop for collapse(2) grainsize(9) chunksize(2) shared(at)
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < m; ++b)
      ++at[a][b][1];
#pragma oss taskloop collapse(1) shared(at)
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < m; ++b)
      ++at[a][b][2];
#pragma oss taskwait
  for (int i = 0; i < 5 * 7 * 3; ++i)
    CHECK((&at[0][0][0])[i] == 2);
  CHECK(tasks == 70);
  int none = 0;
#pragma oss taskloop collapse(2) shared(none)
  for (int a = 0; a < 5; ++a)
    for (int b = 0; b < 0; ++b)
      ++none;
#pragma oss task for collapse(2) shared(none)
  for (int a = 0; a < 0; ++a)
    for (int b = 0; b < 5; ++b)
      ++none;
#pragma oss taskwait
  CHECK(none == 0);
}

// Chunks are ordered by the items of their first iteration, or by all bytes between the first and the last.
static void accesses(int n) {
  int v[n], w[n], seen = 0;
  memset(v, 0, sizeof v);
  memset(w, 0, sizeof w);
  for (int round = 0; round < 3; ++round) {
#pragma oss taskloop grainsize(8) inout(v[i]) in(v[i; 8])shared(v)
    for (int i = 0; i < n; ++i) {
      if (i == 8)
        be_late();
      ++v[i];
    }
#pragma oss taskloop grainsize(8) in(v[i])out({w[k], k = i; n - i < 8 ? n - i : 8}) shared(v, w)
    for (int i = 0; i < n; ++i)
      w[i] = v[i] + round;
  }
#pragma oss task for in({v[i * 8], i = 0; n / 8}, {w[i * 8], i = 0; n / 8}) out(seen) chunksize(4)
  for (int i = 0; i < n; ++i) {
    CHECK(v[i] == 3 && w[i] == 5);
    __atomic_store_n(&seen, 1, __ATOMIC_RELAXED);
  }
#pragma oss taskwait in(seen)
  CHECK(seen == 1);
#pragma oss taskwait
}

static void bytes(int n) {
#ifdef WEFT_OSS_REGIONS
  // The chunks of another size overlap.
  int v[n], m[8][8] = {{0}}, *const p = v;
  memset(v, 0, sizeof v);
  for (int round = 0; round < 3; ++round) {
#pragma oss taskloop grainsize(8) inout(v[i])
    for (int i = 0; i < n; ++i) {
      if (i % 8 == 3)
        be_late();
      v[i] = v[i] * 2 + 1;
    }
#pragma oss taskloop for grainsize(5) inout({v[k], k = i; 1})
    for (int i = n - 1; i >= 0; --i)
      v[i] = v[i] * 2;
#pragma oss taskloop grainsize(5) collapse(2) inout(m[i][j])
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        m[i][j] = m[i][j] * 3 + 1;
#pragma oss task for inout(m[i; 1])
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        m[i][j] = m[i][j] * 2;
    // Items of other places in each iteration, and one that would reach beyond the array.
#pragma oss taskloop grainsize(7) inout(*(p + i))
    for (int i = 0; i < n; ++i)
      p[i] += 1;
#pragma oss taskloop grainsize(8) inout(v[i; 8])
    for (int i = 0; i < n; ++i)
      v[i] *= 3;
  }
#pragma oss taskwait
  int x = 0, y = 0;
  for (int round = 0; round < 3; ++round) {
    x = ((x * 2 + 1) * 2 + 1) * 3;
    y = (y * 3 + 1) * 2;
  }
  for (int i = 0; i < n; ++i)
    CHECK(v[i] == x && m[i / 8][i % 8] == y);
#else
  (void)n;
#endif
}

// Each task has copies of its own; those of a shared loop are of its participants, arrays of run time, too.
static void variables(int n) {
  int mine = 5, own = 1, sum = 0, fixed[3] = {1, 2, 3};
  long more[n];
  unsigned char text[n / 2];
  int at[k_n] = {0};
  for (int i = 0; i < n; ++i)
    more[i] = i;
  memset(text, 'x', sizeof text);
#pragma oss taskloop grainsize(1) firstprivate(mine) private(own) shared(at)
  for (int i = 0; i < k_n; ++i) {
    ++mine;
    own = i;
    CHECK(mine == 6 && text[n / 2 - 1] == 'x' && more[n - 1] == n - 1 && fixed[2] == 3);
    text[n / 2 - 1] = 'y';
    more[n - 1] = 0;
    ++fixed[2];
    ++at[own];
  }
#pragma oss taskwait
  CHECK(mine == 5 && own == 1 && text[n / 2 - 1] == 'x' && more[n - 1] == n - 1 && fixed[2] == 3);
#pragma oss task for chunksize(1) shared(at) inout(sum) firstprivate(more, text)
  for (int i = 0; i < k_n; ++i) {
    const long before = more[n - 1];
    const unsigned char letter = text[0];
    ++more[n - 1];
    ++text[0];
    ++mine;
    for (int k = 0; k < n - 1; ++k)
      CHECK(more[k] == k);
    be_late();
    CHECK(more[n - 1] == before + 1 && text[0] == letter + 1 && text[n / 2 - 1] == 'x');
    CHECK(before - (n - 1) == mine - 6);
    ++at[i];
    // A task inside may read what no later chunk writes: the copy lives as long as the loop's task.
#pragma oss task shared(more)
    {
      be_late();
      for (int k = 0; k < n - 1; ++k)
        CHECK(more[k] == k);
    }
  }
#pragma oss taskwait
  CHECK(mine == 5 && text[0] == 'x' && more[n - 1] == n - 1);
#pragma oss taskloop for grainsize(30) chunksize(7) firstprivate(more) private(own) shared(at)
  for (int i = 0; i < k_n; ++i) {
    own = (int)more[1];
    at[i] += own;
  }
#pragma oss taskwait
#pragma oss taskloop default(none) shared(at) grainsize(30)
  for (int i = 0; i < k_n; ++i)
    at[i] += 2;
#pragma oss taskwait
#pragma oss taskloop for default(shared) if (n < 0)
  for (int i = 0; i < k_n; ++i)
    at[i] -= 5;
#pragma oss taskwait
  for (int i = 0; i < k_n; ++i)
    CHECK(at[i] == 0);
}

static int g_copied = 3;

static void options(int n) {
  int final_ones = 0, ready = 0, costs = 0, calls = 0, tasks[k_n] = {0};
#pragma oss taskloop grainsize(25) final(n > 0) label("chunk") priority(2) cost(3) wait onready(   \
    __atomic_fetch_add(&ready, 1, __ATOMIC_RELAXED)) shared(final_ones, ready, costs)
  for (int i = 0; i < k_n; ++i) {
    __atomic_fetch_add(&final_ones, weft_task_in_final(), __ATOMIC_RELAXED);
    __atomic_fetch_add(&costs, (int)weft_task_cost(), __ATOMIC_RELAXED);
    CHECK(strcmp(weft_task_label(), "chunk") == 0);
  }
#pragma oss taskwait
  CHECK(final_ones == k_n && ready == 4 && costs == 3 * k_n);
  // onready has the task's variables, and comes before the copies of the workers.
  int given = 7;
#pragma oss task for chunksize(5) onready(++ready, given = 8) label("loop") cost(2) priority(-1)   \
    wait                                                                                           \
    final(n < 0) shared(ready, calls)
  for (int i = 0; i < k_n; ++i) {
    CHECK(ready == 5 && given == 8);
    __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  }
#pragma oss taskwait
  CHECK(calls == k_n && given == 7);
  // A global variable is copied where a clause or an index names it.
#pragma oss taskloop grainsize(10) firstprivate(g_copied) shared(tasks)
  for (int i = 0; i < k_n; ++i)
    tasks[i] = g_copied;
  g_copied = 4;
#pragma oss taskwait
  for (int i = 0; i < k_n; ++i)
    CHECK(tasks[i] == 3);
  // Without a grain size there are 8 tasks for each worker, and no more than iterations.
  const int workers = weft_worker_count();
  calls = 0;
#pragma oss taskloop onready(__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED)) shared(calls)
  for (int i = 0; i < 100000; ++i)
    ;
#pragma oss taskloop onready(__atomic_fetch_add(&calls, 1000, __ATOMIC_RELAXED)) shared(calls)
  for (int i = 0; i < 3; ++i)
    ;
#pragma oss taskwait
  CHECK(calls == 8 * workers + 3000);
}

static unsigned long long spawned(void) {
  weft_statistics all = {.size = sizeof all};
  CHECK(weft_stats(&all) == 0);
  return all.spawned;
}

// A taskloop without a clause for the task of each chunk is one task, and nothing waits for it. As many of its chunks
// wait at once as it would have tasks: 8 for each worker.
static void as_one(int n) {
  int open = 0, inside = 0, labelled = 0, mine = 5, at[k_n] = {0};
  const unsigned long long before = spawned();
#pragma oss taskloop label("one") priority(2) cost(n) firstprivate(mine) shared(open, labelled, at)
  for (int i = 0; i < n; ++i) {
    while (!__atomic_load_n(&open, __ATOMIC_ACQUIRE))
      weft_taskyield();
    const int named = strcmp(weft_task_label(), "one") == 0 && weft_task_cost() == (uint64_t)n;
    __atomic_fetch_add(&labelled, named && mine == 5, __ATOMIC_RELAXED);
    ++at[i];
  }
  CHECK(spawned() - before == 1);
  mine = 6;
  __atomic_store_n(&open, 1, __ATOMIC_RELEASE);
#pragma oss taskwait
  CHECK(labelled == n);
  for (int i = 0; i < n; ++i)
    CHECK(at[i] == 1);
#pragma oss taskloop shared(inside)
  for (int i = 0; i < 9; ++i) {
    __atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&inside, __ATOMIC_RELAXED) < 7)
      weft_taskyield();
  }
#pragma oss taskwait
  CHECK(inside == 9);
}

// Loops in tasks of loops, and one after the other for long.
static void nested(int n) {
  static int counts[8][k_n];
#pragma oss taskloop grainsize(2)
  for (int i = 0; i < 8; ++i) {
#pragma oss taskloop for grainsize(33) chunksize(10)
    for (int k = 0; k < k_n; ++k)
#pragma oss atomic
      counts[i][k] += 1;
#pragma oss taskwait
  }
#pragma oss taskwait
  for (int i = 0; i < 8 * k_n; ++i)
    CHECK(counts[i / k_n][i % k_n] == 1);
  int x[n];
  memset(x, 0, sizeof x);
  for (int round = 0; round < 200; ++round) {
#pragma oss task for inout(x) chunksize(3)
    for (int i = 0; i < n; ++i)
      x[i] += i;
#pragma oss taskloop grainsize(n) inout(x)
    for (int i = 0; i < n; ++i)
      x[i] -= i - 1;
  }
#pragma oss taskwait
  for (int i = 0; i < n; ++i)
    CHECK(x[i] == 200);
}

// What only the run shows ends the program with a sentence.
static void refused(int which) {
  int zero = 0, minus = -2;
  switch (which) {
  case 0:
#pragma oss taskloop grainsize(zero)
    for (int i = 0; i < 3; ++i)
      ;
    break;
  case 1:
#pragma oss task for chunksize(minus)
    for (int i = 0; i < 3; ++i)
      ;
    break;
  case 2:
#pragma oss taskloop
    for (int i = 0; i < 3; i += zero)
      ;
    break;
  case 3:
#pragma oss taskloop
    for (unsigned i = 0; i < 3; i += minus)
      ;
    break;
  case 4:
#pragma oss task for
    for (unsigned long long i = 0; i < ULLONG_MAX; ++i)
      ;
    break;
  case 5:
#pragma oss taskiter unroll(zero)
    for (int i = 0; i < 3; ++i)
      ;
    break;
  case 6:
#pragma oss taskiter update(minus)
    while (zero)
      ;
    break;
  }
}
static void refusals(char *program) {
  static const char *const sentences[] = {
      "weft: the grainsize of a '#pragma oss taskloop' is not positive\n",
      "weft: the chunksize of a '#pragma oss task for' is not positive\n",
      "weft: the step of a loop of '#pragma oss' is 0: no iteration would be the last\n",
      "weft: the step of a loop of '#pragma oss' leads away from its limit\n",
      "weft: a loop of '#pragma oss' that workers share has more than 2^63 iterations\n",
      "weft: the unroll of a '#pragma oss taskiter' is not positive\n",
      "weft: the update of a '#pragma oss taskiter' is not positive\n"};
  for (int i = 0; i < (int)(sizeof sentences / sizeof *sentences); ++i) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      char number[2] = {(char)('0' + i), 0};
      dup2(ends[1], 2);
      execl(program, program, number, (char *)NULL);
      _exit(3);
    }
    close(ends[1]);
    char text[512] = {0};
    size_t length = 0;
    for (ssize_t got; length < sizeof text - 1 &&
                      (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
      length += (size_t)got;
    close(ends[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK(strstr(text, sentences[i]));
  }
}

int main(int count, char **arguments) {
  if (count > 1) {
    refused(arguments[1][0] - '0');
    return 0;
  }
  heads(k_n, 3);
  beyond();
  collapsed(7);
  accesses(64);
  bytes(64);
  variables(k_n);
  options(1);
  as_one(k_n);
  nested(50);
  refusals(arguments[0]);
}
