// SPDX-License-Identifier: Apache-2.0
// Joins, mutexes, critical sections and services of C.
#include "api/c/guard.hpp"

#include <optional>

using namespace weft::rt;

struct weft_mutex {
  weft::mutex mutex;
};

struct weft_service {
  int (*poll)(void *);
  void *context;
  std::optional<weft::service> service;

  static bool call(void *p) {
    const auto *self = static_cast<weft_service *>(p);
    return self->poll(self->context) != 0;
  }
};

namespace {

void throw_unless_zero(const char *function, int code) {
  if (code != 0)
    throw c_failure(code, (std::string(function) + ": the function that it called returned " +
                           std::to_string(code))
                              .c_str());
}

} // namespace

static_assert(WEFT_POLL_POINT_IDLE == static_cast<int>(weft::poll_point::idle) &&
              WEFT_POLL_POINT_TIMER == static_cast<int>(weft::poll_point::timer));

int weft_join(weft_body f, void *f_arg, weft_body g, void *g_arg, int *code) {
  return guarded_code(code, [&] {
    require_body(f, "weft_join");
    require_body(g, "weft_join");
    int of_f = 0, of_g = 0;
    weft::join([&] { of_f = f(f_arg); }, [&] { of_g = g(g_arg); });
    throw_unless_zero("weft_join", of_f ? of_f : of_g);
  });
}

int weft_join_by_cost(uint64_t cost, weft_body f, void *f_arg, weft_body g, void *g_arg, int *code) {
  return guarded_code(code, [&] {
    require_body(f, "weft_join_by_cost");
    require_body(g, "weft_join_by_cost");
    int of_f = 0, of_g = 0;
    const auto call_f = [&] { of_f = f(f_arg); };
    const auto call_g = [&] { of_g = g(g_arg); };
    weft::detail::join_by_cost(weft::detail::site_of_body(reinterpret_cast<const void *>(f)), cost,
                               call_f, call_g, [&] { weft::detail::call_both(call_f, call_g); });
    throw_unless_zero("weft_join_by_cost", of_f ? of_f : of_g);
  });
}

int weft_mutex_create(weft_mutex **mutex) {
  if (mutex)
    *mutex = nullptr;
  return guarded([&] {
    require(mutex, "weft_mutex_create", "mutex");
    *mutex = new weft_mutex;
  });
}

int weft_mutex_lock(weft_mutex *mutex) {
  return guarded([&] {
    require(mutex, "weft_mutex_lock", "mutex");
    mutex->mutex.lock();
  });
}

int weft_mutex_try_lock(weft_mutex *mutex) {
  bool locked = false;
  const int status = guarded([&] {
    require(mutex, "weft_mutex_try_lock", "mutex");
    locked = mutex->mutex.try_lock();
  });
  if (status != WEFT_OK || locked)
    return status;
  return report(WEFT_ERR_BUSY, "weft_mutex_try_lock: the mutex is taken");
}

int weft_mutex_unlock(weft_mutex *mutex) {
  return guarded([&] {
    require(mutex, "weft_mutex_unlock", "mutex");
    mutex->mutex.unlock();
  });
}

int weft_mutex_destroy(weft_mutex *mutex) {
  delete mutex;
  return WEFT_OK;
}

int weft_critical(const char *name, weft_body body, void *arg, int *code) {
  return guarded_code(code, [&] {
    require_body(body, "weft_critical");
    throw_unless_zero("weft_critical", weft::critical(name ? name : "", [&] { return body(arg); }));
  });
}

int weft_critical_enter(const char *name) {
  return guarded([&] { weft::detail::critical_mutex(name ? name : "").lock(); });
}

int weft_critical_leave(const char *name) {
  return guarded([&] { weft::detail::critical_mutex(name ? name : "").unlock(); });
}

int weft_service_create(const char *name, int poll_point, int priority, int (*poll)(void *context),
                        void *context, weft_service **service) {
  if (service)
    *service = nullptr;
  return guarded([&] {
    require(service, "weft_service_create", "service");
    require(name, "weft_service_create", "name");
    if (!poll)
      throw_error(weft::errc::invalid_argument,
                  "weft_service_create: the function of service '%s' is NULL", name);
    if (poll_point < WEFT_POLL_POINT_IDLE || poll_point > WEFT_POLL_POINT_SCHEDULING_POINT)
      throw_error(
          weft::errc::invalid_argument,
          "weft_service_create: the poll point of service '%s' is %d; it must be one of enum weft_poll_point (0 to 3)",
          name, poll_point);
    auto made = std::make_unique<weft_service>();
    made->poll = poll;
    made->context = context;
    made->service.emplace(name, static_cast<weft::poll_point>(poll_point), &weft_service::call,
                          made.get(), priority);
    *service = made.release();
  });
}

int weft_service_destroy(weft_service *service) {
  return guarded([&] { delete service; });
}
