//! The scope of a source: which files of the file system it selects.

use std::io;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::failure::why;
use super::filesystems::of_the_system;
use super::path_set::PathSet;
use super::walk::FolderWalk;

/// Limit on the patterns of a source, each in `include` and in `exclude`.
const PATTERNS_MAX: usize = 100;
/// Limit on a pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1000;
/// Limit on the files of a source; further files are ignored.
pub const FILES_MAX: usize = 1_000_000;

/// Why a path is not a valid source. The message begins with the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The path does not exist.
    #[error("{} is not there: add a folder or a file that is", .0.display())]
    Missing(PathBuf),
    /// The path, or a folder above it, was replaced by a link.
    #[error("{} is behind a symbolic link now, which is not followed: put it back, or add what the link leads to", .0.display())]
    Moved(PathBuf),
    /// The path cannot be read.
    #[error("{} cannot be read: {}", .0.display(), .1)]
    Unreadable(PathBuf, String),
    /// The path is the root of the file system.
    #[error("/ is the whole machine: add the folders that hold documents")]
    Root,
    /// The path is a pipe, a device or a socket.
    #[error("{} is neither a folder nor a file: add a folder or a file", .0.display())]
    Neither(PathBuf),
    /// The path is in a pseudo file system.
    #[error("{} is in {}, where the system tells of itself: add a folder with files", .0.display(), .1)]
    System(PathBuf, &'static str),
    /// The path is in the daemon's own data.
    #[error("{} is where lored keeps its own data: add another folder", .0.display())]
    Own(PathBuf),
    /// The name is not UTF-8.
    #[error("{} has a name that is not UTF-8: rename it", .0.display())]
    Name(PathBuf),
    /// A pattern is invalid.
    #[error("the pattern {pattern:?} in `{list}` {why}")]
    Pattern {
        /// `include` or `exclude`.
        list: &'static str,
        /// The pattern, truncated if it is long.
        pattern: String,
        /// Description of the error, with the valid form.
        why: String,
    },
}

/// The files that a source selects: a folder without the files that its patterns and ignore files exclude,
/// or a single file.
#[derive(Clone, Debug)]
pub struct SourceScope {
    /// Folder that paths are relative to, with links resolved.
    pub(super) base: PathBuf,
    /// Name of the file if the source is a single file.
    pub(super) only: Option<String>,
    pub(super) include: Option<Gitignore>,
    pub(super) exclude: Gitignore,
    /// Exclusions of the project that contains the source.
    of_project: Gitignore,
    /// Folders that are never walked.
    pub(super) apart: Vec<PathBuf>,
}

impl SourceScope {
    /// Creates the scope of a path. `include` and `exclude` have the syntax of a `.gitignore`. If `include` has
    /// patterns, a file must match one of them; files that match `exclude` are left out. `apart` are the
    /// daemon's own folders.
    pub fn new(
        path: &Path,
        include: &[String],
        exclude: &[String],
        apart: &[PathBuf],
    ) -> Result<Self, SourceError> {
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => SourceError::Missing(path.to_path_buf()),
            _ => SourceError::Unreadable(path.to_path_buf(), why(&error)),
        };
        let real = std::fs::canonicalize(path).map_err(unreadable)?;
        let found = std::fs::metadata(&real).map_err(unreadable)?;
        let apart = apart.iter().filter_map(|own| own.canonicalize().ok());
        let apart: Vec<PathBuf> = apart.collect();
        let (base, only) = match real.parent() {
            None => return Err(SourceError::Root),
            Some(_) if found.is_dir() => (real, None),
            Some(folder) if found.is_file() => {
                let name = real.file_name().and_then(|name| name.to_str());
                let name = name.ok_or_else(|| SourceError::Name(real.clone()))?;
                (folder.to_path_buf(), Some(name.to_owned()))
            }
            Some(_) => return Err(SourceError::Neither(real)),
        };
        if apart.iter().any(|own| base.starts_with(own)) {
            return Err(SourceError::Own(base));
        }
        if let Some(system) = of_the_system(&base) {
            return Err(SourceError::System(base, system));
        }
        if only.is_none() {
            std::fs::read_dir(&base).map_err(unreadable)?;
        }
        let include = (!include.is_empty()).then(|| patterns(&base, "include", include));
        Ok(Self {
            include: include.transpose()?,
            exclude: patterns(&base, "exclude", exclude)?,
            of_project: Gitignore::empty(),
            base,
            only,
            apart,
        })
    }

    /// Adds the exclusions of the project that contains the source; patterns are relative to the project's folder.
    /// Invalid patterns are ignored here, because the projects feature reports them.
    #[must_use]
    pub fn within(mut self, project: &Path, exclude: &[String]) -> Self {
        let of_project = patterns(project, "exclude", exclude);
        self.of_project = of_project.unwrap_or_else(|_| Gitignore::empty());
        self
    }

    /// Returns the path of the folder or file, with links resolved.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match &self.only {
            Some(name) => self.base.join(name),
            None => self.base.clone(),
        }
    }

    /// Returns the scope if its resolved path still equals `path`. A link that was put in place of the source
    /// must not extend the source to the link's target.
    pub fn still_at(self, path: &Path) -> Result<Self, SourceError> {
        match self.path() == path {
            true => Ok(self),
            false => Err(SourceError::Moved(path.to_path_buf())),
        }
    }

    /// Returns the folder that paths are relative to: the source, or the folder of its single file.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Reports whether the source is a single file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.only.is_some()
    }

    /// Returns a notice for the user that adds this source.
    #[must_use]
    pub fn notice(&self, home: Option<&Path>) -> Option<String> {
        let home = home?.canonicalize().ok()?;
        (self.only.is_none() && home.starts_with(&self.base)).then(|| {
            format!(
                "{} holds your home folder: all documents in it are taken in but hidden ones; \
                 `exclude` and .loreignore leave some out",
                self.base.display()
            )
        })
    }

    /// Walks the files in these places.
    #[must_use]
    pub fn walk(&self, places: &PathSet) -> FolderWalk {
        FolderWalk::new(self, places)
    }

    /// Reports whether the patterns select this path.
    pub(super) fn fits(&self, path: &Path, is_folder: bool) -> bool {
        let excluded = self.exclude.matched(path, is_folder).is_ignore()
            || (path.starts_with(self.of_project.path())
                && self.of_project.matched(path, is_folder).is_ignore());
        let included = match &self.include {
            // A pattern that matches a folder includes everything below it.
            Some(include) if !is_folder => {
                include.matched_path_or_any_parents(path, false).is_ignore()
            }
            Some(_) | None => true,
        };
        included && !excluded
    }
}

/// Parses patterns that are relative to a folder.
fn patterns(base: &Path, list: &'static str, of: &[String]) -> Result<Gitignore, SourceError> {
    let wrong = |pattern: &str, why: String| SourceError::Pattern {
        list,
        pattern: pattern.chars().take(80).collect(),
        why,
    };
    if let Some(more) = of.get(PATTERNS_MAX) {
        let why = format!("is one more than the {PATTERNS_MAX} that a source may have");
        return Err(wrong(more, why));
    }
    let mut builder = GitignoreBuilder::new(base);
    for pattern in of {
        if pattern.trim().is_empty() {
            let why = "is empty; give one as in a .gitignore, such as \"docs/**/*.md\"";
            return Err(wrong(pattern, why.to_owned()));
        }
        if pattern.len() > PATTERN_BYTES_MAX {
            let why = format!("is longer than {PATTERN_BYTES_MAX} bytes");
            return Err(wrong(pattern, why));
        }
        // Without the escape, `#` begins a comment.
        let escaped = match pattern.strip_prefix('#') {
            Some(rest) => format!("\\#{rest}"),
            None => pattern.clone(),
        };
        builder
            .add_line(None, &escaped)
            .map_err(|error| wrong(pattern, format!("cannot be used: {error}")))?;
    }
    builder
        .build()
        .map_err(|error| wrong("", format!("cannot be used: {error}")))
}
