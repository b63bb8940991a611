// SPDX-License-Identifier: Apache-2.0
// Reads the sources of settings and merges them into one set of values.
#include "config/settings.hpp"
#include "config/toml.hpp"
#include "config/value.hpp"

#include "base/error.hpp"
#include "config/load.hpp"
#include "os/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace weft::inline v0 {
namespace rt {

namespace {

using std::string;
using std::string_view;

struct assignment {
  std::size_t row;
  string text;
  string origin;
};

/// Lists variables that start with WEFT_ and are no settings.
constexpr string_view k_other_variables[] = {
    "WEFT_CONFIG",
#if defined(WEFT_MUTANTS)
    "WEFT_MUTANT",
#endif
};

string did_you_mean(string_view near) {
  return near.empty() ? "; `weft config` lists all" : "; did you mean '" + string(near) + "'?";
}

void warn_of_former_name(const string &former, const string &now, loaded_settings &out) {
  out.warnings.push_back(former + " is called " + now +
                         " now; the former name will be refused from version 1.0 on");
}

std::size_t require_setting(string_view key, const string &origin, loaded_settings &out) {
  const auto row = find_setting(key);
  if (row == k_setting_count)
    throw_bad_setting("unknown setting '" + string(key) + "' (from " + origin + ")" +
                      did_you_mean(nearest_key(key)));
  if (key != setting_table()[row].key)
    warn_of_former_name("setting " + string(key) + " (from " + origin + ")",
                        setting_table()[row].key, out);
  return row;
}

string refusal(const assignment &given) {
  const auto &info = setting_table()[given.row];
  string what = string("setting ") + info.key + " cannot be '" + given.text + "' (from " +
                given.origin + "): it must be " + describe_allowed(info);
  if (info.type == setting_type::choice)
    if (const auto near = nearest(given.text, split_choices(info.choices)); !near.empty())
      what += did_you_mean(near);
  return what;
}

void assign(loaded_settings &out, const std::vector<assignment> &source) {
  for (const auto &a : source) {
    if (!set_setting(out.values, a.row, a.text))
      throw_bad_setting(refusal(a));
    out.origin[a.row] = a.origin;
  }
}

/// Returns the first variable of that name, as getenv() finds it; nullptr if there is none or it is
/// empty.
const string *variable(const settings_input &input, string_view name) {
  const auto found = std::find_if(input.environment.begin(), input.environment.end(),
                                  [&](const key_value &v) { return v.first == name; });
  return found == input.environment.end() || found->second.empty() ? nullptr : &found->second;
}

// A hundred times the size of a file of all settings with their comments.
constexpr std::size_t k_longest_settings = 1 << 20;

struct settings_file {
  string path;
  bool required = false; ///< the user named it
};

settings_file choose_file(const settings_input &input) {
  for (const auto &[name, value] : input.environment)
    if (name == "WEFT_CONFIG") // set and empty: no file at all
      return {value, true};
  if (const auto *folder = variable(input, "XDG_CONFIG_HOME");
      folder != nullptr && folder->front() == '/')
    return {*folder + "/weft/weft.toml"};
  if (const auto *home = variable(input, "HOME"))
    return {*home + "/.config/weft/weft.toml"};
  return {};
}

std::vector<assignment> from_file(const settings_input &input, loaded_settings &out) {
  const auto [path, required] = choose_file(input);
  if (path.empty())
    return {};
  const auto text = read_file(input.root + path, k_longest_settings);
  if (!text) {
    if (required)
      throw_bad_setting("WEFT_CONFIG names the file '" + path +
                        "', which cannot be read: " + std::strerror(errno));
    if (errno != ENOENT && errno != ENOTDIR)
      out.warnings.push_back("the settings in '" + path +
                             "' are not used: " + std::strerror(errno));
    return {};
  }
  out.file = path;
  std::vector<assignment> source;
  for (auto &entry : parse_toml(*text, path)) {
    const string origin = "file " + path + ":" + std::to_string(entry.line);
    source.push_back({require_setting(entry.key, origin, out), std::move(entry.text), origin});
  }
  return source;
}

/// Reads OpenMP's variable of that meaning. A value that Weft cannot use is reported, not refused,
/// because the user may have written it for another runtime.
void add_alias(const settings_input &input, std::size_t row, std::vector<assignment> &source,
               loaded_settings &out) {
  const char *alias = setting_table()[row].alias;
  const auto *value = alias != nullptr && input.openmp_aliases ? variable(input, alias) : nullptr;
  if (value == nullptr)
    return;
  assignment a{row, *value, string("environment ") + alias};
  settings scratch;
  if (set_setting(scratch, row, a.text))
    source.push_back(std::move(a));
  else
    out.warnings.push_back(refusal(a) + "; it is ignored");
}

/// Reads the setting's variable of an earlier version, if it is set; returns false otherwise.
bool add_former_variable(const settings_input &input, std::size_t row,
                         std::vector<assignment> &source, loaded_settings &out) {
  for (const auto &[former, now] : former_keys()) {
    const auto name = environment_name(former);
    const auto *value =
        setting_table()[row].key == string_view(now) ? variable(input, name) : nullptr;
    if (value == nullptr)
      continue;
    warn_of_former_name("the environment variable " + name, setting_table()[row].environment, out);
    source.push_back({row, *value, "environment " + name});
    return true;
  }
  return false;
}

std::vector<assignment> from_environment(const settings_input &input, loaded_settings &out) {
  std::vector<assignment> source;
  for (std::size_t row = 0; row < k_setting_count; ++row) {
    const auto &name = setting_table()[row].environment;
    if (const auto *value = variable(input, name))
      source.push_back({row, *value, "environment " + name});
    else if (!add_former_variable(input, row, source, out))
      add_alias(input, row, source, out);
  }
  return source;
}

void report_unknown_variables(const settings_input &input, loaded_settings &out) {
  std::vector<string_view> known(std::begin(k_other_variables), std::end(k_other_variables));
  for (const auto &info : setting_table())
    known.push_back(info.environment);
  std::vector<string> former;
  for (const auto &one : former_keys())
    former.push_back(environment_name(one.former));
  for (const auto &[name, value] : input.environment)
    if (name.starts_with("WEFT_") && std::find(known.begin(), known.end(), name) == known.end() &&
        std::find(former.begin(), former.end(), name) == former.end())
      out.warnings.push_back("the environment variable " + name + " is no setting of Weft" +
                             did_you_mean(nearest(name, known)));
}

std::vector<assignment> from_overrides(const settings_input &input, loaded_settings &out) {
  std::vector<assignment> source;
  for (const auto &[key, value] : input.overrides)
    source.push_back({require_setting(key, input.overriding, out), value, input.overriding});
  return source;
}

/// Applies the preset. It is itself a setting: the last source that names a preset chooses it.
std::vector<assignment>
from_preset(std::initializer_list<const std::vector<assignment> *> sources) {
  constexpr auto k_row = static_cast<std::size_t>(setting_index::preset);
  loaded_settings chosen;
  for (const auto *source : sources)
    for (const auto &a : *source)
      if (a.row == k_row)
        assign(chosen, {a});
  const string name = setting_text(chosen.values, k_row);
  std::vector<assignment> out;
  for (const auto &row : preset_table())
    if (row.preset == name)
      out.push_back({find_setting(row.key), row.value, "preset " + name});
  return out;
}

/// Applies what one setting implies for another. If the user chose another value, the two
/// contradict each other, and only the user can resolve that.
void imply(loaded_settings &out, setting_index by, setting_index index, const char *value) {
  const auto cause = static_cast<std::size_t>(by), row = static_cast<std::size_t>(index);
  string &origin = out.origin[row];
  const auto &info = setting_table()[row];
  const bool chosen = origin != "default" &&
                      !(info.alias != nullptr && origin == string("environment ") + info.alias);
  const string key = setting_table()[cause].key;
  if (const string now = setting_text(out.values, row); chosen && now != value)
    throw_bad_setting("setting " + key + " = " + setting_text(out.values, cause) + " (from " +
                      out.origin[cause] + ") goes with " + info.key + " = " + value +
                      " only, which is '" + now + "' (from " + origin + "); leave one of them out");
  assign(out, {{row, value, chosen ? origin : "setting " + key}});
}

void imply_all(loaded_settings &out) {
  if (out.values.sched_seed != 0)
    imply(out, setting_index::sched_seed, setting_index::sched_policy, "seeded");
  if (out.values.sched_policy != policy_kind::seeded)
    return;
  imply(out, setting_index::sched_policy, setting_index::workers, "1");
  // A successor is one more ready task to choose from; a spare would run tasks beside the worker when the
  // clock says so.
  for (const auto index :
       {setting_index::sched_immediate_successor, setting_index::watch_max_spares})
    if (out.origin[static_cast<std::size_t>(index)] == "default")
      imply(out, setting_index::sched_policy, index, "0");
}

} // namespace

loaded_settings load_settings(const settings_input &input) {
  loaded_settings out;
  out.origin.fill("default");
  const auto file = from_file(input, out);
  const auto environment = from_environment(input, out);
  const auto api = from_overrides(input, out);
  assign(out, file);
  assign(out, from_preset({&file, &environment, &api}));
  assign(out, environment);
  assign(out, api);
  imply_all(out);
  report_unknown_variables(input, out);
  return out;
}

} // namespace rt
} // namespace weft::inline v0
