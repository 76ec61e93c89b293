//! The possible results of a recovery, in the terms of its report.

use super::ScanSummary;
use crate::store::journal::{Corruption, JournalScan};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The first and last position of a range of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Positions {
    /// Lowest position.
    pub first: u64,
    /// Highest position.
    pub last: u64,
}

/// A range that was cut off a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalCut {
    /// File name of the journal.
    pub journal: String,
    /// Length of the journal after the cut, in bytes: the end of its last good batch.
    pub offset: u64,
    /// End of the content that was cut off.
    pub lost_to: u64,
    /// The flaw at the offset.
    #[serde(rename = "flaw")]
    pub batch_error: String,
    /// Number of complete batches that were cut off with it.
    pub good_batches_after: u64,
}

/// The reason why acknowledged events may be lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossCause {
    /// Good batches follow a bad one.
    Middle,
    /// A sealed, and therefore synced, journal is damaged.
    Sealed,
    /// A journal file is missing.
    JournalMissing,
    /// The journals do not show the recorded head. From [`scan`](super::scan) this is a suspicion, since the head may stand in
    /// tables; [`super::RecoveryScan::finish`] makes it certain or drops it.
    BeforeHead,
    /// A batch is in the journal, but fjall did not apply it.
    Skipped,
    /// Files could not be read, and what could be read of them was put into a new store.
    Unreadable,
    /// An unfinished last batch was cut without a watermark to compare with. Never refuses writes.
    TornTail,
}

/// A finding that a person must examine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Cause of the finding.
    pub cause: LossCause,
    /// The cuts, at most one per journal.
    pub cuts: Vec<JournalCut>,
    /// Numbers of missing journals.
    pub journals_missing: Vec<u64>,
    /// Log positions in the journals after the cuts.
    pub positions_kept: Option<Positions>,
    /// Log positions in complete batches that were cut off; the copy contains them.
    pub positions_behind: Option<Positions>,
    /// Ranges of the log that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions_lost: Vec<Positions>,
    /// The recorded watermark.
    pub head: Option<u64>,
    /// The folder with the copy and this report.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

impl fmt::Display for Damage {
    /// Formats one sentence for people: the problem, the location of the copies, and the losses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.cause {
            LossCause::Middle => "a journal is damaged before its end",
            LossCause::Sealed => "a journal that was complete is not whole",
            LossCause::JournalMissing => "a journal file is gone",
            LossCause::BeforeHead => "the log ends before the last acknowledged event",
            LossCause::Skipped => "the engine left out a write that its journal holds",
            LossCause::Unreadable => "files of the storage engine were damaged",
            LossCause::TornTail => "the last write was unfinished",
        })?;
        if !self.positions_lost.is_empty() {
            let range = |lost: &Positions| format!("{} to {}", lost.first, lost.last);
            let lost: Vec<String> = self.positions_lost.iter().map(range).collect();
            write!(
                f,
                ", and the positions {} could not be read; everything before and after them is served",
                lost.join(", ")
            )?;
        }
        if let (Some(head), Some(kept)) = (self.head, self.positions_kept)
            && head > kept.last
        {
            write!(f, "; positions {} to {head} are missing", kept.last + 1)?;
        }
        if let Some(behind) = self.positions_behind {
            write!(
                f,
                "; positions {} to {} were valid after the damage and are in the copy",
                behind.first, behind.last
            )?;
        }
        match &self.folder {
            Some(folder) if self.cause == LossCause::Unreadable => {
                write!(
                    f,
                    "; a report is kept in {}, and the damaged files beside it",
                    folder.display()
                )
            }
            Some(folder) => write!(f, "; a copy is kept in {}", folder.display()),
            None => Ok(()),
        }
    }
}

/// The result of a recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecoveryReport {
    /// No problem was found.
    Clean,
    /// An unfinished last batch after the watermark was cut off; nothing acknowledged is lost.
    TornTail(JournalCut),
    /// Writes must be refused. Never empty; findings of earlier starts come first.
    Damage(Vec<Damage>),
}

impl Damage {
    /// Returns whether both are the same finding, in any folder, or `other` is an unreached watermark that this one
    /// explains.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let elsewhere = Self {
            folder: self.folder.clone(),
            ..other.clone()
        };
        let explains = self.cause == LossCause::BeforeHead && other.cause == LossCause::BeforeHead;
        *self == elsewhere || explains && other.cuts.is_empty()
    }

    /// Returns whether a later scan would not find the problem again by itself.
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
        positions_lost: Vec::new(),
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
