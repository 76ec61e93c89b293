//! Commands that run another program. `lore top` is `lore-top`, so that this program stays small. `lore config`
//! is `lored config`, because the daemon's program knows its settings.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process;

use lore::connection::Error;
use lore::start::find_daemon;

use super::command::Command;
use super::flag::{Flag, Kind};
use super::parser::Matches;
use super::{Exit, Failure, Globals};

const TOP_PROGRAM: &str = "lore-top";

/// `lore top`.
pub const TOP: Command = Command::local(
    "top",
    "Watch sessions, agents, events, lag, sizes and latency in a terminal",
    top,
)
.flags(&[&[Flag::positional(
    Kind::Rest,
    "arguments",
    "ARGUMENTS",
    "Arguments of `lore-top`: see `lore top --help`",
)
.optional()
.allows_dash()
.local()]])
.examples(&["lore top"])
.passes_help_on();

/// `lore config`.
pub const CONFIG: Command = Command::local(
    "config",
    "Show and check the daemon's settings: `show [--origin]`, `check [FILE]`, `default`",
    config,
)
.flags(&[&[Flag::positional(
    Kind::Rest,
    "arguments",
    "ARGUMENTS",
    "Arguments of `lored config`: see `lore config --help`",
)
.optional()
.allows_dash()
.local()]])
.examples(&["lore config show --origin"])
.passes_help_on();

fn top(matches: &Matches, globals: &Globals) -> Result<Exit, Failure> {
    if globals.json {
        return Err(Failure::Usage(
            "`lore top` is for people; `lore status --json` and `lore tail --json` are for programs".to_owned(),
        ));
    }
    let program = find_top().ok_or_else(|| {
        io::Error::other(format!(
            "`lore top` is a separate program, {TOP_PROGRAM}, which is neither next to lore nor on PATH; \
             `cargo install --path client/top` in the source of lore installs it"
        ))
    })?;
    let flags = [
        ("--agent", globals.agent.as_ref().map(OsString::from)),
        ("--session", globals.session.as_ref().map(OsString::from)),
        ("--socket", globals.socket.as_ref().map(OsString::from)),
    ];
    let flags = flags
        .into_iter()
        .filter_map(|(flag, value)| Some([flag.into(), value?]));
    let arguments = flags.flatten().chain(matches.rest("arguments")).collect();
    become_program(&program, arguments)
}

fn config(matches: &Matches, globals: &Globals) -> Result<Exit, Failure> {
    let program = find_daemon().map_err(Error::from)?;
    let mut arguments: Vec<OsString> = Vec::new();
    if let Some(socket) = &globals.socket {
        arguments.extend(["--socket".into(), socket.into()]);
    }
    arguments.push("config".into());
    arguments.extend(matches.rest("arguments"));
    arguments.extend(globals.json.then(|| "--json".into()));
    become_program(&program, arguments)
}

/// Replaces the process. Returns only on failure.
fn become_program(program: &Path, arguments: Vec<OsString>) -> Result<Exit, Failure> {
    let error = process::Command::new(program).args(arguments).exec();
    let message = format!("{} cannot be run: {error}", program.display());
    Err(io::Error::other(message).into())
}

/// Finds the program next to this one, or else on PATH.
fn find_top() -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    beside
        .into_iter()
        .chain(folders.into_iter().filter(|folder| folder.is_absolute()))
        .map(|folder| folder.join(TOP_PROGRAM))
        .find(|program| program.is_file())
}
