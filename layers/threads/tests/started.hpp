// SPDX-License-Identifier: Apache-2.0
// Lightweight threads that run a callable, and their end.
#pragma once

#include <weft_threads/light_thread.hpp>

#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <utility>

#include <unistd.h>

namespace test {

/// Starts threads and waits for their ends.
class started {
 public:
  explicit started(const char *kind = "test") : m_kind(kind) {}
  started(const started &) = delete;
  ~started() { join(); }

  weft_threads::thread_record *start(std::function<void()> f) {
    auto *const one = new life{std::move(f), this};
    m_open.fetch_add(1);
    const char *reason = nullptr;
    weft_threads::thread_record *const t =
        weft_threads::start_light_thread({&run, one, &end, 0, m_kind}, &reason);
    EXPECT_NE(t, nullptr) << reason;
    if (!t) {
      delete one;
      m_open.fetch_sub(1);
    }
    return t;
  }
  /// Waits for the ends of all. The caller is no lightweight thread.
  void join() {
    while (m_open.load() != 0)
      usleep(100);
  }

 private:
  struct life {
    std::function<void()> f;
    started *of;
  };
  static void run(void *p) { static_cast<life *>(p)->f(); }
  static void end(void *p) {
    auto *const one = static_cast<life *>(p);
    started *const of = one->of;
    delete one;
    of->m_open.fetch_sub(1); // the last touch
  }

  const char *m_kind;
  std::atomic<int> m_open{0};
};

/// Runs one thread to its end.
inline void run_one(std::function<void()> f) { started().start(std::move(f)); }

} // namespace test
