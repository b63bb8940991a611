// SPDX-License-Identifier: Apache-2.0
// Tasks of Weft, in a group per scope.
#pragma once

#include "slot.hpp"
#include "weft_runtime.hpp"

#include <weft/weft.hpp>

namespace inncabs {

struct weft_group {
  static constexpr const char *k_name = "weft-group";
  using mutex = weft::mutex;

  struct scope;

  template <class T>
  class future {
   public:
    template <class F>
    future(scope &here, F f) : m_scope(here) {
      here.open = true;
      here.group.spawn([this, f = std::move(f)]() mutable { m_value.fill(f); });
    }
    future(const future &) = delete;
    future &operator=(const future &) = delete;
    T get() {
      m_scope.wait();
      return m_value.take();
    }

   private:
    scope &m_scope;
    slot<T> m_value;
  };

  struct scope {
    weft::task_group group;
    bool open = false; // calls have been made since the last wait

    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      return future<std::invoke_result_t<F, Arguments...>>(
          *this, [f, ... arguments = std::move(arguments)]() mutable {
            return f(std::move(arguments)...);
          });
    }
    void wait() {
      if (open)
        group.wait();
      open = false;
    }
  };

  class runtime : public weft_runtime {
   public:
    explicit runtime(const configuration &c) : weft_runtime(c) { require_async(c.policy, k_name); }
  };
};

} // namespace inncabs
