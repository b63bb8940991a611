// SPDX-License-Identifier: Apache-2.0
// The interface between TBB, the client, and a library that gives it worker threads, the server.
//
// TBB calls virtual functions of the server, and the server calls virtual functions of the client.
// The order of these functions is the whole interface.
// oneTBB's classes have a virtual destructor, in two slots at the front; classic TBB's (4.4 to
// 2020.3) have none. Classic TBB's client has one function more.
#pragma once

#include <cstddef>

namespace weft_tbb::abi {

/// What __RML_open_factory and __TBB_make_rml_server return.
enum status : int { success = 0, connection_exists, not_found, incompatible };

struct factory; ///< TBB's own; the server leaves it alone
struct job; ///< what one worker thread works on: made and destroyed by the client

/// Holds the version of the interface, which is that of all known clients.
inline constexpr unsigned k_version = 2;

namespace one {

class client {
 public:
  virtual ~client() = default;
  virtual unsigned version() const = 0;
  virtual unsigned max_job_count() const = 0;
  virtual std::size_t min_stack_size() const = 0;
  virtual job *create_one_job() = 0;
  virtual void acknowledge_close_connection() = 0;
  virtual void cleanup(job &) = 0;
  virtual void process(job &) = 0;
};

class server {
 public:
  virtual ~server() = default;
  virtual unsigned version() const = 0;
  virtual void request_close_connection(bool exiting) = 0;
  virtual void yield() = 0;
  virtual void independent_thread_number_changed(int delta) = 0;
  virtual unsigned default_concurrency() const = 0;
  virtual void adjust_job_count_estimate(int delta) = 0;
};

} // namespace one

// A class with virtual functions and no virtual destructor is what the interface has.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
namespace classic {

class client {
 public:
  virtual unsigned version() const = 0;
  virtual unsigned max_job_count() const = 0;
  virtual std::size_t min_stack_size() const = 0;
  virtual job *create_one_job() = 0;
  virtual void acknowledge_close_connection() = 0;
  virtual int policy() const = 0;
  virtual void cleanup(job &) = 0;
  virtual void process(job &) = 0;

 protected:
  ~client() = default;
};

class server {
 public:
  virtual unsigned version() const = 0;
  virtual void request_close_connection(bool exiting) = 0;
  virtual void yield() = 0;
  virtual void independent_thread_number_changed(int delta) = 0;
  virtual unsigned default_concurrency() const = 0;
  virtual void adjust_job_count_estimate(int delta) = 0;

 protected:
  ~server() = default;
};

} // namespace classic
#pragma GCC diagnostic pop

} // namespace weft_tbb::abi
