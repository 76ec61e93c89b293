//! Once it serves, the daemon can do little besides: what it gave up is tried and refused, and what it
//! needs works. (Every other test of the daemon runs it confined, too.)
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod serving;
mod starter;
mod tries;

use std::path::Path;
use std::time::Duration;

use lored::confinement::Landlock;

/// How long anything may take on a machine that does other things, too.
const LIMIT: Duration = Duration::from_secs(60);

/// The version of the kernel's Landlock that was applied; 0 for none.
fn abi(landlock: &Landlock) -> u32 {
    match landlock {
        Landlock::Full { abi } | Landlock::Partial { abi, .. } => *abi,
        Landlock::None { .. } => 0,
    }
}

/// What a file of /proc says behind a word, without the space around it.
fn told(path: &Path, word: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    Some(line.trim().to_owned())
}

/// Whether a process runs, whoever is to reap it.
fn runs(pid: &str) -> bool {
    let status = Path::new("/proc").join(pid).join("status");
    told(&status, "State:").is_some_and(|state| !state.starts_with(['Z', 'X']))
}
