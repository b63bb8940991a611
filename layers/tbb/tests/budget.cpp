// SPDX-License-Identifier: Apache-2.0
// The eleven functions of libtcm.so.1, and how permits grow and shrink with what the workers do.
// budget off: the setting is off, and no client is accepted.
// budget ends: main ends by pthread_exit() while a permit is in use, and so the process.
#include "../budget/tcm.hpp"
#include "../budget/valve.hpp"
#include "door.hpp"

#include <weft/weft.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft_tcm;

namespace {

template <class F>
void wait_until(F &&holds) {
  while (!holds())
    std::this_thread::yield();
}

request request_of(int least, int most) {
  request r{};
  r.min_sw_threads = least;
  r.max_sw_threads = most;
  return r;
}

struct answer {
  std::array<std::uint32_t, 4> concurrencies{99, 99, 99, 99};
  permit_data data{concurrencies.data(), nullptr, 4, permit_state::none, {}};
};

answer answer_of(permit *p) {
  answer a;
  a.data.concurrencies = a.concurrencies.data();
  CHECK(tcmGetPermitData(p, &a.data) == success);
  return a;
}
unsigned granted(permit *p) { return answer_of(p).concurrencies[0]; }
permit_state state(permit *p) { return answer_of(p).data.state; }

// ---- the valve, with workers that the test makes up ------------------------------------------------

void look(valve &v, std::vector<share> &shares, unsigned idle, std::size_t ready) {
  v.look(shares, weft::layer::worker_use{4, idle, ready});
}

void valve_gives_idle_workers_in_turn() {
  valve v;
  std::vector<share> s{{0, 4, 1, true, false}, {0, 2, 0, true, false}, {0, 4, 0, false, false}};
  look(v, s, 2, 0);
  CHECK(s[0].granted == 2 && s[1].granted == 1 && s[2].granted == 0);
  look(v, s, 9, 0);
  CHECK(s[0].granted == 4 && s[1].granted == 2 && s[2].granted == 0);
}

void valve_takes_one_thread_a_look_while_work_waits() {
  valve v;
  std::vector<share> s{{0, 4, 3, true, false}, {2, 4, 4, true, false}, {0, 4, 4, true, true}};
  look(v, s, 0, 1);
  CHECK(s[0].granted == 3 && s[1].granted == 4); // once is no need yet
  look(v, s, 0, 1);
  CHECK(s[0].granted == 3 && s[1].granted == 3); // from the largest
  look(v, s, 1, 1); // an idle worker is about to take the work
  look(v, s, 0, 1);
  CHECK(s[0].granted == 3 && s[1].granted == 3);
  for (int i = 0; i < 20; ++i)
    look(v, s, 0, 7);
  CHECK(s[0].granted == 1); // one stays
  CHECK(s[1].granted == 2); // the least that was asked for
  CHECK(s[2].granted == 4); // rigid
}

void valve_takes_from_idle_permits_first() {
  valve v;
  std::vector<share> s{{0, 4, 4, true, false}, {0, 4, 2, false, false}};
  look(v, s, 0, 1), look(v, s, 0, 1), look(v, s, 0, 1);
  CHECK(s[0].granted == 4 && s[1].granted == 0);
}

void first_grant_is_what_idles() {
  using use = weft::layer::worker_use;
  CHECK(first_grant({0, 8, 0, true, false}, use{4, 3, 0}) == 3);
  CHECK(first_grant({0, 2, 0, true, false}, use{4, 3, 0}) == 2);
  CHECK(first_grant({0, 8, 0, true, false}, use{4, 3, 5}) == 1); // what is ready takes the workers
  CHECK(first_grant({3, 8, 0, true, false}, use{4, 0, 0}) == 3);
  CHECK(first_grant({0, 8, 5, true, false}, use{4, 0, 0}) == 5); // has them already
  CHECK(first_grant({0, 0, 0, true, false}, use{4, 3, 0}) == 0);
}

// ---- the functions ------------------------------------------------------------------------------------

struct heard {
  std::atomic<int> times{0};
  std::atomic<unsigned> last{0};
  bool releases = false;
};

result hear(permit *p, void *argument, callback_flags changed) {
  heard &h = *static_cast<heard *>(argument);
  CHECK(changed.new_concurrency == 1);
  h.last = granted(p); // the client may ask meanwhile
  if (h.releases)
    CHECK(tcmReleasePermit(p) == success);
  ++h.times;
  return success;
}

void wrong_arguments_are_refused(client_id id) {
  permit *p = nullptr;
  CHECK(tcmConnect(&hear, nullptr) == invalid_argument);
  CHECK(tcmDisconnect(id + 100) == invalid_argument);
  CHECK(tcmRequestPermit(id, request_of(0, 2), nullptr, nullptr, nullptr) == invalid_argument);
  CHECK(tcmRequestPermit(id + 100, request_of(0, 2), nullptr, &p, nullptr) == invalid_argument);
  CHECK(tcmRequestPermit(id, request_of(3, 2), nullptr, &p, nullptr) == invalid_argument);
  request r = request_of(0, 2);
  r.constraints_size = 1; // and no constraint
  CHECK(tcmRequestPermit(id, r, nullptr, &p, nullptr) == invalid_argument);
  CHECK(p == nullptr);
  answer a;
  for (permit *const none : {static_cast<permit *>(nullptr), reinterpret_cast<permit *>(&a)}) {
    CHECK(tcmGetPermitData(none, &a.data) == invalid_argument);
    CHECK(tcmReleasePermit(none) == invalid_argument);
    CHECK(tcmIdlePermit(none) == invalid_argument);
    CHECK(tcmDeactivatePermit(none) == invalid_argument);
    CHECK(tcmActivatePermit(none) == invalid_argument);
    CHECK(tcmRegisterThread(none) == invalid_argument);
  }
  CHECK(tcmUnregisterThread() == invalid_argument);
  char text[32] = "x";
  CHECK(tcmGetVersionInfo(nullptr, 32) == invalid_argument);
  CHECK(tcmGetVersionInfo(text, 0) == invalid_argument);
  CHECK(tcmGetVersionInfo(text, sizeof text) == success);
  CHECK(std::string(text).find("Weft") != std::string::npos);
}

void a_permit_has_states(client_id id) {
  heard h;
  permit *p = nullptr;
  request r = request_of(1, 2);
  r.flags.request_as_inactive = 1;
  answer a;
  a.data.concurrencies = a.concurrencies.data();
  CHECK(tcmRequestPermit(id, r, &h, &p, &a.data) == success);
  CHECK(p && a.data.state == permit_state::inactive && a.concurrencies[0] == 0);
  CHECK(tcmGetPermitData(p, nullptr) == invalid_argument);
  a.data.size = 0;
  CHECK(tcmGetPermitData(p, &a.data) == invalid_argument);
  CHECK(tcmIdlePermit(p) == invalid_argument); // it has nothing that could idle
  CHECK(tcmActivatePermit(p) == success);
  CHECK(state(p) == permit_state::active && granted(p) >= 1 && granted(p) <= 2);
  CHECK(tcmIdlePermit(p) == success && state(p) == permit_state::idle);
  CHECK(tcmActivatePermit(p) == success && state(p) == permit_state::active);
  CHECK(tcmDeactivatePermit(p) == success);
  CHECK(state(p) == permit_state::inactive && granted(p) == 0);
  permit *const same = p;
  CHECK(tcmRequestPermit(id, request_of(2, 2), &h, &p, nullptr) == success);
  CHECK(p == same && state(p) == permit_state::active && granted(p) == 2);
  CHECK(tcmRegisterThread(p) == success && tcmRegisterThread(p) == success);
  std::thread([] { CHECK(tcmUnregisterThread() == invalid_argument); }).join(); // another thread
  CHECK(tcmUnregisterThread() == success && tcmUnregisterThread() == success);
  CHECK(tcmUnregisterThread() == invalid_argument);
  CHECK(tcmReleasePermit(p) == success);
  CHECK(tcmReleasePermit(p) == invalid_argument);
}

void constraints_get_their_parts(client_id id) {
  permit *p = nullptr;
  constraint parts[2] = {{0, 2, nullptr, k_automatic, k_automatic, k_automatic},
                         {0, k_automatic, nullptr, k_automatic, k_automatic, k_automatic}};
  request r = request_of(3, 3);
  r.cpu_constraints = parts;
  r.constraints_size = 2;
  CHECK(tcmRequestPermit(id, r, nullptr, &p, nullptr) == success);
  const answer a = answer_of(p);
  CHECK(a.data.size == 2 && a.concurrencies[0] == 2 && a.concurrencies[1] == 1);
  parts[1].max_concurrency = 0; // two threads are all that is left
  CHECK(tcmRequestPermit(id, r, nullptr, &p, nullptr) == success);
  const answer b = answer_of(p);
  CHECK(b.concurrencies[0] == 2 && b.concurrencies[1] == 0);
  CHECK(tcmReleasePermit(p) == success);
}

/// Tasks wait behind each other on all workers: the permit shrinks, and grows afterwards.
void a_permit_follows_the_workers(client_id id) {
  heard h;
  permit *p = nullptr;
  CHECK(tcmRequestPermit(id, request_of(0, 4), &h, &p, nullptr) == success);
  if (weft::layer::workers() == 1) { // this thread is the only worker, and does not idle
    CHECK(granted(p) == 1);
    CHECK(tcmReleasePermit(p) == success);
    return;
  }
  wait_until([&] { return granted(p) == 4; }); // the workers idle
  std::atomic<bool> ends{false};
  for (int i = 0; i < 64; ++i)
    weft::spawn([&] {
      while (!ends)
        std::this_thread::yield();
    });
  std::thread waits([&] {
    wait_until([&] { return h.last == 1; });
    CHECK(granted(p) == 1);
    ends = true;
  });
  weft::taskwait();
  waits.join();
  wait_until([&] { return h.last == 4; });
  CHECK(tcmReleasePermit(p) == success);
}

void a_permit_can_go_in_its_callback(client_id id) {
  heard h;
  h.releases = true;
  permit *p = nullptr;
  request r = request_of(0, 4);
  CHECK(tcmRequestPermit(id, r, &h, &p, nullptr) == success);
  if (weft::layer::workers() != 1 && granted(p) < 4) // else there is nothing to tell
    wait_until([&] { return h.times == 1; });
  else
    CHECK(tcmReleasePermit(p) == success);
  CHECK(tcmReleasePermit(p) == invalid_argument);
}

/// Returns whether a client has permits, and gives them up.
bool permits_come_and_go(client_id id) {
  permit *some[3] = {};
  for (permit *&p : some)
    if (tcmRequestPermit(id, request_of(0, 4), nullptr, &p, nullptr) != success ||
        state(p) != permit_state::active)
      return false;
  for (permit *p : some)
    if (tcmReleasePermit(p) != success)
      return false;
  return true;
}

/// The child of a fork() has clients and permits as they were between two calls of other threads.
void children_have_whole_permits(client_id id) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i)
    others.emplace_back([&] {
      client_id mine = 0;
      CHECK(tcmConnect(nullptr, &mine) == success);
      while (!ends)
        CHECK(permits_come_and_go(mine));
      CHECK(tcmDisconnect(mine) == success);
    });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      alarm(60); // ends a child that hangs
      client_id mine = 0;
      _exit(tcmConnect(nullptr, &mine) == success && permits_come_and_go(mine) &&
                    permits_come_and_go(id) && tcmDisconnect(id) == success
                ? 0
                : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  ends = true;
  for (std::thread &t : others)
    t.join();
}

std::atomic<bool> g_is_in_client{false};
std::atomic<int> g_calls{0};

/// Is a client that holds a lock of its own for a while.
result hold_a_lock(permit *, void *, callback_flags) {
  g_is_in_client = true;
  ++g_calls;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  g_is_in_client = false;
  return success;
}

/// A fork() waits for a client that is being called.
void children_are_of_no_call() {
  if (weft::layer::workers() == 1)
    return; // no worker idles, and so no client is called
  client_id id = 0;
  CHECK(tcmConnect(&hold_a_lock, &id) == success);
  for (int i = 0; i < 10; ++i) {
    permit *p = nullptr;
    const int before = g_calls;
    CHECK(tcmRequestPermit(id, request_of(0, 4), nullptr, &p, nullptr) == success);
    if (granted(p) < 4) // else there is nothing to tell
      wait_until([&] { return g_calls != before; });
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
      _exit(g_is_in_client ? 1 : 0);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(tcmReleasePermit(p) == success);
  }
  CHECK(tcmDisconnect(id) == success);
}

/// A permit that goes waits for the call of its client. A permit of so many threads is reported again
/// and again.
void a_release_waits_for_the_call() {
  if (weft::layer::workers() == 1)
    return;
  client_id id = 0;
  CHECK(tcmConnect(&hold_a_lock, &id) == success);
  for (int i = 0; i < 5; ++i) {
    permit *p = nullptr;
    CHECK(tcmRequestPermit(id, request_of(0, 500), nullptr, &p, nullptr) == success);
    wait_until([&] { return g_is_in_client || granted(p) == 500; });
    CHECK(tcmReleasePermit(p) == success);
    CHECK(!g_is_in_client);
  }
  CHECK(tcmDisconnect(id) == success);
}

} // namespace

int main(int argc, char **argv) {
  client_id id = 0;
  if (argc == 2 && std::string(argv[1]) == "ends") {
    permit *used = nullptr;
    CHECK(tcmConnect(&hear, &id) == success);
    static heard h; // its thread may call while this one ends
    CHECK(tcmRequestPermit(id, request_of(0, 1), &h, &used, nullptr) == success);
    pthread_exit(nullptr);
  }
  if (argc == 2 && std::string(argv[1]) == "off") {
    CHECK(tcmConnect(&hear, &id) == unknown_error);
    return 0;
  }
  valve_gives_idle_workers_in_turn();
  valve_takes_one_thread_a_look_while_work_waits();
  valve_takes_from_idle_permits_first();
  first_grant_is_what_idles();
  CHECK(tcmConnect(&hear, &id) == success);
  wrong_arguments_are_refused(id);
  a_permit_has_states(id);
  constraints_get_their_parts(id);
  for (int i = 0; i < 5; ++i) {
    a_permit_follows_the_workers(id);
    a_permit_can_go_in_its_callback(id);
  }
  children_have_whole_permits(id);
  children_are_of_no_call();
  a_release_waits_for_the_call();
  permit *left = nullptr;
  CHECK(tcmRequestPermit(id, request_of(0, 1), nullptr, &left, nullptr) == success);
  client_id second = 0;
  CHECK(tcmConnect(nullptr, &second) == success && second != id); // its client gets no calls
  CHECK(tcmRequestPermit(second, request_of(0, 1), nullptr, &left, nullptr) == invalid_argument);
  CHECK(tcmDisconnect(id) == success); // with its permits
  CHECK(tcmReleasePermit(left) == invalid_argument);
  CHECK(tcmDisconnect(id) == invalid_argument);
  CHECK(tcmDisconnect(second) == success);
}
