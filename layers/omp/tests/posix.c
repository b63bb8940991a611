/* SPDX-License-Identifier: Apache-2.0
   What POSIX guarantees for threads holds for OpenMP threads. Each one has its own attributes,
   cpus, scheduling, signals and mask. Takes any number of cpus. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);

enum { most = 64, rounds = 5 };

static void require(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "posix: %s, in thread %d\n", what, omp_get_thread_num());
    exit(1);
  }
}

static void attributes(void) {
#pragma omp parallel
  {
    pthread_attr_t a;
    char here;
    void *low = NULL;
    size_t bytes = 0;
    require(pthread_getattr_np(pthread_self(), &a) == 0, "pthread_getattr_np");
    require(pthread_attr_getstack(&a, &low, &bytes) == 0, "pthread_attr_getstack");
    require(&here >= (char *)low && &here < (char *)low + bytes, "the stack is the thread's");
    require(pthread_attr_destroy(&a) == 0, "pthread_attr_destroy");
  }
}

static int cpus_of(cpu_set_t *set, int *into) {
  int n = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, set))
      into[n++] = cpu;
  return n;
}

/* A thread that has chosen a cpu stays there while others run beside it. A thread that has chosen
   none is bound to none. */
static void pinning(int by_number) {
  cpu_set_t before;
  static int cpus[CPU_SETSIZE];
  require(sched_getaffinity(0, sizeof before, &before) == 0, "sched_getaffinity");
  const int n = cpus_of(&before, cpus);
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), mine = cpus[me % n], pins = me % 3 != 2;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(mine, &set);
    if (pins && by_number)
      require(sched_setaffinity(0, sizeof set, &set) == 0, "sched_setaffinity");
    else if (pins)
      require(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0,
              "pthread_setaffinity_np");
    for (int r = 0; r < rounds; ++r) {
#pragma omp barrier
      CPU_ZERO(&set);
      require(sched_getaffinity(0, sizeof set, &set) == 0, "sched_getaffinity");
      require(CPU_COUNT(&set) == (pins ? 1 : n) && CPU_ISSET(mine, &set),
              "the kernel keeps a thread where it asked to be");
      CPU_ZERO(&set);
      require(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0,
              "pthread_getaffinity_np");
      require(CPU_COUNT(&set) == (pins ? 1 : n) && CPU_ISSET(mine, &set),
              "pthread_getaffinity_np tells it");
      require(sched_getcpu() == mine || !pins, "it runs there");
    }
    CPU_ZERO(&set);
    require(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == EINVAL, "no cpu at all");
    require(pthread_setaffinity_np(pthread_self(), sizeof before, &before) == 0, "back to all");
  }
}

static void scheduling(void) {
#pragma omp parallel
  {
    int policy = -1;
    struct sched_param p;
    memset(&p, -1, sizeof p);
    require(pthread_getschedparam(pthread_self(), &policy, &p) == 0 && policy == SCHED_OTHER &&
                p.sched_priority == 0,
            "pthread_getschedparam");
    p.sched_priority = 0;
    require(pthread_setschedparam(pthread_self(), SCHED_BATCH, &p) == 0, "pthread_setschedparam");
#pragma omp barrier
    require(pthread_getschedparam(pthread_self(), &policy, &p) == 0 && policy == SCHED_BATCH,
            "the policy is the thread's");
    require(sched_getscheduler(0) == SCHED_BATCH, "the kernel has it");
    p.sched_priority = 7;
    require(pthread_setschedparam(pthread_self(), SCHED_OTHER, &p) == EINVAL,
            "a priority that the policy has not");
    p.sched_priority = 0;
    require(pthread_setschedparam(pthread_self(), SCHED_OTHER, &p) == 0, "back");
  }
}

/* Each thread's own, by the functions that take a number of the kernel's, and over barriers; priorities where they are allowed. */
enum way { set_both, then_number, then_handle, ways };
static void scheduling_by_number(enum way way, int policy, int first_priority) {
#pragma omp parallel
  {
    const int asks = omp_get_thread_num() % 2 == 0,
              own = first_priority + (way != set_both && first_priority > 0);
    struct sched_param p = {.sched_priority = first_priority};
    if (asks) {
      require(sched_setscheduler(0, policy, &p) == 0, "sched_setscheduler");
      p.sched_priority = own;
      require(way != then_number || sched_setparam(0, &p) == 0, "sched_setparam");
      require(way != then_handle || pthread_setschedprio(pthread_self(), own) == 0,
              "pthread_setschedprio");
      p.sched_priority = 1000;
      require(sched_setparam(0, &p) == -1 && errno == EINVAL &&
                  sched_setscheduler(0, policy, &p) == -1 && errno == EINVAL,
              "a priority that there is none of");
    }
    for (int r = 0; r < rounds; ++r) {
#pragma omp barrier
      require(sched_getscheduler(0) == (asks ? policy : SCHED_OTHER), "a policy is its thread's");
      require(sched_getparam(0, &p) == 0 && p.sched_priority == (asks ? own : 0),
              "a priority is its thread's");
    }
    p.sched_priority = 0;
    require(sched_setscheduler(0, SCHED_OTHER, &p) == 0, "back");
  }
}

static void all_by_number(void) {
  const struct sched_param least = {.sched_priority = 1}, none = {.sched_priority = 0};
  const int may = sched_setscheduler(0, SCHED_RR, &least) == 0;
  require(!may || sched_setscheduler(0, SCHED_OTHER, &none) == 0, "back");
  for (enum way way = set_both; way < ways; ++way) {
    scheduling_by_number(way, SCHED_BATCH, 0);
    if (may)
      scheduling_by_number(way, SCHED_RR, 1);
  }
}

static __thread volatile int t_got;
static void on_signal(int n) { t_got += n == SIGUSR1 ? 1 : 100; }

static pthread_t g_all[most];
static int g_ready;

static void signals(void) {
  struct sigaction a;
  memset(&a, 0, sizeof a);
  a.sa_handler = on_signal;
  require(sigaction(SIGUSR1, &a, NULL) == 0 && sigaction(SIGUSR2, &a, NULL) == 0, "sigaction");
  g_ready = 0;
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), n = omp_get_num_threads();
    g_all[me] = pthread_self();
    t_got = 0;
    require(pthread_kill(pthread_self(), 0) == 0, "pthread_kill of no signal");
    require(pthread_kill(pthread_self(), SIGUSR1) == 0 && t_got == 1,
            "a signal to itself is delivered before pthread_kill returns");
    require(raise(SIGUSR1) == 0 && t_got == 2, "raise");
    require(pthread_kill(pthread_self(), 4711) == EINVAL, "a signal that there is none of");
#pragma omp barrier
    require(pthread_kill(g_all[(me + 1) % n], SIGUSR2) == 0, "a signal to another thread");
    while (t_got < 100) /* some threads wait below meanwhile, some here */
      sched_yield();
    require(t_got == 102, "each thread gets the one that was sent to it");
#pragma omp barrier
  }
}

static pthread_t g_spinner;
static int g_spins;

static void *send_to_spinner(void *none) {
  while (!__atomic_load_n(&g_spins, __ATOMIC_ACQUIRE))
    usleep(1000);
  require(pthread_kill(g_spinner, SIGUSR1) == 0, "a signal to a thread that computes");
  return none;
}

/* Nothing else interrupts it. */
static void spin_until_signalled(void) {
  pthread_t sender;
  signal(SIGUSR1, on_signal);
  g_spins = 0;
  require(pthread_create(&sender, NULL, send_to_spinner, NULL) == 0, "pthread_create");
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    t_got = 0;
    g_spinner = pthread_self();
    __atomic_store_n(&g_spins, 1, __ATOMIC_RELEASE);
    while (t_got == 0) {
    }
  }
  require(pthread_join(sender, NULL) == 0, "pthread_join");
}

/* The child's threads run on a kernel thread that has another number. */
static void spin_in_child(void) {
  int status = -1;
  const pid_t child = fork();
  if (child == 0) {
    spin_until_signalled();
    _exit(0);
  }
  require(child > 0 && waitpid(child, &status, 0) == child && status == 0,
          "signals in the child of a fork");
}

static int is_blocked(int signal) {
  sigset_t now;
  sigemptyset(&now);
  require(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0, "pthread_sigmask");
  return sigismember(&now, signal);
}

static void masks(void) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  require(!is_blocked(SIGUSR1) && !is_blocked(SIGTERM), "the program blocks nothing");
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), blocks = me % 2;
    t_got = 0;
    require(!is_blocked(SIGUSR1) && !is_blocked(SIGTERM),
            "a thread begins with the mask of the one that made it");
    if (blocks)
      require(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0, "pthread_sigmask");
    for (int r = 0; r < rounds; ++r) {
#pragma omp barrier
      require(is_blocked(SIGUSR1) == blocks && !is_blocked(SIGTERM), "a mask is its thread's");
    }
    require(pthread_kill(pthread_self(), SIGUSR1) == 0 && t_got == !blocks,
            "a blocked signal waits");
#pragma omp barrier
    require(t_got == !blocks, "a blocked signal waits over a barrier");
    require(sigprocmask(SIG_UNBLOCK, &one, NULL) == 0 && t_got == 1,
            "it comes when it is unblocked");
    require(pthread_sigmask(99, &one, NULL) == EINVAL, "what pthread_sigmask has not");
  }
  require(!is_blocked(SIGUSR1), "nothing of it is left in the first thread");
  /* New threads begin with the signals blocked that the first thread blocks. */
}

/* Signals that are waited for: those to a thread, which come first or meanwhile, and those to the process. */
static void waiting(void) {
  sigset_t one, two;
  sigemptyset(&one);
  sigemptyset(&two);
  sigaddset(&one, SIGUSR1);
  sigaddset(&two, SIGUSR2);
#pragma omp parallel
  {
    const int me = omp_get_thread_num(), n = omp_get_num_threads();
    const struct timespec little = {.tv_sec = 0, .tv_nsec = 3000000},
                          much = {.tv_sec = 100, .tv_nsec = 0};
    siginfo_t info;
    g_all[me] = pthread_self();
    require(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0 &&
                pthread_sigmask(SIG_BLOCK, &two, NULL) == 0,
            "pthread_sigmask");
#pragma omp barrier
    errno = 0;
    require(sigtimedwait(&one, &info, &little) == -1 && errno == EAGAIN,
            "no signal within the time");
#pragma omp barrier
    for (int r = 0; r < 3; ++r) {
      int got = 0;
      if (me == r % n)
        usleep(20000); /* the next one waits by then */
      require(pthread_kill(g_all[(me + 1) % n], SIGUSR1) == 0, "pthread_kill");
      if (r == 0)
        require(sigwait(&one, &got) == 0 && got == SIGUSR1, "sigwait");
      else if (r == 1)
        require(sigwaitinfo(&one, &info) == SIGUSR1 && info.si_signo == SIGUSR1 &&
                    info.si_code == SI_TKILL && info.si_pid == getpid(),
                "sigwaitinfo");
      else
        require(sigtimedwait(&one, NULL, &much) == SIGUSR1, "sigtimedwait");
#pragma omp barrier
    }
    require(sigtimedwait(&one, NULL, &little) == -1, "each of them once");
    if (me == 0)
      require(kill(getpid(), SIGUSR2) == 0, "kill");
    if (me == n - 1)
      require(sigwaitinfo(&two, &info) == SIGUSR2 && info.si_code == SI_USER,
              "a signal to the process");
#pragma omp barrier
    require(pthread_sigmask(SIG_UNBLOCK, &one, NULL) == 0 &&
                pthread_sigmask(SIG_UNBLOCK, &two, NULL) == 0,
            "pthread_sigmask");
  }
}

static volatile int g_counts, g_looked_for;

/* Replaces the C library's dlsym(), and counts calls while none is allowed. RTLD_NEXT still refers to the caller. */
void *dlsym(void *handle, const char *name) {
  static void *(*real)(void *, const char *);
  if (!real)
    real = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  g_looked_for += g_counts;
  return real(handle, name);
}

/* The functions may be called in handlers, from the first time on. */
static void from_handler(int number) {
  sigset_t none, set;
  pthread_attr_t a;
  cpu_set_t cpus;
  struct sched_param p;
  int policy = 0;
  (void)number;
  sigemptyset(&none);
  g_counts = 1;
  require(pthread_sigmask(SIG_BLOCK, &none, NULL) == 0 && sigprocmask(SIG_BLOCK, &none, &set) == 0,
          "masks in a handler");
  require(pthread_kill(pthread_self(), 0) == 0, "pthread_kill in a handler");
  require(pthread_getattr_np(pthread_self(), &a) == 0 && pthread_attr_destroy(&a) == 0,
          "pthread_getattr_np in a handler");
  require(pthread_getaffinity_np(pthread_self(), sizeof cpus, &cpus) == 0 &&
              pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus) == 0,
          "cpus in a handler");
  require(pthread_getschedparam(pthread_self(), &policy, &p) == 0 &&
              pthread_setschedparam(pthread_self(), policy, &p) == 0 &&
              pthread_setschedprio(pthread_self(), p.sched_priority) == 0,
          "scheduling in a handler");
  g_counts = 0;
}

static void handlers(void) {
  signal(SIGUSR2, from_handler);
  require(raise(SIGUSR2) == 0 && g_looked_for == 0, "nothing is looked for in a handler");
}

int main(void) {
  handlers(); /* before any of these functions was called */
  spin_until_signalled(); /* before anything else is asked of any thread */
  spin_in_child();
  attributes();
  pinning(0);
  pinning(1);
  scheduling();
  all_by_number();
  waiting();
  signals();
  signals();
  masks();
  masks();
  puts("posix: ok");
  return 0;
}
