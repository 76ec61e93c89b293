//! What looking at a store can find, in the words of its report.

use super::ScanSummary;
use crate::store::journal::{Corruption, JournalScan};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Positions of the log, first and last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Positions {
    /// The lowest.
    pub first: u64,
    /// The highest.
    pub last: u64,
}

/// What was cut off a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalCut {
    /// The journal's file name.
    pub journal: String,
    /// Its length in bytes since: the end of its last good batch.
    pub offset: u64,
    /// Where the content that was cut off ended.
    pub lost_to: u64,
    /// What was wrong at the offset.
    #[serde(rename = "flaw")]
    pub batch_error: String,
    /// Whole batches that were cut off with it.
    pub good_batches_after: u64,
}

/// Why something acknowledged may be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossCause {
    /// Good batches follow a bad one.
    Middle,
    /// A journal that was sealed, and so synced, is not whole.
    Sealed,
    /// A journal file is gone.
    JournalMissing,
    /// The journals do not show the recorded head. From [`scan`](super::scan) this is a suspicion, since the head may stand in
    /// tables; [`super::RecoveryScan::finish`] makes it certain or drops it.
    BeforeHead,
    /// A batch is in the journal and fjall did not apply it.
    Skipped,
    /// An unfinished last batch was cut with no head to compare with. Never refuses writes.
    TornTail,
}

/// One finding that needs somebody's eyes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Why.
    pub cause: LossCause,
    /// What was cut, at most once a journal.
    pub cuts: Vec<JournalCut>,
    /// Numbers of journals that should exist.
    pub journals_missing: Vec<u64>,
    /// Log positions in the journals as they are now.
    pub positions_kept: Option<Positions>,
    /// Log positions in whole batches that were cut off; the copy has them.
    pub positions_behind: Option<Positions>,
    /// The head that was recorded.
    pub head: Option<u64>,
    /// The folder with the copy and this report.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

impl fmt::Display for Damage {
    /// One sentence for people: what is wrong, what was kept where, what is lost.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.cause {
            LossCause::Middle => "a journal is damaged before its end",
            LossCause::Sealed => "a journal that was complete is not whole",
            LossCause::JournalMissing => "a journal file is gone",
            LossCause::BeforeHead => "the log ends before what was acknowledged",
            LossCause::Skipped => "the engine left out a write that its journal holds",
            LossCause::TornTail => "the last write was unfinished",
        })?;
        if let (Some(head), Some(kept)) = (self.head, self.positions_kept)
            && head > kept.last
        {
            write!(f, "; positions {} to {head} are missing", kept.last + 1)?;
        }
        if let Some(behind) = self.positions_behind {
            write!(
                f,
                "; positions {} to {} were whole behind the damage and are in the copy",
                behind.first, behind.last
            )?;
        }
        match &self.folder {
            Some(folder) => write!(f, "; a copy is kept in {}", folder.display()),
            None => Ok(()),
        }
    }
}

/// What looking found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecoveryReport {
    /// Nothing is wrong.
    Clean,
    /// An unfinished last batch beyond the head was cut off; nothing acknowledged is lost.
    TornTail(JournalCut),
    /// Writes are to be refused. Never empty; findings of earlier starts come first.
    Damage(Vec<Damage>),
}

impl Damage {
    /// The same finding, wherever it is kept; or a head not reached, after the cut that explains it.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let elsewhere = Self {
            folder: self.folder.clone(),
            ..other.clone()
        };
        let explains = self.cause == LossCause::BeforeHead && other.cause == LossCause::BeforeHead;
        *self == elsewhere || explains && other.cuts.is_empty()
    }

    /// Whether a later look would not find it again by itself.
    pub(super) fn needs_report(&self) -> bool {
        self.cause != LossCause::BeforeHead || !self.cuts.is_empty()
    }
}

pub(super) fn finding(
    cause: LossCause,
    journal_scan: &JournalScan,
    walk: &ScanSummary,
    head: Option<u64>,
) -> Damage {
    Damage {
        cuts: journal_scan.corruptions.iter().map(cut_of).collect(),
        journals_missing: journal_scan.missing.clone(),
        positions_behind: walk.behind,
        ..bare(cause, walk.kept, head)
    }
}

pub(super) fn bare(
    cause: LossCause,
    positions_kept: Option<Positions>,
    head: Option<u64>,
) -> Damage {
    Damage {
        cause,
        cuts: Vec::new(),
        journals_missing: Vec::new(),
        positions_kept,
        positions_behind: None,
        head,
        folder: None,
    }
}

pub(super) fn cut_of(corruption: &Corruption) -> JournalCut {
    JournalCut {
        journal: format!("{}.jnl", corruption.file.number),
        offset: corruption.lost.start,
        lost_to: corruption.lost.end,
        batch_error: corruption.batch_error.to_string(),
        good_batches_after: corruption.good_batches_after,
    }
}
