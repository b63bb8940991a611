// SPDX-License-Identifier: Apache-2.0
#include "api/c/guard.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>

namespace weft::inline v0 {
namespace rt {
namespace {

struct last_error {
  char text[512];
};

pthread_key_t key() noexcept {
  // Not thread_local: static TLS is scarce where the library is loaded by dlopen.
  static const pthread_key_t made = [] {
    pthread_key_t k{};
    if (pthread_key_create(&k, &std::free) != 0)
      throw_error(errc::out_of_resources,
                  "no thread-specific key is left for weft_last_error_message");
    return k;
  }();
  return made;
}

} // namespace

int report(int status, const char *text) noexcept {
  auto *last = static_cast<last_error *>(pthread_getspecific(key()));
  if (!last) {
    last = static_cast<last_error *>(std::malloc(sizeof(last_error)));
    if (!last || pthread_setspecific(key(), last) != 0) {
      std::free(last);
      return status; // the code still reports the failure
    }
  }
  const std::size_t length = strnlen(text, sizeof last->text - 1);
  std::memmove(last->text, text, length);
  last->text[length] = '\0';
  return status;
}

void throw_body_failed(int code) {
  std::string what = "the task '";
  what += this_task::label();
  what += "' returned " + std::to_string(code);
  throw c_failure(code, what.c_str());
}

int code_of_current_exception() noexcept {
  try {
    throw;
  } catch (const c_failure &e) {
    return e.code();
  } catch (const error &e) {
    return -static_cast<int>(e.code());
  } catch (...) {
    return WEFT_ERR_EXCEPTION;
  }
}

namespace {

/// Reports a list of failures by the first one: its code, and its text behind their number.
int report_list(const exception_list &list, int *code) noexcept {
  char text[sizeof(last_error::text)];
  int first = WEFT_OK;
  try {
    std::rethrow_exception(list[0]);
  } catch (const std::exception &e) {
    first = code_of_current_exception();
    std::snprintf(text, sizeof text, "%zu tasks of the group failed; the first: %s", list.size(),
                  e.what());
  } catch (...) {
    first = code_of_current_exception();
    std::snprintf(text, sizeof text, "%zu tasks of the group failed", list.size());
  }
  if (code)
    *code = first;
  return report(WEFT_ERR_TASK_FAILED, text);
}

} // namespace

int report_current_exception(int *code) noexcept {
  const auto failed = [code](int body_code, const char *text) {
    if (code)
      *code = body_code;
    return report(WEFT_ERR_TASK_FAILED, text);
  };
  try {
    throw;
  } catch (const c_failure &e) {
    return failed(e.code(), e.what());
  } catch (const exception_list &list) {
    return report_list(list, code);
  } catch (const error &e) {
    return report(-static_cast<int>(e.code()), e.what());
  } catch (const std::bad_alloc &) {
    return report(WEFT_ERR_OUT_OF_RESOURCES, "out of memory");
  } catch (const std::exception &e) {
    return failed(WEFT_ERR_EXCEPTION, e.what());
  } catch (...) {
    return failed(WEFT_ERR_EXCEPTION, "a task threw something that is no std::exception");
  }
}

} // namespace rt
} // namespace weft::inline v0

const char *weft_error_string(int code) {
  switch (code) {
  case WEFT_OK:
    return "ok";
  case WEFT_ERR_TASK_FAILED:
    return "task_failed";
  case WEFT_ERR_BUSY:
    return "busy";
  case WEFT_ERR_TIMED_OUT:
    return "timed_out";
  case WEFT_ERR_EXCEPTION:
    return "exception";
  default:
    return code < 0 && code > WEFT_ERR_TASK_FAILED ? weft::to_string(static_cast<weft::errc>(-code))
                                                   : "unknown";
  }
}

const char *weft_last_error_message() {
  const void *last = pthread_getspecific(weft::rt::key());
  return last ? static_cast<const weft::rt::last_error *>(last)->text : "";
}
