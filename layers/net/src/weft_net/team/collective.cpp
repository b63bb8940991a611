// SPDX-License-Identifier: Apache-2.0
// Collective calls, over active messages: a call has a sequence number, which all ranks count, and
// steps. An element that is longer than a message has several of them in each step. Each message says how many
// bytes its rank gives to the whole call, so that ranks of different lengths find it at the first one. A message
// that comes before its receiver is kept.
#include "weft_net/team/state.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace weft::inline v0 {
namespace net {
namespace detail {

namespace {

constexpr std::uint32_t k_broadcast_step = 63; // steps of a reduction are below
constexpr std::uint32_t k_steps = 64; // between the numbers of two messages of one step

/// Is what a message begins with.
struct header {
  std::uint64_t sequence;
  std::uint64_t all_bytes;
};

/// Is a message of the team, which deletes itself.
struct own_message : operation {
  team_state *team = nullptr;
  std::vector<std::byte> data;
};

} // namespace

/// Is a collective call of `bytes` that runs: one at a time. A long one has parts, each with a number.
class team_state::collective {
 public:
  collective(team_state &team, const char *name, std::size_t bytes) : m_state(team), m_name(name) {
    team.check_process();
    if (team.in_collective.exchange(true))
      throw error(errc::invalid_argument,
                  std::string(name) + ": another task of " + team.who() +
                      " is in a collective call; make these one after the other");
    team.all_bytes = bytes;
  }
  void begin_part() {
    const std::lock_guard guard(m_state.lock);
    m_state.check_whole(m_name);
    ++m_state.sequence;
  }
  collective(const collective &) = delete;
  collective &operator=(const collective &) = delete;
  ~collective() { m_state.in_collective = false; }

 private:
  team_state &m_state;
  const char *const m_name;
};

void team_state::check_whole(const char *what) const {
  if (first_lost != any_rank)
    std::rethrow_exception(loss(first_lost, std::string(what) + " of " + who() + " cannot end"));
  if (is_refused)
    throw error(errc::not_supported, std::string(what) + " of " + who() +
                                         " cannot end: the engine " + below->caps().name +
                                         " has refused a message of it; choose another net.engine");
  if (is_ending)
    throw error(errc::invalid_argument, std::string(what) + " of " + who() +
                                            " was in flight when its team ended; wait for it before");
}

void team_state::message_ended(operation &self) noexcept {
  const std::unique_ptr<own_message> one(static_cast<own_message *>(&self));
  if (one->result == outcome::bad_memory || one->result == outcome::too_long)
    one->team->refused();
}

/// Ends the collective call, and those to come: a message of it does not arrive.
void team_state::refused() noexcept {
  const std::lock_guard guard(lock);
  is_refused = true;
  fail_receiving();
}

void team_state::fail_receiving() noexcept {
  if (!receiving)
    return;
  receiving->failed = true;
  std::exchange(receiving, nullptr)->come.set();
}

std::size_t team_state::most_values() const noexcept {
  return below->caps().most_message - sizeof(header);
}

void team_state::send_values(int to, std::uint32_t step, const void *values, std::size_t bytes) {
  const auto *at = static_cast<const std::byte *>(values);
  do {
    const std::size_t now = std::min(bytes, most_values());
    send(to, step, at, now);
    at += now;
    bytes -= now;
    step += k_steps;
  } while (bytes != 0);
}

/// Returns what the other rank has sent by send_values().
std::vector<std::byte> team_state::receive_values(int from, std::uint32_t step, std::size_t bytes,
                                                  const char *name) {
  std::vector<std::byte> all;
  do {
    auto [of_call, data] = receive({sequence, step, from}, name);
    if (of_call != all_bytes || data.size() != std::min(bytes - all.size(), most_values()))
      throw error(errc::invalid_argument,
                  std::string(name) + ": rank " + std::to_string(from) + " has " +
                      std::to_string(of_call) + " bytes, and " + who() + " " +
                      std::to_string(all_bytes) +
                      (of_call == all_bytes ? ", in values of different sizes" : "") +
                      "; all ranks give the same number of values");
    if (all.empty())
      all = std::move(data);
    else
      all.insert(all.end(), data.begin(), data.end());
    step += k_steps;
  } while (all.size() != bytes);
  return all;
}

void team_state::send(int to, std::uint32_t step, const void *data, std::size_t bytes) {
  auto one = std::make_unique<own_message>();
  const header begin{sequence, all_bytes};
  one->team = this;
  one->data.resize(sizeof begin + bytes);
  std::memcpy(one->data.data(), &begin, sizeof begin);
  if (bytes != 0)
    std::memcpy(one->data.data() + sizeof begin, data, bytes);
  one->what = action::message;
  one->rank = to;
  one->id = step;
  one->local = one->data.data();
  one->bytes = one->data.size();
  one->ended = &message_ended;
  if (weft::layer::traces_messages()) [[unlikely]]
    trace.note(weft::layer::message_step::sent, to, 0, 0, bytes, "message");
  below->submit(*one.release());
}

void team_state::arrived(int from, std::uint32_t id, std::span<const std::byte> payload) noexcept {
  note_arrival();
  if (weft::layer::traces_messages()) [[unlikely]]
    trace.note(weft::layer::message_step::arrived, from, 0, 0, 0, "message");
  header begin{};
  std::memcpy(&begin, payload.data(), sizeof begin);
  const message_name name{begin.sequence, id, from};
  const auto data = payload.subspan(sizeof begin);
  const std::lock_guard guard(lock);
  const bool is_awaited = receiving && receiving->name == name;
  message &to = is_awaited ? receiving->got : early[name];
  to.all_bytes = begin.all_bytes;
  to.data.assign(data.begin(), data.end());
  if (is_awaited)
    std::exchange(receiving, nullptr)->come.set();
}

/// Takes the message if it has come; else registers the receiver.
bool team_state::take_early(receiver &self, const char *what) {
  const std::lock_guard guard(lock);
  const auto found = early.find(self.name);
  if (found == early.end()) {
    check_whole(what);
    self.name_of_task = weft_net::name_of_caller();
    receiving = &self;
    return false;
  }
  self.got = std::move(found->second);
  early.erase(found);
  return true;
}

team_state::message team_state::receive(const message_name &name, const char *what) {
  receiver self;
  self.name = name;
  self.call = what;
  below->begin_wait();
  const auto left = [this, &self] {
    const std::lock_guard guard(lock);
    if (receiving == &self)
      receiving = nullptr;
    below->end_wait();
  };
  try {
    if (!take_early(self, what))
      self.come.wait();
  } catch (...) {
    left();
    throw;
  }
  left();
  if (self.failed) {
    const std::lock_guard guard(lock);
    check_whole(what);
  }
  return std::move(self.got);
}

/// Dissemination (Hensgen, Finkel and Manber, 1988): in step k, rank r reports to r + 2^k.
void team_state::barrier() {
  collective here(*this, "barrier", 0);
  here.begin_part();
  std::uint32_t step = 0;
  for (int distance = 1; distance < ranks; distance *= 2, ++step) {
    send((own_rank + distance) % ranks, step, nullptr, 0);
    receive({sequence, step, (own_rank - distance + ranks) % ranks}, "barrier");
  }
}

/// Along a binomial tree to rank 0. A rank holds the values of the ranks behind it, in their order.
void team_state::reduce(void *values, std::size_t size, std::size_t count,
                        team::combine_function *combine, void *context, const char *name) {
  std::uint32_t step = 0;
  for (int distance = 1; distance < ranks; distance *= 2, ++step) {
    if (own_rank & distance)
      return send_values(own_rank - distance, step, values, size * count);
    if (own_rank + distance >= ranks)
      continue;
    const auto theirs = receive_values(own_rank + distance, step, size * count, name);
    combine(context, values, theirs.data(), count);
  }
}

/// Along a binomial tree from the root.
void team_state::broadcast(void *values, std::size_t bytes, int root, const char *name) {
  const int own = (own_rank - root + ranks) % ranks;
  int distance = 1;
  while (distance < ranks && (own & distance) == 0)
    distance *= 2;
  if (own != 0) {
    const int from = (own - distance + root) % ranks;
    const auto theirs = receive_values(from, k_broadcast_step, bytes, name);
    if (bytes != 0)
      std::memcpy(values, theirs.data(), bytes);
  }
  for (distance /= 2; distance > 0; distance /= 2)
    if (own + distance < ranks)
      send_values((own + distance + root) % ranks, k_broadcast_step, values, bytes);
}

void team_state::all_reduce(void *values, std::size_t size, std::size_t count,
                            team::combine_function *combine, void *context, const char *name) {
  const std::size_t most = std::max<std::size_t>(most_values() / size, 1);
  auto *bytes = static_cast<std::byte *>(values);
  collective here(*this, name, size * count);
  do {
    const std::size_t now = std::min(most, count);
    here.begin_part();
    reduce(bytes, size, now, combine, context, name);
    broadcast(bytes, size * now, 0, name);
    bytes += size * now;
    count -= now;
  } while (count != 0);
}

void team_state::broadcast_all(void *values, std::size_t bytes, int root) {
  const std::size_t most = most_values();
  auto *at = static_cast<std::byte *>(values);
  collective here(*this, "broadcast", bytes);
  do {
    const std::size_t now = std::min(most, bytes);
    here.begin_part();
    broadcast(at, now, root, "broadcast");
    at += now;
    bytes -= now;
  } while (bytes != 0);
}

void team_state::make_now(const call &what) {
  switch (what.what) {
  case call::kind::barrier:
    return barrier();
  case call::kind::reduce:
    return all_reduce(what.values, what.size, what.count, what.combine, what.context, what.name);
  case call::kind::broadcast:
    return broadcast_all(what.values, what.count, what.root);
  }
}

} // namespace detail

namespace {

using detail::team_state;

team_state::call barrier_call() { return {}; }
team_state::call broadcast_call(void *values, std::size_t bytes, int root) {
  return {team_state::call::kind::broadcast, "broadcast", values, 1, bytes, root};
}

} // namespace

void team::barrier() { m_state->make(barrier_call()); }
future<void> team::async_barrier() { return m_state->start_call(barrier_call()); }

void team::reduce_all(void *values, std::size_t size, std::size_t count, combine_function *combine,
                      void *context) {
  m_state->make(
      {team_state::call::kind::reduce, "allreduce", values, size, count, 0, combine, context});
}

future<void> team::start_reduce(void *values, std::size_t size, std::size_t count,
                                combine_function *combine, std::shared_ptr<void> context) {
  void *const at = context.get();
  return m_state->start_call(
      {team_state::call::kind::reduce, "allreduce", values, size, count, 0, combine, at},
      std::move(context));
}

void team::broadcast_bytes(void *values, std::size_t bytes, int root) {
  m_state->make(broadcast_call(values, bytes, m_state->checked(root)));
}

future<void> team::start_broadcast(void *values, std::size_t bytes, int root) {
  return m_state->start_call(broadcast_call(values, bytes, m_state->checked(root)));
}

void team::throw_no_memory() {
  throw error(errc::out_of_resources,
              "no memory for a collective call; wait for earlier operations first");
}

} // namespace net
} // namespace weft::inline v0
