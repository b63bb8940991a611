// SPDX-License-Identifier: Apache-2.0
// Synchronization that suspends the task, and works on every thread, under the standard's names.
#pragma once

#include <weft/mutex.hpp>
#include <weft/sync/barrier.hpp>
#include <weft/sync/call_once.hpp>
#include <weft/sync/channel.hpp>
#include <weft/sync/condition_variable.hpp>
#include <weft/sync/event.hpp>
#include <weft/sync/latch.hpp>
#include <weft/sync/semaphore.hpp>
#include <weft/sync/shared_mutex.hpp>
#include <weft/sync/sleep.hpp>
#include <weft/sync/spin_mutex.hpp>
#include <weft/sync/timed_mutex.hpp>
