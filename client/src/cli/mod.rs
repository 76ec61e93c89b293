//! The command line: what can be typed, and how it ends.

mod call;
mod checkpoint;
mod compact;
mod config;
mod context;
mod diff;
mod docs;
mod doctor;
mod entity;
mod exchange;
mod forget;
mod given;
mod log;
mod man;
mod mcp;
mod message;
mod moving;
mod output;
mod pack;
mod project;
mod search;
mod service;
mod session;
mod setup;
mod status;
mod step;
mod tail;
mod top;
mod whole_file;
mod why;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use lore::client::Client;
use lore::connection::Error;
use lore::places::Places;
use lore::protocol::frame::Hello;
use lore::protocol::{Args, Code, ErrorBody, Reply, SessionId};
use serde_json::Value;

use output::Output;

/// The shared, durable memory of the AI agents on this machine.
#[derive(Debug, Parser)]
#[command(name = "lore", version, disable_help_subcommand = true)]
struct Arguments {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

/// What every command takes.
#[derive(Debug, clap::Args)]
struct Globals {
    /// Name of the agent that calls [environment: LORE_AGENT]
    #[arg(long, global = true, value_name = "NAME")]
    agent: Option<String>,
    /// Session to work in [environment: LORE_SESSION]
    #[arg(long, global = true, value_name = "ID")]
    session: Option<String>,
    /// The daemon's socket [environment: LORE_SOCKET]
    #[arg(long, global = true, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Print the reply as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Call any operation by its name
    Call(call::Call),
    /// Record what tools returned, and refer to it
    #[command(subcommand)]
    Step(step::Step),
    /// Save an agent's context, and get it back exactly
    #[command(subcommand)]
    Checkpoint(checkpoint::Checkpoint),
    /// One piece of work as a whole: find it, shape it, share it, take it elsewhere, end it
    #[command(subcommand)]
    Session(session::Session),
    /// Record what was said, and read it again
    #[command(subcommand)]
    Message(message::Message),
    /// The things that sessions are about: what is known of them, how they are related
    #[command(subcommand)]
    Entity(entity::Entity),
    Pack(pack::Pack),
    /// Files that every agent in a project reads and keeps true
    #[command(subcommand)]
    Context(context::Context),
    /// Directories with context files of their own
    #[command(subcommand)]
    Project(project::Project),
    /// Folders and files whose documents every agent finds
    #[command(subcommand)]
    Docs(docs::Docs),
    Search(search::Search),
    Why(why::Why),
    Diff(diff::Diff),
    /// How the daemon is
    Status(status::Status),
    /// The events of the log
    Log(log::Log),
    /// What happens, as it happens
    Tail(tail::Tail),
    Forget(forget::Forget),
    Top(top::Top),
    /// Give back the disk space of what was removed
    Compact,
    Export(moving::Export),
    Import(moving::Import),
    Mcp(mcp::Mcp),
    Setup(setup::Setup),
    /// Have systemd or launchd start the daemon, and see who does
    #[command(subcommand)]
    Service(service::Service),
    Config(config::Config),
    Doctor(doctor::Doctor),
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: lore::pages::Shell,
    },
    #[command(hide = true)]
    Man(man::Man),
}

/// How a command ends.
enum End {
    /// It did what it should.
    Good,
    /// It found nothing.
    Nothing,
}

/// Why a command ends early.
enum Failure {
    /// No reply, or a refusal.
    Call(Error),
    /// Standard output or input broke.
    Io(io::Error),
    /// The arguments make no sense.
    Usage(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Call(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads the command line, does what it says, and gives the exit code: 0 good, 1 found nothing or
/// refused, 2 usage, 3 daemon not reachable, 4 version clash, 5 conflict.
pub fn run() -> ExitCode {
    let arguments = plain_call().unwrap_or_else(Arguments::parse);
    let json = arguments.globals.json || matches!(arguments.command, Command::Call(_));
    match dispatch(arguments) {
        Ok(End::Good) => ExitCode::SUCCESS,
        Ok(End::Nothing) => ExitCode::from(1),
        Err(failure) => report(&failure, json),
    }
}

/// `lore call NAME [JSON]` without any flag, as scripts say it: building the whole command line to
/// read it would take as long as the call itself.
fn plain_call() -> Option<Arguments> {
    let mut words = std::env::args_os().skip(1);
    words.next().filter(|word| word == "call")?;
    let words: Vec<String> = words
        .map(|word| word.into_string().ok())
        .collect::<Option<_>>()?;
    let flagless = words
        .iter()
        .all(|word| word == "-" || !word.starts_with('-'));
    let call = call::Call::plain(words).filter(|_| flagless)?;
    let globals = Globals {
        agent: None,
        session: None,
        socket: None,
        json: false,
    };
    Some(Arguments {
        globals,
        command: Command::Call(call),
    })
}

fn dispatch(arguments: Arguments) -> Result<End, Failure> {
    let Arguments { globals, command } = arguments;
    match command {
        Command::Completions { shell } => {
            output::write(&lore::pages::completions(Arguments::command(), shell))?;
            Ok(End::Good)
        }
        Command::Man(man) => man.run(Arguments::command(), globals.json),
        Command::Mcp(mcp) => mcp.run(&globals),
        Command::Setup(setup) => setup.run(&globals),
        Command::Top(top) => top.run(&globals),
        Command::Service(service) => service.run(&globals),
        Command::Config(config) => config.run(&globals),
        Command::Doctor(doctor) => doctor.run(&globals),
        Command::Call(call) => call.run(&mut Caller::new(globals)?),
        Command::Step(step) => step.run(&mut Caller::new(globals)?),
        Command::Checkpoint(checkpoint) => checkpoint.run(&mut Caller::new(globals)?),
        Command::Session(session) => session.run(&mut Caller::new(globals)?),
        Command::Message(message) => message.run(&mut Caller::new(globals)?),
        Command::Entity(entity) => entity.run(&mut Caller::new(globals)?),
        Command::Pack(pack) => pack.run(&mut Caller::new(globals)?),
        Command::Context(context) => context.run(&mut Caller::new(globals)?),
        Command::Project(project) => project.run(&mut Caller::new(globals)?),
        Command::Docs(docs) => docs.run(&mut Caller::new(globals)?),
        Command::Search(search) => search.run(&mut Caller::new(globals)?),
        Command::Why(why) => why.run(&mut Caller::new(globals)?),
        Command::Diff(diff) => diff.run(&mut Caller::new(globals)?),
        Command::Status(status) => status.run(&mut Caller::new(globals)?),
        Command::Export(export) => export.run(&mut Caller::new(globals)?),
        Command::Import(import) => import.run(&mut Caller::new(globals)?),
        Command::Forget(forget) => {
            let session = globals.session.clone();
            forget.run(&mut Caller::new(globals)?, session.as_deref())
        }
        Command::Compact => compact::run(&mut Caller::new(globals)?),
        Command::Log(log) => log.run(&mut Caller::new(globals)?),
        Command::Tail(tail) => tail.run(&mut Caller::new(globals)?),
    }
}

impl Globals {
    fn places(&self) -> Result<Places, Error> {
        Ok(Places::find(self.socket.as_deref())?)
    }

    fn hello(&self) -> Hello {
        let cwd = std::env::current_dir().ok();
        Hello {
            client: format!("lore/{}", env!("CARGO_PKG_VERSION")),
            agent: self.agent.clone().or_else(|| variable("LORE_AGENT")),
            cwd: cwd.and_then(|cwd| cwd.into_os_string().into_string().ok()),
            session: self.session.clone().or_else(|| variable("LORE_SESSION")),
            mcp: false,
            bridge: None,
            tools: None,
        }
    }
}

/// An environment variable that says something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Calls operations and prints what they reply.
struct Caller {
    client: Client,
    output: Output,
    /// `--session`, for operations that filter by it.
    session: Option<String>,
}

impl Caller {
    fn new(globals: Globals) -> Result<Self, Error> {
        let client = Client::new(globals.places()?, globals.hello());
        let output = if globals.json {
            Output::Json
        } else {
            Output::Human
        };
        Ok(Self {
            client,
            output,
            session: globals.session,
        })
    }

    /// The session that the command line or else the environment names.
    fn named_session(&self) -> Result<Option<SessionId>, Failure> {
        let named = self.session.clone().or_else(|| variable("LORE_SESSION"));
        let session = named.map(SessionId::new).transpose();
        session.map_err(|error| Failure::Usage(error.to_string()))
    }

    /// The reply as JSON text.
    fn call(&mut self, name: &str, args: Vec<u8>) -> Result<Vec<u8>, Failure> {
        Ok(self.reply(name, args)?.json)
    }

    /// The reply, with what is said beside it.
    fn reply(&mut self, name: &str, args: Vec<u8>) -> Result<Reply, Failure> {
        Ok(self.client.call(name, &Args::Json(args))?)
    }
}

fn report(failure: &Failure, json: bool) -> ExitCode {
    let error = match failure {
        // Whoever read our output has seen enough.
        Failure::Io(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            return ExitCode::SUCCESS;
        }
        Failure::Io(error) => {
            lore::errln!("lore: {error}");
            return ExitCode::from(1);
        }
        Failure::Usage(message) => {
            lore::errln!("lore: {message}");
            return ExitCode::from(2);
        }
        Failure::Call(error) => error,
    };
    let body = error.to_body();
    if json {
        let mut line = br#"{"error":"#.to_vec();
        line.extend(body.to_json());
        line.extend(b"}\n");
        // The exit code says it too, should nobody read this.
        let _ = output::write_json_lines(&line);
    } else {
        lore::errln!("lore: {}", output::shown_lines(&body.message));
        if let Some(hint) = &body.hint {
            lore::errln!("  {}", output::shown_lines(hint));
        }
        for fault in more_faults(&body) {
            lore::errln!("  {}", output::shown_lines(&fault));
        }
        if let Some(keys) = changed_keys(&body) {
            lore::errln!("  Changed since: {keys}");
        }
    }
    ExitCode::from(exit_code(error, &body))
}

/// The other broken lines of a text, when that is why an import is refused.
fn more_faults(body: &ErrorBody) -> Vec<String> {
    let details = body.details.as_ref();
    let faults = details.and_then(|details| details.get("faults")?.as_array());
    let told = |fault: &Value| {
        let (line, message) = (fault.get("line")?, fault.get("message")?.as_str()?);
        Some(format!("line {line}: {message}"))
    };
    faults
        .into_iter()
        .flatten()
        .skip(1)
        .filter_map(told)
        .collect()
}

/// The keys of a context that another writer changed, when that is why a save is refused.
fn changed_keys(body: &ErrorBody) -> Option<String> {
    let keys = body.details.as_ref()?.get("changedKeys")?.as_array()?;
    let shown = |key: &Value| output::shown(key.as_str().unwrap_or_default(), 40);
    Some(keys.iter().map(shown).collect::<Vec<_>>().join(", "))
}

const fn exit_code(error: &Error, body: &ErrorBody) -> u8 {
    match (error, body.code) {
        (_, Code::VersionMismatch) => 4,
        (Error::Refused(_), Code::Conflict | Code::KeyReused) => 5,
        (Error::Refused(_) | Error::Frame(_), _) => 1,
        (
            Error::Nobody { .. }
            | Error::Unreachable { .. }
            | Error::Start(_)
            | Error::Place(_)
            | Error::Broken(_),
            _,
        ) => 3,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn exit_codes_tell_refusals_apart() {
        let refused = |code| {
            let error = Error::Refused(ErrorBody::new(code, "no"));
            exit_code(&error, &error.to_body())
        };
        assert_eq!(refused(Code::NotFound), 1);
        assert_eq!(refused(Code::KeyReused), 5);
        assert_eq!(refused(Code::Conflict), 5);
        assert_eq!(refused(Code::VersionMismatch), 4);
        let nobody = Error::Nobody { path: "/s".into() };
        assert_eq!(exit_code(&nobody, &nobody.to_body()), 3);
    }

    #[test]
    fn flags_may_stand_behind_the_command() {
        let read = Arguments::try_parse_from(["lore", "status", "--json", "--agent", "a"]).unwrap();
        assert!(read.globals.json);
        assert_eq!(read.globals.agent.as_deref(), Some("a"));
        assert!(Arguments::try_parse_from(["lore", "stauts"]).is_err());
    }
}
