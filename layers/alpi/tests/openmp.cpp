// SPDX-License-Identifier: Apache-2.0
// Tests OpenMP tasks with a task-aware library, which does what published ones do: in a region, in
// tasks of each kind, and in the first thread before and after. GCC and Clang compile this program.
#include "load_probe.hpp"

#include <atomic>
#include <cstdlib>
#include <deque>
#include <thread>
#include <vector>

extern "C" { // Clang's header is in a package of its own
int omp_get_thread_num();
int omp_get_max_threads();
typedef enum omp_event_handle_t { omp_event_largest = __UINTPTR_MAX__ } omp_event_handle_t;
void omp_fulfill_event(omp_event_handle_t);
}

namespace {

void require(bool holds, const char *what) {
  if (!holds) {
    std::fprintf(stderr, "wrong: %s\n", what);
    std::_Exit(1);
  }
}

const probe_library *library;

struct request {
  std::atomic<bool> started{false}, done{false};
  int value = 0; // written by the thread that ends the request
};

int test_some(int count, void **requests, int *done) {
  int found = 0;
  for (int i = 0; i < count; ++i)
    if (static_cast<request *>(requests[i])->done)
      done[found++] = i;
  return found;
}

/// Ends the requests as a network card does, the last first.
class card {
 public:
  explicit card(std::deque<request> &all)
      : m_thread([&all] {
          for (std::size_t i = all.size(); i-- > 0;) {
            while (!all[i].started)
              std::this_thread::yield();
            all[i].value = static_cast<int>(i) + 1;
            all[i].done = true;
          }
        }) {}
  ~card() { m_thread.join(); }

 private:
  std::thread m_thread;
};

void bind(request &r) {
  require(library->bind(&r) == ALPI_SUCCESS, "a task binds a request");
  r.started = true;
}
int wait(request &r) {
  r.started = true;
  require(library->wait(&r) == ALPI_SUCCESS, "a task waits for a request");
  return r.value;
}

alpi_task *self() {
  alpi_task *task = nullptr;
  require(alpi_task_self(&task) == ALPI_SUCCESS && task, "there is a task everywhere");
  return task;
}

constexpr int k_requests = 40;

/// Tests a library's calls in the first thread and in the members of a region.
void everywhere() {
  alpi_task *const of_main = self();
  std::uint64_t passed = 0;
  require(alpi_task_waitfor_ns(1'000'000, &passed) == ALPI_SUCCESS && passed >= 1'000'000,
          "the first thread sleeps");
  std::vector<alpi_task *> members(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel
  {
    alpi_task *const mine = members[static_cast<std::size_t>(omp_get_thread_num())] = self();
    require(alpi_task_waitfor_ns(10'000, nullptr) == ALPI_SUCCESS, "a member sleeps");
    require(self() == mine, "a member is one task");
    require(alpi_task_unblock(mine) == ALPI_SUCCESS &&
                alpi_task_unblock(mine) == ALPI_ERR_PARAMETER,
            "one unblock comes first");
    require(alpi_task_block(mine) == ALPI_SUCCESS, "and is taken by the block");
    require(alpi_task_suspend(mine) == ALPI_ERR_UNKNOWN, "its body is not run again");
#pragma omp task firstprivate(mine)
    {
      alpi_task *const task = self();
      require(task != mine, "a task is another one than the member that runs it");
      std::uint64_t has = 7;
      require(alpi_task_events_test(task, &has) == ALPI_SUCCESS && has == 0, "no events at first");
      require(alpi_task_events_increase(task, 2) == ALPI_SUCCESS &&
                  alpi_task_events_decrease(task, 1) == ALPI_SUCCESS,
              "events");
      require(alpi_task_events_test(task, &has) == ALPI_SUCCESS && has == 1, "one is left");
      require(alpi_task_events_decrease(task, 2) == ALPI_ERR_PARAMETER, "not more than there are");
      require(alpi_task_events_decrease(task, 1) == ALPI_SUCCESS, "and now none");
      require(alpi_task_events_decrease(mine, 1) == ALPI_ERR_PARAMETER, "the member has none");
      require(alpi_task_block(mine) == ALPI_ERR_PARAMETER, "only its own task blocks");
    }
  }
  require(self() == of_main, "the first thread is what it was");
  for (const alpi_task *a : members)
    for (const alpi_task *b : members)
      require(&a == &b || a != of_main,
              "members are other tasks than the first thread outside of regions");
}

/// Tests tasks with dependences: other tasks use their data once the requests are done.
void dependences() {
  std::deque<request> all(k_requests);
  std::vector<int> seen(k_requests, 0);
  const card c(all);
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < k_requests; ++i) {
    request &r = all[static_cast<std::size_t>(i)];
    int &into = seen[static_cast<std::size_t>(i)];
#pragma omp task depend(out : r) shared(r)
    bind(r);
#pragma omp task depend(in : r) shared(r, into)
    into = r.value;
  }
  for (int i = 0; i < k_requests; ++i)
    require(seen[static_cast<std::size_t>(i)] == i + 1,
            "a successor sees what came after its predecessor's body");
}

/// Tests that each construct that waits for tasks waits for their requests.
void waits() {
  std::deque<request> all(6);
  const card c(all);
#pragma omp parallel
  {
#pragma omp single
    {
#pragma omp task shared(all)
      bind(all[5]);
#pragma omp taskwait
      require(all[5].value == 6, "taskwait");
#pragma omp taskgroup
      {
#pragma omp task shared(all)
        {
#pragma omp task shared(all)
          bind(all[4]);
        }
      }
      require(all[4].value == 5, "taskgroup");
#pragma omp task if (0) shared(all)
      bind(all[3]);
      require(all[3].value == 4, "a task that its creator runs");
#pragma omp task final(1) shared(all)
      {
#pragma omp task shared(all)
        bind(all[2]);
        require(all[2].value == 3, "a task of a final one");
      }
      bind(all[1]); // of the member itself
    }
    require(all[1].value == 2 && all[2].value == 3, "the barrier");
#pragma omp single nowait
    bind(all[0]);
  }
  require(all[0].value == 1, "the end of the region");
}

/// Tests more tasks that wait inside than there are threads. Each thread blocks with its task.
void blocking() {
  const int threads = omp_get_max_threads();
  std::deque<request> all(static_cast<std::size_t>(threads));
  std::atomic<int> sum{0};
  const card c(all);
#pragma omp parallel
#pragma omp single
  for (request &r : all)
#pragma omp task shared(r, sum)
    sum += wait(r);
  require(sum == threads * (threads + 1) / 2, "what was waited for has come");
}

/// Tests the event of a detach clause together with an event from outside.
void detached() {
  std::deque<request> all(2);
  omp_event_handle_t first{}, second{};
  const card c(all);
  int x = 0, seen = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task detach(first) depend(out : x) shared(all)
    bind(all[1]);
#pragma omp task depend(in : x) shared(x, seen, all)
    seen = x + all[1].value;
    x = 10;
    omp_fulfill_event(first);
#pragma omp taskwait
    require(seen == 12, "a task is over when both have come");
#pragma omp task detach(second) shared(all)
    {
      omp_fulfill_event(second);
      bind(all[0]);
    }
#pragma omp taskwait
    require(all[0].value == 1, "whichever comes last");
  }
}

/// Tests tasks outside of regions, which their creator runs.
void serial() {
  std::deque<request> all(2);
  const card c(all);
#pragma omp task shared(all)
  bind(all[1]);
  require(all[1].value == 2, "a task outside of regions");
#pragma omp parallel num_threads(1)
  {
#pragma omp task shared(all)
    bind(all[0]);
  }
  require(all[0].value == 1, "a region of one thread");
}

} // namespace

int main() {
  library = load_probe();
  require(library != nullptr, "the library is there");
  for (const bool suspends : {false, true}) {
    require(library->start(&test_some, 20'000, suspends), "it has a place per CPU, and polls");
    everywhere();
    for (int round = 0; round < 5; ++round) {
      dependences();
      waits();
      blocking();
      detached();
      serial();
    }
    require(library->stop(), "the first thread waits for the end of polling");
    require(library->clashes() == 0, "no two had the same CPU");
  }
  return 0;
}
