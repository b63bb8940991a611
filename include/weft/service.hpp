// SPDX-License-Identifier: Apache-2.0
// Polling services: callbacks that workers run when they have nothing better to do.
#pragma once

#include <weft/detail/core.hpp>

namespace weft::inline v0 {

/// Where the dispatcher calls a service.
enum class place : std::uint8_t {
  idle,  ///< by workers without work, again and again; when all workers sleep, every poll.period
  timer, ///< by the timer thread, every poll.period
};

/// Registers a callback for the life of the object. `f` returns true when it did something; it is never called by two threads at
/// once. It may unblock tasks, decrease events, spawn, and make or end services, itself too; what the services of one place spawn
/// are siblings, and the end of the program waits for them. It must not wait (errc::no_block) nor throw (the program ends with
/// a message that names the service). The destructor returns when no call is running. Any thread. `name` must outlive the object.
/// Cost: one allocation; while a service is idle's, sleeping workers wake every poll.period to call it.
/// Throws weft::error: invalid_argument without a function, out_of_resources, shut_down.
class WEFT_API service {
 public:
  service(const char *name, place where, bool (*f)(void *context), void *context);
  service(const service &) = delete;
  service &operator=(const service &) = delete;
  ~service();

 private:
  void *m_entry;
};

} // namespace weft::inline v0
