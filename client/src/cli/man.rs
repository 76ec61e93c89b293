//! `lore man`: the manual pages of this program, made from what the command line itself says.

use std::path::PathBuf;

use clap::Command;
use lore::pages;

use super::{End, Failure, output};

/// Print the manual page of lore, or write those of all commands into a folder
///
/// For packages: each command has a page of its own, such as lore-session-fork.1.
#[derive(Debug, clap::Args)]
pub struct Man {
    /// The folder; it is made if it is not there
    folder: Option<PathBuf>,
}

impl Man {
    pub fn run(self, command: Command, json: bool) -> Result<End, Failure> {
        if json {
            return Err(Failure::Usage("manual pages are no JSON".to_owned()));
        }
        match self.folder {
            None => output::write(&pages::manual(command)?)?,
            Some(folder) => pages::write_manuals(command, &folder)?,
        }
        Ok(End::Good)
    }
}
