// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/service/caller.hpp"
#include "weft_mpi/service/in_weft.hpp"
#include "weft_mpi/service/message.hpp"
#include "weft_mpi/service/service.hpp"
#include "weft_mpi/wrap/persistent.hpp"

#include <weft/error.hpp>
#include <weft/mpi.h>
#include <weft/mpi.hpp>

#include <new>
#include <string>
#include <vector>

namespace weft::inline v0 {
namespace mpi {
namespace {

using weft_mpi::bound_task;
using weft_mpi::service;
using binding = weft_mpi::in_flight<weft_mpi::real_mpi>::binding;

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (PMPI_Error_string(code, text, &length) != MPI_SUCCESS)
    return "error " + std::to_string(code);
  return {text, static_cast<std::size_t>(length)};
}

/// Returns the task that runs here.
bound_task task_to_bind(const char *name) {
  bound_task owner;
  weft::layer::task_source *const others = weft::layer::offered_tasks();
  owner.other = others ? others->running() : nullptr;
  if (!owner.other)
    owner.task = weft::layer::running_task();
  if (!owner.other && !owner.task)
    throw weft::error(
        errc::not_a_task,
        std::string(name) +
            ": no task runs here whose completion could wait for a request; call it in a "
            "task, or wait with MPI_Wait");
  if (!is_task_aware())
    throw weft::error(errc::not_supported,
                      std::string(name) +
                          (weft_mpi::thread_level() < 0
                               ? ": MPI is not initialised; call MPI_Init first"
                               : ": MPI does not give MPI_THREAD_MULTIPLE, which tasks "
                                 "need; use an MPI that does"));
  return owner;
}

void add_events(const bound_task &owner, std::size_t n) {
  if (!owner.other)
    this_task::increase_events(static_cast<std::uint32_t>(n));
  else if (!weft::layer::offered_tasks()->increase_events(owner.other, n))
    throw weft::error(errc::out_of_resources, "weft::mpi::bind: the task has too many events");
}

void take_back_events(const bound_task &owner, std::size_t n) {
  if (!owner.other)
    decrease_events(owner.task, static_cast<std::uint32_t>(n));
  else
    weft::layer::offered_tasks()->decrease_events(owner.other, n);
}

void bind_list(const char *name, std::span<MPI_Request> requests, MPI_Status *statuses) {
  const bound_task owner = task_to_bind(name);
  std::vector<binding> list;
  list.reserve(requests.size());
  std::vector<MPI_Request *> given; // the handles that the service ends
  given.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    MPI_Status *const wanted = statuses == MPI_STATUSES_IGNORE ? nullptr : statuses + i;
    if (requests[i] != MPI_REQUEST_NULL && !weft_mpi::is_complete(requests[i])) {
      list.push_back({requests[i], wanted, owner, weft_mpi::begun_of(requests[i])});
      // Asked before the service has the request: MPI may use the handle again, for a persistent one, at any time then.
      if (!weft_mpi::is_persistent(requests[i])) {
        weft_mpi::forget_begun(requests[i]);
        given.push_back(&requests[i]);
      }
      continue;
    }
    // The request is over, or failed: MPI says it here.
    MPI_Status own;
    own.MPI_ERROR = MPI_SUCCESS;
    weft_mpi::forget_begun(requests[i]);
    const int error = PMPI_Wait(&requests[i], &own);
    own.MPI_ERROR = error;
    if (wanted) {
      *wanted = own;
    } else if (error != MPI_SUCCESS && !owner.other) {
      this_task::increase_events();
      layer::fail_task(owner.task, std::make_exception_ptr(mpi::error(name, error)));
      decrease_events(owner.task);
    } else if (error != MPI_SUCCESS) {
      weft_mpi::warn_of_lost_error(name);
    }
  }
  if (list.empty())
    return;
  weft_mpi::in_weft(owner.other != nullptr, [&] {
    service &all = service::of_process();
    all.announce(list.size());
    try {
      add_events(owner, list.size());
      try {
        all.add(list, name);
      } catch (...) {
        take_back_events(owner, list.size());
        throw;
      }
    } catch (...) {
      all.withdraw(list.size());
      throw;
    }
  });
  for (MPI_Request *handle : given)
    *handle = MPI_REQUEST_NULL;
}

template <class F>
int code_of(F &&f) noexcept {
  try {
    f();
    return WEFT_OK;
  } catch (const weft::error &e) {
    weft_mpi::warn("%s", e.what());
    return -static_cast<int>(e.code());
  } catch (const std::bad_alloc &) {
    return WEFT_ERR_OUT_OF_RESOURCES;
  } catch (...) {
    return WEFT_ERR_EXCEPTION;
  }
}

} // namespace

error::error(const char *call, int code)
    : std::runtime_error(std::string(call) + ": a bound request has failed: " + text_of(code)),
      m_code(code) {}
error::~error() = default;

void bind(MPI_Request &request, MPI_Status *status) {
  bind_list("weft::mpi::bind", {&request, 1},
            status == MPI_STATUS_IGNORE ? MPI_STATUSES_IGNORE : status);
}

void bindall(std::span<MPI_Request> requests, MPI_Status *statuses) {
  bind_list("weft::mpi::bindall", requests, statuses);
}

bool is_task_aware() noexcept { return weft_mpi::thread_level() == MPI_THREAD_MULTIPLE; }

} // namespace mpi
} // namespace weft::inline v0

extern "C" {

int weft_mpi_bind(MPI_Request *request, MPI_Status *status) {
  if (!request) {
    weft_mpi::warn("weft_mpi_bind: there is no request; pass the address of one");
    return WEFT_ERR_INVALID_ARGUMENT;
  }
  return weft::mpi::code_of([&] { weft::mpi::bind(*request, status); });
}

int weft_mpi_bindall(int count, MPI_Request *requests, MPI_Status *statuses) {
  if (count < 0 || (count > 0 && !requests)) {
    weft_mpi::warn("weft_mpi_bindall: %d requests at %p; pass an array and its length", count,
                   static_cast<void *>(requests));
    return WEFT_ERR_INVALID_ARGUMENT;
  }
  return weft::mpi::code_of(
      [&] { weft::mpi::bindall({requests, static_cast<std::size_t>(count)}, statuses); });
}

} // extern "C"
