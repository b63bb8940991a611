// SPDX-License-Identifier: Apache-2.0
#include "recursion.hpp"

#include <weft/detail/work_estimate.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <queue>
#include <random>
#include <stdexcept>

namespace recursion_model {

namespace {

namespace rule = weft::detail;
using worker_id = unsigned;

struct range {
  std::size_t first = 0, count = 0;
  [[nodiscard]] range low() const noexcept { return {first, count / 2}; }
  [[nodiscard]] range high() const noexcept { return {first + count / 2, count - count / 2}; }
};

/// Is a call that has not returned.
struct frame {
  enum class kind {
    apart,    // a join whose second branch is public
    in_place, // joins that are plain calls
    branch,   // the call of a thief; its caller is the join
  } what = kind::apart;
  frame *caller = nullptr;
  range of;
  std::uint64_t cost = 0; // 0: not measured
  double began = 0;       // by the clock
  bool moved = false;     // a part of it ran on another worker
  // apart
  bool in_second = false; // the worker of the first branch runs the second one
  bool first_over = false, second_over = false;
  // in place
  std::vector<range> left; // the newest is the next
  bool asks = true;        // the look of its next join is still to come
  bool too_long = false;   // what is left is decided anew
  std::uint32_t calls = 1, look_at = rule::k_first_look;
  double since = 0;
};

/// Lists what a worker does at its next event.
enum class step { seek, call, publish, look, end, go_on };

struct worker {
  step next = step::seek;
  frame *at = nullptr; // the frame of the step; of a call the caller
  range of;            // what is called
  std::deque<frame *> open; // joins whose second branch may be stolen, the oldest first
  double idle_since = -1e300;
};

/// Is one call of the recursion.
class call_of {
 public:
  call_of(const parameters &p, const std::vector<double> &leaves, std::size_t cut, const cost_of &says,
          const clock &shows, rule::work_estimate &estimate, std::mt19937_64 &random)
      : m_p(p), m_leaves(leaves), m_cut(cut), m_says(says), m_shows(shows), m_estimate(estimate), m_random(random),
        m_workers(p.workers) {
    m_out.runs.assign(leaves.size(), 0);
  }

  outcome operator()() {
    for (worker_id w = m_p.workers; w-- > 1;)
      m_idle.push_back(w);
    call(0, {0, m_leaves.size()}, nullptr);
    while (!m_over) {
      const event now = m_events.top();
      m_events.pop();
      m_now = now.at;
      act(now.who);
    }
    m_out.largest = m_estimate.largest();
    return std::move(m_out);
  }

 private:
  struct event {
    double at;
    std::uint64_t number;
    worker_id who;
    friend bool operator<(const event &a, const event &b) noexcept { // the queue gives the greatest
      return a.at > b.at || (a.at == b.at && a.number > b.number);
    }
  };
  void after(double ns, worker_id who, step what, frame *at) {
    m_workers[who].next = what;
    m_workers[who].at = at;
    m_events.push({m_now + ns, m_numbers++, who});
  }
  [[nodiscard]] double clock_now() const { return m_shows ? m_shows(m_now) : m_now; }
  [[nodiscard]] std::uint64_t since(double began) const {
    return static_cast<std::uint64_t>(std::max(clock_now() - began, 0.0));
  }

  frame *make(frame::kind what, range of, frame *caller) {
    if (m_free.empty()) {
      m_frames.emplace_back();
      m_free.push_back(&m_frames.back());
    }
    frame *const made = m_free.back();
    m_free.pop_back();
    *made = frame{};
    made->what = what;
    made->of = of;
    made->caller = caller;
    return made;
  }
  frame *leave(frame *f) {
    m_free.push_back(f);
    return f->caller;
  }

  double leaf(std::size_t i) {
    double ns = m_leaves[i];
    ++m_out.runs[i];
    if (m_p.noise > 0)
      ns *= std::exp(std::normal_distribution<double>(0, m_p.noise)(m_random));
    if (m_p.preempted > 0 && std::uniform_real_distribution<double>(0, 1)(m_random) < m_p.preempted)
      ns += m_p.slice_ns;
    m_out.work_ns += ns;
    return ns;
  }
  double all_leaves(range of) {
    double ns = 0;
    for (std::size_t i = of.first; i < of.first + of.count; ++i)
      ns += leaf(i);
    return ns;
  }

  void act(worker_id w) {
    worker &own = m_workers[w];
    switch (own.next) {
    case step::seek:
      return seek(w);
    case step::call:
      return call(w, own.of, own.at);
    case step::publish:
      own.open.push_back(own.at);
      ++m_open;
      wake_one();
      return call(w, own.at->of.low(), own.at);
    case step::look:
      return look(w, *own.at);
    case step::end:
      return end(w, *own.at);
    case step::go_on:
      return return_to(w, own.at);
    }
  }

  /// Decides how a range goes on.
  void call(worker_id w, range of, frame *caller) {
    if (of.count == 1)
      return after(leaf(of.first), w, step::go_on, caller);
    if (m_cut != 0) {
      if (of.count <= m_cut)
        return after(all_leaves(of), w, step::go_on, caller);
      ++m_out.apart;
      return after(m_p.fork_ns, w, step::publish, make(frame::kind::apart, of, caller));
    }
    const std::uint64_t cost = m_says ? m_says(of.first, of.count) : of.count;
    const bool fits = m_estimate.fits(cost);
    frame &f = *make(fits ? frame::kind::in_place : frame::kind::apart, of, caller);
    f.cost = cost;
    f.began = clock_now();
    f.since = m_now;
    const double measured = cost != 0 ? 2 * m_p.clock_ns : 0;
    if (!fits) {
      ++m_out.apart;
      return after(measured + m_p.fork_ns, w, step::publish, &f);
    }
    ++m_out.in_place;
    if (m_p.in_place == below::serial)
      return after(measured + all_leaves(of), w, step::end, &f);
    f.left = {of.high(), of.low()};
    advance(w, f, measured + m_p.ask_ns);
  }

  /// Runs work in place until it has to look at the clock, or until what comes next is decided anew.
  void advance(worker_id w, frame &f, double ns) {
    while (!f.left.empty()) {
      const range next = f.left.back();
      if (next.count == 1) {
        ns += leaf(next.first);
        f.left.pop_back();
        continue;
      }
      if (f.too_long) {
        f.left.pop_back();
        m_workers[w].of = next;
        return after(ns, w, step::call, &f);
      }
      if (f.asks && ++f.calls == f.look_at)
        return after(ns + m_p.clock_ns, w, step::look, &f);
      f.asks = true;
      ++m_out.in_place;
      ns += m_p.ask_ns;
      f.left.back() = next.high();
      f.left.push_back(next.low());
    }
    after(ns, w, step::end, &f);
  }

  void look(worker_id w, frame &f) {
    if (since(f.began) <= rule::k_long_work_ns) {
      f.look_at = rule::next_look(f.calls);
      f.asks = false;
    } else {
      m_estimate.note_too_long();
      f.too_long = true;
      m_out.longest_ns = std::max(m_out.longest_ns, m_now - f.since);
    }
    advance(w, f, 0);
  }

  /// Ends work in place.
  void end(worker_id w, frame &f) {
    if (!f.too_long) {
      m_out.longest_ns = std::max(m_out.longest_ns, m_now - f.since);
      m_estimate.note_in_place(f.cost, since(f.began));
    }
    const bool moved = f.moved;
    frame *const caller = leave(&f);
    if (caller && moved)
      caller->moved = true;
    return_to(w, caller);
  }

  /// Goes on in a frame of which a call has returned.
  void return_to(worker_id w, frame *f) {
    if (!f) {
      m_out.time_ns = m_now;
      m_over = true;
      return;
    }
    switch (f->what) {
    case frame::kind::in_place:
      return advance(w, *f, 0);
    case frame::kind::branch: {
      frame *const join = leave(f);
      join->second_over = true;
      return join->first_over ? complete(w, *join) : seek(w);
    }
    case frame::kind::apart:
      break;
    }
    if (f->in_second)
      return complete(w, *f);
    std::deque<frame *> &open = m_workers[w].open;
    if (!open.empty() && open.back() == f) {
      open.pop_back();
      --m_open;
      f->in_second = true;
      return call(w, f->of.high(), f);
    }
    f->first_over = true;
    return f->second_over ? complete(w, *f) : seek(w);
  }

  /// Ends a join. The worker of the branch that is over last goes on.
  void complete(worker_id w, frame &f) {
    if (!f.moved && f.cost != 0)
      m_estimate.note(f.cost, since(f.began));
    const bool moved = f.moved;
    frame *const caller = leave(&f);
    if (caller && moved)
      caller->moved = true;
    return_to(w, caller);
  }

  void seek(worker_id w) {
    const unsigned from = static_cast<unsigned>(m_random() % m_p.workers);
    for (unsigned i = 0; m_open != 0 && i < m_p.workers; ++i) {
      std::deque<frame *> &open = m_workers[(from + i) % m_p.workers].open;
      if (open.empty())
        continue;
      frame &join = *open.front();
      open.pop_front();
      --m_open;
      ++m_out.steals;
      join.moved = true;
      m_workers[w].of = join.of.high();
      return after(m_p.steal_ns, w, step::call, make(frame::kind::branch, join.of.high(), &join));
    }
    m_workers[w].idle_since = m_now;
    m_idle.push_back(w);
  }
  void wake_one() {
    if (m_idle.empty())
      return;
    const worker_id w = m_idle.back();
    m_idle.pop_back();
    after(m_now - m_workers[w].idle_since > m_p.spin_ns ? m_p.wake_ns : 0, w, step::seek, nullptr);
  }

  const parameters &m_p;
  const std::vector<double> &m_leaves;
  const std::size_t m_cut;
  const cost_of &m_says;
  const clock &m_shows;
  rule::work_estimate &m_estimate;
  std::mt19937_64 &m_random;
  std::vector<worker> m_workers;
  std::vector<worker_id> m_idle;
  std::deque<frame> m_frames;
  std::vector<frame *> m_free;
  std::priority_queue<event> m_events;
  std::uint64_t m_numbers = 0;
  std::size_t m_open = 0; // branches that may be stolen
  double m_now = 0;
  bool m_over = false;
  outcome m_out;
};

} // namespace

outcome simulate(const parameters &p, const std::vector<double> &leaves, std::size_t cut, const cost_of &says,
                 const clock &shows) {
  if (p.workers == 0 || p.workers > 4096 || p.calls == 0 || leaves.empty() || !(p.ask_ns >= 0) || !(p.fork_ns >= 0) ||
      !(p.clock_ns >= 0) || !(p.steal_ns >= 0) || !(p.wake_ns >= 0) || !(p.spin_ns >= 0) || !(p.noise >= 0) ||
      !(p.preempted >= 0 && p.preempted <= 1) || !(p.slice_ns >= 0) ||
      std::any_of(leaves.begin(), leaves.end(), [](double ns) { return !(ns >= 0); }))
    throw std::invalid_argument("the model of a recursion needs a leaf, 1 to 4096 workers, a call, and no negative times");
  std::mt19937_64 random(p.seed);
  rule::work_estimate estimate;
  outcome last;
  for (unsigned i = 0; i < p.calls; ++i)
    last = call_of(p, leaves, cut, says, shows, estimate, random)();
  return last;
}

double best_cut(const parameters &p, const std::vector<double> &leaves) {
  double best = std::accumulate(leaves.begin(), leaves.end(), 0.0);
  for (std::size_t cut = 1; cut < leaves.size(); cut *= 4)
    best = std::min(best, simulate(p, leaves, cut).time_ns);
  return best;
}

} // namespace recursion_model
