// SPDX-License-Identifier: Apache-2.0
// All of Weft.
#pragma once

#include <weft/access.hpp>
#include <weft/block.hpp>
#include <weft/error.hpp>
#include <weft/function.hpp>
#include <weft/group.hpp>
#include <weft/handle.hpp>
#include <weft/join.hpp>
#include <weft/mutex.hpp>
#include <weft/range.hpp>
#include <weft/reduction.hpp>
#include <weft/region.hpp>
#include <weft/runtime.hpp>
#include <weft/service.hpp>
#include <weft/task.hpp>
#include <weft/task_local.hpp>
#include <weft/taskfor.hpp>
#include <weft/taskiter.hpp>
#include <weft/taskloop.hpp>
#include <weft/version.hpp>
#include <weft/worker_set.hpp>
