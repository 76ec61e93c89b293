//! Help derived from the list of commands: the first screen, the manual pages, the completions and
//! docs/commands.md.

use lore::pages;

use super::command::Command;
use super::flag::{Flag, Kind};
use super::parser::Matches;
use super::{COMMANDS, Exit, Failure, GROUPS, Globals, output, parser};

/// Heading of the options that every command accepts.
pub const GLOBAL: &str = "Global options";

/// Builds the template of `lore --help`: commands grouped by task, the global options once, three examples.
pub fn root() -> String {
    let mut text = "{about}\n\n{usage-heading} {usage}\n\n".to_owned();
    for (group, names) in GROUPS {
        text += &format!("{group}:\n");
        for command in grouped(names) {
            text += &format!("  {:<15}{}\n", command.name, command.about);
        }
        text.push('\n');
    }
    format!("{text}{GLOBAL}:\n{{options}}{{after-help}}")
}

fn grouped(names: &[&str]) -> impl Iterator<Item = &'static Command> {
    let find = |name: &&str| COMMANDS.iter().find(|command| command.name == *name);
    names.iter().filter_map(find)
}

/// Formats examples for help.
pub fn examples(examples: &[&str]) -> String {
    format!("Examples:\n  {}", examples.join("\n  "))
}

/// `lore completions`.
pub const COMPLETIONS: Command = Command::local(
    "completions",
    "Print completions for a shell",
    |matches, _| {
        let shell = matches.needed("shell").parse::<pages::Shell>();
        let shell = shell.map_err(Failure::Usage)?;
        output::write(&pages::completions(parser::whole(), shell))?;
        Ok(Exit::Good)
    },
)
.flags(&[&[Flag::positional(
    Kind::Choice(&[
        ("bash", ""),
        ("elvish", ""),
        ("fish", ""),
        ("powershell", ""),
        ("zsh", ""),
    ]),
    "shell",
    "SHELL",
    "Name of the shell",
)
.local()]])
.examples(&["lore completions bash"]);

/// `lore man`, for packages.
pub const MAN: Command = Command::local(
    "man",
    "Print the manual page of lore, or write those of all commands into a folder",
    man,
)
.details("Each command has a page of its own, such as lore-session-fork.1.")
.flags(&[&[Flag::positional(
    Kind::Path,
    "folder",
    "FOLDER",
    "The folder, which is created if it does not exist",
)
.optional()
.local()]])
.examples(&["lore man target/man"])
.hidden();

fn man(matches: &Matches, globals: &Globals) -> Result<Exit, Failure> {
    if globals.json {
        return Err(Failure::Usage(
            "manual pages are not available as JSON".to_owned(),
        ));
    }
    let command = parser::whole();
    match matches.path("folder") {
        None => output::write(&pages::manual(command)?)?,
        Some(folder) => pages::write_manuals(command, &folder)?,
    }
    Ok(Exit::Good)
}

/// Builds docs/commands.md.
#[cfg(test)]
fn markdown() -> String {
    let mut text = "# Commands\n\nThis page is for people who use `lore` in a terminal. It is made from the list of \
                    commands in client/src/cli; `lore COMMAND --help` has the flags of each.\n"
        .to_owned();
    for (group, names) in GROUPS {
        text += &format!(
            "\n## {group}\n\n| command | what it does | for example |\n| --- | --- | --- |\n"
        );
        for command in grouped(names) {
            rows(&format!("lore {}", command.name), command, &mut text);
        }
    }
    text
}

#[cfg(test)]
fn rows(line: &str, command: &Command, text: &mut String) {
    if command.commands().is_empty() {
        let example = command.examples.first().unwrap_or(&line);
        let example = example.replace('|', "\\|");
        *text += &format!("| `{line}` | {} | `{example}` |\n", command.about);
    }
    for command in command.commands() {
        rows(&format!("{line} {}", command.name), command, text);
    }
}

/// Builds the README's table: one row per command or family, by task.
#[cfg(test)]
fn readme_table() -> String {
    let mut text = "| to | run |\n| --- | --- |\n".to_owned();
    for command in GROUPS.iter().flat_map(|(_, names)| grouped(names)) {
        let about = &command.about;
        match command.commands() {
            [] => {
                let line = format!("lore {}", command.name);
                let example = command.examples.first().copied().unwrap_or(&line);
                text += &format!("| {about} | `{}` |\n", example.replace('|', "\\|"));
            }
            [first, others @ ..] => {
                text += &format!("| {about} | `lore {} {}`", command.name, first.name);
                text.extend(others.iter().map(|other| format!(", `{}`", other.name)));
                text += " |\n";
            }
        }
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use lore::protocol::hint;

    use super::super::command::Action;
    use super::*;

    /// Collects all commands at every depth, with their names.
    fn all(
        path: &[&'static str],
        commands: &'static [Command],
        into: &mut Vec<(Vec<&'static str>, &'static Command)>,
    ) {
        for command in commands {
            let path = [path, &[command.name]].concat();
            all(&path, command.commands(), into);
            into.push((path, command));
        }
    }

    fn leaves() -> Vec<(Vec<&'static str>, &'static Command)> {
        let mut leaves = Vec::new();
        all(&["lore"], COMMANDS, &mut leaves);
        leaves.retain(|(_, command)| command.commands().is_empty());
        leaves
    }

    /// Splits a line into words as a shell does.
    fn words(line: &str) -> Vec<OsString> {
        let mut words = Vec::new();
        let (mut word, mut quote, mut is_word) = (String::new(), None, false);
        for character in line.chars() {
            match (quote, character) {
                (None, ' ') => {
                    words.extend(
                        std::mem::take(&mut is_word).then(|| std::mem::take(&mut word).into()),
                    );
                }
                (None, '"' | '\'') => (quote, is_word) = (Some(character), true),
                (Some(open), _) if open == character => quote = None,
                _ => {
                    word.push(character);
                    is_word = true;
                }
            }
        }
        words.extend(is_word.then(|| word.into()));
        words
    }

    /// Every command has an example that parses as this command.
    #[test]
    fn examples_are_command_lines() {
        for (path, command) in leaves() {
            assert!(!command.examples.is_empty(), "{path:?} has no example");
            for example in command.examples {
                let matched =
                    parser::for_words(&words(example)).try_get_matches_from(words(example));
                let (selected, _, _) =
                    parser::selected(matched.unwrap_or_else(|error| panic!("{example}: {error}")));
                assert!(std::ptr::eq(selected, command), "{example} is of {path:?}");
            }
        }
        for example in super::super::LORE.examples {
            assert!(
                parser::for_words(&words(example))
                    .try_get_matches_from(words(example))
                    .is_ok(),
                "{example}"
            );
        }
    }

    /// Every command that is not hidden is in one group of the first screen.
    #[test]
    fn groups_have_every_command() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let visible = COMMANDS.iter().filter(|command| !command.is_hidden);
        let mut names: Vec<&str> = visible.map(|command| command.name).collect();
        grouped.sort_unstable();
        names.sort_unstable();
        assert_eq!(grouped, names);
    }

    #[test]
    fn the_command_line_is_well_formed() {
        parser::whole().debug_assert();
    }

    /// A misspelled command is compared with all names. Global flags are accepted after the command.
    #[test]
    fn lines_are_parsed() {
        let parse = |line: &str| parser::for_words(&words(line)).try_get_matches_from(words(line));
        let error = parse("lore stauts").unwrap_err().to_string();
        assert!(error.contains("status"), "{error}");
        let (command, _, globals) =
            parser::selected(parse("lore --socket x status --json --agent a").unwrap());
        assert_eq!(
            (command.name, globals.agent.as_deref(), globals.json),
            ("status", Some("a"), true)
        );
    }

    /// docs/commands.md matches the list; `UPDATE_DOCS=1` rewrites it.
    #[test]
    fn commands_md_is_made_from_the_list() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/commands.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, markdown()).unwrap();
        }
        let stored = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == markdown(),
            "docs/commands.md is not what the list says: run `UPDATE_DOCS=1 cargo test -p lore --bin lore` and commit it"
        );
    }

    /// The README's table of commands matches the list; `UPDATE_DOCS=1` rewrites it.
    #[test]
    fn the_table_of_the_readme_is_made_from_the_list() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
        let stored = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = stored.split_once("<!-- commands -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- /commands -->").unwrap();
        let table = readme_table();
        let expected = format!("{before}<!-- commands -->\n{table}<!-- /commands -->{after}");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &expected).unwrap();
        }
        assert!(
            std::fs::read_to_string(&path).unwrap() == expected,
            "the README's table is not what the list says: run `UPDATE_DOCS=1 cargo test -p lore --bin lore` and commit it"
        );
    }

    /// The commands and flags that hints of the daemon name exist, and the commands call the operations of the hints.
    #[test]
    fn hints_name_commands_and_flags() {
        let leaves = leaves();
        for tool in hint::Tool::ALL {
            let line = tool.command();
            if let Some(operation) = line.strip_prefix("lore call ") {
                assert_eq!(operation, tool.operation());
                continue;
            }
            let path: Vec<&str> = line.split(' ').collect();
            let (_, command) = leaves
                .iter()
                .find(|(known, _)| *known == path)
                .unwrap_or_else(|| panic!("no command `{line}`"));
            if let Action::Call(operation) = &command.action {
                assert_eq!(operation.name, tool.operation(), "{line}");
            }
        }
        for (argument, flag) in hint::flags() {
            let name = flag.trim_start_matches('-');
            let is_global = parser::whole()
                .get_arguments()
                .any(|it| it.get_long() == Some(name));
            let is_flag = |it: &Flag| it.name == name && it.argument_name() == *argument;
            let is_own = leaves
                .iter()
                .any(|(_, command)| command.all_flags().any(is_flag));
            let is_local = leaves
                .iter()
                .any(|(_, command)| command.all_flags().any(|it| it.name == name));
            assert!(
                is_own || is_global || is_local,
                "no flag {flag} for `{argument}`"
            );
        }
    }

    /// The operations and arguments of all commands are in docs/operations.md, which is generated from the daemon's
    /// table.
    #[test]
    fn operations_and_arguments_exist() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations.md");
        let page = std::fs::read_to_string(page).unwrap();
        for (path, command) in leaves() {
            let Action::Call(operation) = &command.action else {
                continue;
            };
            let section = page.split("\n## ").find_map(|section| {
                let (name, text) = section.split_once('\n')?;
                (name == operation.name).then_some(text)
            });
            let section =
                section.unwrap_or_else(|| panic!("{path:?}: no operation {}", operation.name));
            for flag in command.all_flags().filter(|flag| !flag.argument.is_empty()) {
                let argument = flag.argument_name();
                let is_there = [format!("`{argument}`"), format!("`{argument}?`")]
                    .iter()
                    .any(|name| section.contains(name));
                assert!(
                    is_there,
                    "{path:?}: {} takes no `{argument}`",
                    operation.name
                );
            }
        }
    }

    /// The command lines in the README and in docs/ name existing commands.
    #[test]
    fn documented_commands_exist() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let pages = std::fs::read_dir(root.join("docs")).unwrap();
        let pages = pages.map(|page| page.unwrap().path());
        let pages = pages.filter(|page| page.extension().is_some_and(|it| it == "md"));
        for page in pages.chain([root.join("README.md")]) {
            let text = std::fs::read_to_string(&page).unwrap();
            let quoted = text.split('`').filter(|part| !part.contains('\n'));
            let fenced = text.split("```").skip(1).step_by(2).flat_map(str::lines);
            let lines = quoted
                .chain(fenced)
                .map(|line| line.trim_start_matches("$ "));
            for line in lines.filter(|line| line.starts_with("lore ")) {
                check(line, &page);
            }
        }
    }

    fn check(line: &str, page: &Path) {
        let mut commands = COMMANDS;
        let mut words = line.split_whitespace().skip(1);
        while let Some(word) = words.next() {
            if commands.is_empty()
                || !word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '-')
            {
                return;
            }
            if ["--agent", "--session", "--socket"].contains(&word) {
                words.next();
            } else if !word.starts_with('-')
                && word.chars().all(|it| it.is_ascii_lowercase() || it == '-')
            {
                let found = commands.iter().find(|command| command.name == word);
                let found = found.unwrap_or_else(|| {
                    panic!("{}: no command `{word}` in `{line}`", page.display())
                });
                commands = found.commands();
            }
        }
    }
}
