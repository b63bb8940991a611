// SPDX-License-Identifier: Apache-2.0
// A fork() with the server and the budget in one process: a worker of TBB calls the budget while it holds a lock of
// TBB's, which the child must find free.
#include "../budget/tcm.hpp"
#include "door.hpp"
#include "interface.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include <sched.h>
#include <sys/wait.h>

namespace abi = weft_tbb::abi;
namespace tcm = weft_tcm;

extern "C" int __TBB_make_rml_server(abi::factory *, void **, void *);

namespace weft_tbb::abi {
struct job {};
} // namespace weft_tbb::abi

namespace {

struct spin {
  std::atomic_flag taken;
  bool try_lock() { return !taken.test_and_set(std::memory_order_acquire); }
  void lock() {
    while (!try_lock())
      sched_yield();
  }
  void unlock() { taken.clear(std::memory_order_release); }
};

spin g_demand; // TBB's, of what its arenas want
tcm::permit *g_permit = nullptr;
std::atomic<bool> g_looks_for_work{false};
std::atomic<int> g_at_work{0};

/// Tells the budget what is wanted now, as a worker of TBB does that finds no work.
bool change_demand() {
  const std::lock_guard lock(g_demand);
  const bool first = tcmDeactivatePermit(g_permit) == tcm::success;
  for (int i = 0; i < 5; ++i) // others run while the lock is held
    sched_yield();
  return tcmActivatePermit(g_permit) == tcm::success && first;
}

} // namespace

namespace tbb::detail::r1 { // the class tells the generation
class thread_dispatcher : public abi::one::client {
 public:
  virtual ~thread_dispatcher() = default;
  unsigned version() const override { return 0; }
  unsigned max_job_count() const override { return 4; }
  std::size_t min_stack_size() const override { return std::size_t{1} << 18; }
  abi::job *create_one_job() override { return new abi::job; }
  void acknowledge_close_connection() override {}
  void cleanup(abi::job &j) override { delete &j; }
  void process(abi::job &) override {
    ++g_at_work;
    while (g_looks_for_work)
      sched_yield();
    CHECK(change_demand());
    --g_at_work;
  }
};
} // namespace tbb::detail::r1

namespace {

/// Is the least that the server waits before it gives up, as it may where other programs keep the
/// processors from TBB's workers: the child then finds the lock taken.
constexpr std::chrono::milliseconds k_least_of_all_rounds{100};
constexpr int k_lock_is_taken = 1;

bool is_of_taken_lock(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == k_lock_is_taken;
}

int in_child() {
  alarm(60); // ends a child that hangs
  if (!g_demand.try_lock())
    return k_lock_is_taken;
  g_demand.unlock();
  return change_demand() ? 0 : 2;
}

} // namespace

int main() {
  tcm::client_id id = 0;
  CHECK(tcmConnect(nullptr, &id) == tcm::success);
  tcm::request asked{};
  asked.max_sw_threads = 2;
  CHECK(tcmRequestPermit(id, asked, nullptr, &g_permit, nullptr) == tcm::success);
  void *made = nullptr;
  tbb::detail::r1::thread_dispatcher client;
  CHECK(__TBB_make_rml_server(nullptr, &made, &client) == abi::success);
  abi::one::server &server = *static_cast<abi::one::server *>(made);
  for (int round = 0; round < 20; ++round) {
    g_looks_for_work = true;
    server.adjust_job_count_estimate(2);
    while (g_at_work != 2)
      std::this_thread::yield();
    server.adjust_job_count_estimate(-2);
    g_looks_for_work = false; // both are about to change the demand and to rest
    const auto begin = std::chrono::steady_clock::now();
    const pid_t child = fork();
    CHECK(child >= 0);
    const auto took = std::chrono::steady_clock::now() - begin;
    if (child == 0)
      _exit(in_child());
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0 || (is_of_taken_lock(status) && took >= k_least_of_all_rounds));
  }
  server.request_close_connection(false);
  CHECK(tcmReleasePermit(g_permit) == tcm::success);
  CHECK(tcmDisconnect(id) == tcm::success);
  std::puts("forks_with_budget: ok");
}
