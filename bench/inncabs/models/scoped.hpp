// SPDX-License-Identifier: Apache-2.0
// Futures over something that can only wait for all of its calls: a group, or the children of a task.
#pragma once

#include "slot.hpp"

#include <type_traits>
#include <utility>

namespace inncabs {

/// Gives a model its scope. Group has run(f), which calls a copy of f later, and wait() for all.
template <class Group>
struct scoped {
  struct scope;

  template <class T>
  class future {
   public:
    template <class F>
    future(scope &here, F f) : m_scope(here) {
      here.open = true;
      here.group.run([this, f = std::move(f)]() mutable { m_value.fill(f); });
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
    Group group;
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
};

} // namespace inncabs
