// SPDX-License-Identifier: Apache-2.0
// Items of dependences: what the code for C++ says of them, and what both languages ask.
#pragma once

#include "clauses.hpp"

#include <string>

namespace weft_oss {

/// Returns whether only the children touch an item.
bool is_weak(const item &it);

/// Returns whether an item has neither sections nor a shape.
inline bool is_object(const item &it) { return it.shape.empty() && it.sections.empty(); }

/// Returns the names in an item, beside its base, that may be variables: in indices, extents, iterators.
tokens names_beside_base(const item &it);

/// Returns whether the file's dependences are ordered by bytes.
bool orders_items_by_bytes(const writer &code);

/// Notes the order that an `assert` demands. Returns whether items before it have another one.
bool orders_too_late(const pragma &parsed);

/// Returns how the file's dependences are ordered, as a value of weft::oss::order.
std::string order_of(const writer &code);

/// Writes the array that an item with sections or a shape is a part of, and the part.
void write_part(writer &code, const item &it);

/// Writes the clause of an item.
void write_item(writer &code, const item &it, bool strong = false);

/// Writes the loops of a multi-dependence.
void write_iterators(writer &code, const item &it);

/// Returns whether an item of a reduction is an element, or a part, of the variable that it begins with: v[i], v[a;n].
bool begins_with_elements(const item &it);

/// @{ Write checks of an item of a reduction, whose copy the task finds by moving the variable that the item begins with. That is
/// right where the item is in the variable, or directly behind a pointer. Pointers are refused by their types;
/// where an operator of a class leads is known when the task is created, by the item that `reduction` names.
void check_pointers(writer &code, const item &it);
void check_objects(writer &code, const item &it, const std::string &reduction);
/// @}

} // namespace weft_oss
