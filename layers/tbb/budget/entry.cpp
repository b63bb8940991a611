// SPDX-License-Identifier: Apache-2.0
// The eleven functions. The lock is taken as Weft's functions are called: no thread is interrupted
// while it holds it.
#include "budget.hpp"

#include <weft/layer/environment.hpp>
#include <weft/version.hpp>

#include <cstdio>
#include <exception>

using namespace weft_tcm;
using weft_threads::in_weft;

namespace {

/// Is one permit that a thread works for; a thread may work for one inside of another.
struct registration {
  registration *outer;
};
thread_local registration *t_registered = nullptr;

/// Calls f in Weft. Returns what f returns, and an error if it throws.
template <class F>
result guarded(F f) noexcept {
  result r = unknown_error;
  try {
    in_weft([&] { r = f(); });
  } catch (const std::exception &) {
    return unknown_error;
  }
  return r;
}

result checked(bool holds) noexcept { return holds ? success : invalid_argument; }

result change_permit(permit *client, budget::change what) noexcept {
  return guarded([=] { return checked(budget::of_process().apply(client, what)); });
}

} // namespace

result tcmConnect(callback f, client_id *id) noexcept {
  if (!id)
    return invalid_argument;
  return guarded([=] {
    if (weft::layer::setting("tbb.budget") != "true")
      return unknown_error; // the client keeps to what it does without a budget
    static_cast<void>(weft::layer::workers()); // starts Weft
    *id = budget::of_process().connect(f);
    return success;
  });
}

result tcmDisconnect(client_id id) noexcept {
  return guarded([=] { return checked(budget::of_process().disconnect(id)); });
}

result tcmRequestPermit(client_id id, request asked, void *argument, permit **handle,
                        permit_data *data) noexcept {
  if (!handle)
    return invalid_argument;
  return guarded([&] {
    permit *const p = budget::of_process().request(id, asked, argument, *handle);
    if (!p)
      return invalid_argument;
    *handle = p;
    return checked(!data || budget::of_process().read(p, *data));
  });
}

result tcmGetPermitData(permit *handle, permit_data *data) noexcept {
  if (!data)
    return invalid_argument;
  return guarded([=] { return checked(budget::of_process().read(handle, *data)); });
}

result tcmReleasePermit(permit *handle) noexcept {
  return guarded([=] { return checked(budget::of_process().release(handle)); });
}

result tcmIdlePermit(permit *handle) noexcept {
  return change_permit(handle, budget::change::idle);
}
result tcmDeactivatePermit(permit *handle) noexcept {
  return change_permit(handle, budget::change::deactivate);
}
result tcmActivatePermit(permit *handle) noexcept {
  return change_permit(handle, budget::change::activate);
}

result tcmRegisterThread(permit *handle) noexcept {
  const result r = guarded([=] { return checked(budget::of_process().has(handle)); });
  if (r != success)
    return r;
  auto *const fresh = new (std::nothrow) registration{t_registered};
  if (!fresh)
    return unknown_error;
  t_registered = fresh;
  return success;
}

result tcmUnregisterThread() noexcept {
  registration *const last = t_registered;
  if (!last)
    return invalid_argument;
  t_registered = last->outer;
  delete last;
  return success;
}

result tcmGetVersionInfo(char *buffer, std::uint32_t bytes) noexcept {
  if (!buffer || bytes == 0)
    return invalid_argument;
  std::snprintf(buffer, bytes, "TCM: Weft " WEFT_VERSION_STRING "\n");
  return success;
}
