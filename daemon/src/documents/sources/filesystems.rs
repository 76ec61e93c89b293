//! Detects pseudo file systems, which expose the state of the system instead of user files.

use std::path::Path;

/// Magic numbers of these file systems on Linux.
const OF_THE_SYSTEM: &[(u64, &str)] = &[
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x1cd1, "devpts"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x7363_6673, "securityfs"),
    (0x6265_6570, "configfs"),
    (0xcafe_4a11, "bpf"),
    (0x6165_676c, "pstore"),
    (0x6573_5543, "fusectl"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x1980_0202, "mqueue"),
    (0xde5e_81e4, "efivarfs"),
    (0xf97c_ff8c, "selinuxfs"),
];

/// Returns the name of the pseudo file system that contains a folder, if any.
pub(super) fn of_the_system(folder: &Path) -> Option<&'static str> {
    let found = rustix::fs::statfs(folder).ok()?;
    let number = u64::try_from(found.f_type).ok()?;
    let known = OF_THE_SYSTEM.iter().find(|(known, _)| *known == number);
    known.map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells_is_no_file_of_anybody() {
        assert_eq!(of_the_system(Path::new("/proc/self")), Some("proc"));
        let dir = tempfile::tempdir().expect("a folder");
        assert_eq!(of_the_system(dir.path()), None);
    }
}
