//! Looks through some places of a source and says what there is to do, by what the log knows of them.

use std::collections::{BTreeMap, VecDeque};

use crate::documents::sources::{
    FileFingerprint, Job, KnownFile, PathSet, Plan, ReadOutcome, RemovedDocuments, Scan,
    SourceScope, Step, WalkError,
};
use crate::documents::view::{self, SourceRow};
use crate::error::Refusal;
use crate::log::Hash;
use crate::state::State;
use crate::store::Rows;

/// A document as it was when its source was looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its id.
    pub id: String,
    /// When its file was read last.
    pub stamp: FileFingerprint,
}

/// A file to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Where it is in its source.
    pub path: String,
    /// As it was found.
    pub stamp: FileFingerprint,
    /// The document whose file was given this name.
    pub moved: Option<String>,
}

/// What there is to do about some places.
#[derive(Debug)]
pub struct ScanWork {
    /// Where.
    pub places: PathSet,
    /// Files to be looked at, those that moved first.
    pub tasks: VecDeque<Task>,
    /// Documents whose files were not found, unless a task finds one.
    pub lost: RemovedDocuments<Document>,
    /// Files of which nothing came that were not found.
    pub forgotten: Vec<String>,
    /// Files that were found.
    pub found: u64,
    /// What could not be looked at.
    pub troubles: Vec<WalkError>,
    /// Whether some of what is to be done was left for later.
    pub is_put_off: bool,
}

/// What is to be looked through, and how.
pub struct ScanPlan<'s> {
    /// The source.
    pub source: &'s str,
    /// Its settings.
    pub row: &'s SourceRow,
    /// What it means.
    pub reach: &'s SourceScope,
    /// Files that are binary, as they were when that was seen.
    pub skipped: &'s BTreeMap<String, FileFingerprint>,
    /// Whether files that failed are tried again though they are the same.
    pub retry: bool,
    /// Whether new files are left for later: one that was moved here is told a moment before it is told
    /// that it is gone from where it was.
    pub put_off: bool,
    /// Whether others wait already, so that what is gone has to wait with them.
    pub others_wait: bool,
}

impl ScanPlan<'_> {
    /// Goes through some places. The state is let go before: a walk may take long.
    ///
    /// # Errors
    /// What is known cannot be read.
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
            // What was taken in under other settings says something else.
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
            // A document may be there still, of what the file was before.
            known.entry(path).or_insert(nothing).stamp = stamp;
        }
        Ok(known)
    }
}

/// The documents in some places of a source, by path.
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
    plan: Plan<Document>,
    places: PathSet,
    is_put_off: bool,
    found: u64,
    troubles: Vec<WalkError>,
) -> ScanWork {
    let job = |job: Job<Document>| Task {
        path: job.path,
        stamp: job.stamp,
        moved: None,
    };
    if is_put_off {
        let changed = plan.jobs.into_iter().filter(|job| job.before.is_some());
        return ScanWork {
            places,
            tasks: changed.map(job).collect(),
            lost: RemovedDocuments::default(),
            forgotten: Vec::new(),
            found,
            troubles,
            is_put_off,
        };
    }
    let moved = plan.moved.into_iter().map(|moved| Task {
        path: moved.to,
        stamp: moved.stamp,
        moved: Some(moved.document.id),
    });
    ScanWork {
        places,
        tasks: moved.chain(plan.jobs.into_iter().map(job)).collect(),
        lost: plan.lost,
        forgotten: plan.forgotten,
        found,
        troubles,
        is_put_off,
    }
}
