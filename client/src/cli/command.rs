//! A command of `lore` as one small value. The parser, help, completions, manual pages, docs/commands.md and
//! the printed output are derived from the list of these values.

use super::flag::{Fields, Flag};
use super::parser::Matches;
use super::report::Report;
use super::{Caller, Exit, Failure, Globals};

/// A command, or a family of commands.
pub struct Command {
    /// Name on the command line.
    pub name: &'static str,
    /// First line of its help.
    pub about: &'static str,
    /// Paragraphs that `--help` prints below the first line.
    pub details: &'static str,
    /// Flags and positional arguments; every command also takes the global options.
    pub flags: &'static [&'static [Flag]],
    /// Example command lines that work when copied.
    pub examples: &'static [&'static str],
    /// Effect of the command.
    pub action: Action,
    /// Whether help and documentation omit it.
    pub is_hidden: bool,
    /// Whether `--help` is passed to the program that does the work.
    pub passes_help_on: bool,
}

/// Effect of a command.
pub enum Action {
    /// A family of subcommands.
    Family(&'static [Command]),
    /// Calls one operation and prints the reply.
    Call(Operation),
    /// Calls the daemon through a custom function.
    Client(fn(&Matches, &mut Caller) -> Result<Exit, Failure>),
    /// Needs no connection, or opens its own.
    Local(fn(&Matches, &Globals) -> Result<Exit, Failure>),
}

/// Adds operation arguments that do not map directly to flags.
type Fill = fn(&Matches, &Caller, &mut Fields) -> Result<(), Failure>;

/// A call of an operation.
pub struct Operation {
    /// Name of the operation.
    pub name: &'static str,
    /// Adds arguments that do not map directly to flags.
    pub fill: Option<Fill>,
    /// Report format for people.
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

    /// Creates a family of commands.
    pub const fn family(
        name: &'static str,
        about: &'static str,
        commands: &'static [Self],
    ) -> Self {
        Self::new(name, about, Action::Family(commands))
    }

    /// Creates a command that calls an operation with the arguments of its flags and prints the reply.
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

    /// Creates a command that calls an operation, with a function that adds arguments.
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

    /// Creates a command that calls the daemon through a custom function.
    pub const fn client(
        name: &'static str,
        about: &'static str,
        run: fn(&Matches, &mut Caller) -> Result<Exit, Failure>,
    ) -> Self {
        Self::new(name, about, Action::Client(run))
    }

    /// Creates a command that needs no connection, or opens its own.
    pub const fn local(
        name: &'static str,
        about: &'static str,
        run: fn(&Matches, &Globals) -> Result<Exit, Failure>,
    ) -> Self {
        Self::new(name, about, Action::Local(run))
    }

    /// Adds help paragraphs.
    pub const fn details(mut self, details: &'static str) -> Self {
        self.details = details;
        self
    }

    /// Adds flags.
    pub const fn flags(mut self, flags: &'static [&'static [Flag]]) -> Self {
        self.flags = flags;
        self
    }

    /// Adds examples.
    pub const fn examples(mut self, examples: &'static [&'static str]) -> Self {
        self.examples = examples;
        self
    }

    /// Omits the command from help and documentation.
    pub const fn hidden(mut self) -> Self {
        self.is_hidden = true;
        self
    }

    /// Passes `--help` to the program that does the work.
    pub const fn passes_help_on(mut self) -> Self {
        self.passes_help_on = true;
        self
    }

    /// Iterates over its flags and positional arguments, in the order of help.
    pub fn all_flags(&self) -> impl Iterator<Item = &'static Flag> {
        self.flags.iter().copied().flatten()
    }

    /// Returns the subcommands of a family; empty for any other command.
    pub const fn commands(&self) -> &'static [Self] {
        match self.action {
            Action::Family(commands) => commands,
            Action::Call(_) | Action::Client(_) | Action::Local(_) => &[],
        }
    }

    /// Runs the command. A family never runs, because the parser requires one of its subcommands.
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
        let reply = caller.reply(self.name, fields);
        let reply = match self.report.list_name() {
            None => reply?,
            Some(list) => match caller.list_reply(list, reply)? {
                Some(reply) => reply,
                None => return Ok(Exit::Good),
            },
        };
        let rendered = self.report.render(&reply.json, matches)?;
        caller.print(reply, rendered)
    }
}
