// SPDX-License-Identifier: Apache-2.0
// The events of PAPI that Weft's own counters have not: the kernel counts them in the threads of the
// program, where it can (perf_event_open).
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <linux/perf_event.h>
#include <string>
#include <string_view>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace hpx::performance_counters::detail {

/// Counts an event of the processor in user code: in all threads that there are when it is made, and
/// in those that they make later. A thread that another one makes at this very moment may be missed.
class processor_event {
 public:
  processor_event(std::uint32_t type, std::uint64_t config) {
    std::error_code failure;
    for (const auto &thread : std::filesystem::directory_iterator("/proc/self/task", failure))
      if (!count_thread(thread.path().filename().string(), type, config))
        return;
    if (m_files.empty())
      m_absent = "the threads of the program are not known: /proc is not there";
  }
  explicit processor_event(std::string why_absent) : m_absent(std::move(why_absent)) {}
  processor_event(const processor_event &) = delete;
  processor_event &operator=(const processor_event &) = delete;
  ~processor_event() { close_all(); }

  /// Says why the event is not counted; empty if it is.
  [[nodiscard]] const std::string &absent() const noexcept { return m_absent; }
  /// Returns the count since the object was made. An event that shared a counter of the processor
  /// with others is scaled to the whole time.
  [[nodiscard]] double count() const noexcept {
    double sum = 0;
    for (const int file : m_files) {
      struct {
        std::uint64_t value, enabled, running;
      } r{};
      if (::read(file, &r, sizeof r) == static_cast<::ssize_t>(sizeof r) && r.running != 0)
        sum += static_cast<double>(r.value) * static_cast<double>(r.enabled) /
               static_cast<double>(r.running);
    }
    return sum;
  }

 private:
  /// Returns whether the thread is counted, or has ended.
  bool count_thread(const std::string &number, std::uint32_t type, std::uint64_t config) {
    perf_event_attr a{};
    a.size = sizeof a;
    a.type = type;
    a.config = config;
    a.inherit = 1;
    a.exclude_kernel = 1;
    a.exclude_hv = 1;
    a.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    const long file = ::syscall(SYS_perf_event_open, &a, std::stoi(number), -1, -1,
                                static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC));
    if (file >= 0)
      m_files.push_back(static_cast<int>(file));
    else if (errno != ESRCH)
      m_absent = errno == EACCES || errno == EPERM
                     ? std::string("not allowed here: lower kernel.perf_event_paranoid")
                 : errno == ENOENT || errno == EOPNOTSUPP || errno == ENODEV
                     ? std::string("this machine does not count it (a virtual machine?)")
                     : std::string("perf_event_open: ") + std::strerror(errno);
    if (!m_absent.empty())
      close_all();
    return m_absent.empty();
  }
  void close_all() noexcept {
    for (const int file : m_files)
      ::close(file);
    m_files.clear();
  }
  std::vector<int> m_files;
  std::string m_absent;
};

/// Says whether the first processor of a text like /proc/cpuinfo has the event OFFCORE_REQUESTS under
/// the numbers below. Others have other events there, and would count something else.
inline bool knows_offcore_requests(std::istream &cpuinfo) {
  std::string vendor, generation, model;
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size())
      continue;
    const std::string key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const std::string value = line.substr(colon + 2);
    if (key == "vendor_id")
      vendor = value;
    else if (key == "cpu family")
      generation = value;
    else if (key == "model")
      model = value;
  }
  if (vendor != "GenuineIntel" || generation != "6")
    return false;
  // Sandy Bridge, Ivy Bridge, Haswell, Broadwell, Skylake with its successors up to Comet Lake.
  for (const char *known : {"42", "45", "58", "62", "60", "63", "69", "70", "61", "71", "79", "86",
                            "78", "94", "85", "142", "158", "165", "166"})
    if (model == known)
      return true;
  return false;
}

/// Returns the event of a name "/papi/OFFCORE_REQUESTS:..." of the whole program, counted from the
/// first call with the name on; null for other names. The numbers are the unit mask, then the event
/// (Intel's manual, volume 3).
inline const processor_event *offcore_event(std::string_view name) {
  static const bool g_known = [] {
    std::ifstream cpuinfo("/proc/cpuinfo");
    return knows_offcore_requests(cpuinfo);
  }();
  const auto make = [](std::uint64_t config) {
    return g_known
               ? processor_event(PERF_TYPE_RAW, config)
               : processor_event("counted on Intel's processors from Sandy Bridge to Comet Lake "
                                 "alone");
  };
  if (name == "/papi/OFFCORE_REQUESTS:ALL_DATA_RD") {
    static const processor_event g_event = make(0x08b0);
    return &g_event;
  }
  if (name == "/papi/OFFCORE_REQUESTS:DEMAND_CODE_RD") {
    static const processor_event g_event = make(0x02b0);
    return &g_event;
  }
  if (name == "/papi/OFFCORE_REQUESTS:DEMAND_RFO") {
    static const processor_event g_event = make(0x04b0);
    return &g_event;
  }
  return nullptr;
}

} // namespace hpx::performance_counters::detail
