//! A limit on a process's memory that the kernel enforces: a control group, for tests that may make one.

use std::path::{Path, PathBuf};

/// Where the groups for memory are, with the name of the limit: of version 2, and of version 1.
const GROUPS: [(&str, &str); 2] = [
    ("/sys/fs/cgroup", "memory.max"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
];

/// A control group with a limit. It goes when it is dropped, after its processes have ended.
pub struct MemoryLimit {
    folder: PathBuf,
}

impl MemoryLimit {
    /// Makes a group with a limit in bytes. Returns none where this process must not, or where there are no such groups.
    pub fn new(bytes: u64) -> Option<Self> {
        GROUPS.iter().find_map(|(groups, limit)| {
            let folder = Path::new(groups).join(format!("lored-bounds-{}", std::process::id()));
            std::fs::create_dir(&folder).ok()?;
            let limited = Self { folder };
            // A folder of another kind has no such file.
            let limit = limited.folder.join(limit);
            (limit.exists() && std::fs::write(limit, bytes.to_string()).is_ok()).then_some(limited)
        })
    }

    /// Puts a process into the group: from now on, the kernel ends it rather than give it more.
    ///
    /// # Panics
    /// When the kernel refuses.
    pub fn hold(&self, pid: u32) {
        std::fs::write(self.folder.join("cgroup.procs"), pid.to_string()).expect("a group of ours");
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir(&self.folder) {
            eprintln!("{} was left: {error}", self.folder.display());
        }
    }
}
