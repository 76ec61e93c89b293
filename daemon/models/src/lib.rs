//! Embedding models: a text becomes a vector of fixed dimension, offline, on one core.
//!
//! Two architectures, distinguished by their `config.json`: static embeddings (a mean over one row per piece,
//! microseconds per text) and BERT (a small transformer, milliseconds per text). Both read the same WordPiece
//! vocabularies; weights are int8 rows with one f32 scale per row. Some models are embedded in the program, others
//! are stored in folders ([`catalogue`]); [`ModelPool`] holds the models in use.

mod attention;
mod bert;
mod catalogue;
mod embedded;
mod files;
mod installation;
mod kernel;
mod linear;
mod pointwise;
mod pool;
mod statics;
mod weights;
mod wordpiece;

use std::fmt;
use std::path::Path;

use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

use bert::Bert;
pub use catalogue::{AvailableModel, ModelOrigin, ModelPlaces, available_models, select, why_none};
pub use embedded::EmbeddedModel;
pub use files::ModelFiles;
pub use installation::{AddError, AddResult, add};
pub use pool::{ModelPool, Settings};
use statics::Statics;
use weights::Weights;
pub use wordpiece::WordPiece;

/// Limit on a weights file, in bytes: no text model that runs in milliseconds is larger.
pub const MAX_WEIGHTS: u64 = 512 << 20;
/// Limit on a vocabulary or configuration, in bytes.
pub const MAX_VOCABULARY: u64 = 8 << 20;
/// Limit on the vector dimension.
pub const MAX_DIMENSION: usize = 4096;
/// Word pieces of a text that a static model reads; the rest is ignored.
pub const STATIC_PIECES: usize = 1024;
/// Word pieces of a text that a BERT model reads, including its two special tokens.
pub const BERT_PIECES: usize = 256;
/// Limit on a model's name, in characters: with the hash it fits the stored id.
pub const MAX_NAME: usize = 64;
/// `model_type` of static embeddings, and of BERT.
const STATIC_TYPE: &str = "model2vec";
const BERT_TYPE: &str = "bert";
/// Incremented when a change of this code gives other vectors for the same weights.
const REVISION: u8 = 1;

/// Reason why a model is unusable.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file is missing or unreadable.
    #[error("the model's {file} cannot be read: {source}")]
    Unreadable {
        /// `config.json`, `vocab.txt` or `model.safetensors`.
        file: &'static str,
        /// System error.
        source: std::io::Error,
    },
    /// A file is longer than any model needs.
    #[error("the model's {file} is longer than {limit} bytes")]
    TooLong {
        /// File name.
        file: &'static str,
        /// Limit in bytes.
        limit: u64,
    },
    /// A file is damaged, or its model type is unknown.
    #[error("the model's {file} is not usable: {why}")]
    Damaged {
        /// File name.
        file: &'static str,
        /// Description of the problem.
        why: String,
    },
    /// A required file is missing.
    #[error("the model has no {file}; it needs config.json, vocab.txt and model.safetensors{hint}")]
    Missing {
        /// File name.
        file: &'static str,
        /// Other files of the folder, the most similar first, as the end of a sentence; may be empty.
        hint: String,
    },
    /// The folder's name is not a valid model name.
    #[error(
        "a model cannot be called {0:?}: its folder's name must be of 1 to {MAX_NAME} letters, digits, `-`, `_` and `.`, not beginning with `.`"
    )]
    Name(String),
    /// The files have changed since they were first inspected.
    #[error("the files of the model {id} have changed; a restart takes them as a new model")]
    Changed {
        /// Previous model id.
        id: String,
    },
}

impl ModelError {
    fn config(why: impl Into<String>) -> Self {
        Self::Damaged {
            file: "config.json",
            why: why.into(),
        }
    }

    fn weights(why: impl Into<String>) -> Self {
        Self::Damaged {
            file: "model.safetensors",
            why: why.into(),
        }
    }
}

/// Tier of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EmbeddingStage {
    /// Embeds while a text is written, and scores sentences: static embeddings.
    First,
    /// Embeds in the background with higher quality: a transformer.
    Second,
}

impl fmt::Display for EmbeddingStage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::First => "first tier",
            Self::Second => "second tier",
        })
    }
}

/// Description of a model that needs no loading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Name with a hash of the files: vectors of equal ids are comparable.
    pub id: String,
    /// Vector dimension.
    pub dimension: usize,
    /// Tier.
    pub stage: EmbeddingStage,
    /// Total size of the files in bytes.
    pub bytes: u64,
}

/// The fields of `config.json` that all models share.
#[derive(Debug, Deserialize)]
struct Config {
    model_type: String,
}

enum Architecture {
    Statics,
    Bert(bert::ModelDimensions),
}

impl Architecture {
    fn stage(&self) -> EmbeddingStage {
        match self {
            Self::Statics => EmbeddingStage::First,
            Self::Bert(_) => EmbeddingStage::Second,
        }
    }

    /// Returns the vector dimension, from the configuration and the weights' first bytes.
    fn dimension(&self, front: &[u8], length: usize) -> Result<usize, ModelError> {
        match self {
            Self::Statics => {
                weights::peek_shape(front, length, statics::ROWS).map(|(_, width)| width)
            }
            Self::Bert(shape) => shape.dimension(),
        }
    }
}

/// Reads `config.json` in two passes, because serde's `flatten` cannot read numbers that are stored as text.
fn architecture(config: &[u8]) -> Result<Architecture, ModelError> {
    let unreadable = |error: serde_json::Error| ModelError::config(error.to_string());
    let Config { model_type } = serde_json::from_slice(config).map_err(unreadable)?;
    match model_type.as_str() {
        STATIC_TYPE => Ok(Architecture::Statics),
        BERT_TYPE => serde_json::from_slice(config)
            .map(Architecture::Bert)
            .map_err(unreadable),
        other => {
            let other = other.chars().take(MAX_NAME).collect::<String>();
            let known = [STATIC_TYPE, BERT_TYPE];
            let nearest = files::nearest(&other, known)
                .map(|near| format!("; the nearest is {near:?}"))
                .unwrap_or_default();
            Err(ModelError::config(format!(
                "model_type is {other:?}; known are {STATIC_TYPE:?} and {BERT_TYPE:?}{nearest}"
            )))
        }
    }
}

/// A loaded model that embeds from any number of threads.
pub struct Model {
    id: String,
    tokenizer: WordPiece,
    encoder: Encoder,
}

enum Encoder {
    Statics(Statics),
    Bert(Box<Bert>),
}

/// Prints only the id, without the weights.
impl fmt::Debug for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Model")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Model {
    /// Reads a model from its folder; the folder's name is the model's name.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        Self::from_files(&files::name(folder)?, ModelFiles::read(folder)?)
    }

    /// Builds an embedded model. Its weights are used without a copy where possible.
    pub fn embedded(embedded: EmbeddedModel) -> Result<Self, ModelError> {
        let id = id(embedded.name, embedded.fingerprint);
        Self::build(id, ModelFiles::of(embedded))
    }

    /// Builds a model from its files' contents. Borrowed weights are used without a copy where possible.
    pub fn from_files(name: &str, files: ModelFiles) -> Result<Self, ModelError> {
        Self::build(id(name, files.fingerprint()), files)
    }

    /// Like [`Model::load`], but only if the model still has the known id.
    pub fn load_known(folder: &Path, known: &ModelInfo) -> Result<Self, ModelError> {
        let files = ModelFiles::read(folder)?;
        let id = id(&files::name(folder)?, files.fingerprint());
        if id == known.id {
            Self::build(id, files)
        } else {
            let id = known.id.clone();
            Err(ModelError::Changed { id })
        }
    }

    fn build(id: String, files: ModelFiles) -> Result<Self, ModelError> {
        let architecture = architecture(&files.config)?;
        let tokenizer = WordPiece::new(&files.vocabulary)?;
        let weights = Weights::new(files.weights)?;
        let encoder = match architecture {
            Architecture::Statics => Encoder::Statics(Statics::new(&weights, &tokenizer)?),
            Architecture::Bert(shape) => {
                Encoder::Bert(Box::new(Bert::new(&shape, &weights, &tokenizer)?))
            }
        };
        Ok(Self {
            id,
            tokenizer,
            encoder,
        })
    }

    /// Returns the model's name with a hash of all its files: vectors of equal ids are comparable.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the tier.
    #[must_use]
    pub fn stage(&self) -> EmbeddingStage {
        match &self.encoder {
            Encoder::Statics(_) => EmbeddingStage::First,
            Encoder::Bert(_) => EmbeddingStage::Second,
        }
    }

    /// Returns the vector dimension.
    #[must_use]
    pub fn dimension(&self) -> usize {
        match &self.encoder {
            Encoder::Statics(statics) => statics.dimension(),
            Encoder::Bert(bert) => bert.dimension(),
        }
    }

    /// Returns the vector of a text, of length one; all zeros when no word piece is known.
    ///
    /// Reads the text's first [`STATIC_PIECES`] or [`BERT_PIECES`] word pieces, so time and memory are bounded.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vec<f32> {
        self.embed_many(&[text]).pop().unwrap_or_default()
    }

    /// Returns the vectors of several texts, in order; slightly faster than one by one.
    #[must_use]
    pub fn embed_many(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        match &self.encoder {
            Encoder::Statics(statics) => texts
                .iter()
                .map(|text| statics.embed(&self.tokenizer, text))
                .collect(),
            Encoder::Bert(bert) => {
                let texts: Vec<(&str, &str)> = texts.iter().map(|text| ("", *text)).collect();
                bert.embed_many(&self.tokenizer, &texts)
            }
        }
    }

    /// Returns the vectors of texts that are understood with a context, given before each text, in order.
    ///
    /// A transformer reads the context with the text, and only the text's own pieces make the vector. Static embeddings
    /// know no context. An empty context gives the vector of [`Model::embed`].
    #[must_use]
    pub fn embed_in_context(&self, texts: &[(&str, &str)]) -> Vec<Vec<f32>> {
        match &self.encoder {
            Encoder::Statics(statics) => texts
                .iter()
                .map(|(_, text)| statics.embed(&self.tokenizer, text))
                .collect(),
            Encoder::Bert(bert) => bert.embed_many(&self.tokenizer, texts),
        }
    }
}

/// Builds a model's id: its name, and a hash of its files and of this code's revision.
fn id(name: &str, fingerprint: u64) -> String {
    let mut bytes = vec![REVISION];
    bytes.extend(fingerprint.to_le_bytes());
    format!("{name}@{:012x}", xxh3_64(&bytes) >> 16)
}

/// Scales a vector to length one, in place; zeros stay zeros.
pub fn normalise(vector: &mut [f32]) {
    let length = vector
        .iter()
        .map(|number| number * number)
        .sum::<f32>()
        .sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|number| *number /= length);
    } else {
        vector.fill(0.0);
    }
}

#[cfg(test)]
mod tests;
