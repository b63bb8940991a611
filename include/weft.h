// SPDX-License-Identifier: Apache-2.0
// All of Weft for C99 and later. The same runtime, the same tasks and the same settings as
// <weft/weft.hpp>: both may be used in one program.
//
// Every comment says: what the call does - Ownership - Threads - Blocks - Errors (WEFT_ERR_ left
// out) - Undefined. What is not listed as undefined is checked. "Any thread" includes threads that
// Weft has not seen before.
#pragma once

#include <weft/c/access.h>
#include <weft/c/block.h>
#include <weft/c/counters.h>
#include <weft/c/error.h>
#include <weft/c/function.h>
#include <weft/c/group.h>
#include <weft/c/handle.h>
#include <weft/c/join.h>
#include <weft/c/knob.h>
#include <weft/c/local.h>
#include <weft/c/loop.h>
#include <weft/c/mutex.h>
#include <weft/c/reduction.h>
#include <weft/c/region.h>
#include <weft/c/runtime.h>
#include <weft/c/service.h>
#include <weft/c/task.h>
#include <weft/c/tune.h>
