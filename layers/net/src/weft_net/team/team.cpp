// SPDX-License-Identifier: Apache-2.0
#include <weft/net/team.hpp>

#include "weft_net/engine/forks.hpp"
#include "weft_net/engine/setting.hpp"
#include "weft_net/team/state.hpp"

#include <memory>
#include <new>
#include <string>
#include <utility>

#include <unistd.h>

namespace weft::inline v0 {
namespace net {

lost_rank::lost_rank(int rank, const std::string &what)
    : error(errc::rank_lost, what), m_rank(rank) {}
lost_rank::~lost_rank() = default;

namespace detail {

void team_state::check_process() const {
  if (forks != weft_net::forks())
    throw error(errc::not_supported, weft_net::refusal_in_child(who(), process));
}

team_state::team_state(std::unique_ptr<engine> through, std::vector<std::string> all)
    : forks(weft_net::forks()), process(getpid()), trace(through->rank()),
      chunk(weft_net::number_of_setting("net.chunk")), names(std::move(all)) {
  own_rank = through->rank();
  ranks = through->size();
  is_gone.resize(static_cast<std::size_t>(ranks));
  places = static_cast<std::int64_t>(weft_net::number_of_setting("net.queue"));
  own_world = through->world();
  for (int r = 0; r < ranks; ++r)
    queues.emplace_back(places);
  below = std::make_unique<transport>(std::move(through), *this);
  announce();
  watch();
}

int team_state::checked(int rank) const {
  check_process();
  if (rank < 0 || rank >= ranks)
    throw error(errc::invalid_argument, "there is no rank " + std::to_string(rank) +
                                            ": the team has " + std::to_string(ranks) +
                                            ", from 0; name one of these");
  return rank;
}

void team_state::take_place(int rank) {
  weft_net::take_place(queues[static_cast<std::size_t>(checked(rank))], *below, rank);
}

void team_state::start(const team::request &what, weft_net::completion ends) {
  operation whole;
  whole.what = what.what;
  whole.rank = what.rank;
  whole.id = what.id;
  whole.count = what.count;
  whole.key = what.key;
  whole.offset = what.offset;
  whole.local = what.local;
  whole.bytes = what.bytes;
  whole.value = what.value;
  whole.expected = what.expected;
  auto &queue = queues[static_cast<std::size_t>(what.rank)];
  weft_net::started *one = nullptr;
  try {
    one = new weft_net::started(whole, chunk, queue, ends, *this, all_started);
  } catch (const std::bad_alloc &) {
    weft_net::return_place(queue);
    ends.cancel();
    throw error(errc::out_of_resources,
                std::string("no memory for a ") + weft_net::name_of(what.what) + " to rank " +
                    std::to_string(what.rank) + "; wait for earlier operations first");
  }
  if (weft::layer::traces_messages()) [[unlikely]]
    one->set_trace_number(
        trace.note_start(what.rank, what.id, what.bytes, weft_net::name_of(what.what)));
  one->submit(*below);
}

void team_state::lost(int rank) noexcept {
  note_arrival();
  std::vector<std::pair<weft_net::completion, std::exception_ptr>> failed;
  {
    const std::lock_guard guard(lock);
    is_gone[static_cast<std::size_t>(rank)] = true;
    if (first_lost == any_rank)
      first_lost = rank;
    for (auto &[id, n] : notifications)
      for (auto at = n.waiting.begin(); at != n.waiting.end();)
        if (at->from == any_rank || at->from == rank || rank == own_rank) {
          failed.emplace_back(std::move(at->ends), no_notification(rank, id));
          at = n.waiting.erase(at);
        } else {
          ++at;
        }
    fail_receiving();
  }
  for (auto &[ends, error] : failed) {
    ends.fail(std::move(error));
    below->end_wait();
  }
}

std::exception_ptr team_state::loss(int lost, const std::string &what) const {
  return std::make_exception_ptr(
      lost_rank(lost, name_of_rank(lost) + " is lost: " + what +
                          "; catch weft::net::lost_rank to go on without it"));
}

void team_state::close() noexcept {
  unwatch();
  withdraw();
  end_calls();
  below->close();
  trace.settle();
  std::vector<weft_net::completion> waiting;
  {
    const std::lock_guard guard(lock);
    for (auto &[id, n] : notifications)
      for (auto &e : n.waiting)
        waiting.push_back(std::move(e.ends));
    notifications.clear();
  }
  for (auto &ends : waiting)
    ends.fail(std::make_exception_ptr(
        error(errc::invalid_argument,
              "the team of " + who() + " ended before a notification; wait for it before")));
}

} // namespace detail

team::team(std::unique_ptr<engine> below, std::vector<std::string> names)
    : m_state(std::make_shared<detail::team_state>(std::move(below), std::move(names))) {}
team::~team() {
  if (m_state->forks == weft_net::forks())
    m_state->close();
  else // what it would end is the parent's
    static_cast<void>(new std::shared_ptr<detail::team_state>(m_state));
}

int team::rank() const noexcept { return m_state->own_rank; }
void team::report_lost(int rank) const { m_state->below->report_lost(m_state->checked(rank)); }
std::string team::path_to(int rank) const {
  return m_state->below->path_to(m_state->checked(rank));
}
int team::size() const noexcept { return m_state->ranks; }
const capabilities &team::caps() const noexcept { return m_state->below->caps(); }
bool team::is_lost(int rank) const { return m_state->below->is_lost(m_state->checked(rank)); }

void team::throw_sizes(std::size_t there, std::size_t here) {
  throw error(errc::invalid_argument, "the span at the other rank has " + std::to_string(there) +
                                          " elements, and the own one " + std::to_string(here) +
                                          "; take parts of the same size");
}

void team::start(const request &what, void *before) {
  const bool notifies_only = what.what == action::put_notify && what.bytes == 0;
  auto ends = weft_net::completion::of_running_task(
      notifies_only ? "notify" : weft_net::name_of(what.what), before);
  try {
    m_state->take_place(what.rank);
  } catch (...) {
    ends.cancel();
    throw;
  }
  m_state->start(what, std::move(ends));
}

void team::start_alone(const request &what) {
  m_state->take_place(what.rank);
  m_state->start(what, {});
}

future<void> team::start_future(const request &what) {
  static_cast<void>(m_state->checked(what.rank));
  promise<void> p;
  future<void> result = p.get_future();
  m_state->take_place(what.rank);
  m_state->start(what, weft_net::completion(std::move(p)));
  return result;
}

future<std::uint64_t> team::start_fetch(const request &what) {
  static_cast<void>(m_state->checked(what.rank));
  promise<std::uint64_t> p;
  future<std::uint64_t> result = p.get_future();
  m_state->take_place(what.rank);
  m_state->start(what, weft_net::completion(std::move(p)));
  return result;
}

} // namespace net
} // namespace weft::inline v0
