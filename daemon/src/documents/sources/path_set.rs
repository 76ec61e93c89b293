//! Parts of a source, by their paths below its folder.

use std::collections::BTreeSet;

/// Limit on the paths in a set; a larger set becomes the whole source.
const PLACES_MAX: usize = 1000;

/// A set of files and folders, including everything below them. The empty set selects nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathSet(BTreeSet<String>);

impl PathSet {
    /// Returns the set that selects the whole source.
    #[must_use]
    pub fn all() -> Self {
        Self(BTreeSet::from([String::new()]))
    }

    /// Adds a file or folder; the empty path selects the whole source.
    pub fn add(&mut self, place: String) {
        if self.is_all() {
            return;
        }
        self.0.insert(place);
        if self.0.len() > PLACES_MAX || self.is_all() {
            *self = Self::all();
        }
    }

    /// Adds all paths of another set.
    pub fn add_all(&mut self, others: Self) {
        for place in others.0 {
            self.add(place);
        }
    }

    /// Iterates over the paths without duplicates; the empty path is the whole source.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Reports whether nothing is selected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reports whether the whole source is selected.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.0.contains("")
    }

    /// Reports whether a path is in the set or below one of its paths.
    #[must_use]
    pub fn hold(&self, path: &str) -> bool {
        let above = path.match_indices('/').map(|(at, _)| path.split_at(at).0);
        self.is_all() || self.0.contains(path) || above.into_iter().any(|it| self.0.contains(it))
    }

    /// Reports whether a path of the set is below a folder.
    pub(super) fn are_below(&self, folder: &str) -> bool {
        let below = format!("{folder}/");
        let mut next = self.0.range::<String, _>(&below..);
        folder.is_empty() || next.next().is_some_and(|place| place.starts_with(&below))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(of: &[&str]) -> PathSet {
        let mut places = PathSet::default();
        for place in of {
            places.add((*place).to_owned());
        }
        places
    }

    #[test]
    fn what_is_in_a_place_and_what_is_above_it() {
        let places = places(&["a/b", "a-b", "c"]);
        for path in ["a/b", "a/b/c/d", "a-b/x", "c"] {
            assert!(places.hold(path), "{path}");
        }
        for path in ["", "a", "a/bc", "a-bc", "d"] {
            assert!(!places.hold(path), "{path}");
        }
        assert!(places.are_below("a") && places.are_below(""));
        assert!(!places.are_below("a/b") && !places.are_below("c"));
    }

    #[test]
    fn too_many_are_everything() {
        let mut many = PathSet::default();
        for count in 0..=PLACES_MAX {
            assert!(!many.is_all());
            many.add(format!("{count}"));
        }
        assert_eq!(many, PathSet::all());
        assert_eq!(places(&["a", "", "b"]), PathSet::all());
        assert!(PathSet::default().is_empty() && !PathSet::default().hold("a"));
    }
}
