// SPDX-License-Identifier: Apache-2.0
#include "meter.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <time.h>

namespace net_bench {

namespace {

double now(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

} // namespace

measured sum_up(std::vector<event> events, double begin, double end) {
  std::sort(events.begin(), events.end(),
            [](const event &a, const event &b) { return a.at < b.at; });
  events.push_back({end, 0, 0});
  measured m;
  m.seconds = end - begin;
  int kernels = 0, awaited = 0;
  double since = begin;
  for (const event &e : events) {
    const double length = e.at - since;
    m.kernels += kernels * length;
    m.computing += kernels > 0 ? length : 0;
    m.awaiting += awaited > 0 ? length : 0;
    m.both += kernels > 0 && awaited > 0 ? length : 0;
    since = e.at;
    kernels += e.kernels;
    awaited += e.awaited;
    m.tasks += e.kernels > 0 ? 1 : 0;
  }
  return m;
}

void meter::begin() {
  m_used = 0;
  m_processor = now(CLOCK_PROCESS_CPUTIME_ID);
  m_begin = now(CLOCK_MONOTONIC);
}

void meter::note(int kernels, int awaited) noexcept {
  const std::size_t i = m_used++;
  if (i < m_events.size())
    m_events[i] = {now(CLOCK_MONOTONIC), kernels, awaited};
}

measured meter::end() {
  const double end = now(CLOCK_MONOTONIC);
  if (m_used > m_events.size())
    throw std::runtime_error("the meter has no room for " + std::to_string(m_used) + " events");
  measured m = sum_up({m_events.begin(), m_events.begin() + static_cast<std::ptrdiff_t>(m_used)},
                      m_begin, end);
  m.processor = now(CLOCK_PROCESS_CPUTIME_ID) - m_processor;
  return m;
}

} // namespace net_bench
