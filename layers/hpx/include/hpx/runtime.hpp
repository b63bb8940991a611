// SPDX-License-Identifier: Apache-2.0
// HPX's names on Weft: what a program asks of the runtime. There is one locality, this process.
#pragma once

#include <hpx/config.hpp>
#include <weft/future.hpp>
#include <weft/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace hpx {

inline std::size_t get_os_thread_count() { return static_cast<std::size_t>(weft::worker_count()); }
inline std::size_t get_num_worker_threads() { return get_os_thread_count(); }
/// Returns the number of the worker, or -1 as std::size_t on a thread that is none.
inline std::size_t get_worker_thread_num() { return static_cast<std::size_t>(weft::worker_id()); }
inline std::uint32_t get_locality_id() { return 0; }
inline std::string get_locality_name() { return "localhost"; }
inline weft::future<std::uint32_t> get_num_localities() {
  return weft::make_ready_future(std::uint32_t{1});
}
inline std::uint32_t get_num_localities(weft::launch) { return 1; }
inline std::uint32_t get_initial_num_localities() { return 1; }

} // namespace hpx
