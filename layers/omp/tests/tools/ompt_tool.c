// SPDX-License-Identifier: Apache-2.0
// A tool that checks what it sees through OMPT: that events come in pairs, in order and on the
// thread that they are about, and that each task, region and lock has one life. It is a part of a
// program (ompt.c) or a library. At its end it prints a line, and ends the process with status 3
// after an error.
//
// OMPT_TOOL=declines: ompt_start_tool() returns null. OMPT_TOOL=refuses: initialize() returns 0.
#include <omp-tools.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { k_deepest = 64 };
struct state { // of a thread
  uint64_t id;
  ompt_data_t *current; // the task that runs
  int tasks, regions, syncs, works, mutexes;
  ompt_data_t *task[k_deepest], *region[k_deepest];
  int sync[k_deepest], work[k_deepest], waits[k_deepest];
  uint64_t mutex[k_deepest];
  int acquiring;
};
static __thread struct state *t_state;

static ompt_get_thread_data_t get_thread_data;
static ompt_get_unique_id_t get_unique_id;
static ompt_get_task_info_t get_task_info;
static ompt_finalize_tool_t finalize_tool;
static ompt_get_parallel_info_t get_parallel_info;
static ompt_get_state_t get_state;

enum counted {
  threads_begun,
  threads_ended,
  regions_begun,
  regions_ended,
  implicit_begun,
  implicit_ended,
  created,
  completed,
  switched,
  barriers,
  taskwaits,
  groups,
  waits,
  works,
  chunks,
  iterations,
  sections,
  singles,
  taskloops,
  locked,
  nested,
  critical,
  ordered,
  inits,
  destroyed,
  masked,
  flushes,
  cancels,
  dependences,
  pairs,
  reductions,
  controls,
  errors_of_program,
  k_counted
};
static const char *const k_names[] = {
    "threads",    "threads_ended", "regions",  "regions_ended", "implicit",    "implicit_ended",
    "created",    "completed",     "switched", "barriers",      "taskwaits",   "groups",
    "waits",      "works",         "chunks",   "iterations",    "sections",    "singles",
    "taskloops",  "locked",        "nested",   "critical",      "ordered",     "inits",
    "destroyed",  "masked",        "flushes",  "cancels",       "dependences", "pairs",
    "reductions", "controls",      "errors"};
static uint64_t counts[k_counted];
static int wrong;

static void count(enum counted what, uint64_t n) {
  __atomic_fetch_add(&counts[what], n, __ATOMIC_RELAXED);
}
static void check_at(int good, const char *what, int line) {
  if (good)
    return;
  if (__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED) < 20)
    fprintf(stderr, "ompt_tool: line %d: not true: %s\n", line, what);
}
#define CHECK(what) check_at((what) != 0, #what, __LINE__)

static struct state *me(void) {
  ompt_data_t *const data = get_thread_data();
  CHECK(data && data->ptr);
  CHECK(data->ptr == t_state); // thread-local variables are those of the OpenMP thread
  return data->ptr;
}

/// Checks the frames of a task that the code of `creator` runs, and of the task that creates it.
/// Returns the number of pairs so far; -1: the tool is declined or switched off.
long tool_pairs(void) { return get_task_info ? (long)counts[pairs] : -1; }

void tool_checks_frames(void *creator) {
  if (!get_task_info) // the tool is declined or switched off
    return;
  ompt_frame_t *frame = NULL;
  CHECK(get_task_info(0, NULL, NULL, &frame, NULL, NULL) == 2 && frame &&
        frame->exit_frame.ptr == creator);
  CHECK(get_task_info(1, NULL, NULL, &frame, NULL, NULL) == 2 && frame &&
        frame->enter_frame.ptr == creator);
}

static void on_thread_begin(ompt_thread_t kind, ompt_data_t *thread) {
  CHECK(!thread->ptr && !t_state);
  CHECK(kind == ompt_thread_initial || kind == ompt_thread_worker || kind == ompt_thread_other);
  struct state *const s = calloc(1, sizeof *s);
  s->id = get_unique_id();
  thread->ptr = t_state = s;
  CHECK(get_thread_data() == thread);
  count(threads_begun, 1);
}
static void on_thread_end(ompt_data_t *thread) {
  struct state *const s = me();
  CHECK(thread->ptr == s);
  CHECK(s->regions == 0 && s->syncs == 0 && s->works == 0 && s->mutexes == 0 && s->tasks == 0);
  count(threads_ended, 1);
  t_state = NULL;
  free(s);
  thread->ptr = NULL;
}

static void on_parallel_begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *parallel,
                              unsigned asked, int flags, const void *where) {
  struct state *const s = me();
  CHECK(task == s->current);
  CHECK(!parallel->ptr);
  CHECK(asked > 0);
  CHECK(where && frame->enter_frame.ptr);
  CHECK(flags & (ompt_parallel_team | ompt_parallel_league));
  parallel->value = get_unique_id();
  s->region[s->regions++] = parallel;
  count(regions_begun, 1);
}
static void on_parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags,
                            const void *where) {
  struct state *const s = me();
  (void)flags;
  CHECK(s->regions > 0 && s->region[s->regions - 1] == parallel);
  --s->regions;
  CHECK(task == s->current);
  CHECK(where);
  count(regions_ended, 1);
}

static void on_implicit_task(ompt_scope_endpoint_t end, ompt_data_t *parallel, ompt_data_t *task,
                             unsigned size, unsigned index, int flags) {
  struct state *const s = me();
  if (end == ompt_scope_begin) {
    CHECK(!task->ptr);
    task->value = get_unique_id();
    CHECK(flags & ompt_task_initial || (parallel->value && index < size));
    s->task[s->tasks++] = s->current;
    s->current = task;
    ompt_data_t *found = NULL, *region = NULL;
    int number = -1, team = 0;
    CHECK(get_task_info(0, NULL, &found, NULL, &region, &number) == 2);
    CHECK(found == task && region == parallel);
    CHECK(flags & ompt_task_initial || (unsigned)number == index);
    CHECK(get_parallel_info(0, &region, &team) == 2 && region == parallel);
    CHECK(flags & ompt_task_initial || (unsigned)team == size);
    count(implicit_begun, 1);
  } else {
    CHECK(task == s->current);
    CHECK(!parallel);
    CHECK(s->syncs == 0 || !(flags & ompt_task_initial));
    s->current = s->task[--s->tasks];
    count(implicit_ended, 1);
  }
}

static void on_task_create(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *made,
                           int flags, int has_dependences, const void *where) {
  struct state *const s = me();
  (void)has_dependences;
  CHECK(task == s->current);
  CHECK(!made->ptr && where && frame);
  made->value = get_unique_id();
  if (flags & ompt_task_explicit)
    count(created, 1);
}
static void on_task_schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next) {
  struct state *const s = me();
  if (status == ompt_task_late_fulfill)
    count(completed, 1);
  if (status == ompt_taskwait_complete || status == ompt_task_early_fulfill ||
      status == ompt_task_late_fulfill)
    return;
  CHECK(prior == s->current);
  CHECK(next && next->value);
  s->current = next;
  if (status == ompt_task_complete || status == ompt_task_cancel) {
    count(completed, 1);
    prior->value = 0; // no event names it again
  } else {
    count(switched, 1);
  }
}

static void on_sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t end,
                           ompt_data_t *parallel, ompt_data_t *task, const void *where) {
  struct state *const s = me();
  (void)where;
  CHECK(task == s->current);
  if (end == ompt_scope_begin) {
    CHECK(parallel);
    s->waits[s->syncs] = 0;
    s->sync[s->syncs++] = (int)kind;
    return;
  }
  CHECK(s->syncs > 0 && s->sync[s->syncs - 1] == (int)kind);
  CHECK(s->waits[s->syncs - 1] == 2); // it has waited once
  --s->syncs;
  count(kind == ompt_sync_region_taskwait    ? taskwaits
        : kind == ompt_sync_region_taskgroup ? groups
                                             : barriers,
        1);
}
static void on_wait(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t *parallel,
                    ompt_data_t *task, const void *where) {
  struct state *const s = me();
  (void)parallel, (void)where;
  CHECK(task == s->current);
  CHECK(s->syncs > 0 && s->sync[s->syncs - 1] == (int)kind);
  CHECK(s->waits[s->syncs - 1] == (end == ompt_scope_begin ? 0 : 1));
  ++s->waits[s->syncs - 1];
  if (kind != ompt_sync_region_taskgroup) // that of a taskloop is reported around its end
    CHECK(get_state(NULL) >= ompt_state_wait_barrier_implicit_parallel);
  count(waits, 1);
}

static void on_work(ompt_work_t kind, ompt_scope_endpoint_t end, ompt_data_t *parallel,
                    ompt_data_t *task, uint64_t n, const void *where) {
  struct state *const s = me();
  (void)n;
  CHECK(task == s->current && parallel);
  if (end == ompt_scope_begin) {
    CHECK(where);
    s->work[s->works++] = (int)kind;
    count(kind == ompt_work_sections                                            ? sections
          : kind == ompt_work_single_executor || kind == ompt_work_single_other ? singles
          : kind == ompt_work_taskloop                                          ? taskloops
                                                                                : works,
          1);
  } else {
    CHECK(s->works > 0 && s->work[s->works - 1] == (int)kind);
    --s->works;
  }
}
static void on_dispatch(ompt_data_t *parallel, ompt_data_t *task, ompt_dispatch_t kind,
                        ompt_data_t what) {
  struct state *const s = me();
  CHECK(task == s->current && parallel);
  if (kind != ompt_dispatch_ws_loop_chunk)
    return;
  count(chunks, 1);
  count(iterations, ((const ompt_dispatch_chunk_t *)what.ptr)->iterations);
}

static void on_acquire(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t id,
                       const void *where) {
  (void)kind, (void)hint, (void)impl;
  CHECK(id && where);
  CHECK(!me()->acquiring);
  me()->acquiring = kind != ompt_mutex_test_lock && kind != ompt_mutex_test_nest_lock;
}
static void on_acquired(ompt_mutex_t kind, ompt_wait_id_t id, const void *where) {
  struct state *const s = me();
  (void)where;
  s->acquiring = 0;
  s->mutex[s->mutexes++] = id;
  count(kind == ompt_mutex_critical ? critical : kind == ompt_mutex_ordered ? ordered : locked, 1);
}
static void on_released(ompt_mutex_t kind, ompt_wait_id_t id, const void *where) {
  struct state *const s = me();
  (void)kind, (void)where;
  CHECK(s->mutexes > 0 && s->mutex[s->mutexes - 1] == id);
  --s->mutexes;
}
static void on_nest_lock(ompt_scope_endpoint_t end, ompt_wait_id_t id, const void *where) {
  struct state *const s = me();
  (void)where;
  CHECK(s->mutexes > 0 && s->mutex[s->mutexes - 1] == id);
  if (end == ompt_scope_begin)
    s->acquiring = 0;
  count(nested, 1);
}
static void on_lock_init(ompt_mutex_t kind, unsigned hint, unsigned impl, ompt_wait_id_t id,
                         const void *where) {
  (void)kind, (void)hint, (void)impl;
  CHECK(id && where);
  count(inits, 1);
}
static void on_lock_destroy(ompt_mutex_t kind, ompt_wait_id_t id, const void *where) {
  (void)kind;
  CHECK(id && where);
  count(destroyed, 1);
}
static void on_masked(ompt_scope_endpoint_t end, ompt_data_t *parallel, ompt_data_t *task,
                      const void *where) {
  CHECK(task == me()->current && parallel && where);
  count(masked, end == ompt_scope_begin ? 1 : UINT64_C(1) << 32);
}
static void on_flush(ompt_data_t *thread, const void *where) {
  CHECK(thread->ptr == me() && where);
  count(flushes, 1);
}
static void on_cancel(ompt_data_t *task, int flags, const void *where) {
  (void)task, (void)flags, (void)where;
  count(cancels, 1);
}
static void on_dependences(ompt_data_t *task, const ompt_dependence_t *list, int n) {
  CHECK(task->value && n > 0 && list[0].dependence_type != 0);
  count(dependences, 1);
}
static void on_task_dependence(ompt_data_t *first, ompt_data_t *second) {
  CHECK(first->value && second->value); // value 0: it is over
  count(pairs, 1);
}
static void on_reduction(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t *parallel,
                         ompt_data_t *task, const void *where) {
  (void)end, (void)where;
  CHECK(kind == ompt_sync_region_reduction && parallel && task == me()->current);
  count(reductions, 1);
}
static int on_control_tool(uint64_t command, uint64_t modifier, void *argument, const void *where) {
  CHECK(argument == NULL && where);
  if (command == 4)
    finalize_tool();
  else
    CHECK(command == 3 && modifier == 7);
  count(controls, 1);
  return 42;
}
static void on_error(ompt_severity_t severity, const char *message, size_t n, const void *where) {
  CHECK(severity == ompt_warning && strlen(message) == n && where);
  count(errors_of_program, 1);
}

/// Counts anew in a child of fork(), which has one thread.
static void begin_child(void) {
  memset(counts, 0, sizeof counts);
  counts[threads_begun] = counts[implicit_begun] = 1;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool) {
  (void)device;
  const char *const how = getenv("OMPT_TOOL");
  if (how && strcmp(how, "refuses") == 0)
    return 0;
  tool->value = 1;
  pthread_atfork(NULL, NULL, &begin_child);
  CHECK(lookup("ompt_no_such_function") == NULL);
  get_thread_data = (ompt_get_thread_data_t)lookup("ompt_get_thread_data");
  get_unique_id = (ompt_get_unique_id_t)lookup("ompt_get_unique_id");
  get_task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  finalize_tool = (ompt_finalize_tool_t)lookup("ompt_finalize_tool");
  CHECK(finalize_tool);
  get_parallel_info = (ompt_get_parallel_info_t)lookup("ompt_get_parallel_info");
  get_state = (ompt_get_state_t)lookup("ompt_get_state");
  ompt_set_callback_t const set = (ompt_set_callback_t)lookup("ompt_set_callback");
  ompt_get_callback_t const get = (ompt_get_callback_t)lookup("ompt_get_callback");
#define SET(event, function)                                                                       \
  do {                                                                                             \
    ompt_callback_t found = NULL;                                                                  \
    CHECK(get(event, &found) == 0);                                                                \
    CHECK(set(event, (ompt_callback_t)function) == ompt_set_always);                               \
    CHECK(get(event, &found) == 1 && found == (ompt_callback_t)function);                          \
  } while (0)
  SET(ompt_callback_thread_begin, on_thread_begin);
  SET(ompt_callback_thread_end, on_thread_end);
  SET(ompt_callback_parallel_begin, on_parallel_begin);
  SET(ompt_callback_parallel_end, on_parallel_end);
  SET(ompt_callback_implicit_task, on_implicit_task);
  SET(ompt_callback_task_create, on_task_create);
  SET(ompt_callback_task_schedule, on_task_schedule);
  SET(ompt_callback_sync_region, on_sync_region);
  SET(ompt_callback_sync_region_wait, on_wait);
  SET(ompt_callback_work, on_work);
  SET(ompt_callback_dispatch, on_dispatch);
  SET(ompt_callback_mutex_acquire, on_acquire);
  SET(ompt_callback_mutex_acquired, on_acquired);
  SET(ompt_callback_mutex_released, on_released);
  SET(ompt_callback_nest_lock, on_nest_lock);
  SET(ompt_callback_lock_init, on_lock_init);
  SET(ompt_callback_lock_destroy, on_lock_destroy);
  SET(ompt_callback_masked, on_masked);
  SET(ompt_callback_flush, on_flush);
  SET(ompt_callback_cancel, on_cancel);
  SET(ompt_callback_dependences, on_dependences);
  SET(ompt_callback_task_dependence, on_task_dependence);
  SET(ompt_callback_reduction, on_reduction);
  SET(ompt_callback_control_tool, on_control_tool);
  SET(ompt_callback_error, on_error);
  CHECK(set(ompt_callback_device_initialize, (ompt_callback_t)on_flush) == ompt_set_never);
  CHECK(set((ompt_callbacks_t)0, (ompt_callback_t)on_flush) == ompt_set_error);
  CHECK(set((ompt_callbacks_t)1000, (ompt_callback_t)on_flush) == ompt_set_error);
  return 1;
}

static void finalize(ompt_data_t *tool) {
  CHECK(tool->value == 1);
  CHECK(counts[threads_begun] == counts[threads_ended]);
  CHECK(counts[regions_begun] == counts[regions_ended]);
  CHECK(counts[implicit_begun] == counts[implicit_ended]);
  CHECK(counts[created] == counts[completed]);
  CHECK(counts[inits] == counts[destroyed]);
  CHECK((counts[masked] & UINT32_MAX) == counts[masked] >> 32);
  counts[masked] &= UINT32_MAX;
  printf("tool:");
  for (int i = 0; i < k_counted; ++i)
    printf(" %s=%llu", k_names[i], (unsigned long long)counts[i]);
  printf("\n");
  fflush(stdout);
  if (wrong)
    _exit(3);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime) {
  static ompt_start_tool_result_t result = {&initialize, &finalize, {0}};
  const char *const how = getenv("OMPT_TOOL");
  CHECK(version >= 201611 && runtime && *runtime);
  return how && strcmp(how, "declines") == 0 ? NULL : &result;
}
