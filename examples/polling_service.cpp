// SPDX-License-Identifier: Apache-2.0
// A service: workers without work look after the requests of a library that has no threads of its own.
#include <weft/weft.hpp>

#include <cstdio>
#include <mutex>
#include <vector>

// A network that must be asked again and again whether a message has arrived.
class network {
 public:
  network() : m_service("network", weft::poll_point::idle, &poll, this) {}

  // Called by a task: the tasks that read `into` start when the message is there.
  void receive(int &into) {
    weft::this_task::increase_events();
    std::lock_guard lock(m_mutex);
    m_open.push_back({&into, weft::this_task::self()});
  }

 private:
  struct request {
    int *into;
    weft::task_ref task;
  };

  // Never called by two threads at once. It must not block, hence try_lock: it is called again soon.
  static bool poll(void *context) {
    auto *self = static_cast<network *>(context);
    std::vector<request> arrived;
    if (std::unique_lock lock(self->m_mutex, std::try_to_lock); lock)
      arrived.swap(self->m_open);
    for (const request &r : arrived) {
      *r.into = ++self->m_messages;
      weft::decrease_events(r.task);
    }
    return !arrived.empty();
  }

  weft::mutex m_mutex;
  std::vector<request> m_open;
  int m_messages = 0;
  weft::service m_service; // the last member: it is the first to go
};

int main() {
  network net;
  int a = 0, b = 0, sum = 0;
  weft::spawn([&] { net.receive(a); }, weft::out(a));
  weft::spawn([&] { net.receive(b); }, weft::out(b));
  weft::spawn([&] { sum = a + b; }, weft::in(a), weft::in(b), weft::out(sum));
  weft::taskwait();
  std::printf("messages %d and %d\n", a, b);
  return sum == 3 ? 0 : 1;
}
