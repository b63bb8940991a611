// SPDX-License-Identifier: Apache-2.0
#include "trace/types.hpp"

#include "base/closure_name.hpp"
#include "trace/hooks.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft::inline v0 {
namespace rt {
namespace {

trace_type *g_table = nullptr; // before any task
std::atomic<unsigned> g_known{0};
constexpr std::size_t k_probes = 64;
constexpr char k_coroutine[] = "coroutine ";

std::uint64_t hash(std::string_view text, named_by what) noexcept {
  std::uint64_t h = 0xcbf29ce484222325u;
  if (what == named_by::closure) {
    h ^= reinterpret_cast<std::uintptr_t>(text.data());
    h *= 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  } else {
    for (const char c : text)
      h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return h ? h : 1;
}

/// Writes the name without quotes and backslashes, because these would end the strings that hold
/// it.
void write_name(trace_type &type, std::string_view text, named_by what) noexcept {
  std::size_t n = 0;
  for (; n < text.size() && n + 1 < sizeof type.name; ++n) {
    const char c = text[n];
    type.name[n] = static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\' ? '_' : c;
  }
  type.name[n] = '\0';
  type.named = what;
  if (what != named_by::coroutine)
    note_type_spawn_site(static_cast<std::size_t>(&type - g_table));
  __atomic_store_n(&type.ready, 1u, __ATOMIC_RELEASE); // O2
  g_known.fetch_add(1, std::memory_order_relaxed); // a hint
}

bool is_named(std::uint16_t type, const char *label) noexcept {
  const trace_type &t = g_table[type];
  return __atomic_load_n(&t.ready, __ATOMIC_ACQUIRE) &&
         std::strncmp(t.name, label, sizeof t.name - 1) == 0; // O2
}

} // namespace

void use_type_table(trace_type *table) noexcept {
  g_table = table;
  g_known.store(0, std::memory_order_relaxed);
}
const trace_type *type_table() noexcept { return g_table; }
unsigned known_types() noexcept { return g_known.load(std::memory_order_relaxed); }

std::uint16_t add_type(std::string_view text, named_by what) noexcept {
  const std::uint64_t key = hash(text, what);
  for (std::size_t i = 0, at = key % k_trace_types; i < k_probes;
       ++i, at = (at + 1) % k_trace_types) {
    if (at == 0) // unknown
      continue;
    trace_type &t = g_table[at];
    std::uint64_t there = __atomic_load_n(&t.key, __ATOMIC_RELAXED);
    if (there == 0 && __atomic_compare_exchange_n(&t.key, &there, key, false, __ATOMIC_ACQ_REL,
                                                  __ATOMIC_RELAXED)) { // O1
      write_name(t, text, what);
      return static_cast<std::uint16_t>(at);
    }
    if (there == key)
      return static_cast<std::uint16_t>(at);
  }
  return 0;
}

std::uint16_t type_cache::find_slow(const char *label, const char *signature) noexcept {
  const char *const address = label ? label : signature;
  slot &p = slot_of(address);
  if (label && p.address == label && is_named(p.type, label)) // its memory may have been used again
    return p.type;
  const std::string_view closure = label ? std::string_view{} : closure_in(signature);
  p.type = label ? add_type(label, named_by::label)
                 : add_type(closure.empty() ? "task" : closure, named_by::closure);
  p.address = address;
  return p.type;
}

std::uint16_t type_cache::find_coroutine_slow(const char *address) noexcept {
  char text[48];
  std::snprintf(text, sizeof text, "%s%p", k_coroutine, static_cast<const void *>(address));
  slot &p = slot_of(address);
  p.type = add_type(text, named_by::coroutine);
  p.address = address;
  return p.type;
}

const void *coroutine_of(const trace_type &type) noexcept {
  return reinterpret_cast<const void *>( // as find_coroutine_slow() has written it
      static_cast<std::uintptr_t>(std::strtoull(type.name + sizeof k_coroutine - 1, nullptr, 16)));
}

} // namespace rt
} // namespace weft::inline v0
