//! The sandbox: forbidden actions are tried and refused, and the daemon's own actions work.
//! (Every other test of the daemon runs it sandboxed, too.)
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod broker;
mod serving;
mod tries;

use std::path::Path;
use std::time::Duration;

use lored::sandbox::Landlock;

/// Time limit for every wait, on a busy machine.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the version of the kernel's Landlock that was applied; 0 for none.
fn abi(landlock: &Landlock) -> u32 {
    match landlock {
        Landlock::Full { abi } | Landlock::Partial { abi, .. } => *abi,
        Landlock::None { .. } => 0,
    }
}

/// Returns the value after a word in a file of /proc, trimmed.
fn reported(path: &Path, word: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    Some(line.trim().to_owned())
}

/// Whether a process runs, and is not a zombie.
fn runs(pid: &str) -> bool {
    let status = Path::new("/proc").join(pid).join("status");
    reported(&status, "State:").is_some_and(|state| !state.starts_with(['Z', 'X']))
}
