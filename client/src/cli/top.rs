//! `lore top`: the terminal view, which is a program of its own, `lore-top`, so that this one stays small.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use super::{End, Failure, Globals};

/// The program.
const PROGRAM: &str = "lore-top";

/// Sessions, agents, events, lag, sizes and latency, live in a terminal
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Top {
    /// What `lore-top` takes: `lore top --help` tells
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<OsString>,
}

impl Top {
    /// Becomes the view; comes back only when that fails.
    pub fn run(self, globals: &Globals) -> Result<End, Failure> {
        if globals.json {
            let said = "`lore top` is for people; `lore status --json` and `lore tail --json` are for programs";
            return Err(Failure::Usage(said.to_owned()));
        }
        let program = find().ok_or_else(|| {
            io::Error::other(format!(
                "`lore top` is a program of its own, {PROGRAM}, which is neither beside lore nor on PATH; \
                 `cargo install {PROGRAM}` installs it, `cargo install --path client/top` in the source"
            ))
        })?;
        let error = Command::new(&program)
            .args(passed_on(globals))
            .args(self.arguments)
            .exec();
        let said = format!("{} cannot be run: {error}", program.display());
        Err(io::Error::other(said).into())
    }
}

/// What was said before `top`.
fn passed_on(globals: &Globals) -> Vec<OsString> {
    let flags = [
        ("--agent", globals.agent.as_ref().map(OsString::from)),
        ("--session", globals.session.as_ref().map(OsString::from)),
        ("--socket", globals.socket.as_ref().map(OsString::from)),
    ];
    let said = flags
        .into_iter()
        .filter_map(|(flag, said)| Some([flag.into(), said?]));
    said.flatten().collect()
}

/// The program beside this one, else on PATH.
fn find() -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent).map(Path::to_path_buf);
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    beside
        .into_iter()
        .chain(folders.into_iter().filter(|folder| folder.is_absolute()))
        .map(|folder| folder.join(PROGRAM))
        .find(|program| program.is_file())
}
