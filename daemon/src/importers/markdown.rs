//! Importer for a folder of Markdown files, such as a memory bank. Files of a type that every project has a
//! template for become context files; the others are documents, which are reported with the command to ingest them.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Error, LineWriter, read_text};
use crate::clock::Micros;
use crate::projects::ProjectLocation;

/// File types that every project has a template for.
pub const KNOWN: [&str; 4] = ["bugs", "features", "mental_model", "session_summary"];
/// Limit on the depth of nested folders.
const DEPTH_MAX: usize = 8;
/// Limit on the number of files.
const FILES_MAX: usize = 10_000;
/// Limit on a context file, in bytes; every project accepts at least this size.
const CONTENT_BYTES_MAX: usize = 1 << 20;

/// Returns the file type of a file name: `mentalModel.md` and `Mental Model.md` are a `mental_model`.
#[must_use]
pub fn type_of(path: &Path) -> Option<&'static str> {
    if !path.extension()?.eq_ignore_ascii_case("md") {
        return None;
    }
    let squeeze = |text: &str| -> String {
        let letters = text.chars().filter(|letter| letter.is_ascii_alphanumeric());
        letters.map(|letter| letter.to_ascii_lowercase()).collect()
    };
    let stem = squeeze(path.file_stem()?.to_str()?);
    KNOWN.into_iter().find(|known| squeeze(known) == stem)
}

/// Exports a folder as lines.
pub fn write(
    folder: &Path,
    project: Option<&Path>,
    lines: &mut LineWriter<'_>,
    aside: &mut dyn FnMut(&str),
) -> Result<(), Error> {
    let files = files(folder)?;
    let (known, others): (Vec<PathBuf>, Vec<PathBuf>) =
        files.into_iter().partition(|path| type_of(path).is_some());
    let directory = project.unwrap_or(folder);
    let place = ProjectLocation::of(directory, &[])
        .ok_or_else(|| Error::Malformed(format!("{directory:?} is not a directory")))?;
    let absolute = std::path::absolute(folder).map_err(Error::file(folder))?;
    let (of_project, of_folder) = (as_text(&place.path)?, as_text(&absolute)?);
    let mut taken: Vec<&str> = Vec::new();
    for path in &known {
        let Some(file_type) = type_of(path) else {
            continue;
        };
        let content = read_text(path)?;
        if taken.contains(&file_type) || content.len() > CONTENT_BYTES_MAX {
            let why = match taken.contains(&file_type) {
                true => format!("another file is its project's {file_type} already"),
                false => format!("it has more than {CONTENT_BYTES_MAX} bytes"),
            };
            aside(&format!("left out: {}: {why}", path.display()));
            continue;
        }
        let at = changed_at(path);
        if taken.is_empty() {
            let payload = json!({"project": place.project, "name": place.name, "path": of_project});
            lines
                .outside(at, "Project", payload)
                .map_err(Error::file(path))?;
        }
        taken.push(file_type);
        let payload = json!({
            "project": place.project,
            "file_type": file_type,
            "version": 1,
            "change": "edited",
            "content": content,
            "reason": "imported",
        });
        lines
            .outside(at, "ContextVersion", payload)
            .map_err(Error::file(path))?;
    }
    for path in &others {
        aside(&format!(
            "left out: {}: no project has a template for it",
            path.display()
        ));
    }
    if !others.is_empty() {
        let payload = json!({"path": of_folder});
        lines
            .outside(0, "Source", payload)
            .map_err(Error::file(folder))?;
    }
    Ok(())
}

/// Returns a path as UTF-8 text.
fn as_text(path: &Path) -> Result<&str, Error> {
    path.to_str().ok_or_else(|| {
        Error::Malformed(format!(
            "{path:?} is not UTF-8, as lines are: give the folder another name"
        ))
    })
}

/// Lists the Markdown files below a folder, in order; skips links and hidden files.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    let mut open = vec![(folder.to_path_buf(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let entries = std::fs::read_dir(&folder).map_err(Error::file(&folder))?;
        for entry in entries {
            let entry = entry.map_err(Error::file(&folder))?;
            let kind = entry.file_type().map_err(Error::file(&entry.path()))?;
            let path = entry.path();
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let is_markdown = path
                .extension()
                .is_some_and(|end| end.eq_ignore_ascii_case("md"));
            if is_hidden {
                continue;
            }
            if kind.is_dir() && depth < DEPTH_MAX {
                open.push((path, depth + 1));
            } else if kind.is_file() && is_markdown {
                found.push(path);
            }
            if found.len() > FILES_MAX {
                return Err(Error::Malformed(format!(
                    "{folder:?} has more than {FILES_MAX} Markdown files: give a smaller folder"
                )));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns the modification time of a file, if the system reports it.
fn changed_at(path: &Path) -> Micros {
    let changed = std::fs::metadata(path).and_then(|metadata| metadata.modified());
    let since = changed
        .ok()
        .and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    since.map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(0))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    /// A folder whose name is not UTF-8 is refused, for the project and for the files.
    #[test]
    fn names_that_are_no_text_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let odd = home.path().join(OsStr::from_bytes(b"od\xffd"));
        let good = home.path().join("good");
        for folder in [&odd, &good] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("bugs.md"), "# Bugs\n").unwrap();
            std::fs::write(folder.join("progress.md"), "# Progress\n").unwrap();
        }
        let converted = |folder: &Path, project: Option<&Path>| {
            let mut out = Vec::new();
            let mut lines = LineWriter::new(&mut out);
            write(folder, project, &mut lines, &mut |_| {}).map(|()| out)
        };
        for (folder, project) in [(&odd, None), (&odd, Some(&good)), (&good, Some(&odd))] {
            let error = converted(folder, project.map(PathBuf::as_path)).unwrap_err();
            assert!(error.to_string().contains("is not UTF-8"), "{error}");
        }
        assert!(!converted(&good, None).unwrap().is_empty());
    }

    /// Different spellings of a name mean the same type; other files have none.
    #[test]
    fn names_mean_types() {
        let cases = [
            ("mentalModel.md", Some("mental_model")),
            ("Mental-Model.MD", Some("mental_model")),
            ("bugs.md", Some("bugs")),
            ("progress.md", None),
            ("bugs.txt", None),
            ("md", None),
        ];
        for (name, wanted) in cases {
            assert_eq!(type_of(Path::new(name)), wanted, "{name}");
        }
    }
}
