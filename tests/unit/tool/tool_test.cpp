// SPDX-License-Identifier: Apache-2.0
// The command `weft`, run as users run it.
#include "os/affinity.hpp"
#include "os/file.hpp"
#include "support/case_process.hpp"
#include "support/fake_tree.hpp"
#include "topo/machine.hpp"

#include <weft/task.hpp>
#include <weft/version.hpp>

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

#ifndef WEFT_BIN_DIR // beside the folder of the tests
std::string bin_folder() {
  const auto program = test::program_path();
  const auto tests = program.substr(0, program.rfind('/'));
  return tests.substr(0, tests.rfind('/')) + "/bin";
}
#define WEFT_BIN_DIR bin_folder()
#endif

class weft_tool : public testing::Test {
 protected:
  void SetUp() override {
    m_program = std::string(WEFT_BIN_DIR) + "/weft";
    if (access(m_program.c_str(), X_OK) != 0)
      GTEST_SKIP() << m_program << " was not built (WEFT_TOOLS is OFF)";
  }

  /// With no settings but `settings`.
  test::ending weft(std::vector<std::string> arguments, test::environment settings = {}) const {
    arguments.insert(arguments.begin(), m_program);
    bool names_file = false;
    for (const auto &[key, value] : settings)
      names_file = names_file || key == "WEFT_CONFIG";
    if (!names_file)
      settings.emplace_back("WEFT_CONFIG", "");
    return test::run(arguments, settings);
  }

  std::string m_program;
};

TEST_F(weft_tool, says_its_version) {
  for (const char *word : {"--version", "-V", "version"}) {
    const auto end = weft({word});
    EXPECT_TRUE(end.exited(0)) << end;
    EXPECT_EQ(end.output, "weft " WEFT_VERSION_STRING "\n");
  }
}

TEST_F(weft_tool, helps_with_every_command) {
  const auto end = weft({"help"});
  EXPECT_TRUE(end.exited(0)) << end;
  for (const std::string command : {"run", "config", "info", "version", "help"}) {
    EXPECT_TRUE(end.printed("\n  " + command + " ")) << command;
    const auto about = weft({"help", command});
    EXPECT_TRUE(about.exited(0)) << about;
    EXPECT_EQ(about.output.rfind("usage: weft ", 0), 0u) << about;
    EXPECT_EQ(weft({command, "--help"}).output, about.output);
  }
}

TEST_F(weft_tool, without_a_command_shows_the_help_and_fails) {
  const auto end = weft({});
  EXPECT_TRUE(end.exited(2)) << end;
  EXPECT_TRUE(end.printed("usage: weft COMMAND")) << end;
}

TEST_F(weft_tool, an_unknown_command_names_the_nearest) {
  for (const auto &words : {std::vector<std::string>{"confg"}, {"help", "confg"}}) {
    const auto end = weft(words);
    EXPECT_TRUE(end.exited(2)) << end;
    EXPECT_TRUE(end.printed("unknown command 'confg'; did you mean 'config'?")) << end;
  }
}

TEST_F(weft_tool, info_shows_the_cpus_that_may_be_used) {
  const auto end = weft({"info"});
  EXPECT_TRUE(end.exited(0)) << end;
  const auto &m = weft::rt::this_machine();
  EXPECT_TRUE(end.printed("CPUs effective   " + std::to_string(m.effective_cpus()) + "\n")) << end;
  EXPECT_TRUE(end.printed("page size        " + std::to_string(m.page_bytes) + "\n")) << end;
  for (const char *what : {"CPUs online", "CPU quota", "NUMA node", "memory limit", "membarrier",
                           "guard pages", "max_map_count", "compiler", "kernel", "\nnet ",
                           "\nLPF ", "\nMPI ", "\nALPI "})
    EXPECT_TRUE(end.printed(what)) << what;
}

TEST_F(weft_tool, info_honours_the_inherited_mask) {
  const auto before = weft::rt::current_affinity();
  ASSERT_EQ(weft::rt::bind_this_thread(before.back()), 0);
  const auto end = weft({"info"});
  ASSERT_EQ(weft::rt::bind_this_thread(before), 0);
  EXPECT_TRUE(end.printed("CPUs allowed     1 (" + std::to_string(before.back()) +
                          "), 1 cores, 1 packages\n"))
      << end;
  EXPECT_TRUE(end.printed("CPUs effective   1\n")) << end;
}

TEST_F(weft_tool, config_shows_values_and_where_they_came_from) {
  const auto end = weft({"config"}, {{"WEFT_WORKERS", "3"}, {"WEFT_PRESET", "latency"}});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("\nworkers = 3  # environment WEFT_WORKERS\n")) << end;
  EXPECT_TRUE(end.printed("\nspin.us = \"1ms\"  # preset latency\n")) << end;
  EXPECT_TRUE(end.printed("\nsched.policy = \"stealing\"  # default\n")) << end;
}

TEST_F(weft_tool, config_prints_what_it_reads_back) {
  const auto first = weft({"config"}, {{"WEFT_WORKERS", "3"}, {"WEFT_STATS", "on"}});
  test::fake_tree tree;
  tree.put("/weft.toml", first.output);
  const auto second = weft({"config"}, {{"WEFT_CONFIG", tree.root() + "/weft.toml"}});
  EXPECT_TRUE(second.exited(0)) << second;
  EXPECT_TRUE(second.printed("\nworkers = 3  # file " + tree.root() + "/weft.toml:")) << second;
  EXPECT_TRUE(second.printed("\nstats = true  # file ")) << second;
}

TEST_F(weft_tool, config_prints_the_values_of_a_preset_and_what_wins_over_them) {
  const auto first = weft({"config"}, {{"WEFT_PRESET", "latency"}, {"WEFT_SPIN_US", "5us"}});
  EXPECT_TRUE(first.printed("\npreset = \"none\"  # \"latency\" (environment WEFT_PRESET): ")) << first;
  test::fake_tree tree;
  tree.put("/weft.toml", first.output);
  const auto second = weft({"config"}, {{"WEFT_CONFIG", tree.root() + "/weft.toml"}});
  EXPECT_TRUE(second.printed("\nspin.us = \"5us\"  # file ")) << second;
  const auto values = [](const std::string &output) { // without comments
    std::string found;
    std::istringstream in(output);
    for (std::string line; std::getline(in, line);)
      found += line.substr(0, line.find("  #")) + "\n";
    return found.substr(found.find('\n')); // the first line names the file
  };
  EXPECT_EQ(values(first.output), values(second.output));
}

TEST_F(weft_tool, config_prints_strings_of_any_bytes) {
  const std::string odd = "/tmp/t\ta\x7f\xffz\xc2\x85\xc3\xa4\"\\q";
  const auto first = weft({"config"}, {{"WEFT_TRACE_DIR", odd}});
  EXPECT_TRUE(first.printed(
      "\ntrace.dir = \"/tmp/t\\u0009a\\u007f\xffz\\u0085\xc3\xa4\\\"\\\\q\"  # environment"))
      << first;
  test::fake_tree tree;
  tree.put("/weft.toml", first.output);
  const auto second = weft({"config"}, {{"WEFT_CONFIG", tree.root() + "/weft.toml"}});
  EXPECT_TRUE(second.printed(
      "\ntrace.dir = \"/tmp/t\\u0009a\\u007f\xffz\\u0085\xc3\xa4\\\"\\\\q\"  # file "))
      << second;
}

TEST_F(weft_tool, config_in_json_is_one_object) {
  const auto end = weft({"config", "--json"}, {{"WEFT_WORKERS", "3"}});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed(
      R"({"key": "workers", "value": 3, "origin": "environment WEFT_WORKERS", "type": "int")"))
      << end;
  EXPECT_TRUE(end.printed(
      R"({"key": "throttle.bytes", "value": "16MiB", "origin": "default", "type": "bytes")"))
      << end;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < end.output.size(); ++i) {
    const char c = end.output[i];
    if (c == '"' && end.output[i - 1] != '\\')
      quoted = !quoted;
    else if (!quoted)
      depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
  }
  EXPECT_EQ(depth, 0);
  EXPECT_FALSE(quoted);
}

TEST_F(weft_tool, config_refuses_a_wrong_value) {
  const auto end = weft({"config"}, {{"WEFT_WORKERS", "0"}});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(end.printed("setting workers cannot be '0' (from environment WEFT_WORKERS)")) << end;
}

TEST_F(weft_tool, config_refuses_an_unknown_option) {
  const auto end = weft({"config", "--jsn"});
  EXPECT_TRUE(end.exited(2)) << end;
  EXPECT_TRUE(end.printed("did you mean '--json'?")) << end;
}

TEST_F(weft_tool, the_page_of_settings_is_up_to_date) {
  const auto page = weft::rt::read_file(WEFT_SOURCE_DIR "/docs/user/settings.md");
  ASSERT_TRUE(page.has_value()) << "docs/user/settings.md cannot be read";
  const auto end = weft({"config", "--markdown"}, {{"WEFT_WORKERS", "not read"}});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_EQ(end.output, *page) << "write it again: weft config --markdown > docs/user/settings.md";
}

TEST_F(weft_tool, the_page_of_knobs_has_the_table_of_the_registry) {
  const auto page = weft::rt::read_file(WEFT_SOURCE_DIR "/docs/user/knobs.md");
  ASSERT_TRUE(page.has_value()) << "docs/user/knobs.md cannot be read";
  const auto end = weft({"config", "--knobs"}, {{"WEFT_WORKERS", "not read"}});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_NE(page->find(end.output), std::string::npos)
      << "put it into the page again: weft config --knobs\n"
      << end.output;
  EXPECT_NE(end.output.find("sched.workers"), std::string::npos) << end;
  EXPECT_EQ(end.output.find("`workers`"), std::string::npos) << end;
}

TEST_F(weft_tool, config_and_info_say_which_settings_can_change) {
  auto end = weft({"config"});
  EXPECT_TRUE(end.printed("# can change while the program runs, from the next call on\nspin.us = "))
      << end;
  end = weft({"config", "--json"});
  EXPECT_TRUE(end.printed("\"environment\": \"WEFT_SPIN_US\", \"read\": \"next call\"")) << end;
  EXPECT_TRUE(end.printed("\"environment\": \"WEFT_COUNTERS_PORT\", \"read\": \"start\"")) << end;
  end = weft({"info"});
  EXPECT_TRUE(end.printed("can change       sched.workers ")) << end;
}

TEST_F(weft_tool, run_hands_settings_to_the_program) {
  const auto end = weft({"run", "--workers", "3", "--preset=latency", "--set",
                         "sched.policy=central", "--set=stats=on", "--", "env"});
  EXPECT_TRUE(end.exited(0)) << end;
  for (const char *line : {"WEFT_WORKERS=3\n", "WEFT_PRESET=latency\n",
                           "WEFT_SCHED_POLICY=central\n", "WEFT_STATS=on\n"})
    EXPECT_TRUE(end.printed(line)) << line << end;
}

TEST_F(weft_tool, run_wins_over_the_inherited_environment_and_the_last_value_counts) {
  const auto end =
      weft({"run", "--workers", "3", "--set", "workers=4", "sh", "-c", "echo =$WEFT_WORKERS="},
           {{"WEFT_WORKERS", "2"}});
  EXPECT_EQ(end.output, "=4=\n") << end;
}

TEST_F(weft_tool, run_makes_the_threads_of_the_program_known_unless_it_is_not_to) {
  const std::vector<std::string> show{"sh", "-c", "echo =$LD_PRELOAD="};
  const auto shown = [&](std::vector<std::string> options, const char *before) {
    options.insert(options.begin(), {"run", "--no-openmp", "--no-tbb"});
    options.insert(options.end(), show.begin(), show.end());
    return weft(options, {{"LD_PRELOAD", before}});
  };
  const auto taken = shown({"--pools"}, "libdl.so.2");
  EXPECT_TRUE(taken.exited(0)) << taken;
  if (taken.printed("weft: warning: --pools: this installation has no libweft-pools.so")) {
    EXPECT_TRUE(taken.printed("=libdl.so.2=\n")) << taken;
    EXPECT_EQ(shown({}, "").output, "==\n");
    return;
  }
  EXPECT_TRUE(taken.printed("/libweft-pools.so:libdl.so.2=\n")) << taken;
  const auto silent = shown({}, "");
  EXPECT_TRUE(silent.output.starts_with("=/") && silent.printed("/libweft-pools.so=\n")) << silent;
  EXPECT_EQ(shown({"--no-pools"}, "").output, "==\n");
  EXPECT_EQ(shown({"--pools", "--no-pools"}, "").output, "==\n") << "the last word counts";
  EXPECT_TRUE(shown({"--no-pools", "--pools"}, "").printed("libweft-pools.so=\n"));
}

TEST_F(weft_tool, run_opens_every_door_that_is_installed_unless_it_is_left_out) {
  const auto preloaded = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"sh", "-c", "echo =$LD_PRELOAD="});
    const auto end = weft(options, {{"LD_PRELOAD", ""}});
    EXPECT_TRUE(end.exited(0)) << end;
    return end;
  };
  const auto all = preloaded({});
  const std::string folder = m_program.substr(0, m_program.rfind("/bin/")) + "/lib/";
  const std::pair<const char *, const char *> doors[] = {{"openmp", "weft-omp/libgomp.so.1"},
                                                         {"tbb", "weft-tbb/libirml.so.1"},
                                                         {"blas", "libweft-blas-loads.so"},
                                                         {"pools", "libweft-pools.so"}};
  for (const auto &[name, library] : doors) {
    const bool installed = access((folder + library).c_str(), R_OK) == 0;
    EXPECT_EQ(all.printed(library), installed) << all;
    const std::string option = std::string("--no-") + name;
    const auto without = preloaded({option});
    EXPECT_FALSE(without.printed(library)) << without;
    EXPECT_FALSE(without.printed("weft: warning")) << without;
    for (const auto &[other, present] : doors) {
      const bool goes = std::string_view(name) == other ||
                        (std::string_view(name) == "openmp" && std::string_view(other) == "blas");
      EXPECT_EQ(without.printed(present), all.printed(present) && !goes) << without;
    }
    const auto again = preloaded({option, std::string("--") + name});
    EXPECT_EQ(again.printed("weft: warning: --" + std::string(name)), !installed) << again;
    EXPECT_EQ(again.printed(library), installed) << again;
  }
}

/// Makes the command anew in an installation that has nothing else. Returns its path.
std::string moved_to(const test::fake_tree &tree, const std::string &program) {
  const std::filesystem::path bin = tree.root() + "/bin";
  std::filesystem::create_directories(bin);
  std::error_code other_device;
  std::filesystem::create_hard_link(program, bin / "weft", other_device);
  if (other_device)
    std::filesystem::copy_file(program, bin / "weft");
  return bin / "weft";
}

TEST_F(weft_tool, run_finds_libraries_by_the_folder_of_the_command) {
  const std::string built = m_program;
  for (const std::string libraries : {"lib", "lib64"}) {
    test::fake_tree tree;
    m_program = moved_to(tree, built);
    tree.put("/" + libraries + "/weft-omp/libgomp.so.1", ""); // a name is what is looked for
    const auto end = weft({"run", "sh", "-c", "echo =$LD_PRELOAD="}, {{"LD_PRELOAD", ""}});
    const std::string library = tree.root() + "/" + libraries + "/weft-omp/libgomp.so.1";
    EXPECT_TRUE(end.printed("=" + library + "=\n")) << end;
  }
}

TEST_F(weft_tool, run_says_once_that_a_runtime_has_no_door) {
  test::fake_tree tree;
  m_program = moved_to(tree, m_program);
  const auto run = [&](std::vector<std::string> options, const char *runtime) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"sh", "-c", "echo ran"});
    return weft(options, {{"LD_PRELOAD", runtime}});
  };
  const char *const runtime = "libgomp.so.1"; // the compiler's
  const auto warned = run({}, runtime);
  if (warned.printed("cannot be preloaded"))
    GTEST_SKIP() << "this machine has no libgomp.so.1";
  const std::string words = "keeps its own OpenMP: this installation has none of Weft's doors";
  EXPECT_TRUE(warned.printed("weft: warning: ") && warned.printed(words)) << warned;
  EXPECT_EQ(warned.output.find(words), warned.output.rfind(words)) << warned;
  EXPECT_TRUE(warned.printed("ran\n") && warned.exited(0)) << warned;
  EXPECT_FALSE(run({}, "").printed("warning")) << "no runtime";
  EXPECT_FALSE(run({"--no-openmp"}, runtime).printed("warning")) << "it is not asked for";
  const auto asked = run({"--openmp"}, runtime);
  EXPECT_TRUE(asked.printed("weft: warning: --openmp") && !asked.printed(words)) << asked;
  tree.put("/lib/weft-tbb/libirml.so.1", "");
  EXPECT_FALSE(run({}, runtime).printed(words)) << "one door is there: the other is left out";
}

TEST_F(weft_tool, run_opens_no_door_for_a_program_that_holds_weft) {
  std::vector<std::string> words{"run", "--"};
  for (const auto &word : test::command(test::program_path()))
    words.push_back(word);
  words.push_back("--gtest_filter=weft_tool.run_opens_no_door_for_a_program_that_holds_weft");
  if (test::is_child()) {
    const char *const preloads = getenv("LD_PRELOAD");
    std::printf("=%s=\n", preloads ? preloads : "");
    return;
  }
  auto end = weft(words, {{"TEST_CHILD", "1"}, {"LD_PRELOAD", ""}});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_FALSE(end.printed("weft-omp") || end.printed("libirml")) << end;
  EXPECT_FALSE(end.printed("weft: warning")) << end;
  if (const std::string lib = m_program.substr(0, m_program.rfind("/bin/")) + "/lib/";
      access((lib + "weft-tbb/libirml.so.1").c_str(), R_OK) != 0)
    return;
  words.insert(words.begin() + 1, "--tbb");
  end = weft(words, {{"TEST_CHILD", "1"}, {"LD_PRELOAD", ""}});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("runs without Weft's doors")) << end;
  EXPECT_TRUE(end.printed("Weft is linked into it")) << end;
}

TEST_F(weft_tool, run_leaves_the_arguments_of_the_program_alone) {
  const auto end = weft({"run", "printf", "[%s]", "--workers", "a b", "--"});
  EXPECT_EQ(end.output, "[--workers][a b][--]") << end;
}

TEST_F(weft_tool, run_with_stats_set_shows_what_the_program_has_done) {
  if (test::is_child()) {
    for (int i = 0; i != 17; ++i)
      weft::spawn([] {});
    weft::taskwait();
    return;
  }
  std::vector<std::string> words{"run", "--workers", "2", "--set", "stats=true", "--"};
  for (const auto &word : test::command(test::program_path()))
    words.push_back(word);
  words.push_back("--gtest_filter=weft_tool.run_with_stats_set_shows_what_the_program_has_done");
  const auto end = weft(words, {{"TEST_CHILD", "1"}});
  EXPECT_TRUE(end.exited(0)) << end;
  EXPECT_TRUE(end.printed("weft: stats: 17 tasks spawned, 17 run by 2 workers; ")) << end;
  EXPECT_TRUE(end.printed("weft: stats: worker 1 (started): ")) << end;
}

TEST_F(weft_tool, run_ends_as_the_program_ends) {
  EXPECT_TRUE(weft({"run", "--", "sh", "-c", "exit 42"}).exited(42));
}

TEST_F(weft_tool, run_refuses_unknown_keys_and_wrong_values) {
  auto end = weft({"run", "--set", "sched.polcy=central", "true"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(end.printed("did you mean 'sched.policy'?")) << end;
  end = weft({"run", "--workers", "0", "true"});
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(end.printed("must be auto, or an integer from 1 to 1024")) << end;
}

TEST_F(weft_tool, run_refuses_a_command_line_without_sense) {
  const std::pair<std::vector<std::string>, const char *> cases[] = {
      {{"run"}, "run needs a program"},
      {{"run", "--"}, "run needs a program"},
      {{"run", "--workers", "2"}, "run needs a program"},
      {{"run", "--workers"}, "--workers needs a value"},
      {{"run", "--set", "workers", "true"}, "--set needs KEY=VALUE, not 'workers'"},
      {{"run", "--wrkers", "2", "true"}, "run does not know '--wrkers'; did you mean '--workers'?"},
      {{"run", "--no-pool", "true"}, "run does not know '--no-pool'; did you mean '--no-pools'?"},
      {{"run", "--no-openmp", "--blas", "true"}, "--blas needs Weft's OpenMP"},
  };
  for (const auto &[words, sentence] : cases) {
    const auto end = weft(words);
    EXPECT_TRUE(end.exited(2)) << end;
    EXPECT_TRUE(end.printed(sentence)) << end;
  }
}

TEST_F(weft_tool, run_reports_a_program_that_cannot_be_run) {
  const auto end = weft({"run", "no-such-program"});
  EXPECT_TRUE(end.exited(127)) << end;
  EXPECT_TRUE(end.printed("cannot run 'no-such-program': No such file or directory")) << end;
}


/// Writes a program that names `loader` for its own. Returns false where that
/// cannot be made of /bin/true.
bool write_program_of(const std::string &loader, const std::string &file) {
  std::ifstream in("/bin/true", std::ios::binary);
  std::string program(std::istreambuf_iterator<char>(in), {});
  const auto place = program.find("/lib");
  const auto end_of_name = program.find('\0', place);
  if (place == std::string::npos || end_of_name - place < loader.size() || end_of_name - place > 60)
    return false;
  program.replace(place, end_of_name - place, loader + std::string(end_of_name - place - loader.size(), '\0'));
  std::ofstream(file, std::ios::binary) << program;
  return chmod(file.c_str(), 0755) == 0;
}

#if defined(__x86_64__)
/// Writes a loader that becomes the program `then`, whatever it is to load.
void write_loader_of_another_library(const std::string &file, const std::string &then) {
  const std::string code("\x48\x8b\x0c\x24\x48\x8d\x74\x24\x08\x48\x8d\x54\xcc\x10" // argv, envp
                         "\x48\x8d\x3d\x13\x00\x00\x00\xb8\x3b\x00\x00\x00\x0f\x05" // execve
                         "\xb8\x3c\x00\x00\x00\xbf\x7e\x00\x00\x00\x0f\x05", 40); // exit
  struct {
    Elf64_Ehdr head{};
    Elf64_Phdr part{};
  } elf;
  std::memcpy(elf.head.e_ident, "\x7f" "ELF\x02\x01\x01", 7);
  elf.head.e_type = ET_DYN;
  elf.head.e_machine = EM_X86_64;
  elf.head.e_version = EV_CURRENT;
  elf.head.e_entry = sizeof elf;
  elf.head.e_phoff = sizeof elf.head;
  elf.head.e_ehsize = sizeof elf.head;
  elf.head.e_phentsize = sizeof elf.part;
  elf.head.e_phnum = 1;
  elf.part.p_type = PT_LOAD;
  elf.part.p_flags = PF_R | PF_X;
  elf.part.p_filesz = elf.part.p_memsz = sizeof elf + code.size() + then.size() + 1;
  elf.part.p_align = 4096;
  std::ofstream(file, std::ios::binary)
      << std::string(reinterpret_cast<const char *>(&elf), sizeof elf) << code << then << '\0';
  chmod(file.c_str(), 0755);
}

// The loader of another C library runs a program that LD_TRACE_LOADED_OBJECTS is to keep from running,
// and cannot load libraries that are made for glibc.
TEST_F(weft_tool, run_and_doctor_ask_no_loader_that_would_run_the_program) {
  const test::fake_tree tree;
  const std::string name = "/tmp/ld" + std::to_string(getpid() % 1000), file = tree.root() + "/program",
                    then = tree.root() + "/then", mark = tree.root() + "/mark";
  if (!write_program_of(name, file))
    GTEST_SKIP() << "/bin/true names no loader near its beginning";
  write_loader_of_another_library(name, then);
  std::ofstream(then) << "#!/bin/sh\necho \"[$LD_PRELOAD]\" >> " << mark << "\n";
  chmod(then.c_str(), 0755);
  const char *const before = std::getenv("LD_PRELOAD");
  const std::string once = std::string("[") + (before ? before : "") + "]\n";
  const auto doctor = weft({"doctor", file});
  EXPECT_TRUE(doctor.exited(1)) << doctor;
  EXPECT_TRUE(doctor.printed(name + ": it is not run\n")) << doctor;
  EXPECT_FALSE(std::filesystem::exists(mark));
  const auto run = weft({"run", "--", file});
  EXPECT_TRUE(run.exited(0)) << run;
  EXPECT_EQ(run.output, "");
  EXPECT_EQ(weft::rt::read_file(mark).value_or(""), once);
  for (const char *wish : {"--locks", "--pools", "--openmp", "--tbb", "--blas"}) {
    const auto wished = weft({"run", wish, "--", file});
    EXPECT_TRUE(wished.printed(file + " gets none of Weft's libraries: its loader, " + name +
                               ", is not glibc's"))
        << wish << wished;
  }
  unlink(name.c_str());
  EXPECT_EQ(weft::rt::read_file(mark).value_or(""), once + once + once + once + once + once);
}
#endif

// A program chooses its loader, which could do anything; the command says that it runs nothing.
TEST_F(weft_tool, doctor_runs_no_loader_of_the_programs_own) {
  const test::fake_tree tree;
  const std::string name = "/tmp/ld64." + std::to_string(getpid() % 1000),
                    file = tree.root() + "/program";
  if (!write_program_of(name, file))
    GTEST_SKIP() << "/bin/true names no loader near its beginning";
  std::filesystem::copy_file("/bin/true", name, std::filesystem::copy_options::overwrite_existing);
  chmod(name.c_str(), 0777); // others can change it
  const auto end = weft({"doctor", file});
  unlink(name.c_str());
  EXPECT_TRUE(end.exited(1)) << end;
  EXPECT_TRUE(end.printed(file + " asks for a loader that is not the system's, " + name + ": it is not run\n"))
      << end;
}

TEST_F(weft_tool, completion_of_bash_takes_names_with_spaces_for_one) {
  if (access("/bin/bash", X_OK) != 0)
    GTEST_SKIP() << "there is no bash";
  test::fake_tree tree;
  tree.put("/a trace", "");
  tree.put("/a*", "");
  tree.put("/ab", "");
  const auto end = test::run_as_it_is(
      {"/bin/bash", "-c",
       "cd " + tree.root() + " && source <(" + m_program +
           " completion bash) && COMP_WORDS=(weft report a) COMP_CWORD=2 && _weft 2>/dev/null; "
           "printf '<%s>' \"${COMPREPLY[@]}\""},
      {});
  EXPECT_TRUE(end.printed("<a trace>") && end.printed("<a*>") && end.printed("<ab>")) << end;
  EXPECT_EQ(std::count(end.output.begin(), end.output.end(), '<'), 3) << end;
}

} // namespace
