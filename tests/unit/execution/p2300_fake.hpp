// SPDX-License-Identifier: Apache-2.0
// A small library in the place of a P2300 one, with the parts of its interface that weft/execution.hpp and the backend use.
// Written from ISO C++26, [exec]; it checks nothing that the templates of Weft do not need.
#pragma once

#include <weft/stop.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace p2300_fake {

struct sender_tag {};
struct receiver_tag {};
struct operation_state_tag {};
struct scheduler_tag {};
using weft::inplace_stop_token;
using weft::never_stop_token;

// ---- completions

struct set_value_t {
  template <class R, class... Values>
  void operator()(R &&r, Values &&...values) const noexcept {
    static_cast<R &&>(r).set_value(static_cast<Values &&>(values)...);
  }
};
struct set_error_t {
  template <class R, class Error>
  void operator()(R &&r, Error &&error) const noexcept {
    static_cast<R &&>(r).set_error(static_cast<Error &&>(error));
  }
};
struct set_stopped_t {
  template <class R>
  void operator()(R &&r) const noexcept {
    static_cast<R &&>(r).set_stopped();
  }
};
inline constexpr set_value_t set_value;
inline constexpr set_error_t set_error;
inline constexpr set_stopped_t set_stopped;

template <class... Signatures>
struct completion_signatures {};
template <class Sender, class... Env>
struct signatures_of {
  using type = decltype(Sender::template get_completion_signatures<Sender, Env...>());
};
template <class Sender, class... Env>
  requires requires { typename Sender::completion_signatures; }
struct signatures_of<Sender, Env...> {
  using type = typename Sender::completion_signatures;
};
template <class Sender, class... Env>
using completion_signatures_of_t =
    typename signatures_of<std::remove_cvref_t<Sender>, Env...>::type;

template <template <class...> class Tuple, template <class...> class Variant, class Left,
          class... Done>
struct gather;
template <template <class...> class Tuple, template <class...> class Variant, class... Done>
struct gather<Tuple, Variant, completion_signatures<>, Done...> {
  using type = Variant<Done...>;
};
template <template <class...> class Tuple, template <class...> class Variant, class... Values,
          class... Left, class... Done>
struct gather<Tuple, Variant, completion_signatures<set_value_t(Values...), Left...>, Done...>
    : gather<Tuple, Variant, completion_signatures<Left...>, Done..., Tuple<Values...>> {};
template <template <class...> class Tuple, template <class...> class Variant, class Other,
          class... Left, class... Done>
struct gather<Tuple, Variant, completion_signatures<Other, Left...>, Done...>
    : gather<Tuple, Variant, completion_signatures<Left...>, Done...> {};
template <class Sender, class Env, template <class...> class Tuple,
          template <class...> class Variant>
using value_types_of_t =
    typename gather<Tuple, Variant, completion_signatures_of_t<Sender, Env>>::type;
template <class Sender, class Env>
concept sender_in = requires { typename completion_signatures_of_t<Sender, Env>; };

// ---- environments and queries

struct empty_env {};
struct get_env_t {
  template <class T>
  decltype(auto) operator()(const T &t) const noexcept {
    if constexpr (requires { t.get_env(); })
      return t.get_env();
    else
      return empty_env{};
  }
};
inline constexpr get_env_t get_env;

template <class Self>
struct query_of {
  template <class Env>
    requires requires(const Env &e) { e.query(Self()); }
  auto operator()(const Env &e) const noexcept {
    return e.query(Self());
  }
};
struct get_stop_token_t {
  template <class Env>
  auto operator()(const Env &e) const noexcept {
    if constexpr (requires { e.query(get_stop_token_t()); })
      return e.query(get_stop_token_t());
    else
      return never_stop_token();
  }
};
struct get_scheduler_t : query_of<get_scheduler_t> {};
struct get_start_scheduler_t : query_of<get_start_scheduler_t> {};
struct get_delegation_scheduler_t : query_of<get_delegation_scheduler_t> {};
struct get_forward_progress_guarantee_t : query_of<get_forward_progress_guarantee_t> {};
template <class Tag>
struct get_completion_scheduler_t : query_of<get_completion_scheduler_t<Tag>> {};
template <class Tag>
struct get_completion_domain_t : query_of<get_completion_domain_t<Tag>> {};
inline constexpr get_stop_token_t get_stop_token;
enum class forward_progress_guarantee { concurrent, parallel, weakly_parallel };

// ---- senders

struct default_domain {
  template <class Tag, class Sender, class Env>
  Sender &&transform_sender(Tag, Sender &&sender, const Env &) const noexcept {
    return static_cast<Sender &&>(sender);
  }
};

struct connect_t {
  template <class Sender, class Receiver>
  auto operator()(Sender &&sender, Receiver r) const {
    if constexpr (
        requires { get_completion_domain_t<set_value_t>()(get_env(sender)); } &&
        requires { typename std::remove_cvref_t<Sender>::is_bulk; }) {
      const auto domain = get_completion_domain_t<set_value_t>()(get_env(sender));
      auto &&changed =
          domain.transform_sender(set_value, static_cast<Sender &&>(sender), get_env(r));
      return static_cast<decltype(changed) &&>(changed).connect(std::move(r));
    } else {
      return static_cast<Sender &&>(sender).connect(std::move(r));
    }
  }
};
struct start_t {
  template <class State>
  void operator()(State &s) const noexcept {
    s.start();
  }
};
inline constexpr connect_t connect;
inline constexpr start_t start;
template <class Sender, class Receiver>
using connect_result_t = decltype(connect_t()(std::declval<Sender>(), std::declval<Receiver>()));

template <class Tag, class... Values>
Tag tag_in(Tag (*)(Values...));
template <class Completion, class... Values>
struct just_sender {
  using sender_concept = sender_tag;
  using completion_signatures = p2300_fake::completion_signatures<Completion>;
  template <class Receiver>
  struct state {
    void start() noexcept {
      std::apply([this](auto &...v) { Tag()(std::move(to), std::move(v)...); }, values);
    }
    using Tag = decltype(tag_in(static_cast<Completion *>(nullptr)));
    std::tuple<Values...> values;
    Receiver to;
  };
  template <class Receiver>
  state<Receiver> connect(Receiver r) && {
    return {std::move(values), std::move(r)};
  }
  std::tuple<Values...> values;
};
template <class... Values>
auto just(Values... values) {
  return just_sender<set_value_t(Values...), Values...>{{std::move(values)...}};
}
template <class Error>
auto just_error(Error error) {
  return just_sender<set_error_t(Error), Error>{{std::move(error)}};
}

template <class Value>
struct value_signature {
  using type = set_value_t(Value);
};
template <>
struct value_signature<void> {
  using type = set_value_t();
};
/// Calls a function when a sender has sent nothing.
template <class Child, class F>
struct then_sender {
  using sender_concept = sender_tag;
  using result = std::invoke_result_t<F &>;
  using completion_signatures =
      p2300_fake::completion_signatures<typename value_signature<result>::type,
                                        set_error_t(std::exception_ptr), set_stopped_t()>;
  template <class Receiver>
  struct receiver {
    void set_value() noexcept {
      try {
        if constexpr (std::is_void_v<result>) {
          f();
          to.set_value();
        } else {
          to.set_value(f());
        }
      } catch (...) {
        to.set_error(std::current_exception());
      }
    }
    void set_error(std::exception_ptr e) noexcept { to.set_error(std::move(e)); }
    void set_stopped() noexcept { to.set_stopped(); }
    decltype(auto) get_env() const noexcept { return p2300_fake::get_env(to); }
    F f;
    Receiver to;
  };
  template <class Receiver>
  auto connect(Receiver r) && {
    return p2300_fake::connect(std::move(child), receiver<Receiver>{std::move(f), std::move(r)});
  }
  decltype(auto) get_env() const noexcept { return p2300_fake::get_env(child); }
  Child child;
  F f;
};
template <class Child, class F>
auto then(Child child, F f) {
  return then_sender<Child, F>{std::move(child), std::move(f)};
}

// ---- bulk

struct sequenced_policy {};
struct parallel_policy {};
struct parallel_unsequenced_policy {};
inline constexpr sequenced_policy seq;
inline constexpr parallel_policy par;
inline constexpr parallel_unsequenced_policy par_unseq;

template <class Policy>
struct wrapped_policy {
  Policy policy;
  const Policy &get() const noexcept { return policy; }
};
template <class Policy, class Shape, class F>
struct bulk_data {
  wrapped_policy<Policy> policy;
  Shape shape;
  F f;
};
struct bulk_chunked_t {};
struct bulk_unchunked_t {};
/// Is what a library makes of bulk(); a domain replaces it. By itself it calls in order.
template <class Tag, class Data, class Child>
struct bulk_sender {
  using is_bulk = void;
  template <class Self, class... Env>
  static consteval auto get_completion_signatures() {
    return completion_signatures_of_t<Child, Env...>();
  }
  template <class Receiver>
  struct receiver {
    template <class... Values>
    void set_value(Values &&...values) noexcept {
      if constexpr (std::is_same_v<Tag, bulk_chunked_t>)
        data.f(decltype(data.shape){}, data.shape, values...);
      else
        for (auto i = decltype(data.shape){}; i != data.shape; ++i)
          data.f(i, values...);
      to.set_value(static_cast<Values &&>(values)...);
    }
    template <class E>
    void set_error(E e) noexcept {
      to.set_error(std::move(e));
    }
    void set_stopped() noexcept { to.set_stopped(); }
    decltype(auto) get_env() const noexcept { return p2300_fake::get_env(to); }
    Data data;
    Receiver to;
  };
  template <class Receiver>
  auto connect(Receiver r) const & {
    return p2300_fake::connect(child, receiver<Receiver>{data, std::move(r)});
  }
  template <class Receiver>
  auto connect(Receiver r) && {
    return p2300_fake::connect(std::move(child), receiver<Receiver>{data, std::move(r)});
  }
  decltype(auto) get_env() const noexcept { return p2300_fake::get_env(child); }

  Tag tag;
  Data data;
  Child child;
};
template <class Sender>
using tag_of_t = decltype(std::remove_cvref_t<Sender>::tag);
template <class Tag, class Child, class Policy, class Shape, class F>
auto bulk_as(Tag, Child child, Policy policy, Shape shape, F f) {
  return bulk_sender<Tag, bulk_data<Policy, Shape, F>, Child>{
      {}, {{policy}, shape, std::move(f)}, std::move(child)};
}

// ---- the parallel scheduler

namespace parallel_scheduler_replacement {

class receiver_proxy {
 public:
  virtual ~receiver_proxy() = default;
  virtual void set_value() noexcept = 0;
  virtual void set_error(std::exception_ptr) noexcept = 0;
  virtual void set_stopped() noexcept = 0;
  template <class Value>
  std::optional<Value> try_query(get_stop_token_t) const noexcept {
    return token();
  }

 protected:
  virtual std::optional<inplace_stop_token> token() const noexcept { return std::nullopt; }
};
struct bulk_item_receiver_proxy : receiver_proxy {
  virtual void execute(std::size_t first, std::size_t end) noexcept = 0;
};
struct parallel_scheduler_backend {
  virtual ~parallel_scheduler_backend() = default;
  virtual void schedule(receiver_proxy &, std::span<std::byte>) noexcept = 0;
  virtual void schedule_bulk_chunked(std::size_t, bulk_item_receiver_proxy &,
                                     std::span<std::byte>) noexcept = 0;
  virtual void schedule_bulk_unchunked(std::size_t, bulk_item_receiver_proxy &,
                                       std::span<std::byte>) noexcept = 0;
};
[[gnu::weak]] std::shared_ptr<parallel_scheduler_backend> query_parallel_scheduler_backend();

} // namespace parallel_scheduler_replacement
} // namespace p2300_fake
