// SPDX-License-Identifier: Apache-2.0
#include "c.hpp"

namespace weft_oss {

using namespace clang;

void write_c_atomic(writer &code, const pragma &parsed, const atomic_statement &found) {
  using enum atomic_statement::form;
  // __ATOMIC_SEQ_CST and so on: macros are not expanded here.
  const std::string with = parsed.has(clause_id::seq_cst)   ? "5"
                           : parsed.has(clause_id::acq_rel) ? "4"
                           : parsed.has(clause_id::release) ? "3"
                           : parsed.has(clause_id::acquire) ? "2"
                                                            : "0";
  const std::string id = std::to_string(next_number());
  const std::string at = "weft_oss_at_" + id, old = "weft_oss_old_" + id,
                    now = "weft_oss_new_" + id, by = "weft_oss_by_" + id;
  code << "{ _Static_assert(sizeof(" << found.object
       << ") <= sizeof(long long), \"'#pragma oss atomic' needs an object of at most 8 bytes in "
          "C\"); _Static_assert(sizeof("
       << found.object << ") > sizeof(long long) || _Alignof(__typeof__(" << found.object << ")) >= sizeof(" << found.object
       << "), \"'#pragma oss atomic' needs an object that is aligned to its size in C; use "
          "'#pragma oss critical'\"); __auto_type " +
              at + " = &("
       << found.object << "); __typeof__(((void)0, *" + at + ")) "; // without qualifiers
  if (found.what == read) {
    code << now + "; __atomic_load(" + at + ", &" + now + ", " + with + ");" << found.captured
         << " = " + now + "; }";
    return;
  }
  if (found.what == write) {
    code << now + " = (" << found.operand
         << "); __atomic_store(" + at + ", &" + now + ", " + with + "); }";
    return;
  }
  using which = atomic_statement::value;
  if (found.what == compare) {
    // The operand has the type in which it is compared; a null pointer has that of the object.
    const std::string is = "weft_oss_is_" + id, unchanged = with == "3" ? "0" : with == "4" ? "2" : with;
    code << old + "; int " + is + " = 0; const __typeof__(0 ? *" + at + " : (" << found.operand
         << ")) " + by + " = (" << found.operand << "); __typeof__(*" + at + ") " + now + " = ";
    if (found.changed.empty())
      code << "(__typeof__(" + old + "))" + by;
    else
      code << "(" << found.changed << ")";
    code << "; __atomic_load(" + at + ", &" + old + ", " + unchanged + "); while (!" + is + " && " +
                (found.operand_first ? by + " " + found.sign + " " + old
                                     : old + " " + found.sign + " " + by) +
                ") " + is + " = __atomic_compare_exchange(" + at + ", &" + old + ", &" + now +
                ", 0, " + with + ", " + unchanged + ");";
    if (!found.answer.empty())
      code << found.answer << " = " + is + ";";
    if (!found.captured.empty() && found.kept == which::now)
      code << found.captured << " = " + is + " ? " + now + " : " + old + ";";
    else if (!found.captured.empty())
      code << (found.kept == which::unchanged ? "if (!" + is + ")" : "") << found.captured
           << " = " + old + ";";
    code << "}";
    return;
  }
  code << old + ", " + now + "; const __auto_type " + by + " = (";
  if (found.operand.empty())
    code << "1";
  else
    code << found.operand;
  code << "); __atomic_load(" + at + ", &" + old + ", 0); do { " + now + " = ";
  if (found.sign.empty())
    code << by;
  else if (found.operand_first)
    code << by + " " + found.sign + " " + old;
  else
    code << old + " " + found.sign + " " + by;
  code << "; } while (!__atomic_compare_exchange(" + at + ", &" + old + ", &" + now + ", 0, " +
              with + ", 0));";
  if (!found.captured.empty())
    code << found.captured
         << " = " + (found.kept == which::old ? old : now) + ";";
  code << "}";
}

} // namespace weft_oss
