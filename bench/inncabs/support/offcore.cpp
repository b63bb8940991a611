// SPDX-License-Identifier: Apache-2.0
#include "offcore.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace inncabs {

namespace {

bool is_intel() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("vendor_id"))
      return line.find("GenuineIntel") != std::string::npos;
  return false;
}

// OFFCORE_REQUESTS with ALL_DATA_RD, DEMAND_CODE_RD and DEMAND_RFO (Intel's manual, volume 3).
constexpr std::uint64_t k_codes[] = {0x08b0, 0x02b0, 0x04b0};

} // namespace

offcore_counter::offcore_counter() {
  if (!is_intel()) {
    m_absent = "the events are those of Intel's processors";
    return;
  }
  for (int i = 0; i < k_events; ++i) {
    perf_event_attr a{};
    a.size = sizeof a;
    a.type = PERF_TYPE_RAW;
    a.config = k_codes[i];
    a.inherit = 1;
    a.exclude_kernel = 1;
    a.exclude_hv = 1;
    m_files[i] =
        static_cast<int>(syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    if (m_files[i] < 0) {
      m_absent = std::string("perf_event_open: ") + std::strerror(errno);
      return;
    }
  }
}

offcore_counter::~offcore_counter() {
  for (const int file : m_files)
    if (file >= 0)
      close(file);
}

double offcore_counter::requests() const {
  double sum = 0;
  for (const int file : m_files) {
    std::uint64_t value = 0;
    if (file >= 0 && read(file, &value, sizeof value) == static_cast<ssize_t>(sizeof value))
      sum += static_cast<double>(value);
  }
  return sum;
}

} // namespace inncabs
