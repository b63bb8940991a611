// SPDX-License-Identifier: Apache-2.0
// A program of a library of senders: it asks that library for the backend of the parallel scheduler, and gets Weft's.
#include <weft/execution.hpp>
#include <weft/weft.hpp>

#include <cstdio>
#include <memory>

namespace senders = WEFT_P2300_NAMESPACE;

namespace {
struct proxy : senders::parallel_scheduler_replacement::receiver_proxy {
  void set_value() noexcept override {
    answer = weft::worker_id() >= 0 ? 42 : 0;
    done.set();
  }
  void set_error(std::exception_ptr) noexcept override { done.set(); }
  void set_stopped() noexcept override { done.set(); }
  int answer = 0;
  weft::event done;
};
} // namespace

int main() {
  const auto backend =
      senders::parallel_scheduler_replacement::query_parallel_scheduler_backend();
  proxy p;
  alignas(8) std::byte memory[72];
  backend->schedule(p, memory);
  p.done.wait();
  std::printf("weft %s: %d\n", WEFT_VERSION_STRING, p.answer);
  return p.answer == 42 ? 0 : 1;
}
