//! The process gives up what it will not need: whoever takes it over while it serves can write below
//! its own folders, and little else.
//!
//! What is given up cannot be taken back, and threads have what the one that starts them has: so
//! [`confine`] is called before there is a second thread. What must stay free, [the starter of
//! resolvers](crate::upstream::Starter), is started before that.

#[cfg(target_os = "linux")]
mod rules;

use std::path::PathBuf;

/// What a process still needs, once it serves.
#[derive(Clone, Debug, Default)]
pub struct SandboxNeeds {
    /// Folders that it writes below. They must be there; a link to one stands for what it points to.
    pub folders: Vec<PathBuf>,
    /// Folders in which it makes and removes sockets, and nothing else.
    pub socket_folders: Vec<PathBuf>,
    /// TCP ports that it connects to, on any host.
    pub ports_connected_to: Vec<u16>,
    /// TCP ports that it listens on.
    pub ports_listened_on: Vec<u16>,
    /// Whether it connects to abstract Unix sockets, as some service managers have them.
    pub abstract_sockets: bool,
}

/// What holds for a process that was confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confinement {
    /// What the kernel refuses by Landlock.
    pub landlock: Landlock,
    /// Whether no program that it starts can get more rights than it has.
    pub no_new_privs: bool,
    /// Whether a crash may leave its memory on disk.
    pub core_dumps: bool,
}

/// What the kernel refuses by Landlock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landlock {
    /// All that is not among the [`SandboxNeeds`].
    Full {
        /// The version of the kernel's interface.
        abi: u32,
    },
    /// Less, since the kernel is older.
    Partial {
        /// The version of the kernel's interface.
        abi: u32,
        /// What it does not refuse.
        lacks: Vec<&'static str>,
    },
    /// Nothing.
    None {
        /// Why.
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

/// Gives up for good whatever is not needed: the calling thread, and all that it starts from now on.
/// What the system cannot do is told in what is returned, and is no reason not to serve.
#[must_use]
pub fn confine(needs: &SandboxNeeds) -> Confinement {
    let mut sandbox = keep_to_ourselves();
    sandbox.landlock = restrict(needs);
    sandbox
}

/// The same without Landlock: for file systems and set-ups that it stands in the way of.
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

/// Payloads are in our memory: no crash writes it down, and no other process of this user reads it.
/// The limit alone would not do, since a handler that the kernel pipes a dump to has none.
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

/// Closes the memory of this process to others of the same user, and to core dumps; whether that was
/// done. It holds until another program is executed.
#[cfg(target_os = "linux")]
pub fn hide_memory() -> bool {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    let done = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    is_done(done, "our memory is not closed to others")
}

/// On this system there is nothing to do but to limit core dumps.
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
