//! Contexts that are named after folders: different folders of one name have different contexts.

use std::path::Path;

use super::view;
use crate::store::{Error, Rows};

/// The contexts that a document may be of, by its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FolderContexts {
    /// The folder, as the rows name it.
    folder: String,
    /// The folder's name, then with its parent, and so on.
    ids: Vec<String>,
}

impl FolderContexts {
    /// Returns the contexts of a document in a folder, whose path in its source is known.
    #[must_use]
    pub fn of(source_path: &str, path: &str, folder: &Path, bytes_max: usize) -> Self {
        let names: Vec<&str> = folder
            .iter()
            .filter_map(|name| name.to_str())
            .filter(|name| *name != "/")
            .collect();
        let ids = (0..names.len()).rev().filter_map(|at| names.get(at..));
        let ids = ids.map(|names| names.join("/"));
        Self {
            folder: key_of(source_path, path),
            ids: ids.filter(|id| id.len() <= bytes_max).collect(),
        }
    }

    /// Chooses the context: that of the document before, that of the most other documents in the folder, else the
    /// shortest one that no other folder has. A document that moves with a folder of this name keeps its own.
    ///
    /// # Errors
    /// When a row cannot be read.
    pub fn choose(
        &self,
        rows: &dyn Rows,
        before: Option<&str>,
        moved_from: Option<&str>,
    ) -> Result<Option<String>, Error> {
        let same = self.ids.iter().find(|id| before == Some(id.as_str()));
        if let Some(same) = same {
            return Ok(Some(same.clone()));
        }
        let (mut own, mut free) = ((0, None), None);
        for id in &self.ids {
            let count = view::context_count(rows, id, &self.folder)?;
            if count > own.0 {
                own = (count, Some(id));
            }
            if free.is_none() && !view::has_context(rows, id)? {
                free = Some(id);
            }
        }
        let name = self.ids.first().map(String::as_str);
        let is_namesake = |id: &&str| id.rsplit('/').next() == name;
        let moved = moved_from.filter(is_namesake);
        let chosen = own.1.map(String::as_str).or(moved);
        Ok(chosen.or(free.map(String::as_str)).map(str::to_owned))
    }
}

/// Returns the folder of a document for the rows, by the paths alone: a source may be a folder or a single file.
#[must_use]
pub fn key_of(source_path: &str, path: &str) -> String {
    let inner = path.rsplit_once('/').map(|(folder, _)| folder);
    let parent = source_path.rsplit_once('/');
    match (inner, parent) {
        (Some(inner), _) => format!("{source_path}/{inner}"),
        (None, Some((parent, name))) if name == path => parent.to_owned(),
        (None, _) => source_path.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::log::codec;
    use crate::store::{MemoryStore, RowsMut};

    fn contexts(folder: &str) -> FolderContexts {
        FolderContexts::of(folder, "x.md", Path::new(folder), 256)
    }

    fn rows(known: &[(&str, &str)]) -> MemoryStore {
        let mut rows = MemoryStore::new();
        for (context, folder) in known {
            let key = format!("c{context}\0{folder}");
            let count = view::context_count(&rows, context, folder).unwrap() + 1;
            rows.put(view::SPACE, key.as_bytes(), &codec::encode(&count));
        }
        rows
    }

    fn context_of(folder: &str, known: &[(&str, &str)], moved_from: Option<&str>) -> String {
        let chosen = contexts(folder).choose(&rows(known), None, moved_from);
        chosen.unwrap().unwrap()
    }

    /// Folders of one name have contexts of their own; each keeps the one that its documents have.
    #[test]
    fn folders_of_one_name_are_told_apart() {
        let one = ("docs", "/w/a/docs");
        assert_eq!(context_of("/w/a/docs", &[], None), "docs");
        assert_eq!(context_of("/w/a/docs", &[one], None), "docs");
        assert_eq!(context_of("/w/b/docs", &[one], None), "b/docs");
        let two = ("b/docs", "/w/b/docs");
        assert_eq!(
            context_of("/w/b/docs", &[two], None),
            "b/docs",
            "also alone"
        );
        assert_eq!(context_of("/v/b/docs", &[one, two], None), "v/b/docs");
        // One file that names its context does not change that of the others.
        let named = ("docs", "/w/b/docs");
        assert_eq!(context_of("/w/b/docs", &[named, two, two], None), "b/docs");
        let kept = contexts("/w/b/docs").choose(&rows(&[one, named]), Some("b/docs"), None);
        assert_eq!(kept.unwrap().unwrap(), "b/docs");
        // Those that shared one before keep it, as does a folder that moves.
        let shared = ("docs", "/w/b/docs");
        assert_eq!(context_of("/w/b/docs", &[one, shared], None), "docs");
        assert_eq!(context_of("/w/c/docs", &[one], Some("docs")), "docs");
        assert_eq!(context_of("/w/c/notes", &[one], Some("docs")), "notes");
    }

    #[test]
    fn folders_as_the_rows_name_them() {
        assert_eq!(key_of("/w/docs", "a/b.md"), "/w/docs/a");
        assert_eq!(key_of("/w/docs", "b.md"), "/w/docs");
        assert_eq!(key_of("/w/docs/b.md", "b.md"), "/w/docs");
        assert_eq!(key_of("sent", "b.md"), "sent");
    }
}
