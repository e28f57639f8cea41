#include "cli/completion_command.h"

#include <CLI/CLI.hpp>
#include <format>
#include <functional>
#include <memory>
#include <print>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/exit_code.h"
#include "parity/error.h"

namespace parity {
namespace {

struct Flag {
  std::string name;  // "--atol"
  std::string help;
  bool takes_value;
};

struct Command {
  std::string name;  // "validate"; "runtime add" for one within another
  std::string help;
  std::vector<Flag> flags;
  std::vector<Command> commands;
};

// The visible subcommands with their long flags.
std::vector<Command> CommandsOf(const CLI::App& app,
                                const std::string& prefix = "") {
  std::vector<Command> commands;
  for (const CLI::App* command :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    const std::string name = prefix + command->get_name();
    Command next{.name = name,
                 .help = command->get_description(),
                 .flags = {},
                 .commands = CommandsOf(*command, name + " ")};
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& long_name : option->get_lnames()) {
        next.flags.push_back(
            {.name = "--" + long_name,
             .help = option->get_description(),
             .takes_value = option->get_items_expected_max() > 0});
      }
    }
    commands.push_back(std::move(next));
  }
  return commands;
}

std::string_view LastWord(std::string_view name) {
  return name.substr(name.rfind(' ') + 1);
}

std::string FlagNames(const Command& command) {
  std::string names;
  for (const Flag& flag : command.flags)
    names += (names.empty() ? "" : " ") + flag.name;
  return names;
}

std::string CommandNames(const std::vector<Command>& commands) {
  std::string names;
  for (const Command& command : commands) {
    names += names.empty() ? "" : " ";
    names += LastWord(command.name);
  }
  return names;
}

// What is behind a command: the name of one within it, or flags.
std::string BashCases(const std::vector<Command>& commands) {
  std::string cases;
  for (const Command& command : commands) {
    if (command.commands.empty()) {
      cases += std::format("    \"{}\") flags=\"{}\" ;;\n", command.name,
                           FlagNames(command));
      continue;
    }
    for (const Command& inner : command.commands) cases += BashCases({inner});
    cases += std::format(
        "    \"{} \"*) COMPREPLY=($(compgen -W \"{}\" -- \"$word\")); return "
        ";;\n",
        command.name, CommandNames(command.commands));
  }
  return cases;
}

// The names of those that have others within them, as a shell pattern.
std::string OuterNames(const std::vector<Command>& commands) {
  std::string names;
  for (const Command& command : commands) {
    if (!command.commands.empty())
      names += (names.empty() ? "" : "|") + command.name;
  }
  return names;
}

std::string Bash(const std::vector<Command>& commands) {
  return std::format(
      "# bash completion for onnx-parity\n"
      "_onnx_parity() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} flags=\"--help --version\"\n"
      "  local command=${{COMP_WORDS[1]}}\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"{} $flags\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $command in\n"
      "    {}) if [ \"$COMP_CWORD\" -gt 2 ]; then command+=\" "
      "${{COMP_WORDS[2]}}\"; else command+=\" \"; fi ;;\n"
      "  esac\n"
      "  case $command in\n{}"
      "  esac\n"
      "  case $word in\n"
      "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n"
      "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
      "  esac\n"
      "}}\n"
      "complete -o filenames -F _onnx_parity onnx-parity\n",
      CommandNames(commands), OuterNames(commands), BashCases(commands));
}

// Within a single-quoted shell word, inside _arguments' brackets.
std::string ZshQuoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted;
}

// What completes the words behind one command, whose name is words[1] there.
std::string ZshCase(const Command& command) {
  std::string text =
      std::format("    {})\n      _arguments \\\n", LastWord(command.name));
  for (const Flag& flag : command.flags) {
    text +=
        std::format("        '*{}[{}]{}' \\\n", flag.name, ZshQuoted(flag.help),
                    flag.takes_value ? ":value:_files" : "");
  }
  return text + "        '*:file:_files' ;;\n";
}

std::string ZshFunction(std::string_view function,
                        const std::vector<Command>& commands) {
  std::string names;
  std::string cases;
  std::string inner_functions;
  for (const Command& command : commands) {
    names += std::format("    '{}:{}'\n", LastWord(command.name),
                         ZshQuoted(command.help));
    if (command.commands.empty()) {
      cases += ZshCase(command);
      continue;
    }
    const std::string inner =
        std::format("{}_{}", function, LastWord(command.name));
    inner_functions += ZshFunction(inner, command.commands);
    cases += std::format("    {}) {} ;;\n", LastWord(command.name), inner);
  }
  return std::format(
      "{}{}() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n{}  esac\n"
      "}}\n",
      inner_functions, function, names, cases);
}

std::string Zsh(const std::vector<Command>& commands) {
  return std::format("#compdef onnx-parity\n{}_onnx_parity \"$@\"\n",
                     ZshFunction("_onnx_parity", commands));
}

std::string FishQuoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

std::string FishFlags(const Command& command, std::string_view condition) {
  std::string text;
  for (const Flag& flag : command.flags) {
    text += std::format("complete -c onnx-parity -n '{}' -l {}{} -d '{}'\n",
                        condition, std::string_view(flag.name).substr(2),
                        flag.takes_value ? " -r" : "", FishQuoted(flag.help));
  }
  return text;
}

std::string Fish(const std::vector<Command>& commands) {
  std::string text = "# fish completion for onnx-parity\n";
  for (const Command& command : commands) {
    text += std::format(
        "complete -c onnx-parity -n __fish_use_subcommand -f -a {} -d '{}'\n",
        command.name, FishQuoted(command.help));
    const std::string seen =
        std::format("__fish_seen_subcommand_from {}", command.name);
    text += FishFlags(command, seen);
    for (const Command& inner : command.commands) {
      text += std::format(
          "complete -c onnx-parity -n '{}; and not __fish_seen_subcommand_from "
          "{}' -f -a {} -d '{}'\n",
          seen, CommandNames(command.commands), LastWord(inner.name),
          FishQuoted(inner.help));
      text +=
          FishFlags(inner, std::format("{}; and __fish_seen_subcommand_from {}",
                                       seen, LastWord(inner.name)));
    }
  }
  return text;
}

// Text for troff: backslashes and hyphens escaped, no line may begin with a
// control character.
std::string Troff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      if ((c == '.' || c == '\'') &&
          (escaped.empty() || escaped.back() == '\n'))
        escaped += "\\&";
      escaped += c;
    }
  }
  return escaped;
}

std::string ManualOptions(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    const std::string type =
        option->get_items_expected_max() > 0
            ? " \\fI" + Troff(option->get_type_name()) + "\\fR"
            : "";
    const std::string name =
        option->get_positional()
            ? "\\fI" + Troff(option->get_type_name()) + "\\fR"
            : "\\fB" + Troff(option->get_name()) + "\\fR" + type;
    const std::string standard =
        option->get_default_str().empty()
            ? ""
            : std::format(" (default {})", option->get_default_str());
    text += std::format(".TP\n{}\n{}{}\n", name,
                        Troff(option->get_description()), Troff(standard));
  }
  return text;
}

// The commands that are run, those within others in their place.
struct ManualCommand {
  std::string name;
  const CLI::App* app;
};

std::vector<ManualCommand> ManualCommands(const CLI::App& app,
                                          const std::string& prefix = "") {
  std::vector<ManualCommand> commands;
  for (const CLI::App* command : app.get_subcommands(
           [](const CLI::App* each) { return !each->get_group().empty(); })) {
    const std::string name = prefix + command->get_name();
    const std::vector<ManualCommand> inner =
        ManualCommands(*command, name + " ");
    if (inner.empty()) {
      commands.push_back({.name = name, .app = command});
    } else {
      commands.insert(commands.end(), inner.begin(), inner.end());
    }
  }
  return commands;
}

std::string Manual(const CLI::App& app) {
  std::string text =
      ".TH ONNX\\-PARITY 1\n.SH NAME\nonnx\\-parity \\- does this ONNX file "
      "compute what its PyTorch original computes?\n.SH SYNOPSIS\n";
  const std::vector<ManualCommand> commands = ManualCommands(app);
  for (const ManualCommand& command : commands)
    text += std::format(".B onnx\\-parity {}\n[options]\n.br\n", command.name);
  text += ".SH DESCRIPTION\n" + Troff(app.get_description()) + "\n";
  for (const ManualCommand& command : commands) {
    text += std::format(".SH \"ONNX\\-PARITY {}\"\n{}.\n", command.name,
                        Troff(command.app->get_description()));
    text += ManualOptions(*command.app);
  }
  text += ".SH EXIT STATUS\n" + Troff(app.get_footer()) + "\n";
  return text;
}

}  // namespace

void AddCompletionCommand(CLI::App& app,
                          std::function<Result<ExitCode>()>& run) {
  CLI::App* const command = app.add_subcommand(
      "completion", "Print the completion script of a shell");
  const auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("SHELL");
  command->callback([shell, &app, &run] {
    run = [shell, &app]() -> Result<ExitCode> {
      const std::vector<Command> commands = CommandsOf(app);
      std::print("{}", *shell == "bash"  ? Bash(commands)
                       : *shell == "zsh" ? Zsh(commands)
                                         : Fish(commands));
      return ExitCode::kPassed;
    };
  });
}

void AddManualCommand(CLI::App& app, std::function<Result<ExitCode>()>& run) {
  CLI::App* const command =
      app.add_subcommand("manual", "Print the man page")->group("");
  command->callback([&app, &run] {
    run = [&app]() -> Result<ExitCode> {
      std::print("{}", Manual(app));
      return ExitCode::kPassed;
    };
  });
}

}  // namespace parity
