//! Adds a model: checks it by use, then copies it completely or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::files::{know_folder, name};
use super::{Model, ModelError, ModelFiles, ModelInfo};

/// Texts that any model must distinguish.
const PROBES: [&str; 2] = ["one cat sat on three mats", "how to mend a broken pump"];
/// File name prefixes of licence files.
const TERMS: [&str; 4] = ["LICENSE", "LICENCE", "NOTICE", "ATTRIBUTION"];
/// Limit on a licence file, in bytes.
const TERMS_MAX: u64 = 1 << 20;
/// Name prefix of an incomplete copy.
const DRAFT: &str = ".adding-";

/// Outcome of adding a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddResult {
    /// Added model.
    pub known: ModelInfo,
    /// Its folder now.
    pub folder: PathBuf,
    /// Whether an identical copy already existed.
    pub was_there: bool,
}

/// Why a model was not added.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// The model is unusable.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model loads, but its vectors are useless.
    #[error("the model {id} makes nothing of use of plain texts: {why}")]
    Useless {
        /// Model id.
        id: String,
        /// Problem with its vectors.
        why: String,
    },
    /// Another model has the same name.
    #[error(
        "{folder} exists already and contains another model; remove it, or give the new one's folder another name",
        folder = .0.display()
    )]
    Taken(PathBuf),
    /// The system refused the operation.
    #[error("{path}: {source}", path = .path.display())]
    Io {
        /// File or folder path.
        path: PathBuf,
        /// System error.
        source: io::Error,
    },
}

/// Adds the model in the folder `from` to the folder of models `into`, under its folder's name.
///
/// The model is loaded and embeds texts before anything is written. The checked bytes are written to a durable draft
/// next to the target, which is then moved into place. A kill leaves at most the draft; the next attempt under
/// that name overwrites it.
pub fn add(from: &Path, into: &Path) -> Result<AddResult, AddError> {
    let name = name(from)?;
    let files = ModelFiles::read(from)?;
    let bytes = files.bytes();
    let model = Model::from_files(&name, files.clone())?;
    check(&model)?;
    let known = ModelInfo {
        id: model.id().to_owned(),
        dimension: model.dimension(),
        stage: model.stage(),
        bytes,
    };
    let folder = into.join(&name);
    if folder.symlink_metadata().is_ok() {
        return match know_folder(&folder) {
            Ok(there) if there.id == known.id => Ok(AddResult {
                known,
                folder,
                was_there: true,
            }),
            Ok(_) | Err(_) => Err(AddError::Taken(folder)),
        };
    }
    let draft = into.join(format!("{DRAFT}{name}"));
    write_draft(&draft, &files, &terms(from))?;
    fs::rename(&draft, &folder).map_err(failed(&folder))?;
    sync_folder(into)?;
    Ok(AddResult {
        known,
        folder,
        was_there: false,
    })
}

/// Embeds texts: their vectors must have length one and be distinct.
fn check(model: &Model) -> Result<(), AddError> {
    let useless = |why: &str| AddError::Useless {
        id: model.id().to_owned(),
        why: why.to_owned(),
    };
    let product = |left: &[f32], right: &[f32]| -> f32 {
        left.iter()
            .zip(right)
            .map(|(left, right)| left * right)
            .sum()
    };
    let [first, second] = PROBES.map(|text| model.embed(text));
    for vector in [&first, &second] {
        // The comparison is also false for NaN.
        let is_one = (product(vector, vector) - 1.0).abs() < 1e-3;
        if !is_one {
            return Err(useless(
                "a vector is all zeros or no numbers; are vocabulary and weights of one model?",
            ));
        }
    }
    if product(&first, &second) > 0.9999 {
        return Err(useless(
            "two texts of different meaning have the same vector",
        ));
    }
    Ok(())
}

/// Returns the licence files; skips files that are too long or unreadable.
fn terms(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_terms = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let found = path.metadata();
        TERMS.iter().any(|beginning| name.starts_with(beginning))
            && found.is_ok_and(|found| found.is_file() && found.len() <= TERMS_MAX)
    };
    entries
        .map(|entry| entry.path())
        .filter(|path| is_terms(path))
        .filter_map(|path| Some((path.file_name()?.into(), fs::read(&path).ok()?)))
        .collect()
}

/// Writes a model's files durably.
fn write_draft(
    draft: &Path,
    files: &ModelFiles,
    terms: &[(PathBuf, Vec<u8>)],
) -> Result<(), AddError> {
    match fs::remove_dir_all(draft) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(draft)(error)),
    }
    fs::create_dir_all(draft).map_err(failed(draft))?;
    let parts = files.parts();
    let parts = parts.iter().map(|(name, bytes)| (Path::new(name), *bytes));
    let terms = terms
        .iter()
        .map(|(name, bytes)| (name.as_path(), bytes.as_slice()));
    for (name, bytes) in parts.chain(terms) {
        let path = draft.join(name);
        let written = File::create(&path).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        written.map_err(failed(&path))?;
    }
    sync_folder(draft)
}

fn sync_folder(folder: &Path) -> Result<(), AddError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(failed(folder))
}

/// Adds the path to an I/O error.
fn failed(path: &Path) -> impl Fn(io::Error) -> AddError {
    move |source| AddError::Io {
        path: path.into(),
        source,
    }
}
