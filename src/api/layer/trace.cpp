// SPDX-License-Identifier: Apache-2.0
#include <weft/layer/trace.hpp>

#include "observe/tick_clock.hpp"
#include "trace/metadata.hpp"
#include "worker/runtime.hpp"

#include <weft/error.hpp>

#include <new>

namespace weft::inline v0 {

using namespace rt;

namespace layer {

bool traces_messages() noexcept { // on any thread, also while another one starts Weft
  trace_level now = trace_level::off;
  __atomic_load(&g_trace_level, &now, __ATOMIC_RELAXED);
  return now >= trace_level::tasks;
}
std::uint64_t trace_time() noexcept { return read_ticks(); }

bool trace_message(const message_event &event) noexcept {
  worker *const self = this_worker_or_null();
  tracer *const x = self ? self->trace : nullptr;
  if (!x)
    return !traces_messages(); // of no trace nothing is left to record
  const std::uint16_t type = add_type(event.name, named_by::label);
  const auto word = [&event](std::uint32_t low) {
    return word_of_message(event.own, event.peer, low);
  };
  switch (event.step) {
  case message_step::sent:
    x->ring.put(trace_event::send, type, event.is_late ? 0 : x->ring.running, word(event.id),
                size_of_message(event.bytes, event.number));
    if (event.is_late)
      x->ring.put(trace_event::began, type, 0, word(event.number & k_message_numbers), event.at);
    break;
  case message_step::landed:
    x->ring.put(trace_event::landed, type, 0, word(event.number & k_message_numbers), event.at);
    break;
  case message_step::arrived:
    x->ring.put(trace_event::arrived, type, 0, word(event.id), event.at);
    break;
  case message_step::awaited:
    x->ring.put(trace_event::awaits, type, x->ring.running, word(event.id), event.bytes);
    break;
  }
  return true;
}

void describe_trace_place(const traced_place &place) try {
  set_place_of_trace(
      {place.rank, place.size, place.job, place.host, place.offset_ns, place.uncertain_ns});
} catch (const std::bad_alloc &) {
  throw error(errc::out_of_resources, "no memory for the place of the rank in its trace");
}

} // namespace layer
} // namespace weft::inline v0
