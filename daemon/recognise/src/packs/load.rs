//! Loads the built-in packs and the packs of a folder.

use super::error::{PackError, Reason};
use super::read::{Pack, read};
use super::rule::CompileMode;
use super::{BUILT_IN, PACK_BYTES_MAX, PACKS_MAX, PackSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

impl PackSet {
    /// Returns the built-in packs.
    ///
    /// # Errors
    /// None in practice, because a test reads the packs.
    pub fn built_in() -> Result<Self, PackError> {
        Ok(Self::of(built_in()?))
    }

    /// Loads the built-in packs and the `.toml` files in `folder`, in the order of their names. The folder may be
    /// missing. A pack of the folder replaces the built-in pack of the same name.
    ///
    /// # Errors
    /// The line and reason of the first file that is unreadable or invalid. Nothing is loaded in part, so the
    /// caller can keep its current set.
    pub fn load(folder: &Path) -> Result<Self, PackError> {
        let mut packs = built_in()?;
        let mut files: Vec<(String, String)> = Vec::new();
        for path in files_of(folder)? {
            let file = path.display().to_string();
            let text = text_of(&path)?;
            let mut pack = read(&file, &text, CompileMode::Now)?;
            let name = pack.info.name.clone();
            if let Some((_, other)) = files.iter().find(|(known, _)| *known == name) {
                let other = other.clone();
                return Err(PackError::first_line(
                    &file,
                    Reason::DuplicatePack { name, other },
                ));
            }
            pack.info.file = Some(file.clone());
            match packs.iter_mut().find(|(known, _)| known.info.name == name) {
                Some(replaced) => *replaced = (pack, text),
                None => packs.push((pack, text)),
            }
            files.push((name, file));
        }
        Ok(Self::of(packs))
    }

    /// Parses a single pack, for a trial or a check before it joins the folder. `file` is its name in errors.
    ///
    /// # Errors
    /// The line and reason of the first fault.
    pub fn parse(file: &str, text: &str) -> Result<Self, PackError> {
        check_length(file, text.len() as u64)?;
        Ok(Self::of(vec![(
            read(file, text, CompileMode::Now)?,
            text.to_owned(),
        )]))
    }
}

fn built_in() -> Result<Vec<(Pack, String)>, PackError> {
    BUILT_IN
        .iter()
        .map(|(file, text)| {
            Ok((
                read(file, text, CompileMode::AtFirstUse)?,
                (*text).to_owned(),
            ))
        })
        .collect()
}

/// Returns the pack files of a folder, sorted by name.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, PackError> {
    let file = folder.display().to_string();
    let unreadable = |error| unreadable(folder, error);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            found.push(path);
        }
    }
    let count = found.len();
    if count > PACKS_MAX {
        return Err(PackError::first_line(&file, Reason::TooManyPacks { count }));
    }
    found.sort();
    Ok(found)
}

fn text_of(path: &Path) -> Result<String, PackError> {
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    let mut text = String::new();
    let read = file.take(PACK_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|error| unreadable(path, error))?;
    check_length(&path.display().to_string(), text.len() as u64)?;
    Ok(text)
}

fn check_length(file: &str, bytes: u64) -> Result<(), PackError> {
    if bytes > PACK_BYTES_MAX {
        return Err(PackError::first_line(file, Reason::TooLong { bytes }));
    }
    Ok(())
}

fn unreadable(path: &Path, error: io::Error) -> PackError {
    let path = path.to_owned();
    PackError::first_line(
        &path.display().to_string(),
        Reason::Unreadable { path, error },
    )
}
