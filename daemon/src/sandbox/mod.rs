//! The process drops privileges that it does not need: an attacker who takes it over while it serves can write
//! below the daemon's own folders, and little else.
//!
//! Dropped privileges cannot be regained, and threads inherit from the thread that starts them. [`confine`] is
//! therefore called before there is a second thread. [The process broker](crate::upstream::ProcessBroker), which
//! must stay unrestricted, is started before that.

#[cfg(target_os = "linux")]
mod rules;
#[cfg(target_os = "linux")]
mod system_calls;

use std::path::PathBuf;

/// Privileges that a process still needs once it serves.
#[derive(Clone, Debug, Default)]
pub struct SandboxNeeds {
    /// Folders below which it writes. They must exist; a link is resolved to its target.
    pub folders: Vec<PathBuf>,
    /// Folders in which it creates and removes sockets, and nothing else.
    pub socket_folders: Vec<PathBuf>,
    /// TCP ports that it connects to, on any host.
    pub ports_connected_to: Vec<u16>,
    /// TCP ports that it listens on.
    pub ports_listened_on: Vec<u16>,
    /// Whether it connects to abstract Unix sockets, which some service managers use.
    pub abstract_sockets: bool,
}

/// Restrictions in force for a confined process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// Landlock restrictions.
    pub landlock: Landlock,
    /// Whether programs that it starts cannot gain privileges.
    pub no_new_privs: bool,
    /// Whether a crash may write its memory to disk.
    pub core_dumps: bool,
}

/// Landlock restrictions in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landlock {
    /// All that is not among the [`SandboxNeeds`].
    Full {
        /// Version of the kernel's interface.
        abi: u32,
    },
    /// Some restrictions are missing because the kernel is older.
    Partial {
        /// Version of the kernel's interface.
        abi: u32,
        /// Missing restrictions.
        lacks: Vec<&'static str>,
    },
    /// No restrictions.
    None {
        /// Reason.
        reason: String,
    },
}

impl std::fmt::Display for Landlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Full { abi } => write!(f, "full: ABI {abi}"),
            Self::Partial { abi, lacks } => {
                write!(f, "partial: ABI {abi}, without {}", lacks.join(", "))
            }
            Self::None { reason } => write!(f, "none: {reason}"),
        }
    }
}

/// Permanently drops all privileges that are not needed, for the calling thread and everything that it starts
/// later. The result reports restrictions that the system does not support; they do not prevent serving.
#[must_use]
pub fn confine(needs: &SandboxNeeds) -> Confinement {
    let mut sandbox = keep_to_ourselves();
    sandbox.landlock = restrict(needs);
    sandbox
}

/// Like [`confine`], but without Landlock: for file systems and set-ups that are incompatible with it.
#[must_use]
pub fn keep_to_ourselves() -> Confinement {
    Confinement {
        landlock: Landlock::None {
            reason: "the setting `service.confine` is false".to_owned(),
        },
        no_new_privs: forgo_privileges(),
        core_dumps: !forbid_core_dumps(),
    }
}

/// Permanently gives up everything but computing and the open descriptors: files, network, other processes. For a process
/// that reads input from anybody. What the system does not support is skipped: the process has no other protection
/// then than its limits.
pub fn seal() {
    forgo_privileges();
    forbid_core_dumps();
    #[cfg(target_os = "linux")]
    {
        if let Landlock::None { reason } = rules::seal() {
            tracing::debug!(reason, "files are not closed to this process");
        }
        let restricted = system_calls::restrict();
        if let Err(error) = restricted {
            tracing::debug!(%error, "system calls are not restricted");
        }
    }
}

#[cfg(target_os = "linux")]
fn restrict(needs: &SandboxNeeds) -> Landlock {
    rules::restrict(needs)
}

#[cfg(not(target_os = "linux"))]
fn restrict(_needs: &SandboxNeeds) -> Landlock {
    Landlock::None {
        reason: "this system has no Landlock".to_owned(),
    }
}

#[cfg(target_os = "linux")]
fn forgo_privileges() -> bool {
    let done = rustix::thread::set_no_new_privs(true);
    is_done(done, "new privileges are not ruled out")
}

#[cfg(not(target_os = "linux"))]
fn forgo_privileges() -> bool {
    false
}

/// Disables core dumps: memory contains payloads, so no crash may write it and no other process of this user may
/// read it. The limit alone is not enough, because it does not apply to a handler that the kernel pipes a dump to.
fn forbid_core_dumps() -> bool {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    let limited = is_done(
        setrlimit(Resource::Core, none),
        "the size of core dumps is not limited",
    );
    limited && hide_memory()
}

/// Closes the memory of this process to other processes of the same user and to core dumps; returns whether that
/// succeeded. It holds until another program is executed.
#[cfg(target_os = "linux")]
pub fn hide_memory() -> bool {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    let done = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    is_done(done, "our memory is not closed to others")
}

/// On this system, limiting core dumps is all that can be done.
#[cfg(not(target_os = "linux"))]
pub fn hide_memory() -> bool {
    true
}

fn is_done(result: rustix::io::Result<()>, what: &'static str) -> bool {
    if let Err(error) = &result {
        tracing::warn!(%error, "{what}");
    }
    result.is_ok()
}
