//! Both programs under their user-visible names.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tests::{ColdHome, cold};

/// A home, and a folder with `lore` and `lored` in it: help names a program by its command.
pub struct Programs {
    /// The home.
    pub cold: ColdHome,
}

impl Programs {
    pub fn new() -> Self {
        let programs = Self {
            cold: cold!().with_home(crate::home()),
        };
        std::fs::create_dir(programs.folder()).unwrap();
        let lore = env!("CARGO_BIN_EXE_lore-under-test");
        let lored = env!("CARGO_BIN_EXE_lored-under-test");
        symlink(lore, programs.folder().join("lore")).unwrap();
        symlink(lored, programs.folder().join("lored")).unwrap();
        programs
    }

    pub fn folder(&self) -> PathBuf {
        self.cold.home.path().join("bin")
    }

    /// Runs one of the programs in the home, with no other environment.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Output {
        Command::new(self.folder().join(program))
            .env_clear()
            .env("LORE_HOME", self.cold.home.path())
            .env("LORE_DAEMON", self.folder().join("lored"))
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}
