//! A launchd job: its path and its launchctl commands. Not yet tested on a Mac.

use std::path::{Path, PathBuf};

use lore::manager::{self, LAUNCHD_LABEL};
use lore::paths::{self, Paths, our_uid};

use super::super::{Failure, Globals};
use super::steps::{self, Step};
use super::{handover, moves, refused, units};

/// Installs the user's daemon.
///
/// # Errors
/// When a path cannot be written into the job, when the existing job uses other paths and `may_move` is not
/// set, or when a process holds the daemon's lock and does not answer.
pub fn install(
    paths: &Paths,
    globals: &Globals,
    daemon: &Path,
    may_move: bool,
) -> Result<Vec<Step>, Failure> {
    let path = job_path()?;
    let text = units::job(paths, daemon, paths::variable)?;
    let there = steps::existing(&path)?.filter(|there| steps::is_ours(there));
    if let Some(there) = there
        && !may_move
        && units::places_of_job(&there) != units::places_of_job(&text)
    {
        return Err(moves(&path));
    }
    let running = handover::running(paths, globals)?;
    // launchd creates the socket but not its folder.
    let folder = paths.socket_folder().to_path_buf();
    Ok(steps_of(folder, path, text, running))
}

fn steps_of(folder: PathBuf, path: PathBuf, text: String, running: Option<u32>) -> Vec<Step> {
    let (domain, job) = domain();
    let file = path.display().to_string();
    let mut steps = vec![Step::Folder { path: folder }, Step::Write { path, text }];
    // Unloads the previous job, if there is one.
    steps.push(Step::attempt(&["launchctl", "bootout", &job]));
    steps.extend(running.map(|process| Step::Stop { process }));
    steps.push(Step::run(&["launchctl", "enable", &job]));
    steps.push(Step::run(&["launchctl", "bootstrap", &domain, &file]));
    steps
}

/// Uninstalls the job, if it exists.
///
/// # Errors
/// When there is no home directory, or the job cannot be read.
pub fn uninstall() -> Result<Vec<Step>, Failure> {
    let path = job_path()?;
    let is_ours = steps::existing(&path)?.is_some_and(|text| steps::is_ours(&text));
    if !is_ours {
        return Ok(Vec::new());
    }
    let (_, job) = domain();
    Ok(vec![
        Step::attempt(&["launchctl", "bootout", &job]),
        Step::Remove { path },
    ])
}

/// Returns the command that stops the daemon and its listener.
pub fn stop_command() -> String {
    format!("launchctl bootout {}", domain().1)
}

/// Returns the path of the job file.
pub fn job_path() -> Result<PathBuf, Failure> {
    let home = paths::variable("HOME").filter(|home| !home.is_empty());
    let home = home.ok_or_else(|| refused("home folder unknown: set HOME"))?;
    Ok(manager::launchd_job(Path::new(&home)))
}

/// Returns the user's launchd domain, and this job in it.
fn domain() -> (String, String) {
    let domain = format!("gui/{}", our_uid());
    let job = format!("{domain}/{LAUNCHD_LABEL}");
    (domain, job)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_job_ends_before_the_new_one_begins() {
        let steps = steps_of("/run".into(), "/a.plist".into(), "t".to_owned(), Some(7));
        let programs: Vec<_> = steps
            .iter()
            .map(|step| match step {
                Step::Folder { .. } => "folder",
                Step::Write { .. } => "write",
                Step::Remove { .. } => "remove",
                Step::Stop { .. } => "stop",
                Step::Run { command, .. } => command.get(1).map_or("", String::as_str),
            })
            .collect();
        assert_eq!(
            programs,
            ["folder", "write", "bootout", "stop", "enable", "bootstrap"]
        );
    }
}
