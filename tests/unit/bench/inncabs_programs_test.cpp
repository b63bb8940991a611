// SPDX-License-Identifier: Apache-2.0
// The checks of the fourteen programs find what is wrong: they accept a serial run, and neither a
// run that did not happen nor one that lost tasks.
#include <inncabs/support/main.hpp>

#include <gtest/gtest.h>
#include <stdexcept>

namespace {

using namespace inncabs;

/// Runs the first calls, and loses all later ones.
struct forgetful {
  template <class T>
  using future = serial::future<T>;
  using mutex = serial::mutex;
  static inline int left = 0;

  struct scope {
    template <class F, class... Arguments>
    auto async(F f, Arguments... arguments) {
      using result = std::invoke_result_t<F, Arguments...>;
      return serial::future<result>([&]() -> result {
        if (left-- > 0)
          return f(std::move(arguments)...);
        return result();
      });
    }
  };
};

template <class Program>
class inncabs_programs : public testing::Test {};
using all_programs =
    testing::Types<alignment, fft, fib, floorplan, health, intersim, nqueens, pyramids, qap,
                   inncabs::round, sort, sparselu, strassen, unbalanced_tree>;
struct names {
  template <class Program>
  static std::string GetName(int) {
    return Program::k_name;
  }
};
TYPED_TEST_SUITE(inncabs_programs, all_programs, names);

TYPED_TEST(inncabs_programs, accept_the_serial_run_alone) {
  TypeParam program(sizes(TypeParam::k_parameters, true));
  program.reset();
  serial::tasks = 0;
  program.template run<serial>();
  program.remember();
  EXPECT_EQ(program.check(), "");
  EXPECT_GT(serial::tasks, 4);
  program.reset();
  EXPECT_NE(program.check(), "") << "nothing was computed";
  if constexpr (!std::is_same_v<TypeParam, strassen>) { // a lost product is no matrix at all
    program.reset();
    forgetful::left = 3;
    program.template run<forgetful>();
    EXPECT_NE(program.check(), "") << "most tasks were lost";
  }
  program.reset();
  program.template run<serial>();
  EXPECT_EQ(program.check(), "") << "a second run differs from the first";
}

TEST(inncabs_floorplan, a_cap_bounds_the_tasks) {
  sizes s(floorplan::k_parameters, false);
  s.set("cap=1000");
  floorplan program(s);
  program.reset();
  serial::tasks = 0;
  program.run<serial>();
  EXPECT_EQ(program.check(), "");
  EXPECT_EQ(program.explored(), 1000);
  EXPECT_EQ(serial::tasks, 1000);
}

TEST(inncabs_qap, counts_the_tasks_it_had) {
  qap program(sizes(qap::k_parameters, true));
  program.reset();
  serial::tasks = 0;
  program.run<serial>();
  EXPECT_EQ(program.explored(), serial::tasks);
}

TEST(inncabs_sizes, refusals_name_the_size_and_its_range) {
  sizes s(fft::k_parameters, true);
  const auto message_of = [&s](const char *assignment) -> std::string {
    try {
      s.set(assignment);
      return "accepted";
    } catch (const std::runtime_error &e) {
      return e.what();
    }
  };
  EXPECT_EQ(message_of("log2n=29"), "size log2n wants a number from 1 to 28, not '29'");
  EXPECT_EQ(message_of("log2n=0"), "size log2n wants a number from 1 to 28, not '0'");
  EXPECT_EQ(message_of("log2n=8x"), "size log2n wants a number from 1 to 28, not '8x'");
  EXPECT_EQ(message_of("leaf"), "size leaf wants a number from 1 to 65536, not ''");
  EXPECT_EQ(message_of("n=8"), "no size is called 'n'; this program has: log2n=9 leaf=16");
  EXPECT_EQ(message_of("log2n=8"), "accepted");
  EXPECT_EQ(s["log2n"], 8);
  EXPECT_EQ(s.text(), "log2n=8 leaf=16");
}

TEST(inncabs_arguments, refusals_name_the_argument) {
  const auto message_of = [](const std::vector<std::string> &arguments) -> std::string {
    try {
      (void)parse(arguments, "std");
      return "accepted";
    } catch (const std::runtime_error &e) {
      return std::string(e.what()).substr(0, std::string(e.what()).find('\n'));
    }
  };
  EXPECT_EQ(message_of({"fib", "--workers", "0"}),
            "--workers wants a number from 1 to 1024, not '0'");
  EXPECT_EQ(message_of({"fib", "--samples"}), "--samples wants a value");
  EXPECT_EQ(message_of({"fib", "--sample", "1"}), "unknown option '--sample'");
  EXPECT_EQ(message_of({"fib", "uts"}), "two programs, 'fib' and 'uts'");
  EXPECT_EQ(message_of({"fib", "--launch", "sync"}),
            "no launch policy is called 'sync'; there are async, deferred, optional and fork");
  const request r = parse({"uts", "--workers", "3", "--samples", "20", "--threads", "100",
                           "--launch", "optional", "--tiny", "size=9", "tree=3"},
                          "std");
  EXPECT_EQ(r.program, "uts");
  EXPECT_EQ(r.workers, 3);
  EXPECT_EQ(r.samples, 20);
  EXPECT_EQ(r.threads, 100);
  EXPECT_EQ(r.policy, launch::optional);
  EXPECT_TRUE(r.tiny);
  EXPECT_EQ(r.sizes, (std::vector<std::string>{"size=9", "tree=3"}));
}

} // namespace
