//! Which folders are watched for transcripts: those on the way to them, and those in which they lie.

use std::path::{Path, PathBuf};

use lored_hosts::Host;
use lored_hosts::transcript::PATHS;

use super::files::matches;
use crate::watch::{DirWatcher, Folder, PathKind, WatchOutcome, WatchScope};

/// Folders that are watched at most, those that changed last.
const FOLDERS_MAX: usize = 4096;

/// The transcripts of some hosts in a home folder.
#[derive(Debug)]
pub struct TranscriptFolders {
    home: PathBuf,
    patterns: Vec<(Host, Vec<&'static str>)>,
}

impl TranscriptFolders {
    /// Returns those of these hosts. `home` has its links resolved.
    #[must_use]
    pub fn new(home: PathBuf, hosts: &[Host]) -> Self {
        let patterns = PATHS.iter().filter(|(host, _)| hosts.contains(host));
        let patterns = patterns.map(|(host, pattern)| (*host, pattern.split('/').collect()));
        Self {
            home,
            patterns: patterns.collect(),
        }
    }

    /// Returns the names of a path below the home folder.
    fn names<'p>(&self, path: &'p Path) -> Option<Vec<std::borrow::Cow<'p, str>>> {
        let below = path.strip_prefix(&self.home).ok()?;
        let names = below
            .components()
            .map(|part| part.as_os_str().to_string_lossy());
        Some(names.collect())
    }

    /// Returns the host whose transcript a path is.
    #[must_use]
    pub fn host_of(&self, path: &Path) -> Option<Host> {
        let names = self.names(path)?;
        let is_its = |parts: &[&str]| {
            parts.len() == names.len()
                && parts
                    .iter()
                    .zip(&names)
                    .all(|(part, name)| matches(part, name))
        };
        let found = self.patterns.iter().find(|(_, parts)| is_its(parts));
        found.map(|(host, _)| *host)
    }

    /// Whether a folder is on the way to transcripts.
    fn is_on_the_way(&self, path: &Path) -> bool {
        let Some(names) = self.names(path) else {
            return false;
        };
        self.patterns.iter().any(|(_, parts)| {
            parts.len() > names.len()
                && parts
                    .iter()
                    .zip(&names)
                    .all(|(part, name)| matches(part, name))
        })
    }

    /// Watches a folder and those below it that are on the way; adds the transcripts in them.
    fn watch_below(
        &self,
        watcher: &mut DirWatcher,
        folder: &Path,
        watched: &mut usize,
        files: &mut Vec<PathBuf>,
    ) -> Result<WatchOutcome, String> {
        if *watched == FOLDERS_MAX {
            tracing::info!(folder = %folder.display(), "too many folders: transcripts in older ones are not followed");
        }
        *watched += 1;
        if *watched > FOLDERS_MAX {
            return Ok(WatchOutcome::None);
        }
        let outcome = watcher.watch(folder)?;
        if matches!(outcome, WatchOutcome::Gone | WatchOutcome::None) {
            return Ok(outcome);
        }
        let Ok(entries) = std::fs::read_dir(folder) else {
            return Ok(outcome);
        };
        let mut below = Vec::new();
        for entry in entries.flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && self.is_on_the_way(&path) => {
                    let changed = entry.metadata().and_then(|found| found.modified());
                    below.push((changed.ok(), path));
                }
                Ok(kind) if kind.is_file() && self.host_of(&path).is_some() => files.push(path),
                _ => {}
            }
        }
        below.sort();
        for (_, path) in below.into_iter().rev() {
            self.watch_below(watcher, &path, watched, files)?;
        }
        Ok(outcome)
    }

    /// Returns the first folders of the patterns that exist, such as `.claude`: the home folder itself changes too often.
    fn roots(&self) -> Vec<PathBuf> {
        let firsts = self.patterns.iter().filter(|(_, parts)| parts.len() > 1);
        let mut roots: Vec<PathBuf> = firsts
            .filter_map(|(_, parts)| parts.first())
            .map(|first| self.home.join(first))
            .collect();
        roots.sort();
        roots.dedup();
        roots
    }
}

impl WatchScope for TranscriptFolders {
    type Key = PathBuf;

    fn what(&self) -> String {
        "transcripts".to_owned()
    }

    fn root(&self) -> &Path {
        &self.home
    }

    fn place(&self, path: &Path) -> Option<PathKind<PathBuf>> {
        if path == self.home {
            return Some(PathKind::Root);
        }
        if self.host_of(path).is_some() {
            return Some(PathKind::File(path.to_owned()));
        }
        // The last changes of a database are in its log.
        let database = path.to_str().and_then(|path| path.strip_suffix("-wal"));
        if let Some(database) = database.map(Path::new)
            && self.host_of(database).is_some()
        {
            return Some(PathKind::File(database.to_owned()));
        }
        let folder = path.to_str().filter(|_| self.is_on_the_way(path))?;
        Some(PathKind::Folder(folder.to_owned()))
    }

    fn path(&self, key: &PathBuf) -> PathBuf {
        key.clone()
    }

    fn open(&self, watcher: &mut DirWatcher) -> Result<Option<String>, String> {
        let (mut watched, mut files) = (0, Vec::new());
        let mut trouble = None;
        for root in self.roots() {
            if let Err(reason) = self.watch_below(watcher, &root, &mut watched, &mut files) {
                trouble = Some(reason);
            }
        }
        Ok(trouble)
    }

    fn folder(&self, watcher: &mut DirWatcher, folder: &str) -> Result<Folder<PathBuf>, String> {
        let (mut watched, mut files) = (0, Vec::new());
        let path = Path::new(folder);
        Ok(
            match self.watch_below(watcher, path, &mut watched, &mut files)? {
                WatchOutcome::New | WatchOutcome::Same => Folder::Watched(files),
                WatchOutcome::Replaced => Folder::Replaced(files),
                WatchOutcome::Gone => {
                    watcher.forget(path);
                    Folder::Gone
                }
                WatchOutcome::None => Folder::None,
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_apart() {
        let hosts = [Host::ClaudeCode, Host::Codex];
        let scope = TranscriptFolders::new(PathBuf::from("/home/u"), &hosts);
        let place = |path: &str| scope.place(Path::new(path));
        let file = |path: &str| Some(PathKind::File(PathBuf::from(path)));
        let folder = |path: &str| Some(PathKind::Folder(path.to_owned()));
        let session = "/home/u/.claude/projects/-w/s.jsonl";
        assert_eq!(place(session), file(session));
        assert_eq!(scope.host_of(Path::new(session)), Some(Host::ClaudeCode));
        for on_the_way in [
            "/home/u/.claude",
            "/home/u/.claude/projects",
            "/home/u/.claude/projects/-w",
            "/home/u/.claude/projects/-w/s",
            "/home/u/.claude/projects/-w/s/subagents",
            "/home/u/.codex/sessions/2026",
        ] {
            assert_eq!(place(on_the_way), folder(on_the_way));
        }
        let hosts = [Host::OpenCode];
        let databases = TranscriptFolders::new(PathBuf::from("/home/u"), &hosts);
        let database = "/home/u/.local/share/opencode/opencode.db";
        let log = databases.place(Path::new("/home/u/.local/share/opencode/opencode.db-wal"));
        assert_eq!(log, file(database));
        for other in [
            "/home/u/.claude/settings.json",
            "/home/u/.claude/projects/-w/s/tool-results",
            "/home/u/.qwen/projects/-w/chats/s.jsonl",
            "/elsewhere/.claude/projects/-w/s.jsonl",
        ] {
            assert_eq!(place(other), None, "{other}");
        }
    }
}
