// SPDX-License-Identifier: Apache-2.0
// Copies of a library that looks like OpenBLAS, in all spellings, and jobs that wait for each other.
#include "support/case_process.hpp"

#include <weft/blas.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using job_function = void (*)(int buffer, void *job, int argument);
using call_function = int (*)(job_function run, int count, std::size_t size, void *jobs,
                              int argument);

/// Loads a copy, which stays loaded.
struct copy {
  explicit copy(const char *kind)
      : path(std::string(COPIES) + "/lib" + kind + ".so"), handle(dlopen(path.c_str(), RTLD_NOW)) {
    EXPECT_NE(handle, nullptr) << dlerror();
  }
  template <class F>
  F *find(const char *name) const {
    void *const f = dlsym(handle, name);
    EXPECT_NE(f, nullptr) << name;
    return reinterpret_cast<F *>(f);
  }
  [[nodiscard]] int state() const { return weft_blas_state(path.c_str()); }

  std::string path;
  void *handle;
};

constexpr int k_most_buffers = 2000;
std::atomic<int> g_users[k_most_buffers]; // of each buffer

/// Counts its like in, and waits until all are there, as jobs of a product do.
struct job {
  std::atomic<int> *arrived;
  int all;
  int runs = 0;

  static void run(int buffer, void *p, int argument) {
    auto &self = *static_cast<job *>(p);
    EXPECT_EQ(argument, 7);
    ASSERT_TRUE(buffer >= 0 && buffer < k_most_buffers) << buffer;
    EXPECT_EQ(g_users[buffer].fetch_add(1), 0) << "two jobs have buffer " << buffer;
    ++self.runs;
    ++*self.arrived;
    while (*self.arrived < self.all) {
    }
    g_users[buffer].fetch_sub(1);
  }
};

void call(const copy &in, int count) {
  std::atomic<int> arrived{0};
  std::vector<job> jobs(static_cast<std::size_t>(count), job{&arrived, count});
  ASSERT_EQ(in.find<std::remove_pointer_t<call_function>>("call_jobs")(&job::run, count,
                                                                       sizeof(job), jobs.data(), 7),
            1)
      << "no callback is set";
  for (const job &one : jobs)
    EXPECT_EQ(one.runs, 1);
  EXPECT_EQ(arrived, count);
}

TEST(blas, attaches_copies_of_every_spelling_once) {
  EXPECT_EQ(weft_blas_attach(), 0);
  int attached = 0;
  for (const char *kind :
       {"openblas-plain", "openblas-64", "scipy_openblas-plain", "scipy_openblas-64"}) {
    const copy one(kind);
    EXPECT_EQ(one.state(), WEFT_BLAS_LEFT) << kind;
    EXPECT_EQ(weft_blas_attach(), ++attached) << kind;
    EXPECT_EQ(one.state(), WEFT_BLAS_ATTACHED) << kind;
    call(one, 3);
  }
  EXPECT_EQ(weft_blas_attach(), attached);
}

TEST(blas, knows_a_copy_by_each_of_its_paths) {
  const copy one("openblas-plain");
  const std::string other = std::string(COPIES) + "/../copies/libopenblas-plain.so";
  EXPECT_EQ(weft_blas_state(other.c_str()), WEFT_BLAS_LEFT);
  weft_blas_attach();
  EXPECT_EQ(weft_blas_state(other.c_str()), WEFT_BLAS_ATTACHED);
}

TEST(blas, leaves_copies_that_need_or_know_no_callback) {
  const copy old("openblas-old"), openmp("openblas-openmp"), serial("openblas-serial"),
      other("other");
  EXPECT_EQ(weft_blas_attach(), 0);
  EXPECT_EQ(old.state(), WEFT_BLAS_TOO_OLD);
  EXPECT_EQ(openmp.state(), WEFT_BLAS_OPENMP);
  EXPECT_EQ(serial.state(), WEFT_BLAS_SERIAL);
  EXPECT_EQ(other.state(), WEFT_BLAS_NOT_LOADED) << "its name is not one of OpenBLAS's";
  EXPECT_EQ(weft_blas_state("/no/such/libopenblas.so"), WEFT_BLAS_NOT_LOADED);
}

TEST(blas, limits_the_threads_of_a_copy_to_the_processors) {
  const copy one("openblas-plain");
  auto *const threads = one.find<int()>("openblas_get_num_threads");
  ASSERT_EQ(threads(), 64);
  weft_blas_attach();
  EXPECT_EQ(threads(), std::min(64, omp_get_num_procs()));
  one.find<void(int)>("openblas_set_num_threads")(5);
  weft_blas_attach();
  EXPECT_EQ(threads(), 5) << "the program may change it later";
}

TEST(blas, a_copy_that_is_closed_and_loaded_again_is_attached) {
  const copy first("openblas-plain");
  weft_blas_attach();
  EXPECT_EQ(dlclose(first.handle), 0);
  const copy again("openblas-plain");
  EXPECT_EQ(weft_blas_attach(), 1);
  EXPECT_EQ(again.state(), WEFT_BLAS_ATTACHED);
  call(again, 3);
}

TEST(blas, runs_all_jobs_of_a_call_at_once) {
  const copy one("openblas-plain");
  weft_blas_attach();
  for (int count : {1, 2, 3, 8, 64, 5, 1, 2})
    call(one, count);
}

TEST(blas, gives_no_buffer_to_two_jobs_of_different_callers) {
  const copy one("openblas-plain");
  weft_blas_attach();
  std::vector<std::thread> callers;
  for (int caller = 0; caller != 8; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round != 4; ++round)
        call(one, 1 + (round + caller) % 12);
    });
  for (std::thread &caller : callers)
    caller.join();
}

/// Notes the highest buffer.
struct noting {
  static void run(int buffer, void *p, int) {
    auto &highest = **static_cast<std::atomic<int> **>(p);
    for (int seen = highest; seen < buffer && !highest.compare_exchange_weak(seen, buffer);) {
    }
  }
};

/// Returns the highest buffer that some calls of so many jobs have used.
int highest_buffer(const copy &in, int count) {
  std::atomic<int> highest{0};
  const std::vector<std::atomic<int> *> jobs(static_cast<std::size_t>(count), &highest);
  for (int round = 0; round != 20; ++round)
    in.find<std::remove_pointer_t<call_function>>("call_jobs")(
        &noting::run, count, sizeof jobs[0], const_cast<std::atomic<int> **>(jobs.data()), 7);
  return highest;
}

TEST(blas, keeps_to_the_first_buffers_of_each_copy) {
  const copy one("openblas-plain"), small("openblas-small");
  weft_blas_attach();
  EXPECT_EQ(highest_buffer(one, 4), 3);
  EXPECT_EQ(highest_buffer(one, 9), 8) << "the small copy limits its own calls alone";
  EXPECT_EQ(highest_buffer(small, 3), 2);
}

TEST(blas, runs_as_many_jobs_as_a_copy_has_buffers) {
  const copy large("openblas-large");
  weft_blas_attach();
  for (int count : {64, 65, 100, 128})
    call(large, count);
  EXPECT_EQ(highest_buffer(large, 100), 99);
}

TEST(blas, runs_the_jobs_of_a_function_that_is_in_no_copy) {
  const copy one("openblas-plain");
  weft_blas_attach();
  std::atomic<int> arrived{0};
  std::vector<job> jobs(5, job{&arrived, 5});
  one.find<std::remove_pointer_t<call_function>>("call_jobs_of_others")(&job::run, 5, sizeof(job),
                                                                         jobs.data(), 7);
  EXPECT_EQ(arrived, 5);
}

/// Takes all buffers of a copy until the test ends it.
struct holding_job {
  std::atomic<int> *begun, *may_end;

  static void run(int, void *p, int) {
    const auto &self = *static_cast<holding_job *>(p);
    ++*self.begun;
    while (*self.may_end == 0)
      std::this_thread::yield();
  }
};

TEST(blas, a_copy_does_not_wait_for_the_buffers_of_another_one) {
  const copy one("openblas-small"), other("openblas-few");
  weft_blas_attach();
  std::atomic<int> begun{0}, may_end{0};
  std::thread holder([&] {
    std::vector<holding_job> jobs(4, holding_job{&begun, &may_end});
    one.find<std::remove_pointer_t<call_function>>("call_jobs")(&holding_job::run, 4,
                                                                sizeof(holding_job), jobs.data(), 7);
  });
  while (begun != 4)
    std::this_thread::yield();
  call(other, 4);
  may_end = 1;
  holder.join();
}

/// Holds a buffer until the next job has one; not for ever, because that may wait for another call.
struct overlapping_job {
  std::atomic<long> *begun;

  static void run(int, void *p, int) {
    const long mine = ++*static_cast<overlapping_job *>(p)->begun;
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (*static_cast<overlapping_job *>(p)->begun == mine && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
  }
};

TEST(blas, serves_a_large_call_between_small_ones_that_always_overlap) {
  constexpr long k_many = 200'000;
  const copy one("openblas-small");
  weft_blas_attach();
  std::atomic<long> begun{0};
  std::atomic<int> served{0};
  std::vector<std::thread> small;
  for (int i = 0; i != 2; ++i)
    small.emplace_back([&] {
      overlapping_job only{&begun};
      while (!served && begun < k_many)
        one.find<std::remove_pointer_t<call_function>>("call_jobs")(&overlapping_job::run, 1,
                                                                    sizeof only, &only, 7);
    });
  while (begun < 10)
    std::this_thread::yield();
  call(one, 4);
  served = 1;
  for (std::thread &thread : small)
    thread.join();
  EXPECT_LT(begun, k_many) << "the large call came last";
}

/// Waits until the first job of its call has run, which may be beside it.
struct ordered_job {
  std::atomic<int> *first;
  int index;
  int runs = 0;

  static void run(void *p) {
    auto &self = *static_cast<ordered_job *>(p);
    ++self.runs;
    if (self.index == 0)
      *self.first = 1;
    while (*self.first == 0)
      usleep(100);
  }
};

void call_ordered(const copy &in, bool fftw, int count) {
  std::atomic<int> first{0};
  std::vector<ordered_job> jobs;
  for (int i = 0; i != count; ++i)
    jobs.push_back({&first, i});
  int called = 0;
  if (fftw)
    called = in.find<int(void *(*)(char *), int, std::size_t, char *)>("call_fftw_jobs")(
        [](char *p) -> void * {
          ordered_job::run(p);
          return nullptr;
        },
        count, sizeof jobs[0], reinterpret_cast<char *>(jobs.data()));
  else
    called = in.find<int(void (*)(void *), int, std::size_t, void *)>("call_blosc_jobs")(
        &ordered_job::run, count, sizeof jobs[0], jobs.data());
  ASSERT_EQ(called, 1) << "no callback is set";
  for (const ordered_job &one : jobs)
    EXPECT_EQ(one.runs, 1) << one.index;
}

TEST(blas, runs_the_jobs_of_blosc) {
  const copy one("blosc2-three");
  EXPECT_EQ(one.state(), WEFT_BLAS_LEFT);
  EXPECT_EQ(weft_blas_attach(), 1);
  EXPECT_EQ(one.state(), WEFT_BLAS_ATTACHED);
  EXPECT_EQ(one.find<int()>("changes_of_threads")(), 2) << "its own context has its old threads";
  EXPECT_EQ(one.find<short()>("blosc2_get_nthreads")(), 4);
  for (int count : {0, 1, 2, 3, 17})
    call_ordered(one, false, count);
}

TEST(blas, leaves_a_blosc_that_forgets_whose_threads_a_context_has) {
  const copy one("blosc2-two");
  EXPECT_EQ(weft_blas_attach(), 0);
  EXPECT_EQ(one.state(), WEFT_BLAS_TOO_OLD);
}

TEST(blas, runs_the_loops_of_fftw_of_each_precision) {
  int attached = 0;
  for (const char *kind : {"fftw3_threads", "fftw3f_threads", "fftw3l_threads", "fftw3q_threads"}) {
    const copy one(kind);
    EXPECT_EQ(one.state(), WEFT_BLAS_LEFT) << kind;
    EXPECT_EQ(weft_blas_attach(), ++attached);
    EXPECT_EQ(one.state(), WEFT_BLAS_ATTACHED) << kind;
    for (int count : {0, 1, 2, 5})
      call_ordered(one, true, count);
  }
}

TEST(blas, leaves_the_parts_of_fftw_that_need_or_know_no_callback) {
  const copy old("fftw3_threads-old"), openmp("fftw3_omp"), serial("fftw3");
  EXPECT_EQ(weft_blas_attach(), 0);
  EXPECT_EQ(old.state(), WEFT_BLAS_TOO_OLD);
  EXPECT_EQ(openmp.state(), WEFT_BLAS_OPENMP);
  EXPECT_EQ(serial.state(), WEFT_BLAS_NOT_LOADED);
}

TEST(blas, runs_loops_in_turn_where_openmp_gives_fewer_threads) {
  const auto end = test::in_process({{"OMP_THREAD_LIMIT", "2"}}, [] {
    const copy blosc("blosc2-three"), fftw("fftw3_threads");
    weft_blas_attach();
    call_ordered(blosc, false, 7);
    call_ordered(fftw, true, 7);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(blas, runs_in_regions_of_openmp_that_may_not_nest) {
  const copy one("openblas-plain");
  weft_blas_attach();
  omp_set_max_active_levels(1);
  omp_set_dynamic(1);
  std::atomic<int> members{0}, kept{0};
#pragma omp parallel num_threads(2)
  {
    call(one, 4);
    members += omp_get_num_threads() == 2;
    kept += omp_get_max_active_levels() == 1 && omp_get_dynamic() == 1;
  }
  EXPECT_EQ(members, 2);
  EXPECT_EQ(kept, 2) << "a member's own settings changed";
  call(one, 4);
  EXPECT_EQ(omp_get_max_active_levels(), 1);
  EXPECT_EQ(omp_get_dynamic(), 1);
}

TEST(blas, gives_each_job_a_thread_beyond_the_limit_of_openmp) {
  const auto end = test::in_process({{"OMP_THREAD_LIMIT", "2"}}, [] {
    const copy one("openblas-plain");
    weft_blas_attach();
    for (int count : {1, 2, 5, 9})
      call(one, count);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(blas, runs_more_jobs_than_a_copy_says_that_it_has_buffers) {
  const copy small("openblas-small");
  weft_blas_attach();
  EXPECT_EQ(highest_buffer(small, 6), 5);
  std::vector<std::thread> callers;
  for (int caller = 0; caller != 4; ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round != 5; ++round)
        call(small, 2 + (round + caller) % 5);
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST(blas, a_copy_may_have_very_many_buffers) {
  const copy huge("openblas-huge");
  weft_blas_attach();
  EXPECT_EQ(highest_buffer(huge, 1030), 1029);
}

TEST(blas, a_child_attaches_copies_whatever_other_threads_did_at_the_fork) {
  const auto end = test::in_process({}, [] {
    const copy one("openblas-plain");
    std::atomic<bool> stop{false};
    std::thread busy([&] {
      while (!stop)
        (void)one.state(); // has the lock nearly always
    });
    for (int round = 0; round != 50; ++round) {
      const pid_t child = fork();
      if (child == 0) {
        const bool attaches = weft_blas_attach() == 1 && one.state() == WEFT_BLAS_ATTACHED;
        _exit(attaches ? 0 : 1);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    stop = true;
    busy.join();
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

TEST(blas, runs_in_a_forked_child) {
  const auto end = test::in_process({}, [] {
    const copy one("openblas-plain");
    weft_blas_attach();
    call(one, 8);
    std::atomic<bool> stop{false};
    std::thread busy([&] {
      while (!stop)
        call(one, 3);
    });
    for (int round = 0; round != 2; ++round) {
      const pid_t child = fork();
      if (child == 0) {
        for (std::atomic<int> &users : g_users)
          users = 0; // jobs of the parent's other thread, which is not here
        call(one, 16);
        _exit(testing::Test::HasFailure() ? 1 : 0);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    stop = true;
    busy.join();
    call(one, 8);
  });
  EXPECT_TRUE(end.exited(0)) << end;
}

} // namespace
