//! What of the file system a source means.

use std::io;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::failure::why;
use super::filesystems::of_the_system;
use super::path_set::PathSet;
use super::walk::FolderWalk;

/// Patterns of a source, in `include` and in `exclude`.
const PATTERNS_MAX: usize = 100;
/// The length of a pattern, in bytes.
const PATTERN_BYTES_MAX: usize = 1000;
/// Files of a source: more are not looked at.
pub const FILES_MAX: usize = 1_000_000;

/// Why a path is no source. The sentence begins with the path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// It is not there.
    #[error("{} is not there: add a folder or a file that is", .0.display())]
    Missing(PathBuf),
    /// A link stands where it was, or where a folder above it was.
    #[error("{} is behind a symbolic link now, which is not followed: put it back, or add what the link leads to", .0.display())]
    Moved(PathBuf),
    /// It cannot be looked at.
    #[error("{} cannot be read: {}", .0.display(), .1)]
    Unreadable(PathBuf, String),
    /// The root of the file system.
    #[error("/ is the whole machine: add the folders that hold documents")]
    Root,
    /// A pipe, a device, a socket.
    #[error("{} is neither a folder nor a file: add a folder or a file", .0.display())]
    Neither(PathBuf),
    /// In a file system that holds no files.
    #[error("{} is in {}, where the system tells of itself: add a folder with files", .0.display(), .1)]
    System(PathBuf, &'static str),
    /// The daemon's own.
    #[error("{} is where lored keeps its own data: add another folder", .0.display())]
    Own(PathBuf),
    /// Its name is no text.
    #[error("{} has a name that is not UTF-8: rename it", .0.display())]
    Name(PathBuf),
    /// A pattern that cannot be used.
    #[error("the pattern {pattern:?} in `{list}` {why}")]
    Pattern {
        /// `include` or `exclude`.
        list: &'static str,
        /// As it was given, or its beginning.
        pattern: String,
        /// What is wrong with it, and what would be right.
        why: String,
    },
}

/// What of the file system a source means: a folder with what its patterns and the ignore files in it
/// leave, or one file.
#[derive(Clone, Debug)]
pub struct SourceScope {
    /// The folder that relative paths begin at, without links.
    pub(super) base: PathBuf,
    /// The name of the file, when the source is one.
    pub(super) only: Option<String>,
    pub(super) include: Option<Gitignore>,
    pub(super) exclude: Gitignore,
    /// What the project that the source is in leaves out.
    of_project: Gitignore,
    /// Folders that are never looked into.
    pub(super) apart: Vec<PathBuf>,
}

impl SourceScope {
    /// Of a path, with patterns as in a `.gitignore`: only files that one of `include` fits, if there is
    /// any, and none that one of `exclude` fits. `apart` are the daemon's own folders.
    ///
    /// # Errors
    /// [`SourceError`] says why this is no source.
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

    /// Leaves out what the project that the source is in leaves out, too: patterns below the project's folder.
    /// One that cannot be used leaves nothing out; the project's own room says what is wrong with it.
    #[must_use]
    pub fn within(mut self, project: &Path, exclude: &[String]) -> Self {
        let of_project = patterns(project, "exclude", exclude);
        self.of_project = of_project.unwrap_or_else(|_| Gitignore::empty());
        self
    }

    /// The folder or file itself, without links.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match &self.only {
            Some(name) => self.base.join(name),
            None => self.base.clone(),
        }
    }

    /// The same, as long as it is what this path says without links: whoever puts a link in its place
    /// makes nobody a source of what that leads to.
    ///
    /// # Errors
    /// [`SourceError::Moved`].
    pub fn still_at(self, path: &Path) -> Result<Self, SourceError> {
        match self.path() == path {
            true => Ok(self),
            false => Err(SourceError::Moved(path.to_path_buf())),
        }
    }

    /// The folder that relative paths begin at: the source, or that of its one file.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Whether it is one file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.only.is_some()
    }

    /// What whoever adds this source should know.
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

    /// Goes through the files in these places.
    #[must_use]
    pub fn walk(&self, places: &PathSet) -> FolderWalk {
        FolderWalk::new(self, places)
    }

    /// Whether the patterns leave this path.
    pub(super) fn fits(&self, path: &Path, is_folder: bool) -> bool {
        let excluded = self.exclude.matched(path, is_folder).is_ignore()
            || (path.starts_with(self.of_project.path())
                && self.of_project.matched(path, is_folder).is_ignore());
        let included = match &self.include {
            // What a folder is called may fit for all that is in it.
            Some(include) if !is_folder => {
                include.matched_path_or_any_parents(path, false).is_ignore()
            }
            Some(_) | None => true,
        };
        included && !excluded
    }
}

/// Patterns below a folder.
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
        // In an ignore file this would be a remark.
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
