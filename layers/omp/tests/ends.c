/* SPDX-License-Identifier: Apache-2.0
   Ways to end a process, each in a process of its own. Each process must end as it does with the
   compilers' own runtimes. */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { threads = 4 };
static int computing, size_in_destructor, size_in_handler;
static volatile int for_ever = 1;

static int members(void) {
  int n = 0;
#pragma omp parallel num_threads(threads) reduction(+ : n)
  n += 1;
  return n;
}

/* Ends as member `which`, while the others compute. */
static void exit_by(int which) {
#pragma omp parallel num_threads(threads)
  {
    __atomic_add_fetch(&computing, 1, __ATOMIC_ACQ_REL);
    while (omp_get_thread_num() != which ||
           __atomic_load_n(&computing, __ATOMIC_ACQUIRE) < threads) {
    }
    exit(9);
  }
}
static void exit_by_first(void) { exit_by(0); }
static void exit_by_last(void) { exit_by(threads - 1); }

static void *compute(void *unused) {
#pragma omp parallel num_threads(2)
  {
    __atomic_add_fetch(&computing, 1, __ATOMIC_ACQ_REL);
    while (for_ever) {
    }
  }
  return unused;
}
static void return_beside_region(void) {
  pthread_t t;
  members();
  pthread_create(&t, NULL, compute, NULL);
  while (__atomic_load_n(&computing, __ATOMIC_ACQUIRE) < 2)
    usleep(100);
  exit(9);
}

static void leave_first(void) {
  members();
  pthread_exit(NULL);
}

static int told[2];
static void *report_later(void *first) {
  char byte = 0;
  pthread_join(*(pthread_t *)first,
               NULL); /* the first thread does not wait for the end of this one */
  byte = (char)(members() == threads);
  return write(told[1], &byte, 1) == 1 ? NULL : first;
}
static void leave_before_another(void) {
  static pthread_t first;
  pthread_t t;
  first = pthread_self();
  members();
  pthread_create(&t, NULL, report_later, &first);
  pthread_exit(NULL);
}

static void *sleep_on(void *unused) {
  for (;;)
    pause();
  return unused;
}
static void another_sleeps(void) {
  pthread_t t;
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  pthread_create(&t, NULL, sleep_on, NULL);
  pthread_sigmask(SIG_UNBLOCK, &all, NULL);
}
static void leave_with_alarm(void) {
  members();
  another_sleeps();
  alarm(1);
  pthread_exit(NULL);
}
static void leave_to_be_ended(void) {
  members();
  another_sleeps();
  const char byte = 1;
  if (write(told[1], &byte, 1) == 1)
    pthread_exit(NULL);
}

static void *wait_for_signal(void *set) {
  int got = 0;
  sigwait(set, &got);
  _exit(got == SIGTERM ? 9 : 8);
}
static void *read_signal(void *set) {
  const int file = signalfd(-1, set, 0);
  struct signalfd_siginfo info;
  _exit(read(file, &info, sizeof info) == sizeof info && info.ssi_signo == SIGTERM ? 9 : 8);
}
static void leave_to(void *(*waiter)(void *)) {
  static sigset_t set;
  pthread_t t;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  members();
  pthread_create(&t, NULL, waiter, &set);
  const char byte = 1;
  if (write(told[1], &byte, 1) == 1)
    pthread_exit(NULL);
}
static void leave_to_sigwait(void) { leave_to(wait_for_signal); }
static void leave_to_signalfd(void) { leave_to(read_signal); }

static int in_destructors;
static void in_handler(void) { size_in_handler = members(); }
__attribute__((destructor)) static void at_the_end(void) {
  if (!in_destructors)
    return;
  size_in_destructor = members();
  _exit(size_in_destructor == threads && size_in_handler == threads ? 9 : 8);
}
static void regions_in_destructors(void) {
  in_destructors = 1;
  atexit(in_handler);
  members();
  exit(1);
}

static const struct {
  const char *name;
  void (*run)(void);
  int status, signal; /* with which the process ends */
  int sends;          /* whether it gets SIGTERM once it has reported that it is ready */
  int says;           /* whether it reports something, which must be 1 */
} cases[] = {
    {"exit() by the first thread while others compute", exit_by_first, 9, 0, 0, 0},
    {"exit() by another thread while others compute", exit_by_last, 9, 0, 0, 0},
    {"exit() beside a region of another thread", return_beside_region, 9, 0, 0, 0},
    {"pthread_exit() by the first thread", leave_first, 0, 0, 0, 0},
    {"pthread_exit() by the first thread, before another that joins it", leave_before_another, 0, 0,
     0, 1},
    {"an alarm after the first thread", leave_with_alarm, 0, SIGALRM, 0, 0},
    {"SIGTERM after the first thread", leave_to_be_ended, 0, SIGTERM, 1, 0},
    {"SIGTERM for sigwait()", leave_to_sigwait, 9, 0, 1, 0},
    {"SIGTERM for signalfd()", leave_to_signalfd, 9, 0, 1, 0},
    {"regions in destructors", regions_in_destructors, 9, 0, 0, 0},
};

int main(void) {
  int failures = 0;
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i) {
    int status = 0;
    char byte = 1;
    if (pipe(told) != 0)
      return 1;
    const pid_t child = fork();
    if (child == 0) {
      cases[i].run();
      _exit(7);
    }
    close(told[1]);
    if (cases[i].sends && read(told[0], &byte, 1) == 1) {
      char path[64], line[256] = "";
      snprintf(path, sizeof path, "/proc/%d/task/%d/stat", child, child);
      while (!strstr(line, ") Z")) { /* until the process's first thread has ended */
        FILE *const f = fopen(path, "r");
        if (!f || !fgets(line, sizeof line, f))
          break;
        fclose(f);
        usleep(1000);
      }
      kill(child, SIGTERM);
    }
    if (cases[i].says && read(told[0], &byte, 1) != 1)
      byte = 0;
    waitpid(child, &status, 0);
    close(told[0]);
    const int right =
        byte == 1 &&
        (cases[i].signal ? WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal
                         : WIFEXITED(status) && WEXITSTATUS(status) == cases[i].status);
    if (!right)
      fprintf(stderr, "ends: %s: status %#x, said %d\n", cases[i].name, (unsigned)status, byte);
    failures += !right;
  }
  if (failures == 0)
    puts("ends: ok");
  return failures != 0;
}
