// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/export/export.hpp"

#include "tools/weft/support/progress.hpp"

#include "observe/format.hpp"

#include <algorithm>
#include <unistd.h>

namespace weft_tool {

std::string escaped(const std::string &text) {
  std::string s;
  for (const char c : text) {
    if (c == '"' || c == '\\')
      s += '\\';
    s += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return s;
}
namespace {

template <class Use>
void for_each_slice(trace_reader &reader, const char *what, Use use) {
  reader.rewind(what);
  slice_builder all(reader, use);
  trace_item i;
  while (reader.next(i))
    all.take(i);
  all.finish();
}

} // namespace

void export_chrome(trace_reader &reader, output_file &out) {
  const long pid = reader.about().pid;
  out.print("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"discarded\":%llu},\"traceEvents\":[\n",
            static_cast<unsigned long long>(reader.discarded()));
  out.print("{\"ph\":\"M\",\"pid\":%ld,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}", pid,
            escaped(reader.about().program).c_str());
  for (const unsigned slot : reader.slots())
    if (slot < 9999)
      out.print(
          ",\n{\"ph\":\"M\",\"pid\":%ld,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"worker %u\"}}",
          pid, slot, slot);
  // The constant text of a kind of slice, or of a type.
  const std::string head = ",\n{\"ph\":\"X\",\"pid\":" + std::to_string(pid) + ",\"tid\":";
  static constexpr std::string_view k_rest[] = {"", ",\"cat\":\"idle\",\"name\":\"idle\"}",
                                                ",\"cat\":\"kernel\",\"name\":\"off cpu\"}"};
  std::vector<std::string> tasks;
  for (std::size_t i = 0; i < std::max<std::size_t>(reader.about().types.size(), 1); ++i)
    tasks.push_back(",\"cat\":\"task\",\"name\":\"" +
                    escaped(reader.type_name(static_cast<std::uint16_t>(i))) +
                    "\",\"args\":{\"task\":");
  for_each_slice(reader, "writing JSON", [&](const slice &part) {
    out.put(head);
    out.number(std::uint64_t{part.slot});
    out.put(",\"ts\":");
    out.microseconds(part.begin);
    out.put(",\"dur\":");
    out.microseconds(part.end - part.begin);
    if (part.what != slice::body)
      return out.put(k_rest[part.what]);
    out.put(tasks[part.type < tasks.size() ? part.type : 0]);
    out.number(std::uint64_t{part.task});
    out.put("}}");
  });
  out.put("\n]}\n");
}

void export_csv(trace_reader &reader, output_file &out) {
  std::vector<std::string> names{""};
  for (std::size_t i = 1; i < k_trace_types; ++i) {
    names.push_back(csv_text(reader.type_name(static_cast<std::uint16_t>(i))));
  }
  out.put("ns,worker,event,task,type,a,b\n");
  reader.rewind("writing CSV");
  trace_item i;
  while (reader.next(i)) {
    const trace_record &x = *i.record;
    out.number(reader.ns(x.time));
    out.put(',');
    out.number(std::uint64_t{i.slot});
    out.put(',');
    out.put(event_name(static_cast<trace_event>(x.event)));
    out.put(',');
    out.number(std::uint64_t{x.task});
    out.put(',');
    out.put(names[x.type % k_trace_types]);
    out.put(',');
    out.number(x.a);
    out.put(',');
    out.number(x.b);
    out.put('\n');
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
  static const std::vector<std::string_view> k_formats{"chrome", "perfetto", "paraver",
                                                       "prv",    "dot",      "csv"};
  if (folder.empty())
    return usage_error("trace export needs the folder of a trace");
  if (std::find(k_formats.begin(), k_formats.end(), format) == k_formats.end())
    return usage_error("trace export does not know the format '" + format + "'" +
                       suggestion(format, k_formats));
  trace_reader r(folder);
  if (format == "paraver" || format == "prv") {
    export_paraver(r, output.empty()             ? "trace"
                      : output.ends_with(".prv") ? output.substr(0, output.size() - 4)
                                                 : output);
    return end_progress(), k_ok;
  }
  if (format == "perfetto" && output.empty() && isatty(STDOUT_FILENO))
    return usage_error("trace export for Perfetto writes no text; give it a file with --output");
  output_file out(output);
  if (format == "csv")
    export_csv(r, out);
  else if (format == "dot")
    export_dot(r, out);
  else if (format == "perfetto")
    export_perfetto(r, out);
  else
    export_chrome(r, out);
  out.finish();
  end_progress();
  return k_ok;
}

} // namespace weft_tool
