//! The command line: parsing, execution and exit codes.
//!
//! A command is a value in [`COMMANDS`]: its flags, its examples, the operation that it calls and the format of
//! its output. The parser, help, completions, manual pages and docs/commands.md are derived from that list.

mod atomic_output;
mod call;
mod checkpoint;
mod command;
mod common;
mod context;
mod diff;
mod docs;
mod doctor;
mod entity;
mod flag;
mod follow;
mod forget;
mod handoff;
mod help;
mod hook;
mod input;
mod log;
mod mcp;
mod memory_tool;
mod message;
mod moving;
mod output;
mod pack;
mod page;
mod parser;
mod pause;
mod plugin;
mod programs;
mod project;
mod remember;
mod report;
mod review;
mod search;
mod service;
mod session;
mod setup;
mod status;
mod step;
mod tail;
mod template;
mod undo;
mod who;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use lore::client::Client;
use lore::connection::Error;
use lore::host_session::Surroundings;
use lore::paths::Paths;
use lore::protocol::frame::Hello;
use lore::protocol::{Args, Code, ErrorBody, Reply, SessionId};
use lore::start::StartError;
use serde_json::Value;

use command::Command;
use flag::Fields;
use output::Output;

/// All commands, in the order of completions and manual pages.
static COMMANDS: &[Command] = &[
    step::STEP,
    message::MESSAGE,
    context::CONTEXT,
    search::SEARCH,
    remember::REMEMBER,
    remember::RECALL,
    remember::FACTS,
    remember::BRIEF,
    pack::PACK,
    checkpoint::CHECKPOINT,
    docs::DOCS,
    log::LOG,
    tail::TAIL,
    diff::DIFF,
    pack::WHY,
    page::PAGE,
    programs::TOP,
    who::WHO,
    who::WATCH,
    handoff::HANDOFF,
    handoff::CONTINUE,
    session::SESSION,
    entity::ENTITY,
    project::PROJECT,
    setup::SETUP,
    plugin::PLUGIN,
    mcp::MCP,
    memory_tool::MEMORY_TOOL,
    hook::HOOK,
    call::CALL,
    help::COMPLETIONS,
    status::STATUS,
    doctor::DOCTOR,
    service::SERVICE,
    programs::CONFIG,
    pause::PAUSE,
    pause::RESUME,
    review::REVIEW,
    undo::UNDO,
    forget::FORGET,
    status::COMPACT,
    moving::EXPORT,
    moving::IMPORT,
    help::MAN,
];

/// Commands by task: the sections of `lore --help` and of docs/commands.md.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "Every day",
        &[
            "step",
            "message",
            "context",
            "search",
            "remember",
            "recall",
            "facts",
            "brief",
            "docs",
            "pack",
            "checkpoint",
        ],
    ),
    ("Look back", &["page", "log", "tail", "diff", "why", "top"]),
    (
        "Work together",
        &[
            "who", "watch", "handoff", "continue", "session", "entity", "project",
        ],
    ),
    (
        "Connect",
        &[
            "setup",
            "plugin",
            "mcp",
            "memory-tool",
            "hook",
            "call",
            "completions",
        ],
    ),
    (
        "Upkeep",
        &[
            "status",
            "doctor",
            "service",
            "config",
            "pause",
            "resume-capture",
            "review",
            "undo",
            "forget",
            "compact",
            "export",
            "import",
        ],
    ),
];

static LORE: Command = Command::family(
    "lore",
    "The shared, durable memory of the AI agents on this machine",
    COMMANDS,
)
.examples(&[
    "lore setup claude-code",
    "lore step record get_pull_request '{\"id\": 4711, \"title\": \"Fix login\"}'",
    "lore search why did the login fail",
]);

/// Options that every command accepts.
#[derive(Debug, Default)]
struct Globals {
    agent: Option<String>,
    session: Option<String>,
    socket: Option<PathBuf>,
    json: bool,
    /// Whether the command is `lore call`, whose user knows operations instead of commands.
    is_call: bool,
}

/// Outcome of a command.
enum Exit {
    /// Success.
    Good,
    /// Nothing was found.
    Nothing,
}

/// Reason why a command ends early.
enum Failure {
    /// The call failed or was refused.
    Call(Error),
    /// Standard output or input failed.
    Io(io::Error),
    /// Invalid arguments.
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

/// Runs the command line and returns the exit code: 0 success, 1 nothing found or refused, 2 usage, 3 daemon
/// not reachable, 4 version mismatch, 5 conflict, 75 (`EX_TEMPFAIL` of sysexits) no daemon runs and none is started in
/// this place.
pub fn run() -> ExitCode {
    if let Some(words) = hook::Words::of(std::env::args_os().skip(1)) {
        return hook::run(words);
    }
    if let Some(help) = call::help(std::env::args_os().skip(1)) {
        return match output::write(help.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => report_failure(&error.into(), false),
        };
    }
    let (result, is_json) = match call::plain_words() {
        Some((name, arguments)) => {
            let globals = Globals {
                is_call: true,
                ..Globals::default()
            };
            let caller = Caller::new(globals).map_err(Failure::from);
            let called = caller.and_then(|mut caller| call::run(&name, &arguments, &mut caller));
            (called, true)
        }
        None => {
            let (command, matches, mut globals) = parser::parse();
            globals.is_call = command.name == call::CALL.name;
            let is_json = globals.json || globals.is_call;
            (command.run(&matches, globals), is_json)
        }
    };
    match result {
        Ok(Exit::Good) => ExitCode::SUCCESS,
        Ok(Exit::Nothing) => ExitCode::from(1),
        Err(failure) => report_failure(&failure, is_json),
    }
}

impl Globals {
    fn paths(&self) -> Result<Paths, Error> {
        Ok(Paths::find(self.socket.as_deref())?)
    }

    fn hello(&self) -> Hello {
        let cwd = std::env::current_dir().ok();
        let agent = self.agent.clone().or_else(|| variable("LORE_AGENT"));
        let host_session = Surroundings::of_this_process(agent.as_deref()).of_command();
        // The daemon writes hints as commands of `lore`, or as operations for `lore call`.
        let program = if self.is_call { "lore-call" } else { "lore" };
        Hello {
            client: format!("{program}/{}", env!("CARGO_PKG_VERSION")),
            agent,
            cwd: cwd.and_then(|cwd| cwd.into_os_string().into_string().ok()),
            session: self.session.clone(),
            host_session,
            mcp: false,
            bridge: None,
            tools: None,
        }
    }
}

/// Returns an environment variable unless it is empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Calls operations and prints their replies.
struct Caller {
    client: Client,
    output: Output,
    /// `--session`, for operations that filter by it.
    session: Option<String>,
}

impl Caller {
    fn new(globals: Globals) -> Result<Self, Error> {
        let client = Client::new(globals.paths()?, globals.hello());
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

    /// Returns the session that the command line names.
    fn session(&self) -> Result<Option<SessionId>, Failure> {
        let named = self.session.clone().map(SessionId::new).transpose();
        named.map_err(|error| Failure::Usage(error.to_string()))
    }

    /// Returns the session that the command line or else the environment names.
    fn named_session(&self) -> Result<Option<SessionId>, Failure> {
        let named = self.session.clone().or_else(|| variable("LORE_SESSION"));
        let named = named.map(SessionId::new).transpose();
        named.map_err(|error| Failure::Usage(error.to_string()))
    }

    /// Calls an operation and returns the reply as JSON text.
    fn call(&mut self, name: &str, fields: Fields) -> Result<Vec<u8>, Failure> {
        Ok(self.reply(name, fields)?.json)
    }

    fn reply(&mut self, name: &str, fields: Fields) -> Result<Reply, Failure> {
        self.reply_to_json(name, fields.into_json())
    }

    /// Calls an operation with arguments that are already JSON.
    fn reply_to_json(&mut self, name: &str, arguments: Vec<u8>) -> Result<Reply, Failure> {
        Ok(self.client.call(name, &Args::Json(arguments))?)
    }
}

fn report_failure(failure: &Failure, is_json: bool) -> ExitCode {
    let error = match failure {
        // The reader closed the output early, for example `head`.
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
    if is_json {
        let mut line = br#"{"error":"#.to_vec();
        line.extend(body.to_json());
        line.extend(b"}\n");
        // The exit code reports it too, if the output is not read.
        let _ = output::write_json_lines(&line);
    } else {
        lore::errln!("lore: {}", output::sanitize_lines(&body.message));
        if let Some(hint) = &body.hint {
            lore::errln!("  {}", output::sanitize_lines(hint));
        }
        for fault in more_faults(&body) {
            lore::errln!("  {}", output::sanitize_lines(&fault));
        }
        if let Some(keys) = changed_keys(&body) {
            lore::errln!("  Changed since: {keys}");
        }
    }
    ExitCode::from(exit_code(error, &body))
}

/// Lists the other invalid lines of a refused import.
fn more_faults(body: &ErrorBody) -> Vec<String> {
    let details = body.details.as_ref();
    let faults = details.and_then(|details| details.get("faults")?.as_array());
    let line = |fault: &Value| {
        let (line, message) = (fault.get("line")?, fault.get("message")?.as_str()?);
        Some(format!("line {line}: {message}"))
    };
    faults
        .into_iter()
        .flatten()
        .skip(1)
        .filter_map(line)
        .collect()
}

/// Lists the keys that another writer changed, if they caused the refusal of a save.
fn changed_keys(body: &ErrorBody) -> Option<String> {
    let keys = body.details.as_ref()?.get("changedKeys")?.as_array()?;
    let sanitized = |key: &Value| output::sanitize(key.as_str().unwrap_or_default(), 40);
    Some(keys.iter().map(sanitized).collect::<Vec<_>>().join(", "))
}

const fn exit_code(error: &Error, body: &ErrorBody) -> u8 {
    match (error, body.code) {
        (_, Code::VersionMismatch) => 4,
        (Error::Refused(_), Code::Conflict | Code::IdempotencyConflict) => 5,
        (Error::Refused(_) | Error::Frame(_), _) => 1,
        (Error::Start(StartError::Sandboxed { .. }), _) => 75,
        (
            Error::NotListening { .. }
            | Error::Unreachable { .. }
            | Error::Start(_)
            | Error::Place(_)
            | Error::Waits
            | Error::Broken(_),
            _,
        ) => 3,
    }
}

#[cfg(test)]
mod tests {
    use lore::connection::SocketState;
    use lore::start::PlaceDoubt;

    use super::*;

    #[test]
    fn exit_codes_distinguish_refusals() {
        let refused = |code| {
            let error = Error::Refused(ErrorBody::new(code, "no"));
            exit_code(&error, &error.to_body())
        };
        assert_eq!(refused(Code::NotFound), 1);
        assert_eq!(refused(Code::IdempotencyConflict), 5);
        assert_eq!(refused(Code::Conflict), 5);
        assert_eq!(refused(Code::VersionMismatch), 4);
        let not_listening = Error::NotListening {
            path: "/s".into(),
            state: SocketState::Missing,
        };
        assert_eq!(exit_code(&not_listening, &not_listening.to_body()), 3);
        let not_started = Error::Start(StartError::Sandboxed {
            socket: "/s".into(),
            doubt: PlaceDoubt::Memory,
        });
        assert_eq!(exit_code(&not_started, &not_started.to_body()), 75);
    }
}
