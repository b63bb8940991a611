// SPDX-License-Identifier: Apache-2.0
// A client of either generation.
#pragma once

#include "interface.hpp"

namespace weft_tbb {

enum class generation { unknown, classic, one };

/// Returns the generation of the TBB that a client belongs to.
///
/// The name of the client's class tells. Where a TBB is compiled without run-time types,
/// `TBB_runtime_interface_version` of the program or library that holds the client's functions does.
[[nodiscard]] generation generation_of(const void *client) noexcept;

/// Calls a client of either generation. The client outlives it.
class any_client {
  template <class F>
  auto call(F &&f) const {
    return m_generation == generation::classic ? f(*static_cast<abi::classic::client *>(m_object))
                                               : f(*static_cast<abi::one::client *>(m_object));
  }

 public:
  any_client(void *object, generation interface) noexcept
      : m_object(object), m_generation(interface) {}

  [[nodiscard]] generation is() const noexcept { return m_generation; }
  [[nodiscard]] unsigned max_job_count() const {
    return call([](auto &c) { return c.max_job_count(); });
  }
  [[nodiscard]] std::size_t min_stack_size() const {
    return call([](auto &c) { return c.min_stack_size(); });
  }
  [[nodiscard]] abi::job &create_one_job() const {
    return *call([](auto &c) { return c.create_one_job(); });
  }
  void acknowledge_close_connection() const {
    call([](auto &c) { c.acknowledge_close_connection(); });
  }
  void cleanup(abi::job &work) const {
    call([&](auto &c) { c.cleanup(work); });
  }
  void process(abi::job &work) const {
    call([&](auto &c) { c.process(work); });
  }

 private:
  void *m_object;
  generation m_generation;
};

} // namespace weft_tbb
