// SPDX-License-Identifier: Apache-2.0
#include "tools/weft/trace/export/export.hpp"

#include "tools/weft/support/progress.hpp"

#include "observe/format.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <unistd.h>
#include <utility>

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

namespace {

constexpr unsigned k_first_of_messages = 20'000; // threads that stand for the messages of ranks

/// Returns the number by which a viewer tells the processes apart: two hosts may use one pid.
long process_of(rank_traces &traces, std::size_t index) {
  const trace_description &about = traces.at(index).about();
  return traces.count() == 1 ? about.pid : about.place.rank;
}

void name_thread(output_file &out, long process, unsigned thread, const std::string &name) {
  out.print(
      ",\n{\"ph\":\"M\",\"pid\":%ld,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
      process, thread, name.c_str());
}

/// Writes the slices of one trace.
void export_chrome_slices(rank_traces &traces, std::size_t index, output_file &out) {
  trace_reader &reader = traces.at(index);
  const std::int64_t shift = traces.shift(index);
  const long pid = process_of(traces, index);
  for (const unsigned slot : reader.slots())
    if (is_of_worker(slot))
      name_thread(out, pid, slot, "worker " + std::to_string(slot));
  // The constant text of a kind of slice, or of a type.
  const std::string head = ",\n{\"ph\":\"X\",\"pid\":" + std::to_string(pid) + ",\"tid\":";
  static constexpr std::string_view k_rest[] = {"", ",\"cat\":\"idle\",\"name\":\"idle\"}",
                                                ",\"cat\":\"kernel\",\"name\":\"off cpu\"}"};
  std::vector<std::string> tasks;
  for (std::size_t i = 0; i < std::max<std::size_t>(reader.about().types.size(), 1); ++i)
    tasks.push_back(",\"cat\":\"task\",\"name\":\"" +
                    escaped(reader.type_name(static_cast<std::uint16_t>(i))) +
                    "\",\"args\":{\"task\":");
  const auto put_times = [&](const slice &part) {
    out.put(head);
    out.number(std::uint64_t{part.slot});
    out.put(",\"ts\":");
    out.microseconds(part.begin + shift);
    out.put(",\"dur\":");
    out.microseconds(part.end - part.begin);
  };
  for_each_slice(reader, "writing JSON", [&](const slice &part) {
    put_times(part);
    if (part.what != slice::body)
      return out.put(k_rest[part.what]);
    out.put(tasks[part.type < tasks.size() ? part.type : 0]);
    out.number(std::uint64_t{part.task});
    out.put("}}");
    if (const std::string inside = coroutine_text(reader, part); !inside.empty()) {
      put_times(part); // within the slice of the task
      out.put(",\"cat\":\"coroutine\",\"name\":\"" + escaped(inside) + "\"}");
    }
  });
}

/// Writes the messages, each as a moment on a track of its rank, and arrows between the two ends.
void export_chrome_messages(rank_traces &traces, output_file &out) {
  const std::vector<message_mark> all = traces.read_messages();
  std::set<std::pair<std::uint32_t, std::uint16_t>> ranks;
  for (const message_mark &mark : all)
    ranks.emplace(mark.trace, mark.own);
  for (const auto &[trace, rank] : ranks)
    name_thread(out, process_of(traces, trace), k_first_of_messages + rank,
                "messages of rank " + std::to_string(rank));
  for (const message_mark &mark : all) {
    const std::string place = ",\"pid\":" + std::to_string(process_of(traces, mark.trace)) +
                              ",\"tid\":" + std::to_string(k_first_of_messages + mark.own) +
                              ",\"ts\":";
    out.put(",\n{\"ph\":\"X\",\"cat\":\"message\",\"dur\":0.001,\"name\":\"");
    out.put(escaped(traces.text(mark)));
    out.put("\"");
    out.put(place);
    out.microseconds(mark.ns);
    out.put("}");
    if (mark.flow == 0)
      continue;
    out.put(mark.what == trace_event::send ? ",\n{\"ph\":\"s\"" : ",\n{\"ph\":\"f\",\"bp\":\"e\"");
    out.put(",\"cat\":\"message\",\"name\":\"message\",\"id\":");
    out.number(mark.flow);
    out.put(place);
    out.microseconds(mark.ns);
    out.put("}");
  }
}

} // namespace

void export_chrome(rank_traces &traces, output_file &out) {
  std::uint64_t discarded = 0;
  for (std::size_t i = 0; i != traces.count(); ++i)
    discarded += traces.at(i).discarded();
  out.print("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"discarded\":%llu},\"traceEvents\":[\n",
            static_cast<unsigned long long>(discarded));
  for (std::size_t i = 0; i != traces.count(); ++i) {
    out.print("%s{\"ph\":\"M\",\"pid\":%ld,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}",
              i == 0 ? "" : ",\n", process_of(traces, i), escaped(traces.name_of(i)).c_str());
    export_chrome_slices(traces, i, out);
  }
  export_chrome_messages(traces, out);
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
  std::string format = "chrome", output;
  words folders;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const std::string &w = arguments[at];
    if ((w == "--format" || w == "-f") && at + 1 < arguments.size())
      format = arguments[++at];
    else if ((w == "--output" || w == "-o") && at + 1 < arguments.size())
      output = arguments[++at];
    else if (w.starts_with("-"))
      return usage_error("trace export does not know '" + w + "'");
    else
      folders.push_back(w);
  }
  static const std::vector<std::string_view> k_formats{"chrome", "perfetto", "paraver",
                                                       "prv",    "dot",      "csv"};
  if (folders.empty())
    return usage_error("trace export needs the folder of a trace");
  if (std::find(k_formats.begin(), k_formats.end(), format) == k_formats.end())
    return usage_error("trace export does not know the format '" + format + "'" +
                       suggestion(format, k_formats));
  if (folders.size() != 1 && format != "chrome" && format != "perfetto")
    return usage_error("trace export --format " + format +
                       " takes one trace; chrome and perfetto take those of all ranks of a job");
  rank_traces all(folders);
  trace_reader &r = all.at(0);
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
    export_perfetto(all, out);
  else
    export_chrome(all, out);
  out.finish();
  end_progress();
  for (const std::string &doubt : all.doubts())
    std::fprintf(stderr, "weft: note: %s\n", doubt.c_str());
  return k_ok;
}

} // namespace weft_tool
