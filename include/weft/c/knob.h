// SPDX-License-Identifier: Apache-2.0
// Knobs: settings that change while the program runs, and numbers of the program's own that others
// may change. docs/user/knobs.md lists the settings that can change.
#pragma once

#include <weft/c/error.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_knob weft_knob; // one of the program's own

// Says from when on a change holds.
typedef enum weft_takes_hold {
  WEFT_HOLDS_FROM_NEXT_CALL = 0, // of the function that reads the knob
  WEFT_HOLDS_FROM_NEXT_LOOP = 1, // that begins
  WEFT_HOLDS_WHEN_QUIET = 2 // when no task runs that has read the knob
} weft_takes_hold;

// Says in which steps a search tries values.
typedef enum weft_steps { WEFT_STEPS_LINEAR = 0, WEFT_STEPS_LOGARITHMIC = 1 } weft_steps;

// Changes a setting of Weft, or a knob of the program, while the program runs. Before Weft starts, a
// setting gets its value as by weft_configure().
//
// Ownership. Both strings are copied.
// Threads. Any thread, and tasks.
// Blocks. Never for long: a lock.
// Errors. INVALID_ARGUMENT (NULL), BAD_SETTING (unknown name, bad value), ALREADY_STARTED (a setting
// that is read at start only), NOT_SUPPORTED (the runtime cannot follow), SHUT_DOWN.
WEFT_API int weft_set(const char *name, const char *value);

// Writes the present value of a setting or a knob into `buffer`, cut to its size and ended by a
// zero. Sets *needed to the bytes of the whole, with the zero.
//
// Threads. Any thread, and tasks.
// Blocks. Never for long: a lock.
// Errors. INVALID_ARGUMENT (NULL, but buffer may be NULL when size is 0), BAD_SETTING (unknown name).
WEFT_API int weft_get(const char *name, char *buffer, size_t size, size_t *needed);

// Calls `use` for each setting and each knob that can change while the program runs.
//
// Threads. Any thread, and tasks. `use` must not throw.
// Blocks. While `use` does.
// Errors. INVALID_ARGUMENT (NULL).
WEFT_API int weft_knobs_list(void (*use)(const char *name, const char *value, const char *allowed,
                                         const char *help, int of_program, void *context),
                             void *context);

// Defines a knob of the program that has a whole number from `least` to `most`. `help` may be NULL.
//
// Ownership. Strings are copied. *knob is for weft_knob_withdraw.
// Threads. Any thread.
// Blocks. Never.
// Errors. INVALID_ARGUMENT (NULL, a bad name or one that is taken, no values, a first value that is
// not allowed, unknown enumerators).
WEFT_API int weft_knob_define(const char *name, int64_t first, int64_t least, int64_t most,
                              int steps, int takes_hold, const char *help, weft_knob **knob);

// Defines a knob of the program that has one of `count` values.
//
// Ownership, Threads, Blocks, Errors. As weft_knob_define.
WEFT_API int weft_knob_define_list(const char *name, int64_t first, const int64_t *values,
                                   size_t count, int takes_hold, const char *help,
                                   weft_knob **knob);

// Defines a knob of the program that has a number from `least` to `most`.
//
// Ownership, Threads, Blocks, Errors. As weft_knob_define.
WEFT_API int weft_knob_define_real(const char *name, double first, double least, double most,
                                   int steps, int takes_hold, const char *help, weft_knob **knob);

// Defines a knob of the program that has one of `count` words; its value is the word's index.
//
// Ownership, Threads, Blocks, Errors. As weft_knob_define.
WEFT_API int weft_knob_define_choice(const char *name, size_t first, const char *const *words,
                                     size_t count, int takes_hold, const char *help,
                                     weft_knob **knob);

// Returns the present value of a knob: a whole number, or the index of a word. 0 for NULL.
//
// Threads. Any thread, and tasks, before weft_knob_withdraw.
WEFT_API int64_t weft_knob_value(const weft_knob *knob);

// Returns the present value of a knob that weft_knob_define_real has defined. 0 for NULL.
//
// Threads. Any thread, and tasks, before weft_knob_withdraw.
WEFT_API double weft_knob_real(const weft_knob *knob);

// Changes the value of a knob, by its text as `weft set` does.
//
// Threads. Any thread, and tasks.
// Blocks. Never for long: a lock.
// Errors. INVALID_ARGUMENT (NULL), BAD_SETTING (a value that is not allowed).
WEFT_API int weft_knob_set(weft_knob *knob, const char *value);

// Ends a knob. NULL is ignored.
//
// Threads. One thread, after all other calls with the knob.
WEFT_API void weft_knob_withdraw(weft_knob *knob);

#ifdef __cplusplus
}
#endif
