// SPDX-License-Identifier: Apache-2.0
// Adaptation: sessions find good values for knobs while the program runs, and policies look at counters
// and set knobs. Knobs move with the setting tune=on only. docs/user/tuning.md
#pragma once

#include <weft/c/counters.h>
#include <weft/c/error.h>
#include <weft/c/knob.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_tuning_policy weft_tuning_policy; // a function that is called now and then
typedef struct weft_policy_call weft_policy_call; // a call of it
typedef struct weft_event weft_event; // something that happens in the program
typedef struct weft_session weft_session; // a search for good values of knobs

// Is a policy's function. It must be short, and neither wait nor leave by an exception. A result that
// is not 0 ends the calls, with a message.
typedef int weft_policy_function(const weft_policy_call *call, void *context);

// Calls a function every `period_ns`.
//
// Ownership. The name is copied. *policy is for weft_policy_end; the event outlives the policy.
// Threads. Any. The function is called by one thread for all policies, which is no worker.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, a name that is empty or taken, a period below 1 ms),
// OUT_OF_RESOURCES (no thread).
WEFT_API int weft_policy_every(const char *name, uint64_t period_ns, weft_policy_function *function,
                               void *context, weft_tuning_policy **policy);

// Calls a function when a counter rises above (`above` is not 0) or falls below a limit: a level, or
// the growth of a count per second. It looks every `period_ns`.
//
// Ownership, Threads, Blocks, Errors. As weft_policy_every.
WEFT_API int weft_policy_threshold(const char *name, const char *counter, double limit, int above,
                                   uint64_t period_ns, weft_policy_function *function,
                                   void *context, weft_tuning_policy **policy);

// Calls a function when an event has happened.
//
// Ownership, Threads, Blocks, Errors. As weft_policy_every.
WEFT_API int weft_policy_at(const char *name, weft_event *event, weft_policy_function *function,
                            void *context, weft_tuning_policy **policy);

// Ends a policy. NULL is ignored.
//
// Threads. One thread, which is not in the policy's function.
// Blocks. For a call that is under way.
WEFT_API void weft_policy_end(weft_tuning_policy *policy);

// Sets a knob or a setting for a policy, as weft_set does. Sets *kept to 0 if another policy has set it
// first to something else, again and again; `kept` may be NULL.
//
// Threads. That of the call.
// Errors. As weft_set.
WEFT_API int weft_policy_set(const weft_policy_call *call, const char *knob, const char *value,
                             int *kept);

// Reads a counter: in `interval` what it has grown since the last call (not 0), or its value now.
//
// Threads. That of the call.
// Errors. INVALID_ARGUMENT (NULL, an unknown counter).
WEFT_API int weft_policy_read(const weft_policy_call *call, const char *counter, int interval,
                              double *value);

// Makes an event.
//
// Ownership. *event is for weft_event_destroy.
// Threads. Any.
// Errors. INVALID_ARGUMENT (NULL), OUT_OF_RESOURCES (no memory).
WEFT_API int weft_event_make(weft_event **event);

// Ends an event. NULL is ignored.
//
// Threads. One thread, after weft_policy_end of all policies on it.
WEFT_API void weft_event_destroy(weft_event *event);

// Says that an event has happened. NULL is ignored.
//
// Threads. Any thread, and tasks.
// Blocks. Never.
WEFT_API void weft_event_fire(weft_event *event);

// Makes a session: it finds values of `count` knobs for which a unit of work costs least. A knob
// belongs to one session, and is not changed by others meanwhile: a session ends when one was set. The
// program reads the knobs by weft_knob_value, between weft_session_begin and weft_session_end; between
// calls they have the best values so far.
//
// `objective` is what a unit of work is to cost little of: time, a counter, a sum, difference or product
// of counters, or several of them, also with bounds (docs/user/tuning.md); NULL: time. `site` is the name under which the finding is kept; NULL: the name of the
// first knob. `budget` is the part of the run time that trials may lose, from 0 to 1; 0.02 is usual.
//
// Ownership. Strings are copied. *session is for weft_session_destroy, before weft_knob_withdraw.
// Threads. Any.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, no knob, the same knob twice, a budget out of its range, an objective
// that is a quotient or badly written), OUT_OF_RESOURCES (no memory).
WEFT_API int weft_session_create(weft_knob *const *knobs, size_t count, const char *objective,
                                 const char *site, double budget, weft_session **session);
// Makes a session that looks for values as `search` says: line, law, simplex, exhaustive, random,
// nlopt:cobyla, nlopt:direct, nlopt:nelder-mead or nlopt:sbplx (docs/user/tuning.md); NULL: line for
// one knob, simplex for several. All else as weft_session_create.
//
// Errors. As weft_session_create; INVALID_ARGUMENT also for a search that is not known, or goes along
// one knob only.
WEFT_API int weft_session_create_with(weft_knob *const *knobs, size_t count, const char *objective,
                                      const char *site, double budget, const char *search,
                                      weft_session **session);

// Ends a session. NULL is ignored.
//
// Threads. One thread, after all other calls with the session and weft_policy_end of all policies on
// its event.
WEFT_API void weft_session_destroy(weft_session *session);

// Begins a call of the program's site: gives the knobs their values. Sets *measured to 1 if the call
// is measured, and weft_session_end is to end it; to 0 where nothing is tuned, once the session leaves the
// knobs alone, and while a call of another thread is measured. Starts Weft. Where nothing is tuned later
// calls cost one load.
//
// Threads. Any thread, and tasks.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL; each time for an objective that is not known, a level, or another ratio),
// as weft_start().
WEFT_API int weft_session_begin(weft_session *session, int *measured);

// Ends a call that weft_session_begin measures, and that has done `work` units, in any unit. A call
// of 0 units does not count.
//
// Threads. That of weft_session_begin.
// Blocks. Never for long: a lock, and the write of a small file where a decision is kept (tune.history).
// Errors. INVALID_ARGUMENT (NULL), OUT_OF_RESOURCES (no memory).
WEFT_API int weft_session_end(weft_session *session, double work);

// Returns whether the search is over: 1 or 0. 0 for NULL.
//
// Threads. Any thread, and tasks.
// Blocks. Never for long: a lock.
WEFT_API int weft_session_settled(const weft_session *session);

// Returns how many values have been tried. 0 for NULL.
//
// Threads. Any thread, and tasks.
// Blocks. Never for long: a lock.
WEFT_API size_t weft_session_trials(const weft_session *session);

// Writes what a session has decided last, as a sentence that is empty before the first decision, into
// `buffer`, cut to its size and ended by a zero. Sets *needed to the bytes of the whole, with the zero.
//
// Threads. Any thread, and tasks.
// Blocks. Never for long: a lock.
// Errors. INVALID_ARGUMENT (NULL, but buffer may be NULL when size is 0).
WEFT_API int weft_session_decision(const weft_session *session, char *buffer, size_t size,
                                   size_t *needed);

// Calls `use` with each point of the last search that no other one beats: the values of the knobs, the
// terms of the objective, and what a unit of work costs of each, as a part of what it cost with the
// values with which the search began. There is none for an objective of one term.
//
// Ownership. What `use` gets lives until it returns.
// Threads. Any thread, and tasks. `use` must not throw.
// Blocks. While `use` does.
// Errors. INVALID_ARGUMENT (NULL).
WEFT_API int weft_session_compromises(const weft_session *session,
                                      void (*use)(const char *values, const char *const *terms,
                                                  const double *costs, size_t count, void *context),
                                      void *context);

// Returns the event that happens at the end of each call that is measured. NULL for NULL.
//
// Ownership. The session's: not for weft_event_destroy.
// Threads. Any.
WEFT_API weft_event *weft_session_calls(weft_session *session);

// Calls `use` with what sessions and policies have decided, as sentences, the oldest first; the newest
// 64.
//
// Threads. Any. `use` must not throw.
// Blocks. While `use` does.
// Errors. INVALID_ARGUMENT (NULL).
WEFT_API int weft_decisions_list(void (*use)(const char *decision, void *context), void *context);

#ifdef __cplusplus
}
#endif
