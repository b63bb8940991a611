// SPDX-License-Identifier: Apache-2.0
// What a team is inside: its transport, the queue to each rank, notifications and collective calls.
#pragma once

#include "weft_net/team/stall.hpp"
#include "weft_net/team/started.hpp"

#include <weft/layer/outside_wait.hpp>
#include <weft/net/message_trace.hpp>
#include <weft/net/team.hpp>
#include <weft/sync/event.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace weft::inline v0 {
namespace net::detail {

struct team_state final : listener,
                          weft_net::names_of_ranks,
                          weft_net::stall_watched,
                          layer::outside_waits {
  team_state(std::unique_ptr<engine> below, std::vector<std::string> all);
  ~team_state() = default;

  // ---- operations: team.cpp
  [[nodiscard]] int checked(int rank) const;
  /// Throws in a child of fork(): its threads are gone, and the network is its parent's.
  void check_process() const;
  [[nodiscard]] std::string who() const { return "rank " + std::to_string(own_rank); }
  /// Returns the number of a rank, and where it is, if that is known.
  [[nodiscard]] std::string name_of_rank(int rank) const override {
    const auto i = static_cast<std::size_t>(rank);
    return "rank " + std::to_string(rank) + (i < names.size() ? " (" + names[i] + ")" : "");
  }
  [[nodiscard]] int own_number() const noexcept override { return own_rank; }
  void note_end(int rank, action what, std::uint32_t number) noexcept override {
    note_arrival();
    if (number != 0)
      trace.note(weft::layer::message_step::landed, rank, 0, number, 0, weft_net::name_of(what));
  }

  // ---- stalls: waits.cpp
  [[nodiscard]] int own() const noexcept override { return own_rank; }
  [[nodiscard]] const void *world() const noexcept override { return own_world; }
  [[nodiscard]] std::string waits() override;
  void list_waits(std::vector<layer::outside_wait> &to) override;
  /// Starts an operation whose place was taken.
  void start(const team::request &what, weft_net::completion ends);
  /// Takes a place in the queue to the rank; checks it.
  void take_place(int rank);

  // ---- notifications: notifications.cpp
  /// `name` is that of the task that waits, where `ends` does not tell it.
  void expect(std::uint32_t id, std::uint64_t count, int from, weft_net::completion &&ends,
              std::string name = {});
  struct notification;
  [[nodiscard]] notification &notification_of(std::uint32_t id);
  [[nodiscard]] bool take_notifications(std::uint32_t id, std::uint64_t count);
  [[nodiscard]] int missing(int from) const;
  [[nodiscard]] std::exception_ptr no_notification(int gone, std::uint32_t id) const;

  // ---- collective calls: collective.cpp
  class collective;
  /// Is a collective call: what it does, and with what.
  struct call {
    enum class kind { barrier, reduce, broadcast };
    kind what = kind::barrier;
    const char *name = "barrier";
    void *values = nullptr;
    std::size_t size = 0, count = 0; // of an element; of elements
    int root = 0;
    team::combine_function *combine = nullptr;
    void *context = nullptr; // of `combine`
  };
  /// Makes the call now, or behind those that were started, and returns when it has ended.
  void make(const call &what);
  void make_now(const call &what);
  void reduce(void *values, std::size_t size, std::size_t count, team::combine_function *combine,
              void *context, const char *name);
  void broadcast(void *values, std::size_t bytes, int root, const char *name);
  void barrier();
  [[nodiscard]] std::size_t most_values() const noexcept; ///< bytes that a message has room for
  void send_values(int to, std::uint32_t step, const void *values, std::size_t bytes);
  std::vector<std::byte> receive_values(int from, std::uint32_t step, std::size_t bytes,
                                        const char *name);
  void all_reduce(void *values, std::size_t size, std::size_t count,
                  team::combine_function *combine, void *context, const char *name);
  void broadcast_all(void *values, std::size_t bytes, int root);

  // ---- collective calls that were started: calls.cpp
  struct started_call;
  /// Makes the call behind those that were started before, in a task. `context` is kept until then.
  [[nodiscard]] future<void> start_call(const call &what, std::shared_ptr<void> context = {});
  void begin_calls() noexcept;
  void make_calls() noexcept; ///< is that task
  void end_calls() noexcept; ///< what was started fails, and the task ends
  [[nodiscard]] started_call *next_call() noexcept;
  void list_call(std::vector<layer::outside_wait> &to) const; ///< with the lock

  // ---- of the transport, from inside
  void arrived(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept override;
  void notified(int from, std::uint32_t id, std::uint64_t count) noexcept override;
  void lost(int rank) noexcept override;

  /// Ends the transport. What waits fails.
  void close() noexcept;

  struct expected {
    std::uint64_t count;
    int from;
    weft_net::completion ends;
    std::string name; // of the task that waits for the promise; empty: not known
  };
  struct notification {
    std::uint64_t come = 0;
    std::deque<expected> waiting;
  };
  using message_name = std::tuple<std::uint64_t, std::uint32_t, int>; // sequence, step, sender
  struct message {
    std::uint64_t all_bytes = 0; // of the sender's collective call
    std::vector<std::byte> data;
  };
  struct receiver {
    message_name name;
    const char *call = ""; // the collective call that waits
    weft::event come;
    std::string name_of_task; // that waits; empty: it is none
    message got;
    bool failed = false;
  };

  /// Throws if a rank is lost, the engine has refused a message, or the team ends. With the lock.
  void check_whole(const char *what) const;
  [[nodiscard]] std::exception_ptr loss(int lost, const std::string &what) const;
  void send(int to, std::uint32_t step, const void *data, std::size_t bytes);
  [[nodiscard]] bool take_early(receiver &self, const char *what);
  message receive(const message_name &name, const char *what);
  static void message_ended(operation &self) noexcept;
  void refused() noexcept;
  void fail_receiving() noexcept; ///< with the lock

  std::unique_ptr<transport> below; // the first member that uses others goes first
  int own_rank = 0, ranks = 1;
  const int forks; // before this process
  const long process;
  message_trace trace;
  std::size_t chunk;
  std::int64_t places = 0; // in the queue to a rank
  const void *own_world = nullptr;
  const std::vector<std::string> names; // where ranks are, or none
  std::deque<weft_net::places> queues; // by rank
  weft_net::started_list all_started;

  std::mutex lock; // of what follows; held for moments, and never over a wait
  static constexpr std::size_t k_least_notifications = 64;
  std::unordered_map<std::uint32_t, notification> notifications; // by number
  std::size_t most_notifications = k_least_notifications; // at which idle ones are forgotten
  std::map<message_name, message> early; // messages of collective calls that came first
  receiver *receiving = nullptr;
  int first_lost = any_rank;
  bool is_refused = false; // a message of a collective call, by the engine
  bool is_ending = false; // the team
  started_call *first_call = nullptr, *last_call = nullptr; // that wait for their turn
  started_call *made_call = nullptr; // that the task makes
  bool makes_calls = false; // the task is there
  weft::event *calls_over = nullptr; // set when it ends
  std::vector<bool> is_gone; // by rank

  std::atomic<bool> in_collective{false};
  std::uint64_t sequence = 0; // of the collective calls
  std::uint64_t all_bytes = 0; // of the one that runs
};

} // namespace net::detail
} // namespace weft::inline v0
