//! `.lore.toml`: the settings in a project's root.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::DeTable;

/// The file's name.
pub const FILE: &str = ".lore.toml";
/// Default folder of a project's own templates.
const TEMPLATES: &str = ".lore/templates";
const BYTES_MAX: u64 = 64 * 1024;
const ID_BYTES_MAX: usize = 64;
const NAME_BYTES_MAX: usize = 256;
/// Limit on the number of exclude patterns.
const EXCLUDES_MAX: usize = 1000;
const PATTERN_BYTES_MAX: usize = 1024;

/// The settings in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Marker {
    /// The project's id, which replaces the one derived from the path: 1 to 64 of `a-z`, `0-9`, `_`, `-`.
    pub id: Option<String>,
    /// Display name.
    pub name: Option<String>,
    /// Folder of the project's own templates, relative to the root; absent: `.lore/templates`.
    pub templates: Option<String>,
    /// Files and folders that are never read, as `.gitignore` patterns.
    pub exclude: Vec<String>,
    /// What hooks record and add.
    pub capture: CaptureTable,
}

/// What hooks record and add: `[capture]` of the settings and of a project. The stricter value holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaptureTable {
    /// Whether prompts are recorded.
    pub prompts: Option<bool>,
    /// Whether answers are recorded.
    pub answers: Option<bool>,
    /// Whether calls of tools are recorded.
    pub tools: Option<bool>,
    /// Whether text is added to contexts.
    pub add: Option<bool>,
    /// What is said of others that work on the same files.
    pub coordination: Option<Coordination>,
    /// Bytes of a result that are recorded; a longer one loses its middle.
    pub result_bytes_max: Option<u64>,
    /// Files of which nothing is recorded, as `.gitignore` patterns.
    pub exclude: Vec<String>,
}

/// What agents learn of others that work on the same files; the strictest one is the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coordination {
    /// Nothing.
    Off,
    /// A line before an edit, and at a prompt.
    #[default]
    Warn,
    /// Likewise, and a person is asked before the edit, where the host can ask.
    Ask,
}

impl Coordination {
    /// Whether agents are informed at all.
    #[must_use]
    pub const fn informs(self) -> bool {
        !matches!(self, Self::Off)
    }
}

impl CaptureTable {
    /// Returns what holds where both hold.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        let both = |one: Option<bool>, other: Option<bool>| match (one, other) {
            (Some(one), Some(other)) => Some(one && other),
            (one, other) => one.or(other),
        };
        let least = [self.result_bytes_max, other.result_bytes_max];
        Self {
            prompts: both(self.prompts, other.prompts),
            answers: both(self.answers, other.answers),
            tools: both(self.tools, other.tools),
            add: both(self.add, other.add),
            coordination: self.coordination.max(other.coordination),
            result_bytes_max: least.into_iter().flatten().min(),
            exclude: [other.exclude.as_slice(), &self.exclude].concat(),
        }
    }

    /// Returns a sentence about the first invalid setting.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        (!are_patterns(&self.exclude)).then(|| {
            format!(
                "`capture.exclude` has at most {EXCLUDES_MAX} patterns of 1 to {PATTERN_BYTES_MAX} bytes"
            )
        })
    }
}

fn are_patterns(patterns: &[String]) -> bool {
    let is_pattern = |pattern: &String| !pattern.is_empty() && pattern.len() <= PATTERN_BYTES_MAX;
    patterns.len() <= EXCLUDES_MAX && patterns.iter().all(is_pattern)
}

impl Marker {
    /// Returns the folder of the project's own templates, relative to the root.
    #[must_use]
    pub fn templates(&self) -> &str {
        self.templates.as_deref().unwrap_or(TEMPLATES)
    }

    /// Merges two markers: `other` takes precedence, and the exclude patterns are joined.
    #[must_use]
    pub fn under(self, other: &Self) -> Self {
        Self {
            id: other.id.clone().or(self.id),
            name: other.name.clone().or(self.name),
            templates: other.templates.clone().or(self.templates),
            exclude: [other.exclude.as_slice(), &self.exclude].concat(),
            capture: self.capture.and(&other.capture),
        }
    }

    /// Returns a sentence about the first invalid setting.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        if let Some(id) = self.id.as_deref().filter(|id| !is_id(id)) {
            return Some(format!(
                "`id` is {id:?}; it has 1 to {ID_BYTES_MAX} of a-z, 0-9, `_` and `-`, the first a \
                 letter or digit"
            ));
        }
        let is_name = |name: &str| {
            !name.trim().is_empty()
                && !name.chars().any(char::is_control)
                && name.len() <= NAME_BYTES_MAX
        };
        if self.name.as_deref().is_some_and(|name| !is_name(name)) {
            return Some(format!(
                "`name` has 1 to {NAME_BYTES_MAX} bytes and no control characters"
            ));
        }
        let leaves = |path: &str| {
            let is_plain = |part| {
                matches!(
                    part,
                    std::path::Component::Normal(_) | std::path::Component::CurDir
                )
            };
            path.is_empty() || !Path::new(path).components().all(is_plain)
        };
        if let Some(path) = self.templates.as_deref().filter(|path| leaves(path)) {
            return Some(format!(
                "`templates` is {path:?}; it names a folder within the project, from its root"
            ));
        }
        if !are_patterns(&self.exclude) {
            return Some(format!(
                "`exclude` has at most {EXCLUDES_MAX} patterns of 1 to {PATTERN_BYTES_MAX} bytes"
            ));
        }
        self.capture.problem()
    }
}

/// Returns whether a text is a valid project id.
#[must_use]
pub fn is_id(text: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    text.len() <= ID_BYTES_MAX
        && text.bytes().all(is_allowed)
        && text
            .bytes()
            .next()
            .is_some_and(|first| first.is_ascii_alphanumeric())
}

/// Returns whether a folder has a marker.
#[must_use]
pub fn is_in(folder: &Path) -> bool {
    std::fs::symlink_metadata(folder.join(FILE)).is_ok_and(|file| file.is_file())
}

/// Returns the path of a folder's marker.
#[must_use]
pub fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// Returns the line of each key in a folder's marker, from 1; empty if the marker cannot be parsed.
#[must_use]
pub fn lines(folder: &Path) -> BTreeMap<String, usize> {
    let Ok(text) = std::fs::read_to_string(path(folder)) else {
        return BTreeMap::new();
    };
    let Ok(table) = DeTable::parse(&text) else {
        return BTreeMap::new();
    };
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let keys = table.get_ref().keys();
    keys.map(|key| (key.get_ref().to_string(), line(key.span().start)))
        .collect()
}

/// Reads the marker of a folder; a missing one is empty.
///
/// # Errors
/// The file cannot be read or is invalid; the message names the file.
pub fn read(folder: &Path) -> Result<Marker, String> {
    let path = path(folder);
    if !is_in(folder) {
        return Ok(Marker::default());
    }
    let reported = |problem: String| format!("{}: {problem}", path.display());
    let bytes = std::fs::metadata(&path).map_or(0, |file| file.len());
    if bytes > BYTES_MAX {
        return Err(reported(format!(
            "it has {bytes} bytes; at most {BYTES_MAX} are read"
        )));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| reported(error.to_string()))?;
    let marker: Marker =
        toml::from_str(&text).map_err(|error| reported(error.to_string().trim().to_owned()))?;
    match marker.problem() {
        Some(problem) => Err(reported(problem)),
        None => Ok(marker),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Every key is read. Unknown keys, invalid values and paths outside of the project are reported with the
    /// file.
    #[test]
    fn markers_are_read_and_refused() {
        let folder = tempfile::tempdir().unwrap();
        let with = |text: &str| {
            std::fs::write(folder.path().join(FILE), text).unwrap();
            read(folder.path())
        };
        assert_eq!(read(folder.path()), Ok(Marker::default()));
        let whole = with(
            "id = \"shop-2\"\nname = \"Shop\"\ntemplates = \"docs/lore\"\nexclude = [\"target/\"]\n",
        );
        let whole = whole.unwrap();
        assert_eq!(whole.templates(), "docs/lore");
        assert_eq!(whole.exclude, ["target/"]);
        for (text, reported) in [
            ("id = \"\"", "`id` is \"\""),
            ("id = \"../x\"", "../x"),
            ("id = \"-x\"", "the first a letter"),
            ("name = \" \"", "`name`"),
            ("templates = \"../elsewhere\"", "within the project"),
            ("templates = \"/etc\"", "within the project"),
            ("exclude = [\"\"]", "`exclude`"),
            ("nmae = \"x\"", "nmae"),
            ("id = ", "line 1"),
        ] {
            let error = with(text).unwrap_err();
            assert!(
                error.contains(reported) && error.contains(FILE),
                "{text}: {error}"
            );
        }
    }
}
