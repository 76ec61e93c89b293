//! Checks of the store: through the `status` of a running daemon, otherwise by opening it as a start would.

use crate::clock::Clock;
use crate::engine::{DataFolder, OpenError, OpenedStore};
use crate::log_admin::{origin, set_back};
use crate::projections::Projections;
use crate::service::Lock;
use crate::store::watermark::WatermarkFile;

use super::{DoctorContext, Finding};

pub fn check(doctor_cx: &DoctorContext<'_>) -> Vec<Finding> {
    let folder = DataFolder::new(&doctor_cx.paths.data, doctor_cx.paths.seals());
    let check = "store";
    if !folder.store().exists() {
        return vec![match WatermarkFile::peek(&folder.watermark_path()) {
            Ok(head) if head.position > 0 => {
                let seen = format!(
                    "{} is gone; it held {} events",
                    folder.store().display(),
                    head.position
                );
                let remedy = "Put it back from a backup (`lored restore`), or start again with `lored repair \
                              --accept-head`.";
                Finding::bad(check, seen, remedy)
            }
            Ok(_) | Err(_) => Finding::good(check, "is made at the first start"),
        }];
    }
    // Held while the store is open.
    let Ok(_lock) = Lock::take(&doctor_cx.paths.daemon_lock()) else {
        return vec![Finding::good(
            check,
            "is open in the daemon, which says how it is",
        )];
    };
    let opened = OpenedStore::open(
        &folder,
        &Projections,
        &doctor_cx.config.engine,
        &Clock::System,
    );
    match opened {
        Ok(opened) => of_opened(&opened),
        Err(error) => vec![shut(&error)],
    }
}

fn of_opened(opened: &OpenedStore) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.push(match &opened.damage {
        Some(damage) => {
            let remedy = "`lored repair` says what is lost, and goes on from the last whole event.";
            Finding::bad("store", damage, remedy)
        }
        None => Finding::good(
            "store",
            format!(
                "{} events, the last one acknowledged; {}",
                opened.tail.position,
                match opened.is_untouched {
                    true => "nothing has changed the files after the last daemon stopped",
                    false =>
                        "the next daemon verifies everything in the background, and `lored verify` does now",
                }
            ),
        ),
    });
    let origin = opened.seal.end().and_then(origin);
    findings.extend(origin.map(|how| Finding::good("store", how)));
    let clock = set_back(Clock::System.now(), opened.tail.time);
    findings.extend(clock.map(|seen| Finding::warning("clock", seen, "Set the clock.")));
    findings
}

fn shut(error: &OpenError) -> Finding {
    let remedy = match error {
        OpenError::Store(crate::store::Error::Newer { .. }) => {
            "Install the newer lored again, or restore a backup of the older one."
        }
        OpenError::Store(crate::store::Error::Foreign { .. }) => {
            "Move the folder away, or name another one with LORE_HOME."
        }
        OpenError::Store(error) if error.is_full() => "Make room, then ask again.",
        OpenError::Store(crate::store::Error::Locked(_)) => {
            "Find who has it open: `fuser -v` of that folder."
        }
        OpenError::Store(crate::store::Error::File { .. }) | OpenError::System(_) => {
            "Mend what the system says of that file: its kind, its owner, its mode, its disk. Nothing was changed."
        }
        _ => "`lored repair`, then `lored restore` from the newest backup if it does not help.",
    };
    Finding::bad("store", error.to_string(), remedy)
}
