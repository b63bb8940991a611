// SPDX-License-Identifier: Apache-2.0
// The checker's counterpart of weft::rt::real_atomics. Orders have no default: components write them out.
#pragma once

#include "engine.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace weft_model {

struct model_atomics {
  using here = std::source_location;

  template <class T>
  class atomic {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);

   public:
    atomic(T value = T{}) : m_where(the_engine().new_location(bits(value))) {}
    ~atomic() { the_engine().end_location(m_where); }
    atomic(const atomic &) = delete;
    atomic &operator=(const atomic &) = delete;

    T load(std::memory_order order, here at = here::current()) const {
      return value(the_engine().load(m_where, order, at));
    }
    void store(T v, std::memory_order order, here at = here::current()) {
      the_engine().store(m_where, bits(v), order, at);
    }
    T exchange(T v, std::memory_order order, here at = here::current()) {
      return change([v](T) { return v; }, order, at);
    }
    bool compare_exchange_strong(T &expected, T desired, std::memory_order success,
                                 std::memory_order failure, here at = here::current()) {
      return compare_exchange(expected, desired, success, failure, false, at);
    }
    bool compare_exchange_weak(T &expected, T desired, std::memory_order success,
                               std::memory_order failure, here at = here::current()) {
      return compare_exchange(expected, desired, success, failure, true, at);
    }
    T fetch_add(T v, std::memory_order order, here at = here::current()) {
      return change([v](T old) { return static_cast<T>(old + v); }, order, at);
    }
    T fetch_sub(T v, std::memory_order order, here at = here::current()) {
      return change([v](T old) { return static_cast<T>(old - v); }, order, at);
    }
    T fetch_and(T v, std::memory_order order, here at = here::current()) {
      return change([v](T old) { return static_cast<T>(old & v); }, order, at);
    }
    T fetch_or(T v, std::memory_order order, here at = here::current()) {
      return change([v](T old) { return static_cast<T>(old | v); }, order, at);
    }
    T fetch_xor(T v, std::memory_order order, here at = here::current()) {
      return change([v](T old) { return static_cast<T>(old ^ v); }, order, at);
    }

    int where() const { return m_where; }
    static T value(std::uint64_t bits) {
      T v;
      std::memcpy(&v, &bits, sizeof v);
      return v;
    }
    static std::uint64_t bits(T v) {
      std::uint64_t b = 0;
      std::memcpy(&b, &v, sizeof v);
      return b;
    }

   private:
    template <class F>
    T change(F f, std::memory_order order, const here &at) {
      return value(the_engine().rmw(
          m_where, [&](std::uint64_t old) { return bits(f(value(old))); }, order, at));
    }
    bool compare_exchange(T &expected, T desired, std::memory_order success,
                          std::memory_order failure, bool weak, const here &at) {
      std::uint64_t seen = bits(expected);
      const bool done =
          the_engine().compare_exchange(m_where, seen, bits(desired), success, failure, weak, at);
      expected = value(seen);
      return done;
    }

    int m_where;
  };

  template <class T>
  struct var {
    static_assert(std::is_trivially_copyable_v<T>);
    var(T v = T{}) : m_value(v) { the_engine().start_var(m_access, digest(v)); }
    ~var() { the_engine().end_var(m_access); }
    var(const var &) = delete;
    var &operator=(const var &) = delete;
    T get(here at = here::current()) const {
      the_engine().read_var(m_access, at);
      return m_value;
    }
    void set(T v, here at = here::current()) {
      the_engine().write_var(m_access, digest(v), at);
      m_value = v;
    }

   private:
    /// Digests a value. Padding may make equal values differ: then a state is explored twice, no
    /// more.
    static std::uint64_t digest(const T &v) {
      std::uint64_t d = 0;
      for (std::size_t at = 0; at < sizeof(T); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, reinterpret_cast<const char *>(&v) + at,
                    std::min<std::size_t>(8, sizeof(T) - at));
        d = (at == 0 ? 0 : (d ^ d >> 32) * 0xff51afd7ed558ccdu) ^ word;
      }
      return d;
    }

    T m_value;
    mutable engine::access m_access;
  };

  static constexpr int k_spins = 1;

  template <class T, class Pred>
  static T await(const atomic<T> &a, Pred pred, std::memory_order order,
                 here at = here::current()) {
    auto wanted = [](void *p, std::uint64_t b) {
      return bool((*static_cast<Pred *>(p))(atomic<T>::value(b)));
    };
    return atomic<T>::value(the_engine().await(a.where(), wanted, &pred, order, at));
  }
  static void pause(here at = here::current()) { the_engine().pause(at); }
  static void yield(here at = here::current()) { the_engine().pause(at); }
  static void light_barrier(here at = here::current()) { the_engine().light_barrier(at); }
  static void heavy_barrier(here at = here::current()) { the_engine().heavy_barrier(at); }
  static bool futex_wait(atomic<std::uint32_t> &word, std::uint32_t expected,
                         std::int64_t deadline_ns = 0, here at = here::current()) {
    return the_engine().futex_wait(word.where(), expected, deadline_ns != 0, at);
  }
  static void futex_wake(atomic<std::uint32_t> &word, int count, here at = here::current()) {
    the_engine().futex_wake(word.where(), count, at);
  }
};

template <class T>
using model_atomic = model_atomics::atomic<T>;
template <class T>
using model_var = model_atomics::var<T>;

} // namespace weft_model
