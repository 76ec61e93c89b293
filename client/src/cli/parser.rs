//! The command line parser, built from the list of commands. Only the requested command is built, because
//! building all of them would take as long as a call.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, ValueHint};

use super::command::Command;
use super::flag::{Fields, Flag, Kind};
use super::{COMMANDS, Failure, Globals, help, mcp};

/// Options that every command accepts, as they are matched.
const GLOBALS: [Flag; 4] = [
    Flag::text(
        "agent",
        "NAME",
        "Name of the calling agent [environment: LORE_AGENT]",
    ),
    Flag::text(
        "session",
        "ID",
        "Session to work in, which exists [environment: LORE_SESSION, which may be new]",
    ),
    Flag::of(
        Kind::Path,
        "socket",
        "PATH",
        "Socket of the daemon [environment: LORE_SOCKET]",
    ),
    Flag::switch("json", "Print the reply as JSON"),
];

/// Arguments of one command.
#[derive(Debug)]
pub struct Matches {
    flags: Vec<&'static Flag>,
    matches: ArgMatches,
}

impl Matches {
    /// Returns whether a switch is set.
    pub fn is(&self, name: &str) -> bool {
        self.matches.get_flag(name)
    }

    /// Returns the text of a flag, or its default.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.matches.get_one::<String>(name).map(String::as_str)
    }

    /// Returns the text of a flag that the parser requires.
    pub fn needed(&self, name: &str) -> &str {
        self.text(name).unwrap_or_default()
    }

    /// Returns all texts of a repeatable flag.
    pub fn texts(&self, name: &str) -> Vec<&str> {
        let texts = self.matches.get_many::<String>(name);
        texts.into_iter().flatten().map(String::as_str).collect()
    }

    /// Returns the number of a flag.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.matches.get_one(name).copied()
    }

    /// Returns the path of a flag.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.matches.get_one::<OsString>(name).map(PathBuf::from)
    }

    /// Returns all remaining words, for another program.
    pub fn rest(&self, name: &str) -> Vec<OsString> {
        let words = self.matches.get_many::<OsString>(name);
        words.into_iter().flatten().cloned().collect()
    }

    /// Builds the operation arguments from the flags.
    pub fn fields(&self) -> Result<Fields, Failure> {
        self.fields_without("")
    }

    /// Builds the operation arguments from the flags, except the flag `name`.
    pub fn fields_without(&self, name: &str) -> Result<Fields, Failure> {
        let mut fields = Fields::default();
        for flag in &self.flags {
            if !flag.argument.is_empty() && flag.name != name {
                self.put(flag, &mut fields)?;
            }
        }
        Ok(fields)
    }

    fn put(&self, flag: &Flag, fields: &mut Fields) -> Result<(), Failure> {
        let name = flag.name;
        match flag.kind {
            Kind::Switch if self.is(name) => flag.put(&true, fields),
            Kind::Word(word) if self.is(name) => flag.put(word, fields),
            Kind::Switch | Kind::Word(_) => Ok(()),
            Kind::Number => flag.put_some(self.number(name).as_ref(), fields),
            Kind::Bool => flag.put_some(self.matches.get_one::<bool>(name), fields),
            Kind::Texts | Kind::Words | Kind::Commas | Kind::Choices(_) | Kind::Preferences => {
                match self.texts(name).as_slice() {
                    [] => Ok(()),
                    texts => flag.put_all(texts, fields),
                }
            }
            Kind::Text
            | Kind::TextOrInput
            | Kind::Choice(_)
            | Kind::Moment
            | Kind::Session
            | Kind::Checkpoint
            | Kind::Object => self
                .text(name)
                .map_or(Ok(()), |text| flag.put_one(text, fields)),
            // The command reads these itself.
            Kind::Path | Kind::FolderOrHere | Kind::Rest | Kind::Tools => Ok(()),
        }
    }
}

/// Parses the command line. Usage errors, help and the version end the process here.
pub fn parse() -> (&'static Command, Matches, Globals) {
    let words = help_words(std::env::args_os().collect());
    let matches = for_words(&words).try_get_matches_from(words);
    let matches = matches.unwrap_or_else(|error| error.exit());
    selected(matches)
}

/// Converts `lore help COMMAND…` to `lore COMMAND… --help`, and `lore help` to `lore --help`.
fn help_words(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// Returns the requested command with the global options, which may stand before or after it.
pub fn selected(mut matches: ArgMatches) -> (&'static Command, Matches, Globals) {
    let mut globals = Globals::default();
    let mut command = &super::LORE;
    loop {
        globals.add(command, &mut matches);
        let Some((name, below)) = matches.remove_subcommand() else {
            break;
        };
        command = find(command.commands(), OsStr::new(&name)).unwrap_or(command);
        matches = below;
    }
    let flags = command.all_flags().collect();
    (command, Matches { flags, matches }, globals)
}

impl Globals {
    /// Adds the global options of one level, unless the command has a flag of the same name.
    fn add(&mut self, command: &Command, matches: &mut ArgMatches) {
        let own = |name: &str| command.all_flags().any(|flag| flag.name == name);
        let mut text = |name: &str| match own(name) {
            true => None,
            false => matches.remove_one::<String>(name),
        };
        let (agent, session) = (text("agent"), text("session"));
        self.agent = agent.or(self.agent.take());
        self.session = session.or(self.session.take());
        let socket = matches.remove_one::<OsString>("socket");
        self.socket = socket.map(PathBuf::from).or(self.socket.take());
        self.json |= matches.get_flag("json");
    }
}

/// Builds the parser for these words, the first of which is the program: only the named command, or else all
/// names.
pub fn for_words(words: &[OsString]) -> clap::Command {
    let mut path = Vec::new();
    let mut commands = COMMANDS;
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        if ["--agent", "--session", "--socket"].contains(&&*text) {
            words.next();
        } else if !text.starts_with('-') {
            let Some(command) = find(commands, word) else {
                break;
            };
            path.push(command);
            commands = command.commands();
            if commands.is_empty() {
                break;
            }
        }
    }
    build(&super::LORE, &path, false)
}

/// Builds the parser of all commands, for completions and manual pages.
pub fn whole() -> clap::Command {
    build(&super::LORE, &[], true)
}

fn find(commands: &'static [Command], name: &OsStr) -> Option<&'static Command> {
    commands
        .iter()
        .find(|command| OsStr::new(command.name) == name)
}

/// Builds a command with its flags and subcommands: the next command of `path`, or else all of them. Without
/// `is_whole`, those contain only their names.
fn build(command: &Command, path: &[&'static Command], is_whole: bool) -> clap::Command {
    let mut built = with_flags(command, named(command));
    let commands = command.commands();
    if !commands.is_empty() {
        built = built.subcommand_required(true).arg_required_else_help(true);
    }
    match path.split_first() {
        Some((next, path)) => built.subcommand(build(next, path, is_whole)),
        None if is_whole => {
            built.subcommands(commands.iter().map(|command| build(command, &[], true)))
        }
        None => built.subcommands(commands.iter().map(named)),
    }
}

/// Builds a command without flags.
fn named(command: &Command) -> clap::Command {
    let mut built = clap::Command::new(command.name)
        .about(command.about)
        .hide(command.is_hidden)
        .disable_help_subcommand(true)
        .disable_help_flag(true);
    if !command.details.is_empty() {
        built = built.long_about(format!("{}\n\n{}", command.about, command.details));
    }
    if !command.examples.is_empty() {
        built = built.after_help(help::examples(command.examples));
    }
    built
}

fn with_flags(command: &Command, built: clap::Command) -> clap::Command {
    // A command may have a flag of the same name, such as `--agent` of `lore tail`.
    let own = |global: &&Flag| command.all_flags().any(|flag| flag.name == global.name);
    let globals = GLOBALS.iter().filter(|global| !own(global));
    let mut built = built
        .args(command.all_flags().map(arg))
        .args(globals.map(|global| arg(global).help_heading(help::GLOBAL)));
    if command.name == super::LORE.name {
        built = built
            .version(env!("CARGO_PKG_VERSION"))
            .help_template(help::root());
    }
    match command.passes_help_on {
        true => built,
        false => built.arg(
            Arg::new("help")
                .short('h')
                .long("help")
                .action(ArgAction::Help)
                .help_heading(help::GLOBAL)
                .help("Print help (-h: a summary)"),
        ),
    }
}

fn arg(flag: &Flag) -> Arg {
    let mut arg = Arg::new(flag.name)
        .help(flag.help)
        .required(flag.is_required)
        .allow_hyphen_values(flag.allows_dash)
        .conflicts_with_all(flag.conflicts);
    if !flag.is_positional {
        arg = arg.long(flag.name);
    }
    if let Some(short) = flag.short {
        arg = arg.short(short);
    }
    if !flag.value.is_empty() {
        arg = arg.value_name(flag.value);
    }
    if !flag.default.is_empty() {
        arg = arg.default_value(flag.default);
    }
    if !flag.required_unless.is_empty() {
        arg = arg.required_unless_present(flag.required_unless);
    }
    if !flag.requires.is_empty() {
        arg = arg.requires(flag.requires);
    }
    with_kind(arg, flag)
}

fn with_kind(arg: Arg, flag: &Flag) -> Arg {
    let repeated = |arg: Arg| match flag.is_positional {
        true => arg.num_args(1..),
        false => arg.action(ArgAction::Append),
    };
    match flag.kind {
        Kind::Switch | Kind::Word(_) => arg.action(ArgAction::SetTrue),
        Kind::Number => arg.value_parser(clap::value_parser!(u64)),
        Kind::Bool => arg.value_parser(clap::value_parser!(bool)),
        Kind::Choice(choices) => arg.value_parser(one_of(choices)),
        Kind::Choices(choices) => repeated(arg).value_parser(one_of(choices)),
        Kind::Texts | Kind::Words | Kind::Preferences => repeated(arg),
        Kind::Commas => arg.action(ArgAction::Append).value_delimiter(','),
        Kind::Path => arg
            .value_parser(ValueParser::os_string())
            .value_hint(ValueHint::AnyPath),
        Kind::FolderOrHere => arg
            .value_parser(ValueParser::os_string())
            .value_hint(ValueHint::DirPath)
            .num_args(0..=1)
            .default_missing_value("."),
        Kind::Rest => arg
            .value_parser(ValueParser::os_string())
            .num_args(0..)
            .trailing_var_arg(true),
        Kind::Tools => arg.value_parser(mcp::list),
        Kind::Text if flag.value == "PATH" => arg.value_hint(ValueHint::AnyPath),
        Kind::Text
        | Kind::TextOrInput
        | Kind::Moment
        | Kind::Session
        | Kind::Checkpoint
        | Kind::Object => arg,
    }
}

fn one_of(choices: &'static [(&'static str, &'static str)]) -> PossibleValuesParser {
    PossibleValuesParser::new(choices.iter().map(|(name, help)| {
        let value = PossibleValue::new(*name);
        match help.is_empty() {
            true => value,
            false => value.help(*help),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_a_command() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(help_words(words("lore help")), words("lore --help"));
        assert_eq!(
            help_words(words("lore help session list")),
            words("lore session list --help")
        );
        assert_eq!(
            help_words(words("lore search help")),
            words("lore search help")
        );
        let help = |line: &str| {
            let words = help_words(words(line));
            let shown = for_words(&words).try_get_matches_from(words);
            shown.map_or_else(|error| error.to_string(), |_| String::new())
        };
        assert!(help("lore help").contains("Every day"));
        assert!(help("lore help session list").contains("List sessions"));
        assert!(help("lore help bogus").contains("unrecognized subcommand"));
    }
}
