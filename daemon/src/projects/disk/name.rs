//! The name of a context file: a project's id and a file type, checked so that they cannot form another path.

use std::fmt;
use std::sync::Arc;

/// Maximum length of a project's id, in bytes.
pub const PROJECT_BYTES_MAX: usize = 100;
/// Maximum length of a file type, in bytes.
pub const FILE_TYPE_BYTES_MAX: usize = 64;

const SUFFIX: &str = ".md";

/// The name of a context file: `{project}/{file_type}.md` in the folder of all projects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    project: Arc<str>,
    file_type: Arc<str>,
}

/// The reason why a name is invalid, with the valid form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The project's id has invalid characters, is too long or is empty.
    #[error(
        "invalid project id {0:?}: use 1 to {PROJECT_BYTES_MAX} characters of `a-z`, `0-9`, `_` and `-`"
    )]
    Project(String),
    /// The file type has invalid characters, is too long or is empty.
    #[error(
        "invalid file type {0:?}: use 1 to {FILE_TYPE_BYTES_MAX} characters of `a-z`, `0-9` and `_`, \
         beginning with a letter"
    )]
    FileType(String),
}

impl Name {
    /// Checks both parts and joins them.
    ///
    /// # Errors
    /// The id or the file type is invalid; the message shortens a long one.
    pub fn new(project: &str, file_type: &str) -> Result<Self, NameError> {
        if !is_project(project) {
            return Err(NameError::Project(shortened(project, PROJECT_BYTES_MAX)));
        }
        if !is_file_type(file_type) {
            return Err(NameError::FileType(shortened(
                file_type,
                FILE_TYPE_BYTES_MAX,
            )));
        }
        Ok(Self {
            project: project.into(),
            file_type: file_type.into(),
        })
    }

    /// Parses the name of `file` in the folder of `project`; `None` if it is not a context file, for example an
    /// editor's backup or swap file.
    #[must_use]
    pub fn of_file(project: &str, file: &str) -> Option<Self> {
        Self::new(project, file.strip_suffix(SUFFIX)?).ok()
    }

    /// Returns the project's id.
    #[must_use]
    pub fn project(&self) -> &str {
        &self.project
    }

    /// Returns the file type.
    #[must_use]
    pub fn file_type(&self) -> &str {
        &self.file_type
    }

    /// Returns the file name in the project's folder.
    #[must_use]
    pub fn file(&self) -> String {
        format!("{}{SUFFIX}", self.file_type)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}{SUFFIX}", self.project, self.file_type)
    }
}

/// Returns whether this is a valid project id, and so a valid folder name.
#[must_use]
pub fn is_project(text: &str) -> bool {
    (1..=PROJECT_BYTES_MAX).contains(&text.len())
        && text
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

/// Returns whether this is a valid file type.
#[must_use]
pub fn is_file_type(text: &str) -> bool {
    (1..=FILE_TYPE_BYTES_MAX).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text
            .bytes()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

fn shortened(text: &str, chars_max: usize) -> String {
    let mut shown: String = text.chars().take(chars_max + 1).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let name = Name::new("my-app-0a1b2c3d", "mental_model").unwrap();
        assert_eq!(name.to_string(), "my-app-0a1b2c3d/mental_model.md");
        assert_eq!(
            Name::of_file("my-app-0a1b2c3d", "mental_model.md"),
            Some(name)
        );

        for project in [
            "",
            "..",
            "a/b",
            "A",
            "a b",
            "é",
            ".",
            "a\0",
            &"a".repeat(101),
        ] {
            let error = Name::new(project, "bugs").unwrap_err();
            assert!(matches!(error, NameError::Project(_)), "{project:?}");
            assert!(error.to_string().len() < 400);
        }
        for file_type in [
            "",
            "../x",
            "1a",
            "_a",
            "a-b",
            "a.b",
            "Bugs",
            "bugs\n",
            &"a".repeat(65),
        ] {
            let error = Name::new("p", file_type).unwrap_err();
            assert!(matches!(error, NameError::FileType(_)), "{file_type:?}");
        }
    }

    /// Temporary files of editors are not context files.
    #[test]
    fn what_editors_leave_is_no_name() {
        for file in [
            "bugs.md~",
            ".#bugs.md",
            "#bugs.md#",
            ".bugs.md.swp",
            "4913",
            "bugs.txt",
            ".md",
            "bugs",
        ] {
            assert_eq!(Name::of_file("p", file), None, "{file}");
        }
    }
}
