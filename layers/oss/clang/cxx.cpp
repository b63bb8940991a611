// SPDX-License-Identifier: Apache-2.0
#include "cxx.hpp"

#include "cxx_items.hpp"
#include "enclosing.hpp"
#include "globals.hpp"

#include <clang/Basic/IdentifierTable.h>

#include <algorithm>
#include <map>
#include <set>

namespace weft_oss {

using namespace clang;

namespace {

std::string name_of(const Token &token) { return token.getIdentifierInfo()->getName().str(); }

/// Returns a name that no other pragma of the file uses.
std::string fresh(const char *what) {
  static unsigned number = 0;
  return std::string("weft_oss_") + what + "_" + std::to_string(number++);
}

/// Writes the code of one directive that creates a task.
class task_writer {
 public:
  task_writer(writer &out, const pragma &of, const tokens &text, const loop_nest *nest,
              const function_head *head = nullptr)
      : code(out), parsed(of), statement(nest ? nest->body : text), loops(nest), function(head) {}

  void run() {
    place = code.place();
    code << "{";
    if (loops)
      write_space();
    const bool chunked = loops && !iterates();
    if (chunked)
      write_chunks();
    write_list();
    write_reductions();
    choose_captures();
    write_stand_ins();
    write_spawn();
    code << (chunked ? "} }" : "}");
  }

  /// The name that the type of a parameter has in the function that spawns.
  static std::string type_of_parameter(std::size_t i) {
    return "weft_oss_parameter_" + std::to_string(i);
  }

 private:
  struct captured {
    std::string name;
    enum class as : std::uint8_t { reference, copy, by_type, own, reduced, parameter } how;
    SourceLocation where;
    std::string reduction; // the name of its item
    bool plain = false;
    bool elements = false; // the item is an element, or a part, of the variable
    std::string stand_in = {}; // what the task calls the variable itself
  };

  [[nodiscard]] bool iterates() const { return parsed.directive->id == directive_id::taskiter; }
  [[nodiscard]] bool shares() const {
    return parsed.directive->id == directive_id::task_for ||
           parsed.directive->id == directive_id::taskloop_for || is_one_task(parsed);
  }
  [[nodiscard]] bool is_loop_variable(std::string_view name) const {
    return loops && std::ranges::any_of(loops->heads,
                                        [&](const loop_head &h) { return word(h.name) == name; });
  }
  [[nodiscard]] bool waits_for_condition() const { return loops && loops->heads.empty(); }

  /// Writes an axis for each loop.
  void write_space() {
    for (const loop_head &h : loops->heads) {
      const std::string axis = fresh("axis"), index = fresh("index");
      code << "const auto " + axis + " = ::weft::oss::axis_of(";
      code.at(h.name.getLocation());
      if (h.type.empty())
        code << "::std::remove_cvref_t<decltype(" + name_of(h.name) + ")>(" << h.first << ")";
      else
        code << "[&] {" << h.type << " " + name_of(h.name) + " = " << h.first
             << "; return " + name_of(h.name) + "; }()";
      code << ", (" << h.limit << std::string("), ::weft::oss::relation::") + h.relation + ", ";
      code << (h.down ? "-(" : "(");
      if (h.step.empty())
        code << "1";
      else if (h.down)
        code << "::weft::oss::signed_step(" << h.step << ")";
      else
        code << h.step;
      code << "));";
      code.at(h.name.getLocation());
      code << "static_assert(!::std::is_same_v<decltype(" + axis +
                  "), const ::weft::oss::no_axis>, \"the variable of a loop of '#pragma oss', its "
                  "limit and its step must be integers\");";
      code.at(place);
      code << "using " + index + " [[maybe_unused]] = typename decltype(" + axis + ")::index;";
      m_axes.push_back(axis);
      m_indices.push_back(index);
    }
  }

  void write_chunks() {
    m_chunk = fresh("chunk");
    std::string all;
    for (const std::string &axis : m_axes)
      all += (all.empty() ? "" : ", ") + axis;
    code << "for (const auto " + m_chunk + " : ::weft::oss::" +
                (parsed.directive->id == directive_id::task_for || is_one_task(parsed)
                     ? "one_chunk("
                     : "chunks(") +
                "::weft::oss::space(" + all + ")";
    if (parsed.has(clause_id::grainsize)) {
      code << ", ";
      write_count(clause_id::grainsize);
    }
    code << ")) {";
  }

  /// Writes the number of iterations that a clause gives.
  void write_count(clause_id id) {
    const tokens &value = parsed.value(id);
    code.at(value[0].getLocation()) << "::weft::oss::iterations_of(" << value << ")";
    code.at(place);
  }

  /// The parameters of a lambda that evaluates items with the variables of the loops.
  [[nodiscard]] std::string variables() const {
    std::string text;
    for (std::size_t i = 0; i < m_indices.size(); ++i)
      text += (i ? ", [[maybe_unused]] " : "[[maybe_unused]] ") + m_indices[i] + " " +
              name_of(loops->heads[i].name);
    return text;
  }

  /// Writes an item, of a chunk where there are chunks.
  void write_one(const item &it) {
    if (m_chunk.empty())
      return write_item(code, it, iterates());
    code << "::weft::oss::over<" + order_of(code) + ">(" + m_chunk + ", [&](" + variables() +
                ") -> ::weft::oss::clause_of<" + order_of(code) + "> { return ";
    write_item(code, it);
    code << "; })";
  }

 public:
  /// Writes the loops that collect the items of multi-dependences.
  void write_list() {
    if (std::ranges::none_of(parsed.items, [](const item &it) { return !it.iterators.empty(); }))
      return;
    list = fresh("list");
    code << "::weft::oss::access_list<" + order_of(code) + "> " + list + ";";
    for (const item &it : parsed.items) {
      if (it.iterators.empty())
        continue;
      std::string into = list;
      if (!m_chunk.empty()) {
        into = fresh("items");
        code << "::weft::oss::each_over<" + order_of(code) + ">(" + m_chunk + ", " + list +
                    ", [&](auto &" + into + ", " + variables() + ") {";
      }
      write_iterators(code, it);
      code << into + ".add(";
      write_item(code, it, iterates());
      code << (m_chunk.empty() ? ");" : "); });");
    }
  }
  std::string list; // the name of the list, if there is one

 private:
  void write_reductions() {
    for (const item &it : parsed.items) {
      if (!is_reduction(it))
        continue;
      const std::string name = fresh("reduction");
      m_reductions.push_back({name, &it});
      const std::string mode = is_weak(it) && !iterates() ? "weak_reduction" : "reduction";
      const std::string found = "weft_oss_reduction_" + it.operation;
      // Children name the item, and by bytes there are no copies.
      const bool enters = !is_weak(it) && !iterates() && it.base && !orders_items_by_bytes(code);
      const bool in_chunk = !m_chunk.empty();
      const std::string found_item = in_chunk ? "weft_oss_found" : name;
      code.at(it.where);
      if (in_chunk)
        code << "const auto " + name + " = " + m_chunk + ".at_front([&](" + variables() + ") {";
      if (enters)
        check_pointers(code, it);
      if (enters && function && begins_with_elements(it))
        code << "static_assert(!::weft::oss::has_elements<decltype((" << *it.base
             << "))>, \"an item of a reduction of a task function must not be in a container: the function "
                "takes that itself; pass a pointer to the elements\");";
      code << "const auto " + found_item + " = ::weft::oss::reduce<::weft::access_mode::" + mode + ", " + order_of(code) + ">(";
      if (is_object(it)) {
        code << it.shape_free;
      } else {
        write_part(code, it);
      }
      code << ", [](auto *e) { if constexpr (requires { " + found +
                  "(e, ::weft::oss::known_operation{}); }) return ::weft::oss::picked<decltype(" +
                  found +
                  "(e, ::weft::oss::known_operation{}))>{}; else return "
                  "::weft::oss::picked<void>{}; })";
      if (enters) {
        code << ";";
        check_objects(code, it, found_item);
      }
      if (in_chunk)
        code << "; return weft_oss_found; })";
      if (is_weak(*m_reductions.back().second) || iterates()) // its children would name another copy
        code << "; " + name + ".must_be_itself()";
      code << "; static_assert(::weft::oss::is_reduction<decltype(" + name +
                  ")>, \"#pragma oss: reduction '" + it.spelled +
                  "' is not declared for the type of this item; write '#pragma oss declare "
                  "reduction(" +
                  it.spelled + " : type : combiner)'\"); const auto " + name + "_place = " + name;
      if (it.plain)
        code << ".variable(" << it.shape_free << ")";
      else
        code << ".place()";
      code << "; static_cast<void>(" + name + "_place);";
      code.at(place);
    }
  }

  void choose_captures() {
    std::set<std::string> used; // what the statement does not name it does not need
    const auto uses = [&](const tokens &all) {
      for (const Token &t : all)
        if (t.is(tok::identifier))
          used.insert(name_of(t));
    };
    uses(statement);
    if (loops)
      uses(loops->condition);
    uses(parsed.value(clause_id::onready));
    std::set<std::string> seen;
    const auto add = [&](const Token &token, captured::as how, const std::string &reduction = {},
                         bool plain = false, bool elements = false) {
      if (used.contains(name_of(token)) && !is_loop_variable(name_of(token)) &&
          seen.insert(name_of(token)).second)
        m_captures.push_back({name_of(token), how, token.getLocation(), reduction, plain, elements, {}});
    };
    // What is reduced first, then the clauses, then the rules for the variables of dependences.
    for (const auto &[name, it] : m_reductions)
      if (!is_weak(*it) && !iterates())
        add(*it->base, captured::as::reduced, name, it->plain,
            begins_with_elements(*it) && !orders_items_by_bytes(code));
    if (function)
      for (std::size_t i = 0; i < function->parameters.size(); ++i)
        if (const std::string &name = function->parameters[i].name; seen.insert(name).second)
          m_captures.push_back({name, captured::as::parameter, place, type_of_parameter(i), false, false, {}});
    for (const variable &v : parsed.variables)
      add(v.name, v.sharing == clause_id::shared     ? captured::as::reference
                  : v.sharing == clause_id::private_ ? captured::as::own
                                                     : captured::as::copy);
    // A plain item is shared, also where another item has the same variable as a base.
    for (const bool plain : {true, false})
      for (const item &it : parsed.items)
        if (it.base && it.plain == plain &&
            std::ranges::none_of(it.iterators, [&](const iterator &i) {
              return name_of(i.name) == name_of(*it.base);
            }))
          add(*it.base, plain ? captured::as::reference : captured::as::by_type);
    // Other variables of an item are copied, global ones, too. By default the lambda copies the local ones.
    const bool lists_all = parsed.by_default == defaults::shared || parsed.by_default == defaults::none;
    for (const item &it : parsed.items)
      for (const Token &name : names_beside_base(it)) {
        if (!used.contains(name_of(name)))
          continue;
        const meaning what = meaning_of(name);
        if (what == meaning::global || (lists_all && what == meaning::local))
          add(name, captured::as::copy);
      }
    if (code.defines("WEFT_OSS_GCC"))
      refuse_shared_outside(code, statement,
                            [&](const Token &name) { return seen.contains(name_of(name)); });
  }

  /// Writes a reference to each variable that the task may use itself. The task's variable of that name is initialized with it: if the variable
  /// is a global or static one, this is a constant, which the tasks inside do not capture. So they use the variable as well. Otherwise they copy.
  void write_stand_ins() {
    for (captured &c : m_captures)
      if (c.how == captured::as::reference || c.how == captured::as::by_type) {
        c.stand_in = fresh("itself");
        code.at(c.where) << "[[maybe_unused]] auto &" + c.stand_in + " = " + c.name + ";";
        code.at(place);
      }
  }

  /// Writes the captures, and collects what the lambda's body begins with.
  void write_captures() {
    const char *separator = "";
    if (parsed.by_default != defaults::none) {
      code << (parsed.by_default == defaults::shared ? "&" : "=");
      separator = ", ";
    }
    const auto next = [&] {
      code << separator;
      separator = ", ";
    };
    if (parsed.by_default == defaults::none && is_in_member_function(place)) {
      next();
      code << "this";
    }
    if (!m_chunk.empty() && !shares()) {
      next();
      code << m_chunk + " = " + m_chunk;
    }
    if (iterates() && !waits_for_condition()) {
      next();
      m_first = fresh("first");
      code << m_first + " = " + m_axes[0] + ".first";
    }
    for (const captured &c : m_captures) {
      if (c.how == captured::as::own) {
        next();
        const std::string holder = fresh("own");
        code << holder + " = ::weft::oss::own_variable<::weft::oss::own<decltype(" + c.name + ")>>()";
        m_locals += "[[maybe_unused]] auto &" + c.name + " = " + holder + ".get();";
        continue;
      }
      if (!c.stand_in.empty() && parsed.by_default != defaults::shared) {
        next();
        code << "&" + c.stand_in;
      }
      if (c.how == captured::as::reference) {
        m_locals += "[[maybe_unused]] auto &" + c.name + " = " + c.stand_in + ";";
        continue;
      }
      if (c.how == captured::as::reduced && c.plain) { // by default or by name
        if (parsed.by_default == defaults::none || parsed.by_default == defaults::shared) {
          next();
          code << c.reduction + "_place";
        }
        m_locals += "[[maybe_unused]] auto &" + c.name + " = " + c.reduction + "_place.get();";
        continue;
      }
      next();
      code.at(c.where); // an error about the variable belongs there
      const std::string holder = fresh("copy");
      const std::string how = c.how == captured::as::parameter ? "argument<" + c.reduction + ">("
                              : c.how == captured::as::copy    ? "copied("
                              : c.how == captured::as::by_type ? "copy_of_pointer("
                                                               : "copied_if_pointer(";
      code << holder + " = ::weft::oss::" + how + c.name + ")";
      if (c.how == captured::as::reduced) {
        // A copy, by the default or by name.
        if (parsed.by_default == defaults::none || parsed.by_default == defaults::shared)
          code << ", " + c.reduction + "_place";
        m_locals += "[[maybe_unused]] decltype(auto) " + c.name + " = " + c.reduction +
                    (c.elements ? "_place.of_elements(" : "_place.of(") + holder + "());";
      } else {
        m_locals += "[[maybe_unused]] auto &" + c.name + " = ";
        if (c.how == captured::as::by_type)
          m_locals += "!::weft::oss::refers_to_pointer<decltype(" + c.stand_in + ")> ? " + c.stand_in + " : ";
        m_locals += holder + "();";
      }
      code.at(place);
    }
  }

  /// Writes the loop over the iterations of a part.
  void write_loop(const std::string &part) {
    const loop_head &h = loops->heads[0];
    code << loops->heads.back().prefix;
    if (loops->heads.size() == 1 && h.step.empty()) {
      const std::string end = fresh("end");
      code << "for (" + m_indices[0] + " " + name_of(h.name) + " = " + part + ".first(), " + end +
                  " = " + part + ".limit(); " + name_of(h.name) + " != " + end + "; " +
                  (h.down ? "--" : "++") + name_of(h.name) + ")"
           << statement;
      return;
    }
    const std::string at = fresh("at");
    code << "for (auto " + at + " = " + part + ".begin(); " + at + ".is_there(); " + at +
                ".next()) {";
    for (std::size_t i = 0; i < loops->heads.size(); ++i)
      code << "[[maybe_unused]] " + m_indices[i] + " " + name_of(loops->heads[i].name) + " = " +
                  at + ".template get<" + std::to_string(i) + ">();";
    code << statement << "}";
  }

  /// Writes the lambda's parameters and body. One lambda has the task's variables, so its argument says
  /// what is asked of it: to run, to say whether a loop goes on, or that the task is ready.
  void write_body() {
    const bool ready = parsed.has(clause_id::onready);
    const std::string phase = fresh("phase");
    if (shares())
      code << "](const ::std::remove_const_t<decltype(" + m_chunk + ")> *" + phase + ") mutable {" +
                  m_locals;
    else if (iterates())
      code << "]([[maybe_unused]] ::weft::oss::phase " + phase + ") mutable -> bool {" + m_locals;
    else if (ready)
      code << "](::weft::oss::phase " + phase + ") mutable {" + m_locals;
    else
      code << "]() mutable {" + m_locals;
    if (ready) {
      code << "if (" + (shares() ? "!" + phase : phase + " == ::weft::oss::phase::ready") +
                  ") { static_cast<void>("
           << parsed.value(clause_id::onready)
           << (iterates() ? "); return true; }" : "); return; }");
    }
    if (iterates()) {
      if (waits_for_condition())
        code << "if (" + phase + " == ::weft::oss::phase::ask) return static_cast<bool>("
             << loops->condition << ");";
      else
        code << "[[maybe_unused]] " + m_indices[0] + " " + name_of(loops->heads[0].name) + " = " +
                    m_first + ";";
      code << "do {" << statement << "} while (false); return true;";
    } else if (loops) {
      write_loop(shares() ? "(*" + phase + ")" : m_chunk);
    } else {
      code << statement;
    }
    code << "}";
  }

  void write_spawn() {
    if (iterates()) {
      code << "::weft::oss::spawn_taskiter(::weft::oss::iterations{";
      code << (waits_for_condition() ? ".asks = true}" : ".count = " + m_axes[0] + ".count}");
      const auto with = [&](clause_id id, const char *call) {
        if (parsed.has(id)) {
          code << call;
          write_count(id);
          code << ")";
        }
      };
      with(clause_id::unroll, ".unrolled(");
      with(clause_id::update, ".updated(");
      if (parsed.has(clause_id::if_))
        code << ".with_if(::weft::oss::truth(" << parsed.value(clause_id::if_) << "))";
      if (parsed.has(clause_id::final))
        code << ".with_final(::weft::oss::truth(" << parsed.value(clause_id::final) << "))";
      code << ", [";
    } else {
      if (function) // the lambda moves the parameters
        write_clauses();
      code << (is_one_task(parsed)              ? "::weft::oss::spawn_taskloop(" + m_chunk + ", ["
               : shares()                       ? "::weft::oss::spawn_shared(" + m_chunk + ", ["
               : parsed.has(clause_id::onready) ? "::weft::oss::spawn_with_onready(["
                                                : "::weft::oss::spawn([");
    }
    write_captures();
    write_body();
    if (!function)
      write_clauses();
    if (!m_clauses.empty())
      code << m_clauses;
    for (const auto &[name, it] : m_reductions)
      code << ", " + name + ".clause()";
    if (!list.empty())
      code << ", " + list + ".clause()";
    if (parsed.has(clause_id::wait))
      code << ", ::weft::wait";
    if (parsed.has(clause_id::onready) && (shares() || iterates()))
      code << ", ::weft::oss::asks_when_ready{}";
    code << ");";
  }

  /// Writes the items and options behind the lambda; those of a task function as variables, which m_clauses names.
  void write_clauses() {
    const auto begin = [&] {
      if (!function) {
        code << ", ";
        return;
      }
      const std::string name = fresh("clause");
      m_clauses += ", " + name;
      code << "const auto " + name + " = ";
    };
    const auto end = [&] {
      if (function)
        code << ";";
    };
    for (const item &it : parsed.items)
      if (it.iterators.empty() && !is_reduction(it)) {
        begin();
        write_one(it);
        end();
      }
    const auto option = [&](clause_id id, const char *call, const char *behind) {
      if (!parsed.has(id))
        return;
      begin();
      code << call << parsed.value(id) << behind;
      end();
    };
    if (!iterates()) {
      option(clause_id::if_, "::weft::if_(::weft::oss::truth(", "))");
      option(clause_id::final, "::weft::final(::weft::oss::truth(", "))");
    }
    if (shares() && parsed.has(clause_id::chunksize)) {
      code << ", ::weft::oss::chunk_size(";
      write_count(clause_id::chunksize);
      code << ")";
    }
    option(clause_id::priority, "::weft::priority(static_cast<int>(", "))");
    option(clause_id::cost, "::weft::cost(static_cast<::std::uint64_t>(", "))");
    option(clause_id::label, "::weft::label(", ")");
  }

  writer &code;
  const pragma &parsed;
  const tokens &statement;
  const loop_nest *loops;
  const function_head *function;
  SourceLocation place;
  std::vector<std::string> m_axes, m_indices;
  std::string m_chunk, m_first;
  std::vector<std::pair<std::string, const item *>> m_reductions;
  std::vector<captured> m_captures;
  std::string m_locals, m_clauses;
};

void write_call(writer &code, const pragma &parsed, const char *call) {
  if (parsed.items.empty()) {
    code << call << "();";
    return;
  }
  const tokens nothing;
  task_writer lists(code, parsed, nothing, nullptr);
  if (std::ranges::all_of(parsed.items, [](const item &it) { return it.iterators.empty(); })) {
    code << call << "(";
    const char *before = "";
    for (const item &it : parsed.items) {
      code << before;
      write_item(code, it);
      before = ", ";
    }
    code << ");";
    return;
  }
  code << "{";
  lists.write_list();
  const std::string &list = lists.list;
  for (const item &it : parsed.items) {
    if (!it.iterators.empty())
      continue;
    code << list + ".add(";
    write_item(code, it);
    code << ");";
  }
  code << call << "(" + list + ".all()); }";
}

void write_comparison(writer &code, const atomic_statement &found, const std::string &order) {
  using enum atomic_statement::value;
  // NULL has no type that templates could know as that of a pointer.
  const auto value = [&](const tokens &all) {
    if (all.size() == 1 && all[0].is(tok::kw___null))
      code.at(all[0].getLocation()) << "nullptr";
    else
      code << all;
  };
  const SourceLocation place = code.place();
  const std::string all = fresh("compared");
  code << "{ [[maybe_unused]] const auto " + all + " = ::weft::oss::atomic_compare<" + order + ">("
       << found.object << ", ";
  value(found.operand);
  code.at(place) << ", [](const auto &x, const auto &e) { return " +
                        (found.operand_first ? "e " + found.sign + " x" : "x " + found.sign + " e") +
                        "; }";
  if (!found.changed.empty()) {
    code << ", ";
    value(found.changed);
  }
  code.at(place) << ");";
  if (!found.answer.empty())
    code << found.answer << " = " + all + ".changed;";
  if (!found.captured.empty())
    code << (found.kept == unchanged ? "if (!" + all + ".changed) " : "") << found.captured
         << " = " + all + (found.kept == now ? ".after;" : ".before;");
  code << "}";
}

void write_atomic(writer &code, const pragma &parsed, const atomic_statement &found) {
  using enum atomic_statement::form;
  const std::string order = parsed.has(clause_id::seq_cst)   ? "::weft::oss::k_seq_cst"
                            : parsed.has(clause_id::acq_rel) ? "::weft::oss::k_acq_rel"
                            : parsed.has(clause_id::acquire) ? "::weft::oss::k_acquire"
                            : parsed.has(clause_id::release) ? "::weft::oss::k_release"
                                                             : "::weft::oss::k_relaxed";
  if (found.what == read) {
    code << found.captured << " = ::weft::oss::atomic_read<" + order + ">(" << found.object << ");";
    return;
  }
  if (found.what == write) {
    code << "::weft::oss::atomic_write<" + order + ">(" << found.object << ", " << found.operand
         << ");";
    return;
  }
  if (found.what == compare)
    return write_comparison(code, found, order);
  if (found.captured.empty())
    code << "static_cast<void>(";
  else
    code << found.captured << " = (";
  const bool known = found.sign.size() == 1 && !found.operand_first;
  code << std::string("::weft::oss::atomic_") +
              (found.kept == atomic_statement::value::old ? "fetch<" : "update<") +
              order + ", '" + (known ? found.sign : std::string(1, ' ')) + "'>("
       << found.object << ", ";
  if (found.operand.empty())
    code << "1";
  else
    code << found.operand;
  code << ", [](const auto &x, const auto &e) { ";
  if (found.sign.empty())
    code << "static_cast<void>(x); return e; }));";
  else if (found.operand_first)
    code << "return e " + found.sign + " x; }));";
  else
    code << "return x " + found.sign + " e; }));";
}

/// Writes the class by which a `declare reduction` is found, and the function that names it: a function
/// may be declared wherever the pragma may be, and by its parameter it belongs to a type.
void write_declaration(writer &code, const pragma &parsed) {
  const declaration &d = parsed.declared;
  for (const tokens &type : d.types) {
    // Two files that declare the same reduction have the same class.
    std::string name = "weft_oss_operation_" + d.name;
    for (const Token &t : type) {
      name += '_';
      for (const char c : code.spelled(t))
        name += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                    ? std::string(1, c)
                    : std::to_string(static_cast<int>(c));
    }
    code << "struct " + name + " { using weft_oss_type = " << type
         << "; static void weft_oss_combine([[maybe_unused]] weft_oss_type &omp_out, "
            "[[maybe_unused]] weft_oss_type &omp_in) {"
         << d.combiner
         << ";} static void weft_oss_fill(void *weft_oss_at, [[maybe_unused]] weft_oss_type "
            "&omp_orig) {";
    if (d.start.empty())
      code << "weft_oss_type omp_priv{};";
    else if (d.start[0].is(tok::identifier) && name_of(d.start[0]) == "omp_priv")
      code << "weft_oss_type " << d.start << ";";
    else
      code << "weft_oss_type omp_priv{};" << d.start << ";";
    code
        << "::new (weft_oss_at) weft_oss_type(static_cast<weft_oss_type &&>(omp_priv)); } }; [[maybe_unused]] " +
               name + " weft_oss_reduction_" + d.name + "("
        << type << " *, ::weft::oss::known_operation);";
  }
}

} // namespace

void write_function(writer &code, const pragma &parsed, const function_head &head,
                    const tokens &declaration) {
  static std::map<std::string, unsigned>
      seen; // a later declaration is preferred over an earlier one
  const std::string name = name_of(head.name);
  const unsigned times = ++seen[name];
  // The function itself; a definition behind it may call it as a task.
  const bool defines_later = !head.in_class && !head.body.empty();
  if (defines_later)
    code << slice(declaration, 0, declaration.size() - head.body.size()) << ";";
  else
    code << declaration;

  const auto list = [&](bool with_defaults) {
    const char *separator = "";
    for (const parameter &p : head.parameters) {
      code << separator << p.declared;
      if (with_defaults)
        code << p.by_default;
      separator = ", ";
    }
    return separator;
  };
  if (head.c_linkage)
    code << "extern \"C++\" {";
  code << head.templates << "[[maybe_unused]] ";
  for (unsigned i = 0; i < times; ++i)
    code << "__attribute__((enable_if(true, \"\")))";
  code << (head.is_static ? " static" : " inline") << " void " + name + "(";
  code << list(true) << "[[maybe_unused]] ::weft::oss::call<" + order_of(code) + "> = {})"
       << head.qualifiers << head.constraint << "{";
  writer body = code.another();
  body << "(";
  const bool member = head.in_class && !head.is_static;
  std::string arguments;
  for (const std::string &argument : head.template_arguments)
    arguments += (arguments.empty() ? "<" : ", ") + argument;
  arguments += arguments.empty() ? "" : ">";
  if (member)
    code << "using weft_oss_self = ::std::remove_cv_t<::std::remove_reference_t<decltype(*this)>>;";
  std::swap(code.out, body.out);
  code << (member ? "this->*static_cast<void (weft_oss_self::*)(" : "static_cast<void (*)(");
  list(false);
  code << ")" << head.qualifiers
       << (member ? ">(&weft_oss_self::" + std::string(arguments.empty() ? "" : "template ")
                  : std::string(">(")) +
              name + arguments + "))(";
  for (std::size_t i = 0; i < head.parameters.size(); ++i)
    code << (i ? ", " : "") + std::string("::weft::oss::pass<") +
                task_writer::type_of_parameter(i) + ">(" + head.parameters[i].name + ")";
  code << ");";
  std::swap(code.out, body.out);
  for (std::size_t i = 0; i < head.parameters.size(); ++i)
    code << "using " + task_writer::type_of_parameter(i) + " = decltype(" +
                head.parameters[i].name + ");";
  const SourceLocation place = code.place();
  for (const item &it : parsed.items)
    for (std::size_t i = 0; it.base && i < head.parameters.size(); ++i)
      if (head.parameters[i].name == name_of(*it.base)) {
        code.at(it.where);
        code << "static_assert(::weft::oss::is_data_of_caller<" +
                    task_writer::type_of_parameter(i) + (it.plain ? ", true" : ", false") +
                    ">, \"an item of a task function must be what a pointer or a reference among "
                    "its parameters refers to, and '" +
                    name_of(*it.base) + "' is a copy\");";
        code.at(place);
      }
  task_writer(code, parsed, body.out, nullptr, &head).run();
  code << (head.c_linkage ? "} }" : "}");
  if (defines_later)
    code << head.before_body << head.body;
}

void write_cxx(writer &code, const pragma &parsed, const tokens &statement, const loop_nest *loops,
               const atomic_statement *atomic) {
  switch (parsed.directive->id) {
  case directive_id::task:
  case directive_id::taskloop:
  case directive_id::task_for:
  case directive_id::taskloop_for:
  case directive_id::taskiter:
    return task_writer(code, parsed, statement, loops).run();
  case directive_id::taskwait:
    return write_call(code, parsed, "::weft::taskwait");
  case directive_id::release:
    return write_call(code, parsed, "::weft::release");
  case directive_id::taskyield:
    code << "::weft::taskyield();";
    return;
  case directive_id::critical:
    code << "{ const ::weft::oss::critical_section " + fresh("section") + "{\"" + parsed.name +
                "\"};"
         << statement << "}";
    return;
  case directive_id::atomic:
    return write_atomic(code, parsed, *atomic);
  case directive_id::declare_reduction:
    return write_declaration(code, parsed);
  case directive_id::assertion:
    return;
  case directive_id::lint:
  case directive_id::target:
  case directive_id::other:
    code << statement;
    return;
  }
}

} // namespace weft_oss
