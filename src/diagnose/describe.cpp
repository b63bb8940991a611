// SPDX-License-Identifier: Apache-2.0
#include "diagnose/describe.hpp"

#include "os/symbols.hpp"
#include "task/tracing.hpp"
#include "trace/session.hpp"
#include "trace/types.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

constexpr std::size_t k_shown = 12; // frames

/// Returns the name without template arguments, parameters and what precedes it.
std::string_view bare(std::string_view name) noexcept {
  name = name.substr(0, name.find_first_of("<("));
  const std::size_t blank = name.rfind(' ');
  return blank == std::string_view::npos ? name : name.substr(blank + 1);
}

/// Says where a function belongs: to the user, to Weft's runtime, or to a template of Weft's
/// headers, which may be between two functions of the user.
enum class part { user, header, runtime };

const std::string &own_module(symbols &known) {
  return known
      .of_call(reinterpret_cast<const void *>(reinterpret_cast<std::uintptr_t>(&describe) + 1))
      .module;
}

bool is_library(const std::string &module) noexcept {
  return module.find("/libweft") != std::string::npos;
}

part part_of(const symbol &found, const std::string &own) {
  const std::string_view name = bare(found.name);
  if (name.starts_with("weft::v0::rt::") || name.starts_with("weft_context_") ||
      (found.module == own && is_library(own)))
    return part::runtime;
  return name.starts_with("weft::") ? part::header : part::user;
}

/// Returns the name of the innermost function of the user; empty if there is none.
std::string first_of_user(const void *const *calls, std::size_t count, symbols &all,
                          const std::string &own) {
  for (const void *const *call = calls; call != calls + count; ++call)
    if (const symbol &s = all.of_call(*call); part_of(s, own) == part::user)
      return text_of(s);
  return "";
}

void name_spawn(wait_graph::node &node, symbols &all, const std::string &own) {
  if (const std::string name =
          first_of_user(node.spawn_calls.data(), node.spawn_calls.size(), all, own);
      !name.empty())
    node.spawned = "spawned by " + name;
}

void name_stack(wait_graph::node &node, symbols &all, const std::string &own) {
  const symbol *inlined = nullptr; // the outermost template: the body was compiled into it
  for (const void *call : node.calls) {
    const symbol &s = all.of_call(call);
    const part p = part_of(s, own);
    if (node.stack.size() == k_shown || (p == part::runtime && (inlined || !node.stack.empty())))
      break; // the runtime's functions that called the body
    if (p == part::header)
      inlined = &s;
    if (p == part::user)
      node.stack.push_back(text_of(s));
  }
  if (node.stack.empty() && inlined)
    node.stack.push_back(text_of(*inlined));
}

} // namespace

std::vector<std::pair<unsigned, std::string>> describe_types() {
  std::vector<std::pair<unsigned, std::string>> sites;
  if (!traces(trace_level::tasks))
    return sites;
  symbols all;
  const std::string own = own_module(all);
  for (unsigned type = 1; type < k_trace_types; ++type) {
    if (!__atomic_load_n(&type_table()[type].ready, __ATOMIC_ACQUIRE)) // O2 of trace/types.cpp
      continue;
    if (const std::string_view site = named_spawn_site(type); !site.empty()) {
      sites.emplace_back(type, std::string("() at ").append(site)); // of a language that names it
      continue;
    }
    const spawn_site p = spawn_site_of_type(type);
    if (std::string name = first_of_user(p.calls, p.count, all, own); !name.empty())
      sites.emplace_back(type, std::move(name));
  }
  return sites;
}

void describe(wait_graph &graph) {
  symbols all;
  const std::string own = own_module(all);
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    name_spawn(graph.at(i), all, own);
    name_stack(graph.at(i), all, own);
  }
}

} // namespace rt
} // namespace weft::inline v0
