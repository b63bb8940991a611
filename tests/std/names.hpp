// SPDX-License-Identifier: Apache-2.0
// What a test of the standard's threads includes after its names were exchanged for Weft's.
#pragma once

#include <weft/future.hpp>
#include <weft/sync.hpp>
#include <weft/thread.hpp>
#include <weft/weft.hpp>

#include <chrono>
#include <functional>
#include <iostream>
#include <limits>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <vector>

/// Takes the place of `using namespace std`: the names of the standard that Weft has not.
namespace rest_of_std {
using std::adopt_lock;
using std::bad_alloc;
using std::cout;
using std::cref;
using std::defer_lock;
using std::endl;
using std::errc;
using std::exception_ptr;
using std::future_errc;
using std::future_error;
using std::future_status;
using std::lock_guard;
using std::make_error_code;
using std::make_exception_ptr;
using std::make_unique;
using std::move;
using std::numeric_limits;
using std::ref;
using std::rethrow_exception;
using std::string;
using std::system_error;
using std::try_to_lock;
using std::unique_lock;
using std::unique_ptr;
using std::vector;
using namespace std::placeholders;
namespace chrono = std::chrono;
namespace this_thread = weft::this_thread;
} // namespace rest_of_std
