// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/wrap/persistent.hpp"

#include <mutex>
#include <unordered_set>

namespace weft_mpi {
namespace {

struct requests {
  std::mutex lock;
  std::unordered_set<MPI_Request> all;
};

requests &persistent() {
  static requests *const r = new requests; // never destroyed: MPI may be called as the process ends
  return *r;
}

} // namespace

void add_persistent(MPI_Request request) noexcept {
  const std::lock_guard lock(persistent().lock);
  persistent().all.insert(request);
}

void remove_persistent(MPI_Request request) noexcept {
  const std::lock_guard lock(persistent().lock);
  persistent().all.erase(request);
}

bool is_persistent(MPI_Request request) noexcept {
  const std::lock_guard lock(persistent().lock);
  return persistent().all.contains(request);
}

} // namespace weft_mpi
