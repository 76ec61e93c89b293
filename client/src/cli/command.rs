//! What a command of `lore` is: one small value. The parser, help, completions, manual pages, docs/commands.md and
//! the printed output are derived from the list of these values.

use super::flag::{Fields, Flag};
use super::parser::Matches;
use super::report::Report;
use super::{Caller, Exit, Failure, Globals};

/// A command, or a family of commands.
pub struct Command {
    /// The word that is typed.
    pub name: &'static str,
    /// The first line of its help.
    pub about: &'static str,
    /// The paragraphs that `--help` prints below it.
    pub details: &'static str,
    /// Flags and positional arguments; every command also takes the global options.
    pub flags: &'static [&'static [Flag]],
    /// Command lines that people can copy.
    pub examples: &'static [&'static str],
    /// What it does.
    pub action: Action,
    /// Whether help and documentation omit it.
    pub is_hidden: bool,
    /// Whether `--help` is passed on to the program that does the work.
    pub passes_help_on: bool,
}

/// What a command does.
pub enum Action {
    /// It has commands of its own.
    Family(&'static [Command]),
    /// It calls one operation and prints the reply.
    Call(Operation),
    /// It calls the daemon in a way of its own.
    Client(fn(&Matches, &mut Caller) -> Result<Exit, Failure>),
    /// It needs no connection, or makes its own.
    Local(fn(&Matches, &Globals) -> Result<Exit, Failure>),
}

/// Adds arguments of an operation that are not simply those of flags.
type Fill = fn(&Matches, &Caller, &mut Fields) -> Result<(), Failure>;

/// A call of an operation.
pub struct Operation {
    /// Its name.
    pub name: &'static str,
    /// The rest of its arguments.
    pub fill: Option<Fill>,
    /// How the reply is printed for people.
    pub report: Report,
}

impl Command {
    const fn new(name: &'static str, about: &'static str, action: Action) -> Self {
        Self {
            name,
            about,
            details: "",
            flags: &[],
            examples: &[],
            action,
            is_hidden: false,
            passes_help_on: false,
        }
    }

    /// A family of commands.
    pub const fn family(
        name: &'static str,
        about: &'static str,
        commands: &'static [Self],
    ) -> Self {
        Self::new(name, about, Action::Family(commands))
    }

    /// A command that calls an operation with the arguments of its flags and prints the reply.
    pub const fn call(
        name: &'static str,
        about: &'static str,
        operation: &'static str,
        report: Report,
    ) -> Self {
        let action = Action::Call(Operation {
            name: operation,
            fill: None,
            report,
        });
        Self::new(name, about, action)
    }

    /// The same, with arguments that a function adds.
    pub const fn call_with(
        name: &'static str,
        about: &'static str,
        operation: &'static str,
        fill: Fill,
        report: Report,
    ) -> Self {
        let action = Action::Call(Operation {
            name: operation,
            fill: Some(fill),
            report,
        });
        Self::new(name, about, action)
    }

    /// A command that calls the daemon in a way of its own.
    pub const fn client(
        name: &'static str,
        about: &'static str,
        run: fn(&Matches, &mut Caller) -> Result<Exit, Failure>,
    ) -> Self {
        Self::new(name, about, Action::Client(run))
    }

    /// A command that needs no connection, or makes its own.
    pub const fn local(
        name: &'static str,
        about: &'static str,
        run: fn(&Matches, &Globals) -> Result<Exit, Failure>,
    ) -> Self {
        Self::new(name, about, Action::Local(run))
    }

    /// With more help.
    pub const fn details(mut self, details: &'static str) -> Self {
        self.details = details;
        self
    }

    /// With these flags.
    pub const fn flags(mut self, flags: &'static [&'static [Flag]]) -> Self {
        self.flags = flags;
        self
    }

    /// With these examples.
    pub const fn examples(mut self, examples: &'static [&'static str]) -> Self {
        self.examples = examples;
        self
    }

    /// Omitted from help and documentation.
    pub const fn hidden(mut self) -> Self {
        self.is_hidden = true;
        self
    }

    /// Passes `--help` on to the program that does the work.
    pub const fn passes_help_on(mut self) -> Self {
        self.passes_help_on = true;
        self
    }

    /// Its flags and positional arguments, in the order of help.
    pub fn all_flags(&self) -> impl Iterator<Item = &'static Flag> {
        self.flags.iter().copied().flatten()
    }

    /// The commands of a family; none for anything else.
    pub const fn commands(&self) -> &'static [Self] {
        match self.action {
            Action::Family(commands) => commands,
            Action::Call(_) | Action::Client(_) | Action::Local(_) => &[],
        }
    }

    /// Runs it. A family never runs: the parser requires one of its commands.
    pub fn run(&self, matches: &Matches, globals: Globals) -> Result<Exit, Failure> {
        match &self.action {
            Action::Family(_) => Ok(Exit::Nothing),
            Action::Local(run) => run(matches, &globals),
            Action::Client(run) => run(matches, &mut Caller::new(globals)?),
            Action::Call(operation) => operation.run(matches, &mut Caller::new(globals)?),
        }
    }
}

impl Operation {
    fn run(&self, matches: &Matches, caller: &mut Caller) -> Result<Exit, Failure> {
        let mut fields = matches.fields()?;
        if let Some(fill) = self.fill {
            fill(matches, caller, &mut fields)?;
        }
        let reply = caller.reply(self.name, fields)?;
        let rendered = self.report.render(&reply.json, matches)?;
        caller.print(reply, rendered)
    }
}
