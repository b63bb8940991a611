// SPDX-License-Identifier: Apache-2.0
#include "diagnose/last_dump.hpp"

#include "observe/segment.hpp"
#include "observe/store.hpp"
#include "os/file.hpp"
#include "tune/decisions.hpp"
#include "tune/in_place_types.hpp"
#include "worker/runtime.hpp"

#include <fcntl.h>
#include <string>
#include <utility>
#include <unistd.h>

namespace weft::inline v0 {
namespace rt {
namespace {

std::string one_line(std::string text) {
  for (char &c : text)
    if (c == '\n' || c == '\t')
      c = ' ';
  return text;
}

std::string decision_lines() {
  std::string s;
  for (const std::string &d : newest_decisions())
    s += "decision\t" + one_line(d) + "\n";
  for (const std::string &d : in_place_lines())
    s += "decision\t" + one_line(d) + "\n";
  return s;
}

std::string dump_text(const wait_graph &graph, std::uint64_t progress, std::uint64_t asked,
                      const std::vector<std::string> &notes) {
  std::string s = "weft waits 1\t" + std::to_string(progress) + "\n";
  if (asked)
    s += "asked\t" + std::to_string(asked) + "\n";
  for (const std::string &n : notes)
    s += "note\t" + one_line(n) + "\n";
  s += decision_lines();
  for (const wait_graph::node &n : graph.nodes())
    s += "node\t" + std::to_string(static_cast<int>(n.kind)) + "\t" + one_line(n.name) + "\n";
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const wait_graph::node &node = graph.nodes()[n];
    const auto add = [&](const char *what, const std::string &text) {
      if (!text.empty())
        s += std::string(what) + "\t" + std::to_string(n) + "\t" + one_line(text) + "\n";
    };
    add("place", node.spawned);
    add("state", node.state);
    for (const std::string &f : node.stack)
      add("stack", f);
  }
  for (const wait_graph::edge &e : graph.edges())
    s += "edge\t" + std::to_string(e.from) + "\t" + std::to_string(e.to) + "\t" +
         (e.how == wait_graph::certain ? "1" : "0") + "\t" + one_line(e.reason) + "\n";
  return s;
}

std::atomic<bool> g_left{false};
std::atomic<std::uint64_t> g_decisions_left{0}; // so many had been made when the file was written

void write_dump_text(const std::string &text) {
  const std::string path = dump_path(getpid()), fresh = path + ".new";
  unlink(fresh.c_str()); // of an earlier program with this pid
  const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return; // the file of another user is there: do not write into it
  const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  if (!whole || rename(fresh.c_str(), path.c_str()) != 0) {
    unlink(fresh.c_str());
    return;
  }
  g_left.store(true, std::memory_order_relaxed); // the join of the watcher orders it before the end
  note_bytes_beside(text.size());
}

} // namespace

void write_dump_file(const wait_graph &graph, std::uint64_t progress, std::uint64_t asked,
                     const std::vector<std::string> &notes) noexcept try {
  if (!why_private().empty())
    return;
  g_decisions_left.store(totals_of_tuner().decisions, std::memory_order_relaxed); // before their texts
  write_dump_text(dump_text(graph, progress, asked, notes));
} catch (const std::bad_alloc &) { // no memory for a dump
}

void renew_decisions_in_dump() noexcept try {
  const std::uint64_t made = totals_of_tuner().decisions;
  if (!g_left.load(std::memory_order_relaxed) ||
      g_decisions_left.exchange(made, std::memory_order_relaxed) == made)
    return;
  const std::string old = read_dump_text(getpid());
  std::string text;
  bool has_new = false;
  for_each_line(old, [&](std::string_view line) {
    if (line.starts_with("decision\t"))
      return;
    if (line.starts_with("node\t") && !std::exchange(has_new, true))
      text += decision_lines();
    text += std::string(line) + "\n";
  });
  write_dump_text(has_new ? text : text + decision_lines());
} catch (const std::bad_alloc &) { // the next look tries again, if there is another decision
}

void remove_dump_file() noexcept try {
  if (g_left.exchange(false, std::memory_order_relaxed))
    unlink(dump_path(getpid()).c_str());
} catch (const std::bad_alloc &) { // a later program removes it
}

} // namespace rt
} // namespace weft::inline v0
