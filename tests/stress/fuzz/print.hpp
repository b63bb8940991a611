// SPDX-License-Identifier: Apache-2.0
// Prints a program as C++ that uses the public interface only, and that knows what its serial run gives.
#pragma once

#include "stress/fuzz/cuts.hpp"
#include "stress/fuzz/prelude.hpp"
#include "stress/fuzz/serial.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fuzz {

/// `settings`: keys and values that the program sets. `head`: lines of comment.
class printer {
 public:
  printer(const program &p, std::vector<std::pair<std::string, std::string>> settings,
          std::string head)
      : m_program(p), m_settings(std::move(settings)), m_head(std::move(head)) {
    for (auto [owner, list] : lists_of(p))
      for (const step &s : *list)
        m_acts.insert(s.what);
  }

  std::string print() {
    m_text = m_head;
    if (has_coroutines())
      line("#include <weft/coro.hpp>");
    if (has_futures())
      line("#include <weft/future.hpp>");
    line("#include <weft/weft.hpp>\n");
    for (const char *header : {"atomic", "chrono", "cstdint", "cstdio", "cstdlib", "exception",
                               "memory", "mutex", "thread", "utility", "vector"})
      line("#include <" + std::string(header) + ">");
    line("\nnamespace {\n");
    tables();
    m_text += k_basics;
    helpers();
    line("void program() {");
    body(*m_program.root, "");
    line("}\n\n} // namespace\n");
    main_function();
    return std::move(m_text);
  }

 private:
  void line(const std::string &text) { m_text += std::string(m_indent, ' ') + text + "\n"; }
  void open(const std::string &text) {
    line(text);
    m_indent += 2;
  }
  void close(const std::string &text) {
    m_indent -= 2;
    line(text);
  }
  [[nodiscard]] bool uses(act what) const { return m_acts.count(what) != 0; }
  static std::string number(int n) { return std::to_string(n); }
  static std::string cell(int c) { return "cells[" + number(c) + "]"; }
  static std::string constant(std::uint64_t value) { return std::to_string(value) + "u"; }
  static std::string task_name(const node &n) { return "task " + number(n.id); }
  static std::string handle(const node &n) { return "result_" + number(n.id); }

  void tables() {
    const data first = initial(m_program), last = serial_run(m_program).result();
    std::string before, after;
    for (std::size_t i = 0; i != first.size(); ++i) {
      before += (i ? ", " : "") + constant(first[i]);
      after += (i ? ", " : "") + constant(last[i]);
    }
    const std::string n = number(std::max(1, m_program.cells)), tasks = number(m_program.ids);
    line("constexpr int k_cells = " + number(m_program.cells) + ", k_tasks = " + tasks + ";");
    line("const std::uint64_t before[" + n + "] = {" + before + "};");
    line("const std::uint64_t serial[" + n + "] = {" + after +
         "}; // what the tasks give one after the other");
    line("std::uint64_t cells[" + n + "];");
    line("std::atomic<int> ran[k_tasks], readied[k_tasks];");
    std::vector<bool> is_task(static_cast<std::size_t>(m_program.ids));
    for (const auto &n : m_program.nodes)
      is_task[static_cast<std::size_t>(n->id)] = true;
    std::string known;
    for (const bool is : is_task)
      known += std::string(known.empty() ? "" : ", ") + (is ? "true" : "false");
    line("const bool is_task[k_tasks] = {" + known + "};");
    if (has_results())
      line("std::uint64_t results[k_tasks]; // of tasks that others wait for");
    line("");
  }

  void helpers() {
    if (uses(act::hold) || uses(act::block) || uses(act::timed_block) ||
        any_task([](const node &n) { return n.made == form::promised && n.by_thread; }))
      m_text += k_outside;
    if (uses(act::add))
      m_text += k_adding;
    if (uses(act::lock))
      m_text += k_locks;
    if (uses(act::chaos))
      m_text += k_chaos;
    if (has_partings())
      m_text += k_parting;
    if (any_task([](const node &n) { return n.made == form::eager; }))
      m_text += k_eager;
    if (any_task([](const node &n) { return n.made > form::then; }))
      m_text += k_several;
  }

  /// `group`: the name of the group that the task belongs to.
  void body(const node &n, const std::string &group) {
    m_indent += 2;
    line("++ran[" + number(n.id) + "];");
    if (n.onready)
      line("expect(readied[" + number(n.id) + "] == 1, \"" + task_name(n) +
           ": onready was not called once before the body\");");
    for (int g = 0; g != n.groups; ++g)
      if (uses_group(n, g))
        line("weft::task_group " + group_name(n, g) + "(weft::exception_policy::collect_all);");
    const std::string digest = "digest_" + number(n.id);
    if (has_value(n) || !n.inputs.empty() || has_digest(n.steps))
      line("std::uint64_t " + digest + " = " + constant(first_digest(n)) + ";");
    for (const node *before : n.inputs)
      if (!before->fails)
        line(digest + " = mix(" + digest + ", " + value_of(*before) + ");");
    const bool awaits = std::exchange(m_awaits, n.coroutine);
    steps(n, n.steps, digest, group);
    m_awaits = awaits;
    if (has_value(n))
      line(value_of(n) + " = " + digest + ";");
    if (n.made == form::promised)
      keep(n, digest);
    else if (has_value(n))
      line((n.coroutine ? "co_return " : "return ") + digest + ";");
    if (n.coroutine && !returns_value(n))
      line("co_return;");
    m_indent -= 2;
  }
  static bool has_value(const node &n) { return n.tracked || continues(n.made); }
  static bool returns_value(const node &n) { return has_value(n) && n.made != form::promised; }
  static std::string value_of(const node &n) { return "results[" + number(n.id) + "]"; }

  /// A failing task keeps its promise where it would throw.
  void keep(const node &n, const std::string &digest) {
    const std::string set = n.fails ? ".set_exception(std::make_exception_ptr(failed()));"
                                    : ".set_value(" + digest + ");";
    const std::string promise = "promise_" + number(n.id);
    if (!n.by_thread)
      return line(promise + set);
    line("outside([promise = std::make_shared<weft::promise<std::uint64_t>>(std::move(" + promise +
         ")), " + digest + "] { promise->" + set.substr(1) + " });");
  }

  template <class Is>
  [[nodiscard]] bool any_task(Is is) const {
    return std::any_of(m_program.nodes.begin(), m_program.nodes.end(),
                       [&](const auto &n) { return is(*n); });
  }
  [[nodiscard]] bool has_partings() const {
    return any_task([](const node &n) { return n.parting; });
  }
  [[nodiscard]] bool has_coroutines() const {
    return any_task([](const node &n) { return n.coroutine; });
  }
  [[nodiscard]] bool has_futures() const {
    return any_task([](const node &n) { return n.made != form::spawned || n.shared; });
  }
  [[nodiscard]] bool has_results() const { return any_task(has_value); }
  static bool has_digest(const std::vector<step> &list) {
    for (const step &s : list)
      if (s.what <= act::update || s.what == act::join ||
          ((s.what == act::get || s.what == act::look) && !s.flag) ||
          (s.what == act::call && has_digest(s.first)))
        return true;
    return false;
  }
  static std::string group_name(const node &n, int g) {
    return "group_" + number(n.id) + "_" + number(g);
  }
  static bool uses_group(const node &n, int g) { return uses_group(n.steps, g); }
  static bool uses_group(const std::vector<step> &list, int g) {
    for (const step &s : list)
      if (s.what == act::spawn ? s.child->group == g
                               : (s.what == act::group_wait && s.amount == g) ||
                                     (s.what == act::call && uses_group(s.first, g)))
        return true;
    return false;
  }

  void steps(const node &n, const std::vector<step> &list, const std::string &digest,
             const std::string &group) {
    for (const step &s : list)
      one(n, s, digest, group);
  }

  void one(const node &n, const step &s, const std::string &digest, const std::string &group) {
    const std::string id = number(n.id);
    switch (s.what) {
    case act::read:
      return line("read(" + cell(s.cell) + ", " + digest + ");");
    case act::write:
      return line("write(" + cell(s.cell) + ", " + digest + ", " + id + ");");
    case act::update:
      return line("update(" + cell(s.cell) + ", " + digest + ", " + id + ");");
    case act::add:
      return add(n, s);
    case act::spawn:
      return spawn(n, *s.child, group);
    case act::wait_all:
      return waits(n, m_awaits ? "co_await weft::async_taskwait()" : "weft::taskwait()", s.flag);
    case act::wait_on:
      return line("weft::taskwait(weft::" + std::string(s.flag ? "inout(" : "in(") + cell(s.cell) +
                  "));");
    case act::yield:
      return line(m_awaits ? "co_await weft::this_task::async_yield();" : "weft::taskyield();");
    case act::sleep:
      return line(
          (m_awaits ? "co_await weft::this_task::async_sleep_for" : "weft::this_task::sleep_for") +
          std::string("(std::chrono::microseconds(") + number(s.amount) + "));");
    case act::block:
      return block(s);
    case act::timed_block:
      return timed_block(s);
    case act::lock:
      line(m_awaits ? "co_await locks[" + number(s.amount) + "].mutex.async_lock();"
                    : "locks[" + number(s.amount) + "].mutex.lock();");
      return line("under_lock(" + number(s.amount) + ", " + (s.flag ? "true" : "false") + ");");
    case act::hold:
      return hold(n, s);
    case act::release:
      return s.cell == n.lost ? void() : line("weft::release(weft::inout(" + cell(s.cell) + "));");
    case act::group_wait:
      return waits(n,
                   m_awaits ? "co_await weft::async_wait(" + group_name(n, s.amount) + ")"
                            : group_name(n, s.amount) + ".wait()",
                   s.flag);
    case act::get:
    case act::look:
      return get(n, s, digest);
    case act::wait_handle:
      return line(handle(*s.child) + ".wait();");
    case act::join:
      return join(n, s, digest, group);
    case act::call:
      return call(n, s, digest, group);
    case act::chaos:
      return line("chaos();");
    case act::flood:
      open("for (std::uint64_t i = 0; i != " + number(s.amount) + "; ++i)");
      line("weft::spawn([i] { " + cell(s.cell) + " = mix(" + cell(s.cell) +
           ", i); }, weft::inout(" + cell(s.cell) + "));");
      m_indent -= 2;
      return;
    case act::fail:
      return n.made == form::promised ? void()
                                      : line("throw failed();"); // keeps its promise with it
    }
  }

  void get(const node &n, const step &s, const std::string &digest) {
    const std::string name = handle(*s.child);
    const std::string call = !m_awaits         ? name + ".get()"
                             : s.child->shared ? "co_await " + name
                                               : "co_await std::move(" + name + ")";
    if (s.flag)
      return waits(n, call, true);
    if (!m_awaits)
      return line(digest + " = mix(" + digest + ", " + call + ");");
    open("{");
    line("const std::uint64_t value = " + call + ";");
    line(digest + " = mix(" + digest + ", value);");
    close("}");
  }

  void call(const node &n, const step &s, const std::string &digest, const std::string &group) {
    open(m_awaits ? "co_await [&]() -> weft::task<void> {" : "{");
    steps(n, s.first, digest, group);
    if (m_awaits)
      line("co_return;");
    close(m_awaits ? "}();" : "}");
  }

  void add(const node &n, const step &s) {
    const std::string value = constant(addend(s.cell, n.id)), way_of_cell = number(s.cell % 4);
    const bool copy = static_cast<way>(s.amount) == way::reduction;
    if (static_cast<way>(s.amount) == way::concurrent)
      return line("add_atomically(" + cell(s.cell) + ", " + way_of_cell + ", " + value + ");");
    line("add(" + (copy ? "weft::reduction_local(" + cell(s.cell) + ")" : cell(s.cell)) + ", " +
         way_of_cell + ", " + value + ", " + (s.flag ? "true" : "false") + ");");
  }

  void waits(const node &n, const std::string &call, bool throws) {
    if (!throws)
      return line(call + ";");
    if (m_awaits) {
      open("{");
      line("bool threw = false;");
      open("try {");
      line(call + ";");
      close("} catch (const failed &) {");
      line("  threw = true;");
      line("} catch (const weft::exception_list &) {");
      line("  threw = true;");
      line("}");
      line("expect(threw, \"" + task_name(n) + ": " + call + " lost an exception\");");
      return close("}");
    }
    line("expect_throw(\"" + task_name(n) + ": " + call + " lost an exception\", [&] { " + call +
         "; });");
  }

  void block(const step &s) {
    open("{");
    line("weft::task_ref self = weft::this_task::self();");
    line(s.flag ? "outside([self] { weft::unblock(self); });"
                : "weft::spawn([self] { weft::unblock(self); });");
    line("weft::this_task::block();");
    close("}");
  }

  void timed_block(const step &s) {
    const std::string call =
        "weft::this_task::block_for(std::chrono::microseconds(" + number(s.amount) + "))";
    if (!s.flag)
      return line("expect(!" + call +
                  ", \"a timed block that nobody ended said that somebody did\");");
    open("{");
    line("weft::task_ref self = weft::this_task::self();");
    line("outside([self] { weft::unblock(self); });");
    line("if (!" + call + ")");
    line("  weft::this_task::block(); // the unblock comes, or has come");
    close("}");
  }

  void hold(const node &n, const step &s) {
    open("{");
    line("weft::task_ref self = weft::this_task::self();");
    line("weft::this_task::increase_events();");
    open("outside([self] {");
    line(cell(s.cell) + " = mix(" + cell(s.cell) + ", ~std::uint64_t{" + number(n.id) + "});");
    line("weft::decrease_events(self);");
    close("});");
    close("}");
  }

  void join(const node &n, const step &s, const std::string &digest, const std::string &group) {
    const std::string names[] = {digest + "_" + number(++m_branches),
                                 digest + "_" + number(++m_branches)};
    line("std::uint64_t " + names[0] + " = mix(" + digest + ", 17), " + names[1] + " = mix(" +
         digest + ", 18);");
    const bool awaits = std::exchange(m_awaits, false);
    open("weft::join(");
    for (const std::vector<step> *list : {&s.first, &s.second}) {
      open("[&] {");
      steps(n, *list, names[list == &s.second], group);
      close(list == &s.first ? "}," : "});");
    }
    m_indent -= 2;
    m_awaits = awaits;
    line(digest + " = mix(" + names[0] + ", " + names[1] + ");");
  }

  void spawn(const node &parent, const node &n, const std::string &parents_group) {
    const std::string group = n.group >= 0                 ? group_name(parent, n.group)
                              : n.group == k_parents_group ? parents_group
                                                           : "";
    if (n.made == form::promised) {
      const std::string promise = "promise_" + number(n.id);
      line("weft::promise<std::uint64_t> " + promise + ";");
      line(type_of(n) + " " + handle(n) + " = " + promise + ".get_future();");
    }
    line((n.tracked && n.made != form::promised ? type_of(n) + " " + handle(n) + " = "
          : continues(n.made)                   ? "static_cast<void>("
                                                : "") +
         beginning(n, group));
    m_indent += 4;
    line(captures(n) + "(" + parameter(n) + ")" + (n.made == form::promised ? " mutable" : "") +
         result_type(n) + " {");
    checks(n);
    body(n, group);
    const bool wrapped = n.made == form::spawned ? n.tracked && n.shared : !n.tracked;
    const std::string end = wrapped ? "))" : ")";
    if (n.made == form::dataflow) {
      line("}, " + inputs(n) + end + ";");
      m_indent -= 4;
      return;
    }
    if (!takes_clauses(n)) {
      line("}" + end + ";");
      m_indent -= 4;
      return;
    }
    line("},");
    std::string clauses = "weft::label(\"" + task_name(n) + "\")";
    if (n.made == form::spawned)
      for (const node *before : n.inputs)
        clauses += ", weft::after(" + handle(*before) + ")";
    if (n.null_access)
      clauses += ", weft::access{nullptr, weft::access_mode::inout}";
    for (const use &u : n.uses)
      if (u.cell != n.lost)
        clauses +=
            ", weft::" + std::string(k_modes[static_cast<std::size_t>(u.mode)]) + "(" +
            cell(u.cell) +
            (way_of(u.mode) == way::reduction ? std::string(", weft::") + k_operations[u.cell % 4]
                                              : "") +
            ")";
    line(clauses + options(n) + end + ";");
    m_indent -= 4;
  }

  // The forms of tasks with futures.

  static std::string type_of(const node &n) {
    return n.shared                  ? "weft::shared_future<std::uint64_t>"
           : n.made == form::spawned ? "weft::handle<std::uint64_t>"
                                     : "weft::future<std::uint64_t>";
  }
  static bool takes_clauses(const node &n) {
    return n.made == form::spawned || n.made == form::promised ||
           (continues(n.made) && n.policy == 1);
  }
  static std::string policy(const node &n) {
    const std::string prefix = "weft::launch::";
    return n.policy == 2   ? prefix + "deferred"
           : n.policy == 4 ? prefix + "fork"
           : n.policy == 8 ? prefix + "sync"
           : n.policy == 3 ? prefix + "async | " + prefix + "deferred"
                           : prefix + "async";
  }
  /// All up to the callable. A handle is shared, or continued from, as the future that it becomes.
  static std::string beginning(const node &n, const std::string &group) {
    const std::string by = n.policy == 1 ? "" : policy(n) + ", ";
    switch (n.made) {
    case form::async:
      return "weft::async(" + policy(n) + ", ";
    case form::eager:
      return "eager(";
    case form::then:
      return (n.inputs[0]->shared ? handle(*n.inputs[0]) : used_up(*n.inputs[0])) + ".then(" + by;
    case form::collected:
      return "weft::when_all(" + inputs(n) + ").then(" + by;
    case form::any:
      return "weft::when_any(" + inputs(n) + ").then(" + by;
    case form::dataflow:
      return "weft::dataflow(" + policy(n) + ", ";
    default:
      break;
    }
    const std::string spawn = group.empty() ? "weft::spawn(" : group + ".spawn(";
    return n.tracked && n.shared && n.made == form::spawned ? "weft::future<std::uint64_t>(" + spawn
                                                            : spawn;
  }
  static std::string used_up(const node &before) {
    const std::string moved = "std::move(" + handle(before) + ")";
    return before.made == form::spawned ? "weft::future<std::uint64_t>(" + moved + ")" : moved;
  }
  static std::string input_type(const node &n) {
    return std::any_of(n.inputs.begin(), n.inputs.end(),
                       [](const node *before) { return before->shared; })
               ? "weft::shared_future<std::uint64_t>"
               : "weft::future<std::uint64_t>";
  }
  static std::string inputs(const node &n) {
    std::string text = "gathered<" + input_type(n) + ">(";
    for (const node *before : n.inputs)
      text += (before == n.inputs[0] ? "" : ", ") +
              (before->shared ? handle(*before) : used_up(*before));
    return text + ")";
  }
  static std::string parameter(const node &n) {
    switch (n.made) {
    case form::then:
      return (n.takes_future ? input_type(n) : "std::uint64_t") + " ready";
    case form::collected:
    case form::dataflow:
      return "std::vector<" + input_type(n) + "> ready";
    case form::any:
      return "weft::when_any_result<std::vector<" + input_type(n) + ">> chosen";
    default:
      return "";
    }
  }
  static std::string captures(const node &n) {
    std::string text = "[&";
    if (n.parting)
      text += ", bye = parting(" + number(n.id) + ")";
    if (n.made == form::promised)
      text += ", promise_" + number(n.id) + " = std::move(promise_" + number(n.id) + ")";
    std::set<const node *> seen(n.sees.begin(), n.sees.end());
    for (const node *before : seen)
      text += ", " + handle(*before);
    return text + "]";
  }
  static std::string result_type(const node &n) {
    const std::string value = returns_value(n) ? "std::uint64_t" : "void";
    return n.coroutine ? " -> weft::task<" + value + ">" : returns_value(n) ? " -> " + value : "";
  }
  /// What is known of the futures that a continuation gets.
  void checks(const node &n) {
    const std::string task = "\"" + task_name(n) + ": ";
    m_indent += 2;
    if (n.made == form::any) {
      line("expect(chosen.futures[chosen.index].is_ready(), " + task +
           "when_any chose a future that is not ready\");");
      line("auto &ready = chosen.futures;");
      line("for (auto &each : ready)");
      line("  each.wait();");
    }
    for (std::size_t i = 0; continues(n.made) && i != n.inputs.size(); ++i) {
      const node &before = *n.inputs[i];
      const bool several = n.made != form::then;
      const std::string one = several ? "ready[" + std::to_string(i) + "]" : "ready";
      if (several || n.takes_future)
        line("expect(" + one + ".is_ready(), " + task + "a future is not ready\");");
      if (before.fails)
        line("expect(" + one + ".has_exception(), " + task + "an exception was lost\");");
      else
        line("expect(" + one + (several || n.takes_future ? ".get()" : "") +
             " == " + value_of(before) + ", " + task + "a future has another value\");");
    }
    m_indent -= 2;
  }
  static constexpr const char *k_modes[] = {
      "in",         "out",           "inout",       "weak_in",         "weak_out",
      "weak_inout", "concurrent",    "commutative", "weak_concurrent", "weak_commutative",
      "reduction",  "weak_reduction"};
  static constexpr const char *k_operations[] = {"sum", "bit_xor", "product", "maximum"};

  static std::string options(const node &n) {
    std::string text;
    if (n.priority)
      text += ", weft::priority(" + number(n.priority) + ")";
    if (n.final)
      text += ", weft::final()";
    if (n.undeferred)
      text += ", weft::if_(false)";
    if (n.stack_bytes)
      text += ", weft::stack_bytes(" + std::to_string(n.stack_bytes) + ")";
    if (n.wait)
      text += ", weft::wait";
    if (n.onready)
      text += ", weft::onready(&count, &readied[" + number(n.id) + "])";
    return text;
  }

  void main_function() {
    open("int main(int argc, char **argv) {");
    if (!m_settings.empty())
      open(
          "if (!std::getenv(\"WEFT_SCHED_POLICY\") && !std::getenv(\"WEFT_SCHED_SEED\")) { // as the failing run");
    for (auto &[key, value] : m_settings)
      line("weft::configure(\"" + key + "\", \"" + value + "\");");
    if (!m_settings.empty())
      close("}");
    line("const int runs = argc > 1 ? std::atoi(argv[1]) : 10000;");
    open("for (int run = 1; run <= runs; ++run) {");
    line("for (int c = 0; c != k_cells; ++c)");
    line("  cells[c] = before[c];");
    line("for (int t = 0; t != k_tasks; ++t)");
    line("  ran[t] = readied[t] = 0;");
    line("program();");
    if (m_text.find("void outside(") != std::string::npos) {
      line("for (std::thread &t : outside_threads)");
      line("  t.join();");
      line("outside_threads.clear();");
    }
    line("for (int t = 0; t != k_tasks; ++t)");
    line("  expect(ran[t] == (is_task[t] ? 1 : 0), \"a task did not run exactly once\");");
    if (has_partings())
      line(
          "expect(partings == 0, \"a task that a destructor spawned did not run before the waits were over\");");
    line("for (int c = 0; c != k_cells; ++c)");
    line("  expect(cells[c] == serial[c], \"a cell differs from the serial run\");");
    open("if (wrong != 0) {");
    line("std::printf(\"FAILED in run %d\\n\", run);");
    line("return 1;");
    close("}");
    close("}");
    line("std::printf(\"%d runs without a difference\\n\", runs);");
    close("}");
  }

  const program &m_program;
  const std::vector<std::pair<std::string, std::string>> m_settings;
  const std::string m_head;
  std::set<act> m_acts;
  std::string m_text;
  std::size_t m_indent = 0;
  int m_branches = 0;
  bool m_awaits = false; // in a coroutine
};

} // namespace fuzz
