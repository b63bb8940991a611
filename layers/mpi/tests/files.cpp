// SPDX-License-Identifier: Apache-2.0
// Calls that read and write files, in tasks: each suspends its task, and its result is MPI's.
#include "ranks.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

using namespace ranks;

namespace {

// ---- calls that end when the test says so: regular files never make a reader wait

std::atomic<bool> g_holds{false}, g_may_end{false}, g_has_begun{false}, g_held_task{false};
std::atomic<std::thread::id> g_of_task; // the thread of the task that calls

/// Is called before MPI's own function. It waits for another task, unless the caller's thread would then run no other.
void hold() {
  g_has_begun = true;
  if (std::this_thread::get_id() == g_of_task.load())
    g_held_task = true;
  while (!g_held_task && !g_may_end)
    std::this_thread::yield();
}

} // namespace

// What the library calls.
#define HOLDABLE(name, parameters, arguments)                                                      \
  extern "C" int PMPI_##name parameters {                                                          \
    if (g_holds)                                                                                   \
      hold();                                                                                      \
    static const auto of_mpi =                                                                     \
        reinterpret_cast<int(*) parameters>(dlsym(RTLD_NEXT, "PMPI_" #name));                      \
    return of_mpi arguments;                                                                       \
  }
#define HOLDABLE_NEXT(name, buffer_type)                                                           \
  HOLDABLE(name,                                                                                   \
           (MPI_File file, buffer_type buffer, int count, MPI_Datatype type, MPI_Status *status),  \
           (file, buffer, count, type, status))
#define HOLDABLE_AT(name, buffer_type)                                                             \
  HOLDABLE(name,                                                                                   \
           (MPI_File file, MPI_Offset place, buffer_type buffer, int count, MPI_Datatype type,     \
            MPI_Status * status),                                                                  \
           (file, place, buffer, count, type, status))
HOLDABLE_NEXT(File_read, void *)
HOLDABLE_NEXT(File_read_all, void *)
HOLDABLE_NEXT(File_write, const void *)
HOLDABLE_NEXT(File_write_all, const void *)
HOLDABLE_AT(File_read_at, void *)
HOLDABLE_AT(File_read_at_all, void *)
HOLDABLE_AT(File_write_at, const void *)
HOLDABLE_AT(File_write_at_all, const void *)
HOLDABLE(File_sync, (MPI_File file), (file))

namespace {

/// Makes a file of this job, and opens it at the ranks of `comm`.
class file {
 public:
  explicit file(MPI_Comm comm, const char *name) {
    int id = static_cast<int>(getpid());
    PMPI_Bcast(&id, 1, MPI_INT, 0, comm);
    m_path = "weft_mpi_files." + std::to_string(id) + "." + name;
    open(comm, MPI_MODE_CREATE | MPI_MODE_RDWR);
  }
  file(const file &) = delete;
  file &operator=(const file &) = delete;
  ~file() { MPI_File_close(&m_file); }
  void open(MPI_Comm comm, int mode) {
    CHECK(MPI_File_open(comm, m_path.c_str(), mode | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &m_file) == MPI_SUCCESS);
  }
  operator MPI_File() const { return m_file; } // NOLINT: stands for the handle
  [[nodiscard]] const std::string &path() const { return m_path; }

 private:
  std::string m_path;
  MPI_File m_file = MPI_FILE_NULL;
};

int count_of(const MPI_Status &status) {
  int n = -1;
  MPI_Get_count(&status, MPI_INT, &n);
  return n;
}

/// Makes the call in a task. It ends when a child of the task has run: with one worker the child runs only if the call
/// suspends the task.
template <class Call>
void suspends_in(const char *name, Call call) {
  g_may_end = g_has_begun = g_held_task = false;
  g_holds = true;
  weft::spawn([&] {
    g_of_task = std::this_thread::get_id();
    weft::spawn([] { g_may_end = true; });
    const int error = call();
    CHECK(error == MPI_SUCCESS);
    weft::taskwait();
  });
  weft::taskwait();
  g_holds = false;
  if (!g_has_begun || g_held_task)
    std::fprintf(stderr, "MPI_%s\n", name);
  CHECK(g_has_begun && !g_held_task);
}

void every_call_suspends() {
  const file f(MPI_COMM_SELF, rank == 0 ? "0" : "1");
  std::array<int, 3> x{};
  int *const to = x.data();
  PMPI_File_write_at(f, 0, to, 3, MPI_INT, MPI_STATUS_IGNORE);
#define SUSPENDS(name, ...)                                                                        \
  suspends_in(#name, [&] {                                                                         \
    MPI_Status status;                                                                             \
    const int error = MPI_##name(f, __VA_ARGS__, 3, MPI_INT, &status);                             \
    CHECK(count_of(status) == 3);                                                                  \
    return error;                                                                                  \
  })
  SUSPENDS(File_read, to);
  SUSPENDS(File_read_at, 0, to);
  SUSPENDS(File_read_at_all, 0, to);
  SUSPENDS(File_write, to);
  SUSPENDS(File_write_all, to);
  SUSPENDS(File_write_at, 0, to);
  SUSPENDS(File_write_at_all, 0, to);
  MPI_File_seek(f, 0, MPI_SEEK_SET);
  SUSPENDS(File_read_all, to);
#undef SUSPENDS
  suspends_in("File_sync", [&] { return MPI_File_sync(f); });
}

/// Calls the others in a task.
void other_calls() {
  std::array<int, 2> x{rank, rank + 10}, got{};
  const std::string path = "weft_mpi_files." + std::to_string(getpid());
  weft::spawn([&] {
    MPI_File f = MPI_FILE_NULL;
    char form[] = "native";
    MPI_Status status;
    MPI_Offset bytes = 0;
    CHECK(MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f) == MPI_SUCCESS);
    CHECK(MPI_File_set_size(f, 100) == MPI_SUCCESS);
    CHECK(MPI_File_preallocate(f, 200) == MPI_SUCCESS);
    CHECK(MPI_File_get_size(f, &bytes) == MPI_SUCCESS && bytes == 200);
    CHECK(MPI_File_set_view(f, 4, MPI_INT, MPI_INT, form, MPI_INFO_NULL) == MPI_SUCCESS);
    CHECK(MPI_File_write_at_all_begin(f, 1, x.data(), 2, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_write_at_all_end(f, x.data(), &status) == MPI_SUCCESS && count_of(status) == 2);
    CHECK(MPI_File_read_all_begin(f, got.data(), 2, MPI_INT) == MPI_SUCCESS);
    CHECK(MPI_File_read_all_end(f, got.data(), &status) == MPI_SUCCESS && got[1] == x[0]);
    CHECK(MPI_File_close(&f) == MPI_SUCCESS && f == MPI_FILE_NULL);
    CHECK(MPI_File_delete(path.c_str(), MPI_INFO_NULL) == MPI_SUCCESS);
  });
  weft::taskwait();
}

std::vector<int> numbers(int n, int first) {
  std::vector<int> v(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    v[static_cast<std::size_t>(i)] = first + i;
  return v;
}

constexpr int k_ints = 100'000;
constexpr MPI_Offset k_bytes = static_cast<MPI_Offset>(sizeof(int)) * k_ints;

/// Lets each rank see what the others have written.
void show_to_all(MPI_File f) {
  MPI_File_sync(f);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(f);
}

/// Runs `f` in a task.
template <class F>
void in_task(F f) {
  weft::spawn(f);
  weft::taskwait();
}

void data_arrive() {
  const file f(MPI_COMM_WORLD, "data");
  const std::vector<int> mine = numbers(k_ints, 1000 * rank);
  const int other = (rank + 1) % size;
  const std::vector<int> theirs = numbers(k_ints, 1000 * other);
  std::vector<int> got(k_ints);
  MPI_Status status;
  in_task([&] { // by the file's own position
    CHECK(MPI_File_seek(f, rank * k_bytes, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_write(f, mine.data(), k_ints / 2, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(count_of(status) == k_ints / 2);
    CHECK(MPI_File_write(f, mine.data() + k_ints / 2, k_ints / 2, MPI_INT, &status) == MPI_SUCCESS);
  });
  show_to_all(f);
  in_task([&] {
    CHECK(MPI_File_seek(f, other * k_bytes, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_read(f, got.data(), k_ints / 2, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(MPI_File_read(f, got.data() + k_ints / 2, k_ints / 2, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(count_of(status) == k_ints / 2 && got == theirs);
    MPI_Offset place = 0;
    MPI_File_get_position(f, &place);
    CHECK(place == (other + 1) * k_bytes);
    CHECK(MPI_File_read_at(f, rank * k_bytes, got.data(), k_ints, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(count_of(status) == k_ints && got == mine);
  });
  show_to_all(f);
  in_task([&] { // by all ranks, behind what is there
    CHECK(MPI_File_write_at_all(f, (size + other) * k_bytes, mine.data(), k_ints, MPI_INT, &status) ==
          MPI_SUCCESS);
    CHECK(count_of(status) == k_ints);
  });
  show_to_all(f);
  in_task([&] {
    CHECK(MPI_File_read_at_all(f, (size + rank) * k_bytes, got.data(), k_ints, MPI_INT, &status) ==
          MPI_SUCCESS);
    CHECK(size != 2 || got == theirs);
    CHECK(MPI_File_seek(f, rank * k_bytes, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_write_all(f, theirs.data(), k_ints, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(MPI_File_seek(f, rank * k_bytes, MPI_SEEK_SET) == MPI_SUCCESS);
    CHECK(MPI_File_read_all(f, got.data(), k_ints, MPI_INT, &status) == MPI_SUCCESS);
    CHECK(count_of(status) == k_ints && got == theirs);
  });
  // One rank makes the call in a task, and the others outside of theirs.
  const auto call = [&] {
    CHECK(MPI_File_read_at_all(f, rank * k_bytes, got.data(), k_ints, MPI_INT, &status) ==
          MPI_SUCCESS);
    CHECK(count_of(status) == k_ints && got == theirs);
  };
  got.assign(k_ints, 0);
  if (rank == 0)
    in_task(call);
  else
    call();
}

/// Has many more tasks inside of a read than workers.
void many_tasks() {
  constexpr int k_tasks = 300, k_each = 100;
  const file f(MPI_COMM_SELF, rank == 0 ? "0" : "1");
  const std::vector<int> all = numbers(k_tasks * k_each, rank);
  const auto place = [](int i) { return static_cast<MPI_Offset>(sizeof(int)) * i * k_each; };
  for (int i = 0; i < k_tasks; ++i)
    weft::spawn([&, i] {
      CHECK(MPI_File_write_at(f, place(i), all.data() + i * k_each, k_each, MPI_INT,
                              MPI_STATUS_IGNORE) == MPI_SUCCESS);
    });
  weft::taskwait();
  std::vector<int> got(all.size());
  for (int i = 0; i < k_tasks; ++i)
    weft::spawn([&, i] {
      CHECK(MPI_File_read_at(f, place(i), got.data() + i * k_each, k_each, MPI_INT,
                             MPI_STATUS_IGNORE) == MPI_SUCCESS);
    });
  weft::taskwait();
  CHECK(got == all);
}

int class_of(int error) {
  int made = MPI_SUCCESS;
  MPI_Error_class(error, &made);
  return made;
}

int g_told = 0;
void note_error(MPI_File *, int *error, ...) { g_told = class_of(*error); }

/// Compares with MPI's own calls: at the end of a file, at what a file does not allow, and what its handler gets.
void ends_and_errors() {
  const file whole(MPI_COMM_SELF, rank == 0 ? "0" : "1");
  std::vector<int> data = numbers(10, 7), got(10);
  PMPI_File_write_at(whole, 0, data.data(), 10, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Status ours, of_mpi;
  const MPI_Offset two_left = 8 * sizeof(int);
  in_task([&] {
    CHECK(MPI_File_read_at(whole, two_left, got.data(), 10, MPI_INT, &ours) == MPI_SUCCESS);
  });
  CHECK(PMPI_File_read_at(whole, two_left, got.data(), 10, MPI_INT, &of_mpi) == MPI_SUCCESS);
  CHECK(count_of(ours) == count_of(of_mpi) && count_of(ours) == 2 && got[1] == data[9]);

  MPI_File narrow = MPI_FILE_NULL;
  CHECK(MPI_File_open(MPI_COMM_SELF, whole.path().c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &narrow) ==
        MPI_SUCCESS);
  int by_mpi = PMPI_File_write(narrow, data.data(), 10, MPI_INT, &of_mpi);
  CHECK(by_mpi != MPI_SUCCESS);
  in_task([&] {
    CHECK(class_of(MPI_File_write(narrow, data.data(), 10, MPI_INT, &ours)) == class_of(by_mpi));
  });
  MPI_Errhandler handler;
  MPI_File_create_errhandler(&note_error, &handler);
  MPI_File_set_errhandler(narrow, handler);
  in_task([&] { MPI_File_write_at(narrow, 0, data.data(), 10, MPI_INT, &ours); });
  CHECK(g_told == class_of(by_mpi));
  MPI_Errhandler_free(&handler);
  MPI_File_close(&narrow);
}

/// Writes numbers in the form of all machines, which MPI's own call reads back.
void other_forms_of_data() {
  const file f(MPI_COMM_SELF, rank == 0 ? "0" : "1");
  char form[] = "external32";
  if (MPI_File_set_view(f, 0, MPI_INT, MPI_INT, form, MPI_INFO_NULL) != MPI_SUCCESS)
    return; // this MPI has none
  const std::vector<int> data = numbers(1000, 258);
  std::vector<int> got(data.size());
  if (PMPI_File_write_at(f, 0, data.data(), 1000, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return;
  in_task([&] {
    CHECK(MPI_File_read_at(f, 0, got.data(), 1000, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(got == data);
    CHECK(MPI_File_write_at(f, 1000, data.data(), 1000, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  });
  got.assign(got.size(), 0);
  CHECK(PMPI_File_read_at(f, 1000, got.data(), 1000, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(got == data);
}

constexpr test k_tests[] = {
    {"every_call_suspends", 1, &every_call_suspends},
    {"other_calls", 1, &other_calls},
    {"data_arrive", 2, &data_arrive},
    {"many_tasks", 1, &many_tasks},
    {"ends_and_errors", 1, &ends_and_errors},
    {"other_forms_of_data", 1, &other_forms_of_data},
};

} // namespace

int main(int argc, char **argv) { return run(k_tests, argc, argv); }
