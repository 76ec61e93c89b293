//! Paths of files: their names, stems and folders.

use super::list::WordList;
use super::words::{Term, terms};

/// Returns the last part of a path.
#[must_use]
pub fn file_name(path: &str) -> &str {
    path.trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default()
}

/// Returns the name of a file without its endings.
#[must_use]
pub fn stem(path: &str) -> &str {
    let name = file_name(path);
    let start = name.len() - name.trim_start_matches('.').len();
    let end = name
        .get(start..)
        .and_then(|rest| rest.find('.'))
        .map_or(name.len(), |dot| start + dot);
    name.get(start..end).unwrap_or_default()
}

/// Returns the words of a file's name, without those of its ending.
#[must_use]
pub fn stem_terms(path: &str) -> Vec<Term> {
    terms(stem(path))
}

/// Folders that every project has.
static PLAIN_FOLDERS: WordList = WordList::new(
    "src lib app apps pkg cmd internal test tests spec docs doc web components pages models config scripts bin utils core common main server client api packages public assets static include",
);

/// Returns the words of the name of a file's folder, unless every project has such a folder.
#[must_use]
pub fn folder_terms(path: &str) -> Vec<Term> {
    let folder = path
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .nth(1)
        .unwrap_or_default();
    if PLAIN_FOLDERS.has(folder) {
        Vec::new()
    } else {
        terms(folder)
    }
}

/// Whether two paths mean the same file: equal, or one is the end of the other.
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    let clean = |path: &str| path.trim_start_matches("./").replace('\\', "/");
    let (one, other) = (clean(one), clean(other));
    let (long, short) = if one.len() >= other.len() {
        (&one, &other)
    } else {
        (&other, &one)
    };
    if short.is_empty() {
        return false;
    }
    long == short
        || (short.contains('/') && long.ends_with(&format!("/{}", short.trim_start_matches('/'))))
}
