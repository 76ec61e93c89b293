//! The models that there are: in the program, beside it, in the folder of models that were added.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::files::{know_embedded, know_folder};
use super::{EmbeddedModel, EmbeddingStage, Model, ModelError, ModelInfo, Settings};

/// Models of one folder that are looked at.
const MAX_OFFERS: usize = 64;

/// Where models are looked for, besides the program itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelPlaces {
    /// The folder of models that were added: what `lored models add` writes to.
    pub added: PathBuf,
    /// The folder that came with the program, if it has one.
    pub beside: Option<PathBuf>,
}

impl ModelPlaces {
    /// The places of this program: the folder that is set, otherwise `added`, and `../share/lored/models`
    /// from the program's own folder.
    #[must_use]
    pub fn of_this_program(settings: &Settings, added: PathBuf) -> Self {
        let added = settings.folder.clone().unwrap_or(added);
        Self::new(added, std::env::current_exe().ok().as_deref())
    }

    /// The same for any program.
    #[must_use]
    pub fn new(added: PathBuf, program: Option<&Path>) -> Self {
        let prefix = program.and_then(Path::parent).and_then(Path::parent);
        Self {
            added,
            beside: prefix.map(|prefix| prefix.join("share/lored/models")),
        }
    }
}

/// Where a model comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelOrigin {
    /// Somebody added it: this folder.
    Added(PathBuf),
    /// It came with the program: this folder.
    Beside(PathBuf),
    /// It is part of the program.
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

/// A model that there is, usable or not.
#[derive(Debug)]
pub struct AvailableModel {
    /// Where it comes from.
    pub origin: ModelOrigin,
    /// What is known of it, or why it cannot be used.
    pub known: Result<ModelInfo, ModelError>,
    embedded: Option<EmbeddedModel>,
}

impl AvailableModel {
    /// The model, read as a whole.
    ///
    /// # Errors
    /// It is not usable, or its files have changed since it was looked at.
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

/// All models that there are; of those of one tier, the first that is usable is the one in use.
///
/// What was added comes before what came with the program, and both before what the program carries;
/// in one folder they come by name. Reads folders' models once to hash them, some milliseconds per
/// 100 MB, and keeps nothing of them.
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

/// The place of the offer that is in use for a tier.
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

/// Why no offer is of the second tier.
#[must_use]
pub fn why_none() -> &'static str {
    if cfg!(feature = "second-tier") {
        "no model of the second tier is usable"
    } else {
        "this program was built without the second tier's model (its feature `second-tier`), and none \
         that is usable was added"
    }
}

/// The models that the program carries.
fn carried() -> Vec<EmbeddedModel> {
    vec![
        crate::embedded::potion(),
        #[cfg(feature = "second-tier")]
        crate::embedded::minilm(),
    ]
}

/// Each folder in a folder, by name; hidden ones are drafts or none of ours.
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
