// SPDX-License-Identifier: Apache-2.0
// Copies of a library that looks like OpenBLAS, in all spellings, and jobs that wait for each other.
#include "support/case_process.hpp"

#include <weft/blas.h>

#include <algorithm>
#include <array>
#include <atomic>
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

std::atomic<int> g_users[64]; // of each buffer

/// Counts its like in, and waits until all are there, as jobs of a product do.
struct job {
  std::atomic<int> *arrived;
  int all;
  int runs = 0;

  static void run(int buffer, void *p, int argument) {
    auto &self = *static_cast<job *>(p);
    EXPECT_EQ(argument, 7);
    ASSERT_TRUE(buffer >= 0 && buffer < 64) << buffer;
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

TEST(blas, keeps_to_the_buffers_of_the_smallest_copy) {
  const copy one("openblas-plain"), small("openblas-small");
  weft_blas_attach();
  std::atomic<int> highest{0};
  struct noting {
    static void run(int buffer, void *p, int) {
      auto &highest = **static_cast<std::atomic<int> **>(p);
      for (int seen = highest; seen < buffer && !highest.compare_exchange_weak(seen, buffer);) {
      }
    }
  };
  std::array<std::atomic<int> *, 4> jobs;
  jobs.fill(&highest);
  for (int round = 0; round != 20; ++round)
    one.find<std::remove_pointer_t<call_function>>("call_jobs")(&noting::run, 4, sizeof jobs[0],
                                                                jobs.data(), 7);
  EXPECT_EQ(highest, 3);
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

TEST(blas, ends_with_a_message_where_jobs_outnumber_the_buffers) {
  const auto end = test::in_process({}, [] {
    const copy small("openblas-small");
    weft_blas_attach();
    call(small, 5);
  });
  EXPECT_FALSE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("OpenBLAS asks for 5 jobs and has 4 buffers")) << end;
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
