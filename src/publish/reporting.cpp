// SPDX-License-Identifier: Apache-2.0
#include "publish/reporting.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "observe/format.hpp"
#include "observe/store.hpp"
#include "os/file.hpp"
#include "publish/metrics_server.hpp"
#include "publish/publish.hpp"
#include "worker/runtime.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <unistd.h>
#include <utility>

namespace weft::inline v0 {
namespace rt {
namespace {

/// Prints counters at intervals, and at the end.
class printer {
 public:
  explicit printer(const settings &cfg)
      : m_names(cfg.counters_print), m_writer(static_cast<output_format>(cfg.counters_format)),
        m_path(cfg.counters_file),
        m_period_ns(static_cast<std::uint64_t>(cfg.counters_interval.count()) * 1000u) {
    m_last = read_segment(store_base(), program_state::running);
    open_file();
  }

  /// Starts the printer; returns whether it has a thread.
  bool start() noexcept {
    if (m_period_ns == 0)
      return false;
    const int e =
        m_thread.start("weft-counters", [](void *p) { static_cast<printer *>(p)->run(); }, this);
    if (e != 0)
      warn("no thread to print counters at intervals (%s); they are printed at the end",
           std::strerror(e));
    return e == 0;
  }

  void end() {
    m_stopping.store(1, std::memory_order_release); // O1: pairs with run
    os_futex_wake(m_stopping, 1);
    if (m_thread.joinable())
      m_thread.join();
    print();
    if (m_file != 2)
      close(m_file);
  }

 private:
  void open_file() {
    if (m_path.empty())
      return;
    if (const auto place = m_path.find("%p"); place != std::string::npos)
      m_path.replace(place, 2, std::to_string(getpid()));
    std::string trouble;
    m_file = open_output(m_path, trouble);
    if (m_file >= 0)
      return;
    warn("counters.file: '%s' cannot be written (%s); the counters go to standard error",
         m_path.c_str(), trouble.c_str());
    m_file = 2;
  }

  void run() {
    std::uint64_t next = now_ns() + m_period_ns;
    while (!m_stopping.load(std::memory_order_acquire)) { // O1
      if (os_futex_wait(m_stopping, 0, static_cast<std::int64_t>(next)))
        continue;
      print();
      next = std::max(next + m_period_ns, now_ns());
    }
  }

  /// Prints one line. A counter of the program may be defined later than the first line: so an
  /// unknown name is reported once, and looked up again at the next line.
  void print() noexcept {
    try {
      print_values();
    } catch (const std::exception &e) {
      warn_once(m_warned, "counters.print: %s", e.what());
    }
  }

  void print_values() {
    publish_counters(the_runtime());
    reading now = read_segment(store_base(), program_state::running);
    const std::string text = m_writer.write(now, m_names.evaluate(now, difference(now, m_last)));
    if (const std::string complaint = m_writer.take_complaint(); !complaint.empty())
      warn("counters.print: %s", complaint.c_str());
    m_last = std::move(now);
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = write(m_file, text.data() + at, text.size() - at);
      if (n < 0 && errno != EINTR)
        return warn_once(m_warned, "counters.file: '%s' cannot be written: %s", m_path.c_str(),
                         std::strerror(errno));
      at += n > 0 ? static_cast<std::size_t>(n) : 0;
    }
  }

  evaluator m_names;
  values_writer m_writer;
  std::string m_path;
  const std::uint64_t m_period_ns;
  reading m_last;
  int m_file = 2;
  std::atomic<bool> m_warned{false};
  std::atomic<std::uint32_t> m_stopping{0}; // also what the thread sleeps on
  thread m_thread;
};

printer *g_printer = nullptr;      // with the start lock, and at the end
metrics_server *g_server = nullptr;
std::atomic<unsigned> g_threads{0}; // a hint: not more than there are

/// Reads the reference: the run on one worker, as two numbers.
void read_reference(const std::string &path, unsigned workers) {
  if (path.empty() || workers == 1)
    return;
  const auto text = read_file(path);
  double task_ns = 0, run_ns = 0;
  if (!text)
    return warn("counters.reference: '%s' cannot be read (%s); a run with workers=1 writes it",
                path.c_str(), std::strerror(errno));
  const char *begin = text->data(), *end = begin + text->size();
  const auto first = std::from_chars(begin, end, task_ns);
  const auto second = std::from_chars(std::min(first.ptr + 1, end), end, run_ns);
  if (first.ec != std::errc{} || second.ec != std::errc{} || !(task_ns >= 0) || !(run_ns > 0))
    return warn("counters.reference: '%s' is no reference; let a run with workers=1 write it",
                path.c_str());
  store_header().reference_task_ns = task_ns;
  store_header().reference_run_ns = run_ns;
}

void write_reference(const std::string &path, unsigned workers) {
  if (path.empty() || workers != 1)
    return;
  const reading r = read_segment(store_base(), program_state::running);
  const double task_ns = value_of(r, parse_counter_name("/threads/time/average"));
  const std::string text = number_text(std::isnan(task_ns) ? 0 : task_ns) + " " +
                           number_text(static_cast<double>(r.span_ns)) + "\n";
  std::string trouble;
  const int file = open_output(path, trouble);
  if (file >= 0 && write(file, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    trouble = std::strerror(errno);
  if (!trouble.empty())
    warn("counters.reference: '%s' cannot be written: %s", path.c_str(), trouble.c_str());
  if (file >= 0)
    close(file);
}

} // namespace

void check_reporting(const settings &cfg) {
  if (cfg.counters_print.empty())
    return;
  try {
    evaluator names(cfg.counters_print);
  } catch (const error &e) {
    throw_error(errc::bad_setting, "counters.print: %s", e.what());
  }
}

void start_reporting(runtime &rt) noexcept {
  try {
    read_reference(rt.cfg.counters_reference, rt.workers);
    if (!rt.cfg.counters_print.empty()) {
      g_printer = new printer(rt.cfg);
      g_threads.fetch_add(g_printer->start(), std::memory_order_relaxed);
    }
    if (rt.cfg.counters_port && (g_server = metrics_server::start(rt.cfg.counters_port)))
      g_threads.fetch_add(1, std::memory_order_relaxed);
  } catch (const std::exception &e) {
    warn("counters cannot be shown: %s", e.what());
  }
}

unsigned reporting_threads() noexcept { return g_threads.load(std::memory_order_relaxed); }

void end_reporting(runtime &rt) noexcept {
  g_threads.store(0, std::memory_order_relaxed);
  if (metrics_server *const server = std::exchange(g_server, nullptr)) {
    server->stop();
    delete server;
  }
  try {
    if (const std::unique_ptr<printer> p{std::exchange(g_printer, nullptr)})
      p->end();
    write_reference(rt.cfg.counters_reference, rt.workers);
  } catch (const std::exception &e) {
    warn("counters cannot be printed: %s", e.what());
  }
}

void forget_reporting_in_child() noexcept {
  if (g_server)
    g_server->forget();
  g_server = nullptr;
  g_printer = nullptr;
  g_threads.store(0, std::memory_order_relaxed);
}

} // namespace rt
} // namespace weft::inline v0
