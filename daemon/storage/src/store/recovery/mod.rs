//! Looking first: what a store's journals hold, before fjall opens them and truncates what it does not like.
//!
//! The order of a start: [`scan`] (cuts what has to be cut, keeping a copy where something may be lost), then open
//! the store, then [`RecoveryScan::finish`] with what the log really holds. Everything here can be killed at any point and
//! repeated: the copy is complete under its final name before anything is cut, a report beside it keeps damage
//! known over restarts until [`accept`] says that somebody has seen it, and nothing is ever deleted.

mod archive;
mod evidence;
mod manifest;
mod report;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;

pub use evidence::{STORE_COPY, accept, remove_copies, report_unreadable};
pub use report::{Damage, JournalCut, LossCause, Positions, RecoveryReport};

use report::{bare, cut_of, finding};

use super::durable::sync_folder;
use super::journal::{self, BatchExtent, BatchState, ItemKind, JournalItem, JournalScan, Tail};
use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions, TryLockError},
    io,
    ops::RangeInclusive,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};
use xxhash_rust::xxh3::xxh3_128;

/// The reason why a store must not be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder contains no store, or its `version` file is missing: fjall would create an empty store over it.
    #[error("{} holds no store", .0.display())]
    NoStore(PathBuf),
    /// The `version` file is not that of fjall 3.
    #[error("{} is not a version this release knows", .0.display())]
    Version(PathBuf),
    /// Another process has the store open.
    #[error("{} is in use by another process", .0.display())]
    Locked(PathBuf),
    /// A keyspace's table of contents is missing or does not match its checksum. fjall would delete the keyspace, or
    /// silently use a wrong table of contents.
    #[error("the table of contents of {} is damaged", .0.display())]
    Manifest(PathBuf),
    /// A table that a keyspace names is missing, or its end is damaged.
    #[error("the table {} is damaged", .0.display())]
    Table(PathBuf),
    /// Acknowledged positions are valid after damage in a journal, and cutting the journal would lose them.
    #[error("a journal is damaged before its end, and positions {} to {} are valid after it", .0.first, .0.last)]
    ValidAfterDamage(Positions),
    /// A journal that cannot be read.
    #[error(transparent)]
    Journal(#[from] journal::Error),
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The folders of a recovery.
#[derive(Debug, Clone, Copy)]
pub struct RecoveryPaths<'a> {
    /// fjall's folder.
    pub store: &'a Path,
    /// The folder for copies of damaged journals; created when needed.
    pub damaged: &'a Path,
    /// Time for the name of a copy.
    pub unix_seconds: u64,
}

/// The outcome of [`scan`], to be settled once the store is open.
#[derive(Debug)]
#[must_use = "a verdict is not final before it is settled"]
pub struct RecoveryScan {
    /// The preliminary verdict, before the store is open.
    pub recovery_report: RecoveryReport,
    /// Log positions in the journals after the cuts.
    pub positions: Option<Positions>,
    head: Option<u64>,
    witnesses: BTreeMap<(u64, Vec<u8>), Option<u128>>,
}

/// Reads the journals of a store that no process has open, and prepares them so that fjall opens them without
/// further losses. `head` is the recorded position: 0 before the first event, `None` without a watermark file.
/// `positions_of` returns the first and last log position of a journal item, if it is a record of the log.
///
/// # Errors
/// See [`Error`]: the store must not be opened then. Damage is not an error.
pub fn scan(
    site: &RecoveryPaths<'_>,
    head: Option<u64>,
    positions_of: impl Fn(&JournalItem<'_>) -> Option<RangeInclusive<u64>>,
) -> Result<RecoveryScan, Error> {
    scan_or_cut(site, head, positions_of, CutPolicy::Always)
}

/// What happens to complete batches after damage in a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutPolicy {
    /// They are cut off with the damage; a copy of the journal is kept.
    Always,
    /// If they hold acknowledged positions, nothing is changed: [`Error::ValidAfterDamage`].
    UnlessAcknowledged,
}

/// As [`scan`], with a choice for what is valid after damage.
///
/// # Errors
/// See [`Error`].
pub fn scan_or_cut(
    site: &RecoveryPaths<'_>,
    head: Option<u64>,
    positions_of: impl Fn(&JournalItem<'_>) -> Option<RangeInclusive<u64>>,
    policy: CutPolicy,
) -> Result<RecoveryScan, Error> {
    manifest::version(site.store)?;
    let _lock = lock(site.store)?;
    manifest::keyspaces(site.store)?;
    evidence::sweep(site.damaged)?;
    let mut open = evidence::reports(site.damaged)?;
    let (journal_scan, walk) = read(site.store, positions_of)?;
    if policy == CutPolicy::UnlessAcknowledged
        && let Some(behind) = acknowledged_behind(&journal_scan, &walk, head)
    {
        return Err(Error::ValidAfterDamage(behind));
    }
    let found = decide(&journal_scan, &walk, head);
    let cut = match found {
        RecoveryReport::Clean => None,
        // Without a watermark, nothing proves that no event is lost, so the bytes are copied.
        RecoveryReport::TornTail(cut) if head.is_none() => {
            let mut torn = finding(LossCause::TornTail, &journal_scan, &walk, head);
            evidence::keep(site, &journal_scan.corruptions, &mut torn)?;
            Some(cut)
        }
        RecoveryReport::TornTail(cut) => Some(cut),
        RecoveryReport::Damage(found) => {
            for mut damage in found {
                let is_known = open.iter().any(|known| known.covers(&damage));
                if !is_known && damage.needs_report() {
                    evidence::keep(site, &journal_scan.corruptions, &mut damage)?;
                }
                if !is_known {
                    open.push(damage);
                }
            }
            None
        }
    };
    for corruption in &journal_scan.corruptions {
        shorten(&corruption.file.path, corruption.lost.start)?;
    }
    if journal_scan.files.is_empty() {
        make_journal(site.store)?;
    }
    let recovery_report = match cut {
        _ if !open.is_empty() => RecoveryReport::Damage(open),
        Some(cut) => RecoveryReport::TornTail(cut),
        None => RecoveryReport::Clean,
    };
    Ok(RecoveryScan {
        recovery_report,
        positions: walk.kept,
        head,
        witnesses: walk.witnesses,
    })
}

/// Returns the log positions in complete batches after damage, if acknowledged ones are among them: they reach the
/// watermark that the journals do not reach without them, or their journal was complete, and therefore synced. After a
/// power cut in relaxed durability they are only what is left of unsynced batches.
fn acknowledged_behind(
    journal_scan: &JournalScan,
    walk: &ScanSummary,
    head: Option<u64>,
) -> Option<Positions> {
    let behind = walk.behind?;
    let kept = walk.kept.map_or(0, |kept| kept.last);
    let is_sealed = matches!(
        journal_scan.tail(),
        Tail::Damage { file, .. } if journal_scan.files.last() != Some(&file)
    );
    (is_sealed || head.is_some_and(|head| head > kept && head >= behind.first)).then_some(behind)
}

impl RecoveryScan {
    /// Returns the final verdict, once the store is open and before any write. `last_in_log` is the last position of
    /// the opened log, 0 if it is empty.
    ///
    /// # Errors
    /// [`Error::Io`] when an unconfirmed finding cannot be closed.
    pub fn finish(
        self,
        db: &fjall::Database,
        last_in_log: u64,
    ) -> Result<RecoveryReport, RecoveryError> {
        let mut damages = Vec::new();
        let mut torn = None;
        match self.recovery_report {
            RecoveryReport::Clean => {}
            RecoveryReport::TornTail(cut) => torn = Some(cut),
            RecoveryReport::Damage(found) => {
                for damage in found {
                    let is_void =
                        damage.cause == LossCause::BeforeHead && damage.head <= Some(last_in_log);
                    if !is_void {
                        damages.push(damage);
                        continue;
                    }
                    if let Some(folder) = &damage.folder {
                        evidence::accept_one(folder)?;
                    }
                    torn = damage.cuts.into_iter().next().or(torn);
                }
            }
        }
        let known = damages
            .iter()
            .any(|damage| damage.cause == LossCause::BeforeHead);
        if !known && self.head > Some(last_in_log) {
            damages.push(bare(LossCause::BeforeHead, self.positions, self.head));
        }
        let applied = all_applied(db, &self.witnesses);
        if !applied.map_err(|error| RecoveryError::Store(error.into()))? {
            damages.push(bare(LossCause::Skipped, self.positions, self.head));
        }
        Ok(match torn {
            _ if !damages.is_empty() => RecoveryReport::Damage(damages),
            Some(cut) => RecoveryReport::TornTail(cut),
            None => RecoveryReport::Clean,
        })
    }
}

/// The reason why a verdict could not be settled.
#[derive(Debug, thiserror::Error)]
pub enum RecoveryError {
    /// The store could not be read.
    #[error("reading the store: {0}")]
    Store(#[source] super::Error),
    /// The finding could not be marked.
    #[error(transparent)]
    Mark(#[from] Error),
}

/// The result of the walk over the items.
#[derive(Default)]
struct ScanSummary {
    kept: Option<Positions>,
    behind: Option<Positions>,
    /// Keys and value hashes of the very first batch, except those overwritten later. No batch precedes it, so its
    /// sequence number cannot be checked. If a flipped bit lowered it, fjall skips the batch, and this detects it.
    witnesses: BTreeMap<(u64, Vec<u8>), Option<u128>>,
    first: Option<BatchExtent>,
}

fn read(
    store: &Path,
    positions_of: impl Fn(&JournalItem<'_>) -> Option<RangeInclusive<u64>>,
) -> Result<(JournalScan, ScanSummary), Error> {
    let mut walk = ScanSummary::default();
    let journal_scan = JournalScan::read(store, |standing, batch, item| {
        let positions = positions_of(item);
        match standing {
            BatchState::Behind => widen(&mut walk.behind, positions),
            BatchState::Kept => {
                widen(&mut walk.kept, positions);
                walk.witness(batch, item);
            }
        }
    })?;
    Ok((journal_scan, walk))
}

impl ScanSummary {
    fn witness(&mut self, batch: &BatchExtent, item: &JournalItem<'_>) {
        if self.first.get_or_insert_with(|| batch.clone()) == batch {
            let value = match item.kind {
                ItemKind::Value => Some(xxh3_128(item.value)),
                ItemKind::Tombstone | ItemKind::WeakTombstone => None,
                ItemKind::Clear => return,
            };
            self.witnesses
                .insert((item.keyspace, item.key.to_vec()), value);
        } else if item.kind == ItemKind::Clear {
            self.witnesses
                .retain(|(keyspace, _), _| *keyspace != item.keyspace);
        } else if !self.witnesses.is_empty() {
            self.witnesses.remove(&(item.keyspace, item.key.to_vec()));
        }
    }
}

fn widen(into: &mut Option<Positions>, positions: Option<RangeInclusive<u64>>) {
    let Some((first, last)) = positions.map(RangeInclusive::into_inner) else {
        return;
    };
    *into = Some(match *into {
        None => Positions { first, last },
        Some(known) => Positions {
            first: known.first.min(first),
            last: known.last.max(last),
        },
    });
}

fn decide(journal_scan: &JournalScan, walk: &ScanSummary, head: Option<u64>) -> RecoveryReport {
    let shows_head = walk.kept.map_or(0, |kept| kept.last) >= head.unwrap_or(0);
    let cause = match journal_scan.tail() {
        _ if journal_scan.files.is_empty() || !journal_scan.missing.is_empty() => {
            LossCause::JournalMissing
        }
        Tail::Clean if shows_head || walk.kept.is_none() => return RecoveryReport::Clean,
        Tail::TornTail { .. } if shows_head => match journal_scan.corruptions.first() {
            Some(corruption) => return RecoveryReport::TornTail(cut_of(corruption)),
            None => return RecoveryReport::Clean,
        },
        Tail::Clean | Tail::TornTail { .. } => LossCause::BeforeHead,
        Tail::Damage { file, .. } if journal_scan.files.last() != Some(&file) => LossCause::Sealed,
        Tail::Damage { .. } => LossCause::Middle,
    };
    RecoveryReport::Damage(vec![finding(cause, journal_scan, walk, head)])
}

/// Cuts a journal and makes the cut durable.
pub(super) fn shorten(journal: &Path, len: u64) -> Result<(), Error> {
    let io = |source| io_at(journal, source);
    let file = OpenOptions::new().write(true).open(journal).map_err(io)?;
    file.set_len(len).and_then(|()| file.sync_all()).map_err(io)
}

/// Creates an empty journal if none is left: without one, fjall resets its counter and shows no table's rows.
fn make_journal(store: &Path) -> Result<(), Error> {
    let path = store.join("0.jnl");
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path);
    made.and_then(|file| file.sync_all())
        .and_then(|()| sync_folder(store))
        .map_err(|source| io_at(&path, source))
}

/// Takes fjall's own lock, so that a running daemon's journals are never examined or cut. A missing lock file is
/// created again: it has no content, and fjall does not open a store without it.
pub(super) fn lock(store: &Path) -> Result<File, Error> {
    let path = store.join("lock");
    let io = |source| io_at(&path, source);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::Locked(store.to_path_buf())),
        Err(TryLockError::Error(source)) => Err(io(source)),
    }
}

/// Returns whether the store shows every key as its first journal batch left it.
fn all_applied(
    db: &fjall::Database,
    witnesses: &BTreeMap<(u64, Vec<u8>), Option<u128>>,
) -> Result<bool, fjall::Error> {
    let mut keyspaces = BTreeMap::new();
    for name in db.list_keyspace_names() {
        let keyspace = db.keyspace(&name, fjall::KeyspaceCreateOptions::default)?;
        keyspaces.insert(keyspace.id(), keyspace);
    }
    for ((keyspace, key), expected) in witnesses {
        // Rows of a dropped keyspace are skipped on purpose.
        if let Some(keyspace) = keyspaces.get(keyspace) {
            let found = keyspace.get(key)?.map(|value| xxh3_128(&value));
            if found != *expected {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

fn io_at(path: &Path, source: io::Error) -> Error {
    Error::Io {
        path: path.to_path_buf(),
        source,
    }
}
