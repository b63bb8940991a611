// SPDX-License-Identifier: Apache-2.0
// Schedulers, which only have data, their configurations, and the names of the codes.
#include "object.hpp"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstring>
#include <string_view>

using namespace weft_glt;

namespace {

constexpr int k_variables = 64;

struct configuration {
  static constexpr kind_of_object k_kind{"a configuration", "glt_scheduler_config_create()"};
  struct variable {
    bool given = false;
    GLT_sched_config_type type = GLT_SCHED_CONFIG_INT;
    union {
      int i;
      double d;
      void *p;
    };
    variable() : p(nullptr) {}
  };
  std::array<variable, k_variables> variables;
};

struct scheduler {
  static constexpr kind_of_object k_kind{"a scheduler", "glt_scheduler_create()"};
  std::atomic<void *> data{nullptr};
  std::atomic<bool> stops{false};
};

scheduler &find(const char *call, GLT_sched sched) noexcept {
  return object_of<scheduler>(call, number_of(sched));
}

void create(const char *call, int num_threads, const int *threads_id,
            GLT_sched *newsched) noexcept {
  require_session(call);
  if (num_threads > 0)
    require(call, threads_id, "threads_id");
  for (int i = 0; i < num_threads; ++i)
    require_thread(call, threads_id[i]);
  scheduler &s = new_object<scheduler>(call, newsched);
  s.data.store(nullptr, std::memory_order_relaxed);
  s.stops.store(false, std::memory_order_relaxed);
  static std::atomic<bool> noted{false};
  if (!noted.exchange(true, std::memory_order_relaxed))
    note(call,
         "Weft schedules by its own policy (setting sched.policy), and calls no function of a "
         "scheduler; ask glt_can_manage_scheduler() first");
}

/// Reads one pair behind its variable. Returns false for a type that is none.
bool read_value(configuration::variable &to, GLT_sched_config_type type, va_list &arguments) {
  to.type = type;
  switch (type) {
  case GLT_SCHED_CONFIG_INT:
    to.i = va_arg(arguments, int);
    return true;
  case GLT_SCHED_CONFIG_DOUBLE:
    to.d = va_arg(arguments, double);
    return true;
  case GLT_SCHED_CONFIG_PTR:
    to.p = va_arg(arguments, void *);
    return true;
  }
  return false;
}

bool read_all(configuration &read, va_list &arguments) {
  for (;;) {
    const auto next = va_arg(arguments, GLT_sched_config_var);
    if (next.idx == -1)
      return true;
    if (next.idx < 0 || next.idx >= k_variables)
      return false;
    auto &variable = read.variables[static_cast<std::size_t>(next.idx)];
    if (!read_value(variable, next.type, arguments))
      return false;
    variable.given = true;
  }
}

void write_value(const configuration::variable &from, void *to) noexcept {
  switch (from.type) {
  case GLT_SCHED_CONFIG_INT:
    *static_cast<int *>(to) = from.i;
    return;
  case GLT_SCHED_CONFIG_DOUBLE:
    *static_cast<double *>(to) = from.d;
    return;
  case GLT_SCHED_CONFIG_PTR:
    *static_cast<void **>(to) = from.p;
    return;
  }
}

} // namespace

int glt_scheduler_config_create(GLT_sched_config *config, ...) {
  configuration &c = new_object<configuration>("glt_scheduler_config_create", config);
  c.variables.fill({});
  va_list arguments;
  va_start(arguments, config);
  const bool valid = read_all(c, arguments);
  va_end(arguments);
  if (valid)
    return GLT_SUCCESS;
  free_object<configuration>(config);
  return GLT_ERR_INV_SCHED_CONFIG;
}

int glt_scheduler_config_read(GLT_sched_config config, int num_vars, ...) {
  const configuration &c = object_of<configuration>("glt_scheduler_config_read", number_of(config));
  va_list arguments;
  va_start(arguments, num_vars);
  for (int i = 0; i < num_vars; ++i) {
    void *const to = va_arg(arguments, void *);
    if (i < k_variables && to && c.variables[static_cast<std::size_t>(i)].given)
      write_value(c.variables[static_cast<std::size_t>(i)], to);
  }
  va_end(arguments);
  return GLT_SUCCESS;
}

void glt_scheduler_config_free(GLT_sched_config *config) {
  require("glt_scheduler_config_free", config, "config");
  static_cast<void>(object_of<configuration>("glt_scheduler_config_free", number_of(*config)));
  free_object<configuration>(config);
}

void glt_scheduler_create(GLT_sched_def *def, int num_threads, int *threads_id, GLT_sched_config,
                          GLT_sched *newsched) {
  require_session("glt_scheduler_create");
  require("glt_scheduler_create", def, "def");
  create("glt_scheduler_create", num_threads, threads_id, newsched);
}
void glt_scheduler_create_basic(GLT_sched_predef, int num_threads, int *threads_id,
                                GLT_sched_config, GLT_sched *newsched) {
  create("glt_scheduler_create_basic", num_threads, threads_id, newsched);
}
void glt_scheduler_free(GLT_sched *sched) {
  require("glt_scheduler_free", sched, "sched");
  static_cast<void>(find("glt_scheduler_free", *sched));
  free_object<scheduler>(sched);
}
void glt_scheduler_finish(GLT_sched sched) {
  find("glt_scheduler_finish", sched).stops.store(true, std::memory_order_relaxed);
}
void glt_scheduler_exit(GLT_sched sched) {
  find("glt_scheduler_exit", sched).stops.store(true, std::memory_order_relaxed);
}
void glt_scheduler_has_to_stop(GLT_sched sched, GLT_bool *stop) {
  require("glt_scheduler_has_to_stop", stop, "stop");
  *stop = find("glt_scheduler_has_to_stop", sched).stops.load(std::memory_order_relaxed);
}
// The data is the program's pointer: the program orders what it points to.
void glt_scheduler_set_data(GLT_sched sched, void *data) {
  find("glt_scheduler_set_data", sched).data.store(data, std::memory_order_relaxed);
}
void glt_scheduler_get_data(GLT_sched sched, void **data) {
  require("glt_scheduler_get_data", data, "data");
  *data = find("glt_scheduler_get_data", sched).data.load(std::memory_order_relaxed);
}
void glt_scheduler_get_size(GLT_sched sched, size_t *size) {
  require("glt_scheduler_get_size", size, "size");
  static_cast<void>(find("glt_scheduler_get_size", sched));
  *size = 0;
}
void glt_scheduler_get_total_size(GLT_sched sched, size_t *size) {
  require("glt_scheduler_get_total_size", size, "size");
  static_cast<void>(find("glt_scheduler_get_total_size", sched));
  *size = 0;
}

void glt_get_error_str(int code, char *str, size_t *len) {
  std::string_view name = "unknown";
  switch (code) {
  case GLT_SUCCESS:
    name = "GLT_SUCCESS";
    break;
  case GLT_ERR_MUTEX_LOCKED:
    name = "GLT_ERR_MUTEX_LOCKED";
    break;
  case GLT_ERR_INV_SCHED_CONFIG:
    name = "GLT_ERR_INV_SCHED_CONFIG";
    break;
  default:
    break;
  }
  if (str)
    std::memcpy(str, name.data(), name.size() + 1); // the names are string literals
  if (len)
    *len = name.size();
}
