// SPDX-License-Identifier: Apache-2.0
#include "api/c/guard.hpp"
#include "tune/knobs.hpp"

#include <weft/c/knob.h>
#include <weft/knob.hpp>

#include <bit>

using namespace weft::rt;

namespace {

program_knob &knob_of(weft_knob *knob) noexcept { return *reinterpret_cast<program_knob *>(knob); }
const program_knob &knob_of(const weft_knob *knob) noexcept {
  return *reinterpret_cast<const program_knob *>(knob);
}

setting_read read_of(const char *function, int takes_hold) {
  switch (takes_hold) {
  case WEFT_HOLDS_FROM_NEXT_CALL:
    return setting_read::next_call;
  case WEFT_HOLDS_FROM_NEXT_LOOP:
    return setting_read::next_loop;
  case WEFT_HOLDS_WHEN_QUIET:
    return setting_read::when_quiet;
  default:
    throw_error(weft::errc::invalid_argument,
                "%s: takes_hold = %d is none of weft_takes_hold; pass one of its values", function,
                takes_hold);
  }
}

bool in_powers(const char *function, int steps) {
  if (steps != WEFT_STEPS_LINEAR && steps != WEFT_STEPS_LOGARITHMIC)
    throw_error(weft::errc::invalid_argument,
                "%s: steps = %d is none of weft_steps; pass one of its values", function, steps);
  return steps == WEFT_STEPS_LOGARITHMIC;
}

void define(const char *function, const char *name, int takes_hold, const char *help,
            knob_domain domain, std::int64_t first, weft_knob **knob) {
  require(name, function, "name");
  require(knob, function, "knob");
  auto fresh = std::make_unique<program_knob>();
  fresh->name = name;
  fresh->help = help ? help : "";
  fresh->domain = std::move(domain);
  fresh->takes_hold = read_of(function, takes_hold);
  fresh->first = first;
  enter_knob(*fresh);
  *knob = reinterpret_cast<weft_knob *>(fresh.release());
}

} // namespace

int weft_set(const char *name, const char *value) {
  return guarded([&] {
    require(name, "weft_set", "name");
    require(value, "weft_set", "value");
    weft::tune::set(name, value);
  });
}

int weft_get(const char *name, char *buffer, size_t size, size_t *needed) {
  return guarded([&] {
    require(name, "weft_get", "name");
    give_text("weft_get", weft::tune::get(name), buffer, size, needed);
  });
}

int weft_knobs_list(void (*use)(const char *name, const char *value, const char *allowed,
                                const char *help, int of_program, void *context),
                    void *context) {
  return guarded([&] {
    require_body(use, "weft_knobs_list");
    for (const auto &knob : weft::tune::list())
      use(knob.name.c_str(), knob.value.c_str(), knob.allowed.c_str(), knob.help.c_str(),
          knob.of_program, context);
  });
}

int weft_knob_define(const char *name, int64_t first, int64_t least, int64_t most, int steps,
                     int takes_hold, const char *help, weft_knob **knob) {
  return guarded([&] {
    knob_domain domain;
    domain.least = least;
    domain.most = most;
    domain.in_powers = in_powers("weft_knob_define", steps);
    define("weft_knob_define", name, takes_hold, help, std::move(domain), first, knob);
  });
}

int weft_knob_define_list(const char *name, int64_t first, const int64_t *values, size_t count,
                          int takes_hold, const char *help, weft_knob **knob) {
  return guarded([&] {
    require(values, "weft_knob_define_list", "values");
    knob_domain domain;
    domain.what = knob_domain::kind::numbers;
    domain.numbers.assign(values, values + count);
    define("weft_knob_define_list", name, takes_hold, help, std::move(domain), first, knob);
  });
}

int weft_knob_define_real(const char *name, double first, double least, double most, int steps,
                          int takes_hold, const char *help, weft_knob **knob) {
  return guarded([&] {
    knob_domain domain;
    domain.what = knob_domain::kind::reals;
    domain.real_least = least;
    domain.real_most = most;
    domain.in_powers = in_powers("weft_knob_define_real", steps);
    define("weft_knob_define_real", name, takes_hold, help, std::move(domain),
           std::bit_cast<std::int64_t>(first), knob);
  });
}

int weft_knob_define_choice(const char *name, size_t first, const char *const *choices,
                            size_t count, int takes_hold, const char *help, weft_knob **knob) {
  return guarded([&] {
    require(choices, "weft_knob_define_choice", "words");
    knob_domain domain;
    domain.what = knob_domain::kind::words;
    for (size_t i = 0; i < count; ++i) {
      require(choices[i], "weft_knob_define_choice", "words");
      domain.words.emplace_back(choices[i]);
    }
    define("weft_knob_define_choice", name, takes_hold, help, std::move(domain),
           static_cast<std::int64_t>(first), knob);
  });
}

int64_t weft_knob_value(const weft_knob *knob) {
  return knob ? knob_of(knob).word.load(std::memory_order_relaxed) : 0;
}

double weft_knob_real(const weft_knob *knob) {
  return knob ? std::bit_cast<double>(knob_of(knob).word.load(std::memory_order_relaxed)) : 0;
}

int weft_knob_set(weft_knob *knob, const char *value) {
  return guarded([&] {
    require(knob, "weft_knob_set", "knob");
    require(value, "weft_knob_set", "value");
    change_knob(knob_of(knob).name, value);
  });
}

void weft_knob_withdraw(weft_knob *knob) {
  if (!knob)
    return;
  withdraw_knob(knob_of(knob));
  delete &knob_of(knob);
}
