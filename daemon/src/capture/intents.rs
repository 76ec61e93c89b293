//! Who works on what: the files that a session is about to change or has changed, until it commits, ends, or half an hour
//! has passed.
//!
//! Intents are read from the trails of sessions. Files are compared by their path, so that worktrees of one repository
//! do not collide.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use super::host_processes::HostProcesses;
use super::memory::{Trail, TrailEvent};
use crate::clock::Micros;
use crate::events::packs::Item;
use crate::log::Position;

/// Time for which an intent holds after the last change, and in which a session without events counts as at work: 30
/// minutes.
pub const HOLDS_MICROS: Micros = 30 * 60 * 1_000_000;

/// A file that a session works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Its path, absolute and without steps upwards, if the host says where it is.
    pub path: String,
    /// When the session began to change it.
    pub since: Micros,
    /// When it last did.
    pub at: Micros,
    /// Position of the last event about it.
    pub position: Position,
    /// The last step that changed it.
    pub step: Option<Item>,
}

/// Returns the files that a session works on, the last touched first.
///
/// Asks the system whether the host still runs.
pub fn intents(processes: &HostProcesses, trail: &Trail, now: Micros) -> Vec<Intent> {
    let last = trail.happened.back();
    if last.is_none_or(|last| now.saturating_sub(last.at) >= HOLDS_MICROS) {
        return Vec::new();
    }
    let mut found: HashMap<String, Intent> = HashMap::new();
    for one in &trail.happened {
        let (files, step) = match &one.event {
            TrailEvent::Began { edits, .. } => (edits, None),
            TrailEvent::Called(call) if call.is_failure => continue,
            TrailEvent::Called(call) => {
                if call.command.as_deref().is_some_and(is_commit) {
                    found.clear();
                }
                let step = (call.step > 0).then_some(Item::Step {
                    step: call.step,
                    attempt: call.attempt,
                });
                (&call.edits, step)
            }
            TrailEvent::Ended => {
                found.clear();
                continue;
            }
            _ => continue,
        };
        for path in files {
            let path = normal(path);
            let intent = found.entry(path.clone()).or_insert_with(|| Intent {
                path,
                since: one.at,
                at: one.at,
                position: one.position,
                step: None,
            });
            intent.at = intent.at.max(one.at);
            intent.position = one.position;
            intent.step = step.clone().or_else(|| intent.step.take());
        }
    }
    found.retain(|_, intent| now.saturating_sub(intent.at) < HOLDS_MICROS);
    if found.is_empty() || has_crashed(processes, trail) {
        return Vec::new();
    }
    let mut found: Vec<Intent> = found.into_values().collect();
    found.sort_by(|one, other| {
        let key = |intent: &Intent| (std::cmp::Reverse(intent.position), intent.path.clone());
        key(one).cmp(&key(other))
    });
    found
}

/// Whether a session is being worked in now.
///
/// Asks the system whether the host still runs.
pub fn is_at_work(processes: &HostProcesses, trail: &Trail, now: Micros) -> bool {
    let mut newest = trail.happened.iter().rev();
    // Text that was added to its context is not its work.
    let last = newest.find(|one| !matches!(one.event, TrailEvent::Shown(_)));
    last.is_some_and(|last| now.saturating_sub(last.at) < HOLDS_MICROS)
        && !ended(trail)
        && !has_crashed(processes, trail)
}

/// Whether the host's session ended, and was not started again.
fn ended(trail: &Trail) -> bool {
    let mut newest = trail.happened.iter().rev();
    let last =
        newest.find(|one| !matches!(one.event, TrailEvent::TurnEnded | TrailEvent::Shown(_)));
    matches!(last.map(|one| &one.event), Some(TrailEvent::Ended))
}

/// Whether the process of the host has ended without a word.
fn has_crashed(processes: &HostProcesses, trail: &Trail) -> bool {
    let process = trail.process.as_deref();
    process.is_some_and(|process| processes.has_ended(process))
}

/// Returns a path without `.` and `..`, so that the same file is recognised. Links are not resolved.
pub fn normal(path: &str) -> String {
    let mut made = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if made.file_name().is_some() => {
                made.pop();
            }
            Component::ParentDir if made.has_root() => {}
            part => made.push(part),
        }
    }
    made.to_string_lossy().into_owned()
}

/// Whether a command line commits what was changed.
pub fn is_commit(line: &str) -> bool {
    line.split(['\n', ';', '&', '|', '(', ')']).any(|command| {
        let mut words = command.split_whitespace();
        let program = words.find(|word| !is_prefix(word));
        let program = program.map(|word| word.rsplit('/').next().unwrap_or(word));
        match program {
            Some("git") => verb(&mut words) == Some("commit"),
            Some("jj") => matches!(verb(&mut words), Some("commit" | "describe" | "new")),
            Some("hg" | "svn" | "fossil" | "sl") => {
                matches!(verb(&mut words), Some("commit" | "ci"))
            }
            _ => false,
        }
    })
}

/// Whether a word only introduces the program: an assignment of a variable, or a program that runs another one.
fn is_prefix(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    matches!(word, "sudo" | "env" | "command" | "exec" | "nice" | "time")
        || word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Returns the first word that is not an option of the program itself.
fn verb<'w>(words: &mut impl Iterator<Item = &'w str>) -> Option<&'w str> {
    while let Some(word) = words.next() {
        match word {
            // These have a value of their own.
            "-C" | "-c" | "-R" | "--git-dir" | "--work-tree" | "--repository" | "--cwd" => {
                words.next();
            }
            option if option.starts_with('-') => {}
            verb => return Some(verb),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_recognised_in_command_lines() {
        for line in [
            "git commit -m x",
            "git -C /w/shop commit -am 'x'",
            "cd a && git add . && git commit --amend",
            "GIT_AUTHOR_NAME=x git -c user.name=y commit",
            "/usr/bin/git commit",
            "(git commit -m 'x')",
            "sudo git commit",
            "hg ci",
            "jj describe -m x",
        ] {
            assert!(is_commit(line), "{line}");
        }
        for line in [
            "git log commit",
            "git show commit",
            "echo git commit",
            "git push",
            "git add commit",
            "git",
            "gitk commit",
            "",
        ] {
            assert!(!is_commit(line), "{line}");
        }
    }

    #[test]
    fn paths_are_compared_without_detours() {
        for (path, same) in [
            ("/w/./a/../b.rs", "/w/b.rs"),
            ("/w//b.rs", "/w/b.rs"),
            ("../b.rs", "../b.rs"),
            ("a/../../b.rs", "../b.rs"),
            ("/../b.rs", "/b.rs"),
            ("../../b.rs", "../../b.rs"),
        ] {
            assert_eq!(normal(path), same, "{path}");
        }
    }
}
