// SPDX-License-Identifier: Apache-2.0
#include "api/cpp/function.hpp"
#include "api/c/guard.hpp"

#include <algorithm>
#include <cstring>

using namespace weft::rt;

struct weft_stream {
  explicit weft_stream(const char *label) : stream(label) {}
  weft::function_stream stream;
};

namespace {

struct c_function {
  any_function body;
  void *arg;

  static void invoke(void *storage) {
    const auto *self = static_cast<c_function *>(storage);
    if (const int code = reinterpret_cast<weft_body>(self->body)(self->arg))
      throw_body_failed(code);
  }
};

/// Reads what the caller knows of the options, and refuses what this version does not know.
weft::function_options known_options(const weft_function_options *from) {
  weft_function_options known = WEFT_FUNCTION_OPTIONS_INIT;
  if (!from)
    return {};
  if (from->size < sizeof from->size)
    throw_error(
        weft::errc::invalid_argument,
        "weft_spawn_function: options->size is %zu; set it to sizeof(weft_function_options)",
        from->size);
  const auto *bytes = reinterpret_cast<const unsigned char *>(from);
  for (std::size_t i = sizeof known; i < from->size; ++i)
    if (bytes[i] != 0)
      throw_error(
          weft::errc::not_supported,
          "weft_spawn_function: the options are of a later version (%zu bytes, this library knows %zu) and use what this "
          "version lacks; link a newer libweft",
          from->size, sizeof known);
  std::memcpy(&known, from, std::min(from->size, sizeof known));
  return {known.label, known.priority, known.stream ? &known.stream->stream : nullptr,
          weft::worker_set({known.on.number, known.on.generation})};
}

} // namespace

int weft_stream_create(const char *label, weft_stream **stream) {
  if (stream)
    *stream = nullptr;
  return guarded([&] {
    require(stream, "weft_stream_create", "stream");
    *stream = new weft_stream(label);
  });
}

int weft_stream_wait(weft_stream *stream) {
  return guarded([&] {
    require(stream, "weft_stream_wait", "stream");
    stream->stream.wait();
  });
}

int weft_stream_destroy(weft_stream *stream) {
  return guarded([&] { delete stream; });
}

namespace {

int put_set(const char *function, const int *numbers, std::size_t count, weft_worker_set *set,
            weft::worker_set (*make)(std::span<const int>)) {
  if (set)
    *set = {0, 0};
  return guarded([&] {
    require(set, function, "set");
    if (count > 0)
      require(numbers, function, "the list");
    const auto made = make({numbers, count}).internals();
    *set = {made.number, made.generation};
  });
}

} // namespace

int weft_worker_set_of_workers(const int *ids, size_t count, weft_worker_set *set) {
  return put_set("weft_worker_set_of_workers", ids, count, set, &weft::worker_set::of_workers);
}

int weft_worker_set_of_cpus(const int *cpus, size_t count, weft_worker_set *set) {
  return put_set("weft_worker_set_of_cpus", cpus, count, set, &weft::worker_set::of_cpus);
}

int weft_spawn_function(weft_body body, void *arg, void (*on_completion)(void *),
                        void *completion_arg, const weft_function_options *options) {
  return guarded([&] {
    require_body(body, "weft_spawn_function");
    spawn_function_with(&c_function::invoke, reinterpret_cast<any_function>(body), arg,
                        on_completion, completion_arg, known_options(options));
  });
}
