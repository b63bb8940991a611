// SPDX-License-Identifier: Apache-2.0
// GLT, the Generic Lightweight Threads interface (55 core and 22 extended functions), on Weft's
// workers, for C11 and C++. Names, parameters and meanings are those of GLT 2.5, so a program of
// GLT is compiled anew and needs no change (see docs/user/glt.md).
//
// - A GLT thread is a worker of Weft; it has a number from 0 on. Thread 0 is the first thread of
//   the program, and runs ULTs while its own code waits or yields.
// - A ULT is a function that a worker runs on a lightweight stack. A call that waits suspends the
//   ULT, and its worker runs other ULTs.
// - A tasklet is a function that, in other libraries of GLT, must not wait. Here it may.
// - A handle (GLT_ult, GLT_mutex, ...) is a value that may be copied. The null handle, GLT_NULL,
//   names no object.
//
// Threads. Any thread and any task of the program may call each function after glt_init().
// Errors. A misuse prints a line that names the call and the remedy, and ends the program by
// abort(). A library that runs out of memory does the same.
//
// Define CORE before the header to leave the extended functions out.
#pragma once

#include <weft/c/config.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GLT_VERSION "GLT 2.5 on Weft"

#define GLT_NULL NULL // the handle of no object
#define GLT_UNIT_NULL NULL // the same
#define GLT_TRUE 1
#define GLT_FALSE 0

// Lists the codes that functions return; glt_get_error_str() has their names.
enum {
  GLT_SUCCESS = 0,
  GLT_ERR_MUTEX_LOCKED = 1, // another holder has the mutex
  GLT_ERR_INV_SCHED_CONFIG = 2 // a variable of a configuration has no valid index or type
};

typedef struct glt_ult_object *GLT_ult;
typedef struct glt_tasklet_object *GLT_tasklet;
typedef struct glt_mutex_object *GLT_mutex;
typedef struct glt_barrier_object *GLT_barrier;
typedef struct glt_cond_object *GLT_cond;
typedef struct glt_timer_object *GLT_timer;
typedef struct glt_key_object *GLT_key;
typedef int GLT_bool; // GLT_TRUE or GLT_FALSE
typedef int GLT_thread; // the number of a GLT thread
typedef int GLT_thread_id; // the same
typedef unsigned long GLT_ult_id; // differs for all ULTs that exist at one time; never 0

// Says what glt_init() has set up. It lasts until glt_finalize().
typedef struct glt_team {
  int num_workers; // GLT threads
  int max_workers; // CPUs that the process may use
} glt_team_t;

// ---- the library --------------------------------------------------------------------------------

// Does nothing: the library needs no preparation before glt_init().
WEFT_API void glt_start(void);
// Does nothing: the library may be used again after glt_init().
WEFT_API void glt_end(void);

// Starts the GLT threads: as many as the variable GLT_NUM_THREADS of the environment says, else as
// many workers as Weft has (setting workers). If Weft runs already, its workers are the GLT
// threads. The arguments of the program are not read. A second call counts: glt_finalize() is then
// called twice.
WEFT_API void glt_init(int argc, char *argv[]);
// Waits until each ULT and tasklet has ended, and takes back those that no call has joined or
// freed. Weft's workers remain, because other libraries may use them. glt_init() may follow.
//
// Threads. Outside of ULTs and tasklets.
// Blocks. Yes.
WEFT_API void glt_finalize(void);
// Returns what glt_init() has set up.
WEFT_API glt_team_t *glt_get_team(void);

// ---- ULTs and tasklets --------------------------------------------------------------------------

// Allocates an array of null handles. The caller releases it with free().
WEFT_API GLT_ult *glt_ult_malloc(int number_of_ult);
WEFT_API GLT_tasklet *glt_tasklet_malloc(int number_of_tasklets);

// Creates a ULT that calls thread_func(arg) on any GLT thread. *new_ult is written before the ULT
// runs; it is given back by glt_ult_join() or glt_ult_free(). With new_ult NULL the ULT has no
// handle, and is given back when it ends.
WEFT_API void glt_ult_create(void (*thread_func)(void *), void *arg, GLT_ult *new_ult);
// Creates a ULT that only GLT thread `dest` runs. From thread 63 on, the number is a hint.
WEFT_API void glt_ult_create_to(void (*thread_func)(void *), void *arg, GLT_ult *new_ult, int dest);
// Creates a tasklet as glt_ult_create() creates a ULT.
WEFT_API void glt_tasklet_create(void (*thread_func)(void *), void *arg, GLT_tasklet *new_tasklet);
// Creates a tasklet as glt_ult_create_to() creates a ULT.
WEFT_API void glt_tasklet_create_to(void (*thread_func)(void *), void *arg,
                                    GLT_tasklet *new_tasklet, int dest);

// Lets other ready work run before the caller goes on.
WEFT_API void glt_yield(void);
// The same: the work that runs first need not be `ult`.
WEFT_API void glt_yield_to(GLT_ult ult);

// Waits for the end of a ULT and gives it back. One call joins a ULT. Afterwards *ult says so:
// glt_ult_free() accepts it, a second join does not.
WEFT_API void glt_ult_join(GLT_ult *ult);
WEFT_API void glt_tasklet_join(GLT_tasklet *tasklet);
// Waits for the end of a ULT that no call has joined, gives it back, and sets *ult to GLT_NULL.
WEFT_API void glt_ult_free(GLT_ult *ult);
WEFT_API void glt_tasklet_free(GLT_tasklet *tasklet);

// Sets *id to the number of a ULT, or of the thread that glt_ult_self() has named.
WEFT_API void glt_ult_get_id(GLT_ult_id *id, GLT_ult ult);
// Sets *id to the number of the GLT thread that calls, as glt_get_thread_num().
WEFT_API void glt_workunit_get_thread_id(GLT_thread_id *id);
// Lets only GLT thread `id` run the calling ULT from now on, and continues it there.
WEFT_API void glt_ult_migrate_self_to(GLT_thread_id id);

// Sets *ult to the ULT that calls. A thread of the program has a handle, too, which cannot be
// joined, freed or cancelled. GLT_NULL in tasklets, and in tasks that GLT did not create.
WEFT_API void glt_ult_self(GLT_ult *ult);
// Sets *tasklet to the tasklet that calls; GLT_NULL outside of tasklets.
WEFT_API void glt_tasklet_self(GLT_tasklet *tasklet);

// Asks a ULT to end: it does not begin, or ends where it next calls glt_yield(), glt_yield_to() or
// glt_ult_migrate_self_to(). It is to be joined or freed as any other.
WEFT_API void glt_ult_cancel(GLT_ult ult);
// Asks a tasklet not to begin. One that has begun runs to its end.
WEFT_API void glt_tasklet_cancel(GLT_tasklet tasklet);
// Ends the calling ULT or tasklet. The stack is unwound as by an exception: destructors run, and a
// `catch (...)` in between has to rethrow.
WEFT_API void glt_ult_exit(void);

// ---- mutexes ------------------------------------------------------------------------------------

// Creates a free mutex. It is not recursive, and waiters get it first come, first served.
WEFT_API void glt_mutex_create(GLT_mutex *mutex);
// Takes the mutex, and suspends the caller while another ULT has it.
WEFT_API void glt_mutex_lock(GLT_mutex mutex);
// Gives the mutex up. The ULT that locked it calls this, on any GLT thread.
WEFT_API void glt_mutex_unlock(GLT_mutex mutex);
// Destroys a mutex that no ULT holds, and sets *mutex to GLT_NULL.
WEFT_API void glt_mutex_free(GLT_mutex *mutex);
// Takes the mutex if it is free. Returns GLT_SUCCESS if it has, else GLT_ERR_MUTEX_LOCKED.
WEFT_API int glt_mutex_trylock(GLT_mutex mutex);
// Takes the mutex and looks at it for some microseconds before it suspends the caller.
WEFT_API void glt_mutex_spinlock(GLT_mutex mutex);

// ---- barriers -----------------------------------------------------------------------------------

// Creates a barrier for `num_waiters` callers, at least one. It may be used again and again.
WEFT_API void glt_barrier_create(int num_waiters, GLT_barrier *barrier);
// Destroys a barrier at which no caller waits, and sets *barrier to GLT_NULL.
WEFT_API void glt_barrier_free(GLT_barrier *barrier);
// Suspends the caller until as many callers as the barrier is for have arrived.
WEFT_API void glt_barrier_wait(GLT_barrier *barrier);

// ---- condition variables ------------------------------------------------------------------------

WEFT_API void glt_cond_create(GLT_cond *cond); // Creates a condition variable.
// Destroys a condition variable for which no caller waits, and sets *cond to GLT_NULL.
WEFT_API void glt_cond_free(GLT_cond *cond);
// Wakes the caller that has waited longest, if there is one.
WEFT_API void glt_cond_signal(GLT_cond cond);
// Gives the mutex up, waits for a signal, and takes the mutex again. There are no spurious ends.
WEFT_API void glt_cond_wait(GLT_cond cond, GLT_mutex mutex);
WEFT_API void glt_cond_broadcast(GLT_cond cond); // Wakes all callers that wait.

// ---- time ---------------------------------------------------------------------------------------

// Returns seconds since a fixed moment; the value never decreases.
WEFT_API double glt_get_wtime(void);
WEFT_API void glt_timer_create(GLT_timer *timer); // Creates a timer.
WEFT_API void glt_timer_free(GLT_timer *timer); // Destroys a timer, and sets *timer to GLT_NULL.
WEFT_API void glt_timer_start(GLT_timer timer); // Starts the timer, from 0.
WEFT_API void glt_timer_stop(GLT_timer timer); // Stops a timer that was started.
// Sets *secs to the seconds from start to stop, or until now if the timer runs; 0 if it never did.
WEFT_API void glt_timer_get_secs(GLT_timer timer, double *secs);

// ---- GLT threads --------------------------------------------------------------------------------

// Returns the number of the GLT thread that calls, below glt_get_num_threads(). A ULT may have
// another number after each call that waits, unless it was created for one GLT thread.
WEFT_API int glt_get_thread_num(void);
// Returns how many GLT threads there are.
WEFT_API int glt_get_num_threads(void);

// ---- keys ---------------------------------------------------------------------------------------

// Creates a key. Each ULT, tasklet, thread and task has a value of its own for it, at first NULL.
// When a ULT ends, destructor(value) is called for a value that is not NULL; `destructor` may be
// NULL.
WEFT_API void glt_key_create(void (*destructor)(void *value), GLT_key *newkey);
// Destroys a key, and sets *key to GLT_NULL. No destructor is called for its values any more.
WEFT_API void glt_key_free(GLT_key *key);
WEFT_API void glt_key_set(GLT_key key, void *value); // Sets the caller's value.
WEFT_API void glt_key_get(GLT_key key, void **value); // Sets *value to the caller's value.

// ---- what this library can do -------------------------------------------------------------------

// Return 1 if the functions of that kind do what they say, and 0 otherwise. On Weft: events,
// futures and malleability 1; scheduler 0, because the policy is Weft's (setting sched.policy).
WEFT_API int glt_can_event_functions(void);
WEFT_API int glt_can_future_functions(void);
WEFT_API int glt_can_manage_scheduler(void);
WEFT_API int glt_can_malleability(void);
#define glt_can_scheduler glt_can_manage_scheduler // its name in three of GLT's headers

#ifndef CORE

// ---- schedulers ---------------------------------------------------------------------------------
// A scheduler is an object that has data, and that never schedules. The first call that makes one
// prints a line that says so.

typedef struct glt_sched_object *GLT_sched;
typedef struct glt_sched_config_object *GLT_sched_config;

typedef enum {
  GLT_SCHED_CONFIG_INT = 0, // int
  GLT_SCHED_CONFIG_DOUBLE = 1, // double
  GLT_SCHED_CONFIG_PTR = 2 // void *
} GLT_sched_config_type;

// Names a variable of a configuration.
typedef struct GLT_sched_config_var {
  int idx;
  GLT_sched_config_type type;
} GLT_sched_config_var;

// Ends the arguments of glt_scheduler_config_create().
#ifdef __cplusplus
#define GLT_sched_config_var_end (GLT_sched_config_var{-1, GLT_SCHED_CONFIG_INT})
#else
#define GLT_sched_config_var_end ((GLT_sched_config_var){-1, GLT_SCHED_CONFIG_INT})
#endif

typedef enum {
  GLT_SCHED_TYPE_ULT, // may yield
  GLT_SCHED_TYPE_TASK // may not
} GLT_sched_type;

typedef enum {
  GLT_SCHED_DEFAULT,
  GLT_SCHED_BASIC,
  GLT_SCHED_PRIO // by priority
} GLT_sched_predef;

typedef int (*GLT_sched_init_fn)(GLT_sched, GLT_sched_config);
typedef void (*GLT_sched_run_fn)(GLT_sched);
typedef int (*GLT_sched_free_fn)(GLT_sched);
typedef void *(*GLT_sched_get_migr_pool_fn)(GLT_sched);

// Holds the functions of a scheduler; Weft calls none of them.
typedef struct GLT_sched_def {
  GLT_sched_type type;
  GLT_sched_init_fn init;
  GLT_sched_run_fn run;
  GLT_sched_free_fn free;
  GLT_sched_get_migr_pool_fn get_migr_pool;
} GLT_sched_def;

// Creates a configuration of pairs (GLT_sched_config_var, value), up to GLT_sched_config_var_end.
// Returns GLT_SUCCESS, or GLT_ERR_INV_SCHED_CONFIG for an index below 0 or above 63 or a type that
// is none; then there is no configuration.
WEFT_API int glt_scheduler_config_create(GLT_sched_config *config, ...);
// Copies the variables 0 to num_vars - 1 to the addresses that follow. A variable that was not
// given leaves its target as it is; an address may be NULL. Returns GLT_SUCCESS.
WEFT_API int glt_scheduler_config_read(GLT_sched_config config, int num_vars, ...);
// Destroys a configuration, and sets *config to GLT_NULL.
WEFT_API void glt_scheduler_config_free(GLT_sched_config *config);

// Creates a scheduler for the GLT threads of the list, which keep Weft's policy.
WEFT_API void glt_scheduler_create(GLT_sched_def *def, int num_threads, int *threads_id,
                                   GLT_sched_config config, GLT_sched *newsched);
WEFT_API void glt_scheduler_create_basic(GLT_sched_predef predef, int num_threads, int *threads_id,
                                         GLT_sched_config config, GLT_sched *newsched);
#define glt_schededuler_create_basic glt_scheduler_create_basic // its name in one of GLT's headers
// Destroys a scheduler, and sets *sched to GLT_NULL.
WEFT_API void glt_scheduler_free(GLT_sched *sched);
// Note that the scheduler is to stop; glt_scheduler_has_to_stop() then says GLT_TRUE.
WEFT_API void glt_scheduler_finish(GLT_sched sched);
WEFT_API void glt_scheduler_exit(GLT_sched sched);
WEFT_API void glt_scheduler_has_to_stop(GLT_sched sched, GLT_bool *stop);
// Set and get the data of a scheduler, at first NULL.
WEFT_API void glt_scheduler_set_data(GLT_sched sched, void *data);
WEFT_API void glt_scheduler_get_data(GLT_sched sched, void **data);
// Set *size to the number of ULTs that the scheduler has: 0.
WEFT_API void glt_scheduler_get_size(GLT_sched sched, size_t *size);
WEFT_API void glt_scheduler_get_total_size(GLT_sched sched, size_t *size);

// ---- errors -------------------------------------------------------------------------------------

// Copies the name of a code with its terminating zero to `str`, and sets *len to its length without
// that. `str` and `len` may be NULL: ask for the length first.
WEFT_API void glt_get_error_str(int code, char *str, size_t *len);

// ---- events -------------------------------------------------------------------------------------

// Lists what glt_thread_enable() and glt_thread_disable() ask about and report.
typedef enum {
  GLT_EVENT_STOP_THREAD = 0, // a GLT thread is about to be disabled
  GLT_EVENT_ADD_THREAD = 1 // a GLT thread is about to be enabled
} GLT_event_kind;

// A callback. `thread` points to the number of the GLT thread. An asking one returns GLT_FALSE to
// refuse; the value that an acting one returns is ignored.
typedef GLT_bool (*GLT_event_cb_fn)(void *user_arg, void *thread);

// Adds callbacks for an event, each of which may be NULL. First all `ask_cb` are called; if none
// refuses, the event takes place, and then all `act_cb` are called. *cb_id becomes the number of the
// pair. The last letter of the name is missing in GLT, too.
WEFT_API void glt_event_add_callbac(GLT_event_kind event, GLT_event_cb_fn ask_cb,
                                    void *ask_user_arg, GLT_event_cb_fn act_cb, void *act_user_arg,
                                    int *cb_id);
#define glt_event_add_callback glt_event_add_callbac
// Removes a pair of callbacks.
WEFT_API void glt_event_del_callback(GLT_event_kind event, int cb_id);

// ---- futures ------------------------------------------------------------------------------------

typedef struct glt_future_object *GLT_future;

// Creates a future that will have a value of at most `nbytes` bytes; 0: it only becomes ready.
WEFT_API void glt_future_create(int nbytes, GLT_future *newfuture);
// Destroys a future for which no caller waits, with its value, and sets *future to GLT_NULL.
WEFT_API void glt_future_free(GLT_future *future);
// Waits until the future is ready. *value becomes the address of its value, or NULL if it has none;
// `value` may be NULL.
WEFT_API void glt_future_wait(GLT_future future, void **value);
// Copies `nbytes` bytes into the future and makes it ready, once.
WEFT_API void glt_future_set(GLT_future future, void *value, int nbytes);

// ---- malleability -------------------------------------------------------------------------------

// Enable or disable a GLT thread: the calling one, or the one with that number. A disabled one runs
// no ULT that is created afterwards, also none that is created for it, and goes on with those that
// exist. The last enabled one stays enabled.
WEFT_API void glt_thread_enable(void);
WEFT_API void glt_thread_disable(void);
WEFT_API void glt_thread_enable_id(int thread_id);
WEFT_API void glt_thread_disable_id(int thread_id);

#endif // CORE

#ifdef __cplusplus
}
#endif
