//! Judges whether a daemon that is started here would work on the user's own disk, and outlive the caller.
//!
//! A host's sandbox may hide the home folder behind an empty one. A daemon that is started there acknowledges what is
//! lost with the sandbox.

use std::fmt;
use std::io::{self, IsTerminal};
use std::path::Path;

use lored_hosts::Host;
use lored_hosts::environment;

use crate::mailbox;
use crate::manager;
use crate::paths::{self, FileSystem, Paths, StorePlace};

/// Reason why no daemon is started here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceDoubt {
    /// The variables of a host's sandbox are set. `None`: those of a sandbox of an unknown host.
    Sandbox(Option<Host>),
    /// The sandbox of a host that hides the home folder from everything that it runs.
    HiddenHome(Host),
    /// A daemon outside of this sandbox serves this store, which is not to be seen here.
    ServedOutside,
    /// A daemon outside of this sandbox or container served this store last.
    OtherPlace,
    /// The data folder would be in memory, and holds no store.
    Memory,
    /// The data folder would be in a container's own layer, holds no store, and no person started this.
    Container,
}

/// What is known of the place.
#[derive(Debug, Clone, Copy)]
struct Evidence {
    /// The data folder holds the file that marks a store.
    has_store: bool,
    /// File system of the data folder.
    file_system: FileSystem,
    /// `LORE_HOME` names the folder.
    is_named: bool,
    /// The folder that `LORE_HOME` names exists: a sandbox does not hide it.
    has_named_folder: bool,
    /// A person's terminal is the input or the output.
    has_terminal: bool,
    /// The host that runs this process.
    host: Option<Host>,
    /// The variables of a sandbox are set.
    is_marked: bool,
    /// The first process of the system is the one that makes sandboxes, or the home folder is in memory.
    is_boxed: bool,
    /// A daemon that cannot be seen serves the mailboxes of this store.
    is_served_outside: bool,
    /// The store was served last from a place outside of this one.
    is_other_place: bool,
}

/// Returns why no daemon may be started, if one may not.
const fn judge(evidence: &Evidence) -> Option<PlaceDoubt> {
    if evidence.is_marked {
        return Some(PlaceDoubt::Sandbox(evidence.host));
    }
    // Copilot sets no variable that says so.
    if let (Some(host @ Host::CopilotCli), true) = (evidence.host, evidence.is_boxed) {
        return Some(PlaceDoubt::HiddenHome(host));
    }
    if evidence.is_served_outside {
        return Some(PlaceDoubt::ServedOutside);
    }
    if evidence.is_other_place {
        return Some(PlaceDoubt::OtherPlace);
    }
    if evidence.has_store {
        return None;
    }
    match evidence.file_system {
        // A user's `LORE_HOME` may be in a home folder that a sandbox hides behind an empty one.
        FileSystem::Memory if !(evidence.is_named && evidence.has_named_folder) => {
            Some(PlaceDoubt::Memory)
        }
        FileSystem::Overlay if !(evidence.is_named || evidence.has_terminal) => {
            Some(PlaceDoubt::Container)
        }
        FileSystem::Memory | FileSystem::Overlay | FileSystem::Disk => None,
    }
}

/// Returns why no daemon may be started at these places, if one may not.
pub(super) fn doubt(paths: &Paths) -> Option<PlaceDoubt> {
    judge(&Evidence::of(paths))
}

impl Evidence {
    fn of(paths: &Paths) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let named = |name: &str| paths::variable(name).filter(|value| !value.is_empty());
        let lore_home = named("LORE_HOME");
        let home = named("HOME").map(|home| FileSystem::of(home.as_ref()));
        Self {
            has_store: paths.store_marker().exists(),
            file_system: FileSystem::of(&paths.data),
            is_named: lore_home.is_some(),
            has_named_folder: lore_home.is_some_and(|home| Path::new(&home).is_dir()),
            has_terminal: io::stdin().is_terminal() || io::stdout().is_terminal(),
            host: environment::caller(variable).map(|caller| caller.host),
            is_marked: environment::is_sandboxed(variable),
            is_boxed: is_first_process_bwrap() || home == Some(FileSystem::Memory),
            is_served_outside: mailbox::is_served_elsewhere(paths),
            is_other_place: last_place(paths).is_outside_of(&StorePlace::here(&paths.data)),
        }
    }
}

/// Returns the place from which the store was served last, according to its lock file, whether that is held or not.
fn last_place(paths: &Paths) -> StorePlace {
    let text = manager::lock_text(&paths.daemon_lock()).unwrap_or_default();
    StorePlace::read(&text)
}

/// Returns whether the first process of this system is bubblewrap: it is that of a sandbox.
fn is_first_process_bwrap() -> bool {
    std::fs::read_to_string("/proc/1/comm").is_ok_and(|name| name.trim() == "bwrap")
}

impl PlaceDoubt {
    /// Returns whether a write may be left in a mailbox that no daemon serves now: the folder outlives the sandbox.
    pub(super) const fn has_lasting_mailboxes(self) -> bool {
        matches!(self, Self::Sandbox(_) | Self::ServedOutside)
    }

    /// Returns what helps here.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::HiddenHome(_) => {
                "start the daemon outside of it, with `lore status` in a terminal, and let Copilot reach it: set \
                 `sandbox.sandboxMcpServers` to false, or list lore's folders (LORE_HOME) in \
                 `sandbox.userPolicy.filesystem.readwritePaths`"
            }
            Self::Sandbox(Some(Host::ClaudeCode)) => {
                "lore's tools and hooks run outside of Claude Code's sandbox, and start it: `lore setup claude-code` installs \
                 them; or run `lore status` in a terminal"
            }
            Self::Sandbox(Some(Host::Codex)) => {
                "lore's tools and hooks run outside of Codex's sandbox, and start it: `lore setup codex` installs them; or \
                 run `lore status` in a terminal"
            }
            Self::Sandbox(_) | Self::ServedOutside => {
                "lore's tools and hooks run outside of the sandbox, and start it; or run `lore status` in a terminal"
            }
            Self::OtherPlace => {
                "start the daemon outside of it, with `lore status` in a terminal; if the store is to be served from here, start \
                 `lored` here once"
            }
            Self::Memory => {
                "in a sandbox, start the daemon outside of it, with `lore status` in a terminal, and let the sandbox see lore's \
                 data folder and socket; elsewhere, set LORE_HOME to a folder on a disk"
            }
            Self::Container => {
                "set LORE_HOME to a folder that outlives the container, for example on a volume; or run `lore status` in a \
                 terminal of the container, if its own layer is to hold the memory"
            }
        }
    }
}

impl fmt::Display for PlaceDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sandbox(Some(host)) => write!(
                f,
                "a command in the sandbox of {} does not start one: it would end, and could lose its data, with the sandbox",
                host.title()
            ),
            Self::Sandbox(None) => f.write_str(
                "a command in a host's sandbox does not start one: it would end, and could lose its data, with the sandbox",
            ),
            Self::HiddenHome(host) => write!(
                f,
                "a program in the sandbox of {}, which hides the home folder, does not start one: everything that it stored \
                 would be lost with the sandbox",
                host.title()
            ),
            Self::ServedOutside => f.write_str(
                "a command in this sandbox does not start one: a daemon outside of it serves this store",
            ),
            Self::OtherPlace => f.write_str(
                "a client does not start one here: this store was served last outside of this sandbox or container, and a daemon \
                 here would end with it, or write to a copy",
            ),
            Self::Memory => f.write_str(
                "a client does not start one here: the data folder holds no store and is in memory (tmpfs), so everything that it \
                 stored could be lost",
            ),
            Self::Container => f.write_str(
                "a program without a terminal does not start one here: the data folder holds no store and is in a container's own \
                 layer (overlay), so everything that it stored would be lost with the container",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A person's machine without a store: a daemon may start.
    const USUAL: Evidence = Evidence {
        has_store: false,
        file_system: FileSystem::Disk,
        is_named: false,
        has_named_folder: false,
        has_terminal: false,
        host: None,
        is_marked: false,
        is_boxed: false,
        is_served_outside: false,
        is_other_place: false,
    };

    #[test]
    fn a_daemon_is_started_where_the_data_is_the_users_own() {
        let memory = Evidence {
            file_system: FileSystem::Memory,
            ..USUAL
        };
        let overlay = Evidence {
            file_system: FileSystem::Overlay,
            ..USUAL
        };
        let allowed = [
            USUAL,
            Evidence {
                host: Some(Host::ClaudeCode),
                ..USUAL
            },
            // A home in memory is doubtful only without a store or a name.
            Evidence {
                has_store: true,
                ..memory
            },
            Evidence {
                is_named: true,
                has_named_folder: true,
                ..memory
            },
            Evidence {
                has_store: true,
                ..overlay
            },
            Evidence {
                is_named: true,
                ..overlay
            },
            // A person in a container.
            Evidence {
                has_terminal: true,
                ..overlay
            },
            // A person's own bubblewrap, or flatpak.
            Evidence {
                is_boxed: true,
                ..USUAL
            },
            // Copilot without its sandbox.
            Evidence {
                host: Some(Host::CopilotCli),
                ..USUAL
            },
        ];
        for evidence in allowed {
            assert_eq!(judge(&evidence), None, "{evidence:?}");
        }
    }

    #[test]
    fn no_daemon_is_started_where_the_data_may_be_lost() {
        // What would allow it elsewhere does not help in a sandbox.
        let trusted = Evidence {
            has_store: true,
            is_named: true,
            has_named_folder: true,
            has_terminal: true,
            ..USUAL
        };
        let refused = [
            (
                Evidence {
                    is_marked: true,
                    host: Some(Host::Codex),
                    ..trusted
                },
                PlaceDoubt::Sandbox(Some(Host::Codex)),
            ),
            (
                Evidence {
                    is_marked: true,
                    ..trusted
                },
                PlaceDoubt::Sandbox(None),
            ),
            (
                Evidence {
                    is_boxed: true,
                    host: Some(Host::CopilotCli),
                    ..trusted
                },
                PlaceDoubt::HiddenHome(Host::CopilotCli),
            ),
            (
                Evidence {
                    is_served_outside: true,
                    ..trusted
                },
                PlaceDoubt::ServedOutside,
            ),
            (
                Evidence {
                    is_other_place: true,
                    ..trusted
                },
                PlaceDoubt::OtherPlace,
            ),
            (
                Evidence {
                    file_system: FileSystem::Memory,
                    has_terminal: true,
                    ..USUAL
                },
                PlaceDoubt::Memory,
            ),
            // A sandbox hides the folder that is named.
            (
                Evidence {
                    file_system: FileSystem::Memory,
                    is_named: true,
                    has_named_folder: false,
                    ..USUAL
                },
                PlaceDoubt::Memory,
            ),
            (
                Evidence {
                    file_system: FileSystem::Overlay,
                    ..USUAL
                },
                PlaceDoubt::Container,
            ),
        ];
        for (evidence, doubt) in refused {
            assert_eq!(judge(&evidence), Some(doubt), "{evidence:?}");
            assert!(doubt.to_string().contains("does not start one"), "{doubt}");
        }
    }

    #[test]
    fn each_host_has_its_remedy() {
        let of = |host| PlaceDoubt::Sandbox(Some(host)).remedy();
        assert!(of(Host::ClaudeCode).contains("lore setup claude-code"));
        assert!(of(Host::Codex).contains("lore setup codex"));
        let copilot = PlaceDoubt::HiddenHome(Host::CopilotCli);
        assert!(copilot.remedy().contains("sandbox.sandboxMcpServers"));
        assert!(PlaceDoubt::Container.remedy().contains("LORE_HOME"));
    }
}
