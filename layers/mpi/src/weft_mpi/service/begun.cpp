// SPDX-License-Identifier: Apache-2.0
#include "weft_mpi/service/begun.hpp"

#include "weft_mpi/table/atomics.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace weft_mpi {
namespace {

struct note {
  MPI_Request request = MPI_REQUEST_NULL;
  begun_call call;
};

/// Has the notes of the handles of one hash. A full one forgets its oldest.
struct bucket {
  static constexpr std::size_t k_kept = 4;

  spin_lock lock;
  std::size_t next = 0;
  note all[k_kept];

  note *find(MPI_Request request) noexcept {
    for (note &one : all)
      if (one.request == request && one.call.name)
        return &one;
    return nullptr;
  }
};

constexpr int k_bucket_bits = 8;
bucket g_buckets[std::size_t{1} << k_bucket_bits];

bucket &bucket_of(MPI_Request request) noexcept {
#if defined(OPEN_MPI)
  const auto number = reinterpret_cast<std::uintptr_t>(request);
#else
  const auto number = static_cast<unsigned>(request);
#endif
  return g_buckets[(number * 0x9e3779b97f4a7c15U) >> (64 - k_bucket_bits)];
}

} // namespace

void note_begun(MPI_Request request, const char *name, const awaited &what) noexcept {
  bucket &notes = bucket_of(request);
  const std::lock_guard lock(notes.lock);
  note *made = notes.find(request);
  if (!made) {
    made = &notes.all[notes.next];
    notes.next = (notes.next + 1) % bucket::k_kept;
  }
  *made = {request, {name, what}};
  // The program may free a communicator before its requests have ended. That of all ranks stays.
  if (what.comm != MPI_COMM_WORLD)
    made->call.what.comm = MPI_COMM_NULL;
}

void forget_begun(MPI_Request request) noexcept {
  bucket &notes = bucket_of(request);
  const std::lock_guard lock(notes.lock);
  if (note *const found = notes.find(request))
    *found = {};
}

begun_call begun_of(MPI_Request request) noexcept {
  bucket &notes = bucket_of(request);
  const std::lock_guard lock(notes.lock);
  const note *const found = notes.find(request);
  return found ? found->call : begun_call();
}

std::string text_of(const begun_call &call) {
  return call.name ? call.name + text_of(call.what) : std::string();
}

} // namespace weft_mpi
