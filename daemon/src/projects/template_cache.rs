//! Caches the active templates until one of their files changes.
//!
//! Every use compares the folders with the cached state, which takes a few file system calls. So a change is active
//! for the next call. A watch would be later, and could miss changes.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::template::{Layer, Layers, Source, TEMPLATE_BYTES_MAX};

use crate::locks::lock_unpoisoned;

/// Limit on the cached projects; beyond it, the whole cache is cleared.
const PROJECTS_MAX: usize = 64;
/// Limit on the entries of a folder that are checked.
const ENTRIES_MAX: usize = 1000;
/// Extension of template files.
const EXTENSION: &str = "toml";

/// The active templates, by the project's template folder.
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

/// A file with the metadata that reveals a change.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TemplateFileStamp {
    layer: Layer,
    path: PathBuf,
    modified: Option<SystemTime>,
    bytes: u64,
}

impl TemplateCache {
    /// Creates the cache with the user's template folder, which may be missing.
    #[must_use]
    pub fn new(user: PathBuf) -> Self {
        Self {
            user,
            kept: Mutex::default(),
        }
    }

    /// Returns the user's template folder.
    #[must_use]
    pub fn user(&self) -> &Path {
        &self.user
    }

    /// Releases the cached templates.
    pub fn release(&self) {
        let mut kept = lock_unpoisoned(&self.kept);
        // The last valid content of a file that is now invalid exists only here.
        kept.retain(|_, kept| !kept.layers.broken().is_empty());
    }

    /// Returns the active templates, with templates from the project's own folder.
    #[must_use]
    pub fn in_force(&self, own: Option<&Path>) -> Arc<Layers> {
        let mut seen = scan(&self.user, Layer::User);
        if let Some(own) = own {
            seen.extend(scan(own, Layer::Project));
        }
        // Projects without their own templates share one entry.
        let has_own = seen.iter().any(|file| file.layer == Layer::Project);
        let key = own.filter(|_| has_own).map(Path::to_path_buf);
        let previous = {
            let kept = lock_unpoisoned(&self.kept);
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
        let mut kept = lock_unpoisoned(&self.kept);
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

/// Lists the template files of a folder, by name; empty if the folder is missing.
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

/// Reads a file; a too long one is cut after the limit, so that its length still fails the check.
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

    /// A new file is active at the next use and overrides the built-in template with its name. An invalid file keeps
    /// the last valid content, and a removed file loses its template.
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
