// SPDX-License-Identifier: Apache-2.0
// The polling service of the process, which makes progress for all transports that await something.
// It exists only while there are such transports, so a program in which nothing is in flight sleeps.
#pragma once

#include "weft_net/engine/forks.hpp"
#include "weft_net/sync/watch_word.hpp"

#include <weft/service.hpp>

#include <cstddef>
#include <mutex>
#include <vector>

namespace weft_net {

/// Is what the service polls.
class polled {
 public:
  /// Notes that something is awaited, and sees to it that the service looks for it.
  void begin_wait();
  /// Notes the same, and leaves it to the caller to call be_watched().
  void expect_one() noexcept { m_watch.begin(); }
  void found_one() noexcept { m_watch.end(); }
  /// Sees to it that the service looks for what is awaited.
  ///
  /// Errors. out_of_resources, shut_down: the service could not be made.
  void be_watched();
  [[nodiscard]] std::size_t awaited() const noexcept { return m_watch.awaited(); }

 protected:
  ~polled() = default;
  /// Returns whether this process has made the object. The child of a fork() has a copy of it, and leaves it alone.
  [[nodiscard]] bool is_own() const noexcept { return m_forks == forks(); }
  /// Leaves the service. No thread polls the object afterwards. Called by the end of the object.
  void leave() noexcept;

 private:
  friend class poller;
  virtual std::size_t poll() noexcept = 0;
  /// Returns whether a thread wakes when something comes, so that the service may leave the object
  /// alone although something is awaited.
  [[nodiscard]] virtual bool is_woken() const noexcept { return false; }
  const int m_forks = forks(); // before the process that has made it
  watch_word<> m_watch;
  int m_fruitless = 0; // rounds of the service in which nothing came
};

class poller {
 public:
  /// Returns the one of this process; a child of fork() has one of its own, and none at first.
  static poller &of_process();
  /// Returns false, and leaves it out, where that would take a service that the thread of an engine makes: to make
  /// one is to use Weft, and `weft why` would find the thread busy with its own code for good. The thread of
  /// the object's engine serves it, until another thread makes one; an object that has none is not left out.
  [[nodiscard]] bool add(polled &source);
  /// Notes that the calling thread is that of an engine.
  static void note_thread_of_engine() noexcept;
  void remove(polled &source) noexcept;
  /// Returns whether the service exists.
  [[nodiscard]] bool has_service() noexcept;

 private:
  enum class service_is { absent, being_made, present };
  /// Counts rounds that found nothing: the service ends after some, because a service that is made
  /// again for each operation costs more.
  static constexpr int k_quiet_rounds = 16;
  /// Is after how many fruitless rounds an object is left to what wakes it: some milliseconds.
  static constexpr int k_most_fruitless = 64;

  bool poll();
  bool end_in_child();
  bool end_if_quiet();
  void make_service();

  const int m_forks = forks(); // before the process that it is of
  std::mutex m_lock;
  std::vector<polled *> m_list;
  polled *m_in_poll = nullptr; // of the round that is running: no other thread is in poll()
  weft::service *m_service = nullptr;
  service_is m_has_service = service_is::absent;
  int m_quiet = 0; // rounds; of the service
};

} // namespace weft_net
