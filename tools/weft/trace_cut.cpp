// SPDX-License-Identifier: Apache-2.0
// weft trace cut: the records between two times, as a trace of its own.
#include "programs.hpp"
#include "trace_export.hpp"

#include "base/error.hpp"
#include "trace/folder.hpp"

#include <weft/error.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <unistd.h>

namespace weft_tool {
namespace {

class packet_writer {
 public:
  packet_writer(const std::string &path, const trace_description &d, unsigned slot, bool kernel)
      : m_path(path), m_file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    std::memcpy(m_head.uuid, d.uuid, sizeof m_head.uuid);
    m_head.worker = slot;
    m_head.kind = kernel;
  }
  packet_writer(const packet_writer &) = delete;
  packet_writer &operator=(const packet_writer &) = delete;
  ~packet_writer() { close(m_file); }
  void put(const trace_record &r) {
    m_records.push_back(r);
    if (m_records.size() == k_packet_records)
      flush();
  }
  void flush() {
    if (m_records.empty())
      return;
    m_head.begin = m_records.front().time;
    m_head.end = m_records.back().time;
    m_head.content_bits = m_head.packet_bits = 8 * (sizeof m_head + m_records.size() * sizeof(trace_record));
    if (!write_whole(m_file, reinterpret_cast<const char *>(&m_head), sizeof m_head) ||
        !write_whole(m_file, reinterpret_cast<const char *>(m_records.data()), m_records.size() * sizeof(trace_record)))
      throw_error(weft::errc::out_of_resources, "'%s' cannot be written: %s", m_path.c_str(), std::strerror(errno));
    ++m_head.number;
    m_records.clear();
  }

 private:
  std::string m_path;
  int m_file;
  packet_header m_head;
  std::vector<trace_record> m_records;
};

} // namespace

int run_trace_cut(const words &arguments) {
  std::string from_text, to_text, output, folder;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string &w = arguments[at];
    std::string *value = w == "--from" ? &from_text : w == "--to" ? &to_text : w == "--output" || w == "-o" ? &output : nullptr;
    if (value && at + 1 < arguments.size())
      *value = arguments[++at];
    else if (w.starts_with("-") || !folder.empty())
      return usage_error("trace cut does not know '" + w + "'");
    else
      folder = w;
  }
  if (folder.empty() || output.empty())
    return usage_error("trace cut needs --output FOLDER and the folder of a trace");
  for (const std::string *t : {&from_text, &to_text})
    if (!t->empty() && *t != "0" && parse_time(*t) == 0)
      return usage_error("'" + *t + "' is no time; write 100ms or 2s");
  trace_reader r(folder);
  if (const std::string trouble = make_trace_folder(output); !trouble.empty())
    throw_error(weft::errc::invalid_argument, "'%s' cannot be used: %s", output.c_str(), trouble.c_str());
  const std::uint64_t from = r.ticks(static_cast<std::int64_t>(parse_time(from_text)));
  const std::uint64_t to = to_text.empty() ? UINT64_MAX : r.ticks(static_cast<std::int64_t>(parse_time(to_text)));
  const bool whole = from_text.empty() && to_text.empty();
  std::map<std::pair<unsigned, bool>, packet_writer> writers;
  trace_item i;
  while (r.next(i)) {
    const auto e = static_cast<trace_event>(i.record->event);
    const bool kernel = e == trace_event::switched_out || e == trace_event::switched_in;
    if (i.record->time < from || i.record->time > to || (e == trace_event::counted && !whole))
      continue;
    auto found = writers.find({i.slot, kernel});
    if (found == writers.end())
      found = writers.try_emplace({i.slot, kernel}, kernel ? kernel_path(output, i.slot) : stream_path(output, i.slot), r.about(), i.slot, kernel).first;
    found->second.put(*i.record);
  }
  for (auto &[key, w] : writers)
    w.flush();
  trace_description d = r.about();
  d.discarded = r.discarded();
  d.state = whole && d.state == trace_description::exact ? trace_description::exact : trace_description::ended;
  if (!whole)
    d.mode = trace_mode::flight; // it begins amid
  if (!replace_file(output + "/metadata", ctf_metadata(d)) || !replace_file(description_path(output), own_description(d)))
    throw_error(weft::errc::out_of_resources, "'%s' cannot be written: %s", output.c_str(), std::strerror(errno));
  return k_ok;
}

} // namespace weft_tool
