// SPDX-License-Identifier: Apache-2.0
// How the library begins: settings, sessions, and what threads and processes inherit. The argument says which; one rank.
#include "ranks.hpp"
#include "service_spy.hpp"
#include "support/listener.hpp"

#include <weft/layer/default_setting.hpp>
#include <weft/layer/environment.hpp>
#include <weft/runtime.hpp>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ranks;

namespace {

bool asked_for(const char *what, const char *argument) { return std::strcmp(what, argument) == 0; }

/// Makes a task that receives, and waits until the polling service is there.
void begin_receive(int *to) {
  weft::spawn([to] { MPI_Recv(to, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
  while (spy::made == 0)
    weft::this_task::sleep_for_ns(1'000'000);
}
void end_receive() {
  const int x = 1;
  MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
  weft::taskwait();
}

/// Sets net.stall when MPI runs already.
void set_later() {
  weft::configure("net.stall", "300ms");
  int x = 0;
  const ::test::listener errors;
  begin_receive(&x);
  while (!errors.has_heard("no call of MPI has ended for 300ms"))
    weft::this_task::sleep_for_ns(10'000'000);
  end_receive();
  CHECK(x == 1);
}

/// Forks while a task waits for MPI. The child uses Weft, and has no polling service after a while.
void fork_beside_a_call() {
  int x = 0;
  begin_receive(&x);
  const int before = spy::ended;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    weft::spawn([] {});
    weft::taskwait();
    while (spy::ended == before)
      weft::this_task::sleep_for_ns(1'000'000);
    _exit(7);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
  CHECK(spy::ended == before);
  end_receive();
  CHECK(x == 1);
}

int cpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : -1;
}
std::atomic<int> g_cpus_of_helper{0};
int copy(MPI_Comm, int, void *, void *, void *, int *flag) {
  g_cpus_of_helper = cpus();
  *flag = 0;
  return MPI_SUCCESS;
}

/// Duplicates a communicator in a task on a thread that is bound to one processor, as workers may be: the thread of the
/// library that does it, and so copies attributes, has all of them.
void cpus_of_helper(int of_process) {
  int key = MPI_KEYVAL_INVALID, value = 0;
  MPI_Comm_create_keyval(&copy, MPI_COMM_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &value);
  weft::spawn([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0 && cpus() == 1);
    MPI_Comm made;
    CHECK(MPI_Comm_dup(MPI_COMM_SELF, &made) == MPI_SUCCESS);
    MPI_Comm_free(&made);
  });
  weft::taskwait();
  CHECK(g_cpus_of_helper == of_process);
  MPI_Comm_delete_attr(MPI_COMM_SELF, key);
  MPI_Comm_free_keyval(&key);
}

#if MPI_VERSION >= 4
/// Calls MPI in a task when the program has a session alone: the call works, and a line says that it holds its worker.
void session() {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  CHECK(MPI_Group_from_session_pset(session, "mpi://SELF", &group) == MPI_SUCCESS);
  CHECK(MPI_Comm_create_from_group(group, "weft", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
        MPI_SUCCESS);
  const ::test::listener errors;
  int x = 5;
  weft::spawn([&] {
    CHECK(MPI_Sendrecv_replace(&x, 1, MPI_INT, 0, 3, 0, 3, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  });
  weft::taskwait();
  CHECK(x == 5);
  CHECK(errors.has_heard(
      "MPI_Sendrecv_replace holds its worker until it ends, as all calls of MPI in tasks do here"));
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
}
#endif

} // namespace

int main(int argc, char **argv) {
  const char *const what = argc > 1 ? argv[1] : "";
  const int of_process = cpus();
  if (asked_for(what, "stacks")) { // of another layer, too
    for (int i = 2; i < argc; ++i)
      weft::layer::set_default("stack.bytes", argv[i]);
    std::printf("stack.bytes %s\n", weft::layer::setting("stack.bytes").c_str());
    return EXIT_SUCCESS;
  }
  if (asked_for(what, "session")) {
#if MPI_VERSION >= 4
    session();
#else
    std::printf("skipped: this MPI has no sessions\n");
#endif
  } else {
    if (asked_for(what, "cpus") && of_process < 2) {
      std::printf("skipped: this machine gives one processor\n");
      return EXIT_SUCCESS;
    }
    MPI_Init(&argc, &argv);
    if (asked_for(what, "set_later"))
      set_later();
    else if (asked_for(what, "fork"))
      fork_beside_a_call();
    else if (asked_for(what, "cpus"))
      cpus_of_helper(of_process);
    else
      CHECK(!"there is such a test");
    MPI_Finalize();
  }
  if (failures == 0)
    std::printf("ok: %s\n", what);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
