// SPDX-License-Identifier: Apache-2.0
// A stack with a body, for tests of the switch: resume() runs it until it yields.
#pragma once

#include "arch/context.hpp"
#include "arch/sanitizer.hpp"

#include <cstdlib>
#include <functional>
#include <memory>

namespace test {

class fiber {
 public:
  explicit fiber(std::function<void(fiber &)> body, std::size_t bytes = 256 << 10)
      : m_body(std::move(body)), m_memory(std::make_unique<char[]>(bytes)) {
    start(m_memory.get(), bytes);
  }
  /// On memory that outlives the fiber.
  fiber(std::function<void(fiber &)> body, void *low, std::size_t bytes) : m_body(std::move(body)) {
    start(low, bytes);
  }
  ~fiber() { weft::rt::forget_stack(m_sanitized); }
  fiber(const fiber &) = delete;
  fiber &operator=(const fiber &) = delete;

  /// Continues the body, which receives `value`; returns what it yields. The body begins with the first value.
  void *resume(void *value = nullptr) {
    m_resumer = running();
    running() = &m_sanitized;
    received = value;
    void *yielded = weft::rt::switch_stack(&m_here, *m_resumer, m_there, m_sanitized, this);
    running() = m_resumer; // resume() returns on the thread that called it
    return yielded;
  }

  /// Switches, on the fiber, back to the context that resumed it.
  void *yield(void *value = nullptr) {
    weft::rt::switch_stack(&m_there, m_sanitized, m_here, *m_resumer, value);
    return received;
  }

  void *received = nullptr;
  bool done = false;

 private:
  void start(void *low, std::size_t bytes) {
    weft::rt::announce_stack(m_sanitized, low, bytes);
    m_there = weft::rt::make_context(low, bytes, entry);
  }

  /// The stack that the calling thread is on.
  static weft::rt::sanitized_stack *&running() {
    struct of_thread {
      weft::rt::sanitized_stack own;
      weft::rt::sanitized_stack *now = &own;
      of_thread() { weft::rt::announce_thread_stack(own); }
    };
    static thread_local of_thread t;
    return t.now;
  }

  static void entry(void *self) {
    auto &f = *static_cast<fiber *>(self);
    weft::rt::stack_entered(f.m_sanitized);
    f.m_body(f);
    f.done = true;
    for (;;)
      f.yield();
  }

  std::function<void(fiber &)> m_body;
  std::unique_ptr<char[]> m_memory;
  weft::rt::sanitized_stack m_sanitized;
  weft::rt::sanitized_stack *m_resumer = nullptr;
  weft::rt::context m_here, m_there;
};

} // namespace test
