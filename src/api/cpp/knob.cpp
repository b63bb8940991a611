// SPDX-License-Identifier: Apache-2.0
#include "tune/knobs.hpp"

#include <weft/knob.hpp>

#include <algorithm>
#include <utility>

namespace weft::inline v0 {

using namespace rt;

namespace tune {
namespace {

setting_read read_of(takes_hold when) noexcept {
  return when == takes_hold::next_loop    ? setting_read::next_loop
         : when == takes_hold::when_quiet ? setting_read::when_quiet
                                          : setting_read::next_call;
}

takes_hold hold_of(setting_read read) noexcept {
  return read == setting_read::next_loop    ? takes_hold::next_loop
         : read == setting_read::when_quiet ? takes_hold::when_quiet
                                            : takes_hold::next_call;
}

std::unique_ptr<program_knob> fresh_knob(std::string_view name, takes_hold when,
                                         std::string_view help, knob_domain domain,
                                         std::int64_t first) {
  auto fresh = std::make_unique<program_knob>();
  fresh->name = name;
  fresh->help = help;
  fresh->domain = std::move(domain);
  fresh->takes_hold = read_of(when);
  fresh->first = first;
  return fresh;
}

} // namespace

void any_knob::enter(std::unique_ptr<program_knob> knob) {
  enter_knob(*knob);
  m_knob = knob.release();
  m_word = &m_knob->word;
}

any_knob::~any_knob() {
  if (!m_knob)
    return;
  withdraw_knob(*m_knob);
  delete m_knob;
}

std::string any_knob::name() const { return m_knob->name; }
void any_knob::set_text(std::string_view text) { change_knob(m_knob->name, text); }
void any_knob::set_word(std::int64_t value) { set_program_knob(*m_knob, value); }

knob::knob(std::string_view name, std::int64_t first, const range &allowed, takes_hold when,
           std::string_view help) {
  knob_domain domain;
  domain.least = allowed.least;
  domain.most = allowed.most;
  domain.in_powers = allowed.in == steps::logarithmic;
  enter(fresh_knob(name, when, help, std::move(domain), first));
}

knob::knob(std::string_view name, std::int64_t first, std::vector<std::int64_t> allowed,
           takes_hold when, std::string_view help) {
  knob_domain domain;
  domain.what = knob_domain::kind::numbers;
  domain.numbers = std::move(allowed);
  enter(fresh_knob(name, when, help, std::move(domain), first));
}

real_knob::real_knob(std::string_view name, double first, const real_range &allowed,
                     takes_hold when, std::string_view help) {
  knob_domain domain;
  domain.what = knob_domain::kind::reals;
  domain.real_least = allowed.least;
  domain.real_most = allowed.most;
  domain.in_powers = allowed.in == steps::logarithmic;
  enter(fresh_knob(name, when, help, std::move(domain), std::bit_cast<std::int64_t>(first)));
}

choice_knob::choice_knob(std::string_view name, std::string_view first,
                         std::vector<std::string> allowed, takes_hold when, std::string_view help) {
  knob_domain domain;
  domain.what = knob_domain::kind::words;
  domain.words = std::move(allowed);
  const std::int64_t index = domain.parse(first).value_or(-1);
  enter(fresh_knob(name, when, help, std::move(domain), index));
}

void set(std::string_view name, std::string_view value) { change_knob(name, value); }
std::string get(std::string_view name) { return knob_text(name); }

std::vector<info> list() {
  std::vector<info> all;
  for (knob_line &line : list_knobs())
    all.push_back({std::move(line.name), std::move(line.type), std::move(line.value),
                   std::move(line.first), std::move(line.allowed), std::move(line.help),
                   hold_of(line.takes_hold), line.in_powers ? steps::logarithmic : steps::linear,
                   line.of_program});
  return all;
}

} // namespace tune
} // namespace weft::inline v0
