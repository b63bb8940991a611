// SPDX-License-Identifier: Apache-2.0
#include "c.hpp"
#include "cxx_items.hpp"
#include "globals.hpp"

#include <clang/Basic/IdentifierTable.h>

#include <algorithm>
#include <initializer_list>
#include <set>
#include <utility>

namespace weft_oss {

using namespace clang;

namespace {

std::map<unsigned, sharing_rules> g_rules;
std::map<unsigned, std::string> g_functions;
std::map<unsigned, declared_reduction> g_reductions;

std::string c_name(const Token &token) { return token.getIdentifierInfo()->getName().str(); }

/// Returns enum weft_access_mode of a clause; a strong one also for a weak clause where `strong` says so.
std::string c_mode(const item &it, bool strong) {
  static constexpr clause_id k_modes[] = {clause_id::in,
                                          clause_id::out,
                                          clause_id::inout,
                                          clause_id::weakin,
                                          clause_id::weakout,
                                          clause_id::weakinout,
                                          clause_id::concurrent,
                                          clause_id::commutative,
                                          clause_id::weakconcurrent,
                                          clause_id::weakcommutative};
  if (is_reduction(it)) // by bytes the tasks run one after the other
    return "2";
  const std::string_view name = row(it.mode).name;
  const clause_id mode =
      strong && name.starts_with("weak") ? find_clause(name.substr(4))->id : it.mode;
  return std::to_string(std::ranges::find(k_modes, mode) - std::begin(k_modes));
}

bool has_iterators(const pragma &parsed) {
  return std::ranges::any_of(parsed.items, [](const item &it) { return !it.iterators.empty(); });
}

class c_writer {
 public:
  c_writer(writer &out, const pragma &of, const loop_nest *nest = nullptr)
      : code(out), parsed(of), loops(nest), place(out.place()),
        number(std::to_string(next_number())), bytes(orders_items_by_bytes(out)) {}

  /// Writes a task whose statement `body` is; `parameters` are those of a task function.
  void task(const tokens &body, const std::vector<std::string> &parameters = {}) {
    code << "{";
    if (iterates())
      write_iterations();
    else if (loops)
      write_chunks();
    options();
    write_reductions();
    write_list();
    copies_of_globals(body, parameters);
    rules(parameters);
    const bool asks = parsed.has(clause_id::onready);
    // By bytes a reduction is an inout, of which the loop does not know that it needs copies: one worker gets all iterations.
    const bool alone = bytes && std::ranges::any_of(m_reduced, [](const item *it) {
                         return it->mode == clause_id::reduction;
                       });
    if (shares() && alone)
      code << "(void)weft_oss_size_" + number + ";";
    if (asks && !shares() && !iterates())
      code << "int weft_oss_asks_" + number + " = 1;";
    // The pass writes the body and its bytes; until then these are the number of the pragma.
    const std::string task_of = "(&weft_oss_task_" + number + ", 0, " + number + ", 0, ";
    code << "weft_prepared weft_oss_task_" + number + "; void *const weft_oss_variables_" + number +
                " = weft_oss_prepare" +
                (shares() ? "_loop" + task_of + "0, &" + chunk() + ", " +
                                (alone ? chunk() + ".count" : "weft_oss_size_" + number) + ", "
                 : iterates() ? "_taskiter" + task_of + "&" + rounds() + ", "
                              : task_of) +
                (bytes ? "0" : count()) + ", " +
                "&weft_oss_options_" + number + (asks ? ", 1);" : ", 0);") +
                " char *weft_oss_free_" + number + " = weft_oss_behind(weft_oss_variables_" +
                number + ", 0); (void)weft_oss_free_" + number + ";";
    for (std::size_t i = 0; copies() && i < m_reduced.size(); ++i) {
      const std::string place_of = "weft_oss_place_" + number + "_" + std::to_string(i);
      code << "weft_oss_bytes " + place_of + " = 0;" + moves() + "[" + std::to_string(i) +
                  "].place = " + place_of + ";";
    }
    if (shares())
      code << chunk() + ".behind = (unsigned long long)(weft_oss_free_" + number +
                  " - (char *)weft_oss_variables_" + number + ");";
    if (shares() && asks) // the variables that the workers copy theirs from have no chunk
      code << chunk() + ".count = 0;";
    Token captured;
    captured.startToken();
    captured.setKind(tok::annot_pragma_captured);
    captured.setLocation(place);
    captured.setAnnotationEndLoc(place);
    captured.setAnnotationValue(nullptr);
    code << captured;
    code << "{";
    // The first variable that is captured: what the task is asked is written there.
    if (shares() || iterates())
      code << "(void)&" + (shares() ? chunk() : rounds()) + ";";
    const std::string asked = "weft_oss_asks_" + number;
    if (asks)
      code << "if (" +
                  (shares()     ? "!" + chunk() + ".count) {"
                   : iterates() ? rounds() + ".phase == weft_oss_ready) {"
                                : asked + ") {" + asked + " = 0;") +
                  "(void)("
           << parsed.value(clause_id::onready) << "); } else";
    if (iterates() && loops->heads.empty()) {
      code << "if (" + rounds() + ".phase == weft_oss_ask) { " + rounds() + ".goes_on = ("
           << loops->condition;
      code.at(loops->condition[0].getLocation()) << ") ? 1 : 0; } else";
      code.at(place);
    }
    code << "{";
    if (asks && !shares() && !iterates()) // the task of a taskiter is ready again in the next round
      code << asked + " = 1;";
    write_body(body);
    code << "} }";
    code << std::string(bytes ? "weft_oss_submit_regions" : "weft_oss_submit") +
                "(&weft_oss_task_" + number + ", " + list() + ", " + count() + ");";
    end_list();
    for (unsigned i = 0; i < m_open; ++i)
      code << "}";
    code << (has_chunks() ? "} }" : "}");
  }

  /// Writes a call that gets the items.
  void call(const char *plain, const char *of_list, const char *of_regions) {
    if (parsed.items.empty()) {
      code << std::string(plain) + "();";
      return;
    }
    code << "{";
    write_list();
    code << std::string(bytes ? of_regions : of_list) + "(" + list() + ", " + count() + ");";
    end_list();
    code << "}";
  }

 private:
  /// Returns whether the options of the task are the same whenever it is created.
  [[nodiscard]] bool has_constant_options() const {
    for (const clause_id id : {clause_id::if_, clause_id::final, clause_id::priority,
                               clause_id::cost, clause_id::label, clause_id::onready})
      if (parsed.has(id))
        return false;
    return true;
  }
  [[nodiscard]] bool shares() const {
    return parsed.directive->id == directive_id::task_for ||
           parsed.directive->id == directive_id::taskloop_for || is_one_task(parsed);
  }
  [[nodiscard]] bool iterates() const { return parsed.directive->id == directive_id::taskiter; }
  [[nodiscard]] bool has_chunks() const { return loops && !iterates(); }
  [[nodiscard]] std::string chunk() const { return "weft_oss_chunk_" + number; }
  [[nodiscard]] std::string rounds() const { return "weft_oss_rounds_" + number; }
  [[nodiscard]] std::string axes() const { return "weft_oss_axes_" + number; }
  [[nodiscard]] std::string depth() const { return std::to_string(loops->heads.size()); }
  [[nodiscard]] std::string type_of(std::size_t loop) const {
    return "weft_oss_index_" + number + "_" + std::to_string(loop);
  }
  /// Returns the bits of a number, and whether it has a sign: macros are not expanded here.
  static std::string bits_of(const std::string &name) {
    return "(unsigned long long)" + name + ", (__typeof__(" + name + "))-1 < (__typeof__(" + name +
           "))1";
  }

  /// Writes a value of the user's as a variable.
  void write_value(const std::string &name, const tokens &value) {
    code.at(value[0].getLocation());
    code << "const __typeof__((" << value << ") + 0) " + name + " = (" << value << ");";
    code.at(place);
  }
  static std::string is_integer(const std::string &name) {
    return "__builtin_classify_type(" + name + " + 0) == 1 && sizeof(" + name + ") <= 8";
  }

  /// Writes the axes of the loops.
  void write_axes() {
    std::string all;
    for (std::size_t i = 0; i < loops->heads.size(); ++i) {
      const loop_head &h = loops->heads[i];
      const std::string id = number + "_" + std::to_string(i), first = "weft_oss_first_" + id,
                        limit = "weft_oss_limit_" + id, step = "weft_oss_by_" + id;
      code.at(h.name.getLocation());
      // Without qualifiers, as each value is.
      code << "typedef __attribute__((unused)) __typeof__((";
      if (h.type.empty())
        code << "__typeof__(" + c_name(h.name) + ")";
      else if (h.type.size() == 1 && h.type[0].isOneOf(tok::kw_auto, tok::kw___auto_type))
        code << "__typeof__(" << h.first << ")";
      else
        code << h.type;
      code << ")0) " + type_of(i) + "; const " + type_of(i) + " " + first + " = " << h.first << ";";
      write_value(limit, h.limit);
      if (h.step.empty())
        code << "const int " + step + " = 1;";
      else
        write_value(step, h.step);
      code.at(h.name.getLocation());
      code << "weft_oss_loop_counts(" + is_integer(first) + " && " + is_integer(limit) + " && " +
                  is_integer(step) + ");";
      code.at(place);
      all += (i ? ", " : "") + ("weft_oss_axis_of(" + bits_of(first) + ", " + bits_of(limit)) +
             ", weft_oss_" + h.relation + ", " + bits_of(step) + (h.down ? ", 1)" : ", 0)");
    }
    code << "weft_oss_axis " + axes() + "[] = {" + all + "};";
  }
  /// Writes how often the tasks of an iteration run.
  void write_iterations() {
    if (!loops->heads.empty())
      write_axes();
    const std::string unroll = "weft_oss_unroll_" + number, update = "weft_oss_update_" + number;
    write_count(clause_id::unroll, unroll);
    write_count(clause_id::update, update);
    code << "weft_oss_iterations " + rounds() + " = weft_oss_iterations_of(" +
                (loops->heads.empty() ? "1, 0" : "0, " + axes() + "[0].count") + ", " +
                (parsed.has(clause_id::unroll) ? unroll : "1") + ", " +
                (parsed.has(clause_id::update) ? update : "0") + ");";
  }
  /// Writes the axes of the loops and the beginning of the loop over their chunks.
  void write_chunks() {
    write_axes();
    write_count(clause_id::grainsize, "weft_oss_grain_" + number);
    write_count(clause_id::chunksize, "weft_oss_size_" + number);
    const std::string cut = "weft_oss_cut_" + number, k = "weft_oss_k_" + number;
    code << "const weft_oss_cut " + cut + " = " +
                (parsed.directive->id == directive_id::task_for || is_one_task(parsed)
                     ? "weft_oss_cut_never("
                 : parsed.has(clause_id::grainsize) ? "weft_oss_cut_by("
                                                    : "weft_oss_cut_default(") +
                "weft_oss_size(" + axes() + ", " + depth() + ")" +
                (parsed.has(clause_id::grainsize) ? ", weft_oss_grain_" + number + ");" : ");");
    code << "for (unsigned long long " + k + " = 0; " + k + " < " + cut + ".chunks; ++" + k +
                ") { weft_oss_chunk " + chunk() + " = weft_oss_chunk_of(&" + cut + ", " + k + ");";
  }
  /// Writes the number of iterations that a clause gives; without it 0.
  void write_count(clause_id id, const std::string &name) {
    if (!parsed.has(id)) {
      if (id == clause_id::chunksize && shares())
        code << "const unsigned long long " + name + " = 0;";
      return;
    }
    const std::string clause(row(id).name), given = name + "_given";
    write_value(given, parsed.value(id));
    code.at(parsed.value(id)[0].getLocation());
    code << "weft_oss_clause_counts(" + is_integer(given) + ");";
    code.at(place);
    code << "const unsigned long long " + name + " = weft_oss_positive(" + bits_of(given) +
                ", \"the " + clause + " of a '" +
                "#pragma oss " +
                (id == clause_id::grainsize   ? "taskloop"
                 : id == clause_id::chunksize ? "task for"
                                              : "taskiter") +
                "' is not positive\");";
  }

  /// Declares the variables of the loops at a corner of the chunk.
  void variables_at(const char *corner) {
    for (std::size_t i = 0; i < loops->heads.size(); ++i)
      code << "__attribute__((unused)) " + type_of(i) + " " + c_name(loops->heads[i].name) +
                  " = (" + type_of(i) + ")weft_oss_at(" + axes() + ", " + depth() + ", &" +
                  chunk() + ", " + std::to_string(i) + ", weft_oss_" + corner + ");";
  }

  /// Writes the statement, or the loop over the iterations of a chunk.
  void write_body(const tokens &body) {
    if (copies())
      code << "weft_oss_enter_copies(" + moves() + ", " + std::to_string(m_reduced.size()) + ");";
    if (!loops) {
      code << body;
      return;
    }
    if (iterates()) { // `continue` may end the body, which is no loop any more
      if (!loops->heads.empty())
        code << "__attribute__((unused)) " + type_of(0) + " " + c_name(loops->heads[0].name) +
                    " = (" + type_of(0) + ")" + axes() + "[0].first;";
      code << "do {" << body << "} while (0);";
      return;
    }
    const loop_head &h = loops->heads[0];
    const std::string at = "weft_oss_at_" + number, end = "weft_oss_end_" + number;
    code << loops->heads.back().prefix;
    if (loops->heads.size() == 1 && h.step.empty()) {
      const auto value = [&](const std::string &position) {
        return "(" + type_of(0) + ")weft_oss_value(" + axes() + ", " + position + ")";
      };
      code << "for (" + type_of(0) + " " + c_name(h.name) + " = " + value(chunk() + ".first") +
                  ", " + end + " = " + value(chunk() + ".first + " + chunk() + ".count") + "; " +
                  c_name(h.name) + " != " + end + "; " + (h.down ? "--" : "++") + c_name(h.name) +
                  ") {"
           << body << "}";
      return;
    }
    code << "for (weft_oss_place " + at + " = weft_oss_place_of(" + axes() + ", " + depth() +
                ", &" + chunk() + "); " + at + ".left; weft_oss_step(&" + at + ", " + axes() +
                ", " + depth() + ")) {";
    for (std::size_t i = 0; i < loops->heads.size(); ++i)
      code << "__attribute__((unused)) " + type_of(i) + " " + c_name(loops->heads[i].name) +
                  " = (" + type_of(i) + ")weft_oss_value(&" + axes() + "[" + std::to_string(i) +
                  "], " + at + ".at[" + std::to_string(i) + "]);";
    code << body << "}";
  }

  [[nodiscard]] std::string moves() const { return "weft_oss_moves_" + number; }
  [[nodiscard]] std::string reductions() const { return "weft_oss_reductions_" + number; }
  /// Returns whether the task has copies of items. The tasks of a taskiter have them, not the whole.
  [[nodiscard]] bool copies() const { return !bytes && !m_reduced.empty() && !iterates(); }

  /// Writes what the items of reductions are. The consumer knows their types.
  void write_reductions() {
    for (const item &it : parsed.items)
      if (is_reduction(it))
        m_reduced.push_back(&it);
    if (m_reduced.empty())
      return;
    const std::string size = "[" + std::to_string(m_reduced.size()) + "]";
    code << "weft_reduction " + reductions() + size + "; weft_oss_move " + moves() + size + ";";
    for (std::size_t i = 0; i < m_reduced.size(); ++i) {
      const item &it = *m_reduced[i];
      const std::string index = std::to_string(i), at = "[" + index + "]";
      code << "{";
      if (has_chunks())
        variables_at("front");
      code.at(it.where);
      code << "weft_oss_reduce(&" + reductions() + at + ", &" + moves() + at + ", &(";
      first_element(it);
      code << "), ";
      const std::size_t n = dimensions(it);
      if (n > 0) {
        code << "weft_oss_elements(" + std::to_string(n);
        for (std::size_t k = 0; k < 3; ++k) {
          code << ", ";
          if (k < n)
            part(it, k);
          else
            code << "weft_oss_part(1, 0, 1)";
        }
        code << ") * ";
      }
      code << "sizeof(";
      first_element(it);
      code << "), " + number + ", " + index + ", 1, 0, 0); }";
      code.at(place);
    }
    code << "{"; // the consumer meets the task behind the calls
    ++m_open;
  }

  void value(clause_id id, const char *before, const char *behind, const char *otherwise) {
    if (parsed.has(id))
      code << before << parsed.value(id) << behind;
    else
      code << otherwise;
  }

  void options() {
    // Without a label the place of the pragma is the name.
    std::string place_of;
    for (const char c : code.file_and_line())
      place_of += c == '\\' || c == '"' ? std::string("\\") + c : std::string(1, c);
    code << std::string(has_constant_options() ? "static " : "") +
                "weft_spawn_options weft_oss_options_" + number + " = {sizeof(weft_spawn_options), ";
    value(clause_id::label, "(", "), ", ("\"" + place_of + "\", ").c_str());
    value(clause_id::priority, "(int)(", "), ", "0, ");
    value(clause_id::final, "((", ") ? 1u : 0u) ", "0u ");
    value(clause_id::if_, "| ((", ") ? 0u : 2u) ", "");
    code << (parsed.has(clause_id::wait) ? "| 4u"
             : is_one_task(parsed)       ? "| 32u" // WEFT_TASK_BLOCKS_WAIT
                                         : "");
    code << ", 0, 0, 0, 0, ";
    value(clause_id::cost, "(unsigned long)(", ")};", "0};");
  }

  /// Writes an array, of which sections are parts: with a shape, what the pointer points to.
  void array(const item &it) {
    if (it.shape.empty()) {
      code << "(" << it.shape_free << ")";
      return;
    }
    code << "(*(__typeof__(*(" << it.shape_free << ")) (*)";
    for (const tokens &extent : it.shape)
      code << "[" << extent << "]";
    code << ")(" << it.shape_free << "))";
  }
  [[nodiscard]] static std::size_t dimensions(const item &it) {
    return std::max(it.shape.size(), it.sections.size());
  }
  void first_element(const item &it) {
    array(it);
    for (std::size_t i = 0; i < dimensions(it); ++i) {
      if (i >= it.sections.size() || it.sections[i].first.empty())
        code << "[0]";
      else
        code << "[" << it.sections[i].first << "]";
    }
  }
  /// Writes the elements that dimension `i` has.
  void extent(const item &it, std::size_t i) {
    const auto row = [&](std::size_t depth) {
      array(it);
      for (std::size_t k = 0; k < depth; ++k)
        code << "[0]";
    };
    if (i < it.shape.size()) {
      code << "(" << it.shape[i] << ")";
      return;
    }
    if (i == 0) { // of a pointer without a shape it is unknown
      code << "(__builtin_types_compatible_p(__typeof__(";
      row(0);
      code << "), __typeof__(&";
      row(1);
      code << ")) ? 0x7fffffffffffffffL : ";
    }
    code << "(long)(sizeof(";
    row(i);
    code << ") / sizeof(";
    row(i + 1);
    code << (i == 0 ? ")))" : "))");
  }

  void part(const item &it, std::size_t i) {
    code << "weft_oss_part(";
    extent(it, i);
    code << ", ";
    if (i >= it.sections.size()) { // the rest of a shape
      code << "0, ";
      extent(it, i);
      code << ")";
      return;
    }
    const dimension &d = it.sections[i];
    const auto begin = [&] {
      if (d.first.empty())
        code << "0";
      else
        code << "(" << d.first << ")";
    };
    begin();
    code << ", ";
    switch (d.how) {
    case dimension::form::index:
      code << "1)";
      break;
    case dimension::form::span:
      code << d.second << ")";
      break;
    case dimension::form::range:
      if (d.second.empty())
        extent(it, i);
      else
        code << "(" << d.second << ") + 1";
      code << " - ";
      begin();
      code << ")";
      break;
    }
  }

  /// Writes how many elements of dimension `i` are named.
  void count_of(const item &it, std::size_t i) {
    if (i >= it.sections.size())
      return extent(it, i);
    const dimension &d = it.sections[i];
    code << "(long)(";
    if (d.how == dimension::form::index) {
      code << "1";
    } else if (d.how == dimension::form::span) {
      code << d.second;
    } else {
      if (d.second.empty())
        extent(it, i);
      else
        code << "(" << d.second << ") + 1";
      if (!d.first.empty())
        code << " - (" << d.first << ")";
    }
    code << ")";
  }
  void length(const item &it, std::size_t n) {
    code << "weft_oss_part_bytes(sizeof(";
    array(it);
    for (std::size_t i = 0; i < n; ++i)
      code << "[0]";
    code << ")";
    for (std::size_t i = 0; i < 3; ++i) {
      code << ", ";
      if (i < n)
        count_of(it, i);
      else
        code << "1";
      if (i == 0)
        continue;
      code << ", ";
      if (i < n)
        extent(it, i);
      else
        code << "1";
    }
    code << "))";
  }

  void one(const item &it) {
    code.at(it.where);
    const std::size_t n = dimensions(it);
    if (!bytes && is_reduction(it)) {
      const std::string at =
          "[" + std::to_string(std::ranges::find(m_reduced, &it) - m_reduced.begin()) + "]";
      const bool weak = it.mode != clause_id::reduction;
      code << "weft_oss_access(" +
                  (weak || iterates()
                       ? "weft_oss_itself(&" + reductions() + at + ", &" + moves() + at + ")"
                       : "&" + reductions() + at) +
                  (weak && !iterates() ? ", 11)" : ", 10)");
    } else if (!bytes) {
      code << "weft_oss_item(&(";
      first_element(it);
      code << "), " + c_mode(it, iterates()) + ", ";
      if (n == 0)
        code << "0)"; // its size follows: only then it is known whether the type has one
      else
        length(it, n);
    } else if (n == 0) {
      code << "weft_oss_object(&(" << it.shape_free << "), sizeof(" << it.shape_free
           << "), " + c_mode(it, iterates()) + ")";
    } else {
      code << "weft_oss_region(&";
      array(it);
      for (std::size_t i = 0; i < n; ++i)
        code << "[0]";
      code << ", sizeof(";
      array(it);
      for (std::size_t i = 0; i < n; ++i)
        code << "[0]";
      code << "), " + c_mode(it, iterates()) + ", " + std::to_string(n);
      for (std::size_t i = 0; i < 3; ++i) {
        code << ", ";
        if (i < n)
          part(it, i);
        else
          code << "weft_oss_part(0, 0, 0)";
      }
      code << ")";
    }
    code.at(place);
  }

  void iterators(const item &it) {
    for (const iterator &i : it.iterators) {
      const std::string v = c_name(i.name), id = number + "_" + std::to_string(m_iterators++);
      const std::string left = "weft_oss_left_" + id, by = "weft_oss_by_" + id,
                        all = "weft_oss_all_" + id, at = "weft_oss_at_" + id;
      switch (i.how) {
      case iterator::form::span:
        // The count has a sign also where the value has none.
        code << "for (long long " + left + " = (long long)(" << i.second
             << "), *" + all + " = &" + left + "; " + all + "; " + all + " = 0) for (__typeof__((" << i.first << ") + (" << i.second
             << ") + 0) " + v + " = (" << i.first
             << "); " + left + " > 0; --" + left + ", " + v + " = " + v + " + (" + left + " > 0))";
        break;
      case iterator::form::range:
        code << "for (__typeof__((" << i.first << ") + (" << i.second << ") + 0) " + by + " = (";
        step(i);
        code << "), " + left + " = (__typeof__(" + by + "))weft_oss_values((" << i.first << "), ("
             << i.second << "), (";
        step(i);
        code << ")), " + v + " = (" << i.first
             << "); " + left + " > 0; --" + left + ", " + v + " = " + v + " + (" + left +
                    " > 0 ? " + by + " : 0))";
        break;
      case iterator::form::list: {
        const auto values = split(slice(i.first, 1, i.first.size() - 1), tok::comma);
        code << "for (__typeof__((";
        for (const tokens &value : values) // the type that all of them convert to
          code << (&value == &values.back() ? "(" : "1 ? (") << value << (&value == &values.back() ? ")" : ") : ");
        code << ") + 0) " + all + "[] = " << i.first
             << ", *" + at + " = " + all + "; " + at + " < " + all + " + sizeof(" + all +
                    ") / sizeof(*" + all + "); ++" + at + ") for (__typeof__(*" + at + ") " + v +
                    " = *" + at + ", *" + left + " = " + at + "; " + left + "; " + left + " = 0)";
        break;
      }
      }
    }
  }
  void step(const iterator &of) {
    if (of.step.empty())
      code << "1";
    else
      code << of.step;
  }

  void write_list() {
    if (parsed.items.empty())
      return;
    // Read at the start of the program, to tell of files with different orders.
    code << "static const char weft_oss_order_" + number +
                " __attribute__((used, retain, section(\"weft_oss_order\"))) = " +
                (bytes ? "1;" : "0;");
    if (!has_iterators(parsed) && has_chunks())
      return items_of_chunk();
    if (!has_iterators(parsed)) {
      code << std::string(bytes ? "const weft_region" : "const weft_access") + " weft_oss_list_" +
                  number + "[] = {";
      const char *separator = "";
      for (const item &it : parsed.items) {
        code << separator;
        one(it);
        separator = ", ";
      }
      code << "};";
      return;
    }
    const std::string all = "weft_oss_list_" + number;
    code << "weft_oss_list " + all + " = {0, 0, 0};";
    for (const item &it : parsed.items) {
      if (!has_chunks()) {
        add(it, all);
        continue;
      }
      const std::string low = "weft_oss_low_" + number, high = "weft_oss_high_" + number;
      code << "{";
      if (bytes)
        code << "weft_oss_list " + low + " = {0, 0, 0}, " + high + " = {0, 0, 0};";
      code << "{";
      variables_at(bytes ? "low" : "front");
      add(it, bytes ? low : all);
      code << "}";
      if (bytes) {
        code << "{";
        variables_at("high");
        add(it, high);
        code << "} weft_oss_add_hulls(&" + all + ", &" + low + ", &" + high + ");";
      }
      code << "}";
    }
  }
  void add(const item &it, const std::string &list) {
    iterators(it);
    code << std::string(bytes ? "weft_oss_add_region" : "weft_oss_add") + "(&" + list + ", ";
    one(it);
    code << ");";
  }
  /// Writes the items of a chunk: by address those of its first iteration, by bytes all between those of its
  /// outermost iterations.
  void items_of_chunk() {
    const std::string all = "weft_oss_list_" + number;
    code << std::string(bytes ? "weft_region " : "weft_access ") + all + "[" + count() + "];";
    for (std::size_t i = 0; i < parsed.items.size(); ++i) {
      const std::string to = all + "[" + std::to_string(i) + "]";
      const auto write = [&](const char *corner, const std::string &before, const char *behind) {
        code << "{";
        variables_at(corner);
        code << to + " = " + before;
        one(parsed.items[i]);
        code << behind;
      };
      write(bytes ? "low" : "front", "", "; }");
      if (bytes)
        write("high", "weft_oss_hull(" + to + ", ", "); }");
    }
  }
  void end_list() {
    if (has_iterators(parsed))
      code << "weft_oss_free(weft_oss_list_" + number + ".all);";
  }
  [[nodiscard]] std::string list() const {
    if (parsed.items.empty())
      return "0";
    const std::string name = "weft_oss_list_" + number;
    return !has_iterators(parsed) ? name
           : bytes                ? "(const weft_region *)" + name + ".all"
                                  : "(const weft_access *)" + name + ".all";
  }
  /// The number of items that are announced; regions are not.
  [[nodiscard]] std::string count() const {
    return has_iterators(parsed) ? "weft_oss_list_" + number + ".count"
                                 : std::to_string(parsed.items.size()) + "u";
  }

  /// Gives the task variables for global ones that are copied, because capturing copies local ones only, and for private ones.
  void copies_of_globals(const tokens &body, const std::vector<std::string> &parameters) {
    std::set<std::string> used;
    static const tokens k_none;
    for (const tokens *all :
         {&body, &parsed.value(clause_id::onready), loops ? &loops->condition : &k_none})
      for (const Token &t : *all)
        if (t.is(tok::identifier))
          used.insert(c_name(t));
    std::set<std::string> seen(parameters.begin(), parameters.end());
    if (loops)
      for (const loop_head &h : loops->heads)
        seen.insert(c_name(h.name));
    const auto copy = [&](const Token &name) {
      if (!used.contains(c_name(name)) || !names_global_variable(name) ||
          !seen.insert(c_name(name)).second)
        return;
      const std::string of = "weft_oss_global_" + number + "_" + std::to_string(m_open);
      code << "{ __auto_type " + of + " = &" + c_name(name) + ";";
      code << "{ __attribute__((unused)) __typeof__(*" + of + ") " + c_name(name) +
                  "; __builtin_memcpy((void *)&" + c_name(name) + ", (const void *)" + of +
                  ", sizeof " + c_name(name) + ");";
      m_open += 2;
    };
    // Only the name is needed of these: the capture leads to what the item begins with.
    for (const item *it : m_reduced)
      if (is_copied(*it) && used.contains(c_name(*it->base)) && names_global_variable(*it->base) &&
          seen.insert(c_name(*it->base)).second) {
        const std::string name = c_name(*it->base);
        code << "{ __attribute__((unused)) __typeof__(" + name + ") " + name + ";";
        m_stand_ins.insert(name);
        ++m_open;
      }
    for (const variable &v : parsed.variables)
      if (v.sharing == clause_id::firstprivate) {
        copy(v.name);
      } else {
        seen.insert(c_name(v.name));
        if (v.sharing == clause_id::private_) { // captured by its name, also where the other one is global
          code.at(v.name.getLocation()) << "{ __attribute__((unused)) __typeof__(" + c_name(v.name) +
                                               ") " + c_name(v.name) + ";";
          code.at(place);
          ++m_open;
        }
      }
    for (const item &it : parsed.items)
      if (it.base && it.plain)
        seen.insert(c_name(*it.base));
    for (const item &it : parsed.items)
      if (it.base && !it.plain && names_global_pointer(*it.base))
        copy(*it.base);
      else if (it.base && !it.plain)
        seen.insert(c_name(*it.base));
    for (const item &it : parsed.items)
      for (const Token &name : names_beside_base(it))
        copy(name);
  }

  /// Returns whether the task works on a copy of an item; below a weak reduction its children do.
  [[nodiscard]] bool is_copied(const item &it) const {
    return copies() && it.mode == clause_id::reduction;
  }

  void rules(const std::vector<std::string> &parameters) {
    using enum sharing_rule::as;
    sharing_rules all;
    all.by_default = parsed.by_default;
    all.pragma = pragma_name(*parsed.directive);
    const auto add = [&](const std::string &name, sharing_rule::as how) {
      all.named.try_emplace(name, sharing_rule{how, {}, false});
    };
    for (const std::string &own : {"weft_oss_asks_" + number, axes(), chunk(), rounds(), moves()})
      add(own, copy);
    for (const std::string &name : parameters) {
      sharing_rule rule{copy, {}, false};
      for (const item &it : parsed.items)
        if (it.base && c_name(*it.base) == name && !rule.is_item)
          rule = {copy, it.where, it.plain};
      all.named.try_emplace(name, rule);
    }
    for (const variable &v : parsed.variables)
      add(c_name(v.name), v.sharing == clause_id::shared     ? reference
                          : v.sharing == clause_id::private_ ? own
                                                             : copy);
    for (const bool plain : {true, false})
      for (const item &it : parsed.items)
        if (it.base && it.plain == plain &&
            std::ranges::none_of(it.iterators, [&](const iterator &i) {
              return c_name(i.name) == c_name(*it.base);
            }))
          add(c_name(*it.base), plain ? reference : by_type);
    for (const item &it : parsed.items)
      for (const Token &name : names_beside_base(it))
        add(c_name(name), copy);
    for (std::size_t i = 0; i < m_reduced.size(); ++i) {
      const item &it = *m_reduced[i];
      const std::string base = c_name(*it.base);
      all.reduced.push_back({it.operation, it.spelled, base, it.where, is_copied(it)});
      if (const auto found = all.named.find(base); found != all.named.end() && is_copied(it)) {
        found->second.reduction = static_cast<int>(i);
        if (!found->second.item.isValid())
          found->second.how = it.plain ? reference : by_type;
        found->second.is_stand_in = m_stand_ins.contains(base);
      }
    }
    g_rules[static_cast<unsigned>(std::stoul(number))] = std::move(all);
  }

  writer &code;
  const pragma &parsed;
  const loop_nest *const loops;
  const SourceLocation place;
  const std::string number;
  const bool bytes;
  unsigned m_iterators = 0;
  unsigned m_open = 0; // blocks around the task
  std::vector<const item *> m_reduced; // of all reductions
  std::set<std::string> m_stand_ins; // local variables for global ones
};

/// Writes tokens in which names are other expressions.
void replace_names(writer &code, const tokens &all,
                   std::initializer_list<std::pair<const char *, const char *>> names) {
  const SourceLocation place = code.place();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool member = i > 0 && all[i - 1].isOneOf(tok::period, tok::arrow);
    const auto found = std::ranges::find_if(names, [&](const auto &name) {
      return all[i].is(tok::identifier) && !member && c_name(all[i]) == name.first;
    });
    if (found == names.end()) {
      code << all[i];
      continue;
    }
    code.at(all[i].getLocation());
    code << found->second;
    code.at(place);
  }
}

/// Writes the two functions of a `declare reduction` for each of its types. The consumer gives them names of
/// operation and type, so that two files share them.
void write_c_declaration(writer &code, const pragma &parsed) {
  const declaration &d = parsed.declared;
  const SourceLocation place = code.place();
  std::string text;
  for (const tokens *all : {&d.combiner, &d.start})
    for (const Token &t : *all)
      text += code.spelled(t) + " ";
  for (const tokens &type : d.types) {
    const unsigned number = next_number();
    const std::string id = std::to_string(number), of = "weft_oss_type_" + id;
    g_reductions[number] = {d.name, text, type[0].getLocation()};
    // A member of a structure: for an incomplete type there is one error.
    const std::string element = "weft_oss_element_" + id;
    code.at(type[0].getLocation());
    code << "typedef __typeof__(" << type
         << ") " + of + "; typedef struct { " + of + " value; } " + element + ";";
    code.at(place);
    code << "__attribute__((unused)) static void weft_oss_start_" + id +
                "(void *weft_oss_copy, weft_oss_bytes weft_oss_count, void *weft_oss_first) { " +
                element + " *weft_oss_priv = (" + element +
                " *)weft_oss_copy; __attribute__((unused)) const " + element +
                " *weft_oss_orig = (" + element +
                " *)weft_oss_first; for (; weft_oss_count > 0; --weft_oss_count, "
                "++weft_oss_priv, ++weft_oss_orig) {";
    if (d.start.empty()) {
      code << "__builtin_memset((void *)weft_oss_priv, 0, sizeof *weft_oss_priv);";
    } else if (d.start.size() > 1 && d.start[0].is(tok::identifier) &&
               c_name(d.start[0]) == "omp_priv" && d.start[1].is(tok::equal)) {
      code << of << " ";
      replace_names(code, d.start, {{"omp_orig", "(weft_oss_orig->value)"}});
      code << "; weft_oss_priv->value = omp_priv;";
    } else {
      code << "__builtin_memset((void *)weft_oss_priv, 0, sizeof *weft_oss_priv);";
      replace_names(
          code, d.start,
          {{"omp_orig", "(weft_oss_orig->value)"}, {"omp_priv", "(weft_oss_priv->value)"}});
      code << ";";
    }
    code << "} } __attribute__((unused)) static void weft_oss_combine_" + id +
                "(void *weft_oss_into, const void *weft_oss_copy, weft_oss_bytes weft_oss_count, "
                "__attribute__((unused)) void *weft_oss_context) { " +
                element + " *weft_oss_out = (" + element +
                " *)weft_oss_into; __attribute__((unused)) " + element + " *weft_oss_in = (" +
                element +
                " *)weft_oss_copy; for (; weft_oss_count > 0; --weft_oss_count, "
                "++weft_oss_out, ++weft_oss_in) {";
    replace_names(code, d.combiner,
                  {{"omp_out", "(weft_oss_out->value)"}, {"omp_in", "(weft_oss_in->value)"}});
    code << "; } }";
  }
}

} // namespace

unsigned next_number() {
  static unsigned number = 0;
  return number++;
}

const sharing_rules *rules_of(unsigned number) {
  const auto found = g_rules.find(number);
  return found == g_rules.end() ? nullptr : &found->second;
}

const std::string *task_function(unsigned number) {
  const auto found = g_functions.find(number);
  return found == g_functions.end() ? nullptr : &found->second;
}

const declared_reduction *reduction_declared_by(unsigned number) {
  const auto found = g_reductions.find(number);
  return found == g_reductions.end() ? nullptr : &found->second;
}

bool refuse_in_c(Preprocessor &pp, const pragma &parsed) {
  // What the consumer knows by number is in no precompiled header.
  const body behind = parsed.directive->behind;
  const directive_id id = parsed.directive->id;
  if (pp.getLangOpts().CompilingPCH && (id == directive_id::task || id == directive_id::declare_reduction || behind == body::loop)) {
    report_error(pp, parsed.where, pragma_name(*parsed.directive) + " cannot be in a header of C that is precompiled: include the header as it is");
    return true;
  }
  if (parsed.directive->id != directive_id::declare_reduction ||
      !is_in_function(pp, parsed.where))
    return false;
  report_error(pp, parsed.where,
               pragma_name(*parsed.directive) + " must be outside of functions in C");
  return true;
}

void write_c_function(writer &code, const pragma &parsed, const function_head &head,
                      const tokens &declaration) {
  const bool defines = !head.body.empty();
  if (defines) // what calls itself creates a task, too
    code << slice(declaration, 0, declaration.size() - head.body.size()) << ";";
  else
    code << declaration;
  const auto list = [&] {
    const char *separator = "";
    for (const parameter &p : head.parameters) {
      code << separator << p.declared;
      separator = ", ";
    }
    code << (head.parameters.empty() ? "void)" : ")");
  };
  std::string arguments;
  std::vector<std::string> parameters;
  for (const parameter &p : head.parameters) {
    arguments += (arguments.empty() ? "" : ", ") + p.name;
    parameters.push_back(p.name);
  }
  const unsigned number = next_number();
  g_functions[number] = c_name(head.name);
  const std::string caller = "weft_oss_call_" + std::to_string(number);
  code << "__attribute__((unused)) static void " + caller + "(";
  list();
  code << "{ " + c_name(head.name) + "(" + arguments + "); }";
  code << "__attribute__((unused)) static void weft_oss_spawn_" + std::to_string(number) + "(";
  list();
  code << "{";
  writer body = code.another();
  body << caller + "(" + arguments + ");";
  c_writer(code, parsed).task(body.out, parameters);
  code << "}";
  if (defines)
    code << declaration;
}

void write_c(writer &code, const pragma &parsed, const tokens &statement, const loop_nest *loops,
             const atomic_statement *atomic) {
  switch (parsed.directive->id) {
  case directive_id::taskloop:
  case directive_id::task_for:
  case directive_id::taskloop_for:
  case directive_id::taskiter:
    return c_writer(code, parsed, loops).task(loops->body);
  case directive_id::task:
    return c_writer(code, parsed).task(statement);
  case directive_id::taskwait:
    return c_writer(code, parsed)
        .call("weft_oss_taskwait", "weft_oss_taskwait_on", "weft_oss_taskwait_on_regions");
  case directive_id::release:
    return c_writer(code, parsed)
        .call("weft_oss_release", "weft_oss_release", "weft_oss_release_regions");
  case directive_id::taskyield:
    code << "weft_oss_taskyield();";
    return;
  case directive_id::critical:
    code << "{ weft_oss_enter(\"" + parsed.name + "\");" << statement
         << "weft_oss_leave(\"" + parsed.name + "\"); }";
    return;
  case directive_id::atomic:
    return write_c_atomic(code, parsed, *atomic);
  case directive_id::lint:
    code << statement;
    return;
  case directive_id::declare_reduction:
    return write_c_declaration(code, parsed);
  default: // assert; the rest is refused
    return;
  }
}

} // namespace weft_oss
