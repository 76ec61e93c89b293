//! Finds the files in which hosts keep transcripts.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use lored_hosts::Host;
use lored_hosts::transcript::{DATABASES, Database, FileState, PATHS};

use super::databases::log_of;
use super::opencode_tree;

/// Files that one search returns at most.
const FILES_MAX: usize = 200_000;
/// Folders and files that one search looks at.
const LOOKED_AT_MAX: usize = 2_000_000;
/// Problems that are listed; further ones are counted.
const PROBLEMS_MAX: usize = 100;

/// A file of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    /// The host.
    pub host: Host,
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Time of its last change in milliseconds since 1970.
    pub modified_ms: i64,
}

/// How the records of a file are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Lines, which are appended.
    Lines,
    /// One text, which is rewritten.
    Whole,
    /// The text of a session, which is rewritten, beside files of its messages.
    Tree,
    /// A database.
    Database(Database),
}

impl FoundFile {
    /// Returns how its records are separated.
    #[must_use]
    pub fn layout(&self) -> Layout {
        let name = self.path.file_name().unwrap_or_default();
        if let Some((database, _)) = DATABASES.iter().find(|(_, file)| name == *file) {
            return Layout::Database(*database);
        }
        match self.path.extension().and_then(|ending| ending.to_str()) {
            Some("jsonl") => Layout::Lines,
            _ if opencode_tree::is_session(self.host, &self.path) => Layout::Tree,
            _ => Layout::Whole,
        }
    }

    /// Whether the file is that of a session, not of a subagent.
    #[must_use]
    pub fn is_of_session(&self) -> bool {
        let path = self.path.to_string_lossy();
        FileState::of_path(self.host, &path).source.agent.is_none()
    }

    /// Returns the file at a path, without following a link.
    ///
    /// # Errors
    /// Why it cannot be read as a transcript.
    pub fn at(host: Host, path: &Path) -> Result<Self, String> {
        let metadata = fs::symlink_metadata(path).map_err(|error| error.to_string())?;
        if metadata.is_symlink() {
            return Err("a symbolic link, which is not followed".to_owned());
        }
        if !metadata.is_file() {
            return Err("not a file".to_owned());
        }
        let mut file = Self {
            host,
            path: path.to_owned(),
            bytes: metadata.len(),
            modified_ms: modified_ms(&metadata),
        };
        if matches!(file.layout(), Layout::Database(_))
            && let Ok(log) = fs::symlink_metadata(log_of(path))
        {
            file.bytes += log.len();
            file.modified_ms = file.modified_ms.max(modified_ms(&log));
        }
        Ok(file)
    }
}

fn modified_ms(metadata: &Metadata) -> i64 {
    let modified = metadata.modified().ok();
    let modified = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    i64::try_from(modified.unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

/// What could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The path.
    pub path: PathBuf,
    /// The reason.
    pub reason: String,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct FoundFiles {
    /// The files, the oldest change first.
    pub files: Vec<FoundFile>,
    /// What could not be looked at.
    pub problems: Vec<Problem>,
}

/// A folder in which transcripts are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedFolder {
    /// A home folder, a folder of a host in it, or one file.
    pub path: PathBuf,
    /// The host whose own folder it is, whatever its name.
    pub host: Option<Host>,
}

/// Returns the hosts whose transcripts can be read.
pub fn hosts() -> impl Iterator<Item = Host> {
    let has_some = |host: &Host| PATHS.iter().any(|(of, _)| of == host);
    Host::ALL.into_iter().filter(has_some)
}

/// Finds the transcripts of a host in a folder.
#[must_use]
pub fn find(host: Host, folder: &SearchedFolder) -> FoundFiles {
    let root = &folder.path;
    let mut search = Search {
        host,
        looked_at: 0,
        is_full: false,
        found: FoundFiles::default(),
    };
    match fs::metadata(root) {
        Ok(metadata) if metadata.is_file() => search.add(root),
        _ => {
            let patterns = PATHS.iter().filter(|(of, _)| *of == host);
            for (_, pattern) in patterns {
                let parts: Vec<&str> = pattern.split('/').collect();
                for skipped in 0..parts.len() {
                    let (before, rest) = parts.split_at(skipped);
                    if before.iter().any(|part| part.contains('*')) {
                        break;
                    }
                    // A home folder, or a folder on the way: it has the names before it, or the user says so.
                    let is_own = folder.host == Some(host) && skipped <= 1;
                    if is_own || root.ends_with(before.join("/")) {
                        search.walk(root, rest);
                    }
                }
            }
        }
    }
    let mut found = search.found;
    found
        .files
        .sort_by(|one, two| (one.modified_ms, &one.path).cmp(&(two.modified_ms, &two.path)));
    found.files.dedup_by(|one, two| one.path == two.path);
    if host == Host::Goose {
        let is_taken_over = |file: &FoundFile| {
            file.layout() == Layout::Lines && file.path.with_file_name("sessions.db").exists()
        };
        found.files.retain(|file| !is_taken_over(file));
    }
    found
}

struct Search {
    host: Host,
    looked_at: usize,
    is_full: bool,
    found: FoundFiles,
}

impl Search {
    fn add(&mut self, path: &Path) {
        if self.found.files.len() >= FILES_MAX {
            if !std::mem::replace(&mut self.is_full, true) {
                self.report(
                    path,
                    format!("more than {FILES_MAX} files; the others are left out"),
                );
            }
            return;
        }
        match FoundFile::at(self.host, path) {
            Ok(file) => self.found.files.push(file),
            Err(reason) => self.report(path, reason),
        }
    }

    fn report(&mut self, path: &Path, reason: String) {
        let is_known = self.found.problems.iter().any(|known| known.path == path);
        if !is_known && self.found.problems.len() < PROBLEMS_MAX {
            let path = path.to_owned();
            self.found.problems.push(Problem { path, reason });
        }
    }

    /// Adds the files of a folder whose paths match the parts of a pattern.
    fn walk(&mut self, folder: &Path, parts: &[&str]) {
        let Some((part, rest)) = parts.split_first() else {
            return;
        };
        if !part.contains('*') {
            let path = folder.join(part);
            match rest.is_empty() {
                true if fs::symlink_metadata(&path).is_ok() => self.add(&path),
                // The host's own folder may be a link to another place.
                false if path.is_dir() => self.walk(&path, rest),
                _ => {}
            }
            return;
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => return self.report(folder, error.to_string()),
        };
        for entry in entries.flatten() {
            self.looked_at += 1;
            if self.looked_at > LOOKED_AT_MAX {
                return self.report(folder, "too many files to look at".to_owned());
            }
            let name = entry.file_name();
            if !matches(part, &name.to_string_lossy()) {
                continue;
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            match rest.is_empty() {
                true if !kind.is_dir() => self.add(&entry.path()),
                false if kind.is_dir() => self.walk(&entry.path(), rest),
                false if kind.is_symlink() && entry.path().is_dir() => {
                    let reason = "a symbolic link, which is not followed";
                    self.report(&entry.path(), reason.to_owned());
                }
                _ => {}
            }
        }
    }
}

/// Whether a name matches a pattern, in which `*` stands for any characters.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((begin, end)) => {
            let is_long_enough = name.len() >= begin.len() + end.len();
            is_long_enough && name.starts_with(begin) && name.ends_with(end)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn folder(path: &Path) -> SearchedFolder {
        SearchedFolder {
            path: path.to_owned(),
            host: None,
        }
    }

    #[test]
    fn names_match_patterns_with_one_star() {
        for (pattern, name, is_match) in [
            ("*.jsonl", "a.jsonl", true),
            ("*.jsonl", ".jsonl", true),
            ("*.jsonl", "a.json", false),
            ("agent-*.jsonl", "agent-.jsonl", true),
            ("agent-*.jsonl", "agent-x.jsonl", true),
            ("aa*aa", "aaa", false),
            ("chats", "chats", true),
            ("*", "anything", true),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }

    #[test]
    fn files_are_found_below_the_home_and_the_hosts_folder() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join(".claude/projects/-work");
        fs::create_dir_all(project.join("s-2/subagents")).unwrap();
        for name in [
            "s-1.jsonl",
            "s-2.jsonl",
            "s-2/subagents/agent-a.jsonl",
            "notes.md",
        ] {
            fs::write(project.join(name), "{}\n").unwrap();
        }
        for root in [
            "",
            ".claude",
            ".claude/projects",
            ".claude/projects/-work/s-1.jsonl",
        ] {
            let found = find(Host::ClaudeCode, &folder(&home.path().join(root)));
            let expected = if root.ends_with("jsonl") { 1 } else { 3 };
            assert_eq!(found.files.len(), expected, "{root}: {found:?}");
            assert!(found.problems.is_empty());
        }
        let found = find(Host::ClaudeCode, &folder(home.path())).files;
        assert_eq!(found.iter().filter(|file| file.is_of_session()).count(), 2);
        assert!(find(Host::Codex, &folder(home.path())).files.is_empty());
        // A user's own folders may have the same names as folders of a host.
        fs::rename(home.path().join(".claude"), home.path().join("elsewhere")).unwrap();
        let elsewhere = home.path().join("elsewhere");
        assert!(find(Host::ClaudeCode, &folder(&elsewhere)).files.is_empty());
        let own = SearchedFolder {
            path: elsewhere,
            host: Some(Host::ClaudeCode),
        };
        assert_eq!(find(Host::ClaudeCode, &own).files.len(), 3);
    }

    /// A link may lead anywhere: into another user's files, to a device, or in a circle.
    #[cfg(unix)]
    #[test]
    fn links_are_reported_and_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let projects = home.path().join(".claude/projects");
        fs::create_dir_all(projects.join("own")).unwrap();
        let outside = home.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("s.jsonl"), "{}\n").unwrap();
        std::os::unix::fs::symlink(&outside, projects.join("linked")).unwrap();
        std::os::unix::fs::symlink(outside.join("s.jsonl"), projects.join("own/t.jsonl")).unwrap();
        std::os::unix::fs::symlink(&projects, projects.join("circle")).unwrap();
        let found = find(Host::ClaudeCode, &folder(home.path()));
        assert!(found.files.is_empty(), "{found:?}");
        assert!(found.problems.len() >= 3, "{found:?}");
        assert!(
            found
                .problems
                .iter()
                .all(|one| one.reason.contains("symbolic link"))
        );
    }
}
