// SPDX-License-Identifier: Apache-2.0
#include "cxx_items.hpp"

#include <clang/Basic/IdentifierTable.h>

#include <algorithm>

namespace weft_oss {

using namespace clang;

namespace {

/// What the files of one compilation have in common.
bool g_by_bytes = false;
bool g_has_items_by_address = false;

} // namespace

bool orders_items_by_bytes(const writer &code) {
  if (g_by_bytes || code.defines("WEFT_OSS_REGIONS"))
    return true;
  g_has_items_by_address = true;
  return false;
}

bool orders_too_late(const pragma &parsed) {
  if (!parsed.by_bytes)
    return false;
  g_by_bytes = true;
  return g_has_items_by_address;
}

std::string order_of(const writer &code) {
  return orders_items_by_bytes(code) ? "::weft::oss::order::by_bytes"
                                     : "::weft::oss::order::by_address";
}

namespace {
std::string mode_name(const item &it, bool strong) {
  std::string name(row(it.mode).name);
  if (!is_weak(it))
    return name;
  name.erase(0, 4);
  return strong ? name : "weak_" + name;
}

} // namespace

void write_part(writer &code, const item &it) {
  code << "::weft::oss::array(" << it.shape_free;
  for (const tokens &extent : it.shape)
    code << ", (" << extent << ")";
  code << ")";
  for (const dimension &d : it.sections) {
    switch (d.how) {
    case dimension::form::index:
      code << ".index(" << d.first << ")";
      break;
    case dimension::form::span:
      if (d.first.empty())
        code << ".span(0, " << d.second << ")";
      else
        code << ".span(" << d.first << ", " << d.second << ")";
      break;
    case dimension::form::range:
      if (d.first.empty() && d.second.empty())
        code << ".all()";
      else if (d.first.empty())
        code << ".range(0, " << d.second << ")";
      else if (d.second.empty())
        code << ".from(" << d.first << ")";
      else
        code << ".range(" << d.first << ", " << d.second << ")";
      break;
    }
  }
}

void write_item(writer &code, const item &it, bool strong) {
  const SourceLocation pragma = code.place();
  code.at(it.where);
  code << "::weft::oss::access<::weft::access_mode::" + mode_name(it, strong) + ", " +
              order_of(code) + ">(";
  if (is_object(it))
    code << it.shape_free;
  else
    write_part(code, it);
  code << ")";
  code.at(pragma);
}

void write_iterators(writer &code, const item &it) {
  for (const iterator &i : it.iterators) {
    code << "for (const auto " + std::string(word(i.name)) + " : ";
    switch (i.how) {
    case iterator::form::list:
      code << "::weft::oss::listed(" << slice(i.first, 1, i.first.size() - 1) << "))";
      break;
    case iterator::form::span:
      code << "::weft::oss::counted((" << i.first << "), (" << i.second << ")))";
      break;
    case iterator::form::range:
      code << "::weft::oss::closed_range((" << i.first << "), (" << i.second << ")";
      if (!i.step.empty())
        code << ", (" << i.step << ")";
      code << "))";
      break;
    }
  }
}

bool is_weak(const item &it) { return row(it.mode).name.starts_with("weak"); }

tokens names_beside_base(const item &it) {
  tokens names;
  const auto look = [&](const tokens &all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool part = i > 0 && all[i - 1].isOneOf(tok::period, tok::arrow, tok::coloncolon);
      const bool other =
          i + 1 < all.size() && all[i + 1].isOneOf(tok::l_paren, tok::coloncolon, tok::less);
      if (all[i].is(tok::identifier) && !part && !other &&
          (!it.base || all[i].getLocation() != it.base->getLocation()) &&
          std::ranges::none_of(it.iterators, [&](const iterator &one) {
            return word(one.name) == word(all[i]);
          }))
        names.push_back(all[i]);
    }
  };
  look(it.shape_free);
  for (const tokens &extent : it.shape)
    look(extent);
  for (const dimension &d : it.sections) {
    look(d.first);
    look(d.second);
  }
  for (const iterator &one : it.iterators) {
    look(one.first);
    look(one.second);
    look(one.step);
  }
  return names;
}

namespace {

/// A step on the way from the variable that an item begins with to the item.
struct path_step {
  tokens operand;
  enum class way : std::uint8_t { member, arrow, index, star, call } how;
  tokens whole; ///< with its operand
};

/// Returns where the last bracket begins that is in no other one.
std::size_t last_bracket(const tokens &all) {
  std::size_t open = all.size();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)) {
      open = i;
      i = closing(all, i);
    }
  return open;
}

/// Returns the operand of an expression's operators that the token at `base` is in.
tokens operand_of(const tokens &all, SourceLocation base) {
  std::size_t begin = 0;
  bool operand = false, found = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (operand && precedence(all[i]) != 0) {
      if (found)
        return slice(all, begin, i);
      begin = i + 1;
      operand = false;
      continue;
    }
    operand = precedence(all[i]) == 0;
    const std::size_t end = all[i].isOneOf(tok::l_paren, tok::l_square, tok::l_brace)
                                ? std::min(closing(all, i), all.size() - 1)
                                : i;
    for (; i < end; ++i)
      found = found || all[i].getLocation() == base;
    found = found || all[i].getLocation() == base;
  }
  return slice(all, begin, all.size());
}

/// Returns an expression without what keeps the memory that it leads to: parentheses, casts, sums, an address that is taken.
tokens core_of(tokens all, SourceLocation base) {
  for (;;) {
    if (all.size() < 2)
      return all;
    if (loosest(all) < k_operand)
      all = operand_of(all, base);
    else if (all[0].is(tok::l_paren) && closing(all, 0) + 1 == all.size())
      all = slice(all, 1, all.size() - 1);
    else if (all[0].is(tok::l_paren) &&
             all[closing(all, 0) + 1].isOneOf(tok::identifier, tok::l_paren, tok::star, tok::amp))
      all = slice(all, closing(all, 0) + 1, all.size());
    else if (all[0].isOneOf(tok::amp, tok::plusplus, tok::minusminus))
      all = slice(all, 1, all.size());
    else if (all[0].isOneOf(tok::kw_static_cast, tok::kw_const_cast, tok::kw_reinterpret_cast,
                            tok::kw_dynamic_cast) &&
             all.back().is(tok::r_paren))
      all = slice(all, last_bracket(all) + 1, all.size() - 1);
    else
      return all;
  }
}

/// Follows an expression inwards, to the variable at `base`.
void follow(const tokens &expression, SourceLocation base, std::vector<path_step> &steps) {
  const tokens all = core_of(expression, base);
  if (all.size() < 2)
    return;
  const auto add = [&](std::size_t from, std::size_t to, path_step::way how) {
    const tokens operand = core_of(slice(all, from, to), base);
    if (operand.empty())
      return;
    steps.push_back({operand, how, all});
    follow(operand, base, steps);
  };
  if (all[0].is(tok::star))
    return add(1, all.size(), path_step::way::star);
  // What follows an operand, the last first.
  const bool call = all.back().is(tok::r_paren);
  if (all.back().is(tok::r_square))
    return add(0, last_bracket(all), path_step::way::index);
  std::size_t name = call ? last_bracket(all) - 1 : all.size() - 1;
  while (name >= 2 && all[name - 1].is(tok::coloncolon))
    name -= 2;
  if (name < 2 || !all[name - 1].isOneOf(tok::period, tok::arrow))
    return;
  add(0, name - 1, call                             ? path_step::way::call
                   : all[name - 1].is(tok::period) ? path_step::way::member
                                                   : path_step::way::arrow);
}

/// Returns the steps to an item, the last first.
std::vector<path_step> path_of(const item &it) {
  std::vector<path_step> steps;
  const SourceLocation base = it.base->getLocation();
  if (!is_object(it))
    steps.push_back({core_of(it.shape_free, base),
                     it.shape.empty() ? path_step::way::index : path_step::way::star,
                     {}});
  follow(it.shape_free, base, steps);
  return steps;
}
bool is_base(const tokens &all, const item &it) {
  return all.size() == 1 && all[0].getLocation() == it.base->getLocation();
}

} // namespace

bool begins_with_elements(const item &it) {
  const std::vector<path_step> steps = path_of(it);
  return !steps.empty() && steps.back().how == path_step::way::index &&
         is_base(steps.back().operand, it);
}

void check_pointers(writer &code, const item &it) {
  const SourceLocation place = code.place();
  for (const path_step &step : path_of(it)) {
    const bool member = step.how == path_step::way::member, arrow = step.how == path_step::way::arrow,
               from_base = is_base(step.operand, it);
    if (from_base && !member && !arrow)
      continue;
    code.at(step.operand[0].getLocation()) << "static_assert(";
    if (!member && !from_base)
      code << "!::weft::oss::is_pointer<decltype((" << step.operand << "))>";
    if (arrow && !from_base)
      code << " && ";
    if (member || arrow)
      code << "!::std::is_reference_v<decltype(" << step.whole << ")>";
    code << ", \"an item of a reduction leads through one pointer at most, the variable that it "
            "begins with; name a pointer or reference behind that by a variable of its own, and "
            "reduce what it leads to\");";
    code.at(place);
  }
}

void check_objects(writer &code, const item &it, const std::string &reduction) {
  const SourceLocation place = code.place();
  for (const path_step &step : path_of(it)) {
    if (step.how == path_step::way::member || step.how == path_step::way::arrow)
      code.at(step.operand[0].getLocation()) << "::weft::oss::must_hold_member((" << step.operand << "), (" << step.whole << "));";
    if (step.how == path_step::way::member)
      continue;
    const bool elements = step.how == path_step::way::index && is_base(step.operand, it);
    code.at(step.operand[0].getLocation())
        << std::string("if constexpr (::weft::oss::") +
               (elements ? "may_lead_out_by_index" : "may_lead_out") + "<decltype(("
        << step.operand << "))>) ::weft::oss::must_hold((" << step.operand
        << "), " + reduction + ".item());";
    code.at(place);
  }
}

} // namespace weft_oss
