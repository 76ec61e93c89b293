//! The paths of a data folder, and of what is known of it elsewhere.

use std::path::PathBuf;

/// The paths of a data folder.
#[derive(Clone, Debug)]
pub struct DataFolder {
    /// The data folder.
    pub data: PathBuf,
    /// The folder of the seals and their key, outside of the data folder: who changes that does not change them.
    pub seals: PathBuf,
}

impl DataFolder {
    /// Returns the paths for a data folder and a folder of seals.
    #[must_use]
    pub fn new(data: impl Into<PathBuf>, seals: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            seals: seals.into(),
        }
    }

    /// Returns the store's folder.
    #[must_use]
    pub fn store(&self) -> PathBuf {
        self.data.join("store")
    }

    /// Returns the path of the key of the seals.
    #[must_use]
    pub fn seal_key(&self) -> PathBuf {
        self.seals.join("key")
    }

    /// Returns the folder where a restore leaves the seal of what it has restored, until a daemon opens it.
    #[must_use]
    pub fn restored(&self) -> PathBuf {
        self.data.join("restored")
    }

    /// Returns the path of the durable watermark, which is outside the store's folder.
    #[must_use]
    pub fn watermark_path(&self) -> PathBuf {
        self.data.join("head")
    }

    /// Returns the folder of blobs.
    #[must_use]
    pub fn blobs(&self) -> PathBuf {
        self.data.join("blobs")
    }

    /// Returns the path of the sessions' last access times.
    #[must_use]
    pub fn access(&self) -> PathBuf {
        self.data.join("access")
    }

    /// Returns the folder of the projects' context files.
    #[must_use]
    pub fn projects(&self) -> PathBuf {
        self.data.join("projects")
    }

    /// Returns the folder of the search indexes, which follow the log and are rebuilt when missing.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.data.join("index")
    }

    /// Returns the path of the entity recogniser's log position; when it is missing, the log is read again.
    #[must_use]
    pub fn followed(&self) -> PathBuf {
        self.data.join("entities.followed")
    }

    /// Returns the path of how far hosts' transcripts were read; when it is missing, they are read again.
    #[must_use]
    pub fn transcripts(&self) -> PathBuf {
        self.data.join("transcripts")
    }

    /// Returns the folder of added models.
    #[must_use]
    pub fn models(&self) -> PathBuf {
        self.data.join("models")
    }

    /// Returns the path of the log readers' cursors.
    #[must_use]
    pub fn cursors(&self) -> PathBuf {
        self.data.join("cursors")
    }

    /// Returns the folder for copies of damaged journals.
    #[must_use]
    pub fn damaged(&self) -> PathBuf {
        self.data.join("damaged")
    }

    /// Returns the scratch folder where a verification folds the log again.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.data.join("scratch")
    }
}
