//! `lore config`: the daemon's settings, which its own program knows.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use clap::Args;
use lore::connection::Error;
use lore::start::find_daemon;

use super::{End, Failure, Globals};

/// The daemon's settings: `show [--origin]`, `check [FILE]`, `default`
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Config {
    /// What `lored config` takes: `lore config --help` tells
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "ARGUMENTS"
    )]
    arguments: Vec<OsString>,
}

impl Config {
    /// Becomes the daemon's program; comes back only when that fails.
    pub fn run(self, globals: &Globals) -> Result<End, Failure> {
        let program = find_daemon().map_err(Error::from)?;
        let mut command = Command::new(&program);
        if let Some(socket) = &globals.socket {
            command.arg("--socket").arg(socket);
        }
        let error = command
            .arg("config")
            .args(self.arguments)
            .args(globals.json.then_some("--json"))
            .exec();
        let said = format!("{} cannot be run: {error}", program.display());
        Err(io::Error::other(said).into())
    }
}
