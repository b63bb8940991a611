// SPDX-License-Identifier: Apache-2.0
// What the C functions return, and where the sentence that explains it is found.
//
// Every function of Weft returns 0 or one of these negative codes, unless its comment says
// otherwise. No C++ exception leaves a C function. A code is never renumbered and never used again;
// a new one may be added.
#pragma once

#include <weft/c/config.h>

#ifdef __cplusplus
extern "C" {
#endif

// Lists what the functions return: 0, or one of these. Codes are never renumbered.
enum weft_error {
  WEFT_OK = 0,
  WEFT_ERR_INVALID_ARGUMENT = -1, // an argument is outside what the function accepts
  WEFT_ERR_BAD_SETTING = -2, // a setting has a value (or a file a key) that Weft does not accept
  WEFT_ERR_OUT_OF_RESOURCES = -3, // memory, threads, stacks or worker slots ran out
  WEFT_ERR_NOT_A_TASK = -4, // called from where no task runs
  WEFT_ERR_NO_BLOCK = -5, // the caller may not block here, or a task was unblocked twice
  WEFT_ERR_EVENT_UNDERFLOW = -6, // more external events were fulfilled than announced
  WEFT_ERR_SHUT_DOWN = -7, // the runtime was shut down
  WEFT_ERR_DEADLOCK = -8, // every task waits for another one
  WEFT_ERR_ALREADY_STARTED = -9, // too late: the workers run
  WEFT_ERR_CANCELLED = -10, // the work was cancelled before it ran
  WEFT_ERR_NOT_SUPPORTED = -11, // this build or this kernel cannot do it
  WEFT_ERR_RANK_LOST = -12, // another rank of the job, or its memory, is gone
  // Of the C functions only:
  WEFT_ERR_TASK_FAILED = -100, // a body returned a code other than 0 (or, in C++, threw)
  WEFT_ERR_BUSY = -101, // the mutex is taken
  WEFT_ERR_TIMED_OUT = -102, // the time was over first
  WEFT_ERR_EXCEPTION = -103 // the code of a body that threw a C++ exception
};

// Returns the name of a code: "invalid_argument"; "ok" for 0, "unknown" for a number that is no
// code.
//
// Ownership. The string is constant.
// Threads. Anywhere.
// Blocks. Never.
WEFT_API const char *weft_error_string(int code);

// Returns the sentence that goes with the last error that a Weft function returned on this thread.
// The sentence names the thing concerned and the remedy; it is "" when there was no error. A
// success does not clear it.
//
// Ownership. The string belongs to Weft and is valid until the next call of Weft on the thread that
// fails or suspends the task (a task may go on on another thread).
// Threads. Anywhere.
// Blocks. Never.
WEFT_API const char *weft_last_error_message(void);

#ifdef __cplusplus
}
#endif
