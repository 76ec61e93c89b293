//! `lore service stop`: stops a daemon that no service manager runs. Only a process that is proved to be the
//! daemon is signalled.

use std::path::Path;

use lore::connection::Error;
use lore::manager::{self, Manager};
use lore::paths::{Paths, SYSTEM_SOCKET};
use lore::start;

use super::super::{Exit, Failure, Globals};
use super::steps::{self, Step};
use super::{handover, launchd, refused};

/// Command that stops the system-wide daemon.
const STOP_FOR_ALL: &str = "sudo systemctl stop lored.socket lored.service";
/// Command that stops a user's own daemon under systemd.
const STOP_OWN: &str = "systemctl --user stop lored.socket lored.service";

pub fn run(globals: &Globals) -> Result<Exit, Failure> {
    let paths = globals.paths()?;
    if paths.socket == Path::new(SYSTEM_SOCKET) {
        return Err(managed(Manager::Systemd, STOP_FOR_ALL));
    }
    let holder = manager::holder(&paths.daemon_lock()).map_err(Error::Place)?;
    match holder.map(|holder| holder.manager) {
        None => return Ok(not_running()),
        Some(Manager::Systemd) => return Err(managed(Manager::Systemd, STOP_OWN)),
        Some(Manager::Launchd) => return Err(managed(Manager::Launchd, &launchd::stop_command())),
        Some(Manager::Client | Manager::None) => {}
    }
    stop(&paths, globals)
}

fn stop(paths: &Paths, globals: &Globals) -> Result<Exit, Failure> {
    // Otherwise a client could start the next daemon before the end of this one is observed.
    let _held_to_the_end = start::hold_spawning(paths)?;
    let Some(process) = handover::running(paths, globals)? else {
        return Ok(not_running());
    };
    steps::carry_out(&[Step::Stop { process }], paths, globals)?;
    Ok(Exit::Good)
}

fn not_running() -> Exit {
    lore::errln!("lore: the daemon is not running");
    Exit::Nothing
}

/// Refuses, because the manager would start the daemon again or record a failure.
fn managed(manager: Manager, command: &str) -> Failure {
    refused(format!(
        "{manager} runs lored, and would start it again: `{command}` stops it and what wakes it up"
    ))
}
