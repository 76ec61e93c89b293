//! Scans paths of a source and plans the work by comparison with the log.

use std::collections::{BTreeMap, VecDeque};

use crate::documents::sources::{
    FileFingerprint, KnownFile, PathSet, Plan, ReadOutcome, RemovedDocuments, Scan, SourceScope,
    Step, WalkError,
};
use crate::documents::view::{self, SourceRow};
use crate::error::Refusal;
use crate::log::Hash;
use crate::state::State;
use crate::store::Rows;

/// A document at the time when its source was scanned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Id of the document.
    pub id: String,
    /// Fingerprint of its file when it was last read.
    pub stamp: FileFingerprint,
}

/// A file to process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Path below the source's folder.
    pub path: String,
    /// Fingerprint when the file was found.
    pub stamp: FileFingerprint,
    /// Document whose file was renamed to this path.
    pub moved: Option<String>,
}

/// The work that results from a scan.
#[derive(Debug)]
pub struct ScanWork {
    /// Scanned paths.
    pub places: PathSet,
    /// Files to process, moved files first.
    pub tasks: VecDeque<Task>,
    /// Documents whose files were not found, unless a task claims one.
    pub lost: RemovedDocuments<Document>,
    /// Missing files that had no document.
    pub forgotten: Vec<String>,
    /// Number of files found.
    pub found: u64,
    /// Errors of the walk.
    pub troubles: Vec<WalkError>,
    /// Whether part of the work is postponed.
    pub is_put_off: bool,
}

/// Parameters of a scan.
pub struct ScanPlan<'s> {
    /// Id of the source.
    pub source: &'s str,
    /// Settings of the source.
    pub row: &'s SourceRow,
    /// Scope of the source.
    pub reach: &'s SourceScope,
    /// Binary files, with their fingerprints when they were read.
    pub skipped: &'s BTreeMap<String, FileFingerprint>,
    /// Whether failed files are tried again although they are unchanged.
    pub retry: bool,
    /// Whether new files are postponed: a move is reported at the new path shortly before the removal at the
    /// old path.
    pub put_off: bool,
    /// Whether other paths are already postponed, so that removals must wait with them.
    pub others_wait: bool,
}

impl ScanPlan<'_> {
    /// Scans some paths. Releases the state before the walk, which can take long.
    pub fn of(&self, state: State, places: PathSet) -> Result<ScanWork, Refusal> {
        let mut scan = Scan::new(self.known(&state, &places)?, &places);
        drop(state);
        let (mut found, mut troubles) = (0, Vec::new());
        for step in self.reach.walk(&places) {
            match step {
                Step::File(file) => {
                    found += 1;
                    scan.found(file);
                }
                Step::Folder(_) => {}
                Step::Trouble(trouble) => {
                    scan.record_error(&trouble);
                    troubles.push(trouble);
                }
            }
        }
        let plan = scan.finish();
        let waits = has_new(&plan) || (self.others_wait && plan.lost.count() > 0);
        let is_put_off = self.put_off && waits;
        Ok(work(plan, places, is_put_off, found, troubles))
    }

    fn known(
        &self,
        state: &State,
        places: &PathSet,
    ) -> Result<BTreeMap<String, KnownFile<Document>>, Refusal> {
        let mut known = BTreeMap::new();
        for (path, id) in documents_in(state, self.source, places)? {
            let Some(row) = view::document(state, &id)? else {
                continue;
            };
            let stamp = row.taken.stamp;
            // A document that was ingested with other settings has other metadata.
            let is_as_told = row.version().0 >= self.row.reported;
            known.insert(
                path,
                KnownFile {
                    stamp: if is_as_told {
                        stamp
                    } else {
                        FileFingerprint::default()
                    },
                    what: ReadOutcome::Document(Document { id, stamp }, Hash(*row.taken.hash)),
                },
            );
        }
        let failures = view::failures(state, self.source)?;
        let failures = failures.into_iter().map(|(path, row)| (path, row.stamp));
        let skipped = self.skipped.iter().map(|(path, at)| (path.clone(), *at));
        for (path, stamp) in failures.chain(skipped) {
            let stamp = if self.retry {
                FileFingerprint::default()
            } else {
                stamp
            };
            let nothing = KnownFile {
                stamp,
                what: ReadOutcome::Nothing,
            };
            // The document of an earlier version may still exist.
            known.entry(path).or_insert(nothing).stamp = stamp;
        }
        Ok(known)
    }
}

/// Lists the documents in some paths of a source, by path.
fn documents_in(
    rows: &dyn Rows,
    source: &str,
    places: &PathSet,
) -> Result<Vec<(String, String)>, Refusal> {
    if places.is_all() {
        return Ok(view::paths(rows, source)?);
    }
    let mut documents = Vec::new();
    for place in places.iter() {
        let own = view::document_at(rows, source, place)?;
        documents.extend(own.map(|id| (place.to_owned(), id)));
        documents.extend(view::paths_below(rows, source, &format!("{place}/"))?);
    }
    Ok(documents)
}

fn has_new(plan: &Plan<Document>) -> bool {
    !plan.moved.is_empty() || plan.jobs.iter().any(|job| job.before.is_none())
}

fn work(
    mut plan: Plan<Document>,
    places: PathSet,
    is_put_off: bool,
    found: u64,
    troubles: Vec<WalkError>,
) -> ScanWork {
    if is_put_off {
        plan.jobs.retain(|job| job.before.is_some());
        plan.moved.clear();
        plan.lost = RemovedDocuments::default();
        plan.forgotten.clear();
    }
    let moved = plan.moved.into_iter().map(|moved| Task {
        path: moved.to,
        stamp: moved.stamp,
        moved: Some(moved.document.id),
    });
    let jobs = plan.jobs.into_iter().map(|job| Task {
        path: job.path,
        stamp: job.stamp,
        moved: None,
    });
    ScanWork {
        places,
        tasks: moved.chain(jobs).collect(),
        lost: plan.lost,
        forgotten: plan.forgotten,
        found,
        troubles,
        is_put_off,
    }
}
