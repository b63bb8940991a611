// SPDX-License-Identifier: Apache-2.0
#include "trace/metadata.hpp"

#include "base/clock.hpp"
#include "os/file.hpp"

#include <weft/version.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::uint64_t k_second = 1'000'000'000;

std::string text(const char *format, auto... values) {
  char line[512];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}
unsigned long long wide(std::uint64_t value) noexcept { return value; }

std::string uuid_text(const unsigned char (&u)[16]) {
  std::string s;
  for (int i = 0; i < 16; ++i)
    s += text(i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", u[i]);
  return s;
}

constexpr char k_types[] =
    "typealias integer { size = 16; align = 8; signed = false; } := u16;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := u32;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := u64;\n"
    "typealias integer { size = 64; align = 8; signed = false; base = hex; } := x64;\n"
    "typealias integer { size = 64; align = 8; signed = false; map = clock.weft.value; } := ticks;\n";

constexpr char k_packets[] =
    "  packet.context := struct {\n"
    "    ticks timestamp_begin; ticks timestamp_end; u64 content_size; u64 packet_size;\n"
    "    u64 packet_seq_num; u64 events_discarded; u32 worker; u32 kind; u64 room1; u64 room2;\n"
    "  };\n";

/// Returns the type with which a word of a payload is printed: addresses in hexadecimal.
const char *word_type(const std::string &name) {
  return name == "target" || name == "address" || name == "group" || name == "what" ||
                 name == "message"
             ? "x64"
             : "u64";
}

std::string clock_text(const trace_clock &clock) {
  const std::uint64_t seconds = clock.ticks / clock.frequency, rest = clock.ticks % clock.frequency;
  const std::uint64_t since_zero =
      seconds * k_second + static_cast<std::uint64_t>(static_cast<double>(rest) * 1e9 /
                                                      static_cast<double>(clock.frequency));
  const std::uint64_t zero = clock.realtime_ns > since_zero ? clock.realtime_ns - since_zero
                                                            : 0; // realtime when the ticks were 0
  const auto part = static_cast<std::uint64_t>(static_cast<double>(zero % k_second) *
                                               static_cast<double>(clock.frequency) / 1e9);
  return text(
      "clock {\n  name = weft;\n  description = \"the processor's clock\";\n  freq = %llu;\n  offset_s = %llu;\n  offset = %llu;\n"
      "  absolute = true;\n};\n",
      wide(clock.frequency), wide(zero / k_second), wide(part));
}

/// Returns the text without what would end its line, or the string that holds it.
std::string quotable(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\')
      c = '_';
  return text;
}

std::uint64_t realtime_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * k_second + static_cast<std::uint64_t>(t.tv_nsec);
}

struct event_line {
  const char *name, *a, *b;
};
constexpr event_line k_events[] = {
#define X(name, level, a, b) {#name, #a, #b},
    WEFT_TRACE_EVENTS(X)
#undef X
};

} // namespace

const char *event_name(trace_event event) noexcept {
  return event < trace_event::limit ? k_events[static_cast<std::size_t>(event)].name : "unknown";
}

trace_clock read_trace_clock() noexcept {
  // The thread may get no processor between two clocks: so the closest of several looks counts.
  constexpr int k_looks = 8;
  static_cast<void>(calibrate_ticks(too_early::waits));
  trace_clock c;
  std::uint64_t closest = UINT64_MAX;
  for (int i = 0; i < k_looks; ++i) {
    const std::uint64_t before = read_ticks(), monotonic = now_ns(), realtime = realtime_ns(),
                        took = read_ticks() - before;
    if (took >= closest)
      continue;
    closest = took;
    c.monotonic_ns = monotonic;
    c.realtime_ns = realtime;
    c.ticks = before + took / 2;
  }
  if (g_ticks_are_steady)
    c.frequency = static_cast<std::uint64_t>(
        1e9 * 4294967296.0 / static_cast<double>(g_tick_scale.load(std::memory_order_relaxed)) +
        0.5);
  return c;
}

std::vector<std::string> type_names(const trace_type *table) {
  std::vector<std::string> names(1, "");
  for (std::size_t i = 1; i < k_trace_types; ++i)
    if (table && __atomic_load_n(&table[i].ready, __ATOMIC_ACQUIRE)) { // O2 of types.hpp
      names.resize(i + 1);
      names[i] = table[i].name;
    }
  return names;
}

std::string ctf_metadata(const trace_description &description) {
  constexpr const char *k_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be";
  std::string s = "/* CTF 1.8 */\n\n";
  s += k_types;
  s += "\ntrace {\n  major = 1;\n  minor = 8;\n  uuid = \"" + uuid_text(description.uuid) +
       "\";\n  byte_order = " + k_order +
       ";\n  packet.header := struct { u32 magic; u32 stream_id; uint8_t uuid[16]; };\n};\n\n";
  const std::size_t bytes = s.find("typealias integer { size = 16");
  s.insert(bytes, "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n");
  s += "env {\n  tracer_name = \"weft\";\n  tracer_version = \"" WEFT_VERSION_STRING
       "\";\n  procname = \"" +
       quotable(description.program) + "\";\n";
  s += text("  vpid = %ld;\n  workers = %u;\n  level = %u;\n};\n\n", description.pid,
            description.workers, static_cast<unsigned>(description.level));
  s += clock_text(description.clock);
  s +=
      "\nstream {\n  id = 0;\n  event.header := struct { ticks timestamp; u16 id; };\n  event.context := struct {\n    enum : u16 { \"\" = 0";
  for (std::size_t i = 1; i < description.types.size(); ++i)
    if (!description.types[i].empty())
      s += ", \"" + description.types[i] + "\" = " + std::to_string(i);
  s += " } type;\n    u32 task;\n  };\n";
  s += k_packets;
  s += "};\n";
  for (std::size_t i = 0; i < static_cast<std::size_t>(trace_event::limit); ++i) {
    const event_line &e = k_events[i];
    s += text(
        "\nevent {\n  id = %zu;\n  name = \"%s\";\n  stream_id = 0;\n  fields := struct { %s _%s; %s _%s; };\n};\n",
        i, e.name, word_type(e.a), e.a, word_type(e.b), e.b);
  }
  return s;
}

namespace {

std::string one_line(std::string text) {
  for (char &c : text)
    if (static_cast<unsigned char>(c) < ' ')
      c = ' ';
  return text;
}

} // namespace

std::string own_description(const trace_description &description) {
  static constexpr const char *k_states[] = {"running", "ended", "exact"};
  std::string s = "weft trace 1\n";
  s += "program " + quotable(description.program) + "\nuuid " + uuid_text(description.uuid) + "\n";
  s += text(
      "pid %ld\nworkers %u\nlevel %u\nmode %u\nfrequency %llu\nticks %llu\nmonotonic %llu\nrealtime %llu\nfirst %llu\ndiscarded %llu\nstate %s\n",
      description.pid, description.workers, static_cast<unsigned>(description.level),
      static_cast<unsigned>(description.mode), wide(description.clock.frequency),
      wide(description.clock.ticks), wide(description.clock.monotonic_ns),
      wide(description.clock.realtime_ns), wide(description.first_ticks),
      wide(description.discarded), k_states[description.state]);
  if (const trace_place &place = description.place; place.size != 0)
    s += "rank " + std::to_string(place.rank) + "\nranks " + std::to_string(place.size) + "\njob " +
         one_line(place.job) + "\nhost " + one_line(place.host) + "\noffset " +
         std::to_string(place.offset_ns) + "\nuncertain " + std::to_string(place.uncertain_ns) +
         "\n";
  if (!description.kernel.empty())
    s += "kernel " + description.kernel + "\n";
  for (const auto &[key, value] : {std::pair("command", &description.command),
                                   {"machine", &description.machine},
                                   {"cores", &description.cores},
                                   {"load", &description.load},
                                   {"settings", &description.settings}})
    if (!value->empty())
      s += std::string(key) + " " + one_line(*value) + "\n";
  for (const auto &[type, site] : description.spawn_sites)
    s += "place " + std::to_string(type) + " " + one_line(site) + "\n";
  for (const auto &[name, ns] : description.shares)
    s += "share " + std::to_string(ns) + " " + name + "\n";
  for (std::size_t i = 1; i < description.types.size(); ++i)
    if (!description.types[i].empty())
      s += "type " + std::to_string(i) + " " + description.types[i] + "\n";
  return s;
}

namespace {

void take_type(trace_description &description, std::string_view value) {
  const std::size_t space = value.find(' ');
  const auto number = parse_unsigned(value.substr(0, space));
  if (!number || *number >= k_trace_types || space == std::string_view::npos)
    return;
  description.types.resize(std::max<std::size_t>(description.types.size(), *number + 1));
  description.types[*number] = value.substr(space + 1);
}

void take_place(trace_description &description, std::string_view value) {
  const std::size_t space = value.find(' ');
  if (const auto number = parse_unsigned(value.substr(0, space));
      number && *number < k_trace_types && space != std::string_view::npos)
    description.spawn_sites.emplace_back(static_cast<unsigned>(*number), value.substr(space + 1));
}

void take_share(trace_description &description, std::string_view value) {
  const std::size_t space = value.find(' ');
  if (const auto ns = parse_unsigned(value.substr(0, space)); ns && space != std::string_view::npos)
    description.shares.emplace_back(value.substr(space + 1), *ns);
}

/// Takes a line about the place in a job.
bool take_place_in_job(trace_place &place, std::string_view key, std::string_view value,
                       std::uint64_t number) {
  if (key == "rank")
    place.rank = static_cast<int>(number);
  else if (key == "ranks")
    place.size = static_cast<int>(number);
  else if (key == "job")
    place.job = value;
  else if (key == "host")
    place.host = value;
  else if (key == "offset")
    place.offset_ns = std::strtoll(std::string(value).c_str(), nullptr, 10);
  else if (key == "uncertain")
    place.uncertain_ns = number;
  else
    return false;
  return true;
}

void take_uuid(trace_description &description, std::string_view value) {
  std::size_t n = 0;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (std::size_t i = 0; i + 1 < value.size() && n < 16; ++i)
    if (value[i] != '-') {
      description.uuid[n++] =
          static_cast<unsigned char>(digit(value[i]) * 16 + digit(value[i + 1]));
      ++i;
    }
}

} // namespace

trace_description parse_description(const std::string &all) {
  trace_description d;
  for_each_line(all, [&d](std::string_view line) {
    const std::size_t space = line.find(' ');
    const std::string_view key = line.substr(0, space),
                           value = space == std::string_view::npos ? "" : line.substr(space + 1);
    const std::uint64_t n = parse_unsigned(value).value_or(0);
    if (take_place_in_job(d.place, key, value, n))
      return;
    if (key == "program")
      d.program = value;
    else if (key == "command")
      d.command = value;
    else if (key == "machine")
      d.machine = value;
    else if (key == "cores")
      d.cores = value;
    else if (key == "load")
      d.load = value;
    else if (key == "settings")
      d.settings = value;
    else if (key == "place")
      take_place(d, value);
    else if (key == "share")
      take_share(d, value);
    else if (key == "kernel")
      d.kernel = value;
    else if (key == "uuid")
      take_uuid(d, value);
    else if (key == "pid")
      d.pid = static_cast<long>(n);
    else if (key == "workers")
      d.workers = static_cast<unsigned>(n);
    else if (key == "level")
      d.level = static_cast<trace_level>(std::min<std::uint64_t>(n, 4));
    else if (key == "mode")
      d.mode = n == 1 ? trace_mode::flight : trace_mode::stream;
    else if (key == "frequency")
      d.clock.frequency = n ? n : 1;
    else if (key == "ticks")
      d.clock.ticks = n;
    else if (key == "monotonic")
      d.clock.monotonic_ns = n;
    else if (key == "realtime")
      d.clock.realtime_ns = n;
    else if (key == "first")
      d.first_ticks = n;
    else if (key == "discarded")
      d.discarded = n;
    else if (key == "state")
      d.state = value == "exact"   ? trace_description::exact
                : value == "ended" ? trace_description::ended
                                   : trace_description::running;
    else if (key == "type")
      take_type(d, value);
  });
  return d;
}

} // namespace rt
} // namespace weft::inline v0
