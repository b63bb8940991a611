// SPDX-License-Identifier: Apache-2.0
#include "observe/user_counter.hpp"

#include "base/error.hpp"
#include "observe/name.hpp"

#include <weft/error.hpp>

#include <cmath>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace weft::inline v0 {
namespace rt {
namespace {

std::mutex g_lock;
std::vector<std::unique_ptr<user_counter>> *g_all =
    nullptr; // guarded by the lock; never freed: counted until the end

bool is_known(const char *name) {
#define WEFT_COUNTER(field, kind, known, ...)                                                      \
  if (std::string_view(known) == name)                                                             \
    return true;
#define WEFT_GAUGE WEFT_COUNTER
#include "observe/counters.def"
#define WEFT_VIEW(kind, scope, view, ...)                                                          \
  if (std::string_view(view) == name)                                                              \
    return true;
#include "observe/views.def"
  return std::string_view(name) == "/threads/time/duration";
}

void check_name(const char *name) {
  if (!name || !is_plain_name(name))
    throw_error(
        errc::invalid_argument,
        "a counter is to be called '%s'; write '/object/counter', of letters, digits, '-', '_' and '/', at most %zu characters",
        name ? name : "", sizeof(catalogue_entry::name) - 1);
  if (is_known(name))
    throw_error(errc::invalid_argument,
                "the counter '%s' is one of Weft's own; choose another name", name);
}

} // namespace

user_counter &define_counter(const char *name, const char *unit, const char *help,
                             counter_kind kind, double (*level)(void *), void *context) {
  check_name(name);
  const std::lock_guard guard(g_lock);
  if (!g_all)
    g_all = new std::vector<std::unique_ptr<user_counter>>;
  for (auto &c : *g_all)
    if (c->name ==
        name) { // the same line of a header in several places, or a module that was loaded again
      if (c->kind != kind)
        throw_error(errc::invalid_argument,
                    "the counter '%s' is defined twice, once as a count and once as a level", name);
      if (level) {
        c->level = level;
        c->context = context;
      }
      return *c;
    }
  if (g_all->size() == k_user_counters)
    throw_error(errc::out_of_resources, "the counter '%s' is one too many: a program may define %u",
                name, k_user_counters);
  auto c = std::make_unique<user_counter>();
  c->name = name;
  c->unit = unit ? unit : "";
  c->help = help ? help : "";
  c->kind = kind;
  c->index = static_cast<unsigned>(g_all->size());
  c->level = level;
  c->context = context;
  g_all->push_back(std::move(c));
  enter_user_counter(*g_all->back());
  return *g_all->back();
}

void withdraw_level(user_counter &counter) noexcept {
  const std::lock_guard guard(g_lock);
  counter.level = nullptr;
}

void add_to(user_counter &counter, counter_block *mine, std::uint64_t n) noexcept {
  if (mine)
    count(mine->user[counter.index], n);
  else
    counter.outside.fetch_add(n, std::memory_order_relaxed);
}

namespace {

/// Rounds to the nearest; returns 0 for what no word holds. Does not use std::llround, because a
/// program would have to link the library of mathematics.
std::uint64_t to_word(double level) noexcept {
  constexpr double k_most = 9e18;
  if (!(level > -k_most && level < k_most))
    return 0;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(level + (level < 0 ? -0.5 : 0.5)));
}

} // namespace

void publish_user_counters() noexcept {
  const std::lock_guard guard(g_lock);
  if (!g_all || !store_is_open())
    return;
  for (auto &c : *g_all) {
    std::uint64_t &word = process_counters().user[c->index];
    if (c->kind == counter_kind::count)
      put(word, c->outside.load(std::memory_order_relaxed));
    else if (c->level)
      put(word, to_word(c->level(c->context)));
  }
}

void enter_user_counters() {
  const std::lock_guard guard(g_lock);
  if (g_all)
    for (auto &c : *g_all)
      enter_user_counter(*c);
}

void store_before_fork() { g_lock.lock(); }
void store_after_fork() noexcept { g_lock.unlock(); }

} // namespace rt
} // namespace weft::inline v0
