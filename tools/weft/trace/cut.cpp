// SPDX-License-Identifier: Apache-2.0
// weft trace cut: the records between two times, as a trace of its own.
#include "tools/weft/trace/cut.hpp"
#include "tools/weft/support/programs.hpp"
#include "tools/weft/support/progress.hpp"
#include "tools/weft/trace/reader.hpp"

#include "base/error.hpp"
#include "trace/folder.hpp"

#include <weft/error.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <unistd.h>

namespace weft_tool {
namespace {

class packet_writer {
 public:
  packet_writer(const std::string &path, const trace_description &description, unsigned slot,
                bool kernel)
      : m_path(path), m_file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    std::memcpy(m_head.uuid, description.uuid, sizeof m_head.uuid);
    m_head.worker = slot;
    m_head.kind = kernel;
  }
  packet_writer(const packet_writer &) = delete;
  packet_writer &operator=(const packet_writer &) = delete;
  ~packet_writer() { close(m_file); }
  void put(const trace_record &record) {
    m_records.push_back(record);
    if (m_records.size() == k_packet_records)
      flush();
  }
  void flush() {
    if (m_records.empty())
      return;
    m_head.begin = m_records.front().time;
    m_head.end = m_records.back().time;
    m_head.content_bits = m_head.packet_bits =
        8 * (sizeof m_head + m_records.size() * sizeof(trace_record));
    if (!write_whole(m_file, reinterpret_cast<const char *>(&m_head), sizeof m_head) ||
        !write_whole(m_file, reinterpret_cast<const char *>(m_records.data()),
                     m_records.size() * sizeof(trace_record)))
      throw_error(weft::errc::out_of_resources, "'%s' cannot be written: %s", m_path.c_str(),
                  std::strerror(errno));
    ++m_head.number;
    m_records.clear();
  }

 private:
  std::string m_path;
  int m_file;
  packet_header m_head;
  std::vector<trace_record> m_records;
};

/// Creates a folder that appears whole or not at all. A trace of that name stays until then.
class unfinished_folder {
 public:
  explicit unfinished_folder(const std::string &path) : m_path(path) {
    if (const std::string trouble = why_no_trace_folder(path); !trouble.empty())
      throw_error(weft::errc::invalid_argument, "'%s' cannot be used: %s", path.c_str(),
                  trouble.c_str());
    std::string name = path + ".XXXXXX"; // its own, also beside another command for the same path
    if (!mkdtemp(name.data()))
      throw_error(weft::errc::invalid_argument, "'%s' cannot be used: %s", path.c_str(),
                  std::strerror(errno));
    m_part = name;
  }
  unfinished_folder(const unfinished_folder &) = delete;
  unfinished_folder &operator=(const unfinished_folder &) = delete;
  ~unfinished_folder() {
    if (m_part.empty())
      return;
    std::error_code ignored;
    std::filesystem::remove_all(m_part, ignored);
  }
  [[nodiscard]] const std::string &part() const noexcept { return m_part; }
  void finish() {
    do {
      if (const std::string trouble = make_trace_folder(m_path); !trouble.empty()) // empties an old one
        throw_error(weft::errc::invalid_argument, "'%s' cannot be used: %s", m_path.c_str(),
                    trouble.c_str());
      if (rename(m_part.c_str(), m_path.c_str()) == 0)
        break;
      if (errno != ENOTEMPTY && errno != EEXIST) // another command's trace, whole by now
        throw_error(weft::errc::out_of_resources, "'%s' cannot be written: %s", m_path.c_str(),
                    std::strerror(errno));
    } while (true);
    m_part.clear();
  }

 private:
  std::string m_path, m_part;
};

struct cut_request {
  std::string from, to, output, folder, error;
};

cut_request read_request(const words &arguments) {
  cut_request q;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string &w = arguments[at];
    std::string *value = w == "--from"                  ? &q.from
                         : w == "--to"                  ? &q.to
                         : w == "--output" || w == "-o" ? &q.output
                                                        : nullptr;
    if (value && at + 1 < arguments.size())
      *value = arguments[++at];
    else if (w.starts_with("-") || !q.folder.empty()) {
      q.error = "trace cut does not know '" + w + "'";
      return q;
    } else {
      q.folder = w;
    }
  }
  while (q.output.size() > 1 && q.output.back() == '/')
    q.output.pop_back();
  if (q.folder.empty() || q.output.empty())
    q.error = "trace cut needs --output FOLDER and the folder of a trace";
  for (const std::string *t : {&q.from, &q.to})
    if (!t->empty() && *t != "0" && parse_time(*t) == 0)
      q.error = "'" + *t + "' is no time; write 100ms or 2s";
  return q;
}

/// Copies the records between two times.
void copy_records(trace_reader &reader, const std::string &output, std::uint64_t from,
                  std::uint64_t to, bool whole) {
  std::map<std::pair<unsigned, bool>, packet_writer> writers;
  reader.rewind("copying");
  trace_item i;
  while (reader.next(i)) {
    const auto e = static_cast<trace_event>(i.record->event);
    const bool kernel = is_of_kernel(e);
    if (i.record->time < from || i.record->time > to || (e == trace_event::counted && !whole))
      continue;
    auto found = writers.find({i.slot, kernel});
    if (found == writers.end())
      found = writers
                  .try_emplace({i.slot, kernel},
                               kernel ? kernel_path(output, i.slot) : stream_path(output, i.slot),
                               reader.about(), i.slot, kernel)
                  .first;
    found->second.put(*i.record);
  }
  for (auto &[key, w] : writers)
    w.flush();
}

} // namespace

int run_trace_cut(const words &arguments) {
  const cut_request q = read_request(arguments);
  if (!q.error.empty())
    return usage_error(q.error);
  trace_reader r(q.folder);
  if (std::error_code ignored; std::filesystem::equivalent(q.folder, q.output, ignored))
    return usage_error("'" + q.output + "' is the trace that is to be cut; give --output another name");
  unfinished_folder folder(q.output);
  const bool whole = q.from.empty() && q.to.empty();
  copy_records(r, folder.part(), r.ticks(static_cast<std::int64_t>(parse_time(q.from))),
               q.to.empty() ? UINT64_MAX : r.ticks(static_cast<std::int64_t>(parse_time(q.to))),
               whole);
  trace_description d = r.about();
  d.discarded = r.discarded();
  d.state = whole && d.state == trace_description::exact ? trace_description::exact
                                                         : trace_description::ended;
  if (!whole)
    d.mode = trace_mode::flight; // the trace begins in the middle of the run
  if (!replace_file(folder.part() + "/metadata", ctf_metadata(d)) ||
      !replace_file(description_path(folder.part()), own_description(d)))
    throw_error(weft::errc::out_of_resources, "'%s' cannot be written: %s", q.output.c_str(),
                std::strerror(errno));
  folder.finish();
  end_progress();
  return k_ok;
}

} // namespace weft_tool
