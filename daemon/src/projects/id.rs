//! The id of the project that a directory belongs to.
//!
//! `<base name reduced to [a-z0-9_-], 40 characters>-<8 hex of SHA-256 of the real path of the git
//! common directory, or of the directory itself>`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::log::Hash;

const NAME_CHARS_MAX: usize = 40;
/// A `.git` file or `commondir` holds one path; anything longer is none.
const GIT_FILE_BYTES_MAX: u64 = 8 * 1024;

/// The project of a directory; `None` when there is no such directory.
///
/// Reads the file system: not for the writer thread.
#[must_use]
pub fn project_of(dir: &Path) -> Option<String> {
    let dir = fs::canonicalize(dir).ok().filter(|dir| dir.is_dir())?;
    let root = match repository(&dir) {
        Some((name, common)) => (name, common),
        None => (dir.clone(), dir),
    };
    let (name, identity) = root;
    Some(format!(
        "{}-{}",
        reduced(&name),
        Hash::of(identity.as_os_str().as_encoded_bytes())
            .to_string()
            .get(..8)?
    ))
}

/// The directory that gives a repository its name, and its common git directory.
fn repository(dir: &Path) -> Option<(PathBuf, PathBuf)> {
    dir.ancestors().find_map(|folder| {
        let git = folder.join(".git");
        let kind = fs::symlink_metadata(&git).ok()?;
        let common = if kind.is_dir() {
            fs::canonicalize(&git).ok()?
        } else {
            common_of(folder, &git)?
        };
        // A worktree is named after the repository, not after itself.
        let name = match (common.file_name(), common.parent()) {
            (Some(last), Some(parent)) if last == ".git" => parent.to_path_buf(),
            _ => common.clone(),
        };
        Some((name, common))
    })
}

/// The common git directory that a worktree's `.git` file leads to.
fn common_of(folder: &Path, git: &Path) -> Option<PathBuf> {
    let text = small_file(git)?;
    let own = folder.join(text.strip_prefix("gitdir:")?.trim());
    let common = match small_file(&own.join("commondir")) {
        Some(path) => own.join(path.trim()),
        // A submodule has a git directory of its own.
        None => own,
    };
    fs::canonicalize(common).ok()
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

    /// Same-named directories differ; sub-directories and worktrees of one repository do not.
    #[test]
    fn ids() {
        let root = tempfile::tempdir().unwrap();
        let make = |path: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let (one, two) = (make("a/My App"), make("b/My App"));
        let id = project_of(&one).unwrap();
        assert!(
            id.starts_with("my-app-") && id.len() == "my-app-".len() + 8,
            "{id}"
        );
        assert_ne!(id, project_of(&two).unwrap());

        let repository = make("repo");
        make("repo/.git/worktrees/fix");
        fs::write(
            root.path().join("repo/.git/worktrees/fix/commondir"),
            "../..\n",
        )
        .unwrap();
        let worktree = make("elsewhere/fix");
        let gitdir = root.path().join("repo/.git/worktrees/fix");
        fs::write(
            worktree.join(".git"),
            format!("gitdir: {}\n", gitdir.display()),
        )
        .unwrap();
        let id = project_of(&repository).unwrap();
        assert!(id.starts_with("repo-"), "{id}");
        assert_eq!(project_of(&make("repo/src/deep")).unwrap(), id);
        assert_eq!(project_of(&worktree).unwrap(), id);

        assert_eq!(project_of(&root.path().join("missing")), None);
        assert!(project_of(Path::new("/")).unwrap().starts_with("project-"));
    }
}
