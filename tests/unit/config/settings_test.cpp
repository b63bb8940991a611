// SPDX-License-Identifier: Apache-2.0
#include "config/settings.hpp"

#include "config/load.hpp"
#include "config/process.hpp"

#include "support/fake_tree.hpp"

#include <weft/error.hpp>
#include <weft/layer/default_setting.hpp>

#include <gtest/gtest.h>
#include <set>
#include <string>

namespace {

using namespace weft::rt;
using namespace std::chrono_literals;
using test::fake_tree;

template <class Loaded>
std::string origin_of(const Loaded &loaded, const char *key) {
  return loaded.origin.at(find_setting(key));
}

loaded_settings from_environment(std::vector<key_value> variables) {
  settings_input input;
  input.environment = std::move(variables);
  return load_settings(input);
}

loaded_settings from_api(std::vector<key_value> values) {
  settings_input input;
  input.overrides = std::move(values);
  return load_settings(input);
}

loaded_settings from_file(const std::string &text) {
  fake_tree tree;
  tree.put("/etc/w.toml", text);
  settings_input input;
  input.root = tree.root();
  input.environment = {{"WEFT_CONFIG", "/etc/w.toml"}};
  return load_settings(input);
}

template <class Load>
std::string refusal(Load load) {
  try {
    load();
    return "accepted";
  } catch (const weft::error &e) {
    EXPECT_EQ(e.code(), weft::errc::bad_setting);
    return e.what();
  }
}

std::string refusal_of(const char *key, const char *value) {
  return refusal([&] { from_api({{key, value}}); });
}

bool has(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

TEST(settings_file, without_end_is_refused) {
  const std::string text = refusal([] {
    settings_input input;
    input.environment = {{"WEFT_CONFIG", "/dev/zero"}};
    load_settings(input);
  });
  EXPECT_EQ(text, "WEFT_CONFIG names the file '/dev/zero', which cannot be read: File too large");
}

TEST(settings_file, may_be_as_long_as_a_file_of_settings_ever_is) {
  EXPECT_EQ(from_file(std::string(1'000'000, '#') + "\nworkers = 3\n").values.workers, 3);
}

TEST(settings, that_are_given_by_a_command_are_said_to_be) {
  const std::string text = refusal([] {
    settings_input input;
    input.overrides = {{"sched.policy", "steeling"}};
    input.overriding = "command line";
    load_settings(input);
  });
  EXPECT_TRUE(has(text, "cannot be 'steeling' (from command line)")) << text;
}

// The table itself

TEST(settings_table, every_row_is_complete_and_unique) {
  std::set<std::string> keys, variables;
  for (const auto &info : setting_table()) {
    keys.insert(info.key);
    variables.insert(info.environment);
    EXPECT_GT(std::string(info.doc).size(), 20u) << info.key;
    EXPECT_NE(std::string(info.doc).back(), '.') << info.key;
    EXPECT_EQ(find_setting(info.key), static_cast<std::size_t>(&info - setting_table().data()));
  }
  EXPECT_EQ(keys.size(), k_setting_count);
  EXPECT_EQ(variables.size(), k_setting_count);
  EXPECT_EQ(find_setting("no.such"), k_setting_count);
}

TEST(settings_table, a_field_is_named_after_its_key) {
  const char *const fields[] = {
#define WEFT_SETTING(type, field, ...) #field,
#include "config/settings.def"
  };
  for (std::size_t row = 0; row != k_setting_count; ++row) {
    std::string name = setting_table()[row].key;
    for (char &c : name)
      c = c == '.' ? '_' : c;
    EXPECT_EQ(name, fields[row]);
  }
}

TEST(settings_table, the_environment_name_comes_from_the_key) {
  EXPECT_EQ(setting_table()[find_setting("sched.policy")].environment, "WEFT_SCHED_POLICY");
  EXPECT_EQ(setting_table()[find_setting("workers")].environment, "WEFT_WORKERS");
}

TEST(settings_table, every_default_is_allowed_and_reads_back) {
  for (const auto &info : setting_table()) {
    const auto loaded = from_api({{info.key, info.default_text}});
    const auto row = find_setting(info.key);
    EXPECT_EQ(setting_text(loaded.values, row), setting_text(settings(), row));
    EXPECT_EQ(setting_text(from_api({{info.key, setting_text(settings(), row)}}).values, row),
              setting_text(settings(), row));
  }
}

TEST(settings_table, presets_name_keys_and_allowed_values) {
  for (const auto &row : preset_table()) {
    EXPECT_NE(find_setting(row.key), k_setting_count) << row.key;
    const auto loaded = from_api({{"preset", row.preset}});
    EXPECT_EQ(origin_of(loaded, row.key), std::string("preset ") + row.preset);
  }
}

// Values

TEST(settings, defaults_are_those_of_the_table) {
  const settings s;
  EXPECT_EQ(s.workers, 0);
  EXPECT_EQ(s.sched_policy, policy_kind::stealing);
  EXPECT_EQ(s.sched_immediate_successor, 1.0);
  EXPECT_EQ(s.stack_bytes, 96u << 10);
  EXPECT_EQ(s.spin_us, 20us);
  EXPECT_EQ(s.throttle_bytes, 16u << 20);
  EXPECT_EQ(s.bind, bind_kind::none);
  EXPECT_EQ(s.group_exceptions, exceptions_kind::first_cancels);
  EXPECT_FALSE(s.stats);
}

TEST(settings, loading_nothing_gives_the_defaults) {
  const auto loaded = load_settings({});
  for (std::size_t row = 0; row != k_setting_count; ++row) {
    EXPECT_EQ(loaded.origin[row], "default");
    EXPECT_EQ(setting_text(loaded.values, row), setting_text(settings(), row));
  }
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST(settings, workers_are_auto_or_1_to_1024) {
  EXPECT_EQ(from_api({{"workers", "1"}}).values.workers, 1);
  EXPECT_EQ(from_api({{"workers", "1024"}}).values.workers, 1024);
  EXPECT_EQ(from_api({{"workers", "auto"}}).values.workers, 0);
  for (const char *value : {"0", "1025", "-1", "", "many", "2.5", "3 ", "99999999999999999999"})
    EXPECT_TRUE(has(refusal_of("workers", value), "it must be auto, or an integer from 1 to 1024"))
        << value;
}

// Each is allowed once 2^64 has been taken away.
TEST(settings, numbers_that_overflow_with_their_unit_are_refused) {
  EXPECT_TRUE(has(refusal_of("spin.us", "18446744073710s"), "it must be a duration"));
  EXPECT_TRUE(has(refusal_of("spin.us", "18446744073709552ms"), "it must be a duration"));
  EXPECT_TRUE(has(refusal_of("watch.patience", "18446744073710s"), "it must be"));
  EXPECT_TRUE(has(refusal_of("throttle.bytes", "16777217T"), "it must be"));
  EXPECT_TRUE(has(refusal_of("throttle.bytes", "17179869185G"), "it must be"));
}

TEST(settings, sizes_have_units_of_1024) {
  const std::pair<const char *, std::uint64_t> cases[] = {
      {"65536", 65536},  {"65536B", 65536},    {"64K", 64 << 10},  {"64KiB", 64 << 10},
      {"16M", 16 << 20}, {"16 MiB", 16 << 20}, {"1G", 1ull << 30}, {"1TiB", 1ull << 40}};
  for (const auto &[text, bytes] : cases)
    EXPECT_EQ(from_api({{"throttle.bytes", text}}).values.throttle_bytes, bytes) << text;
  EXPECT_EQ(from_api({{"throttle.bytes", "off"}}).values.throttle_bytes, 0u);
  for (const char *value :
       {"0", "1K", "2TiB", "64KB", "64k", "-1M", "1.5M", "M", "", "99999999999999T"})
    EXPECT_TRUE(
        has(refusal_of("throttle.bytes", value), "it must be off, or a size from 64KiB to 1TiB"))
        << value;
}

TEST(settings, durations_have_units) {
  EXPECT_EQ(from_api({{"spin.us", "0"}}).values.spin_us, 0us);
  EXPECT_EQ(from_api({{"spin.us", "35"}}).values.spin_us, 35us);
  EXPECT_EQ(from_api({{"spin.us", "35us"}}).values.spin_us, 35us);
  EXPECT_EQ(from_api({{"spin.us", "2ms"}}).values.spin_us, 2ms);
  EXPECT_EQ(from_api({{"spin.us", "1 s"}}).values.spin_us, 1s);
  for (const char *value : {"2s", "1m", "us", "-1us", "", "18446744073709551615s"})
    EXPECT_TRUE(has(refusal_of("spin.us", value), "it must be a duration from 0us to 1s")) << value;
}

TEST(settings, numbers_have_a_range) {
  EXPECT_EQ(from_api({{"sched.immediate_successor", "0.25"}}).values.sched_immediate_successor,
            0.25);
  for (const char *value : {"1.01", "-0.1", "nan", "inf", "half", "", "0.5x"})
    EXPECT_TRUE(
        has(refusal_of("sched.immediate_successor", value), "it must be a number from 0 to 1"))
        << value;
}

TEST(settings, truth_has_several_words) {
  for (const char *value : {"true", "on", "yes", "1"})
    EXPECT_TRUE(from_api({{"stats", value}}).values.stats) << value;
  for (const char *value : {"false", "off", "no", "0"})
    EXPECT_FALSE(from_api({{"stats", value}}).values.stats) << value;
  EXPECT_TRUE(has(refusal_of("stats", "maybe"), "it must be true or false"));
}

TEST(settings, choices_are_their_spellings) {
  EXPECT_EQ(from_api({{"sched.policy", "delegated"}}).values.sched_policy, policy_kind::delegated);
  EXPECT_EQ(from_api({{"sched.policy", "local-fifo"}}).values.sched_policy,
            policy_kind::local_fifo);
  EXPECT_EQ(from_api({{"sched.policy", "local_fifo"}}).values.sched_policy,
            policy_kind::local_fifo);
  EXPECT_EQ(from_api({{"sched.policy", "central"}}).values.sched_policy, policy_kind::central);
  EXPECT_EQ(from_api({{"group.exceptions", "collect-all"}}).values.group_exceptions,
            exceptions_kind::collect_all);
}

TEST(settings, a_wrong_choice_names_all_and_the_nearest) {
  EXPECT_EQ(
      refusal_of("sched.policy", "steeling"),
      "setting sched.policy cannot be 'steeling' (from API): it must be one of stealing, delegated, "
      "local-fifo, central, seeded; did you mean 'stealing'?");
  for (const char *value :
       {"stealingabc", "stling", "stxxling"}) // letters too many, too few, and wrong ones
    EXPECT_TRUE(has(refusal_of("sched.policy", value), "did you mean 'stealing'?")) << value;
  EXPECT_FALSE(has(refusal_of("sched.policy", "xyzzy"), "did you mean"));
}

TEST(settings, an_unknown_key_names_the_nearest) {
  EXPECT_EQ(refusal_of("sched.polcy", "central"),
            "unknown setting 'sched.polcy' (from API); did you mean 'sched.policy'?");
  EXPECT_TRUE(has(refusal_of("completely.different.words", "1"), "`weft config` lists all"));
}

TEST(settings, texts_read_back_in_their_largest_unit) {
  const auto text = [](const char *key, const char *value) {
    return setting_text(from_api({{key, value}}).values, find_setting(key));
  };
  EXPECT_EQ(text("stack.bytes", "131072"), "128KiB");
  EXPECT_EQ(text("stack.bytes", "100000"), "100000B");
  EXPECT_EQ(text("throttle.bytes", "off"), "off");
  EXPECT_EQ(text("spin.us", "1000"), "1ms");
  EXPECT_EQ(text("spin.us", "0"), "0us");
  EXPECT_EQ(text("workers", "auto"), "auto");
  EXPECT_EQ(text("sched.immediate_successor", "0.1"), "0.1");
  EXPECT_EQ(text("stats", "on"), "true");
  EXPECT_EQ(text("sched.policy", "local_fifo"), "local-fifo");
}

// Sources

TEST(settings, the_environment_is_read_and_remembered) {
  const auto loaded =
      from_environment({{"WEFT_WORKERS", "3"}, {"HOME", ""}, {"WEFT_SCHED_POLICY", "central"}});
  EXPECT_EQ(loaded.values.workers, 3);
  EXPECT_EQ(origin_of(loaded, "workers"), "environment WEFT_WORKERS");
  EXPECT_EQ(loaded.values.sched_policy, policy_kind::central);
  EXPECT_EQ(origin_of(loaded, "stats"), "default");
}

TEST(settings, an_empty_variable_counts_as_none) {
  EXPECT_EQ(origin_of(from_environment({{"WEFT_WORKERS", ""}}), "workers"), "default");
}

TEST(settings, a_wrong_value_in_the_environment_names_the_variable) {
  EXPECT_TRUE(has(refusal([] { from_environment({{"WEFT_WORKERS", "0"}}); }),
                  "(from environment WEFT_WORKERS)"));
}

TEST(settings, an_unknown_variable_is_a_warning_with_the_nearest) {
  const auto loaded =
      from_environment({{"WEFT_WORKRES", "3"}, {"WEFTY", "1"}, {"NOT_WEFT_X", "1"}});
  ASSERT_EQ(loaded.warnings.size(), 1u);
  EXPECT_EQ(
      loaded.warnings[0],
      "the environment variable WEFT_WORKRES is no setting of Weft; did you mean 'WEFT_WORKERS'?");
  EXPECT_EQ(loaded.values.workers, 0);
}

TEST(settings, the_file_is_read_and_remembered_by_line) {
  const auto loaded = from_file(
      "workers = 4\n\n[sched]\npolicy = \"central\" # one queue\nimmediate_successor = 0.5\n");
  EXPECT_EQ(loaded.file, "/etc/w.toml");
  EXPECT_EQ(loaded.values.workers, 4);
  EXPECT_EQ(loaded.values.sched_policy, policy_kind::central);
  EXPECT_EQ(loaded.values.sched_immediate_successor, 0.5);
  EXPECT_EQ(origin_of(loaded, "sched.policy"), "file /etc/w.toml:4");
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST(settings, mistakes_in_the_file_name_file_and_line) {
  EXPECT_TRUE(has(refusal([] { from_file("\nworkers = 0\n"); }), "(from file /etc/w.toml:2)"));
  EXPECT_TRUE(has(refusal([] { from_file("worker = 2\n"); }),
                  "unknown setting 'worker' (from file /etc/w.toml:1); did you mean 'workers'?"));
  EXPECT_TRUE(
      has(refusal([] { from_file("workers 2\n"); }), "/etc/w.toml:1: after the key 'workers'"));
}

TEST(settings, a_named_file_that_is_missing_is_an_error) {
  const auto text = refusal([] { from_environment({{"WEFT_CONFIG", "/no/such.toml"}}); });
  EXPECT_TRUE(has(text, "/no/such.toml")) << text;
  EXPECT_TRUE(has(text, "No such file")) << text;
}

TEST(settings, the_file_is_looked_for_where_the_environment_says) {
  fake_tree tree;
  tree.put("/home/me/.config/weft/weft.toml", "workers = 5\n");
  settings_input input;
  input.root = tree.root();
  input.environment = {{"HOME", "/home/me"}};
  EXPECT_EQ(load_settings(input).values.workers, 5);

  tree.put("/xdg/weft/weft.toml", "workers = 6\n");
  input.environment.emplace_back("XDG_CONFIG_HOME", "/xdg");
  EXPECT_EQ(load_settings(input).values.workers, 6);

  tree.put("/named.toml", "workers = 7\n");
  input.environment.emplace_back("WEFT_CONFIG", "/named.toml");
  EXPECT_EQ(load_settings(input).values.workers, 7);

  input.environment.back().second = ""; // no file at all
  EXPECT_EQ(load_settings(input).file, "");
  EXPECT_EQ(load_settings(input).values.workers, 0);
}

TEST(settings, a_file_that_is_not_there_is_no_matter) {
  fake_tree tree;
  settings_input input;
  input.root = tree.root();
  input.environment = {{"HOME", "/home/me"}};
  const auto loaded = load_settings(input);
  EXPECT_EQ(loaded.file, "");
  EXPECT_TRUE(loaded.warnings.empty());
}

TEST(settings, each_source_wins_over_the_one_before) {
  fake_tree tree;
  tree.put("/w.toml",
           "preset = \"latency\"\nspin.us = 1\nstats = true\nworkers = 2\npoll.period = \"7us\"\n");
  settings_input input;
  input.root = tree.root();
  input.environment = {
      {"WEFT_CONFIG", "/w.toml"}, {"WEFT_WORKERS", "3"}, {"WEFT_POLL_PERIOD", "8us"}};
  input.overrides = {{"workers", "4"}, {"workers", "5"}};
  const auto loaded = load_settings(input);
  EXPECT_EQ(origin_of(loaded, "sched.policy"), "default");
  EXPECT_EQ(origin_of(loaded, "stats"), "file /w.toml:3");
  EXPECT_EQ(origin_of(loaded, "spin.us"), "preset latency");
  EXPECT_EQ(loaded.values.spin_us, 1ms);
  EXPECT_EQ(origin_of(loaded, "poll.period"), "environment WEFT_POLL_PERIOD");
  EXPECT_EQ(loaded.values.poll_period, 8us);
  EXPECT_EQ(origin_of(loaded, "workers"), "API");
  EXPECT_EQ(loaded.values.workers, 5);
}

TEST(settings, the_last_source_that_names_a_preset_chooses_it) {
  settings_input input;
  input.environment = {{"WEFT_PRESET", "latency"}};
  input.overrides = {{"preset", "debug"}};
  const auto loaded = load_settings(input);
  EXPECT_EQ(loaded.values.preset, preset_kind::debug);
  EXPECT_EQ(loaded.values.mem_allocator, allocator_kind::system);
  EXPECT_EQ(loaded.values.spin_us, 0us);
  EXPECT_EQ(loaded.values.poll_period, settings().poll_period);
  EXPECT_EQ(origin_of(loaded, "preset"), "API");
}

TEST(settings, an_unknown_preset_is_an_error) {
  EXPECT_TRUE(has(refusal([] { from_environment({{"WEFT_PRESET", "latncy"}}); }),
                  "did you mean 'latency'?"));
}

TEST(settings, openmp_speaks_only_where_it_is_asked_and_weft_is_silent) {
  settings_input input;
  input.environment = {{"OMP_NUM_THREADS", "6"}};
  EXPECT_EQ(load_settings(input).values.workers, 0);
  input.openmp_aliases = true;
  EXPECT_EQ(load_settings(input).values.workers, 6);
  EXPECT_EQ(origin_of(load_settings(input), "workers"), "environment OMP_NUM_THREADS");
  input.environment.emplace_back("WEFT_WORKERS", "2");
  EXPECT_EQ(load_settings(input).values.workers, 2);
}

TEST(settings, a_value_of_openmp_that_weft_cannot_use_is_only_a_warning) {
  settings_input input;
  input.openmp_aliases = true;
  input.environment = {{"OMP_NUM_THREADS", "4,2"}};
  const auto loaded = load_settings(input);
  EXPECT_EQ(loaded.values.workers, 0);
  ASSERT_EQ(loaded.warnings.size(), 1u);
  EXPECT_TRUE(has(loaded.warnings[0], "OMP_NUM_THREADS")) << loaded.warnings[0];
}

TEST(settings, a_seed_implies_the_seeded_policy_and_that_one_worker) {
  const auto loaded = from_api({{"sched.seed", "7"}});
  EXPECT_EQ(loaded.values.workers, 1);
  EXPECT_EQ(loaded.values.sched_policy, policy_kind::seeded);
  EXPECT_EQ(loaded.values.sched_immediate_successor, 0);
  EXPECT_EQ(loaded.values.watch_max_spares, 0);
  EXPECT_EQ(origin_of(loaded, "sched.policy"), "setting sched.seed");
  for (const char *key : {"workers", "sched.immediate_successor", "watch.max_spares"})
    EXPECT_EQ(origin_of(loaded, key), "setting sched.policy") << key;
  EXPECT_EQ(from_api({{"sched.policy", "seeded"}}).values.workers, 1);
  const auto alike = from_api({{"sched.seed", "7"},
                               {"workers", "1"},
                               {"sched.policy", "seeded"},
                               {"sched.immediate_successor", "0.5"}});
  EXPECT_EQ(origin_of(alike, "workers"), "API");
  EXPECT_EQ(alike.values.sched_immediate_successor, 0.5);
}

TEST(settings, a_seed_refuses_what_contradicts_it) {
  EXPECT_EQ(
      refusal([] { from_api({{"sched.seed", "7"}, {"workers", "auto"}}); }),
      "setting sched.policy = seeded (from setting sched.seed) goes with workers = 1 only, which is 'auto' "
      "(from API); leave one of them out");
  EXPECT_EQ(
      refusal([] { from_api({{"sched.seed", "7"}, {"sched.policy", "central"}}); }),
      "setting sched.seed = 7 (from API) goes with sched.policy = seeded only, which is 'central' (from "
      "API); leave one of them out");
  settings_input input;
  input.openmp_aliases = true;
  input.environment = {{"OMP_NUM_THREADS", "6"}, {"WEFT_SCHED_SEED", "3"}};
  EXPECT_EQ(load_settings(input).values.workers, 1) << "OpenMP's variables only advise";
}

// The process

class process_settings_test : public testing::Test {
 protected:
  void SetUp() override {
    setenv("WEFT_CONFIG", "", 1);
    reload_process_settings();
  }
  void TearDown() override {
    unsetenv("WEFT_WORKERS");
    unsetenv("WEFT_WORKRES");
    settings_clear_overrides();
    reload_process_settings();
  }
};

TEST_F(process_settings_test, are_read_from_the_environment_at_each_load) {
  const auto &before = current_settings();
  setenv("WEFT_WORKERS", "9", 1);
  EXPECT_EQ(current_settings().workers, 0);
  reload_process_settings();
  EXPECT_EQ(before.workers, 0) << "a thread that reads settings keeps what it has got";
  EXPECT_EQ(current_settings().workers, 9);
  EXPECT_EQ(origin_of(process_settings(), "workers"), "environment WEFT_WORKERS");
}

TEST_F(process_settings_test, an_override_holds_at_once) {
  EXPECT_EQ(current_settings().workers, 0); // read before, as a layer does before the start
  settings_override("workers", "8");
  EXPECT_EQ(current_settings().workers, 8);
  EXPECT_EQ(reload_process_settings().values.workers, 8);
  settings_clear_overrides();
  EXPECT_EQ(reload_process_settings().values.workers, 0);
}

TEST_F(process_settings_test, a_wrong_override_is_refused_at_once_and_changes_nothing) {
  EXPECT_THROW(settings_override("workers", "0"), weft::error);
  EXPECT_THROW(settings_override("worker", "1"), weft::error);
  EXPECT_EQ(reload_process_settings().values.workers, 0);
}

TEST_F(process_settings_test, an_override_that_contradicts_another_source_is_taken_back) {
  setenv("WEFT_WORKERS", "4", 1);
  reload_process_settings();
  EXPECT_THROW(settings_override("sched.seed", "7"), weft::error) << "goes with one worker only";
  EXPECT_EQ(current_settings().sched_seed, 0u);
  settings_override("spin.us", "0us");
  EXPECT_EQ(current_settings().spin_us.count(), 0);
  EXPECT_EQ(reload_process_settings().values.workers, 4);
}

TEST_F(process_settings_test, a_failed_load_keeps_the_values_before) {
  settings_override("workers", "8");
  reload_process_settings();
  setenv("WEFT_WORKERS", "none", 1);
  EXPECT_THROW(reload_process_settings(), weft::error);
  EXPECT_EQ(current_settings().workers, 8);
}

TEST_F(process_settings_test, a_warning_is_printed_once) {
  setenv("WEFT_WORKRES", "9", 1);
  testing::internal::CaptureStderr();
  reload_process_settings();
  reload_process_settings();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "weft: warning: the environment variable WEFT_WORKRES is no "
            "setting of Weft; did you mean 'WEFT_WORKERS'?\n");
}

TEST(settings, former_names_work_and_say_the_new_one_once) {
  for (const auto &[former, now] : former_keys()) {
    EXPECT_EQ(find_setting(former), find_setting(now)) << former;
    EXPECT_STREQ(setting_table().at(find_setting(former)).key, now);
  }
  const auto warning_of = [](const loaded_settings &loaded) {
    return loaded.warnings.size() == 1 ? loaded.warnings[0] : "not one warning";
  };
  const auto file = from_file("watch.places = true\n");
  EXPECT_TRUE(file.values.watch_spawn_sites);
  EXPECT_EQ(
      warning_of(file),
      "setting watch.places (from file /etc/w.toml:1) is called watch.spawn_sites now; the former name will be refused from version 1.0 on");
  const auto api = from_api({{"watch.places", "true"}});
  EXPECT_TRUE(api.values.watch_spawn_sites);
  EXPECT_EQ(
      warning_of(api),
      "setting watch.places (from API) is called watch.spawn_sites now; the former name will be refused from version 1.0 on");
  const auto environment = from_environment({{"WEFT_WATCH_PLACES", "true"}});
  EXPECT_TRUE(environment.values.watch_spawn_sites);
  EXPECT_EQ(origin_of(environment, "watch.spawn_sites"), "environment WEFT_WATCH_PLACES");
  EXPECT_EQ(
      warning_of(environment),
      "the environment variable WEFT_WATCH_PLACES is called WEFT_WATCH_SPAWN_SITES now; the former name will be refused from version 1.0 on");
  const auto both =
      from_environment({{"WEFT_WATCH_PLACES", "true"}, {"WEFT_WATCH_SPAWN_SITES", "false"}});
  EXPECT_FALSE(both.values.watch_spawn_sites) << "the new name wins";
  EXPECT_TRUE(both.warnings.empty());
}

TEST(settings, a_layers_default_is_below_every_other_source) {
  // In a process of its own, because a default cannot be taken back.
  ASSERT_EXIT(
      {
        setenv("WEFT_CONFIG", "", 1);
        unsetenv("WEFT_STACK_BYTES");
        unsetenv("WEFT_PRESET");
        weft::layer::set_default("stack.bytes", "4MiB");
        weft::layer::set_default("stack.bytes", "8MiB");
        weft::layer::set_default("stack.bytes", "1MiB"); // the largest one counts
        weft::layer::set_default("spin.us", "7us");
        weft::layer::set_default("spin.us", "5us"); // of others the last one
        const auto loaded = reload_process_settings();
        bool right = loaded.values.stack_bytes == 8 << 20 &&
                     origin_of(loaded, "stack.bytes") == "default of the program";
        right = right && loaded.values.spin_us.count() == 5 &&
                origin_of(loaded, "spin.us") == "default of the program";
        setenv("WEFT_WORKERS", "none", 1);
        try {
          weft::layer::set_default("spin.us", "9us");
          right = false;
        } catch (const weft::error &) { // it is taken back
        }
        unsetenv("WEFT_WORKERS");
        right = right && reload_process_settings().values.spin_us.count() == 5;
        setenv("WEFT_PRESET", "latency", 1); // says nothing of stacks
        right = right && reload_process_settings().values.stack_bytes == 8 << 20;
        setenv("WEFT_PRESET", "debug", 1);
        right = right && reload_process_settings().values.stack_bytes == 256 << 10;
        setenv("WEFT_STACK_BYTES", "128KiB", 1);
        right = right && reload_process_settings().values.stack_bytes == 128 << 10;
        settings_override("stack.bytes", "64KiB");
        right = right && reload_process_settings().values.stack_bytes == 64 << 10;
        for (const auto &[key, value] :
             {std::pair{"stack.byte", "8MiB"}, std::pair{"stack.bytes", "1"}})
          try {
            weft::layer::set_default(key, value);
            right = false;
          } catch (const weft::error &e) {
            right = right && e.code() == weft::errc::bad_setting;
          }
        std::_Exit(right ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

} // namespace
