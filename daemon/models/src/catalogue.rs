//! The available models: embedded in the program, installed next to it, and in the folder of added models.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::files::{know_embedded, know_folder};
use super::{EmbeddedModel, EmbeddingStage, Model, ModelError, ModelInfo, Settings};

/// Limit on the models of one folder.
const MAX_OFFERS: usize = 64;

/// Folders that are searched for models, in addition to the program itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelPlaces {
    /// Folder of added models: the target of `lored models add`.
    pub added: PathBuf,
    /// Folder that was installed with the program, if any.
    pub beside: Option<PathBuf>,
}

impl ModelPlaces {
    /// Returns the folders of this program: the configured folder or else `added`, and `../share/lored/models` relative to
    /// the program's folder.
    #[must_use]
    pub fn of_this_program(settings: &Settings, added: PathBuf) -> Self {
        let added = settings.folder.clone().unwrap_or(added);
        Self::new(added, std::env::current_exe().ok().as_deref())
    }

    /// Like the function above, for any program.
    #[must_use]
    pub fn new(added: PathBuf, program: Option<&Path>) -> Self {
        let prefix = program.and_then(Path::parent).and_then(Path::parent);
        Self {
            added,
            beside: prefix.map(|prefix| prefix.join("share/lored/models")),
        }
    }
}

/// Source of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelOrigin {
    /// A folder that the user added.
    Added(PathBuf),
    /// A folder that was installed with the program.
    Beside(PathBuf),
    /// Embedded in the program.
    Program,
}

impl fmt::Display for ModelOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(folder) | Self::Beside(folder) => {
                write!(formatter, "{}", folder.display())
            }
            Self::Program => formatter.write_str("in the program"),
        }
    }
}

/// An available model, usable or not.
#[derive(Debug)]
pub struct AvailableModel {
    /// Source.
    pub origin: ModelOrigin,
    /// Description of the model, or the reason why it is unusable.
    pub known: Result<ModelInfo, ModelError>,
    embedded: Option<EmbeddedModel>,
}

impl AvailableModel {
    /// Loads the complete model.
    pub(super) fn load(&self, known: &ModelInfo) -> Result<Model, ModelError> {
        match (&self.origin, self.embedded) {
            (ModelOrigin::Added(folder) | ModelOrigin::Beside(folder), _) => {
                Model::load_known(folder, known)
            }
            (ModelOrigin::Program, Some(embedded)) => Model::embedded(embedded),
            (ModelOrigin::Program, None) => {
                Err(ModelError::config("the program carries no such model"))
            }
        }
    }
}

/// Lists all available models; the first usable model of each tier is the one in use.
///
/// Added models come first, then installed ones, then embedded ones; models of one folder are ordered by name.
/// Folder models are read once for hashing, which takes some milliseconds per 100 MB, and are not retained.
#[must_use]
pub fn available_models(places: &ModelPlaces) -> Vec<AvailableModel> {
    let mut found = in_folder(&places.added, ModelOrigin::Added);
    if let Some(beside) = &places.beside {
        found.extend(in_folder(beside, ModelOrigin::Beside));
    }
    found.extend(carried().into_iter().map(|embedded| AvailableModel {
        origin: ModelOrigin::Program,
        known: know_embedded(embedded),
        embedded: Some(embedded),
    }));
    found
}

/// Returns the index of the model in use for a tier.
#[must_use]
pub fn select(available_models: &[AvailableModel], stage: EmbeddingStage) -> Option<usize> {
    let is_of = |available_model: &AvailableModel| {
        available_model
            .known
            .as_ref()
            .is_ok_and(|known| known.stage == stage)
    };
    available_models.iter().position(is_of)
}

/// Explains why no model of the second tier is available.
#[must_use]
pub fn why_none() -> &'static str {
    if cfg!(feature = "second-tier") {
        "no model of the second tier is usable"
    } else {
        "this program was built without the second tier's model (its feature `second-tier`), and none \
         that is usable was added"
    }
}

/// Returns the embedded models.
fn carried() -> Vec<EmbeddedModel> {
    vec![
        crate::embedded::potion(),
        #[cfg(feature = "second-tier")]
        crate::embedded::minilm(),
    ]
}

/// Lists the subfolders of a folder, by name; hidden ones are drafts or unrelated.
fn in_folder(root: &Path, origin: impl Fn(PathBuf) -> ModelOrigin) -> Vec<AvailableModel> {
    let available_model = |folder: PathBuf, known| AvailableModel {
        origin: origin(folder),
        known,
        embedded: None,
    };
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(source) => {
            let file = "folder";
            let why = ModelError::Unreadable { file, source };
            return vec![available_model(root.to_path_buf(), Err(why))];
        }
    };
    let is_hidden = |path: &Path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'))
    };
    let mut folders: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir() && !is_hidden(path))
        .collect();
    folders.sort();
    folders.truncate(MAX_OFFERS);
    folders
        .into_iter()
        .map(|folder| {
            let known = know_folder(&folder);
            available_model(folder, known)
        })
        .collect()
}
