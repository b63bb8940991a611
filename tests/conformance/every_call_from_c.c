// SPDX-License-Identifier: Apache-2.0
// Promise: what C++ can do, C99 can do. Calls every function of weft.h (tools/check/c_calls sees to "every") and
// looks at what comes of it.
#include <weft.h>

#include <stdio.h>
#include <string.h>

static int failures = 0;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("%s:%d: %s is false; %s\n", __FILE__, __LINE__, #condition,                           \
             weft_last_error_message());                                                           \
      ++failures;                                                                                  \
    }                                                                                              \
  } while (0)

static int set_one(void *p) {
  *(int *)p = 1;
  return 0;
}

static int increment(void *p) {
  ++*(int *)p;
  return 0;
}

static int fail_with_seven(void *p) {
  (void)p;
  return 7;
}

static void count_call(void *p) { ++*(int *)p; }

static void settings_come_first(void) {
  EXPECT(weft_configure("workers", "2") == 0);
  EXPECT(weft_configure("worker", "2") == WEFT_ERR_BAD_SETTING);
  EXPECT(strstr(weft_last_error_message(), "did you mean 'workers'?") != NULL);
  EXPECT(weft_start() == 0);
  EXPECT(weft_configure("workers", "3") == WEFT_ERR_ALREADY_STARTED);
  EXPECT(weft_worker_count() == 2);
  EXPECT(weft_worker_id() == 0);
  EXPECT(strcmp(weft_version(), WEFT_VERSION_STRING) == 0);
  EXPECT(strcmp(weft_error_string(WEFT_ERR_BAD_SETTING), "bad_setting") == 0);
}

static int touch_as_its_parent_said(void *p) {
  int *x = p;
  const weft_access in = weft_in(x), out = weft_out(x);
  return weft_spawn(increment, x, 0, &in, 1, NULL, NULL) ||
         weft_spawn(increment, x, 0, &out, 1, NULL, NULL);
}

static void accesses_order_tasks(void) {
  int x = 0;
  const weft_access strong[] = {weft_inout(&x), weft_in(NULL)};
  const weft_access weak[] = {weft_weak_inout(&x), weft_weak_in(&x), weft_weak_out(&x)};
  EXPECT(weft_spawn(set_one, &x, 0, strong, 2, NULL, NULL) == 0);
  EXPECT(weft_spawn(touch_as_its_parent_said, &x, 0, weak, 3, NULL, NULL) == 0);
  EXPECT(weft_spawn(increment, &x, 0, strong, 2, NULL, NULL) == 0);
  EXPECT(weft_taskwait_on(strong, 1) == 0);
  EXPECT(x == 4);
  EXPECT(weft_taskwait(NULL) == 0);
}

static void sizes_change_no_order_by_address(void) {
  int x[2] = {0, 0};
  const weft_access whole = weft_sized(weft_inout(x), sizeof x),
                    huge = weft_sized(weft_inout(x), (size_t)-1),
                    none = weft_sized(weft_inout(x), 0), bare = weft_inout(x);
  EXPECT(none.mode == bare.mode && whole.mode != bare.mode && huge.mode > 0);
  EXPECT(weft_spawn(set_one, x, 0, &whole, 1, NULL, NULL) == 0);
  EXPECT(weft_spawn(increment, x, 0, &bare, 1, NULL, NULL) == 0);
  EXPECT(weft_spawn(increment, x, 0, &huge, 1, NULL, NULL) == 0);
  EXPECT(weft_taskwait_on(&whole, 1) == 0 && x[0] == 3);
  const weft_access negative = {x, -256};
  EXPECT(weft_spawn(increment, x, 0, &negative, 1, NULL, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_taskwait(NULL) == 0);
}

static int two_steps_add(void *p) {
  int **const both = p;
  *both[0] += *both[1];
  return 0;
}

static void tasks_in_two_steps(void) {
  int x = 0, two = 2;
  const weft_access list[] = {weft_inout(&x), weft_in(&two)};
  const weft_region parts[] = {weft_region_span(&x, sizeof x, 0, 1, WEFT_INOUT)};
  weft_prepared task;
  for (int i = 0; i < 3; ++i) {
    EXPECT(weft_task_prepare(&task, two_steps_add, 2 * sizeof(int *), 2, NULL) == 0);
    ((int **)task.arg)[0] = &x;
    ((int **)task.arg)[1] = &two;
    EXPECT(weft_task_submit(&task, list, 2) == 0);
  }
  EXPECT(weft_taskwait_for(INT64_MAX, NULL) == 0 && x == 6);
  EXPECT(weft_task_prepare(&task, two_steps_add, 2 * sizeof(int *), 0, NULL) == 0);
  ((int **)task.arg)[0] = &x;
  ((int **)task.arg)[1] = &two;
  EXPECT(weft_task_submit_regions(&task, parts, 1, NULL, 0) == 0);
  EXPECT(weft_taskwait(NULL) == 0 && x == 8);
  EXPECT(weft_task_prepare(&task, two_steps_add, 2 * sizeof(int *), 0, NULL) == 0);
  EXPECT(weft_task_discard(&task) == 0 && weft_task_discard(&task) == 0);
  EXPECT(weft_task_submit(&task, NULL, 0) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_taskwait(NULL) == 0 && x == 8);
}

static int add_each(const weft_range *chunk, void *p) {
  long *const *const sum = p;
  for (int64_t i = chunk->first; i < chunk->limit; i += chunk->step)
    __atomic_fetch_add(*sum, i, __ATOMIC_RELAXED);
  return 0;
}
static void copy_argument(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }

static void loops_in_two_steps(void) {
  long sum = 0;
  const weft_range range = {0, 11, 1};
  const weft_access list[] = {weft_inout(&sum)};
  weft_prepared loop;
  uint64_t chunks = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT(weft_taskfor_prepare(&loop, range, add_each, sizeof(long *), (uint64_t)i,
                                i ? copy_argument : NULL, 1, NULL) == 0);
    *(long **)loop.arg = &sum;
    EXPECT(weft_task_submit(&loop, list, 1) == 0);
  }
  EXPECT(weft_taskwait(NULL) == 0 && sum == 165);
  EXPECT(weft_taskloop_chunks(3, NULL, &chunks) == 0 && chunks == 3);
}

struct race {
  int x, y, released, refused;
};

static int give_up_early(void *p) {
  struct race *r = p;
  const weft_access x = weft_out(&r->x), wrong = weft_out(&r->refused);
  r->x = 1;
  r->refused = weft_release(&wrong, 1) == WEFT_ERR_INVALID_ARGUMENT;
  if (weft_release(&x, 1))
    return 1;
  while (!__atomic_load_n(&r->y, __ATOMIC_ACQUIRE)) // the successor runs meanwhile
    if (weft_task_sleep_for(1000))
      return 2;
  return weft_task_cost() == 5 ? 0 : 3;
}

static int follow(void *p) {
  struct race *r = p;
  r->released = r->x;
  __atomic_store_n(&r->y, 1, __ATOMIC_RELEASE);
  return 0;
}

static void a_task_releases_early(void) {
  struct race r = {0, 0, 0, 0};
  const weft_access out = weft_out(&r.x), in = weft_in(&r.x);
  weft_spawn_options o = WEFT_SPAWN_OPTIONS_INIT;
  o.cost = 5;
  EXPECT(weft_spawn(give_up_early, &r, 0, &out, 1, &o, NULL) == 0);
  EXPECT(weft_spawn(follow, &r, 0, &in, 1, NULL, NULL) == 0);
  int code = 0;
  EXPECT(weft_taskwait(&code) == 0);
  EXPECT(code == 0 && r.released == 1 && r.refused == 1);
}

static void functions_run_in_their_stream(void) {
  weft_stream *stream = NULL;
  int x = 0, completed = 0;
  EXPECT(weft_stream_create("in order", &stream) == 0);
  weft_function_options o = WEFT_FUNCTION_OPTIONS_INIT;
  o.label = "job";
  o.stream = stream;
  EXPECT(weft_spawn_function(set_one, &x, count_call, &completed, &o) == 0);
  EXPECT(weft_spawn_function(increment, &x, count_call, &completed, &o) == 0);
  const int first = 0, nobody = -1;
  EXPECT(weft_worker_set_of_workers(&first, 1, &o.on) == 0 && o.on.number != 0);
  EXPECT(weft_spawn_function(increment, &x, NULL, NULL, &o) == 0);
  EXPECT(weft_worker_set_of_workers(&nobody, 1, &o.on) == WEFT_ERR_INVALID_ARGUMENT &&
         o.on.number == 0);
  EXPECT(weft_worker_set_of_workers(NULL, 1, &o.on) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_worker_set_of_cpus(&nobody, 1, &o.on) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_worker_set_of_cpus(&first, 1, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_spawn_function(NULL, &x, NULL, NULL, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_stream_wait(stream) == 0);
  EXPECT(x == 3 && completed == 2);
  EXPECT(weft_stream_destroy(stream) == 0);
}

static int add_up(void *p) {
  int *v = p;
  v[9] = v[0] + v[3] + v[4] + v[8];
  return 0;
}

static void regions_order_tasks_where_they_overlap(void) {
  int v[10] = {0};
  const weft_region first = weft_region_span(v, sizeof *v, 0, 3, WEFT_INOUT);
  const weft_region middle = weft_region_range(v, sizeof *v, 3, 3, WEFT_INOUT);
  const weft_region column =
      weft_region_block(v, sizeof *v, 4, 1, 2, 0, 1, WEFT_INOUT); // v[4] and v[8]
  const weft_region sum[] = {weft_region_range(v, sizeof *v, 0, 8, WEFT_IN),
                             weft_region_span(v, sizeof *v, 9, 1, WEFT_OUT)};
  const weft_access object = weft_inout(&v[3]);
  EXPECT(weft_spawn_regions(set_one, &v[0], 0, &first, 1, NULL, 0, NULL, NULL) == 0);
  EXPECT(weft_spawn_regions(set_one, &v[3], 0, &middle, 1, NULL, 0, NULL, NULL) == 0);
  EXPECT(weft_spawn_regions(set_one, &v[4], 0, &column, 1, &object, 1, NULL, NULL) == 0);
  EXPECT(weft_spawn_regions(set_one, &v[8], 0, &column, 1, NULL, 0, NULL, NULL) == 0);
  EXPECT(weft_spawn_regions(add_up, v, 0, sum, 2, NULL, 0, NULL, NULL) == 0);
  EXPECT(weft_taskwait_on_regions(sum, 2) == 0);
  EXPECT(weft_release_regions(sum, 2) == WEFT_ERR_NOT_A_TASK);
  EXPECT(v[9] == 4);
  const weft_region wrong = weft_region_range(v, sizeof *v, 5, 3, WEFT_IN);
  EXPECT(weft_spawn_regions(add_up, v, 0, &wrong, 1, NULL, 0, NULL, NULL) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(strstr(weft_last_error_message(), "negative extent") != NULL);
  EXPECT(weft_taskwait(NULL) == 0);
}

struct seen {
  char label[16];
  int in_final, cancelled, ready_calls;
};

static int look_around(void *p) {
  struct seen *s = p;
  strncpy(s->label, weft_task_label(), sizeof s->label - 1);
  s->in_final = weft_task_in_final();
  s->cancelled = weft_task_cancelled();
  return weft_taskyield() || weft_task_sleep_for(1000);
}

static void every_option_reaches_its_task(void) {
  struct seen s;
  memset(&s, 0, sizeof s);
  weft_handle *h = NULL;
  weft_group *g = NULL;
  EXPECT(weft_group_create(WEFT_POLICY_BY_SETTING, &g) == 0);
  weft_spawn_options o = WEFT_SPAWN_OPTIONS_INIT;
  o.label = "observer";
  o.priority = 3;
  o.flags = WEFT_TASK_FINAL | WEFT_TASK_UNDEFERRED | WEFT_TASK_WAIT;
  o.stack_bytes = 1 << 18;
  o.onready = count_call;
  o.onready_context = &s.ready_calls;
  o.group = g;
  EXPECT(weft_spawn(look_around, &s, 0, NULL, 0, &o, &h) == 0);
  EXPECT(weft_handle_ready(h) == 1);
  int code = -1;
  EXPECT(weft_handle_wait(h, &code) == 0 && code == 0);
  EXPECT(weft_handle_destroy(h) == 0);
  EXPECT(strcmp(s.label, "observer") == 0 && s.in_final == 1 && s.cancelled == 0 &&
         s.ready_calls == 1);
  EXPECT(weft_group_wait(g, NULL) == 0);
  EXPECT(weft_group_destroy(g) == 0);
}

static void groups_fail_and_are_cancelled(void) {
  weft_group *g = NULL;
  int codes[2] = {0, 0}, code = 0, x = 0;
  size_t count = 0;
  EXPECT(weft_group_create(WEFT_POLICY_COLLECT_ALL, &g) == 0);
  weft_spawn_options o = WEFT_SPAWN_OPTIONS_INIT;
  o.group = g;
  EXPECT(weft_spawn(fail_with_seven, NULL, 0, NULL, 0, &o, NULL) == 0);
  EXPECT(weft_group_wait(g, &code) == WEFT_ERR_TASK_FAILED && code == 7);
  EXPECT(weft_group_failures(g, codes, 2, &count) == 0 && count == 1 && codes[0] == 7);
  EXPECT(weft_group_cancel(g) == 0 && weft_group_cancelled(g) == 1);
  EXPECT(weft_spawn(set_one, &x, 0, NULL, 0, &o, NULL) == 0);
  EXPECT(weft_group_wait_for(g, INT64_MAX, NULL) == 0 && x == 0);
  EXPECT(weft_group_cancelled(g) == 0);
  EXPECT(weft_group_destroy(g) == 0);
}

struct meeting {
  weft_task *task;
  weft_mutex *mutex;
  int waits, timed_out, released;
};

static int wait_for_the_service(void *p) {
  struct meeting *m = p;
  if (weft_task_self(&m->task))
    return 1;
  m->timed_out = weft_task_block_for(1000) == WEFT_ERR_TIMED_OUT;
  if (weft_task_increase_events(2) || weft_mutex_lock(m->mutex))
    return 2;
  m->waits = 1;
  return weft_mutex_unlock(m->mutex) || weft_task_block() || weft_task_decrease_events(m->task, 1);
}

// The service of a library that learns by polling that a task may go on.
static int poll(void *p) {
  struct meeting *m = p;
  if (weft_mutex_try_lock(m->mutex))
    return 0;
  const int waits = m->waits;
  m->waits = 0;
  if (waits)
    m->released = weft_task_unblock(m->task) == 0 && weft_task_decrease_events(m->task, 1) == 0;
  return weft_mutex_unlock(m->mutex) == 0 && waits;
}

static void a_service_ends_a_block_and_an_event(void) {
  for (int point = WEFT_POLL_POINT_IDLE; point <= WEFT_POLL_POINT_TIMER;
       ++point) { // no call leads to one of them
    struct meeting m;
    memset(&m, 0, sizeof m);
    weft_service *s = NULL;
    EXPECT(weft_mutex_create(&m.mutex) == 0);
    EXPECT(weft_service_create("let go", point, 1, poll, &m, &s) == 0);
    EXPECT(weft_spawn(wait_for_the_service, &m, 0, NULL, 0, NULL, NULL) == 0);
    EXPECT(weft_taskwait(NULL) == 0);
    EXPECT(weft_service_destroy(s) == 0);
    EXPECT(m.timed_out && m.released);
    EXPECT(weft_mutex_destroy(m.mutex) == 0);
  }
}

static void joins_and_critical_sections_run(void) {
  int x = 0, y = 0, code = 0;
  EXPECT(weft_join(set_one, &x, set_one, &y, NULL) == 0 && x == 1 && y == 1);
  x = y = 0;
  EXPECT(weft_join_by_cost(1, set_one, &x, set_one, &y, NULL) == 0 && x == 1 && y == 1);
  EXPECT(weft_join(set_one, &x, fail_with_seven, NULL, &code) == WEFT_ERR_TASK_FAILED && code == 7);
  EXPECT(weft_critical("section", increment, &x, NULL) == 0 && x == 2);
  EXPECT(weft_critical_enter("section") == 0);
  EXPECT(weft_critical_leave("section") == 0);
  EXPECT(weft_critical_leave("section") == WEFT_ERR_INVALID_ARGUMENT);
}

static int keeps_a_value_of_its_own(void *p) {
  weft_local *local = p;
  void *value = &failures;
  if (weft_local_get(local, &value) || value != NULL)
    return 1;
  return weft_local_set(local, p) || weft_taskyield() || weft_local_get(local, &value) ||
         value != p;
}

static int increment_long(void *p) {
  ++*(int64_t *)p;
  return 0;
}

static weft_reduction total, product_of_two;
static int64_t sum_of_all, shared_by_all;

static int adds_three(void *unused) {
  void *mine = NULL;
  (void)unused;
  if (weft_reduction_local(&sum_of_all, sizeof sum_of_all, &mine))
    return 1;
  *(int64_t *)mine += 3;
  return weft_reduction_local(&failures, sizeof failures, &mine) != WEFT_ERR_INVALID_ARGUMENT;
}

static int spawns_two_that_add(void *unused) {
  const weft_access access = weft_reduce(&total);
  (void)unused;
  return weft_spawn(adds_three, NULL, 0, &access, 1, NULL, NULL) ||
         weft_spawn(adds_three, NULL, 0, &access, 1, NULL, NULL);
}

static void tasks_reduce_and_take_turns(void) {
  weft_access list[4];
  int64_t seen = 0;
  EXPECT(weft_reduction_builtin(&total, &sum_of_all, 1, WEFT_INT64, WEFT_SUM) == 0);
  EXPECT(weft_reduction_builtin(&product_of_two, &sum_of_all, 1, WEFT_DOUBLE, WEFT_BIT_AND) ==
         WEFT_ERR_INVALID_ARGUMENT);
  list[0] = weft_weak_reduce(&total);
  EXPECT(weft_spawn(spawns_two_that_add, NULL, 0, list, 1, NULL, NULL) == 0);
  list[0] = weft_reduce(&total);
  EXPECT(weft_spawn(adds_three, NULL, 0, list, 1, NULL, NULL) == 0);
  EXPECT(weft_taskwait(NULL) == 0 && sum_of_all == 9);

  list[0] = weft_commutative(&shared_by_all);
  list[1] = weft_weak_commutative(&seen);
  list[2] = weft_concurrent(&total);
  list[3] = weft_weak_concurrent(&product_of_two);
  for (int i = 0; i < 4; ++i)
    EXPECT(weft_spawn(increment_long, &shared_by_all, 0, list, 4, NULL, NULL) == 0);
  EXPECT(weft_taskwait(NULL) == 0 && shared_by_all == 4);
}

static int double_all(const weft_range *chunk, void *arg) {
  for (int64_t i = chunk->first; i < chunk->limit; ++i)
    ((long *)arg)[i] *= 2;
  return 0;
}

static int fail_at_three(const weft_range *chunk, void *arg) {
  (void)arg;
  return chunk->first == 3 ? 3 : 0;
}

static size_t block_of(const weft_range *chunk, void *arg, weft_access *list) {
  list[0] = weft_inout((long *)arg + chunk->first);
  return 1;
}

struct growth {
  long *x;
  int left;
};

static int grow(void *p) {
  long *const x = *(long **)p;
  for (int i = 0; i < 3; ++i)
    x[i] = 2 * x[i] + 1;
  return 0;
}

static int record_growth(void *p) {
  struct growth *const g = p;
  const weft_access inout = weft_inout(g->x);
  weft_handle *refused = NULL;
  EXPECT(weft_spawn(grow, &g->x, sizeof g->x, &inout, 1, NULL, &refused) ==
             WEFT_ERR_INVALID_ARGUMENT &&
         !refused);
  EXPECT(strstr(weft_last_error_message(), "has a handle") != NULL);
  return weft_spawn(grow, &g->x, sizeof g->x, &inout, 1, NULL, NULL);
}

static int some_left(void *p) { return ((struct growth *)p)->left-- > 0; }

static size_t rows_of(const weft_range *chunk, void *x, weft_region *list) {
  list[0] = weft_region_range(x, sizeof(long), chunk->first, chunk->limit - 1, WEFT_INOUT);
  return 1;
}

static size_t too_many(const weft_range *chunk, void *x, weft_region *list) {
  (void)chunk, (void)x, (void)list;
  return 2;
}

static void loops_take_regions(void) {
  static long x[100];
  const weft_range all = {0, 100, 1};
  weft_loop_options loop = WEFT_LOOP_OPTIONS_INIT;
  const weft_region whole = weft_region_span(x, sizeof *x, 0, 100, WEFT_INOUT);
  for (int i = 0; i < 100; ++i)
    x[i] = i;
  loop.grain_size = 7;
  loop.flags = WEFT_LOOP_NOGROUP;
  loop.regions = rows_of;
  loop.most_regions = 1;
  EXPECT(weft_taskloop(all, double_all, x, 0, &loop, NULL, NULL) == 0);
  EXPECT(weft_taskfor_regions(all, double_all, x, 0, 5, &whole, 1, NULL, 0, NULL, NULL) == 0);
  loop.grain_size = 9;
  EXPECT(weft_taskloop(all, double_all, x, 0, &loop, NULL, NULL) == 0);
  loop.regions = too_many;
  EXPECT(weft_taskloop(all, double_all, x, 0, &loop, NULL, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(strstr(weft_last_error_message(), "most_regions") != NULL);
  EXPECT(weft_taskwait(NULL) == 0 && x[99] == 792 && x[1] == 8);
}

static void loops_run(void) {
  static long x[100];
  const weft_range all = {0, 100, 1}, none = {0, 100, 0};
  weft_loop_options loop = WEFT_LOOP_OPTIONS_INIT;
  weft_spawn_options options = WEFT_SPAWN_OPTIONS_INIT;
  const weft_access inout = weft_inout(x);
  weft_handle *handle = NULL;
  int code = 0;
  for (int i = 0; i < 100; ++i)
    x[i] = i;
  EXPECT(weft_taskloop(all, double_all, x, 0, NULL, NULL, NULL) == 0 && x[99] == 198);
  loop.grain_size = 10;
  loop.accesses = block_of;
  loop.most_accesses = 1;
  loop.flags = WEFT_LOOP_NOGROUP;
  EXPECT(weft_taskloop(all, double_all, x, 0, &loop, NULL, NULL) == 0);
  EXPECT(weft_taskloop(all, double_all, x, 0, &loop, NULL, NULL) == 0);
  EXPECT(weft_taskwait(NULL) == 0 && x[99] == 792 && x[1] == 8);
  loop.num_tasks = 4;
  EXPECT(weft_taskloop(all, double_all, x, 0, &loop, NULL, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_taskloop(none, double_all, x, 0, NULL, NULL, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  loop.grain_size = 1;
  loop.num_tasks = 0;
  loop.accesses = NULL;
  loop.flags = 0;
  EXPECT(weft_taskloop(all, fail_at_three, NULL, 0, &loop, NULL, &code) == WEFT_ERR_TASK_FAILED &&
         code == 3);

  EXPECT(weft_taskfor(all, double_all, x, 0, 7, &inout, 1, NULL, &handle) == 0);
  EXPECT(weft_handle_wait(handle, NULL) == 0 && x[99] == 1584);
  weft_handle_destroy(handle);
  EXPECT(weft_taskfor(none, double_all, x, 0, 0, NULL, 0, NULL, NULL) == WEFT_ERR_INVALID_ARGUMENT);

  struct growth g = {x, 3};
  x[0] = x[1] = x[2] = 0;
  EXPECT(weft_taskiter(4, NULL, record_growth, &g, sizeof g, &inout, 1, NULL, NULL) == 0);
  EXPECT(weft_taskiter(0, some_left, record_growth, &g, sizeof g, &inout, 1, NULL, NULL) == 0);
  EXPECT(weft_taskwait(NULL) == 0 && x[0] == 127 && x[2] == 127 && g.left == 3);
  weft_prepared two_steps;
  EXPECT(weft_taskiter_prepare(&two_steps, 2, NULL, record_growth, sizeof g, 1, NULL) == 0);
  *(struct growth *)two_steps.arg = g;
  EXPECT(weft_task_submit(&two_steps, &inout, 1) == 0);
  EXPECT(weft_taskwait(NULL) == 0 && x[0] == 511 && x[2] == 511);
  options.flags = WEFT_TASK_FINAL;
  EXPECT(weft_taskiter(1, NULL, record_growth, &g, 0, NULL, 0, &options, NULL) ==
         WEFT_ERR_INVALID_ARGUMENT);
}

static void tasks_have_values_of_their_own(void) {
  weft_local *local = NULL;
  int mine = 0;
  void *value = NULL;
  EXPECT(weft_local_create(&local, NULL) == 0);
  EXPECT(weft_local_set(local, &mine) == 0);
  for (int i = 0; i < 4; ++i)
    EXPECT(weft_spawn(keeps_a_value_of_its_own, local, 0, NULL, 0, NULL, NULL) == 0);
  EXPECT(weft_taskwait(NULL) == 0);
  EXPECT(weft_local_get(local, &value) == 0 && value == &mine);
  EXPECT(weft_local_set(local, NULL) == 0);
  weft_local_destroy(local);
}

static void totals_are_told(void) {
  weft_statistics s;
  uint64_t first = 0, second = 0;
  memset(&s, 0, sizeof s);
  s.size = sizeof s;
  EXPECT(weft_stats(&s) == 0 && s.spawned > 0 && s.executed == s.spawned && s.cost == 5);
  EXPECT(weft_executed_by(0, &first) == 0 && weft_executed_by(1, &second) == 0);
  EXPECT(first + second <= s.executed && first + second > 0);
}

static void add_value(const char *name, double value, const char *unit, void *sum) {
  EXPECT(name[0] == '/' && unit != NULL);
  *(double *)sum += value;
}

static void count_name(const char *name, const char *unit, const char *help, int absent, void *n) {
  EXPECT(name[0] == '/' && unit != NULL && help != NULL && absent == 0);
  ++*(int *)n;
}

static void add_interval(const weft_snapshot *now, const weft_snapshot *interval, void *sum) {
  double n = 0;
  EXPECT(weft_snapshot_span_ns(now) >= weft_snapshot_span_ns(interval));
  EXPECT(weft_snapshot_value(interval, "/test/calls", &n) == 0);
  *(double *)sum += n;
}

static double depth_of(void *depth) { return *(const double *)depth; }

static void add_bucket(double least, uint64_t count, void *tasks) {
  EXPECT(least >= 0 && count > 0);
  *(uint64_t *)tasks += count;
}

static void levels_and_histograms_are_read(void) {
  static double depth = 7; // of the level, which outlives this call
  weft_level *level = NULL;
  weft_snapshot *now = NULL;
  double value = 0;
  uint64_t tasks = 0;
  char text[9];
  size_t needed = 0;
  EXPECT(weft_level_define("/test/depth", "", "of the test", depth_of, &depth, &level) == 0);
  EXPECT(weft_level_define("/test/depth", "", "", NULL, NULL, &level) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_snapshot_take(&now) == 0);
  EXPECT(weft_snapshot_value(now, "/test/depth", &value) == 0 && value == 7);
  EXPECT(weft_snapshot_histogram(now, "/threads/time/duration", add_bucket, &tasks) == 0);
  EXPECT(weft_snapshot_value(now, "/threads/time/duration", &value) == 0 && (double)tasks == value);
  EXPECT(weft_snapshot_histogram(now, "/test/depth", add_bucket, &tasks) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_snapshot_open_metrics(now, text, sizeof text, &needed) == 0 && needed > 1000 &&
         strcmp(text, "# TYPE w") == 0);
  EXPECT(weft_snapshot_open_metrics(now, NULL, 9, &needed) == WEFT_ERR_INVALID_ARGUMENT);
  weft_snapshot_free(now);
  weft_level_withdraw(level);
  weft_level_withdraw(NULL);
  depth = 9;
  EXPECT(weft_snapshot_take(&now) == 0);
  EXPECT(weft_snapshot_value(now, "/test/depth", &value) == 0 && value == 7);
  weft_snapshot_free(now);
}

static void counters_are_read_and_defined(void) {
  weft_counter *calls = NULL;
  weft_snapshot *before = NULL, *after = NULL, *spent = NULL, *other = NULL;
  weft_intervals *reading = NULL;
  double value = 0, sum = 0, in_intervals = 0;
  char text[4];
  size_t needed = 0;
  int names = 0;
  EXPECT(weft_counter_define("/test/calls", "", "calls of the test", &calls) == 0);
  EXPECT(weft_counter_define("calls", "", "", &calls) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_counters_list("/test/*", count_name, &names) == 0 && names == 1);
  EXPECT(weft_snapshot_take(&before) == 0);
  EXPECT(weft_counters_every(1000000, add_interval, &in_intervals, &reading) == 0);
  weft_counter_add(calls, 5);
  weft_counter_add(NULL, 5);
  weft_counters_stop(reading);
  EXPECT(in_intervals == 5);
  EXPECT(weft_snapshot_take(&after) == 0);
  EXPECT(weft_snapshot_subtract(after, before, &spent) == 0);
  EXPECT(weft_snapshot_value(spent, "/test/calls", &value) == 0 && value == 5);
  EXPECT(weft_snapshot_value(spent, "/test/nothing", &value) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_snapshot_each(spent, "/test/calls,/test/*", add_value, &sum) == 0 && sum == 10);
  EXPECT(weft_snapshot_text(spent, "/test/calls", WEFT_FORMAT_JSON, text, sizeof text, &needed) ==
             0 &&
         needed > 40 && strcmp(text, "{\"p") == 0);
  EXPECT(weft_snapshot_text(spent, "/test/calls", 7, text, sizeof text, &needed) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_snapshot_span_ns(spent) > 0 && weft_snapshot_span_ns(NULL) == 0);
  EXPECT(weft_snapshot_take_from(0x7ffffff0, &other) == WEFT_ERR_INVALID_ARGUMENT && other == NULL);
  weft_snapshot_free(before);
  weft_snapshot_free(after);
  weft_snapshot_free(spent);
  weft_snapshot_free(NULL);
}

static void count_knob(const char *name, const char *value, const char *allowed, const char *help,
                       int of_program, void *count) {
  EXPECT(name[0] && value[0] && allowed[0] && help);
  *(int *)count += of_program;
}

static int look_and_set(const weft_policy_call *call, void *context) {
  double executed = -1;
  int kept = 0;
  EXPECT(weft_policy_read(call, "/threads/count/cumulative", 1, &executed) == WEFT_OK);
  EXPECT(executed >= 0);
  EXPECT(weft_policy_read(call, "/threads/count/cumulative", 0, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_policy_set(call, "spin.us", "3us", &kept) == WEFT_OK && kept == 1);
  EXPECT(weft_policy_set(call, "spin.uss", "3us", NULL) == WEFT_ERR_BAD_SETTING);
  *(int *)context = 1;
  return 0;
}

/* Without tune=on policies are entered and ended, and not called. */
static void policies_are_entered_and_ended(void) {
  weft_tuning_policy *policy = NULL, *other = NULL;
  weft_event *event = NULL;
  int called = 0;
  EXPECT(weft_policy_every("c every", 1000000, look_and_set, &called, &policy) == WEFT_OK);
  EXPECT(weft_policy_every("c every", 1000000, look_and_set, &called, &other) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_policy_every("c fast", 999999, look_and_set, &called, &other) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_policy_every("", 1000000, look_and_set, &called, &other) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_policy_every("c none", 1000000, NULL, &called, &other) == WEFT_ERR_INVALID_ARGUMENT);
  weft_policy_end(policy);
  EXPECT(weft_policy_threshold("c counter", "/threadqueue/length", 10, 1, 1000000, look_and_set,
                               &called, &policy) == WEFT_OK);
  weft_policy_end(policy);
  EXPECT(weft_event_make(&event) == WEFT_OK);
  EXPECT(weft_event_make(NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_policy_at("c event", NULL, look_and_set, &called, &policy) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_policy_at("c event", event, look_and_set, &called, &policy) == WEFT_OK);
  weft_event_fire(event);
  weft_event_fire(NULL);
  weft_policy_end(policy);
  weft_policy_end(NULL);
  weft_event_destroy(event);
  weft_event_destroy(NULL);
  EXPECT(called == 0);
  EXPECT(weft_policy_set(NULL, "spin.us", "3us", NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_policy_read(NULL, "/threads/rate", 0, NULL) == WEFT_ERR_INVALID_ARGUMENT);
}

static void count_decision(const char *decision, void *count) {
  EXPECT(decision[0]);
  ++*(int *)count;
}

static void count_compromise(const char *values, const char *const *terms, const double *costs,
                             size_t count, void *to) {
  EXPECT(values && terms && costs && count);
  ++*(int *)to;
}

/* Without tune=on a session measures nothing and leaves its knobs alone. */
static void sessions_are_made_and_ended(void) {
  weft_knob *rows = NULL, *columns = NULL;
  weft_session *session = NULL, *other = NULL;
  weft_tuning_policy *policy = NULL;
  char text[4] = "?";
  size_t needed = 0;
  int measured = -1, called = 0, decisions = 0, compromises = 0;
  EXPECT(weft_knob_define("c.rows", 8, 1, 64, WEFT_STEPS_LOGARITHMIC, WEFT_HOLDS_FROM_NEXT_CALL, "",
                          &rows) == WEFT_OK);
  EXPECT(weft_knob_define("c.columns", 8, 1, 64, WEFT_STEPS_LOGARITHMIC, WEFT_HOLDS_FROM_NEXT_CALL,
                          "", &columns) == WEFT_OK);
  weft_knob *const both[] = {rows, columns}, *const twice[] = {rows, rows};
  weft_knob *const one_missing[] = {rows, NULL};
  EXPECT(weft_session_create(NULL, 1, NULL, NULL, 0.02, &other) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_create(both, 0, NULL, NULL, 0.02, &other) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_create(both, 2, NULL, NULL, 0.02, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_create(twice, 2, NULL, NULL, 0.02, &other) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_create(one_missing, 2, NULL, NULL, 0.02, &other) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_create(both, 2, NULL, NULL, 1.5, &other) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_create_with(both, 2, NULL, NULL, 0.02, "guess", &other) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_create_with(both, 2, NULL, NULL, 0.02, "line", &other) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_create_with(both, 2, NULL, NULL, 0.02, "nlopt:sbplx", &other) == WEFT_OK);
  weft_session_destroy(other);
  other = NULL;
  EXPECT(weft_session_create(both, 2, "/statistics/average@/threads/rate", NULL, 0.02, &other) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(other == NULL);
  EXPECT(weft_session_create(both, 2, "/threads/time/cumulative-overhead", "c.site", 0.02,
                             &session) == WEFT_OK);
  EXPECT(weft_policy_at("c calls", weft_session_calls(session), look_and_set, &called, &policy) ==
         WEFT_OK);
  EXPECT(weft_session_begin(session, &measured) == WEFT_OK && measured == 0);
  EXPECT(weft_session_end(session, 1) == WEFT_OK);
  EXPECT(weft_session_begin(session, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_begin(NULL, &measured) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_end(NULL, 1) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_settled(session) == 1 && weft_session_settled(NULL) == 0);
  EXPECT(weft_session_trials(session) == 0 && weft_session_trials(NULL) == 0);
  EXPECT(weft_session_decision(session, text, sizeof text, &needed) == WEFT_OK && needed == 1 &&
         text[0] == 0);
  EXPECT(weft_session_decision(NULL, text, sizeof text, &needed) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_compromises(session, count_compromise, &compromises) == WEFT_OK &&
         compromises == 0); /* without tune=on */
  EXPECT(weft_session_compromises(NULL, count_compromise, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_compromises(session, NULL, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_session_calls(NULL) == NULL);
  EXPECT(weft_decisions_list(count_decision, &decisions) == WEFT_OK && decisions == 0);
  EXPECT(weft_decisions_list(NULL, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_knob_value(rows) == 8 && weft_knob_value(columns) == 8 && called == 0);
  weft_policy_end(policy);
  weft_session_destroy(session);
  weft_session_destroy(NULL);
  weft_knob_withdraw(rows);
  weft_knob_withdraw(columns);
}

static void knobs_are_defined_and_changed(void) {
  static const int64_t sizes[] = {160, 320};
  static const char *const orders[] = {"row", "column"};
  weft_knob *tile = NULL, *size = NULL, *share = NULL, *order = NULL, *other = NULL;
  char text[4];
  size_t needed = 0;
  int count = 0;
  EXPECT(weft_knob_define("c.tile", 8, 1, 64, WEFT_STEPS_LOGARITHMIC, WEFT_HOLDS_FROM_NEXT_LOOP,
                          "of the test", &tile) == 0);
  EXPECT(weft_knob_define_list("c.size", 160, sizes, 2, WEFT_HOLDS_FROM_NEXT_CALL, NULL, &size) ==
         0);
  EXPECT(weft_knob_define_real("c.share", 0.5, 0, 1, WEFT_STEPS_LINEAR, WEFT_HOLDS_WHEN_QUIET, "",
                               &share) == 0);
  EXPECT(weft_knob_define_choice("c.order", 1, orders, 2, WEFT_HOLDS_FROM_NEXT_CALL, "", &order) ==
         0);
  EXPECT(weft_knob_define("c.tile", 8, 1, 64, 0, 0, "", &other) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_knob_define("c.other", 8, 1, 64, 2, 0, "", &other) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_knob_define("c.other", 8, 1, 64, 0, 3, "", &other) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_knob_define("c.other", 8, 1, 64, 0, 0, "", NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_knob_define_list("c.other", 1, NULL, 1, 0, "", &other) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_knob_define_choice("c.other", 2, orders, 2, 0, "", &other) ==
         WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_knob_value(tile) == 8 && weft_knob_value(size) == 160 && weft_knob_value(order) == 1);
  EXPECT(weft_knob_real(share) == 0.5 && weft_knob_real(NULL) == 0 && weft_knob_value(NULL) == 0);
  EXPECT(weft_knob_set(tile, "16") == 0 && weft_knob_value(tile) == 16);
  EXPECT(weft_knob_set(tile, "65") == WEFT_ERR_BAD_SETTING && weft_knob_value(tile) == 16);
  EXPECT(weft_knob_set(NULL, "1") == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_set("c.order", "row") == 0 && weft_knob_value(order) == 0);
  EXPECT(weft_set("c.nothing", "1") == WEFT_ERR_BAD_SETTING);
  EXPECT(weft_set(NULL, "1") == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_set("workers", "1") == WEFT_ERR_ALREADY_STARTED);
  EXPECT(weft_set("spin.us", "5us") == 0);
  EXPECT(weft_get("spin.us", text, sizeof text, &needed) == 0 && needed == 4 &&
         strcmp(text, "5us") == 0);
  EXPECT(weft_get("spin.us", NULL, 0, NULL) == WEFT_ERR_INVALID_ARGUMENT);
  EXPECT(weft_get("c.nothing", NULL, 0, &needed) == WEFT_ERR_BAD_SETTING);
  EXPECT(weft_knobs_list(count_knob, &count) == 0 && count == 4);
  EXPECT(weft_knobs_list(NULL, &count) == WEFT_ERR_INVALID_ARGUMENT);
  weft_knob_withdraw(tile);
  weft_knob_withdraw(size);
  weft_knob_withdraw(share);
  weft_knob_withdraw(order);
  weft_knob_withdraw(NULL);
  count = 0;
  EXPECT(weft_knobs_list(count_knob, &count) == 0 && count == 0);
}

static void the_end_is_final(void) {
  int x = 0;
  EXPECT(weft_shutdown() == 0);
  EXPECT(weft_shutdown() == 0);
  EXPECT(weft_spawn(set_one, &x, 0, NULL, 0, NULL, NULL) == WEFT_ERR_SHUT_DOWN);
  EXPECT(strstr(weft_last_error_message(), "shutdown()") != NULL);
  EXPECT(weft_configure("workers", "2") == WEFT_ERR_SHUT_DOWN);
}

int main(void) {
  settings_come_first();
  accesses_order_tasks();
  sizes_change_no_order_by_address();
  tasks_in_two_steps();
  loops_in_two_steps();
  a_task_releases_early();
  functions_run_in_their_stream();
  regions_order_tasks_where_they_overlap();
  every_option_reaches_its_task();
  groups_fail_and_are_cancelled();
  a_service_ends_a_block_and_an_event();
  joins_and_critical_sections_run();
  tasks_reduce_and_take_turns();
  tasks_have_values_of_their_own();
  totals_are_told();
  loops_run();
  loops_take_regions();
  counters_are_read_and_defined();
  levels_and_histograms_are_read();
  policies_are_entered_and_ended();
  sessions_are_made_and_ended();
  knobs_are_defined_and_changed();
  the_end_is_final();
  return failures != 0;
}
