// SPDX-License-Identifier: Apache-2.0
// Keeps the clients and permits of the process, and tells clients when what they have changes.
//
// A thread of its own looks at the workers every 10 ms while a permit is active or idle, and calls
// clients back without a lock: they ask for the permit's data meanwhile. A permit is gone only when
// no call back for it runs.
#pragma once

#include "tcm.hpp"
#include "valve.hpp"

#include <weft_threads/light_thread.hpp>

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace weft_tcm {

struct client {
  callback tell = nullptr;
};

struct permit {
  client_id of = 0;
  void *argument = nullptr;
  share threads{};
  std::vector<std::uint32_t> most_of_constraint; // one entry for a permit without constraints
  permit_state state = permit_state::inactive;
  bool is_stale = false; // changed since the client asked for its data
  bool is_called = false; // its client is being called
};

class budget {
 public:
  /// Returns the one of the process, which is never destroyed: clients may end after this library.
  static budget &of_process();

  [[nodiscard]] client_id connect(callback tell);
  [[nodiscard]] bool disconnect(client_id id);
  /// Makes a permit, or changes it where `handle` names one. Returns null if an argument is wrong.
  [[nodiscard]] permit *request(client_id id, const weft_tcm::request &asked, void *argument,
                                permit *handle);
  [[nodiscard]] bool read(permit *client, permit_data &data);
  [[nodiscard]] bool release(permit *client);
  enum class change { idle, deactivate, activate };
  [[nodiscard]] bool apply(permit *client, change what);
  [[nodiscard]] bool has(permit *client);

  /// Looks once, and calls clients back; the thread does so again and again.
  void look(const weft::layer::worker_use &use);

 private:
  [[nodiscard]] permit *find(const permit *client) const noexcept; // with the lock
  void grant(permit &client) noexcept;
  void watch();
  void run() noexcept;
  [[nodiscard]] bool any_in_use() const noexcept;
  void remove(std::unique_lock<std::mutex> &lock, permit *client);
  void hold();
  void give_back(bool is_child);

  std::mutex m_lock; // protects all that follows
  std::condition_variable m_changed, m_called;
  std::map<client_id, client> m_clients;
  std::list<std::unique_ptr<permit>> m_permits;
  client_id m_last_id = 0;
  valve m_valve;
  bool m_has_thread = false;
};

} // namespace weft_tcm
