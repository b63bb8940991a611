// SPDX-License-Identifier: Apache-2.0
// A tool of a program whose Weft tasks use OpenMP. While it learns of the end of the thread that stands
// for a task, it yields, and finds that thread before and after.
#include <omp-tools.h>
#include <weft/weft.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

extern "C" void omp_set_num_threads(int); // Clang's header is in a package of its own
extern "C" int omp_get_max_threads();

namespace {

ompt_get_thread_data_t g_thread_data;
std::atomic<int> g_begun{0}, g_ended{0};

void require(bool holds, const char *what) {
  if (!holds) {
    std::fprintf(stderr, "wrong: %s\n", what);
    std::_Exit(1);
  }
}

void on_begin(ompt_thread_t, ompt_data_t *thread) {
  thread->value = static_cast<std::uint64_t>(++g_begun);
}

void on_end(ompt_data_t *thread) {
  const std::uint64_t number = thread->value;
  for (int i = 0; i < 3; ++i) {
    require(g_thread_data() == thread, "the thread whose end the tool learns of");
    require(thread->value == number, "the tool's data of it");
    weft::taskyield(); // it may go on at another kernel thread
  }
  ++g_ended;
}

int initialize(ompt_function_lookup_t find, int, ompt_data_t *) {
  g_thread_data = reinterpret_cast<ompt_get_thread_data_t>(find("ompt_get_thread_data"));
  const auto set = reinterpret_cast<ompt_set_callback_t>(find("ompt_set_callback"));
  set(ompt_callback_thread_begin, reinterpret_cast<ompt_callback_t>(&on_begin));
  set(ompt_callback_thread_end, reinterpret_cast<ompt_callback_t>(&on_end));
  return 1;
}
void finalize(ompt_data_t *) {}

} // namespace

extern "C" ompt_start_tool_result_t *ompt_start_tool(unsigned, const char *) {
  static ompt_start_tool_result_t result{&initialize, &finalize, {0}};
  return &result;
}

int main() {
  constexpr int k_tasks = 300;
  const int own = omp_get_max_threads();
  for (int i = 0; i < k_tasks; ++i)
    weft::spawn([=] {
      omp_set_num_threads(own + 1);
      weft::taskyield();
      require(omp_get_max_threads() == own + 1, "the settings of a task");
    });
  weft::taskwait();
  require(g_ended == k_tasks, "each task's thread has ended, once");
  require(g_begun == k_tasks + 1, "these and the first one have begun, once");
  return 0;
}
