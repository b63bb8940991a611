// SPDX-License-Identifier: Apache-2.0
// weft dump and weft why: tasks that wait, and for what, of a program that makes no progress or was
// killed in that state; what sessions and policies have decided.
#include "tools/weft/commands.hpp"
#include "tools/weft/support/programs.hpp"
#include "tools/weft/support/text.hpp"

#include "base/error.hpp"
#include "base/visible.hpp"
#include "diagnose/wait_graph.hpp"
#include "observe/formula.hpp"
#include "observe/name.hpp"
#include "observe/segment.hpp"
#include "os/file.hpp"
#include "os/source_lines.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <fcntl.h>
#include <map>
#include <memory>
#include <set>
#include <unistd.h>
#include <utility>

namespace weft_tool {

using namespace weft::rt;

const char k_dump_help[] =
    "usage: weft dump [--json | --dot] PID\n"
    "\n"
    "Every task that is not finished, its state and what it waits for; the circle first, where there is one. A program that runs is stopped for\n"
    "that, for half a second at the most. Of a program that was killed, what it was when it last stood still or was asked.\n"
    "Then what sessions and policies have decided, the newest last.\n"
    "Exit status: 1 when PID shows nothing.\n";
const char k_why_help[] =
    "usage: weft why PID TASK\n"
    "       weft why PID KNOB\n"
    "\n"
    "What the task with that label waits for, what that waits for, and so on, to the end or round the circle; or what sessions and policies have\n"
    "decided about that knob, setting or site, the newest last.\n"
    "Exit status: 1 when PID shows nothing, has no such task waiting, and has decided nothing of that name.\n";

namespace {

struct task_dump {
  wait_graph graph;
  std::uint64_t progress = 0;
  std::uint64_t asked = 0; // the request that it answers
  std::vector<std::string> notes; // what could not be read
  std::vector<std::string> decisions; // of sessions and policies, the oldest first
};

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find('\t', at), line.size());
    fields.push_back(visible(line.substr(at, end - at)));
    at = end + 1;
  }
  return fields;
}

/// Reads the program's task dump; null if the program has never stopped making progress.
std::unique_ptr<task_dump> read_dump(long pid) {
  const std::string text = read_dump_text(pid);
  if (!text.starts_with("weft waits 1\t"))
    return nullptr;
  auto c = std::make_unique<task_dump>();
  std::size_t nodes = 0;
  const auto known = [&nodes](std::uint64_t n) { return n < nodes; };
  for_each_line(text, [&](std::string_view line) {
    const auto f = fields_of(line);
    const auto number = [&f](std::size_t i) {
      return i < f.size() ? parse_unsigned(f[i]).value_or(0) : 0;
    };
    if (f[0] == "weft waits 1")
      c->progress = number(1);
    else if (f[0] == "asked")
      c->asked = number(1);
    else if (f[0] == "note" && f.size() == 2)
      c->notes.push_back(f[1]);
    else if (f[0] == "decision" && f.size() == 2)
      c->decisions.push_back(f[1]);
    else if (f[0] == "place" && f.size() == 3 && known(number(1)))
      c->graph.at(number(1)).spawned = f[2];
    else if (f[0] == "state" && f.size() == 3 && known(number(1)))
      c->graph.at(number(1)).state = f[2];
    else if (f[0] == "stack" && f.size() == 3 && known(number(1)))
      c->graph.at(number(1)).stack.push_back(f[2]);
    else if (f[0] == "node" && f.size() == 3)
      c->graph.add(static_cast<node_kind>(
                       std::min<std::uint64_t>(number(1), static_cast<unsigned>(node_kind::cohort))),
                   reinterpret_cast<const void *>(++nodes), f[2]);
    else if (f[0] == "edge" && f.size() == 5 && number(1) < nodes && number(2) < nodes)
      c->graph.wait(number(1), number(2), f[4],
                    number(3) ? wait_graph::certain : wait_graph::guess);
  });
  return c;
}

/// Counts progress as the program itself does (hang_check::progress).
std::uint64_t progress_of(const reading &numbers) {
  double sum = 1;
  for (const char *name : {"/threads/count/executed", "/threads/count/rounds",
                           "/dependencies/count/without-accesses", "/dependencies/count/waited",
                           "/dependencies/count/free-at-once", "/threads/count/suspended"})
    if (const double v = value_of(numbers, parse_counter_name(name)); !std::isnan(v))
      sum += v;
  return static_cast<std::uint64_t>(sum);
}

struct seen {
  reading now;
  std::unique_ptr<task_dump> waits;
  bool current = false; // nothing has happened since, or the program has just answered
  bool amid = false; // the program has answered, and tasks may have gone on since
};

/// Asks the program to look at its tasks; returns 0 if it does not answer, or accepts no requests.
std::uint64_t ask(long pid) {
  // 3 s: a watcher that rests looks once a second, and then allows its workers half a second to
  // stop.
  constexpr int k_times = 300;
  const int file = open(segment_path(pid).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  segment_request r{};
  bool answered = false;
  // The file may be another one than that which was read.
  if (file >= 0 && is_of_owner(file, pid) && pread(file, &r, sizeof r, k_request_offset) == sizeof r) {
    const std::uint64_t ticket = std::max(r.asked, r.answered) + 1;
    if (pwrite(file, &ticket, sizeof ticket, k_request_offset + offsetof(segment_request, asked)) ==
        sizeof ticket)
      for (int i = 0; i < k_times && !answered; ++i) {
        usleep(10'000);
        answered = pread(file, &r, sizeof r, k_request_offset) == sizeof r && r.answered >= ticket;
      }
  }
  if (file >= 0)
    close(file);
  return answered ? r.answered : 0;
}

/// Finds source lines where the program has not done so itself.
void find_lines(wait_graph &graph) {
  std::vector<std::string *> texts;
  const auto want = [&texts](std::string &text) {
    if (text.ends_with(')'))
      texts.push_back(&text);
  };
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    want(graph.at(n).spawned);
    for (std::string &f : graph.at(n).stack)
      want(f);
  }
  add_source_lines(texts);
}

seen look_at(long pid) {
  seen s;
  s.now = program(pid).read();
  const std::uint64_t answer = s.now.alive && !s.now.ended ? ask(pid) : 0;
  s.waits = read_dump(pid);
  if (s.waits)
    find_lines(s.waits->graph);
  s.current =
      s.waits && (s.waits->progress == progress_of(s.now) || (answer && s.waits->asked == answer));
  s.amid = s.waits && answer && s.waits->asked == answer;
  return s;
}

void print_state(const seen &dump, long pid) {
  const auto value = [&dump](const char *name) {
    const double v = value_of(dump.now, parse_counter_name(name));
    return std::isnan(v) ? 0.0 : v;
  };
  std::printf("%s (pid %ld) %s: %.0f tasks in the graph, %.0f ready, %.0f executed\n",
              visible(dump.now.program).c_str(), pid,
              dump.now.ended   ? "has ended"
              : dump.now.alive ? "runs"
                               : "was killed",
              value("/threads/count/instantaneous/all"),
              value("/threads/count/instantaneous/pending"), value("/threads/count/cumulative"));
}

/// Prints the tasks that wait for nothing; for many of one name, their number.
void print_states(const wait_graph &graph) {
  std::map<std::string, std::size_t> lines;
  for (const wait_graph::node &n : graph.nodes())
    if (!n.state.empty())
      ++lines[wait_graph::text(n) + " " + n.state];
  for (const auto &[text, times] : lines)
    if (times == 1)
      std::printf("%s\n", text.c_str());
    else
      std::printf("%s (%zu times)\n", text.c_str(), times);
}

void print_place(const wait_graph::node &node, const char *before) {
  std::printf("%s%s%s%s\n", before, wait_graph::text(node).c_str(),
              node.spawned.empty() ? "" : ", ", node.spawned.c_str());
  for (const std::string &f : node.stack)
    std::printf("%s  in %s\n", before, f.c_str());
}

/// Prints where the tasks with a stack are.
void print_places(const wait_graph &graph) {
  bool first = true;
  for (const wait_graph::node &n : graph.nodes()) {
    if (n.stack.empty())
      continue;
    if (std::exchange(first, false))
      std::puts("where they are:");
    print_place(n, "  ");
  }
}

/// Says whether a decision, as in "heat: heat.block=256 (...)", is of a site or a policy of that name,
/// or gives a knob of that name a value.
bool tells_of(std::string_view decision, std::string_view name) {
  if (decision.starts_with(std::string(name) + ": "))
    return true;
  const std::string gives = " " + std::string(name) + "=";
  return decision.find(gives) != std::string_view::npos;
}

void print_text(const seen &dump) {
  if (!dump.waits) {
    std::puts(
        "it does not answer (without watcher it cannot), and it has not stood still: no worker has been idle for watch.patience while tasks waited");
    return;
  }
  for (const std::string &n : dump.waits->notes)
    std::printf("%s\n", n.c_str());
  if (!dump.current)
    std::puts("it has moved since; when it last stood still:");
  const wait_graph &g = dump.waits->graph;
  print_states(g);
  if (g.edges().empty())
    return;
  const auto cycle = g.cycle();
  std::set<std::size_t> shown(cycle.begin(), cycle.end());
  if (!cycle.empty())
    std::puts("these wait for each other:");
  for (const std::size_t e : cycle)
    std::printf("  %s\n", g.text(g.edges()[e]).c_str());
  std::puts(
      !cycle.empty() ? "and behind them:"
      : dump.amid
          ? "these wait:"
          : "no thread is left to do what these wait for, unless a thread outside of Weft does it:");
  for (std::size_t e = 0; e < g.edges().size(); ++e)
    if (!shown.count(e))
      std::printf("  %s%s\n", g.text(g.edges()[e]).c_str(),
                  g.edges()[e].how == wait_graph::guess ? " (perhaps)" : "");
  print_places(g);
}

void print_dot(const wait_graph &graph) {
  std::puts("digraph waits {\n  node [shape=box];");
  for (std::size_t n = 0; n < graph.nodes().size(); ++n)
    std::printf("  n%zu [label=%s];\n", n, double_quoted(wait_graph::text(graph.nodes()[n])).c_str());
  for (const wait_graph::edge &e : graph.edges())
    std::printf("  n%zu -> n%zu [label=%s%s];\n", e.from, e.to, double_quoted(e.reason).c_str(),
                e.how == wait_graph::guess ? " style=dashed" : "");
  std::puts("}");
}

void print_json(const seen &dump, long pid) {
  std::printf("{\"pid\":%ld,\"program\":%s,\"running\":%s,\"stands_still\":%s,\"nodes\":[", pid,
              double_quoted(dump.now.program).c_str(), dump.now.alive ? "true" : "false",
              dump.current ? "true" : "false");
  const wait_graph none, &g = dump.waits ? dump.waits->graph : none;
  for (std::size_t n = 0; n < g.nodes().size(); ++n)
    std::printf("%s%s", n ? "," : "", double_quoted(wait_graph::text(g.nodes()[n])).c_str());
  std::printf("],\"places\":[");
  for (std::size_t n = 0; n < g.nodes().size(); ++n) {
    const wait_graph::node &node = g.nodes()[n];
    std::printf("%s{\"state\":%s,\"spawned\":%s,\"stack\":[", n ? "," : "",
                double_quoted(node.state).c_str(), double_quoted(node.spawned).c_str());
    for (std::size_t i = 0; i < node.stack.size(); ++i)
      std::printf("%s%s", i ? "," : "", double_quoted(node.stack[i]).c_str());
    std::printf("]}");
  }
  std::printf("],\"notes\":[");
  for (std::size_t i = 0; dump.waits && i < dump.waits->notes.size(); ++i)
    std::printf("%s%s", i ? "," : "", double_quoted(dump.waits->notes[i]).c_str());
  std::printf("],\"decisions\":[");
  for (std::size_t i = 0; dump.waits && i < dump.waits->decisions.size(); ++i)
    std::printf("%s%s", i ? "," : "", double_quoted(dump.waits->decisions[i]).c_str());
  std::printf("],\"edges\":[");
  for (std::size_t e = 0; e < g.edges().size(); ++e)
    std::printf("%s{\"from\":%zu,\"to\":%zu,\"reason\":%s,\"certain\":%s}", e ? "," : "",
                g.edges()[e].from, g.edges()[e].to, double_quoted(g.edges()[e].reason).c_str(),
                g.edges()[e].how == wait_graph::certain ? "true" : "false");
  std::printf("],\"cycle\":[");
  const auto cycle = g.cycle();
  for (std::size_t i = 0; i < cycle.size(); ++i)
    std::printf("%s%zu", i ? "," : "", cycle[i]);
  std::puts("]}");
}

} // namespace

int run_dump(const words &arguments) {
  std::string form, pid_text;
  for (const std::string &w : arguments)
    if (w == "--json" || w == "--dot")
      form = w;
    else if (w.starts_with("-") || !pid_text.empty())
      return usage_error("dump does not know '" + w + "'");
    else
      pid_text = w;
  if (pid_text.empty())
    return usage_error("dump needs a PID; `weft list` shows them");
  const long pid = pid_of(pid_text);
  const seen s = look_at(pid);
  if (form == "--json")
    return print_json(s, pid), k_ok;
  if (form == "--dot")
    return print_dot(s.waits ? s.waits->graph : wait_graph{}), k_ok;
  print_state(s, pid);
  print_text(s);
  if (s.waits && !s.waits->decisions.empty())
    std::puts("sessions and policies have decided:");
  for (std::size_t i = 0; s.waits && i < s.waits->decisions.size(); ++i)
    std::printf("  %s\n", s.waits->decisions[i].c_str());
  return k_ok;
}

int run_why(const words &arguments) {
  if (arguments.size() != 2)
    return usage_error("why needs a PID and the label of a task or the name of a knob");
  const long pid = pid_of(arguments[0]);
  const seen s = look_at(pid);
  if (!s.waits)
    return print_state(s, pid), print_text(s), k_failed;
  const wait_graph &g = s.waits->graph;
  std::deque<std::size_t> todo;
  std::vector<std::string_view> names;
  for (std::size_t n = 0; n < g.nodes().size(); ++n) {
    names.push_back(g.nodes()[n].name);
    if (g.nodes()[n].name == arguments[1])
      todo.push_back(n);
  }
  bool is_decided = false;
  for (const std::string &decision : s.waits->decisions)
    if (tells_of(decision, arguments[1])) {
      std::printf("%s\n", decision.c_str());
      is_decided = true;
    }
  if (todo.empty() && is_decided)
    return k_ok;
  if (todo.empty()) {
    std::fprintf(stderr, "weft: no task '%s' waits%s; `weft dump %ld` shows those that do\n",
                 arguments[1].c_str(), suggestion(arguments[1], names).c_str(), pid);
    return k_failed;
  }
  if (!s.current)
    std::puts("it has moved since; when it last stood still:");
  std::set<std::size_t> met(todo.begin(), todo.end());
  for (const std::size_t n : todo) {
    if (!g.nodes()[n].stack.empty() || !g.nodes()[n].spawned.empty())
      print_place(g.nodes()[n], "");
    if (!g.nodes()[n].state.empty())
      std::printf("%s %s\n", wait_graph::text(g.nodes()[n]).c_str(), g.nodes()[n].state.c_str());
  }
  while (!todo.empty()) {
    const std::size_t n = todo.front();
    todo.pop_front();
    for (const wait_graph::edge &e : g.edges()) {
      if (e.from != n)
        continue;
      const bool is_new = met.insert(e.to).second;
      std::printf("%s%s%s\n", g.text(e).c_str(), e.how == wait_graph::guess ? " (perhaps)" : "",
                  is_new ? "" : ", see above");
      if (is_new)
        todo.push_back(e.to);
    }
  }
  return k_ok;
}

} // namespace weft_tool
