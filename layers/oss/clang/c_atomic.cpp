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
  code << "{ __auto_type " + at + " = &("
       << found.object << "); __typeof__(((void)0, *" + at + ")) "; // without qualifiers
  // What the processor does not change at once has the lock of <weft/oss/atomic.hpp>. The condition
  // is a constant, so either way is no code.
  const std::string locked = "(sizeof(*" + at + ") > sizeof(void *) || __extension__ _Alignof(__typeof__(*" +
                             at + ")) < sizeof(*" + at + "))";
  const std::string lock = "if " + locked + " weft_oss_enter(\"#pragma oss atomic\");";
  const std::string unlock = "if " + locked + " weft_oss_leave(\"#pragma oss atomic\");";
  const std::string put = // an assignment to a constant would be a second error
      "__builtin_memcpy((void *)" + at + ", &" + now + ", sizeof(" + now + "))";
  const auto load = [&](const std::string &to, const std::string &order) {
    return "if " + locked + " " + to + " = *" + at + "; else __atomic_load(" + at + ", &" + to +
           ", " + order + ");";
  };
  const auto exchanged = [&](const std::string &failed_order) {
    return "(" + locked + " ? (" + put + ", 1) : __atomic_compare_exchange(" + at + ", &" + old +
           ", &" + now + ", 0, " + with + ", " + failed_order + "))";
  };
  if (found.what == read) {
    code << now + "; " + lock + load(now, with) + unlock << found.captured << " = " + now + "; }";
    return;
  }
  if (found.what == write) {
    code << now + " = (" << found.operand
         << "); " + lock + "if " + locked + " " + put + "; else __atomic_store(" + at + ", &" +
                now + ", " + with + ");" + unlock + "}";
    return;
  }
  using which = atomic_statement::value;
  if (found.what == compare) {
    // The operand has the type in which it is compared; a null pointer has that of the object.
    const std::string is = "weft_oss_is_" + id, unchanged = with == "3" ? "0" : with == "4" ? "2" : with;
    code << old + "; int " + is + " = 0; const __typeof__(0 ? *" + at + " : (" << found.operand
         << ")) " + by + " = (" << found.operand << "); __typeof__(" + old + ") " + now + " = ";
    if (found.changed.empty())
      code << "(__typeof__(" + old + "))" + by;
    else
      code << "(" << found.changed << ")";
    code << "; " + lock + load(old, unchanged) + "while (!" + is + " && " +
                (found.operand_first ? by + " " + found.sign + " " + old
                                     : old + " " + found.sign + " " + by) +
                ") " + is + " = " + exchanged(unchanged) + ";" + unlock;
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
  code << "); " + lock + load(old, "0") + "do { " + now + " = ";
  if (found.sign.empty())
    code << by;
  else if (found.operand_first)
    code << by + " " + found.sign + " " + old;
  else
    code << old + " " + found.sign + " " + by;
  code << "; } while (!" + exchanged("0") + ");" + unlock;
  if (!found.captured.empty())
    code << found.captured
         << " = " + (found.kept == which::old ? old : now) + ";";
  code << "}";
}

} // namespace weft_oss
