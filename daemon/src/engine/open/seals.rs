//! What the seals outside of the data folder say about its store: whether it is the one that was there last, whole, and
//! written by this daemon.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{DataFolder, OpenError, Tail, UntouchedMark, missing};
use crate::clock::Clock;
use crate::log::{Log, Position};
use crate::store::seal::{
    ForgettingCopies, KeyError, Origin, Seal, SealFile, SealFileError, SealKey, SealedEnd, Sealer,
    place,
};
use crate::store::{Error, Store, StoreId};

/// What is known of a store's seal before the store is opened.
pub enum SealCheck {
    /// It has one.
    Sealed {
        /// The key that made it.
        key: SealKey,
        /// The seal.
        file: SealFile,
    },
    /// It has none yet, but a backup was restored here, and the restore has left one in the data folder.
    Restored {
        /// The key that made it.
        key: SealKey,
        /// What it records.
        end: SealedEnd,
    },
    /// It has none: a release without seals wrote it, or its seal is lost.
    None {
        /// The key for a new seal.
        key: SealKey,
    },
    /// What there is cannot be checked.
    Unknown {
        /// The reason.
        why: String,
    },
}

/// Returns the folder where the service manager puts credentials.
fn credentials() -> Option<PathBuf> {
    std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from)
}

/// Reads the key of the seals; the first start makes it.
///
/// # Errors
/// [`KeyError`]; also when the key is gone but seals that it made are there.
pub fn key(folder: &DataFolder, clock: &Clock) -> Result<SealKey, KeyError> {
    let path = folder.seal_key();
    match SealKey::read(&path, credentials().as_deref()) {
        Err(KeyError::Missing(path)) if has_seals(folder) => Err(KeyError::Missing(path)),
        Err(KeyError::Missing(_)) => {
            SealKey::read_or_create(&path, credentials().as_deref(), clock)
        }
        read => read,
    }
}

fn has_seals(folder: &DataFolder) -> bool {
    let entries = std::fs::read_dir(&folder.seals);
    entries.is_ok_and(|entries| {
        entries
            .flatten()
            .filter_map(|entry| StoreId::parse(entry.file_name().to_str()?))
            .next()
            .is_some()
    })
}

/// Refuses to create a store where the seals say that one with events was.
///
/// # Errors
/// [`OpenError::Vanished`].
pub(super) fn refuse_vanished(folder: &DataFolder, key: &SealKey) -> Result<(), OpenError> {
    let seals = folder.seals.clone();
    let Some(store) = SealFile::store_at(&seals, key, place(&folder.data)) else {
        return Ok(());
    };
    let end = SealFile::open(&seals, key, store).map(|file| file.end());
    match end {
        Ok(end) if end.position > 0 => Err(OpenError::Vanished {
            store: folder.store(),
            head: SealFile::path(&seals, store),
            position: end.position,
        }),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A log that gets its first seal, or a new one.
pub struct SealedLog {
    /// Its end.
    pub tail: Tail,
    /// Position of its newest event that forgot something; 0 if there is none ([`newest_forgetting`]).
    pub forgotten: Position,
    /// How it came to be.
    pub origin: Origin,
    /// First position at which every event has a code of the key.
    pub from: Position,
}

impl SealedLog {
    /// Returns an empty log that begins here.
    pub(super) fn created() -> Self {
        Self {
            tail: Tail::default(),
            forgotten: Position(0),
            origin: Origin::Created,
            from: Position(1),
        }
    }
}

/// Returns the position of the newest event that forgot something; 0 if there is none. Reads the whole log.
///
/// # Errors
/// [`Error`] when the log cannot be read; damaged events are passed over.
pub fn newest_forgetting(store: &Store) -> Result<Position, Error> {
    let mut newest = Position(0);
    Log::new(store).walk_whole(Position(1), &mut |event, _| {
        if event.header.kind.forgets() {
            newest = event.position();
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(newest)
}

impl SealedLog {
    /// Returns what a seal of this log records, in the data folder at `data`.
    #[must_use]
    pub fn end(&self, data: &Path, clock: &Clock) -> SealedEnd {
        SealedEnd {
            position: self.tail.position.0,
            link: self.tail.link.0,
            forgotten: self.forgotten.0,
            from: self.from.0,
            origin: self.origin,
            origin_position: self.tail.position.0,
            origin_time: clock.now(),
            place: place(data),
        }
    }
}

/// Seals a log at its present end.
///
/// # Errors
/// [`SealFileError`].
pub fn seal(
    folder: &DataFolder,
    key: &SealKey,
    store: StoreId,
    log: &SealedLog,
    clock: &Clock,
) -> Result<SealFile, SealFileError> {
    SealFile::create(&folder.seals, key, store, log.end(&folder.data, clock))
}

impl SealCheck {
    /// Looks for the seal of the store in a data folder.
    ///
    /// # Errors
    /// [`OpenError::OtherStore`] when another store was in this folder before.
    pub(super) fn of(
        folder: &DataFolder,
        store: StoreId,
        clock: &Clock,
    ) -> Result<Self, OpenError> {
        let key = match key(folder, clock) {
            Ok(key) => key,
            Err(error) => {
                return Ok(Self::Unknown {
                    why: error.to_string(),
                });
            }
        };
        let seals = folder.seals.clone();
        match SealFile::open(&seals, &key, store) {
            Ok(file) => Ok(Self::Sealed { key, file }),
            Err(SealFileError::Missing { .. }) => {
                match SealFile::store_at(&seals, &key, place(&folder.data)) {
                    Some(before) => Err(OpenError::OtherStore {
                        data: folder.data.clone(),
                        here: store,
                        before,
                    }),
                    None => Ok(match SealFile::open(&folder.restored(), &key, store) {
                        Ok(file) => Self::Restored {
                            key,
                            end: file.end(),
                        },
                        Err(_) => Self::None { key },
                    }),
                }
            }
            Err(error) => Ok(Self::Unknown {
                why: error.to_string(),
            }),
        }
    }

    /// Returns what checks the events of the store; `None` when there is nothing to check them with.
    pub(super) fn sealer(&self, store: StoreId) -> Option<Arc<Sealer>> {
        match self {
            Self::Sealed { key, file } => Some(Arc::new(Sealer::new(key, store, file.end().from))),
            Self::Restored { key, end } => Some(Arc::new(Sealer::new(key, store, end.from))),
            Self::None { .. } | Self::Unknown { .. } => None,
        }
    }

    /// Returns the mark of untouched files; `None` without a key.
    pub(super) fn mark(&self, folder: &DataFolder, store: StoreId) -> Option<UntouchedMark> {
        match self {
            Self::Sealed { key, .. } | Self::Restored { key, .. } | Self::None { key } => {
                Some(UntouchedMark::of(folder, key, store))
            }
            Self::Unknown { .. } => None,
        }
    }

    /// Returns the recorded end, if any.
    #[must_use]
    pub fn end(&self) -> Option<SealedEnd> {
        match self {
            Self::Sealed { file, .. } => Some(file.end()),
            Self::Restored { end, .. } => Some(*end),
            Self::None { .. } | Self::Unknown { .. } => None,
        }
    }

    /// Returns the newest seal, for people.
    #[must_use]
    pub fn newest(&self, store: StoreId) -> Option<Seal> {
        match self {
            Self::Sealed { key, file } => Some(file.end().seal(key, store)),
            Self::Restored { key, end } => Some(end.seal(key, store)),
            Self::None { .. } | Self::Unknown { .. } => None,
        }
    }

    /// Checks an opened store against its seal; returns a description of what does not fit.
    ///
    /// # Errors
    /// [`OpenError::Unforgotten`] when the store would bring back what was forgotten; [`Error`] when it cannot be read.
    pub(super) fn prove(
        &self,
        folder: &DataFolder,
        store: &Store,
        tail: Tail,
    ) -> Result<Option<String>, OpenError> {
        let accept = "`lored repair` shows what there is, and a person may accept it with `lored repair --accept`";
        let end = match self {
            Self::Sealed { file, .. } => file.end(),
            Self::Restored { end, .. } => *end,
            Self::None { .. } if is_sealed(store)? => {
                let copied = match SealFile::path(&folder.restored(), store.id()).exists() {
                    true => "it was restored from a backup in another home, with another key",
                    false => "it may be a copy, and it may be older than the original",
                };
                return Ok(Some(format!(
                    "{} was written with seals, and there is no seal of it in {}: {copied}; {accept}",
                    folder.data.display(),
                    folder.seals.display()
                )));
            }
            Self::None { .. } => return Ok(None),
            Self::Unknown { why } => return Ok(Some(format!("{why}; {accept}"))),
        };
        if end.forgotten > tail.position.0 {
            return Err(OpenError::Unforgotten {
                data: folder.data.clone(),
                position: tail.position.0,
                forgotten: end.forgotten,
            });
        }
        if tail.position.0 < end.position {
            return Ok(Some(format!(
                "positions {} to {} were sealed and are missing: the data folder is an older copy, or the end of its \
                 log was cut off; {accept}",
                tail.position.0 + 1,
                end.position
            )));
        }
        if let Some(other) = missing(store, end.position, &end.link)? {
            return Ok(Some(format!("{other}; {accept}")));
        }
        // The seal may be behind by what a power cut took from it. What follows it carries codes.
        let mut foreign = None;
        Log::new(store).walk_all(
            Position(end.position + 1),
            &mut |at, event, _| match event {
                Ok(_) => Ok(ControlFlow::Continue(())),
                Err(error) => {
                    foreign = Some(format!("from position {at} on: {error}; {accept}"));
                    Ok(ControlFlow::Break(()))
                }
            },
        )?;
        Ok(foreign)
    }

    /// Returns the open seal of a store, and what seals its events from now on. A store without one gets it here, before
    /// anything is written.
    pub(super) fn in_force(
        self,
        store: &Store,
        tail: Tail,
        folder: &DataFolder,
        clock: &Clock,
    ) -> (Option<SealFile>, Option<Arc<Sealer>>) {
        let (key, from, sealed) = match self {
            Self::Sealed { file, .. } => return (Some(file), store.shared_sealer()),
            Self::Unknown { .. } => return (None, None),
            Self::Restored { key, end } => {
                let end = SealedEnd {
                    place: place(&folder.data),
                    ..end
                };
                let sealed = SealFile::create(&folder.seals, &key, store.id(), end);
                (
                    key,
                    Position(end.from),
                    sealed.map_err(|error| error.to_string()),
                )
            }
            Self::None { key } => {
                let from = Position(tail.position.0 + 1);
                let sealed = newest_forgetting(store)
                    .map_err(|error| error.to_string())
                    .and_then(|forgotten| {
                        let log = SealedLog {
                            tail,
                            forgotten,
                            origin: Origin::Adopted,
                            from,
                        };
                        seal(folder, &key, store.id(), &log, clock)
                            .map_err(|error| error.to_string())
                    });
                (key, from, sealed)
            }
        };
        match sealed {
            Ok(file) => {
                // It says no more than the new one. If it stays, it is not read any more.
                let _ = std::fs::remove_dir_all(folder.restored());
                // Those of another log, which was here before.
                let _ = ForgettingCopies::of(&folder.seals, store.id()).remove();
                let sealer = Sealer::new(&key, store.id(), from.0);
                (Some(file), Some(Arc::new(sealer)))
            }
            Err(error) => {
                tracing::error!(%error, "the log is not sealed");
                (None, None)
            }
        }
    }
}

/// Returns whether the newest event carries a code.
fn is_sealed(store: &Store) -> Result<bool, Error> {
    let last = Log::new(store).last()?;
    Ok(last.is_some_and(|event| event.seal.is_some()))
}
