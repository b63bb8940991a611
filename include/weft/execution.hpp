// SPDX-License-Identifier: Apache-2.0
// Senders (P2300, std::execution): a scheduler of Weft, futures as senders and senders as futures, and a sync_wait that
// suspends. The sender algorithms are those of the program's own library: stdexec, or the standard library of C++26.
// Without one the header defines nothing but WEFT_HAS_P2300 as 0. Not part of <weft/weft.hpp>: such a library takes longer
// to compile than all of Weft.
#pragma once

#include <weft/detail/p2300.hpp>

#if WEFT_HAS_P2300

#include <weft/detail/sender.hpp>
#include <weft/error.hpp>
#include <weft/future.hpp>
#include <weft/stop.hpp>
#include <weft/sync/event.hpp>

#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <tuple>
#include <type_traits>
#include <utility>

namespace weft::inline v0 {

/// Is the program's library of senders.
namespace p2300 = WEFT_P2300_NAMESPACE;

class scheduler;

/// @cond
namespace detail {

/// Says of an environment that its stop token is never requested.
template <class Env>
concept unstoppable = requires {
  requires !std::remove_cvref_t<decltype(p2300::get_stop_token(
      std::declval<const Env &>()))>::stop_possible();
};

template <class Receiver>
bool is_stopped(const Receiver &receiver) noexcept {
  return p2300::get_stop_token(p2300::get_env(receiver)).stop_requested();
}

/// Completes a receiver with what a call has thrown.
template <class Receiver>
void fail(Receiver &&receiver, std::exception_ptr error) noexcept {
  p2300::set_error(static_cast<Receiver &&>(receiver), std::move(error));
}

struct bulk_domain;

template <class Receiver>
struct schedule_state : call_record {
  using operation_state_concept = WEFT_P2300_TAG(operation_state);

  explicit schedule_state(Receiver receiver) noexcept
      : call_record(&run), to(std::move(receiver)) {}
  schedule_state(schedule_state &&) = delete;
  void start() noexcept { post(*this); } // what it throws ends the program, and is its message
  static void run(call_record *self) noexcept {
    auto &mine = *static_cast<schedule_state *>(self);
    if constexpr (!unstoppable<decltype(p2300::get_env(mine.to))>) {
      if (is_stopped(mine.to))
        return p2300::set_stopped(std::move(mine.to));
    }
    p2300::set_value(std::move(mine.to));
  }
  Receiver to;
};

/// Says of a sender that it completes on Weft.
struct scheduler_attributes {
  template <class Tag>
    requires(!std::same_as<Tag, p2300::set_error_t>) // a schedule sends no error
  [[nodiscard]] scheduler query(p2300::get_completion_scheduler_t<Tag>) const noexcept;
  template <class Tag>
    requires(!std::same_as<Tag, p2300::set_error_t>)
  [[nodiscard]] scheduler query(p2300::get_completion_scheduler_t<Tag>,
                                const auto & /*env*/) const noexcept;
#if WEFT_P2300_HAS_COMPLETION_DOMAIN
  template <class Tag>
  [[nodiscard]] bulk_domain query(p2300::get_completion_domain_t<Tag>) const noexcept;
  template <class Tag>
  [[nodiscard]] bulk_domain query(p2300::get_completion_domain_t<Tag>,
                                  const auto & /*env*/) const noexcept;
#endif
};

struct schedule_sender {
  using sender_concept = WEFT_P2300_TAG(sender);
  template <class Self, class... Env>
  static consteval auto get_completion_signatures() {
    if constexpr (sizeof...(Env) != 0 && (unstoppable<Env> && ...))
      return p2300::completion_signatures<p2300::set_value_t()>{};
    else
      return p2300::completion_signatures<p2300::set_value_t(), p2300::set_stopped_t()>{};
  }
  template <class Receiver>
  [[nodiscard]] schedule_state<Receiver> connect(Receiver receiver) const noexcept {
    return schedule_state<Receiver>(std::move(receiver));
  }
  [[nodiscard]] scheduler_attributes get_env() const noexcept { return {}; }
};

} // namespace detail
/// @endcond

/// Is a scheduler of P2300 whose work runs on Weft's workers, each piece as a task of its own, which may wait and spawn.
/// All values are equal. `bulk`, `bulk_chunked` and `bulk_unchunked` behind it run through the loops of the library, on
/// workers that have nothing else to do. One that runs in a task that is cancelled meanwhile leaves calls out and is
/// stopped; so is one whose function throws errc::cancelled.
///
/// schedule() sends no error, and is stopped only by a token that can be requested. So the library's `task` and
/// `task_scheduler` take this scheduler.
///
/// Cost. schedule() and what follows allocate nothing: the record of the work is in the operation state.
/// Errors. The program ends, with the reason, where an operation starts Weft and cannot, or begins after shutdown();
/// weft::start() reports the first by an exception.
/// Threads. Any.
/// Source. ISO C++26, [exec.sched].
class scheduler {
 public:
  using scheduler_concept = WEFT_P2300_TAG(scheduler); ///< says that this is a scheduler

  /// Returns a sender that completes on a worker, or is stopped if its token is requested before.
  [[nodiscard]] detail::schedule_sender schedule() const noexcept { return {}; }
  /// Says that work makes progress once it has begun, whatever other work does: a wait suspends.
  [[nodiscard]] p2300::forward_progress_guarantee
  query(p2300::get_forward_progress_guarantee_t) const noexcept {
    return p2300::forward_progress_guarantee::parallel;
  }
  /// @cond
  template <class Tag>
    requires(!std::same_as<Tag, p2300::set_error_t>)
  [[nodiscard]] scheduler query(p2300::get_completion_scheduler_t<Tag>) const noexcept {
    return {};
  }
  template <class Tag>
    requires(!std::same_as<Tag, p2300::set_error_t>)
  [[nodiscard]] scheduler query(p2300::get_completion_scheduler_t<Tag>,
                                const auto & /*env*/) const noexcept {
    return {};
  }
#if WEFT_P2300_HAS_COMPLETION_DOMAIN
  template <class Tag>
  [[nodiscard]] detail::bulk_domain query(p2300::get_completion_domain_t<Tag>) const noexcept;
  template <class Tag>
  [[nodiscard]] detail::bulk_domain query(p2300::get_completion_domain_t<Tag>,
                                          const auto & /*env*/) const noexcept;
#endif
  /// @endcond
  friend bool operator==(scheduler, scheduler) noexcept = default; ///< true
};

/// Returns the scheduler of Weft.
[[nodiscard]] inline scheduler get_scheduler() noexcept { return {}; }

/// @cond
namespace detail {

template <class Tag>
  requires(!std::same_as<Tag, p2300::set_error_t>)
scheduler scheduler_attributes::query(p2300::get_completion_scheduler_t<Tag>) const noexcept {
  return {};
}
template <class Tag>
  requires(!std::same_as<Tag, p2300::set_error_t>)
scheduler scheduler_attributes::query(p2300::get_completion_scheduler_t<Tag>,
                                      const auto & /*env*/) const noexcept {
  return {};
}

// ---- bulk

#if WEFT_P2300_HAS_COMPLETION_DOMAIN

/// Calls a function for all indices when the sender before has completed, on the worker where it has.
template <bool Each, class Shape, class F, class Receiver>
struct bulk_receiver {
  using receiver_concept = WEFT_P2300_TAG(receiver);

  template <class... Values>
  void set_value(Values &&...values) noexcept {
    auto call_f = [&](std::size_t first, std::size_t end) {
      if constexpr (Each)
        f(static_cast<Shape>(first), values...);
      else
        f(static_cast<Shape>(first), static_cast<Shape>(end), values...);
    };
    using call = decltype(call_f);
    bulk_request request;
    request.count = shape > Shape{} ? static_cast<std::size_t>(shape) : 0;
    request.each = Each;
    request.context = &call_f;
    request.call = [](void *context, std::size_t first, std::size_t end) {
      (*static_cast<call *>(context))(first, end);
    };
    request.site = reinterpret_cast<const void *>(request.call);
    std::exception_ptr error = run_bulk(request);
    if (!error)
      p2300::set_value(std::move(to), static_cast<Values &&>(values)...);
    else if (is_cancellation(error))
      p2300::set_stopped(std::move(to));
    else
      fail(std::move(to), std::move(error));
  }
  template <class Error>
  void set_error(Error &&error) noexcept {
    p2300::set_error(std::move(to), static_cast<Error &&>(error));
  }
  void set_stopped() noexcept { p2300::set_stopped(std::move(to)); }
  [[nodiscard]] decltype(auto) get_env() const noexcept { return p2300::get_env(to); }

  Shape shape;
  F f;
  Receiver to;
};

/// Adds a completion, unless it is there.
template <class Signatures, class Other>
struct with_completion;
template <class... Signatures, class Other>
struct with_completion<p2300::completion_signatures<Signatures...>, Other> {
  using type = std::conditional_t<(std::is_same_v<Signatures, Other> || ...),
                                  p2300::completion_signatures<Signatures...>,
                                  p2300::completion_signatures<Signatures..., Other>>;
};
/// Adds those of a call that throws, and of one that a cancelled task leaves out.
template <class Signatures>
using or_unfinished = typename with_completion<
    typename with_completion<Signatures, p2300::set_error_t(std::exception_ptr)>::type,
    p2300::set_stopped_t()>::type;

template <bool Each, class Shape, class F, class Child>
struct bulk_sender {
  using sender_concept = WEFT_P2300_TAG(sender);

  template <class Self, class... Env>
  static consteval auto get_completion_signatures() {
    return or_unfinished<p2300::completion_signatures_of_t<Child, Env...>>{};
  }
  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) && {
    return p2300::connect(std::move(child), bulk_receiver<Each, Shape, F, Receiver>{
                                                shape, std::move(f), std::move(receiver)});
  }
  template <class Receiver>
  [[nodiscard]] auto connect(Receiver receiver) const & {
    return p2300::connect(child,
                          bulk_receiver<Each, Shape, F, Receiver>{shape, f, std::move(receiver)});
  }
  [[nodiscard]] decltype(auto) get_env() const noexcept { return p2300::get_env(child); }

  Shape shape;
  F f;
  Child child;
};

template <class Policy>
concept allows_parallel = std::same_as<Policy, std::remove_cvref_t<decltype(p2300::par)>> ||
                          std::same_as<Policy, std::remove_cvref_t<decltype(p2300::par_unseq)>>;

/// Takes the policy out of what a library wraps it in.
template <class Wrapped>
decltype(auto) policy_in(const Wrapped &wrapped) noexcept {
  if constexpr (requires { wrapped.__get(); })
    return wrapped.__get();
  else if constexpr (requires { wrapped.get(); })
    return wrapped.get();
  else
    return wrapped;
}

struct bulk_domain : p2300::default_domain {
  /// Replaces bulk_chunked and bulk_unchunked whose policy allows it.
  template <class Sender, class Env>
    requires std::same_as<p2300::tag_of_t<Sender>, p2300::bulk_chunked_t> ||
             std::same_as<p2300::tag_of_t<Sender>, p2300::bulk_unchunked_t>
  auto transform_sender(p2300::set_value_t, Sender &&sender, const Env &env) const {
    auto &&[tag, data, child] = static_cast<Sender &&>(sender);
    auto &&[wrapped, shape, f] = data;
    using policy = std::remove_cvref_t<decltype(policy_in(wrapped))>;
    if constexpr (allows_parallel<policy>) {
      constexpr bool each =
          std::same_as<std::remove_cvref_t<decltype(tag)>, p2300::bulk_unchunked_t>;
      return bulk_sender<each, std::remove_cvref_t<decltype(shape)>,
                         std::remove_cvref_t<decltype(f)>, std::remove_cvref_t<decltype(child)>>{
          shape, forward_as<Sender>(f), forward_as<Sender>(child)};
    } else {
      return p2300::default_domain().transform_sender(p2300::set_value_t(),
                                                      static_cast<Sender &&>(sender), env);
    }
  }
  using p2300::default_domain::transform_sender;

 private:
  template <class Whole, class Part>
  static decltype(auto) forward_as(Part &part) noexcept {
    if constexpr (std::is_lvalue_reference_v<Whole>)
      return std::as_const(part);
    else
      return std::move(part);
  }
};

template <class Tag>
bulk_domain scheduler_attributes::query(p2300::get_completion_domain_t<Tag>) const noexcept {
  return {};
}
template <class Tag>
bulk_domain scheduler_attributes::query(p2300::get_completion_domain_t<Tag>,
                                        const auto & /*env*/) const noexcept {
  return {};
}

#endif // WEFT_P2300_HAS_COMPLETION_DOMAIN

// ---- futures

template <class T, class Receiver>
struct future_state {
  using operation_state_concept = WEFT_P2300_TAG(operation_state);

  struct on_stop {
    future_state *of;
    void operator()() const noexcept { of->give_up(); }
  };
  using token = decltype(p2300::get_stop_token(p2300::get_env(std::declval<const Receiver &>())));
  using callback = stop_callback_for_t<std::remove_cvref_t<token>, on_stop>;

  future_state(future<T> awaited, Receiver receiver) noexcept
      : from(std::move(awaited)), to(std::move(receiver)), node(&run) {
    node.of = this;
  }
  future_state(future_state &&) = delete;

  void start() noexcept {
    task *const state = future_access::state(from);
    try {
      if (!state)
        throw_no_state();
      task_start(state);
    } catch (...) {
      return fail(std::move(to), std::current_exception());
    }
    if (!task_attach(state, &node))
      return complete();
    auto stop = p2300::get_stop_token(p2300::get_env(to));
    if (stop.stop_possible())
      request.emplace(std::move(stop), on_stop{this});
    leave();
  }

 private:
  struct own_node : posting_waiter {
    using posting_waiter::posting_waiter;
    future_state *of = nullptr;
  };
  static void run(call_record *call) noexcept {
    static_cast<own_node *>(static_cast<posted_call *>(call)->owner)->of->leave();
  }
  /// Is called in a stop request: if the future is not ready, a worker stops the receiver.
  void give_up() noexcept {
    if (!task_detach(future_access::state(from), &node))
      return;
    stopped = true;
    if (try_post(node.record))
      std::terminate(); // Weft has started: the state exists
  }
  /// Completes when both the record has run and start() is over.
  void leave() noexcept {
    if (users.fetch_sub(1, std::memory_order_acq_rel) == 1)
      complete();
  }
  void complete() noexcept {
    request.reset(); // a request that is going on is waited for
    if (stopped)
      return p2300::set_stopped(std::move(to));
    try {
      if constexpr (std::is_void_v<T>) {
        from.get();
        p2300::set_value(std::move(to));
      } else {
        p2300::set_value(std::move(to), from.get());
      }
    } catch (const error &e) {
      if (e.code() == errc::cancelled)
        p2300::set_stopped(std::move(to));
      else
        fail(std::move(to), std::current_exception());
    } catch (...) {
      fail(std::move(to), std::current_exception());
    }
  }

  future<T> from;
  Receiver to;
  own_node node;
  std::optional<callback> request;
  std::atomic<int> users{2};
  bool stopped = false;
};

template <class T>
struct future_value {
  using type = p2300::set_value_t(T);
};
template <>
struct future_value<void> {
  using type = p2300::set_value_t();
};

template <class T>
struct future_sender {
  using sender_concept = WEFT_P2300_TAG(sender);
  using completion_signatures =
      p2300::completion_signatures<typename future_value<T>::type,
                                   p2300::set_error_t(std::exception_ptr), p2300::set_stopped_t()>;
  template <class Receiver>
  [[nodiscard]] future_state<T, Receiver> connect(Receiver receiver) && noexcept {
    return {std::move(from), std::move(receiver)};
  }
  future<T> from;
};

// ---- waits

template <class... Values>
using decayed_tuple = std::tuple<std::decay_t<Values>...>;
template <class... Alternatives>
struct only {
  static_assert(sizeof...(Alternatives) == 1,
                "the sender must have one set_value completion; pass it through into_variant");
};
template <class One>
struct only<One> {
  using type = One;
};
/// Is a tuple of what a sender sends.
template <class Sender, class Env>
using values_of = typename p2300::value_types_of_t<Sender, Env, decayed_tuple, only>::type;

/// Is the environment of what waits on Weft: its work may go on at Weft's workers, also while the
/// waiter is suspended.
struct waiter_env {
  [[nodiscard]] scheduler query(p2300::get_scheduler_t) const noexcept { return {}; }
  [[nodiscard]] scheduler query(p2300::get_delegation_scheduler_t) const noexcept { return {}; }
#if WEFT_P2300_HAS_COMPLETION_DOMAIN
  [[nodiscard]] scheduler query(p2300::get_start_scheduler_t) const noexcept { return {}; }
#endif
};

template <class Error>
std::exception_ptr as_exception(Error &&error) noexcept {
  if constexpr (std::is_same_v<std::decay_t<Error>, std::exception_ptr>)
    return static_cast<Error &&>(error);
  else if constexpr (std::is_same_v<std::decay_t<Error>, std::error_code>)
    return std::make_exception_ptr(std::system_error(error));
  else
    return std::make_exception_ptr(static_cast<Error &&>(error));
}

/// Holds what a sender has completed with.
template <class Values>
struct outcome {
  std::optional<Values> values;
  std::exception_ptr error;
  template <class... Args>
  void set(Args &&...args) noexcept {
    try {
      values.emplace(static_cast<Args &&>(args)...);
    } catch (...) {
      error = std::current_exception();
    }
  }
};

template <class Values>
struct waited : outcome<Values> {
  event done;
  struct receiver {
    using receiver_concept = WEFT_P2300_TAG(receiver);
    template <class... Args>
    void set_value(Args &&...args) noexcept {
      to->set(static_cast<Args &&>(args)...);
      to->done.set();
    }
    template <class Error>
    void set_error(Error &&error) noexcept {
      to->error = as_exception(static_cast<Error &&>(error));
      to->done.set();
    }
    void set_stopped() noexcept { to->done.set(); }
    [[nodiscard]] waiter_env get_env() const noexcept { return {}; }
    waited *to;
  };
};

/// Is the type of a future of what a sender sends.
template <class Values>
struct future_of {
  using type = Values;
};
template <>
struct future_of<std::tuple<>> {
  using type = void;
};
template <class One>
struct future_of<std::tuple<One>> {
  using type = One;
};

/// Owns an operation that fulfils a promise, and itself.
template <class Sender, class Values>
struct promised {
  using result = typename future_of<Values>::type;
  struct receiver {
    using receiver_concept = WEFT_P2300_TAG(receiver);
    template <class... Args>
    void set_value(Args &&...args) noexcept {
      outcome<Values> got;
      got.set(static_cast<Args &&>(args)...);
      to->finish(got);
    }
    template <class Error>
    void set_error(Error &&error) noexcept {
      outcome<Values> got;
      got.error = as_exception(static_cast<Error &&>(error));
      to->finish(got);
    }
    void set_stopped() noexcept {
      outcome<Values> nothing;
      to->finish(nothing);
    }
    [[nodiscard]] waiter_env get_env() const noexcept { return {}; }
    promised *to;
  };

  explicit promised(Sender &&sender)
      : operation(p2300::connect(static_cast<Sender &&>(sender), receiver{this})) {}

  /// Ends the operation before the future is ready. `got` is outside of it; its move may throw.
  void finish(outcome<Values> &got) noexcept {
    promise<result> kept = std::move(to);
    delete this;
    if (got.error)
      return kept.set_exception(std::move(got.error));
    if (!got.values)
      return kept.set_exception(stopped_sender());
    try {
      if constexpr (std::is_void_v<result>)
        kept.set_value();
      else if constexpr (std::is_same_v<result, Values>)
        kept.set_value(std::move(*got.values));
      else
        kept.set_value(std::get<0>(std::move(*got.values)));
    } catch (...) {
      kept.set_exception(std::current_exception());
    }
  }

  promise<result> to;
  p2300::connect_result_t<Sender, receiver> operation;
};

} // namespace detail
/// @endcond

/// Returns a sender that takes the future over: it completes with the future's value on a worker, or at once if the
/// future is ready when the operation starts. An exception is set_error; errc::cancelled is set_stopped. A deferred task
/// begins when the operation starts.
///
/// - If the receiver's token is requested before the future is ready, the sender is stopped, and the future's task goes
///   on. future::request_stop() asks that task.
///
/// Cost. No allocation.
/// Errors. The operation of an empty future ends with std::future_error no_state.
template <class T>
[[nodiscard]] detail::future_sender<T> as_sender(future<T> &&awaited) noexcept {
  return {std::move(awaited)};
}

/// Starts a sender and returns the future of what it sends: of nothing, of a value, or of a tuple of values. A sender
/// that is stopped gives errc::cancelled. Senders that ask for a scheduler get Weft's.
///
/// Cost. One allocation, and that of a promise.
/// Threads. Any.
/// Errors. out_of_resources; what connecting the sender throws. Then the sender was not started.
template <class Sender>
  requires p2300::sender_in<Sender, detail::waiter_env>
[[nodiscard]] auto as_future(Sender &&sender) {
  using values = detail::values_of<Sender, detail::waiter_env>;
  using operation = detail::promised<Sender, values>;
  auto made = std::make_unique<operation>(static_cast<Sender &&>(sender));
  auto result = made->to.get_future();
  p2300::start(made.release()->operation);
  return result;
}

/// Starts a sender and waits until it has completed. Returns a tuple of what it sends, or nothing if it was stopped.
/// Senders that ask for a scheduler, or for one to delegate work to, get Weft's.
///
/// The sync_wait of the program's library blocks its kernel thread, and so a worker; this one suspends the task.
///
/// Threads. Any.
/// Blocks. Yes: the worker runs other tasks meanwhile.
/// Errors. What the sender ends with: an exception is rethrown, a std::error_code thrown as std::system_error, another
/// value thrown. Else as event::wait().
template <class Sender>
  requires p2300::sender_in<Sender, detail::waiter_env>
auto sync_wait(Sender &&sender) -> std::optional<detail::values_of<Sender, detail::waiter_env>> {
  using wait = detail::waited<detail::values_of<Sender, detail::waiter_env>>;
  wait w;
  auto operation = p2300::connect(static_cast<Sender &&>(sender), typename wait::receiver{&w});
  detail::require_wait(); // once the operation has started there is no way back
  p2300::start(operation);
  detail::wait_surely(w.done);
  if (w.error)
    std::rethrow_exception(std::move(w.error));
  return std::move(w.values);
}

} // namespace weft::inline v0

#endif // WEFT_HAS_P2300
