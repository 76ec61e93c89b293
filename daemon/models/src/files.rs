//! The three files of a model: bounded reads, streaming hashes, and inspection without loading.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use xxhash_rust::xxh3::Xxh3;

use super::weights::FRONT;
use super::{
    EmbeddedModel, MAX_NAME, MAX_VOCABULARY, MAX_WEIGHTS, ModelError, ModelInfo, architecture, id,
};

pub(super) const CONFIG: &str = "config.json";
pub(super) const VOCABULARY: &str = "vocab.txt";
pub(super) const WEIGHTS: &str = "model.safetensors";
/// Each file and its limit in bytes, in the order of hashing.
const FILES: [(&str, u64); 3] = [
    (CONFIG, MAX_VOCABULARY),
    (VOCABULARY, MAX_VOCABULARY),
    (WEIGHTS, MAX_WEIGHTS),
];
/// Limit on the folder entries that are searched for names similar to a missing file.
const MAX_NEIGHBOURS: usize = 1000;
/// Limit on the similar names that are reported.
const TOLD_NEIGHBOURS: usize = 3;
/// Minimum similarity of a suggested name.
const LIKENESS_MIN: f64 = 0.4;

/// The three files of a model, in memory: from a folder, or embedded in the program.
#[derive(Clone)]
pub struct ModelFiles {
    /// `config.json`.
    pub config: Cow<'static, [u8]>,
    /// `vocab.txt`: one word piece per line; its id is the line number, from 0.
    pub vocabulary: Cow<'static, [u8]>,
    /// `model.safetensors`: each matrix as int8 rows, with one f32 scale per row under `NAME.scale`.
    pub weights: Cow<'static, [u8]>,
}

impl ModelFiles {
    /// Reads the files from a folder.
    pub fn read(folder: &Path) -> Result<Self, ModelError> {
        let [config, vocabulary, weights] = FILES.map(|(name, limit)| read(folder, name, limit));
        Ok(Self {
            config: config?.into(),
            vocabulary: vocabulary?.into(),
            weights: weights?.into(),
        })
    }

    /// Returns the files of an embedded model, without a copy.
    #[must_use]
    pub fn of(embedded: EmbeddedModel) -> Self {
        Self {
            config: embedded.config.into(),
            vocabulary: embedded.vocabulary.into(),
            weights: embedded.weights.into(),
        }
    }

    /// Hashes all files.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        for (_, file) in self.parts() {
            hash.update(&(file.len() as u64).to_le_bytes());
            hash.update(file);
        }
        hash.digest()
    }

    /// Returns the total size in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.parts().map(|(_, file)| file.len() as u64).iter().sum()
    }

    /// Returns each file with its name.
    pub(super) fn parts(&self) -> [(&'static str, &[u8]); 3] {
        [
            (CONFIG, &self.config),
            (VOCABULARY, &self.vocabulary),
            (WEIGHTS, &self.weights),
        ]
    }
}

/// Describes an embedded model without reading its weights.
pub(super) fn know_embedded(embedded: EmbeddedModel) -> Result<ModelInfo, ModelError> {
    let architecture = architecture(embedded.config)?;
    Ok(ModelInfo {
        id: id(embedded.name, embedded.fingerprint),
        dimension: architecture.dimension(embedded.weights, embedded.weights.len())?,
        stage: architecture.stage(),
        bytes: ModelFiles::of(embedded).bytes(),
    })
}

/// Describes a model in a folder: hashes its files in pieces, and keeps only the header of the weights.
pub(super) fn know_folder(folder: &Path) -> Result<ModelInfo, ModelError> {
    let name = name(folder)?;
    let architecture = architecture(&read(folder, CONFIG, MAX_VOCABULARY)?)?;
    let mut hash = Xxh3::new();
    let mut bytes = 0;
    let mut front = Vec::new();
    for (file, limit) in FILES {
        front.clear();
        bytes += hash_file(folder, file, limit, &mut hash, &mut front)?;
    }
    // The weights are the last file: `front` is theirs.
    let length = fs::metadata(folder.join(WEIGHTS)).map_or(0, |found| found.len());
    Ok(ModelInfo {
        id: id(&name, hash.digest()),
        dimension: architecture.dimension(&front, usize::try_from(length).unwrap_or(usize::MAX))?,
        stage: architecture.stage(),
        bytes,
    })
}

/// Returns the name of a model in a folder.
pub(super) fn name(folder: &Path) -> Result<String, ModelError> {
    // Resolves `.` and `models/..` to a name.
    let whole = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_path_buf());
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let is_name = (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(is_plain)
        && !name.starts_with('.');
    if is_name {
        Ok(name.into_owned())
    } else {
        Err(ModelError::Name(name.chars().take(MAX_NAME + 1).collect()))
    }
}

/// Returns the most similar word, if any is similar enough.
pub(super) fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let alike = words
        .into_iter()
        .map(|known| (likeness(word, known), known));
    alike
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, known)| known)
}

fn likeness(left: &str, right: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(left, right)
}

/// Reads a whole file, up to the limit.
fn read(folder: &Path, name: &'static str, limit: u64) -> Result<Vec<u8>, ModelError> {
    let (file, length) = open(folder, name, limit)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(|source| ModelError::Unreadable { file: name, source })?;
    Ok(bytes)
}

/// Hashes a file as [`ModelFiles::fingerprint`] does and keeps its first bytes; returns its length.
fn hash_file(
    folder: &Path,
    name: &'static str,
    limit: u64,
    hash: &mut Xxh3,
    front: &mut Vec<u8>,
) -> Result<u64, ModelError> {
    let (file, length) = open(folder, name, limit)?;
    hash.update(&length.to_le_bytes());
    let mut file = file.take(length);
    let mut piece = vec![0; 1 << 16];
    loop {
        let count = file
            .read(&mut piece)
            .map_err(|source| ModelError::Unreadable { file: name, source })?;
        let read = piece.get(..count).unwrap_or_default();
        if read.is_empty() {
            return Ok(length);
        }
        hash.update(read);
        let room = FRONT.saturating_sub(front.len()).min(count);
        front.extend_from_slice(read.get(..room).unwrap_or_default());
    }
}

/// Opens a regular file and returns its length, which is within the limit.
fn open(folder: &Path, name: &'static str, limit: u64) -> Result<(File, u64), ModelError> {
    let path = folder.join(name);
    let unreadable = |source| ModelError::Unreadable { file: name, source };
    // Checked before opening: opening a pipe would block until it has a writer.
    let found = fs::metadata(&path).map_err(|source| match source.kind() {
        ErrorKind::NotFound => missing(folder, name),
        _ => unreadable(source),
    })?;
    if !found.is_file() {
        return Err(ModelError::Damaged {
            file: name,
            why: "it is not a regular file".to_owned(),
        });
    }
    let file = File::open(&path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    if length > limit {
        return Err(ModelError::TooLong { file: name, limit });
    }
    Ok((file, length))
}

/// Reports a missing file, with similar names in the folder.
fn missing(folder: &Path, name: &'static str) -> ModelError {
    if let Err(source) = fs::read_dir(folder) {
        return ModelError::Unreadable {
            file: "folder",
            source,
        };
    }
    let mut neighbours: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .take(MAX_NEIGHBOURS)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|neighbour| FILES.iter().all(|(file, _)| file != neighbour))
        .collect();
    neighbours.sort();
    neighbours.sort_by(|left, right| likeness(name, right).total_cmp(&likeness(name, left)));
    neighbours.truncate(TOLD_NEIGHBOURS);
    let hint = match neighbours.is_empty() {
        true => String::new(),
        false => format!("; also in the folder: {neighbours:?}"),
    };
    ModelError::Missing { file: name, hint }
}
