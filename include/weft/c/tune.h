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

#ifdef __cplusplus
}
#endif
