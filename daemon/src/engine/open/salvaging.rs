//! Opens the engine, or what can be read of it: a damaged manifest or table must not keep the rest of the log from being
//! served.

use std::ops::ControlFlow;
use std::path::PathBuf;

use super::{DataFolder, OpenError, look};
use crate::clock::Clock;
use crate::engine::Settings;
use crate::log::{KEPT_ROWS, Log, Position};
use crate::store::recovery::{
    self, CutPolicy, Damage, Positions, RecoveryError, RecoveryPaths, RecoveryScan, STORE_COPY,
};
use crate::store::salvage::{Salvaged, salvage};
use crate::store::watermark::DurableHead;
use crate::store::{Error, Keyspace, Store, StoreId};

/// Opens the engine of a store. If its files are damaged, everything that can be read of the log is put into a new one,
/// and the views are folded again. The same is done when acknowledged events are valid after damage in a journal, which the
/// engine would cut off. Also returns what is missing then.
pub(super) fn open_or_salvage(
    folder: &DataFolder,
    id: StoreId,
    spaces: &[Keyspace],
    recorded: Option<DurableHead>,
    settings: &Settings,
    clock: &Clock,
) -> Result<(RecoveryScan, Store, Option<String>), OpenError> {
    let dir = folder.store();
    let open = |policy| -> Result<_, OpenError> {
        let look = look(folder, recorded, clock, policy)?;
        let (store, _) = Store::open(&dir, spaces, &settings.store)?;
        Ok((look, store))
    };
    let mark = unreadable(folder, id);
    let mut is_cut_instead = false;
    if !mark.exists() {
        match open(CutPolicy::UnlessAcknowledged) {
            Ok((look, store)) => return Ok((look, store, None)),
            Err(error) if is_damage(&error) => {
                tracing::error!(%error, "the storage engine refuses its files");
                is_cut_instead = matches!(
                    error,
                    OpenError::Recovery(recovery::Error::ValidAfterDamage(_))
                );
            }
            Err(error) => return Err(error),
        }
        // After a kill the new store is read in the same way again, until what is missing is reported.
        mark_unreadable(folder, id)?;
    }
    let salvaged = salvage_now(folder, spaces, settings, clock);
    if let Err(error) = salvaged {
        if !is_cut_instead {
            return Err(error.into());
        }
        tracing::error!(%error, "what is valid after the damage of the journal is only copied");
        std::fs::remove_file(&mark)?;
        let (look, store) = open(CutPolicy::Always)?;
        return Ok((look, store, None));
    }
    let (look, store) = open(CutPolicy::Always)?;
    let lost = gaps(&store)?;
    let lost = match lost.is_empty() {
        true => None,
        false => Some(report(folder, lost, clock)?.to_string()),
    };
    // If it stays, the next start does the same again.
    let _ = std::fs::remove_file(&mark);
    Ok((look, store, lost))
}

/// Reports what could not be read, until a person accepts it.
fn report(
    folder: &DataFolder,
    lost: Vec<Positions>,
    clock: &Clock,
) -> Result<Damage, recovery::Error> {
    let (engine, damaged) = (Store::engine_dir(&folder.store()), folder.damaged());
    let site = RecoveryPaths {
        store: &engine,
        damaged: &damaged,
        unix_seconds: clock.now() / 1_000_000,
    };
    recovery::report_unreadable(&site, lost)
}

/// Puts everything that can be read of a damaged store into a new one.
///
/// # Errors
/// [`Error`]; the old store is unchanged.
pub fn salvage_now(
    folder: &DataFolder,
    spaces: &[Keyspace],
    settings: &Settings,
    clock: &Clock,
) -> Result<Salvaged, Error> {
    let kept = folder
        .damaged()
        .join(format!("{STORE_COPY}{}", clock.now() / 1_000_000));
    let salvaged = salvage(&folder.store(), spaces, &KEPT_ROWS, &kept, &settings.store)?;
    tracing::warn!(
        rows = salvaged.rows,
        damaged_blocks = salvaged.damaged_blocks,
        kept = %salvaged.kept.display(),
        "what can be read of the damaged store was put into a new one"
    );
    Ok(salvaged)
}

/// Leaves a mark that the engine's files cannot be read, so that the next start reads them block by block.
///
/// # Errors
/// The system's error.
pub fn mark_unreadable(folder: &DataFolder, id: StoreId) -> std::io::Result<()> {
    std::fs::write(unreadable(folder, id), "")
}

fn unreadable(folder: &DataFolder, id: StoreId) -> PathBuf {
    folder.seals.join(format!("{id}.unreadable"))
}

pub(super) fn is_damage(error: &OpenError) -> bool {
    match error {
        OpenError::Store(error) | OpenError::Settle(RecoveryError::Store(error)) => {
            error.is_engine_damage()
        }
        OpenError::Recovery(error) => matches!(
            error,
            recovery::Error::NoStore(_)
                | recovery::Error::Version(_)
                | recovery::Error::Manifest(_)
                | recovery::Error::Table(_)
                | recovery::Error::ValidAfterDamage(_)
        ),
        _ => false,
    }
}

/// Returns the positions that the log lacks.
fn gaps(store: &Store) -> Result<Vec<Positions>, Error> {
    let mut expected = 1;
    let mut gaps = Vec::new();
    Log::new(store).walk_all(Position(1), &mut |at, _, _| {
        if at.0 > expected {
            gaps.push(Positions {
                first: expected,
                last: at.0 - 1,
            });
        }
        expected = at.0 + 1;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(gaps)
}
