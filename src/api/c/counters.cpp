// SPDX-License-Identifier: Apache-2.0
#include "api/c/guard.hpp"
#include "observe/store.hpp"
#include "observe/user_counter.hpp"
#include "ult/thread_context.hpp"

#include <weft/c/counters.h>
#include <weft/counters.hpp>

#include <algorithm>
#include <cstring>

using namespace weft::rt;
namespace counters = weft::counters;

struct weft_snapshot {
  counters::snapshot taken;
};

struct weft_intervals {
  void (*use)(const weft_snapshot *now, const weft_snapshot *interval, void *context);
  void *context;
  std::unique_ptr<counters::at_intervals> calls;
};

namespace {

user_counter &counter_of(weft_counter *counter) noexcept {
  return *reinterpret_cast<user_counter *>(counter);
}

void require_format(int format) {
  if (format != WEFT_FORMAT_TEXT && format != WEFT_FORMAT_CSV && format != WEFT_FORMAT_JSON)
    weft::rt::throw_error(weft::errc::invalid_argument,
                          "weft_snapshot_text: there is no format %d; pass one of weft_format",
                          format);
}

} // namespace

int weft_snapshot_take(weft_snapshot **snapshot) {
  return guarded([&] {
    require(snapshot, "weft_snapshot_take", "snapshot");
    *snapshot = new weft_snapshot{counters::take()};
  });
}

int weft_snapshot_take_from(int pid, weft_snapshot **snapshot) {
  return guarded([&] {
    require(snapshot, "weft_snapshot_take_from", "snapshot");
    *snapshot = new weft_snapshot{counters::take_from(pid)};
  });
}

int weft_snapshot_subtract(const weft_snapshot *later, const weft_snapshot *earlier,
                           weft_snapshot **difference) {
  return guarded([&] {
    require(later, "weft_snapshot_subtract", "later");
    require(earlier, "weft_snapshot_subtract", "earlier");
    require(difference, "weft_snapshot_subtract", "difference");
    *difference = new weft_snapshot{later->taken - earlier->taken};
  });
}

int weft_snapshot_value(const weft_snapshot *snapshot, const char *name, double *value) {
  return guarded([&] {
    require(snapshot, "weft_snapshot_value", "snapshot");
    require(name, "weft_snapshot_value", "name");
    require(value, "weft_snapshot_value", "value");
    *value = snapshot->taken.value(name);
  });
}

int weft_snapshot_each(const weft_snapshot *snapshot, const char *names,
                       void (*use)(const char *name, double value, const char *unit, void *context),
                       void *context) {
  return guarded([&] {
    require(snapshot, "weft_snapshot_each", "snapshot");
    require(names, "weft_snapshot_each", "names");
    require_body(use, "weft_snapshot_each");
    for (const auto &v : snapshot->taken.values(names))
      use(v.name.c_str(), v.number, v.unit.c_str(), context);
  });
}

int weft_snapshot_text(const weft_snapshot *snapshot, const char *names, int format, char *buffer,
                       size_t size, size_t *needed) {
  return guarded([&] {
    require(snapshot, "weft_snapshot_text", "snapshot");
    require(names, "weft_snapshot_text", "names");
    require_format(format);
    give_text("weft_snapshot_text",
              snapshot->taken.text(names, static_cast<counters::format>(format)), buffer, size,
              needed);
  });
}

int weft_snapshot_open_metrics(const weft_snapshot *snapshot, char *buffer, size_t size,
                               size_t *needed) {
  return guarded([&] {
    require(snapshot, "weft_snapshot_open_metrics", "snapshot");
    give_text("weft_snapshot_open_metrics", snapshot->taken.open_metrics(), buffer, size, needed);
  });
}

int weft_snapshot_histogram(const weft_snapshot *snapshot, const char *name,
                            void (*use)(double least, uint64_t count, void *context),
                            void *context) {
  return guarded([&] {
    require(snapshot, "weft_snapshot_histogram", "snapshot");
    require(name, "weft_snapshot_histogram", "name");
    require_body(use, "weft_snapshot_histogram");
    for (const auto &b : snapshot->taken.histogram(name))
      use(b.least, b.count, context);
  });
}

uint64_t weft_snapshot_span_ns(const weft_snapshot *snapshot) {
  return snapshot ? static_cast<uint64_t>(snapshot->taken.span().count()) : 0;
}

void weft_snapshot_free(weft_snapshot *snapshot) { delete snapshot; }

int weft_counters_list(const char *pattern,
                       void (*use)(const char *name, const char *unit, const char *help, int absent,
                                   void *context),
                       void *context) {
  return guarded([&] {
    require(pattern, "weft_counters_list", "pattern");
    require_body(use, "weft_counters_list");
    for (const auto &c : counters::list(pattern))
      use(c.name.c_str(), c.unit.c_str(), c.help.c_str(), c.absent, context);
  });
}

int weft_counters_every(uint64_t period_ns,
                        void (*use)(const weft_snapshot *now, const weft_snapshot *interval,
                                    void *context),
                        void *context, weft_intervals **handle) {
  return guarded([&] {
    require_body(use, "weft_counters_every");
    require(handle, "weft_counters_every", "handle");
    const auto most = std::chrono::nanoseconds(std::chrono::hours(24 * 365));
    auto fresh = std::make_unique<weft_intervals>(weft_intervals{use, context, nullptr});
    fresh->calls = std::make_unique<counters::at_intervals>(
        period_ns < static_cast<uint64_t>(most.count()) ? std::chrono::nanoseconds(period_ns)
                                                        : most,
        [](const counters::snapshot &now, const counters::snapshot &interval, void *p) {
          const auto &self = *static_cast<weft_intervals *>(p);
          const weft_snapshot lent_now{now}, lent_interval{interval};
          self.use(&lent_now, &lent_interval, self.context);
        },
        fresh.get());
    *handle = fresh.release();
  });
}

void weft_counters_stop(weft_intervals *handle) { delete handle; }

int weft_counter_define(const char *name, const char *unit, const char *help,
                        weft_counter **counter) {
  return guarded([&] {
    require(name, "weft_counter_define", "name");
    require(counter, "weft_counter_define", "counter");
    *counter =
        reinterpret_cast<weft_counter *>(&define_counter(name, unit, help, counter_kind::count));
  });
}

int weft_level_define(const char *name, const char *unit, const char *help,
                      double (*value)(void *context), void *context, weft_level **level) {
  return guarded([&] {
    require(name, "weft_level_define", "name");
    require_body(value, "weft_level_define");
    require(level, "weft_level_define", "level");
    *level = reinterpret_cast<weft_level *>(
        &define_counter(name, unit, help, counter_kind::level, value, context));
  });
}

void weft_level_withdraw(weft_level *level) {
  if (level)
    withdraw_level(*reinterpret_cast<user_counter *>(level));
}

void weft_counter_add(weft_counter *counter, uint64_t n) {
  const thread_context *e = this_thread_context();
  if (counter)
    add_to(counter_of(counter), e ? e->counts : nullptr, n);
}
