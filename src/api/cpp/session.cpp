// SPDX-License-Identifier: Apache-2.0
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/log.hpp"
#include "config/process.hpp"
#include "observe/views.hpp"
#include "tune/decisions.hpp"
#include "tune/history.hpp"
#include "tune/hooks.hpp"
#include "tune/knobs.hpp"
#include "tune/mode.hpp"
#include "tune/objective.hpp"
#include "tune/paired_trials.hpp"
#include "tune/policies.hpp"
#include "tune/search_names.hpp"
#include "tune/search_values.hpp"
#include "worker/runtime.hpp"

#include <weft/tune.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <unistd.h>
#include <utility>

namespace weft::inline v0 {

using namespace rt;

namespace tune {
namespace {

/// Says which session's call tries a value, or is compared with one that did: one knob moves at a time.
std::atomic<const void *> g_turn{nullptr};

constexpr std::uint64_t k_patience_at_end_ns = 1'000'000'000; // with other writers of the history

/// Is what fork() asks of a session.
struct entered_session {
  std::mutex mutex;
  virtual void begin_in_child() noexcept = 0; ///< the mutex is held

 protected:
  ~entered_session() = default;
};

struct those_sessions {
  std::mutex mutex;
  std::vector<entered_session *> all;
};
those_sessions &sessions() {
  static auto *const those = new those_sessions; // never destroyed: a thread may fork while we exit
  return *those;
}

/// Has `busy` set in its scope, unless another scope has it.
class try_flag {
 public:
  explicit try_flag(std::atomic<bool> &busy) noexcept
      : m_busy(busy), m_has(!busy.exchange(true, std::memory_order_relaxed)) {}
  try_flag(const try_flag &) = delete;
  try_flag &operator=(const try_flag &) = delete;
  ~try_flag() {
    if (m_has)
      m_busy.store(false, std::memory_order_relaxed);
  }
  explicit operator bool() const noexcept { return m_has; }

 private:
  std::atomic<bool> &m_busy;
  const bool m_has;
};

/// Is a term of an objective: the time, a counter, or a formula of counters.
class objective_term {
 public:
  /// Throws invalid_argument for a ratio.
  objective_term(const std::string &formula, const std::string &whole) : m_whole(whole) {
    if (formula == objective_text::k_time)
      return;
    const counter_name parsed = parse_counter_name(formula);
    if (parsed.is_statistics())
      refuse();
    if (!parsed.is_arithmetics()) {
      m_names.push_back(parsed);
      return;
    }
    m_operation = parsed.base.substr(parsed.base.rfind('/') + 1);
    if (m_operation != "add" && m_operation != "subtract" && m_operation != "multiply")
      refuse();
    for (const auto &operand : split_names(parsed.parameters))
      m_names.push_back(parse_counter_name(operand));
  }
  /// Looks the counters up. Throws invalid_argument for one that is not known, or is no count.
  void check(const reading &numbers) const {
    for (const counter_name &name : m_names) {
      static_cast<void>(value_of(numbers, name));
      for (const counter_info &about : all_counters(numbers))
        if (about.name == name.base && about.kind != counter_kind::count &&
            about.kind != counter_kind::stopwatch)
          refuse();
    }
  }
  [[nodiscard]] bool is_time() const noexcept { return m_names.empty(); }
  [[nodiscard]] double of(const reading &interval) const {
    double value = value_of(interval, m_names.front());
    for (std::size_t i = 1; i < m_names.size(); ++i) {
      const double next = value_of(interval, m_names[i]);
      value = m_operation == "add"        ? value + next
              : m_operation == "subtract" ? value - next
                                          : value * next;
    }
    return value;
  }

 private:
  [[noreturn]] void refuse() const {
    throw_error(
        errc::invalid_argument,
        "the objective '%s' is a ratio or a level, which can be small though a unit of work costs much; name a count that grows, "
        "such as /threads/time/cumulative-overhead, or a sum of counts, or nothing for time",
        m_whole.c_str());
  }
  std::string m_whole, m_operation;
  std::vector<counter_name> m_names; // none: the time
};

/// Is what a unit of work is to cost little of.
class objective {
 public:
  /// Throws invalid_argument for what is badly written, and for a ratio.
  explicit objective(const std::string &text) : m_text(parse_objective(text)) {
    for (const std::string &term : m_text.terms)
      m_terms.emplace_back(term, text);
  }
  /// Looks the counters up. Throws invalid_argument for one that is not known, or is no count.
  void check(const reading &numbers) const {
    for (const objective_term &term : m_terms)
      term.check(numbers);
  }
  [[nodiscard]] bool is_time() const noexcept { return m_text.is_time(); }
  [[nodiscard]] const objective_text &text() const noexcept { return m_text; }
  /// Returns what an interval of this time has cost of each term.
  [[nodiscard]] std::vector<double> of(const reading &interval, std::uint64_t ns) const {
    std::vector<double> costs;
    for (const objective_term &term : m_terms)
      costs.push_back(term.is_time() ? static_cast<double>(ns) : term.of(interval));
    return costs;
  }

 private:
  objective_text m_text;
  std::vector<objective_term> m_terms;
};

/// Guesses by the law, from what a call has counted, which of the grains is large enough. A grain is a
/// number of units of work in a task. Nothing is guessed of a call without tasks.
std::optional<int> guess_by_law(const std::vector<std::int64_t> &grains, const reading &interval,
                                double work) {
  const auto of = [&interval](const char *name) {
    return value_of(interval, parse_counter_name(name));
  };
  const double tasks = of("/threads/count/cumulative"), ns = of("/threads/time/cumulative"),
               overhead = of("/threads/time/management");
  if (!(tasks > 0 && ns > 0 && overhead > 0))
    return std::nullopt;
  return first_by_law(grains, overhead / tasks, ns / work, k_law_share);
}

/// Returns a part with two digits, as in "1.05", in each locale.
std::string text_of_part(double part) {
  char text[400]; // the largest number has 309 digits
  return {text, std::to_chars(text, text + sizeof text, part, std::chars_format::fixed, 2).ptr};
}

tuning_choice choice_of_process() {
  const runtime *const rt = runtime_or_null();
  return parse_tuning(rt ? rt->cfg.tune : current_settings().tune);
}

/// Says how many parts of two keys are the same.
int parts_in_common(const finding_key &one, const finding_key &other) {
  return (one.build == other.build) + (one.size == other.size) + (one.machine == other.machine) +
         (one.workers == other.workers);
}

/// Returns the key of what this process finds.
finding_key key_of_process(const std::string &site, double work) {
  return {build_of_program(), site, size_bucket(work),
          machine_name(static_cast<unsigned>(this_machine().effective_cpus())),
          the_runtime().workers};
}

} // namespace

// The mutex guards what several threads ask about. The thread whose call is open changes all else; it
// reads counters without the mutex, because that calls functions of the program.
struct session::state final : entered_session {
  struct tuned {
    program_knob *knob;
    std::vector<std::int64_t> values;
    std::int64_t set; ///< what the session has given it
    std::uint32_t sets; ///< by others, as far as the session knows
    /// Says so also of a value that is the session's.
    [[nodiscard]] bool is_set_by_others() const noexcept {
      return knob->word.load(std::memory_order_relaxed) != set ||
             knob->sets.load(std::memory_order_relaxed) != sets;
    }
  };
  std::vector<tuned> knobs;
  std::string site;
  double budget = 0.02;
  std::string search; ///< its name
  objective aim{""};
  event calls;

  std::atomic<bool> is_resolved{false}; ///< the mode is known; only a thread with an open call changes it
  tuning_choice choice;
  std::vector<finding> replayed; ///< of this site, with tune=replay: the oldest first
  std::string history; ///< file
  std::optional<finding> unwritten; ///< for the history
  std::atomic<bool> is_writing{false}; ///< the history, with no lock held: that may take long
  std::optional<paired_trials> trials;
  std::optional<int> guess; ///< by the law
  bool has_warned = false; ///< of a search that is not here
  finding_key key;
  std::string said;
  bool has_decided = false; ///< in this call
  bool ended = false; ///< the knobs are left alone from now on
  std::size_t counted_trials = 0;
  double counted_lost = 0;

  bool open = false; ///< a call is measured
  std::uint64_t began = 0;
  std::optional<reading> before;

  state() {
    const std::lock_guard hold(sessions().mutex);
    sessions().all.push_back(this);
  }
  state(const state &) = delete;
  state &operator=(const state &) = delete;
  ~state() {
    const std::lock_guard hold(sessions().mutex);
    std::erase(sessions().all, this);
  }

  /// Has a call until it is closed: at the end of its scope, unless it is kept. Between calls the knobs
  /// have the values that have won, and the turn is free.
  class open_call {
   public:
    explicit open_call(state &of) noexcept : m_of(of) {}
    open_call(const open_call &) = delete;
    open_call &operator=(const open_call &) = delete;
    ~open_call() {
      if (m_is_kept)
        return;
      const std::lock_guard hold(m_of.mutex);
      m_of.close();
    }
    void keep() noexcept { m_is_kept = true; }

   private:
    state &m_of;
    bool m_is_kept = false;
  };
  /// Opens a call. Returns false while another thread's is measured.
  [[nodiscard]] bool try_open() noexcept {
    const std::unique_lock hold(mutex, std::try_to_lock);
    return hold && !std::exchange(open, true);
  }
  void close() noexcept {
    open = false;
    end_turn();
    give_back();
  }

  [[nodiscard]] bool awaits_guess() const { return begins_by_law(search) && !trials; }
  [[nodiscard]] bool needs_counters() const {
    return choice.mode == tuning_mode::on && (!aim.is_time() || awaits_guess());
  }
  [[nodiscard]] lattice_point now_point() const {
    lattice_point point;
    for (const tuned &of : knobs)
      point.push_back(static_cast<int>(std::find(of.values.begin(), of.values.end(), of.set) -
                                       of.values.begin()));
    return point;
  }
  [[nodiscard]] std::string text_of(const lattice_point &point) const {
    std::string text;
    for (std::size_t i = 0; i < knobs.size(); ++i)
      text += (i ? " " : "") + knobs[i].knob->name + "=" +
              knobs[i].knob->domain.text(knobs[i].values[static_cast<std::size_t>(point[i])]);
    return text;
  }
  /// Gives the knobs the values of a point, but for those that others have set meanwhile.
  void set_knobs(const lattice_point &point) noexcept {
    for (std::size_t i = 0; i < knobs.size(); ++i) {
      tuned &of = knobs[i];
      const std::int64_t value = of.values[static_cast<std::size_t>(point[i])];
      if (of.set != value && !of.is_set_by_others() &&
          replace_program_knob(*of.knob, of.set, value))
        of.set = value;
    }
  }
  /// Gives the knobs the values that they have between trials.
  void give_back() noexcept {
    if (trials && !ended)
      set_knobs(trials->present());
  }
  /// Ends the session if a user, the program or a policy has set a knob meanwhile: an explicit value
  /// wins.
  void look_for_others() {
    for (const tuned &of : knobs) {
      if (ended || !of.is_set_by_others())
        continue;
      say("leaves the knobs alone: " + of.knob->name + " was set to " +
          of.knob->domain.text(of.knob->word.load(std::memory_order_relaxed)) + " by others");
      end_for_good();
    }
  }

  void say(const std::string &what) {
    said = what;
    has_decided = true;
    note_decision(site, what, trials && trials->trials() != 0 ? trials->last_ratio() : 0);
  }
  [[nodiscard]] bool take_turn() noexcept {
    const void *turn = nullptr;
    return g_turn.compare_exchange_strong(turn, this, std::memory_order_relaxed);
  }
  void end_turn() noexcept {
    const void *own = this;
    g_turn.compare_exchange_strong(own, nullptr, std::memory_order_relaxed);
  }
  void end_for_good() noexcept {
    give_back();
    ended = true;
  }

  /// Finds what a point's texts mean; nothing if a value is not allowed, or of another knob.
  [[nodiscard]] std::optional<lattice_point> point_of(const finding &found) {
    lattice_point point;
    for (tuned &of : knobs) {
      const auto at = std::find_if(found.values.begin(), found.values.end(),
                                   [&of](const auto &pair) { return pair.first == of.knob->name; });
      if (at == found.values.end())
        return std::nullopt;
      const auto value = of.knob->domain.parse(at->second);
      if (!value)
        return std::nullopt;
      auto place = std::find(of.values.begin(), of.values.end(), *value);
      if (place == of.values.end())
        return std::nullopt;
      point.push_back(static_cast<int>(place - of.values.begin()));
    }
    return point;
  }

  /// Finds what a file has for this site, and gives the knobs values before the first call.
  void begin_replay() {
    std::string trouble;
    if (::access(choice.file.c_str(), R_OK) != 0)
      trouble =
          "tune=replay: the file '" + choice.file + "' cannot be read; knobs keep their values";
    else
      replayed = read_history(choice.file, trouble);
    std::erase_if(replayed,
                  [this](const finding &one) { return !is_of_site(one, site) || !point_of(one); });
    if (!trouble.empty())
      warn("%s", trouble.c_str());
    else if (replayed.empty())
      warn("tune=replay: the file '%s' has nothing of site '%s'; its knobs keep their values",
           choice.file.c_str(), site.c_str());
    replay(0);
    if (replayed.size() < 2)
      end_for_good(); // else the work of the first call tells
  }
  /// Gives the knobs the values of the finding whose key has most in common with this run's; of several
  /// the newest. `work`: of the first call; 0 before it.
  void replay(double work) {
    finding_key own = key_of_process(site, work);
    if (work == 0)
      own.size = std::numeric_limits<int>::min(); // no finding's
    const finding *best = nullptr;
    for (const finding &one : replayed)
      if (!best || parts_in_common(one.key, own) >= parts_in_common(best->key, own))
        best = &one;
    look_for_others();
    if (!best || ended)
      return;
    const lattice_point point = *point_of(*best);
    set_knobs(point);
    if (const std::string now = "replayed " + text_of(point); now != said)
      say(now);
  }

  /// Finds out what the setting tune asks for. The call is open.
  void resolve() {
    const tuning_choice asked = choice_of_process();
    if (asked.mode == tuning_mode::on && !aim.is_time())
      aim.check(read_counters_now()); // throws at each call
    const std::lock_guard hold(mutex);
    choice = asked;
    is_resolved.store(true, std::memory_order_relaxed);
    if (choice.mode == tuning_mode::replay)
      begin_replay();
    else if (choice.mode == tuning_mode::on)
      history = history_path(the_runtime().cfg.tune_history);
    else
      end_for_good();
  }

  /// Makes a search by its name, or the common one, with a warning, where that is not here.
  std::unique_ptr<rt::search> begin_search(const lattice &all, const lattice_point &first) {
    std::string trouble;
    auto made = make_search(search, all, first, guess, trouble);
    if (!trouble.empty() && !std::exchange(has_warned, true))
      warn("session '%s' cannot search by '%s': %s; it searches as it does without a name",
           site.c_str(), search.c_str(), trouble.c_str());
    return made;
  }

  /// Prepares the search, at the end of the first call: its work is known now.
  void prepare(double work) {
    std::optional<lattice_point> remembered;
    if (!history.empty()) {
      key = key_of_process(site, work);
      std::string trouble;
      const auto all = read_own_history(history, trouble);
      if (!trouble.empty())
        warn("%s", trouble.c_str());
      if (!all)
        history.clear(); // neither read nor written
      else if (const auto found = find_in(*all, key))
        remembered = point_of(*found);
    }
    lattice space;
    for (const tuned &of : knobs)
      space.sizes.push_back(static_cast<int>(of.values.size()));
    trials.emplace(
        std::move(space), now_point(),
        [](const lattice &all, const lattice_point &first, void *self) {
          return static_cast<state *>(self)->begin_search(all, first);
        },
        tuning_limits{budget, 0.02}, std::move(remembered), this, aim.text().by);
  }

  [[nodiscard]] std::vector<compromise> compromises() const {
    std::vector<compromise> all;
    if (!trials)
      return all;
    const auto &terms = aim.text().terms;
    for (const judged_point &one : trials->non_dominated()) {
      compromise made{text_of(one.point), {}};
      for (std::size_t i = 0; i < terms.size(); ++i)
        made.costs.emplace_back(terms[i], one.costs[i]);
      all.push_back(std::move(made));
    }
    return all;
  }
  /// Says which points no other one beats, when a search has ended.
  void say_compromises() const {
    constexpr std::size_t k_most = 16; // in the text of a decision
    std::string text = "not beaten in all costs:";
    const auto all = compromises();
    if (all.size() < 2)
      return;
    for (std::size_t i = 0; i < std::min(all.size(), k_most); ++i) {
      text += (i == 0 ? " " : "; ") + all[i].values + " (";
      for (std::size_t k = 0; k < all[i].costs.size(); ++k)
        text += (k == 0 ? "" : ", ") + all[i].costs[k].first + " " +
                text_of_part(all[i].costs[k].second) + "x";
      text += ")";
    }
    if (all.size() > k_most)
      text += "; and " + std::to_string(all.size() - k_most) + " more";
    note_decision(site, text);
  }

  void keep(bool is_good) {
    if (history.empty() || !trials)
      return;
    finding found{key, {}, trials->last_ratio()};
    if (is_good)
      for (std::size_t i = 0; i < knobs.size(); ++i)
        found.values.emplace_back(
            knobs[i].knob->name,
            knobs[i].knob->domain.text(
                knobs[i].values[static_cast<std::size_t>(trials->present()[i])]));
    unwritten = std::move(found);
  }
  /// Writes what is to be kept. While other processes write it waits for the next decision, or for the
  /// end of the session.
  void write_kept(std::uint64_t patience_ns) {
    const try_flag alone(is_writing);
    std::unique_lock hold(mutex);
    if (!alone || !unwritten || history.empty())
      return;
    const finding found = *std::exchange(unwritten, std::nullopt);
    const std::string path = history;
    hold.unlock();
    const auto trouble = write_history(path, found, patience_ns);
    hold.lock();
    if (!trouble && !unwritten)
      unwritten = found;
    if (!trouble || trouble->empty())
      return;
    warn("%s", trouble->c_str());
    history.clear(); // said once
  }

  void begin_in_child() noexcept override {
    open = false; // the thread that has begun it may be the parent's
    before.reset();
    unwritten.reset(); // the parent writes it
    is_writing.store(false, std::memory_order_relaxed);
    if (trials)
      trials->postpone();
    give_back();
    if (!ended)
      is_resolved.store(false, std::memory_order_relaxed); // the child's runtime begins later
  }

  /// Gives the knobs the values of this call.
  void begin_window() {
    if (!trials)
      return;
    if ((trials->tries() || trials->is_comparing()) && !take_turn())
      trials->postpone();
    set_knobs(trials->point());
  }
  /// Takes what the call has cost.
  void end_window(const tuned_window &seen) {
    look_for_others();
    if (ended || !(seen.work > 0))
      return;
    if (choice.mode == tuning_mode::replay) {
      replay(seen.work);
      return end_for_good();
    }
    if (!trials)
      prepare(seen.work);
    after(trials->take(seen));
  }

  [[nodiscard]] const char *beyond() const {
    return trials->keeps_bounds() ? "" : "; what it keeps is beyond a bound";
  }

  void after(tuning_event happened) {
    const double lost = trials->lost_ns();
    count_trials(trials->trials() - std::exchange(counted_trials, trials->trials()),
                 lost - std::exchange(counted_lost, lost));
    const std::string ratio = " (" + text_of_part(trials->last_ratio()) +
                              " of the default's cost, " + std::to_string(trials->trials()) +
                              " trials)";
    switch (happened) {
    case tuning_event::none:
    case tuning_event::judged:
      if (trials->memory_was_right() == false && trials->trials() == 1 &&
          happened == tuning_event::judged) {
        keep(false);
        say("what the history has is not better than the default: dropped");
      }
      break;
    case tuning_event::moved:
      say(text_of(trials->present()) + ratio);
      break;
    case tuning_event::settled:
      if (trials->memory_was_right() == true)
        say(text_of(trials->present()) + " from the history, verified" + ratio + beyond());
      else
        say("keeps " + text_of(trials->present()) + ": better than the default" + beyond());
      keep(trials->keeps_bounds());
      say_compromises();
      break;
    case tuning_event::kept_default:
      say("keeps the default, " + text_of(trials->present()) + ": nothing was 2 % better" + beyond());
      say_compromises();
      break;
    case tuning_event::reverted:
      count_revert();
      say("back to the default, " + text_of(trials->present()) + ": it has become better by 2 %");
      keep(false);
      break;
    case tuning_event::passed_bound:
      count_revert();
      say("back to the default, " + text_of(trials->present()) +
          ": the value that had won does not keep the bounds");
      keep(false);
      break;
    case tuning_event::returned:
      say("comes back to " + text_of(trials->present()) +
          ": a unit of work costs something else now, as before");
      break;
    case tuning_event::restarted:
      say(std::string("searches again: a unit of work costs something else now") +
          (aim.text().by.bounds.empty() ? "" : ", or a bound was passed"));
      break;
    case tuning_event::gave_up:
      say("gives up: calls have no time, no work or no objective; the default stays");
      end_for_good();
      break;
    }
  }
};

session::session(any_knob &knob, const plan &how) { make({knob.m_knob}, how); }
session::session(const std::vector<any_knob *> &knobs, const plan &how) {
  std::vector<program_knob *> own;
  for (const any_knob *knob : knobs)
    own.push_back(knob ? knob->m_knob : nullptr);
  make(own, how);
}
session::session(program_knob *const *knobs, std::size_t count, const plan &how) {
  make({knobs, knobs + count}, how);
}

void session::make(const std::vector<program_knob *> &knobs, const plan &how) {
  if (knobs.empty())
    throw_error(errc::invalid_argument, "a session got no knob; name at least one");
  m_state = std::make_unique<state>();
  for (program_knob *const own : knobs) {
    if (!own)
      throw_error(errc::invalid_argument, "a session got a knob that is null; name at least one");
    for (const auto &of : m_state->knobs)
      if (of.knob == own)
        throw_error(errc::invalid_argument, "a session got the knob '%s' twice; name it once",
                    own->name.c_str());
    const std::int64_t now = own->word.load(std::memory_order_relaxed);
    m_state->knobs.push_back({own, search_values(own->domain, now), now,
                              own->sets.load(std::memory_order_relaxed)});
  }
  if (!(how.budget >= 0 && how.budget <= 1))
    throw_error(errc::invalid_argument,
                "a session's budget is %g; it is a part of the run time, from 0 to 1", how.budget);
  if (const std::string trouble = why_no_search(how.search, knobs.size()); !trouble.empty())
    throw_error(errc::invalid_argument, "the search '%s' of a session %s", how.search.c_str(),
                trouble.c_str());
  if (begins_by_law(how.search) && knobs.front()->domain.what != knob_domain::kind::range &&
      knobs.front()->domain.what != knob_domain::kind::numbers)
    throw_error(errc::invalid_argument,
                "the search 'law' of a session guesses how many units of work a task has, and the knob "
                "'%s' has no whole numbers; name another search, or none",
                knobs.front()->name.c_str());
  m_state->search = how.search;
  m_state->budget = how.budget;
  m_state->site = how.site.empty() ? m_state->knobs.front().knob->name : how.site;
  m_state->aim = objective(how.objective);
}

session::~session() {
  state &own = *m_state;
  {
    const std::lock_guard hold(own.mutex);
    own.close();
  }
  own.write_kept(k_patience_at_end_ns);
}

bool session::begin_call() {
  state &own = *m_state;
  if (!own.is_resolved.load(std::memory_order_relaxed))
    static_cast<void>(this_worker()); // starts Weft, which reads the settings, with no lock held
  if (!own.try_open())
    return false; // another thread's call is measured
  state::open_call call(own);
  if (!own.is_resolved.load(std::memory_order_relaxed))
    own.resolve();
  {
    const std::lock_guard hold(own.mutex);
    own.look_for_others();
    if (own.ended || is_shut_down()) {
      m_is_on.store(false, std::memory_order_relaxed);
      return false;
    }
    own.begin_window();
  }
  if (own.needs_counters())
    own.before = read_counters_now();
  call.keep();
  own.began = now_ns();
  return true;
}

void session::end(double work) {
  const std::uint64_t now = now_ns();
  state &own = *m_state;
  {
    const std::lock_guard hold(own.mutex);
    if (!own.open)
      return;
  }
  bool has_decided = false;
  {
    const state::open_call call(own);
    tuned_window seen{work, now > own.began ? now - own.began : 0, 0, {}};
    seen.objective = static_cast<double>(seen.ns);
    if (own.needs_counters() && !is_shut_down()) {
      const reading interval = difference(read_counters_now(), *own.before);
      if (!own.aim.is_time())
        seen.terms = own.aim.of(interval, seen.ns);
      if (own.awaits_guess() && work > 0)
        own.guess = guess_by_law(own.knobs.front().values, interval, work);
    }
    const std::lock_guard hold(own.mutex);
    own.end_window(seen);
    has_decided = std::exchange(own.has_decided, false);
  }
  own.calls.fire();
  if (has_decided)
    own.write_kept(0);
}

bool session::settled() const {
  const std::lock_guard hold(m_state->mutex);
  return m_state->ended || (m_state->trials && m_state->trials->is_settled());
}
std::size_t session::trials() const {
  const std::lock_guard hold(m_state->mutex);
  return m_state->trials ? m_state->trials->trials() : 0;
}
std::string session::decision() const {
  const std::lock_guard hold(m_state->mutex);
  return m_state->said;
}
std::vector<compromise> session::compromises() const {
  const std::lock_guard hold(m_state->mutex);
  return m_state->compromises();
}
event &session::calls() noexcept { return m_state->calls; }

void trial::note_exceptions() noexcept { m_exceptions = std::uncaught_exceptions(); }
void trial::finish() noexcept {
  try {
    m_session.end(std::uncaught_exceptions() > m_exceptions ? 0 : m_work);
  } catch (const std::exception &e) { // no memory, or a counter that has gone
    warn("a call of a session is not counted: %s", e.what());
  }
}

} // namespace tune

void rt::sessions_before_fork() {
  tune::sessions().mutex.lock();
  for (tune::entered_session *of : tune::sessions().all)
    of->mutex.lock();
}
void rt::sessions_after_fork_in_parent() {
  for (tune::entered_session *of : tune::sessions().all)
    of->mutex.unlock();
  tune::sessions().mutex.unlock();
}
void rt::sessions_after_fork_in_child() {
  tune::g_turn.store(nullptr, std::memory_order_relaxed);
  for (tune::entered_session *of : tune::sessions().all) {
    of->begin_in_child();
    of->mutex.unlock();
  }
  tune::sessions().mutex.unlock();
}

} // namespace weft::inline v0
