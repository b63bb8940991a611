// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <hpx/algorithm.hpp>
#include <hpx/assert.hpp>
#include <hpx/chrono.hpp>
#include <hpx/execution.hpp>
#include <hpx/functional.hpp>
#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/iostream.hpp>
#include <hpx/iterator_support.hpp>
#include <hpx/performance_counters.hpp>
#include <hpx/program_options.hpp>
#include <hpx/runtime.hpp>
#include <hpx/synchronization.hpp>
#include <hpx/task_group.hpp>
#include <hpx/thread.hpp>
#include <hpx/util/format.hpp>
