// SPDX-License-Identifier: Apache-2.0
#include "api/c/guard.hpp"
#include "tune/policies.hpp"

#include <weft/c/tune.h>
#include <weft/tune.hpp>

#include <vector>

using namespace weft::rt;

struct weft_session {
  weft::tune::session tuned;
};

int weft_session_create(weft_knob *const *knobs, size_t count, const char *objective,
                        const char *site, double budget, weft_session **session) {
  return weft_session_create_with(knobs, count, objective, site, budget, nullptr, session);
}
int weft_session_create_with(weft_knob *const *knobs, size_t count, const char *objective,
                             const char *site, double budget, const char *search,
                             weft_session **session) {
  return guarded([&] {
    require(knobs, "weft_session_create", "knobs");
    require(session, "weft_session_create", "session");
    std::vector<program_knob *> own;
    for (size_t i = 0; i < count; ++i) {
      require(knobs[i], "weft_session_create", "knobs");
      own.push_back(reinterpret_cast<program_knob *>(knobs[i]));
    }
    const weft::tune::plan how{objective ? objective : "", site ? site : "", budget, search ? search : ""};
    *session = new weft_session{weft::tune::session(own.data(), own.size(), how)};
  });
}
void weft_session_destroy(weft_session *session) { delete session; }

int weft_session_begin(weft_session *session, int *measured) {
  return guarded([&] {
    require(session, "weft_session_begin", "session");
    require(measured, "weft_session_begin", "measured");
    *measured = 0;
    *measured = session->tuned.begin();
  });
}
int weft_session_end(weft_session *session, double work) {
  return guarded([&] {
    require(session, "weft_session_end", "session");
    session->tuned.end(work);
  });
}

int weft_session_settled(const weft_session *session) {
  return session && session->tuned.settled();
}
size_t weft_session_trials(const weft_session *session) {
  return session ? session->tuned.trials() : 0;
}
int weft_session_decision(const weft_session *session, char *buffer, size_t size, size_t *needed) {
  return guarded([&] {
    require(session, "weft_session_decision", "session");
    give_text("weft_session_decision", session->tuned.decision(), buffer, size, needed);
  });
}
int weft_session_compromises(const weft_session *session,
                             void (*use)(const char *values, const char *const *terms,
                                         const double *costs, size_t count, void *context),
                             void *context) {
  return guarded([&] {
    require(session, "weft_session_compromises", "session");
    require_body(use, "weft_session_compromises");
    for (const auto &one : session->tuned.compromises()) {
      std::vector<const char *> terms;
      std::vector<double> costs;
      for (const auto &[term, cost] : one.costs) {
        terms.push_back(term.c_str());
        costs.push_back(cost);
      }
      use(one.values.c_str(), terms.data(), costs.data(), costs.size(), context);
    }
  });
}
weft_event *weft_session_calls(weft_session *session) {
  return session ? reinterpret_cast<weft_event *>(&session->tuned.calls().inner()) : nullptr;
}

int weft_decisions_list(void (*use)(const char *decision, void *context), void *context) {
  return guarded([&] {
    require_body(use, "weft_decisions_list");
    for (const std::string &decision : weft::tune::decisions())
      use(decision.c_str(), context);
  });
}
