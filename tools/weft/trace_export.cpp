// SPDX-License-Identifier: Apache-2.0
#include "trace_export.hpp"

#include "base/error.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace weft_tool {
namespace {

double us(std::int64_t ns) noexcept { return static_cast<double>(ns) / 1e3; }

void end_with_error(const std::string &path) {
  throw_error(weft::errc::out_of_resources, "'%s' cannot be written: %s", path.c_str(), std::strerror(errno));
}

} // namespace

void export_chrome(trace_reader &r, std::FILE *out) {
  std::fprintf(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"discarded\":%llu},\"traceEvents\":[\n", static_cast<unsigned long long>(r.discarded()));
  const long pid = r.about().pid;
  std::fprintf(out, "{\"ph\":\"M\",\"pid\":%ld,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}", pid, escaped(r.about().program).c_str());
  for (const unsigned slot : r.slots())
    if (slot < 9999)
      std::fprintf(out, ",\n{\"ph\":\"M\",\"pid\":%ld,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"worker %u\"}}", pid, slot, slot);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::max<std::size_t>(r.about().types.size(), 1); ++i)
    names.push_back(escaped(r.type_name(static_cast<std::uint16_t>(i))));
  stretcher all(r, [&](const stretch &s) {
    static constexpr const char *k_categories[] = {"task", "idle", "kernel"};
    const char *const name = s.what == stretch::body ? names[s.type < names.size() ? s.type : 0].c_str() : s.what == stretch::idle ? "idle" : "off cpu";
    std::fprintf(out, ",\n{\"ph\":\"X\",\"pid\":%ld,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"cat\":\"%s\",\"name\":\"%s\"", pid, s.slot, us(s.begin),
                 us(s.end - s.begin), k_categories[s.what], name);
    if (s.what == stretch::body)
      std::fprintf(out, ",\"args\":{\"task\":%u}", s.task);
    std::fputs("}", out);
  });
  trace_item i;
  while (r.next(i))
    all.take(i);
  all.finish();
  std::fputs("\n]}\n", out);
}

void export_csv(trace_reader &r, std::FILE *out) {
  std::fputs("ns,worker,event,task,type,a,b\n", out);
  trace_item i;
  while (r.next(i)) {
    const trace_record &x = *i.record;
    std::string name = x.type ? r.type_name(x.type) : "";
    if (name.find_first_of(",\"") != std::string::npos)
      name = '"' + name + '"';
    std::fprintf(out, "%lld,%u,%s,%u,%s,%llu,%llu\n", static_cast<long long>(r.ns(x.time)), i.slot, event_name(static_cast<trace_event>(x.event)), x.task,
                 name.c_str(), static_cast<unsigned long long>(x.a), static_cast<unsigned long long>(x.b));
  }
}

int run_trace_export(const words &arguments) {
  std::string format = "chrome", output, folder;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string &w = arguments[at];
    if ((w == "--format" || w == "-f") && at + 1 < arguments.size())
      format = arguments[++at];
    else if ((w == "--output" || w == "-o") && at + 1 < arguments.size())
      output = arguments[++at];
    else if (w.starts_with("-") || !folder.empty())
      return usage_error("trace export does not know '" + w + "'");
    else
      folder = w;
  }
  static const std::vector<std::string_view> k_formats{"chrome", "perfetto", "paraver", "prv", "dot", "csv"};
  if (folder.empty())
    return usage_error("trace export needs the folder of a trace");
  if (std::find(k_formats.begin(), k_formats.end(), format) == k_formats.end())
    return usage_error("trace export does not know the format '" + format + "'" + suggestion(format, k_formats));
  trace_reader r(folder);
  if (format == "paraver" || format == "prv") {
    export_paraver(r, output.empty() ? "trace" : output.ends_with(".prv") ? output.substr(0, output.size() - 4) : output);
    return k_ok;
  }
  std::FILE *const out = output.empty() ? stdout : std::fopen(output.c_str(), "w");
  if (!out)
    end_with_error(output);
  if (format == "csv")
    export_csv(r, out);
  else if (format == "dot")
    export_dot(r, out);
  else
    export_chrome(r, out);
  if (std::ferror(out) || (out != stdout && std::fclose(out) != 0))
    end_with_error(output);
  return k_ok;
}

} // namespace weft_tool
