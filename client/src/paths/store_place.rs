//! Where a daemon worked on a store: noted in its lock file, for clients that see the store from elsewhere.

use std::fmt;
use std::path::Path;

use super::FileSystem;

/// Number of the first namespace of process ids, as Linux fixes it: that of a machine outside of all containers.
const FIRST_NAMESPACE: u64 = 0xEFFF_FFFC;

/// Words of the lock file.
const NAMESPACE: &str = "pid-namespace ";
const FILE_SYSTEM: &str = "file-system ";

/// The place from which a process sees a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorePlace {
    /// Number of the namespace of process ids; `None` where there is none, or it is not known.
    pub pid_namespace: Option<u64>,
    /// File system of the data folder; `None` if it is not known.
    pub file_system: Option<FileSystem>,
}

impl StorePlace {
    /// Returns the place of this process and a data folder.
    #[must_use]
    pub fn here(data: &Path) -> Self {
        let link = std::fs::read_link("/proc/self/ns/pid").ok();
        let number = |link: &Path| {
            let text = link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?;
            text.parse().ok()
        };
        Self {
            pid_namespace: link.as_deref().and_then(number),
            file_system: Some(FileSystem::of(data)),
        }
    }

    /// Reads the place from the lines of a lock file. Older daemons wrote none.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let value = |word| text.lines().find_map(|line| line.strip_prefix(word));
        let file_system = value(FILE_SYSTEM).and_then(|name| {
            FileSystem::ALL
                .into_iter()
                .find(|known| known.name() == name.trim())
        });
        Self {
            pid_namespace: value(NAMESPACE).and_then(|number| number.trim().parse().ok()),
            file_system,
        }
    }

    /// Returns whether a process at `here` sees the store of this place through a sandbox or a container: a daemon that it
    /// starts ends with that, or writes to a copy.
    #[must_use]
    pub fn is_outside_of(&self, here: &Self) -> bool {
        let is_in_sandbox = self.pid_namespace == Some(FIRST_NAMESPACE)
            && here
                .pid_namespace
                .is_some_and(|number| number != FIRST_NAMESPACE);
        let is_copy = self.file_system == Some(FileSystem::Disk)
            && here
                .file_system
                .is_some_and(|found| found != FileSystem::Disk);
        is_in_sandbox || is_copy
    }
}

/// The lines of the lock file.
impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.pid_namespace {
            writeln!(f, "{NAMESPACE}{number}")?;
        }
        if let Some(found) = self.file_system {
            writeln!(f, "{FILE_SYSTEM}{}", found.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_and_read() {
        for file_system in FileSystem::ALL {
            let place = StorePlace {
                pid_namespace: Some(FIRST_NAMESPACE),
                file_system: Some(file_system),
            };
            let text = format!("7\nmanager client\n{place}");
            assert_eq!(StorePlace::read(&text), place);
        }
        let unknown = StorePlace {
            pid_namespace: None,
            file_system: None,
        };
        assert_eq!(StorePlace::read("7\nmanager client\n"), unknown);
        assert_eq!(
            StorePlace::read("file-system nfs\npid-namespace x"),
            unknown
        );
        assert_eq!(unknown.to_string(), "");
    }

    #[test]
    fn a_store_is_seen_through_a_sandbox_or_not() {
        let place = |pid_namespace, file_system| StorePlace {
            pid_namespace,
            file_system,
        };
        let (first, other) = (Some(FIRST_NAMESPACE), Some(4_026_532_000));
        let (disk, overlay) = (Some(FileSystem::Disk), Some(FileSystem::Overlay));
        let machine = place(first, disk);
        for (here, is_outside) in [
            (machine, false),
            (place(other, disk), true),
            (place(first, overlay), true),
            (place(first, Some(FileSystem::Memory)), true),
            (place(None, None), false),
        ] {
            assert_eq!(machine.is_outside_of(&here), is_outside, "{here:?}");
        }
        // Each run of a container has a namespace of its own, and its layer is always an overlay.
        let container = place(Some(4_026_532_001), overlay);
        assert!(!container.is_outside_of(&place(other, overlay)));
        assert!(!place(None, None).is_outside_of(&machine));
    }
}
