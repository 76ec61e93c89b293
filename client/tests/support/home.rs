//! A home for `lore setup`.

use std::fs;
use std::path::{Path, PathBuf};

use super::cli::{lore_with, parts};

const MACOS_VSCODE: &str = "Library/Application Support/Code/User/mcp.json";

/// A temporary home, with this program on PATH.
pub struct TestHome(tempfile::TempDir);

impl TestHome {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, below: &str) -> PathBuf {
        let below = match below {
            ".config/Code/User/mcp.json" if cfg!(target_os = "macos") => MACOS_VSCODE,
            below => below,
        };
        self.0.path().canonicalize().unwrap().join(below)
    }

    pub fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs `lore setup` for the entry alone and returns exit code, standard output and standard error.
    pub fn setup(&self, arguments: &[&str]) -> (i32, String, String) {
        self.setup_all(&[arguments, &["--no-hooks"]].concat())
    }

    /// The same with all that belongs to a host.
    pub fn setup_all(&self, arguments: &[&str]) -> (i32, String, String) {
        let program = Path::new(env!("CARGO_BIN_EXE_lore"));
        let folder = program.parent().unwrap().to_str().unwrap().to_owned();
        self.setup_with(&[("PATH", &folder)], arguments)
    }

    /// Runs `lore doctor --json`.
    pub fn doctor(&self) -> serde_json::Value {
        let program = Path::new(env!("CARGO_BIN_EXE_lore"));
        let folder = program.parent().unwrap().to_str().unwrap();
        let home = self.path("");
        let variables = [("HOME", home.to_str().unwrap()), ("PATH", folder)];
        let (_, out, _) = parts(lore_with(&home, &variables, &["doctor", "--json"], ""));
        serde_json::from_str(&out).unwrap()
    }

    /// Runs `lore plugin` for a folder below the home.
    pub fn plugin(&self, form: &str, below: &str, flags: &[&str]) -> (i32, String, String) {
        let (home, folder) = (self.path(""), self.path(below));
        let arguments = [&["plugin", form, folder.to_str().unwrap()], flags].concat();
        parts(lore_with(&home, &[], &arguments, ""))
    }

    pub fn setup_with(
        &self,
        variables: &[(&str, &str)],
        arguments: &[&str],
    ) -> (i32, String, String) {
        let home = self.path("");
        let mut all = vec![("HOME", home.to_str().unwrap())];
        all.extend(variables);
        let arguments: Vec<&str> = ["setup"].iter().chain(arguments).copied().collect();
        parts(lore_with(&home, &all, &arguments, ""))
    }

    /// Lists every file and link below the home.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => found.push(path),
                }
            }
        }
        found.sort();
        found
    }
}

/// Returns the path of a file's backup.
pub fn backup(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap().to_str().unwrap();
    file.with_file_name(format!("{name}.lore-backup"))
}
