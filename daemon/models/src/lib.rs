//! Embedding models: a text becomes a vector of fixed length, offline, on one core.
//!
//! Two architectures, told apart by their `config.json`: static embeddings (a mean over one row a
//! piece, microseconds a text) and BERT (a small transformer, milliseconds a text). Both read the
//! same WordPiece vocabularies; weights are int8 rows with one f32 scale a row. Some models are part of
//! the program, others lie in folders ([`offers`]); [`ModelPool`] has the ones in use.

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

/// Bytes of a weights file, at most: no text model that runs in milliseconds is larger.
pub const MAX_WEIGHTS: u64 = 512 << 20;
/// Bytes of a vocabulary or configuration, at most.
pub const MAX_VOCABULARY: u64 = 8 << 20;
/// Numbers in a vector, at most.
pub const MAX_DIMENSION: usize = 4096;
/// Word pieces of a text that a static model reads; what follows does not count.
pub const STATIC_PIECES: usize = 1024;
/// Word pieces of a text that a BERT model reads, its two marks included.
pub const BERT_PIECES: usize = 256;
/// Characters of a model's name, at most: with the hash it fits where vectors are stored.
pub const MAX_NAME: usize = 64;
/// `model_type` of static embeddings, and of BERT.
const STATIC_TYPE: &str = "model2vec";
const BERT_TYPE: &str = "bert";
/// Counts up when the same weights would give other vectors, because the code here changed.
const REVISION: u8 = 1;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file is missing or cannot be read.
    #[error("the model's {file} cannot be read: {source}")]
    Unreadable {
        /// `config.json`, `vocab.txt` or `model.safetensors`.
        file: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is longer than any model needs.
    #[error("the model's {file} is longer than {limit} bytes")]
    TooLong {
        /// Which file.
        file: &'static str,
        /// Bytes it may have.
        limit: u64,
    },
    /// A file is damaged, or not of a model known here.
    #[error("the model's {file} is not usable: {why}")]
    Damaged {
        /// Which file.
        file: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A file that a model must have is not there.
    #[error("the model has no {file}; it needs config.json, vocab.txt and model.safetensors{hint}")]
    Missing {
        /// Which file.
        file: &'static str,
        /// What else is there, the most alike first, as the end of a sentence; or nothing.
        hint: String,
    },
    /// The name of a model's folder is not one.
    #[error(
        "a model cannot be called {0:?}: its folder's name must be of 1 to {MAX_NAME} letters, digits, `-`, `_` and `.`, not beginning with `.`"
    )]
    Name(String),
    /// The files are other ones than when they were first looked at.
    #[error("the files of the model {id} have changed; a restart takes them as a new model")]
    Changed {
        /// What the model was.
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

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EmbeddingStage {
    /// Embeds while a text is written, and scores sentences: static embeddings.
    First,
    /// Follows in the background and knows more: a transformer.
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

/// What is known of a model without loading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its name with a hash of its files: vectors of equal ids can be compared.
    pub id: String,
    /// Numbers in a vector.
    pub dimension: usize,
    /// What it is for.
    pub stage: EmbeddingStage,
    /// Bytes of its files.
    pub bytes: u64,
}

/// What `config.json` says of any model; it holds much else.
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

    /// Numbers in a vector, from the configuration and the weights' first bytes.
    fn dimension(&self, front: &[u8], length: usize) -> Result<usize, ModelError> {
        match self {
            Self::Statics => {
                weights::peek_shape(front, length, statics::ROWS).map(|(_, width)| width)
            }
            Self::Bert(shape) => shape.dimension(),
        }
    }
}

/// Reads `config.json`, in two passes: serde's `flatten` cannot read numbers that are kept as text.
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

/// One model, ready to embed from any number of threads.
pub struct Model {
    id: String,
    tokenizer: WordPiece,
    encoder: Encoder,
}

enum Encoder {
    Statics(Statics),
    Bert(Box<Bert>),
}

/// Its id alone: weights are no reading matter.
impl fmt::Debug for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Model")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Model {
    /// Reads a model from its folder; the folder's name is the model's.
    ///
    /// # Errors
    /// A file is missing, too long, damaged, or of a model that is not known here.
    pub fn load(folder: &Path) -> Result<Self, ModelError> {
        Self::from_files(&files::name(folder)?, ModelFiles::read(folder)?)
    }

    /// Makes a model of one that the program carries. Its weights are used in place, where they can be.
    ///
    /// # Errors
    /// It is damaged, or of a model that is not known here.
    pub fn embedded(embedded: EmbeddedModel) -> Result<Self, ModelError> {
        let id = id(embedded.name, embedded.fingerprint);
        Self::build(id, ModelFiles::of(embedded))
    }

    /// Makes a model of its files' contents. Borrowed weights are used in place, where they can be.
    ///
    /// # Errors
    /// A file is damaged, or of a model that is not known here.
    pub fn from_files(name: &str, files: ModelFiles) -> Result<Self, ModelError> {
        Self::build(id(name, files.fingerprint()), files)
    }

    /// As [`Model::load`], if it is still the model that had this id.
    ///
    /// # Errors
    /// As there, and when it is not.
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

    /// The model's name with a hash of all its files: vectors of equal ids can be compared.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it is for.
    #[must_use]
    pub fn stage(&self) -> EmbeddingStage {
        match &self.encoder {
            Encoder::Statics(_) => EmbeddingStage::First,
            Encoder::Bert(_) => EmbeddingStage::Second,
        }
    }

    /// Numbers in a vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        match &self.encoder {
            Encoder::Statics(statics) => statics.dimension(),
            Encoder::Bert(bert) => bert.dimension(),
        }
    }

    /// The vector of a text, of length one; all zeros when the model knows nothing of it.
    ///
    /// Reads the text's first [`STATIC_PIECES`] or [`BERT_PIECES`] word pieces, so neither time nor
    /// memory grows with what follows.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vec<f32> {
        self.embed_many(&[text]).pop().unwrap_or_default()
    }

    /// The vectors of several texts, in their order; a little faster than one by one.
    #[must_use]
    pub fn embed_many(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        match &self.encoder {
            Encoder::Statics(statics) => texts
                .iter()
                .map(|text| statics.embed(&self.tokenizer, text))
                .collect(),
            Encoder::Bert(bert) => bert.embed_many(&self.tokenizer, texts),
        }
    }
}

/// The id of a model: its name, and a hash of its files and of how they are read here.
fn id(name: &str, fingerprint: u64) -> String {
    let mut bytes = vec![REVISION];
    bytes.extend(fingerprint.to_le_bytes());
    format!("{name}@{:012x}", xxh3_64(&bytes) >> 16)
}

/// Scales a vector to length one, in place; zeros stay.
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
