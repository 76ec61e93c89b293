//! The location of a directory: its project and its git worktree.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::common_folders::holds_everything;
use super::marker::{self, Marker};
use crate::log::Hash;

const NAME_CHARS_MAX: usize = 40;
/// A `.git` file, `commondir` or `HEAD` has one line; a longer file is ignored.
const GIT_FILE_BYTES_MAX: u64 = 8 * 1024;
/// Digits of a sign.
const SIGN_DIGITS: usize = 24;
/// Digits of the commit that are shown if no branch is checked out.
const COMMIT_DIGITS: usize = 12;

/// The config's settings for one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configured {
    /// Canonical path of the project's root.
    pub path: PathBuf,
    /// Overrides the settings in `.lore.toml`.
    pub marker: Marker,
}

/// The project and worktree of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectLocation {
    /// The project's id: `<base name reduced to [a-z0-9_-], 40 characters>-<8 hex of SHA-256 of the real
    /// path of the git common directory, or of the directory itself>`, or the id in the marker.
    pub project: String,
    /// Display name: the marker's name, or that of the directory.
    pub name: String,
    /// The project's directory; in a repository, the main worktree.
    pub path: PathBuf,
    /// The directory's worktree; without a repository, the directory itself.
    pub root: PathBuf,
    /// The checked-out branch, or the abbreviated commit.
    pub branch: Option<String>,
    /// The settings in the root's `.lore.toml`, overridden by the config.
    pub marker: Marker,
    /// The reason why `.lore.toml` is ignored or could not be read.
    pub marker_fault: Option<String>,
    /// Signs that identify the git repository wherever it is; empty without one.
    pub git: Vec<String>,
    /// Whether this is a plain folder: neither in a repository nor below a marker.
    pub is_folder: bool,
    /// Whether the project was recorded at another path, which is gone.
    pub is_moved: bool,
    /// The id without `.lore.toml`, if only that file sets another id. Any user can write such a file, so it must not
    /// claim the id of another folder.
    unclaimed: Option<String>,
}

impl ProjectLocation {
    /// Returns the location of a directory; `None` if the directory does not exist.
    ///
    /// Reads the file system; do not call it on the event loop or in the writer.
    #[must_use]
    pub fn of(dir: &Path, configured: &[Configured]) -> Option<Self> {
        let dir = fs::canonicalize(dir).ok().filter(|dir| dir.is_dir())?;
        let marked = marked(&dir, configured);
        let is_folder = marked.is_none();
        let (mut git, mut is_repository) = (Vec::new(), false);
        let (root, path, identity, branch) = match (Repository::of(&dir), marked) {
            (Some(found), marked) => {
                is_repository = true;
                git = signs(&found.common);
                // A marker below the root of a repository begins a project of its own.
                let inner = marked.and_then(|marked| {
                    let inner = marked.strip_prefix(&found.root).ok()?.to_path_buf();
                    (inner != Path::new("")).then_some((marked, inner))
                });
                match inner {
                    None => (found.root, found.main, found.common, found.branch),
                    Some((marked, inner)) => {
                        for sign in &mut git {
                            sign.push_str(&format!("/{}", inner.display()));
                        }
                        (
                            marked,
                            found.main.join(&inner),
                            found.common.join(inner),
                            found.branch,
                        )
                    }
                }
            }
            (None, Some(root)) => (root.clone(), root.clone(), root, None),
            (None, None) => (dir.clone(), dir.clone(), dir, None),
        };
        let (marker, marker_fault) = match marker::read(&root) {
            Ok(marker) => (marker, None),
            Err(fault) => (Marker::default(), Some(fault)),
        };
        let own = configured
            .iter()
            .find(|own| own.path == root || own.path == path);
        let is_claimed = marker.id.is_some() && own.is_none_or(|own| own.marker.id.is_none());
        let marker = match own {
            Some(own) => marker.under(&own.marker),
            None => marker,
        };
        let digits = Hash::of(identity.as_os_str().as_encoded_bytes()).to_string();
        let made = format!("{}-{}", reduced(&path), digits.get(..8)?);
        let project = marker.id.clone().unwrap_or_else(|| made.clone());
        let base = path.file_name().unwrap_or_default().to_string_lossy();
        let name = marker.name.clone().unwrap_or_else(|| match &*base {
            "" => project.clone(),
            base => base.chars().filter(|char| !char.is_control()).collect(),
        });
        Some(Self {
            project,
            name,
            path,
            root,
            branch,
            marker,
            marker_fault,
            git,
            is_folder: is_folder && !is_repository,
            is_moved: false,
            unclaimed: is_claimed.then_some(made),
        })
    }

    /// Returns the location of a plain folder by its real path, without reading the file system.
    #[must_use]
    pub fn folder(path: &Path) -> Option<Self> {
        Self::unseen(path)
    }

    /// Returns whether the folder can be a project. Folders that hold everything of the system or of a user cannot,
    /// unless they are repositories or have a marker.
    #[must_use]
    pub fn is_identified(&self) -> bool {
        !self.is_folder || !holds_everything(&self.path)
    }

    /// Gives the project an id of its own, apart from that of its path.
    pub(super) fn set_apart(&mut self) {
        let identity = format!("{} {}", self.path.display(), self.git.join(" "));
        let digits = Hash::of(identity.as_bytes()).to_string();
        let digits = digits.get(..8).unwrap_or_default();
        self.project = format!("{}-{digits}", reduced(&self.path));
    }

    /// Returns whether only `.lore.toml` sets the id.
    #[must_use]
    pub const fn is_claimed(&self) -> bool {
        self.unclaimed.is_some()
    }

    /// Returns the location without the id from `.lore.toml`, because `owner` has that id.
    #[must_use]
    pub fn without_claim(mut self, owner: &Path) -> Self {
        let Some(made) = self.unclaimed.take() else {
            return self;
        };
        let id = std::mem::replace(&mut self.project, made);
        self.marker.id = None;
        self.marker_fault = Some(format!(
            "{}: `id` is {id:?}, which is the project at {}. If this is the same project, say so in \
             config.toml: [projects.at.{:?}] with id = {id:?}",
            self.root.join(marker::FILE).display(),
            owner.display(),
            self.root.display().to_string(),
        ));
        self
    }

    /// Returns the location of a directory that cannot be read: a separate project, identified by the path as written.
    /// `None` if the path is not absolute.
    #[must_use]
    pub fn unseen(dir: &Path) -> Option<Self> {
        let is_plain = |part: &Component<'_>| !matches!(part, Component::CurDir);
        let path: PathBuf = dir.components().filter(is_plain).collect();
        if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let digits = Hash::of(path.as_os_str().as_encoded_bytes()).to_string();
        let project = format!("{}-{}", reduced(&path), digits.get(..8)?);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Some(Self {
            name: match &*name {
                "" => project.clone(),
                name => name.chars().filter(|char| !char.is_control()).collect(),
            },
            project,
            root: path.clone(),
            path,
            branch: None,
            marker: Marker::default(),
            marker_fault: None,
            git: Vec::new(),
            is_folder: true,
            is_moved: false,
            unclaimed: None,
        })
    }
}

/// Returns the signs of a repository, from its common git directory: the directory itself, which keeps its number and
/// its time of creation when it moves, and the first line of its log, which copies of the files keep.
fn signs(common: &Path) -> Vec<String> {
    let mut signs = Vec::new();
    let sign = |kind: &str, text: &str| {
        let digits = Hash::of(text.as_bytes()).to_string();
        format!("{kind}-{}", digits.get(..SIGN_DIGITS).unwrap_or_default())
    };
    if let Ok(directory) = fs::metadata(common)
        && let Ok(created) = directory.created()
    {
        let since = created
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        let number = std::os::unix::fs::MetadataExt::ino(&directory);
        signs.push(sign("dir", &format!("{number} {}", since.as_nanos())));
    }
    if let Some(line) = first_line(&common.join("logs/HEAD")) {
        signs.push(sign("log", &line));
    }
    signs
}

/// Returns the first line of a file, if it is short.
fn first_line(path: &Path) -> Option<String> {
    let mut start = Vec::new();
    let file = fs::File::open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    file.take(GIT_FILE_BYTES_MAX).read_to_end(&mut start).ok()?;
    let end = start.iter().position(|byte| *byte == b'\n')?;
    Some(String::from_utf8_lossy(start.get(..end)?).into_owned())
}

/// Returns the nearest ancestor with a marker or an entry in the config.
fn marked(dir: &Path, configured: &[Configured]) -> Option<PathBuf> {
    let is_root =
        |folder: &&Path| marker::is_in(folder) || configured.iter().any(|own| own.path == **folder);
    let found = dir.ancestors().find(is_root)?;
    Some(found.to_path_buf())
}

/// A git repository, as described by its files.
struct Repository {
    root: PathBuf,
    main: PathBuf,
    common: PathBuf,
    branch: Option<String>,
}

impl Repository {
    fn of(dir: &Path) -> Option<Self> {
        dir.ancestors().find_map(|folder| {
            let git = folder.join(".git");
            let kind = fs::symlink_metadata(&git).ok()?;
            let (own, common) = if kind.is_dir() {
                let own = fs::canonicalize(&git).ok()?;
                (own.clone(), own)
            } else {
                of_worktree(folder, &git)?
            };
            // A worktree is named after the repository, not after itself.
            let main = match (common.file_name(), common.parent()) {
                (Some(last), Some(parent)) if last == ".git" => parent.to_path_buf(),
                _ => common.clone(),
            };
            Some(Self {
                root: folder.to_path_buf(),
                main,
                branch: branch(&own),
                common,
            })
        })
    }
}

/// Follows a worktree's `.git` file; returns its own and the common git directory.
fn of_worktree(folder: &Path, git: &Path) -> Option<(PathBuf, PathBuf)> {
    let text = small_file(git)?;
    let own = fs::canonicalize(folder.join(text.strip_prefix("gitdir:")?.trim())).ok()?;
    let common = match small_file(&own.join("commondir")) {
        Some(path) => fs::canonicalize(own.join(path.trim())).ok()?,
        // A submodule has a separate git directory.
        None => own.clone(),
    };
    Some((own, common))
}

/// Returns the checked-out branch of a directory, or the abbreviated commit.
pub(super) fn branch_of(dir: &Path) -> Option<String> {
    Repository::of(dir)?.branch
}

/// Returns the branch in a git directory's `HEAD`, or the abbreviated commit.
fn branch(own: &Path) -> Option<String> {
    let head = small_file(&own.join("HEAD"))?;
    let head = head.trim();
    let named = match head.strip_prefix("ref:") {
        Some(reference) => {
            let reference = reference.trim();
            reference.strip_prefix("refs/heads/").unwrap_or(reference)
        }
        None => head.get(..COMMIT_DIGITS)?,
    };
    let is_name = !named.is_empty() && !named.chars().any(char::is_control);
    is_name.then(|| named.to_owned())
}

fn small_file(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    (metadata.is_file() && metadata.len() <= GIT_FILE_BYTES_MAX)
        .then(|| fs::read_to_string(path).ok())
        .flatten()
}

fn reduced(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let reduced: String = name
        .to_lowercase()
        .chars()
        .map(|c| match c {
            'a'..='z' | '0'..='9' | '_' | '-' => c,
            _ => '-',
        })
        .take(NAME_CHARS_MAX)
        .collect();
    match reduced.trim_matches('-') {
        "" => "project".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(dir: &Path) -> Option<ProjectLocation> {
        ProjectLocation::of(dir, &[])
    }

    fn project(dir: &Path) -> String {
        of(dir).unwrap().project
    }

    /// Directories with the same name differ; sub-directories and worktrees of one repository do not. A worktree
    /// reports its branch.
    #[test]
    fn ids() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let make = |path: &str| {
            let path = root.join(path);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let (one, two) = (make("a/My App"), make("b/My App"));
        let id = project(&one);
        assert!(
            id.starts_with("my-app-") && id.len() == "my-app-".len() + 8,
            "{id}"
        );
        assert_ne!(id, project(&two));
        assert_eq!(of(&one).unwrap().name, "My App");

        let repository = make("repo");
        let gitdir = make("repo/.git/worktrees/fix");
        fs::write(gitdir.join("commondir"), "../..\n").unwrap();
        fs::write(gitdir.join("HEAD"), "ref: refs/heads/fix/it\n").unwrap();
        fs::write(root.join("repo/.git/HEAD"), format!("{:040}\n", 7)).unwrap();
        let worktree = make("elsewhere/fix");
        fs::write(
            worktree.join(".git"),
            format!("gitdir: {}\n", gitdir.display()),
        )
        .unwrap();
        let id = project(&repository);
        assert!(id.starts_with("repo-"), "{id}");
        assert_eq!(project(&make("repo/src/deep")), id);
        let place = of(&make("elsewhere/fix/src")).unwrap();
        assert_eq!((&place.project, &place.name), (&id, &"repo".to_owned()));
        assert_eq!((&place.path, &place.root), (&repository, &worktree));
        assert_eq!(place.branch.as_deref(), Some("fix/it"));
        let detached = of(&repository).unwrap();
        assert_eq!(detached.branch.as_deref(), Some("000000000000"));

        assert_eq!(of(&root.join("missing")), None);
        assert!(project(Path::new("/")).starts_with("project-"));
    }

    /// A marker names the project, also from a sub-directory. A broken marker is reported and changes nothing.
    #[test]
    fn markers() {
        let root = tempfile::tempdir().unwrap();
        let below = root.path().join("src/deep");
        fs::create_dir_all(&below).unwrap();
        let marker = root.path().join(marker::FILE);
        fs::write(&marker, "id = \"shop\"\nname = \"The Shop\"\n").unwrap();
        let place = of(&below).unwrap();
        assert_eq!((&*place.project, &*place.name), ("shop", "The Shop"));
        fs::write(&marker, "id = \"../up\"\n").unwrap();
        let place = of(root.path()).unwrap();
        assert!(place.project.len() > 9, "{place:?}");
        assert!(place.marker_fault.unwrap().contains("../up"));
        let configured = Configured {
            path: fs::canonicalize(root.path()).unwrap(),
            marker: Marker {
                id: Some("store".to_owned()),
                ..Marker::default()
            },
        };
        let place = ProjectLocation::of(&below, &[configured]).unwrap();
        assert_eq!(place.project, "store", "the config goes before the marker");
    }

    /// A directory that cannot be read is identified by its normalised path.
    #[test]
    fn a_place_that_is_unseen() {
        let place = ProjectLocation::unseen(Path::new("/srv//shop/./web/")).unwrap();
        assert_eq!(place.path, Path::new("/srv/shop/web"));
        assert_eq!(place.name, "web");
        assert!(place.project.starts_with("web-"), "{}", place.project);
        assert_eq!(
            ProjectLocation::unseen(Path::new("/srv/shop/web")).unwrap(),
            place
        );
        assert_ne!(
            ProjectLocation::unseen(Path::new("/srv/shop/app/web"))
                .unwrap()
                .project,
            place.project
        );
        assert_eq!(ProjectLocation::unseen(Path::new("shop")), None);
        assert_eq!(ProjectLocation::unseen(Path::new("/srv/../shop")), None);
    }
}
