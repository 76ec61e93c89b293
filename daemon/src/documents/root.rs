//! Locates the documents of a source: files below a folder, or names of sent documents.

use std::path::{Path, PathBuf};

use super::changed::is_changed;
use crate::events::documents::{DocumentMeta, SourceAdded};

/// The location of a source's documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    path: PathBuf,
    is_sent: bool,
}

impl Root {
    /// Returns the root of a source.
    #[must_use]
    pub fn of(added: &SourceAdded) -> Self {
        Self {
            path: PathBuf::from(&added.path),
            is_sent: added.sent,
        }
    }

    /// Returns the path of a document's file. For a source that is a single file, it is the source's path.
    #[must_use]
    pub fn file_path(&self, path: &str) -> PathBuf {
        match self.is_itself(path) {
            true => self.path.clone(),
            false => self.path.join(path),
        }
    }

    /// Returns the folder that a document's path is relative to.
    #[must_use]
    pub fn base(&self, path: &str) -> &Path {
        match (self.is_itself(path), self.path.parent()) {
            (true, Some(folder)) => folder,
            (true, None) | (false, _) => &self.path,
        }
    }

    /// Reports whether a document's file differs from its ingested version. A sent document never does,
    /// because no file is checked.
    #[must_use]
    pub fn is_changed(&self, taken: &DocumentMeta) -> bool {
        !self.is_sent && is_changed(&self.file_path(&taken.path), taken)
    }

    fn is_itself(&self, path: &str) -> bool {
        let is_called_so = self.path.file_name().is_some_and(|name| name == path);
        is_called_so && (self.is_sent || !self.path.is_dir())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The root of a source of sent documents depends on its name alone.
    #[test]
    fn what_was_sent_is_where_its_name_says() {
        let root = |path: &str| {
            Root::of(&SourceAdded {
                path: path.to_owned(),
                sent: true,
                ..SourceAdded::default()
            })
        };
        let folder = root("/home/ada/docs");
        assert_eq!(
            folder.file_path("a/b.md"),
            Path::new("/home/ada/docs/a/b.md")
        );
        assert_eq!(folder.base("b.md"), Path::new("/home/ada/docs"));
        let file = root("/home/ada/b.md");
        assert_eq!(file.file_path("b.md"), Path::new("/home/ada/b.md"));
        assert_eq!(file.base("b.md"), Path::new("/home/ada"));
        assert_eq!(root("sent").file_path("b.md"), Path::new("sent/b.md"));
        assert!(!folder.is_changed(&DocumentMeta::default()));
    }
}
