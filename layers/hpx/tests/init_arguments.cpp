// SPDX-License-Identifier: Apache-2.0
// hpx::init, start and stop, with each kind of main function, arguments, options and settings.
#include "check.hpp"

#include <hpx/future.hpp>
#include <hpx/init.hpp>
#include <hpx/thread.hpp>

#include <atomic>
#include <string>
#include <vector>

namespace {

std::atomic<int> g_late{0};

int plain() { return 3; }

int with_arguments(int argc, char **argv) {
  CHECK(argc == 3);
  CHECK(std::string(argv[1]) == "one" && std::string(argv[2]) == "--two");
  CHECK(argv[3] == nullptr);
  // init() waits for tasks that nothing else waits for.
  for (int i = 0; i != 10; ++i)
    hpx::post(
        [](int ms) {
          hpx::this_thread::sleep_for(std::chrono::milliseconds(ms));
          ++g_late;
        },
        5);
  return 4;
}

int with_options(hpx::program_options::variables_map &options) {
  CHECK(options.count("count") == 1 && options["count"].as<int>() == 7);
  CHECK(!options["count"].defaulted() && options["name"].defaulted());
  CHECK(options["name"].as<std::string>() == "nobody's");
  CHECK(options["ratio"].as<double>() == -0.5);
  CHECK(options["list"].as<std::vector<int>>() == (std::vector<int>{1, 2}));
  CHECK(options.count("flag") == 1 && options.count("other") == 0);
  CHECK(options["switch"].as<bool>());
  try {
    static_cast<void>(options["count"].as<long>());
    CHECK(false);
  } catch (const hpx::program_options::error &) {
  }
  return 5;
}

hpx::program_options::options_description described(double &ratio) {
  using namespace hpx::program_options;
  options_description all("options");
  all.add_options()("count,c", value<int>()->default_value(1),
                    "how many")("name", value<std::string>()->default_value("nobody's"),
                                "whose")("ratio", value<double>(&ratio), "a number")(
      "list", value<std::vector<int>>()->composing(),
      "numbers")("flag", "a flag")("other", "another")("switch", bool_switch(), "yes or no");
  return all;
}

} // namespace

int hpx_main(int argc, char **) { return 20 + argc; }

int main() {
  hpx::init_params params;
  params.cfg = {"hpx.os_threads=3"};
  bool began = false, ended = false;
  params.startup = [&] { began = true; };
  params.shutdown = [&] { ended = true; };
  const char *none[] = {"program"};
  CHECK(hpx::init(&plain, 1, none, params) == 3);
  CHECK(began && ended);
  CHECK(hpx::get_os_thread_count() == 3);

  const char *two[] = {"program", "one", "--hpx:threads=5", "--two", "--hpx:queuing=local"};
  CHECK(hpx::init(&with_arguments, 5, two) == 4); // the number of workers stays
  CHECK(g_late == 10);
  CHECK(hpx::get_os_thread_count() == 3);
  CHECK(hpx::init(2, two) == 22); // the global one

  double ratio = 0;
  hpx::init_params with;
  with.desc_cmdline = described(ratio);
  const char *given[] = {"program", "-c",       "7",      "--ratio=-0.5", "--list",
                         "1",       "--list=2", "--flag", "--switch"};
  CHECK(hpx::init(&with_options, 9, given, with) == 5);
  CHECK(ratio == -0.5);
  const char *unknown[] = {"program", "--unknown"};
  CHECK(hpx::init(&with_options, 2, unknown, with) == -1);
  const char *bad[] = {"program", "--count=many"};
  CHECK(hpx::init(&with_options, 2, bad, with) == -1);
  const char *missing[] = {"program", "--count"};
  CHECK(hpx::init(&with_options, 2, missing, with) == -1);
  const char *help[] = {"program", "--help"};
  CHECK(hpx::init(&with_options, 2, help, with) == 0);

  std::atomic<bool> ran{false};
  CHECK(hpx::start(
      [&] {
        ran = true;
        return 6;
      },
      1, none));
  CHECK(hpx::stop() == 6 && ran);
  CHECK(hpx::start(nullptr, 1, none));
  CHECK(hpx::async([] { return 8; }).get() == 8);
  CHECK(hpx::stop() == 0);
  CHECK(hpx::local::init(&plain, 1, none) == 3);
  std::puts("done");
  return 0;
}
