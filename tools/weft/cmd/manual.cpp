// SPDX-License-Identifier: Apache-2.0
// The manual pages and the completions of shells, from the tables of commands and of settings.
#include "tools/weft/commands.hpp"
#include "tools/weft/support/text.hpp"

#include "config/settings.hpp"
#include "config/value.hpp"

#include <weft/version.hpp>

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace weft_tool {

using weft::rt::setting_table;

const char k_completion_help[] =
    "usage: weft completion bash|zsh|fish\n"
    "\n"
    "Prints what makes a shell complete the words of this command. Packages install it; elsewhere: `source <(weft completion bash)`.\n"
    "Exit status: 2 for another shell.\n";

namespace {

/// Returns the option that begins at `at`: "--every"; "" where there is none.
std::string option_at(const std::string &text, std::size_t at) {
  const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '[' || text[at - 1] == '\n';
  if (!begins || text[at] != '-')
    return "";
  std::size_t end = at;
  while (end < text.size() &&
         (std::islower(static_cast<unsigned char>(text[end])) || text[end] == '-'))
    ++end;
  const std::string word = text.substr(at, end - at);
  const bool is_long = word.starts_with("--") && word.size() > 3 && word[2] != '-';
  const bool is_short = word.size() == 2 && word[1] != '-';
  return (is_long || is_short) && word.back() != '-' ? word : "";
}

/// Returns the options that the help of a command names, in their order.
std::vector<std::string> options_in(const std::string &help) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < help.size(); ++at)
    if (std::string option = option_at(help, at);
        !option.empty() && std::find(found.begin(), found.end(), option) == found.end())
      found.push_back(std::move(option));
  return found;
}

/// Returns the text for troff: no character of it is a request or an escape.
std::string troff(const std::string &text) {
  std::string out;
  for (const char c : text)
    switch (c) {
    case '\\':
      out += "\\e";
      break;
    case '-':
      out += "\\-";
      break;
    case '\'':
      out += "\\(aq";
      break;
    case '`':
      out += "\\(ga";
      break;
    case '^':
      out += "\\(ha";
      break;
    case '~':
      out += "\\(ti";
      break;
    default:
      out += c;
    }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Prints the help of a command: the usage as it is, items as such, the rest as paragraphs.
void print_troff(const std::string &help) {
  bool in_usage = true, in_item = false;
  std::puts(".nf");
  for (const std::string &line : lines_of(help)) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string words = line.substr(indent);
    if (in_usage) {
      if (!words.empty()) {
        std::puts(troff(words.starts_with("usage: ") ? words.substr(7) : words).c_str());
        continue;
      }
      in_usage = false;
      std::puts(".fi\n.PP");
    } else if (indent == 2) {
      const std::size_t gap = words.find("  ");
      const std::size_t end = gap != std::string::npos         ? gap
                              : words.find(' ') < words.size() ? words.find(' ')
                                                               : words.size();
      const std::size_t text = std::min(words.find_first_not_of(' ', end), words.size());
      std::printf(".TP\n.B \"%s\"\n%s\n", troff(words.substr(0, end)).c_str(),
                  troff(words.substr(text)).c_str());
      in_item = true;
    } else {
      if (indent == 0 && in_item)
        std::puts(".PP");
      in_item = in_item && indent > 0;
      std::puts(troff(words).c_str());
    }
  }
  if (in_usage)
    std::puts(".fi");
}

void print_head(const char *title, const char *section, const char *name, const char *what) {
  std::printf(".\\\" Printed by `weft help --man`.\n.TH %s %s \"\" \"weft %s\" \"Weft\"\n"
              ".SH NAME\n%s \\- %s\n",
              title, section, WEFT_VERSION_STRING, name, what);
}

void print_commands_page() {
  print_head("WEFT", "1", "weft", "run programs on Weft, look into them, and change them");
  std::puts(".SH SYNOPSIS\n.B weft\n.I COMMAND\n[\\fIARGUMENTS\\fP]\n.SH COMMANDS");
  for (const command_row &row : command_rows()) {
    std::printf(".SS \"weft %s\"\n%s.\n.PP\n", row.name, troff(row.summary).c_str());
    print_troff(row.help);
  }
  std::puts(".SH ENVIRONMENT\n"
            "Each setting has a variable, see\n.BR weft\\-settings (5).\n.SH FILES\n"
            ".TP\n.I ~/.config/weft/weft.toml\nsettings\n"
            ".TP\n.IR $XDG_RUNTIME_DIR/weft ,\\  /dev/shm/weft\\-UID\n"
            "counters of the programs of this user; no other user can enter the folder\n"
            ".SH SEE ALSO\n.BR weft\\-settings (5)");
}

void print_settings_page() {
  print_head("WEFT\\-SETTINGS", "5", "weft-settings", "settings of programs that run on Weft");
  std::puts(".SH DESCRIPTION\nA later source wins: the defaults, the file\n"
            ".I weft.toml\n(WEFT_CONFIG names it; else it is in\n.IR ~/.config/weft ),\n"
            "the preset, the environment, the program. "
            "\\(gaweft config\\(ga prints what holds.\n.SH SETTINGS");
  for (const auto &info : setting_table())
    std::printf(".TP\n.B \"%s\"\n%s.\n.br\nAllowed: %s; default: %s; variable: %s.\n",
                troff(info.key).c_str(), troff(info.doc).c_str(),
                troff(weft::rt::describe_allowed(info)).c_str(), troff(info.default_text).c_str(),
                troff(info.environment).c_str());
  std::puts(".SH SEE ALSO\n.BR weft (1)");
}

std::string joined(const std::vector<std::string> &words) {
  std::string all;
  for (const std::string &word : words)
    all += (all.empty() ? "" : " ") + word;
  return all;
}

/// Returns the words, without an option, that may follow a command: names of commands, of shells, of
/// parts of a command. The others are files or processes.
std::string words_after(const std::string &name) {
  std::string words;
  if (name == "help")
    for (const command_row &row : command_rows())
      words += std::string(words.empty() ? "" : " ") + row.name;
  if (name == "completion")
    return "bash zsh fish";
  if (name == "trace")
    return "info check export cut";
  return words;
}

std::string all_commands() {
  std::vector<std::string> names;
  for (const command_row &row : command_rows())
    names.emplace_back(row.name);
  return joined(names);
}

std::string all_settings() {
  std::vector<std::string> keys;
  for (const auto &info : setting_table())
    keys.push_back(std::string(info.key) + "=");
  return joined(keys);
}

void print_bash() {
  std::puts(
      "# Completion of bash for weft. Printed by `weft completion bash`.\n"
      "_weft() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options= words=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$before\" = --set ]; then");
  std::printf("    COMPREPLY=($(compgen -W '%s' -- \"$word\"))\n", all_settings().c_str());
  std::puts("    compopt -o nospace\n    return\n  fi\n"
            "  if [ \"$COMP_CWORD\" = 1 ]; then");
  std::printf(
      "    COMPREPLY=($(compgen -W '%s --version --help' -- \"$word\"))\n    return\n  fi\n",
      all_commands().c_str());
  std::puts("  case ${COMP_WORDS[1]} in");
  for (const command_row &row : command_rows())
    std::printf("  %s) options='%s' words='%s' ;;\n", row.name,
                joined(options_in(row.help)).c_str(), words_after(row.name).c_str());
  std::puts("  esac\n"
            "  case $word in\n"
            "  -*) COMPREPLY=($(compgen -W \"$options --help\" -- \"$word\")) ;;\n"
            "  *)\n"
            "    if [ -n \"$words\" ] && [ \"$COMP_CWORD\" = 2 ]; then\n"
            "      COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
            "    else\n"
            "      mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n" // names may have spaces
            "      compopt -o filenames\n"
            "    fi ;;\n"
            "  esac\n"
            "}\n"
            "complete -F _weft weft");
}

void print_zsh() {
  std::puts("#compdef weft\n# Completion of zsh for weft. Printed by `weft completion zsh`.\n"
            "_weft() {\n"
            "  local -a commands options after\n"
            "  if [[ ${words[CURRENT-1]} == --set ]]; then");
  std::printf("    compadd -S '' -- %s\n", all_settings().c_str());
  std::puts("    return\n  fi\n"
            "  if (( CURRENT == 2 )); then\n"
            "    commands=(");
  for (const command_row &row : command_rows())
    std::printf("      %s\n", shell_quoted(std::string(row.name) + ":" + row.summary, "'\\''").c_str());
  std::puts("    )\n"
            "    _describe command commands\n"
            "    compadd -- --version --help\n"
            "    return\n"
            "  fi\n"
            "  case ${words[2]} in");
  for (const command_row &row : command_rows())
    std::printf("  %s) options=(%s) after=(%s) ;;\n", row.name,
                joined(options_in(row.help)).c_str(), words_after(row.name).c_str());
  std::puts("  esac\n"
            "  if [[ $PREFIX == -* ]]; then\n"
            "    compadd -- $options --help\n"
            "  elif (( CURRENT == 3 && $#after )); then\n"
            "    compadd -- $after\n"
            "  else\n"
            "    _files\n"
            "  fi\n"
            "}\n"
            "if [ \"${funcstack[1]}\" = _weft ]; then _weft \"$@\"; else compdef _weft weft; fi");
}

void print_fish() {
  std::puts("# Completion of fish for weft. Printed by `weft completion fish`.\n"
            "complete -c weft -n __fish_use_subcommand -l version -d 'print the version'");
  for (const command_row &row : command_rows()) {
    std::printf("complete -c weft -n __fish_use_subcommand -f -a %s -d %s\n", row.name,
                shell_quoted(row.summary, "\\'").c_str());
    const std::string condition =
        shell_quoted("__fish_seen_subcommand_from " + std::string(row.name), "\\'");
    for (const std::string &option : options_in(row.help))
      std::printf("complete -c weft -n %s %s %s%s\n", condition.c_str(),
                  option.starts_with("--") ? "-l" : "-s",
                  option.c_str() + (option.starts_with("--") ? 2 : 1),
                  option == "--set" ? (" -x -a '" + all_settings() + "'").c_str() : "");
    if (const std::string words = words_after(row.name); !words.empty())
      std::printf("complete -c weft -n %s -f -a '%s'\n", condition.c_str(), words.c_str());
  }
}

} // namespace

int print_manual(const std::string &page) {
  if (page == "weft")
    return print_commands_page(), k_ok;
  if (page == "weft-settings")
    return print_settings_page(), k_ok;
  return usage_error("there is no page '" + page + "'" +
                     suggestion(page, {"weft", "weft-settings"}));
}

int run_completion(const words &arguments) {
  if (arguments.size() != 1)
    return usage_error("completion needs the name of a shell: bash, zsh or fish");
  if (arguments[0] == "bash")
    return print_bash(), k_ok;
  if (arguments[0] == "zsh")
    return print_zsh(), k_ok;
  if (arguments[0] == "fish")
    return print_fish(), k_ok;
  return usage_error("completion does not know the shell '" + arguments[0] + "'" +
                     suggestion(arguments[0], {"bash", "zsh", "fish"}));
}

} // namespace weft_tool
