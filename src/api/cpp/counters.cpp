// SPDX-License-Identifier: Apache-2.0
#include <weft/counters.hpp>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "observe/format.hpp"
#include "observe/store.hpp"
#include "observe/user_counter.hpp"
#include "os/thread.hpp"
#include "publish/publish.hpp"
#include "worker/runtime.hpp"

#include <weft/error.hpp>

#include <atomic>
#include <cstring>
#include <unistd.h>

namespace weft::inline v0 {

using namespace rt;

namespace counters {
namespace {

snapshot wrap(reading numbers) {
  return snapshot(std::make_shared<const reading>(std::move(numbers)));
}

kind public_kind(counter_kind kind) noexcept {
  return kind == counter_kind::histogram ? kind::histogram
         : kind == counter_kind::level   ? kind::level
                                         : kind::count;
}

std::vector<evaluator::result> evaluate(const reading &numbers, std::string_view names) {
  return evaluator(names).evaluate(numbers, numbers);
}

} // namespace

double snapshot::value(std::string_view name) const {
  const counter_name parsed = parse_counter_name(name);
  if (!parsed.is_statistics() && !parsed.is_arithmetics())
    return value_of(*m_reading, parsed);
  evaluator formula(name);
  formula.require_all(*m_reading);
  return formula.evaluate(*m_reading, *m_reading).front().number;
}

std::vector<counters::value> snapshot::values(std::string_view names) const {
  std::vector<counters::value> all;
  for (auto &v : evaluate(*m_reading, names))
    all.push_back({std::move(v.name), std::move(v.unit), v.number});
  return all;
}

std::vector<bucket> snapshot::histogram(std::string_view name) const {
  std::vector<bucket> all;
  for (const auto &[least, count] : histogram_of(*m_reading, parse_counter_name(name)))
    all.push_back({least, count});
  return all;
}

std::string snapshot::text(std::string_view names, format how) const {
  return values_writer(static_cast<output_format>(how))
      .write(*m_reading, evaluate(*m_reading, names));
}

std::string snapshot::open_metrics() const {
  return open_metrics_writer().write(*m_reading, metric_samples::total);
}
std::chrono::nanoseconds snapshot::span() const noexcept {
  return std::chrono::nanoseconds(m_reading->span_ns);
}
int snapshot::pid() const noexcept { return static_cast<int>(m_reading->pid); }
bool snapshot::running() const noexcept { return m_reading->alive && !m_reading->ended; }

snapshot operator-(const snapshot &later, const snapshot &earlier) {
  return wrap(difference(*later.m_reading, *earlier.m_reading));
}

snapshot take() {
  if (!runtime_or_null())
    this_worker();
  runtime &rt = *runtime_or_null();
  if (worker *w = this_worker_or_null())
    w->memory->flush_accounting();
  publish_counters(rt);
  return wrap(read_segment(store_base(), program_state::running));
}

/// Takes a snapshot of a program. It does not open this program's own file, because closing that
/// file would give up the lock that says the program lives.
snapshot take_from(int pid) { return pid == getpid() ? take() : wrap(read_program(pid)); }

std::vector<info> list(std::string_view pattern) {
  if (!runtime_or_null())
    this_worker();
  std::vector<info> found;
  for (auto &c : all_counters(read_segment(store_base(), program_state::running)))
    if (matches(pattern, c.name))
      found.push_back({c.name, c.unit, c.help, public_kind(c.kind), c.per_worker, c.absent});
  return found;
}

struct at_intervals::state {
  std::uint64_t period_ns;
  function f;
  void *context;
  snapshot last;
  std::atomic<std::uint32_t> stopping{0}; // the thread sleeps on it, too
  thread os_thread;

  void call() {
    snapshot now = take();
    f(now, now - last, context);
    last = std::move(now);
  }
  void run() {
    std::uint64_t next = now_ns() + period_ns;
    while (!stopping.load(std::memory_order_acquire)) { // O1: pairs with the destructor
      if (os_futex_wait(stopping, 0, static_cast<std::int64_t>(next)))
        continue;
      call();
      next = std::max(next + period_ns, now_ns()); // a missed interval is not made up for
    }
    call();
  }
};

at_intervals::at_intervals(std::chrono::nanoseconds period, function f, void *context) {
  if (!f)
    throw_error(errc::invalid_argument, "at_intervals() got no function; pass one");
  if (period < std::chrono::milliseconds(1))
    throw_error(errc::invalid_argument, "at_intervals() got a period of %lld ns; the least is 1 ms",
                static_cast<long long>(period.count()));
  m_state.reset(new state{static_cast<std::uint64_t>(period.count()), f, context, take(), {}, {}});
  if (const int e = m_state->os_thread.start(
          "weft-counters", [](void *p) { static_cast<state *>(p)->run(); }, m_state.get()))
    throw_error(errc::out_of_resources, "no thread to read counters at intervals: %s",
                std::strerror(e));
}

at_intervals::~at_intervals() {
  m_state->stopping.store(1, std::memory_order_release); // O1
  os_futex_wake(m_state->stopping, 1);
  m_state->os_thread.join();
}

counter::counter(const char *name, const char *help, const char *unit)
    : m_counter(define_counter(name, unit, help, counter_kind::count)) {}
void counter::add(std::uint64_t n) noexcept {
  const thread_context *e = this_thread_context();
  add_to(m_counter, e ? e->counts : nullptr, n);
}

level::level(const char *name, double (*f)(void *), void *context, const char *help,
             const char *unit)
    : m_counter(define_counter(name, unit, help, counter_kind::level, f, context)) {
  if (!f)
    throw_error(errc::invalid_argument,
                "the level '%s' has no function; pass one that tells its value", name);
}
level::~level() { withdraw_level(m_counter); }

} // namespace counters
} // namespace weft::inline v0
