// SPDX-License-Identifier: Apache-2.0
#include "helper/proxy_thread.hpp"

#include "helper/job_queue.hpp"
#include "thread/hooks.hpp"

#include <mutex>
#include <new>
#include <utility>

namespace weft_omp {
namespace {

/// Holds one call. It lies on the caller's stack: the proxy's last access to it is the unlock in
/// end().
class proxy_call {
 public:
  proxy_call(void (*f)(void *), void *argument, thread &of)
      : caller(of), m_call(f), m_argument(argument) {}
  void call() { m_call(m_argument); }
  void end() noexcept {
    std::lock_guard lock(m_lock);
    m_over = true;
  }
  [[nodiscard]] bool is_over() noexcept {
    std::lock_guard lock(m_lock);
    return m_over;
  }

  thread &caller;
  proxy_call *newer = nullptr;

 private:
  void (*const m_call)(void *);
  void *const m_argument;
  spin_lock m_lock;
  bool m_over = false;
};
job_queue<proxy_call> g_proxy_calls;

void take_over_settings(thread &self, thread &caller) noexcept {
  self.team->implicit[0].become_implicit(*self.team, *caller.task->settings, 0);
  self.teams = caller.teams;
  self.teams_number = caller.teams_number;
  self.asked = std::exchange(caller.asked, {});
}

/// Runs calls on a proxy, for the whole life of the proxy.
void serve_as_proxy(thread &self) {
  self.team = make_initial_team(self);
  self.task = &self.team->implicit[0];
  if (g_is_watched) [[unlikely]]
    begin_watched(self, watched_as::initial);
  for (job_queue<proxy_call>::runner r{&self};;) {
    proxy_call &l = g_proxy_calls.next(r);
    thread &caller = l.caller;
    take_over_settings(self, caller);
    l.call();
    self.task->end_implicit(self);
    l.end();
    caller.own_parker.signal(&self);
  }
}

} // namespace

void on_proxy_thread(thread &self, void (*call)(void *), void *argument) {
  proxy_call l(call, argument, self);
  if (!g_proxy_calls.give_to_idle(
          &self, l)) { // one proxy for each call, because regions may wait for each other
    if (!start_light_thread(self, &serve_as_proxy)) {
      self.hosts_weft_task = false; // the region runs here
      call(argument);
      self.hosts_weft_task = true;
      return;
    }
    g_proxy_calls.give(&self, l);
  }
  while (!l.is_over())
    self.own_parker.wait(self, 0);
}

void forget_proxies() noexcept { new (&g_proxy_calls) job_queue<proxy_call>; }

} // namespace weft_omp
