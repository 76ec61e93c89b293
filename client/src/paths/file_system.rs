//! What kind of file system a folder is on: whether what is written there outlives this system's run.

use std::path::Path;

/// The kinds that matter to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSystem {
    /// A disk or a share, or not known.
    Disk,
    /// In memory: `tmpfs` or `ramfs`. Gone after a restart, or with the sandbox.
    Memory,
    /// The layer of a container, gone with the container.
    Overlay,
}

/// Linux's numbers of file systems (statfs(2)).
const TMPFS: u32 = 0x0102_1994;
const RAMFS: u32 = 0x8584_58f6;
const OVERLAYFS: u32 = 0x794c_7630;

impl FileSystem {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Disk, Self::Memory, Self::Overlay];

    /// Returns the name in lock files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Memory => "memory",
            Self::Overlay => "overlay",
        }
    }

    /// Returns the file system of a folder, or of the nearest folder above it that exists: there it would be made.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        folder
            .ancestors()
            .find_map(magic)
            .map_or(Self::Disk, Self::numbered)
    }

    /// Returns the file system with this number.
    const fn numbered(magic: u32) -> Self {
        match magic {
            TMPFS | RAMFS => Self::Memory,
            OVERLAYFS => Self::Overlay,
            _ => Self::Disk,
        }
    }
}

/// Returns the number of the file system of an existing path.
#[cfg(target_os = "linux")]
fn magic(path: &Path) -> Option<u32> {
    let found = rustix::fs::statfs(path).ok()?;
    u32::try_from(found.f_type).ok()
}

/// Other systems number them differently, and have no sandboxes that hide a folder behind another.
#[cfg(not(target_os = "linux"))]
fn magic(_: &Path) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_are_known_by_their_numbers() {
        let expected = [
            (TMPFS, FileSystem::Memory),
            (RAMFS, FileSystem::Memory),
            (OVERLAYFS, FileSystem::Overlay),
            (0xef53, FileSystem::Disk),
            (0x5846_5342, FileSystem::Disk),
        ];
        for (magic, kind) in expected {
            assert_eq!(FileSystem::numbered(magic), kind, "{magic:x}");
        }
    }

    /// A folder that does not exist is judged by the one in which it would be made.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_missing_folder_is_on_the_file_system_above_it() {
        assert_eq!(
            FileSystem::of(Path::new("/proc/none/at/all")),
            FileSystem::Disk
        );
        let shared_memory = Path::new("/dev/shm");
        assert_eq!(
            FileSystem::of(&shared_memory.join("none/at/all")),
            FileSystem::of(shared_memory)
        );
    }
}
