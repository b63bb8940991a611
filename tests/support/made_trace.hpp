// SPDX-License-Identifier: Apache-2.0
// A trace that no program has run, written record by record: for readers, which must find what is wrong in it, or what follows from it.
#pragma once

#include "trace/folder.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

namespace test {

/// Times are in nanoseconds since the trace began. Types have the numbers of their names, from 1 on.
class made_trace {
 public:
  using event = weft::rt::trace_event;

  explicit made_trace(weft::rt::trace_level level = weft::rt::trace_level::graph,
                      std::vector<std::string> types = {"main", "one", "other"}) {
    about.level = level;
    about.workers = 2;
    about.program = "made";
    about.pid = 1;
    about.state = weft::rt::trace_description::exact;
    about.types = {""};
    about.types.insert(about.types.end(), types.begin(), types.end());
  }

  made_trace &put(std::uint64_t ns, event e, std::uint32_t task, std::uint16_t type = 0,
                  std::uint64_t a = 0, std::uint64_t b = 0, unsigned slot = 0) {
    auto &records = m_streams[slot];
    const auto behind =
        std::upper_bound(records.begin(), records.end(), ns,
                         [](std::uint64_t time, const auto &r) { return time < r.time; });
    records.insert(behind, {ns, static_cast<std::uint16_t>(e), type, task, a, b});
    return *this;
  }
  /// What a counter of the program says in the end.
  made_trace &counted(weft::rt::counted_value which, std::uint64_t value) {
    return put(k_end, event::counted, 0, 0, static_cast<std::uint64_t>(which), value, weft::rt::k_counters_slot);
  }

  /// Into a folder that is there.
  void write(const std::string &folder) {
    for (const auto &file : std::filesystem::directory_iterator(folder))
      std::filesystem::remove(file.path());
    for (auto &[slot, records] : m_streams) {
      weft::rt::packet_header head;
      head.worker = slot;
      head.begin = records.front().time;
      head.end = records.back().time;
      head.discarded = discarded;
      head.content_bits = head.packet_bits = 8 * (sizeof head + records.size() * sizeof records[0]);
      const int file =
          open(weft::rt::stream_path(folder, slot).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
      EXPECT_TRUE(weft::rt::write_whole(file, reinterpret_cast<const char *>(&head), sizeof head) &&
                  weft::rt::write_whole(file, reinterpret_cast<const char *>(records.data()),
                                        records.size() * sizeof records[0]));
      close(file);
    }
    EXPECT_TRUE(weft::rt::replace_file(folder + "/metadata", weft::rt::ctf_metadata(about)) &&
                weft::rt::replace_file(weft::rt::description_path(folder),
                                       weft::rt::own_description(about)));
  }

  weft::rt::trace_description about;
  std::uint64_t discarded = 0;

 private:
  static constexpr std::uint64_t k_end = 1'000'000'000'000;
  std::map<unsigned, std::vector<weft::rt::trace_record>> m_streams;
};

} // namespace test
