// SPDX-License-Identifier: Apache-2.0
#include "api/c/guard.hpp"

#include <algorithm>
#include <cstring>

using namespace weft::rt;

const char *weft_version() { return WEFT_VERSION_STRING; }

int weft_configure(const char *key, const char *value) {
  return guarded([&] {
    require(key, "weft_configure", "key");
    require(value, "weft_configure", "value");
    weft::configure(key, value);
  });
}

int weft_start() {
  return guarded([] { weft::start(); });
}

int weft_shutdown() {
  return guarded([] { weft::shutdown(); });
}

int weft_worker_count() {
  int count = 0;
  const int status = guarded([&] { count = weft::worker_count(); });
  return status == WEFT_OK ? count : status;
}

int weft_worker_id() {
  int id = 0;
  const int status = guarded([&] { id = weft::worker_id(); });
  return status == WEFT_OK ? id : status;
}

int weft_stats(weft_statistics *statistics) {
  return guarded([&] {
    require(statistics, "weft_stats", "statistics");
    const std::size_t size = statistics->size;
    if (size < sizeof size)
      throw_error(weft::errc::invalid_argument,
                  "weft_stats: statistics->size is %zu; set it to sizeof(weft_statistics)", size);
    const weft::statistics now = weft::stats();
    const weft_statistics known{size,       now.spawned,  now.executed,  now.suspended,
                                now.stolen, now.slept,    now.throttled, now.live_bytes,
                                now.cost,   now.in_graph, now.queued,    now.ready};
    std::memset(statistics, 0, size);
    std::memcpy(statistics, &known, std::min(size, sizeof known));
  });
}

int weft_executed_by(int id, uint64_t *count) {
  return guarded([&] {
    require(count, "weft_executed_by", "count");
    *count = weft::executed_by(id);
  });
}
