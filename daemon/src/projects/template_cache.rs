//! The templates in force, kept until a file of theirs changes.
//!
//! Folders are compared with what was read at every use: a handful of looks at the file system, and a
//! change is in force for the very next call. A watch could only be later, or miss something.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::template::{Layer, Layers, Source, TEMPLATE_BYTES_MAX};

/// Projects whose templates are kept; when there are more, all are read anew.
const PROJECTS_MAX: usize = 64;
/// Entries of a folder that are looked at.
const ENTRIES_MAX: usize = 1000;
/// What the name of a template file ends in.
const EXTENSION: &str = "toml";

/// Templates by the folder of a project's own.
#[derive(Debug)]
pub struct TemplateCache {
    user: PathBuf,
    kept: Mutex<HashMap<Option<PathBuf>, CachedTemplate>>,
}

#[derive(Clone, Debug)]
struct CachedTemplate {
    layers: Arc<Layers>,
    seen: Vec<TemplateFileStamp>,
}

/// A file, and what tells whether it has changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TemplateFileStamp {
    layer: Layer,
    path: PathBuf,
    modified: Option<SystemTime>,
    bytes: u64,
}

impl TemplateCache {
    /// With the user's own folder, which need not be there.
    #[must_use]
    pub fn new(user: PathBuf) -> Self {
        Self {
            user,
            kept: Mutex::default(),
        }
    }

    /// The user's own folder.
    #[must_use]
    pub fn user(&self) -> &Path {
        &self.user
    }

    /// Forgets what was read.
    pub fn release(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // What is broken now has a last good content only here.
        kept.retain(|_, kept| !kept.layers.broken().is_empty());
    }

    /// The templates in force, with those of a project's own folder.
    #[must_use]
    pub fn in_force(&self, own: Option<&Path>) -> Arc<Layers> {
        let mut seen = scan(&self.user, Layer::User);
        if let Some(own) = own {
            seen.extend(scan(own, Layer::Project));
        }
        // Projects without templates of their own share what there is.
        let has_own = seen.iter().any(|file| file.layer == Layer::Project);
        let key = own.filter(|_| has_own).map(Path::to_path_buf);
        let previous = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.get(&key).cloned()
        };
        if let Some(previous) = previous.as_ref().filter(|previous| previous.seen == seen) {
            return Arc::clone(&previous.layers);
        }
        let layers = Arc::new(load(
            &seen,
            previous.as_ref().map(|previous| &*previous.layers),
        ));
        for broken in layers.broken() {
            tracing::warn!(%broken, "a template is not active");
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= PROJECTS_MAX {
            kept.clear();
        }
        let new = CachedTemplate {
            layers: Arc::clone(&layers),
            seen,
        };
        kept.insert(key, new);
        layers
    }
}

/// The template files of a folder, by name; none when there is no folder.
fn scan(folder: &Path, layer: Layer) -> Vec<TemplateFileStamp> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<OsString> = entries
        .flatten()
        .take(ENTRIES_MAX)
        .map(|entry| entry.file_name())
        .collect();
    names.sort();
    let paths = names.into_iter().map(|name| folder.join(name));
    paths
        .filter(|path| path.extension().is_some_and(|end| end == EXTENSION))
        .map(|path| {
            let metadata = fs::metadata(&path).ok();
            TemplateFileStamp {
                layer,
                modified: metadata.as_ref().and_then(|known| known.modified().ok()),
                bytes: metadata.map_or(0, |known| known.len()),
                path,
            }
        })
        .collect()
}

fn load(seen: &[TemplateFileStamp], previous: Option<&Layers>) -> Layers {
    let read: Vec<(Layer, String, Result<String, String>)> = seen
        .iter()
        .map(|file| {
            let shown = file.path.to_string_lossy().into_owned();
            (file.layer, shown, text_of(&file.path))
        })
        .collect();
    let sources: Vec<Source<'_>> = read
        .iter()
        .map(|(layer, file, text)| Source {
            layer: *layer,
            file,
            text: text.as_deref().map_err(Clone::clone),
        })
        .collect();
    Layers::load(&sources, previous)
}

/// The text of a file; of one that is too long a little more than is allowed.
fn text_of(path: &Path) -> Result<String, String> {
    let reported = |error: std::io::Error| error.to_string();
    let kind = fs::metadata(path).map_err(reported)?;
    if !kind.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(reported)?;
    let most = TEMPLATE_BYTES_MAX as u64 + 1;
    file.take(most)
        .read_to_string(&mut text)
        .map_err(reported)?;
    Ok(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A file is in force from the next use on, in place of the built-in one of its name; a broken one
    /// leaves the last good one, and one that is gone goes.
    #[test]
    fn files_change() {
        let dir = tempfile::tempdir().unwrap();
        let shelf = TemplateCache::new(dir.path().join("user"));
        let own = dir.path().join("own");
        let count = shelf.in_force(None).all().count();
        assert!(count >= 4, "the built-in ones");
        assert!(
            Arc::ptr_eq(&shelf.in_force(None), &shelf.in_force(Some(&own))),
            "nothing is read twice"
        );
        fs::create_dir_all(&own).unwrap();
        let (_, bugs) = super::super::template::Template::built_in()
            .into_iter()
            .find(|(name, _)| name.contains("bugs"))
            .unwrap();
        let file = own.join("bugs.toml");
        fs::write(&file, bugs).unwrap();
        let layers = shelf.in_force(Some(&own));
        assert_eq!(layers.get("bugs").unwrap().layer, Layer::Project);
        assert_eq!(
            shelf.in_force(None).get("bugs").unwrap().layer,
            Layer::BuiltIn
        );
        fs::write(&file, "name = ").unwrap();
        let layers = shelf.in_force(Some(&own));
        assert_eq!(layers.get("bugs").unwrap().layer, Layer::Project);
        assert_eq!(layers.broken().len(), 1, "{:?}", layers.broken());
        fs::remove_file(&file).unwrap();
        let layers = shelf.in_force(Some(&own));
        assert_eq!(layers.get("bugs").unwrap().layer, Layer::BuiltIn);
        assert!(layers.broken().is_empty());
    }
}
