//! Tells a repository that was moved from a copy of it.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::location::ProjectLocation;
use crate::locks::lock_unpoisoned;

/// Beginning of the sign of a directory, which a move within a file system keeps and a copy does not.
const DIRECTORY_SIGN: &str = "dir-";
/// Maximum number of moved projects whose places are remembered.
const SEEN_MAX: usize = 10_000;
/// Maximum number of entries of a folder among which a repository is looked for.
const NEIGHBOURS_MAX: usize = 1_000;

/// The places where moved repositories were found since the start, by project.
#[derive(Default)]
pub struct SeenPlaces(Mutex<HashMap<String, PathBuf>>);

impl SeenPlaces {
    /// Notes where a project was found.
    pub fn note(&self, project: &str, path: &Path) {
        let mut seen = lock_unpoisoned(&self.0);
        if seen.len() < SEEN_MAX || seen.contains_key(project) {
            seen.insert(project.to_owned(), path.to_path_buf());
        }
    }

    /// Returns where a project was found.
    pub fn of(&self, project: &str) -> Option<PathBuf> {
        lock_unpoisoned(&self.0).get(project).cloned()
    }
}

/// Returns whether a place is the very directory that these signs are of.
pub fn is_same_directory(place: &ProjectLocation, signs: &[String]) -> bool {
    directory_signs(signs).any(|sign| place.git.contains(sign))
}

/// Returns whether the directory that these signs are of is next to its former path or next to a place that resembles
/// it, so that this place is a copy.
pub fn is_original_near(
    former: &Path,
    place: &ProjectLocation,
    signs: &[String],
    place_of: impl Fn(&Path) -> Option<ProjectLocation>,
) -> bool {
    let Some(sign) = directory_signs(signs).next() else {
        return false;
    };
    // A project below the root of a repository has its path there behind the sign.
    let inner = sign.split_once('/').map_or("", |(_, inner)| inner);
    let depth = Path::new(inner).components().count();
    let folders = [former, &place.path].map(|path| path.ancestors().nth(depth + 1));
    folders.iter().flatten().any(|folder| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let mut repositories = entries
            .take(NEIGHBOURS_MAX)
            .map(|entry| entry.path())
            .filter(|path| path.join(".git").exists());
        repositories.any(|path| {
            let there = place_of(&path.join(inner));
            there.is_some_and(|there| there.path != place.path && there.git.contains(sign))
        })
    })
}

fn directory_signs(signs: &[String]) -> impl Iterator<Item = &String> {
    let mut signs = signs.iter();
    std::iter::from_fn(move || signs.find(|sign| sign.starts_with(DIRECTORY_SIGN)))
}
