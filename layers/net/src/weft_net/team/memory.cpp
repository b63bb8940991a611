// SPDX-License-Identifier: Apache-2.0
#include <weft/net/memory.hpp>

#include "weft_net/team/state.hpp"

#include <exception>
#include <new>
#include <string>
#include <utility>

namespace weft::inline v0 {
namespace net {
namespace detail {

void throw_outside(const char *what, std::size_t first, std::size_t count, std::size_t size) {
  throw error(errc::invalid_argument, std::string(what) + " has " + std::to_string(size) +
                                          " elements; " + std::to_string(count) + " from " +
                                          std::to_string(first) + " are not among them");
}

shared_memory::shared_memory(std::shared_ptr<team_state> team, origin which, void *own,
                             std::size_t bytes)
    : m_team(std::move(team)), m_own(own), m_bytes(bytes),
      m_places(static_cast<std::size_t>(m_team->ranks)) {
  m_team->check_process();
  std::exception_ptr failed;
  try {
    register_own(which);
  } catch (...) {
    failed = std::current_exception(); // the others are in the collective call
  }
  m_places[static_cast<std::size_t>(m_team->own_rank)] = {m_key, bytes};
  try {
    share_places();
    if (failed)
      std::rethrow_exception(failed);
    check_places();
  } catch (...) {
    m_team->below->remove_memory(m_key);
    throw;
  }
}

shared_memory::~shared_memory() { m_team->below->remove_memory(m_key); }

void shared_memory::register_own(origin which) {
  if (which == origin::fresh)
    m_own = m_team->below->add_fresh_memory(m_bytes, m_key);
  if (which == origin::fresh && !m_own)
    try {
      m_storage = std::make_unique<std::byte[]>(m_bytes); // zero
      m_own = m_storage.get();
    } catch (const std::bad_alloc &) {
      throw error(errc::out_of_resources, m_team->who() + " has no memory for an array of " +
                                              std::to_string(m_bytes) + " bytes");
    }
  if (m_key == memory_key{})
    m_key = m_team->below->add_memory(m_own, m_bytes);
}

/// Tells all ranks the place of each. A place is written by one rank, and zero at the others.
void shared_memory::share_places() {
  m_team->make({team_state::call::kind::reduce, "share memory", m_places.data(), sizeof(place),
                m_places.size(), 0,
                [](void *, void *into, const void *from, std::size_t count) {
                  auto *const left = static_cast<unsigned char *>(into);
                  const auto *const right = static_cast<const unsigned char *>(from);
                  for (std::size_t i = 0; i != count * sizeof(place); ++i)
                    left[i] = static_cast<unsigned char>(left[i] | right[i]);
                }});
}

/// Throws if a rank has no place: its key is zero, which no engine makes.
void shared_memory::check_places() const {
  for (std::size_t r = 0; r != m_places.size(); ++r)
    if (m_places[r].key == memory_key{})
      throw error(errc::out_of_resources,
                  m_team->name_of_rank(static_cast<int>(r)) + " cannot share an array of " +
                      std::to_string(m_places[r].bytes) +
                      " bytes, so no rank does; its own exception says why");
}

const shared_memory::place &shared_memory::at(int rank) const {
  return m_places[static_cast<std::size_t>(m_team->checked(rank))];
}

} // namespace detail

std::shared_ptr<detail::shared_memory> team::share_memory(memory which, void *own,
                                                          std::size_t bytes) {
  return std::make_shared<detail::shared_memory>(m_state, which, own, bytes);
}

} // namespace net
} // namespace weft::inline v0
