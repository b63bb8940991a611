// SPDX-License-Identifier: Apache-2.0
// The loops of `#pragma oss`: iteration spaces, their chunks, and how tasks run them.
#pragma once

#include <weft/error.hpp>
#include <weft/mutex.hpp>
#include <weft/oss/items.hpp>
#include <weft/taskfor.hpp>
#include <weft/taskiter.hpp>
#include <weft/taskloop.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::inline v0 {
namespace oss {

/// Says what is asked of a callable that has the variables of a task.
enum class phase : std::uint8_t {
  run, ///< what the task is for
  ask, ///< whether a loop goes on
  ready ///< what `onready` says
};

/// Says how a loop's condition compares its variable with the limit.
enum class relation : std::uint8_t { less, less_equal, greater, greater_equal, unequal };

/// Returns a step that is to be subtracted.
template <class Step>
[[nodiscard]] constexpr std::int64_t signed_step(Step step) noexcept {
  return static_cast<std::int64_t>(step);
}

namespace detail {

[[noreturn]] inline void refuse_loop(const char *why) { throw error(errc::invalid_argument, why); }

/// Returns what a clause that counts iterations says.
template <class Value>
std::uint64_t positive(Value value, const char *why) {
  if (!precedes(0, value)) [[unlikely]]
    refuse_loop(why);
  return static_cast<std::uint64_t>(value);
}

} // namespace detail

/// Holds what one loop counts through.
template <class Index>
struct axis {
  using index = Index; ///< the type of the loop's variable
  Index first; ///< its first value
  std::int64_t step; ///< from one value to the next
  std::uint64_t count; ///< how many there are
  [[nodiscard]] Index operator[](std::uint64_t position) const noexcept { ///< one of them
    return static_cast<Index>(detail::bits_of(first) + position * detail::bits_of(step));
  }
};

namespace detail {
/// Says whether a type is that of enumerators that are numbers.
template <class Value>
inline constexpr bool is_enumerator =
    std::is_enum_v<Value> && std::is_convertible_v<Value, std::uint64_t>;
template <class Value>
inline constexpr bool is_count = std::is_integral_v<Value> || is_enumerator<Value>;
/// Returns the number that an enumerator is; any other value as it is.
template <class Value>
constexpr auto number(Value value) noexcept {
  if constexpr (is_enumerator<Value>)
    return +value;
  else
    return value;
}
} // namespace detail

/// @{ Returns the number of iterations that a clause gives.
template <class Value>
  requires detail::is_count<Value>
[[nodiscard]] constexpr auto iterations_of(const Value &value) noexcept {
  return detail::number(value);
}
template <class Value>
  requires(!detail::is_count<Value>)
int iterations_of(const Value &)
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
    __attribute__((diagnose_if(true,
                               "grainsize, chunksize, unroll and update of '#pragma oss' count "
                               "iterations: the expression must be an integer",
                               "error")))
#pragma clang diagnostic pop
#endif
    ;
/// @}

/// Is the axis of a loop that does not count with integers; the code of the loop refuses it.
struct no_axis : axis<int> {};

/// @{ Returns the values of `for (i = first; i < limit; i += step)`.
template <class Index, class Limit, class Step>
  requires(!std::is_integral_v<Index> || !detail::is_count<Limit> || !detail::is_count<Step>)
no_axis axis_of(const Index &, const Limit &, relation, const Step &);
template <class Index, class Limit, class Step>
  requires std::is_integral_v<Index> && std::is_integral_v<Limit> && std::is_integral_v<Step>
[[nodiscard]] axis<Index> axis_of(Index first, Limit limit, relation how, Step step) {
  const bool up = detail::precedes(0, step);
  if (step == 0) [[unlikely]]
    detail::refuse_loop("the step of a loop of '#pragma oss' is 0: no iteration would be the last");
  if (how == relation::unequal ? false
                               : up != (how == relation::less || how == relation::less_equal))
      [[unlikely]]
    detail::refuse_loop("the step of a loop of '#pragma oss' leads away from its limit");
  axis<Index> all{first, static_cast<std::int64_t>(step), 0};
  const bool included = how == relation::less_equal || how == relation::greater_equal;
  const bool beyond = up ? detail::precedes(limit, first) : detail::precedes(first, limit);
  if (beyond || (!included && !detail::precedes(first, limit) && !detail::precedes(limit, first)))
    return all;
  const std::uint64_t width = up ? detail::bits_of(limit) - detail::bits_of(first)
                                 : detail::bits_of(first) - detail::bits_of(limit);
  const std::uint64_t stride = up ? detail::bits_of(all.step) : 0 - detail::bits_of(all.step);
  all.count = (width - (included ? 0 : 1)) / stride + 1;
  return all;
}
template <class Index, class Limit, class Step>
  requires(std::is_integral_v<Index> && detail::is_count<Limit> && detail::is_count<Step> &&
           (detail::is_enumerator<Limit> || detail::is_enumerator<Step>))
[[nodiscard]] axis<Index> axis_of(Index first, Limit limit, relation how, Step step) {
  return axis_of(first, detail::number(limit), how, detail::number(step));
}
/// @}

/// Is a row of iterations of loops that are one, the last loop the fastest.
template <class... Indices>
class part {
  static constexpr std::size_t k_loops = sizeof...(Indices);

 public:
  /// Holds all iterations.
  explicit part(const axis<Indices> &...axes) noexcept : m_axes(axes...), m_count(1) {
    ((m_count *= axes.count), ...);
  }
  [[nodiscard]] std::uint64_t size() const noexcept { return m_count; } ///< how many
  [[nodiscard]] part slice(std::uint64_t first, std::uint64_t count) const noexcept { ///< of them
    part result = *this;
    result.m_first += first;
    result.m_count = count;
    return result;
  }
  /// Calls f with the values of the variables in the first iteration.
  template <class F>
  decltype(auto) at_front(const F &f) const {
    return at(positions(m_first), f, std::index_sequence_for<Indices...>{});
  }
  /// @{ Calls f with the least and the largest position of each variable.
  template <class F>
  decltype(auto) at_low(const F &f) const {
    auto low = positions(m_first);
    const auto high = positions(m_first + m_count - 1);
    bool same = true;
    for (std::size_t i = 0; i < k_loops; ++i) {
      if (!same)
        low[i] = 0;
      same = same && low[i] == high[i];
    }
    return at(low, f, std::index_sequence_for<Indices...>{});
  }
  template <class F>
  decltype(auto) at_high(const F &f) const {
    const auto low = positions(m_first);
    auto high = positions(m_first + m_count - 1);
    const auto counts = std::apply(
        [](const auto &...axes) { return std::array<std::uint64_t, k_loops>{axes.count...}; },
        m_axes);
    bool same = true;
    for (std::size_t i = 0; i < k_loops; ++i) {
      if (!same)
        high[i] = counts[i] - 1;
      same = same && low[i] == high[i];
    }
    return at(high, f, std::index_sequence_for<Indices...>{});
  }
  /// @}

  class place { ///< one iteration after the other
   public:
    explicit place(const part &all) noexcept
        : m_part(&all), m_at(all.positions(all.m_first)), m_left(all.m_count) {} ///< the first
    [[nodiscard]] bool is_there() const noexcept { return m_left != 0; } ///< whether one is left
    template <std::size_t I>
    [[nodiscard]] auto get() const noexcept { ///< the value of a variable
      return std::get<I>(m_part->m_axes)[m_at[I]];
    }
    void next() noexcept { ///< goes to the next
      if (--m_left == 0)
        return;
      const auto counts = std::apply(
          [](const auto &...axes) { return std::array<std::uint64_t, k_loops>{axes.count...}; },
          m_part->m_axes);
      for (std::size_t i = k_loops; i-- > 0 && ++m_at[i] == counts[i];)
        m_at[i] = 0;
    }

   private:
    const part *m_part;
    std::array<std::uint64_t, k_loops> m_at;
    std::uint64_t m_left;
  };
  [[nodiscard]] place begin() const noexcept { return place(*this); } ///< at the first iteration

 private:
  [[nodiscard]] std::array<std::uint64_t, k_loops> positions(std::uint64_t iteration) const {
    const auto counts = std::apply(
        [](const auto &...axes) { return std::array<std::uint64_t, k_loops>{axes.count...}; },
        m_axes);
    std::array<std::uint64_t, k_loops> at{};
    for (std::size_t i = k_loops; i-- > 0;) {
      at[i] = iteration % counts[i];
      iteration /= counts[i];
    }
    return at;
  }
  template <class F, std::size_t... I>
  decltype(auto) at(const std::array<std::uint64_t, k_loops> &positions, const F &f,
                    std::index_sequence<I...>) const {
    return f(std::get<I>(m_axes)[positions[I]]...);
  }

  std::tuple<axis<Indices>...> m_axes;
  std::uint64_t m_first = 0, m_count;
};

/// Is a row of iterations of one loop.
template <class Index>
class part<Index> {
 public:
  explicit part(const axis<Index> &all) noexcept : m_axis(all) {} ///< all iterations
  [[nodiscard]] std::uint64_t size() const noexcept { return m_axis.count; } ///< how many
  [[nodiscard]] part slice(std::uint64_t first, std::uint64_t count) const noexcept { ///< of them
    return part(axis<Index>{m_axis[first], m_axis.step, count});
  }
  [[nodiscard]] Index first() const noexcept { return m_axis.first; } ///< the first value
  [[nodiscard]] Index limit() const noexcept { return m_axis[m_axis.count]; } ///< behind the last
  /// @{ Calls f with the first, the first and the last value.
  template <class F>
  decltype(auto) at_front(const F &f) const {
    return f(m_axis.first);
  }
  template <class F>
  decltype(auto) at_low(const F &f) const {
    return f(m_axis.first);
  }
  template <class F>
  decltype(auto) at_high(const F &f) const {
    return f(m_axis[m_axis.count - 1]);
  }
  /// @}

  class place { ///< one iteration after the other
   public:
    explicit place(const axis<Index> &all) noexcept : m_axis(all) {} ///< the first
    [[nodiscard]] bool is_there() const noexcept { return m_at != m_axis.count; } ///< one is left
    template <std::size_t I>
    [[nodiscard]] Index get() const noexcept { ///< the value of the variable
      return m_axis[m_at];
    }
    void next() noexcept { ++m_at; } ///< goes to the next

   private:
    axis<Index> m_axis;
    std::uint64_t m_at = 0;
  };
  [[nodiscard]] place begin() const noexcept { return place(m_axis); } ///< at the first iteration

 private:
  axis<Index> m_axis;
};

/// Returns all iterations of loops that are one.
template <class... Indices>
[[nodiscard]] part<Indices...> space(const axis<Indices> &...axes) noexcept {
  return part<Indices...>(axes...);
}

/// Is what a loop over the chunks of a space runs through.
template <class Part>
class cut {
 public:
  cut(const Part &all, const weft::v0::detail::loop_plan &plan) noexcept
      : m_all(all), m_plan(plan) {} ///< as planned
  struct place { ///< one chunk
    const cut *all;
    std::uint64_t chunk;
    [[nodiscard]] Part operator*() const noexcept { ///< the chunk
      return all->m_all.slice(all->m_plan.first(chunk), all->m_plan.count(chunk));
    }
    place &operator++() noexcept { ///< goes to the next
      ++chunk;
      return *this;
    }
    [[nodiscard]] bool operator!=(const place &end) const noexcept {
      return chunk != end.chunk;
    } ///< by the number
  };
  [[nodiscard]] place begin() const noexcept { return {this, 0}; } ///< the first chunk
  [[nodiscard]] place end() const noexcept { return {this, m_plan.chunks}; } ///< behind the last

 private:
  Part m_all;
  weft::v0::detail::loop_plan m_plan;
};

/// @{ Returns the chunks of a taskloop: of a size, or some for each worker.
template <class Part, class Value>
[[nodiscard]] cut<Part> chunks(const Part &all, Value grain) {
  weft::v0::detail::loop_options options;
  options.grain =
      detail::positive(grain, "the grainsize of a '#pragma oss taskloop' is not positive");
  options.has_grain = true;
  return {all, weft::v0::detail::plan_chunks(all.size(), options)};
}
template <class Part>
[[nodiscard]] cut<Part> chunks(const Part &all) {
  return {all, weft::v0::detail::plan_chunks(all.size(), {})};
}
/// @}
/// Returns one chunk that is all of the loop, or none if the loop has no iteration.
template <class Part>
[[nodiscard]] cut<Part> one_chunk(const Part &all) noexcept {
  return {all, {all.size() != 0 ? std::uint64_t{1} : 0, all.size(), 0, all.size()}};
}

/// @{ Returns an item of a chunk's task: that of its first iteration, or all bytes between those of
/// its outermost iterations.
template <order Order, class Part, class F>
[[nodiscard]] clause_of<Order> over(const Part &chunk, const F &item) {
  if constexpr (Order == order::by_address)
    return chunk.at_front(item);
  else
    return detail::hull(chunk.at_low(item), chunk.at_high(item));
}
template <order Order, class Part, class F>
void each_over(const Part &chunk, access_list<Order> &list, const F &add) {
  const auto collect = [&](access_list<Order> &into) {
    return [&into, &add](auto... at) { add(into, at...); };
  };
  if constexpr (Order == order::by_address) {
    chunk.at_front(collect(list));
  } else {
    access_list<Order> low, high;
    chunk.at_low(collect(low));
    chunk.at_high(collect(high));
    const bool alike = low.all().size() == high.all().size();
    for (std::size_t i = 0; i < low.all().size(); ++i)
      list.add(alike ? detail::hull(low.all()[i], high.all()[i]) : low.all()[i]);
    for (std::size_t i = 0; !alike && i < high.all().size(); ++i)
      list.add(high.all()[i]);
  }
}
/// @}

namespace detail {

/// Gives each participant of a shared loop variables of its own, which live as long as the task.
template <class F>
class copies {
 public:
  explicit copies(F &&first) : m_first(new F(static_cast<F &&>(first))) {}
  copies(copies &&other) noexcept : m_first(std::move(other.m_first)) {} // before the loop begins
  copies &operator=(copies &&) = delete;
  ~copies() = default;
  [[nodiscard]] F *first() const noexcept { return m_first.get(); }

  template <class Part>
  void run(const Part &chunk) {
    const returned mine{this, take()};
    (*mine.copy)(&chunk);
  }

 private:
  struct returned {
    copies *all;
    F *copy;
    returned(copies *those, F *taken) noexcept : all(those), copy(taken) {}
    returned(const returned &) = delete;
    returned &operator=(const returned &) = delete;
    ~returned() {
      all->m_mutex.lock();
      all->m_free.push_back(copy); // within the capacity
      all->m_mutex.unlock();
    }
  };
  F *take() {
    m_mutex.lock();
    F *free = nullptr;
    if (!m_free.empty()) {
      free = m_free.back();
      m_free.pop_back();
    }
    m_mutex.unlock();
    if (free)
      return free;
    auto fresh = std::make_unique<F>(*m_first);
    m_mutex.lock();
    free = fresh.get();
    try {
      m_free.reserve(m_all.size() + 1);
      m_all.push_back(std::move(fresh));
    } catch (...) {
      m_mutex.unlock();
      throw;
    }
    m_mutex.unlock();
    return free;
  }

  std::unique_ptr<F> m_first; // that the others are copied from
  mutex m_mutex;
  std::vector<std::unique_ptr<F>> m_all;
  std::vector<F *> m_free;
};

template <class Part, class F>
struct shared_loop {
  copies<F> body;
  Part chunk;
  void operator()(const range<std::uint64_t> &some) {
    body.run(chunk.slice(some.first(), some.limit() - some.first()));
  }
};

} // namespace detail

/// Asks for a call when the task is ready, of the same callable as its body.
struct asks_when_ready {};

namespace detail {
template <class... Clauses>
inline constexpr bool asks = (std::is_same_v<Clauses, asks_when_ready> || ...);
/// Returns what spawn gets for a clause: nothing for asks_when_ready.
template <class Clause>
decltype(auto) without_asking(const Clause &clause) noexcept {
  if constexpr (std::is_same_v<Clause, asks_when_ready>)
    return weft::v0::stack_bytes(0);
  else
    return (clause);
}
} // namespace detail

/// Spawns one task whose chunks workers share; `body` takes the address of a part, or null when the task is ready.
template <class Part, class F, class... Clauses>
void spawn_shared(const Part &all, F &&body, const Clauses &...clauses) {
  using closure = std::decay_t<F>;
  detail::shared_loop<Part, closure> loop{detail::copies<closure>(static_cast<F &&>(body)), all};
  closure *const first = loop.body.first();
  if constexpr (detail::asks<Clauses...>)
    weft::taskfor(range<std::uint64_t>(all.size()), std::move(loop), weft::nogroup,
                  weft::onready([](void *p) { (*static_cast<closure *>(p))(nullptr); }, first),
                  detail::without_asking(clauses)...);
  else
    weft::taskfor(range<std::uint64_t>(all.size()), std::move(loop), weft::nogroup, clauses...);
}
/// Spawns a taskloop as one such task, in which as many chunks may wait at once as it would have tasks.
template <class Part, class F, class... Clauses>
void spawn_taskloop(const Part &all, F &&body, const Clauses &...clauses) {
  using closure = std::decay_t<F>;
  weft::taskloop(
      range<std::uint64_t>(all.size()),
      detail::shared_loop<Part, closure>{detail::copies<closure>(static_cast<F &&>(body)), all},
      weft::nogroup, clauses...);
}
/// Returns the clause of chunksize.
template <class Value>
[[nodiscard]] grain_size chunk_size(Value chunk) {
  return grain_size(
      detail::positive(chunk, "the chunksize of a '#pragma oss task for' is not positive"));
}

/// Says how often a taskiter runs, and how it is recorded.
struct iterations {
  std::uint64_t count = UINT64_MAX; ///< of a for loop
  std::uint64_t unroll = 1; ///< iterations of one recording, at most
  std::uint64_t update = 0; ///< iterations after which to record anew; 0: never
  bool asks = false; ///< whether a condition ends the loop
  bool deferred = true; ///< what `if` says
  bool is_final = false; ///< what `final` says

  template <class Value>
  [[nodiscard]] iterations unrolled(Value asked) const { ///< with `unroll`
    iterations result = *this;
    result.unroll =
        detail::positive(asked, "the unroll of a '#pragma oss taskiter' is not positive");
    return result;
  }
  template <class Value>
  [[nodiscard]] iterations updated(Value asked) const { ///< with `update`
    iterations result = *this;
    result.update =
        detail::positive(asked, "the update of a '#pragma oss taskiter' is not positive");
    return result;
  }
  [[nodiscard]] iterations with_if(bool is) const noexcept { ///< with `if`
    iterations result = *this;
    result.deferred = is;
    return result;
  }
  [[nodiscard]] iterations with_final(bool is) const noexcept { ///< with `final`
    iterations result = *this;
    result.is_final = is;
    return result;
  }
};

namespace detail {

/// Is the body of a taskiter: f(phase::run) spawns the tasks of an
/// iteration, f(phase::ask) asks whether there is one more.
template <class F>
struct repeated {
  F f;
  iterations how;

  /// Records once, and runs `rounds` iterations, or as many as the condition allows.
  void record(std::uint64_t rounds) {
    if (how.asks)
      return weft::v0::detail::iterate(
          UINT64_MAX, [](void *p) { return static_cast<repeated *>(p)->f(phase::ask); },
          [](void *p) { static_cast<repeated *>(p)->f(phase::run); }, this);
    m_unroll = how.unroll < rounds ? how.unroll : rounds;
    while (m_unroll > 1 && rounds % m_unroll != 0)
      --m_unroll;
    weft::v0::detail::iterate(
        m_unroll ? rounds / m_unroll : 0, nullptr,
        [](void *p) {
          auto *const self = static_cast<repeated *>(p);
          for (std::uint64_t i = 0; i < self->m_unroll; ++i)
            self->f(phase::run);
        },
        this);
  }
  void operator()() { record(how.count); }

  std::uint64_t m_unroll = 1;
};

/// Runs the iterations one after the other, without a recording.
template <class F>
struct plain_iterations {
  F f;
  iterations how;
  void operator()() {
    if (how.asks)
      while (f(phase::ask))
        f(phase::run);
    else
      for (std::uint64_t i = 0; i < how.count; ++i)
        f(phase::run);
  }
};

/// Records anew after every `update` iterations.
template <class F>
struct updated_iterations {
  F f;
  iterations how;
  void operator()() {
    if (!how.asks) {
      for (std::uint64_t left = how.count; left != 0;) {
        const std::uint64_t now = left < how.update ? left : how.update;
        iterations part = how;
        part.count = now;
        weft::v0::detail::spawn_taskiter(repeated<borrowed>{borrowed{&f}, part, 1});
        left -= now;
      }
      return;
    }
    bool more = f(phase::ask);
    while (more) {
      std::uint64_t done = 0;
      // Asked before the first iteration, whose answer is known, and behind each.
      auto again = [this, &more, &done] {
        if (done != 0)
          more = f(phase::ask);
        return more && done++ != how.update;
      };
      weft::taskiter(again, [this] { f(phase::run); });
    }
  }

 private:
  struct borrowed {
    F *f;
    bool operator()(phase asked) const { return (*f)(asked); }
  };
};

} // namespace detail

namespace detail {
template <class F>
struct owned_body {
  std::unique_ptr<F> f;
  bool operator()(phase asked) const { return (*f)(asked); }
};
} // namespace detail

/// Spawns a taskiter; `body` takes a phase.
template <class F, class... Clauses>
void spawn_taskiter(const iterations &how, F &&body, const Clauses &...clauses) {
  using closure = std::decay_t<F>;
  if constexpr (detail::asks<Clauses...>) {
    auto owned = std::make_unique<closure>(static_cast<F &&>(body));
    closure *const first = owned.get();
    spawn_taskiter(
        how, detail::owned_body<closure>{std::move(owned)},
        weft::onready([](void *p) { (*static_cast<closure *>(p))(phase::ready); }, first),
        detail::without_asking(clauses)...);
  } else if (!how.deferred || how.is_final) {
    weft::spawn(detail::plain_iterations<closure>{static_cast<F &&>(body), how}, clauses...,
                if_(how.deferred), weft::v0::final(how.is_final));
  } else if (how.update != 0) {
    weft::spawn(detail::updated_iterations<closure>{static_cast<F &&>(body), how}, clauses...);
  } else {
    weft::v0::detail::spawn_taskiter(detail::repeated<closure>{static_cast<F &&>(body), how, 1},
                                     weft::nogroup, clauses...);
  }
}

/// Spawns a task; `body` takes a phase, and is called when the task is ready, and to run.
template <class F, class... Clauses>
void spawn_with_onready(F &&body, const Clauses &...clauses) {
  using closure = std::decay_t<F>;
  auto owned = std::make_unique<closure>(static_cast<F &&>(body));
  closure *const first = owned.get();
  weft::spawn([owned = std::move(owned)] { (*owned)(phase::run); },
              weft::onready([](void *p) { (*static_cast<closure *>(p))(phase::ready); }, first),
              clauses...);
}

} // namespace oss
} // namespace weft::inline v0
