// SPDX-License-Identifier: Apache-2.0
// The library against clients made here, of both generations and of none: how many threads work,
// when they sleep and end, and which functions are called.
#include "door.hpp"
#include "interface.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

namespace abi = weft_tbb::abi;

extern "C" {
int __RML_open_factory(abi::factory *, unsigned *, unsigned);
void __RML_close_factory(abi::factory *);
int __TBB_make_rml_server(abi::factory *, void **, void *);
void __TBB_call_with_my_server_info(void (*)(void *, const char *), void *);
}

namespace weft_tbb::abi {
struct job {
  std::thread::id made_by;
};
} // namespace weft_tbb::abi

namespace {

template <class F>
void wait_until(F &&holds) {
  while (!holds())
    std::this_thread::yield();
}

struct history {
  unsigned limit = 8;
  std::size_t stack = std::size_t{1} << 20;
  std::atomic<unsigned> made{0}, cleaned{0}, acknowledged{0}, calls{0}, at_work{0}, most_at_work{0};
  std::atomic<unsigned> policy_asked{0};
  std::atomic<void (*)(history &)> in_process{nullptr};
  void *server = nullptr;
};

template <class Interface>
class basic_client : public Interface {
 public:
  explicit basic_client(history &h) : m(h) {}
  virtual ~basic_client() = default;
  unsigned version() const override { return 0; }
  unsigned max_job_count() const override { return m.limit; }
  std::size_t min_stack_size() const override { return m.stack; }
  abi::job *create_one_job() override {
    ++m.made;
    return new abi::job{};
  }
  void acknowledge_close_connection() override { ++m.acknowledged; }
  void cleanup(abi::job &j) override {
    delete &j;
    ++m.cleaned;
  }
  void process(abi::job &) override {
    const unsigned n = ++m.at_work;
    for (unsigned most = m.most_at_work; n > most;)
      if (m.most_at_work.compare_exchange_weak(most, n))
        break;
    if (const auto f = m.in_process.load())
      f(m);
    char large[512 * 1024]; // fits into the stack that the client asks for
    large[m.calls % sizeof large] = 1;
    asm volatile("" : : "r"(large) : "memory");
    --m.at_work;
    ++m.calls;
  }

 protected:
  history &m;
};

} // namespace

// The generations are told apart by the namespaces of TBB's classes.
namespace tbb::internal {
class market : public basic_client<abi::classic::client> {
 public:
  using basic_client::basic_client;
  int policy() const override {
    ++m.policy_asked;
    return 0;
  }
};
} // namespace tbb::internal
namespace tbb::detail::r1 {
using market = basic_client<abi::one::client>;
class thread_dispatcher : public market {
 public:
  using market::market;
};
} // namespace tbb::detail::r1
namespace other {
class client : public basic_client<abi::one::client> {
 public:
  using basic_client::basic_client;
};
} // namespace other

namespace {

template <class Server, class Client>
class connection {
 public:
  explicit connection(unsigned limit = 8, std::size_t stack = std::size_t{1} << 20)
      : m_client((h.limit = limit, h.stack = stack, h)) {
    CHECK(__TBB_make_rml_server(nullptr, &h.server, static_cast<void *>(&m_client)) ==
          abi::success);
  }
  Server &server() { return *static_cast<Server *>(h.server); }
  history h;

 private:
  Client m_client;
};

/// Waits until no thread calls process() any more.
void wait_for_silence(history &h) {
  for (unsigned quiet = 0, before = h.calls; quiet < 20; before = h.calls) {
    usleep(2000);
    quiet = h.calls == before && h.at_work == 0 ? quiet + 1 : 0;
  }
}

template <class Server, class Client>
void life_of_a_connection() {
  connection<Server, Client> c;
  history &h = c.h;
  CHECK(c.server().version() == abi::k_version);
  CHECK(c.server().default_concurrency() == 8);
  CHECK(h.made == 0);
  c.server().independent_thread_number_changed(1);
  c.server().adjust_job_count_estimate(3);
  wait_until([&] { return h.made == 3 && h.calls > 100; });
  c.server().yield();
  c.server().adjust_job_count_estimate(-3);
  wait_for_silence(h);
  CHECK(h.made == 3 && h.cleaned == 0);
  const unsigned calls = h.calls;
  c.server().adjust_job_count_estimate(1); // wakes a thread instead of starting another
  wait_until([&] { return h.calls > calls + 10; });
  CHECK(h.made == 3);
  // Changes that come in another order: what has been taken back cancels what comes later.
  c.server().adjust_job_count_estimate(-2);
  c.server().adjust_job_count_estimate(1);
  wait_for_silence(h);
  c.server().adjust_job_count_estimate(5);
  wait_until([&] { return h.made == 5; });
  c.server().adjust_job_count_estimate(-5);
  c.server().request_close_connection(false);
  CHECK(h.acknowledged == 1 && h.cleaned == 5 && h.at_work == 0); // the call waits
  CHECK(h.most_at_work <= 5 && h.policy_asked == 0);
}

template <class Server, class Client>
void limits_and_ends() {
  {
    connection<Server, Client> c;
    c.server().request_close_connection(false); // without any thread
    CHECK(c.h.acknowledged == 1 && c.h.made == 0);
  }
  {
    connection<Server, Client> c(2);
    c.server().adjust_job_count_estimate(5);
    wait_until([&] { return c.h.calls > 500; });
    c.server().request_close_connection(true); // while they work
    CHECK(c.h.acknowledged == 1 && c.h.made == 2 && c.h.cleaned == 2);
  }
  {
    connection<Server, Client> c;
    c.h.in_process = [](history &h) { // a thread of the server ends its connection
      h.in_process = nullptr;
      static_cast<Server *>(h.server)->request_close_connection(false);
    };
    c.server().adjust_job_count_estimate(1);
    wait_until([&] { return c.h.acknowledged == 1; });
    CHECK(c.h.made == 1 && c.h.cleaned == 1);
  }
  for (int round = 0; round < 300; ++round) { // ends while threads start, sleep and wake
    connection<Server, Client> c;
    c.server().adjust_job_count_estimate(1 + round % 8);
    if (round % 3 == 0)
      c.server().adjust_job_count_estimate(-round % 8);
    if (round % 2 == 0)
      std::this_thread::yield();
    c.server().request_close_connection(false);
    CHECK(c.h.acknowledged == 1 && c.h.cleaned == c.h.made);
  }
}

/// Threads have ended when a connection has, destructors of their variables included.
void ends_behind_destructors() {
  static std::atomic<unsigned> destroyed{0};
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    CHECK(pthread_key_create(&made, [](void *) {
            for (int i = 0; i < 20; ++i)
              sched_yield();
            ++destroyed;
          }) == 0);
    return made;
  }();
  for (int round = 0; round < 20; ++round) {
    destroyed = 0;
    connection<abi::one::server, tbb::detail::r1::thread_dispatcher> c;
    c.h.in_process = [](history &h) { pthread_setspecific(key, &h); };
    c.server().adjust_job_count_estimate(4);
    wait_until([&] { return c.h.calls > 10; });
    c.server().request_close_connection(false);
    CHECK(c.h.acknowledged == 1 && destroyed != 0 && destroyed <= c.h.made);
    const unsigned then = destroyed;
    usleep(1000);
    CHECK(destroyed == then);
  }
}

/// Is the least that the server waits before a fork goes on though threads work, as it may where other programs keep
/// the processors from them.
constexpr std::chrono::milliseconds k_least_of_all_rounds{100};

/// Returns what a child of fork() does, and how long the fork took.
template <class F>
int in_a_child(F &&body, std::chrono::steady_clock::duration *took = nullptr) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child != 0 && took)
    *took = std::chrono::steady_clock::now() - begin;
  if (child == 0)
    _exit(body());
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// A fork waits for threads that are about to rest, and not for ever for threads that are not.
void forks() {
  static std::atomic<bool> goes_on{false};
  connection<abi::one::server, tbb::detail::r1::thread_dispatcher> c;
  history &h = c.h;
  for (int round = 0; round < 20; ++round) {
    goes_on = true;
    h.in_process = [](history &) {
      while (goes_on)
        sched_yield();
      for (int i = 0; i < 20; ++i)
        sched_yield();
    };
    c.server().adjust_job_count_estimate(2);
    wait_until([&] { return h.at_work == 2; });
    c.server().adjust_job_count_estimate(-2);
    if (round == 0)
      CHECK(in_a_child([&] { return h.at_work == 2 ? 7 : 1; }) == 7);
    goes_on = false;
    std::chrono::steady_clock::duration took{};
    const int code = in_a_child([&] { return h.at_work == 0 ? 7 : 1; }, &took);
    CHECK(code == 7 || (code == 1 && took >= k_least_of_all_rounds));
    wait_until([&] { return h.at_work == 0; }); // or the next round would see them
  }
  c.server().request_close_connection(false);
  CHECK(h.acknowledged == 1);
}

/// Threads whose stacks no machine has: TBB goes on without them, and one line says so.
void refused_threads() {
  char name[] = "/tmp/weft-clients-XXXXXX";
  const int said = mkstemp(name), before = dup(2);
  CHECK(said >= 0 && before >= 0 && dup2(said, 2) == 2);
  {
    connection<abi::one::server, tbb::detail::r1::thread_dispatcher> c(8, std::size_t{1} << 60);
    c.server().adjust_job_count_estimate(2);
    c.server().adjust_job_count_estimate(1);
    c.server().adjust_job_count_estimate(-3);
    c.server().request_close_connection(false);
    CHECK(c.h.acknowledged == 1 && c.h.made == 0);
  }
  CHECK(dup2(before, 2) == 2);
  char text[4096] = "";
  CHECK(pread(said, text, sizeof text - 1, 0) > 0);
  close(said);
  unlink(name);
  const char *const first = std::strstr(text, "weft: warning: cannot start a thread for TBB (");
  CHECK(first != nullptr && std::strstr(first + 1, "weft: warning") == nullptr);
}

/// A client of a library that is compiled without run-time types.
template <class Server>
void without_types(const char *library) {
  void *const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  CHECK(handle != nullptr);
  void *const client = reinterpret_cast<void *(*)()>(dlsym(handle, "client_without_a_type"))();
  void *server = nullptr;
  CHECK(__TBB_make_rml_server(nullptr, &server, client) == abi::success);
  CHECK(static_cast<Server *>(server)->default_concurrency() == 3);
  static_cast<Server *>(server)->request_close_connection(false);
  CHECK(reinterpret_cast<int (*)()>(dlsym(handle, "acknowledged"))() == 1);
}

} // namespace

int main(int argc, char **argv) {
  CHECK(argc == 3);
  unsigned version = 0;
  CHECK(__RML_open_factory(nullptr, &version, abi::k_version) == abi::success);
  CHECK(version == abi::k_version);
  CHECK(__RML_open_factory(nullptr, &version, abi::k_version + 1) == abi::incompatible);
  __RML_close_factory(nullptr);
  std::string said;
  __TBB_call_with_my_server_info(
      [](void *p, const char *text) { *static_cast<std::string *>(p) = text; }, &said);
  CHECK(said.rfind("Weft ", 0) == 0);
  life_of_a_connection<abi::one::server, tbb::detail::r1::thread_dispatcher>();
  limits_and_ends<abi::one::server, tbb::detail::r1::thread_dispatcher>();
  life_of_a_connection<abi::classic::server, tbb::internal::market>();
  limits_and_ends<abi::classic::server, tbb::internal::market>();
  ends_behind_destructors();
  forks();
  refused_threads();
  without_types<abi::one::server>(argv[1]);
  without_types<abi::classic::server>(argv[2]);
  history h;
  other::client unknown(h);
  CHECK(__TBB_make_rml_server(nullptr, &h.server, &unknown) == abi::incompatible);
  CHECK(h.server == nullptr);
  std::puts("clients: ok");
}
