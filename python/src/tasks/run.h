/* SPDX-License-Identifier: Apache-2.0
   What run.c, bodies.c and waits.c share. */
#pragma once

#include "state.h"

/* ---- run.c ---- */

/* What g_lock guards. */
extern long g_limit; /* of slots; 0 before the first task */
extern long g_active; /* slots that are taken */
extern long g_blocked; /* runners that wait, or run a body that may block */
extern long g_live; /* tasks that are not complete */
extern unsigned long g_ended;

extern unsigned g_generation; /* changes with the GIL */
extern uint64_t g_unlogged; /* bodies that have ended without a slot and are not counted; atomic */
extern PyObject *g_coroutine_type;
extern double g_patience; /* seconds of sleep before the watcher is asked; 0: never */

/* What a thread leaves when it begins to wait, and takes again. */
typedef struct Saved {
  bool slot, counted, logged;
  uint32_t asleep; /* for order_wake() */
  unsigned generation; /* of the process */
} Saved;

/* The times in which one body, or a thread outside of bodies, may block outside of Weft. They may overlap: the first
   leaves the slot, and the end of the last takes it again. */
typedef struct Away {
  unsigned long long turn; /* a number that no other has; 0 before the first of these times */
  long count; /* of those that go on */
  Saved left; /* at the first */
} Away;

/* A body that a thread runs, on that thread's stack. */
typedef struct Body {
  Task *task;
  Away away;
  struct Body *outer; /* on top of which it runs; null */
} Body;

/* What a thread knows of itself. */
typedef struct Local {
  Task *task; /* whose body is the innermost here */
  Body *body; /* the same body */
  Away away; /* outside of bodies */
  Root *root;
  Thread *thread; /* null on one that has neither created tasks nor runs them */
  order_log *log; /* where bodies of this thread are counted; null: there is none here */
  long in_a_row; /* bodies since the GIL was offered */
  int depth; /* bodies on top of each other */
  int frees; /* tasks that are being freed, on top of each other */
  Task *unfreed; /* tasks that the outermost of these frees, linked by `next` */
  bool is_runner, has_slot, is_blocked;
} Local;
extern __thread __attribute__((visibility("hidden"))) Local t_local;

/* Returns t_local. The compiler asks the loader for that again behind every call, unless it does not know what this is. */
static inline Local *local(void) {
  Local *here = &t_local;
  __asm__("" : "+r"(here));
  return here;
}

/* @{ Under g_lock. */
void push_ready(Task *t);
void take_ready(Task *t);
void enter_in_all(Task *t);
void leave_all(Task *t);
void enter_thread(Thread *thread);
void leave_thread(Thread *thread);
/* Wakes an idle runner if it would find a task. */
void wake_runner(void);
/* Returns whether a runner is to begin, which is counted from now on: start_runner() follows. */
bool claim_runner(bool waits);
/* @} */
/* Begins a runner that was claimed. Returns 0, or -1 with an exception. */
int start_runner(void);
/* Begins a runner that the caller can do without: where no thread can be made, it goes on. Returns 0, or -1 with the
   exception of a handler of a signal. */
int start_helpful_runner(void);
void give_back_log(void);

/* ---- module.c ---- */

/* @{ Keeps the group of the context for a host, which has the context in common with the body on top of it: groups of
   that body end in no group. The first returns a reference, for the second to take; null where there is no memory. */
PyObject *keep_group(void);
void return_to_group(PyObject *group);
/* @} */

/* ---- bodies.c ---- */

extern Root *g_apart; /* has the scope of tasks that belong to no body and to no thread */

/* Called when the module is imported, behind the types. Returns 0, or -1 with an exception. */
int start_bodies(void);
/* Runs a task that was taken from its lists. */
void run_body(Task *t);
/* Gives the log back that a host has borrowed for one body; a runner keeps it until it is idle. */
void keep_log(bool borrowed);
/* Counts what had no slot where there is one now. */
void count_unlogged(order_log *log);

/* ---- waits.c ---- */

/* Called when the module is imported. Returns 0, or -1 with an exception. */
int start_waits(void);

/* Waits until fewer tasks are alive; not for ever, because they may wait for what the creator does next. */
int hold_creator_back(void);
/* Waits for all tasks of the process. Returns 0, or -1 with an exception. */
int wait_for_all(Scope *scope);
/* Ends the times outside of Weft that a body has begun and not ended. */
void end_away(Away *away);
/* Reports the exceptions of a pool that no wait has raised. */
void report_failures(Pool *pool);
