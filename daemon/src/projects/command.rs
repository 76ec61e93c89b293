//! Decisions about projects: that a directory becomes one, what a context file says, what did not fit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_bytes::ByteArray;

use super::view::{self, FileRow};
use crate::clock::Micros;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::projects::{
    Change, DraftMeta, ProjectEvent, ProjectInitialised, ProjectShared, VersionMeta, WorktreeSeen,
};
use crate::events::{NewEvent, empty_body};
use crate::log::Body;
use crate::store::{PendingBlob, Rows};

/// The project that an event is about, as far as its directory is known.
#[derive(Clone, Debug)]
pub struct ProjectSubject {
    /// Its id.
    pub project: String,
    /// Name, directory and worktree, when the caller is in one or named one.
    pub known: Option<KnownDirectory>,
    /// Salts for the events that make it known.
    pub salts: [[u8; 16]; 2],
}

/// What is known of a project's directory.
#[derive(Clone, Debug)]
pub struct KnownDirectory {
    /// Name and directory.
    pub initialised: ProjectInitialised,
    /// The worktree worked in.
    pub worktree: WorktreeSeen,
}

impl ProjectSubject {
    /// The events that make the project and its worktree known, if they are not; `anew` also when only
    /// its name or directory is another.
    fn introduce(&self, rows: &dyn Rows, again: bool) -> Result<Vec<NewEvent>, Refusal> {
        let row = view::project(rows, &self.project)?;
        let Some(known) = &self.known else {
            return match row {
                Some(_) => Ok(Vec::new()),
                None => Err(unknown(&self.project)),
            };
        };
        let mut events = Vec::new();
        let is_same = row.as_ref().is_some_and(|row| {
            let made = &known.initialised;
            !again || (row.name == made.name && row.path == made.path)
        });
        if !is_same {
            let made = ProjectEvent::Initialised(known.initialised.clone());
            events.push(self.event(made, empty_body(self.salts[0])));
        }
        let worktree = view::worktree(rows, &self.project, &known.worktree.path)?;
        if worktree.is_none_or(|recorded| recorded.branch != known.worktree.branch) {
            let seen = ProjectEvent::WorktreeSeen(known.worktree.clone());
            events.push(self.event(seen, empty_body(self.salts[1])));
        }
        Ok(events)
    }

    fn event(&self, event: ProjectEvent, body: Body) -> NewEvent {
        NewEvent::in_project(&self.project, event, body)
    }
}

/// No project has this id.
fn unknown(project: &str) -> Refusal {
    Refusal::new(
        Code::ProjectNotFound,
        format!("there is no project `{project}`"),
    )
    .hint("`list_projects` lists them; `init_project` makes a directory one.")
}

fn decided_twice() -> Refusal {
    Refusal::new(Code::Internal, "a command was decided twice")
}

/// Wants a directory to be a project.
pub struct InitialiseProject {
    /// Which.
    pub subject: ProjectSubject,
    /// Set when there is nothing to record.
    pub report: Report,
}

impl Command for InitialiseProject {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let events = self.subject.introduce(on.rows, true)?;
        if events.is_empty() {
            *self.report.outcome() = Some(NoOpReason::Unchanged);
            return Err(nothing_recorded());
        }
        Ok(events)
    }
}

/// Wants a project shared with somebody, or no more.
pub struct Shares {
    /// Which; it has to be known.
    pub project: String,
    /// With whom, and what for.
    pub shared: ProjectShared,
    /// Of the payload.
    pub salt: [u8; 16],
}

impl Command for Shares {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        if view::project(on.rows, &self.project)?.is_none() {
            return Err(unknown(&self.project));
        }
        let shared = ProjectEvent::Shared(self.shared);
        let body = empty_body(self.salt);
        Ok(vec![NewEvent::in_project(&self.project, shared, body)])
    }
}

/// Why nothing was recorded, when that is no refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoOpReason {
    /// It is so already.
    Unchanged,
    /// The file is not what it was when the change was prepared: this is its newest version.
    Stale(Option<Box<FileRow>>),
}

/// Tells the caller of a command why it recorded nothing; shared with it.
#[derive(Clone, Default)]
pub struct Report(Arc<Mutex<Option<NoOpReason>>>);

impl Report {
    /// What was told.
    pub fn outcome(&self) -> MutexGuard<'_, Option<NoOpReason>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answered in place of an event; whoever sent the command reads its report instead.
fn nothing_recorded() -> Refusal {
    Refusal::new(Code::Conflict, "nothing was recorded")
}

/// Wants a new version of a context file.
pub struct WriteContext {
    /// Of which project.
    pub subject: ProjectSubject,
    /// Which file.
    pub file_type: String,
    /// How the version comes about.
    pub change: Change,
    /// Hash and length of the content.
    pub hash: ByteArray<32>,
    /// Length of the content, in bytes.
    pub bytes: u64,
    /// Errors and warnings that it has by its template.
    pub diagnostics: (u32, u32),
    /// The newest version that this one follows: another is told as stale. `None`: whatever it is.
    pub follows: Option<u64>,
    /// The version that it was made from, where that is not the one that it follows.
    pub base: Option<u64>,
    /// A version made at the same time whose changes are not in this one.
    pub beside: Option<u64>,
    /// How long failed attempts count.
    pub attempts_kept: Micros,
    /// The payload of the event; taken when it is decided.
    pub body: Option<Body>,
    /// Blobs that the payload names: no sweep takes them before the event is committed.
    pub blobs: Vec<PendingBlob>,
    /// To the caller.
    pub report: Report,
}

impl Command for WriteContext {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let mut events = self.subject.introduce(on.rows, false)?;
        let project = &self.subject.project;
        let newest = view::file(on.rows, project, &self.file_type)?;
        let version = newest.as_ref().map_or(0, |row| row.written.version);
        let is_same = newest
            .as_ref()
            .is_some_and(|row| row.written.hash == self.hash && row.is_written());
        let draft = view::draft(on.rows, project, &self.file_type, &on.actor.agent)?;
        let is_unchanged = match self.change {
            Change::Cleared => newest.as_ref().is_none_or(|row| !row.is_written()),
            Change::Updated | Change::Appended | Change::Edited | Change::Merged => {
                is_same && draft.is_none()
            }
        };
        let instead = if self.follows.is_some_and(|follows| follows != version) {
            Some(NoOpReason::Stale(newest.map(Box::new)))
        } else {
            is_unchanged.then_some(NoOpReason::Unchanged)
        };
        if instead.is_some() {
            *self.report.outcome() = instead;
            return Err(nothing_recorded());
        }
        let failed = draft.filter(|draft| on.now.saturating_sub(draft.at) <= self.attempts_kept);
        let by_agent = matches!(self.change, Change::Updated | Change::Appended);
        let written = VersionMeta {
            file_type: self.file_type.clone(),
            version: version + 1,
            change: self.change,
            hash: self.hash,
            bytes: self.bytes,
            errors: self.diagnostics.0,
            warnings: self.diagnostics.1,
            attempt: match failed {
                _ if !by_agent => 0,
                Some(draft) => draft.attempts.saturating_add(1),
                None => 1,
            },
            base: self.base,
            beside: self.beside,
            blobs: hashes(&self.blobs),
        };
        let body = self.body.take().ok_or_else(decided_twice)?;
        events.push(self.subject.event(ProjectEvent::Written(written), body));
        Ok(events)
    }
}

/// Wants an update kept as a draft: it did not fit.
pub struct DraftContext {
    /// Of which project.
    pub subject: ProjectSubject,
    /// Which file.
    pub file_type: String,
    /// How long failed attempts count.
    pub attempts_kept: Micros,
    /// The payload of the event; taken when it is decided.
    pub body: Option<Body>,
    /// Blobs that the payload names: no sweep takes them before the event is committed.
    pub blobs: Vec<PendingBlob>,
}

impl Command for DraftContext {
    fn decide(&mut self, on: &DecisionContext<'_>) -> Result<Vec<NewEvent>, Refusal> {
        let mut events = self.subject.introduce(on.rows, false)?;
        let project = &self.subject.project;
        let draft = view::draft(on.rows, project, &self.file_type, &on.actor.agent)?;
        let before = draft
            .filter(|draft| on.now.saturating_sub(draft.at) <= self.attempts_kept)
            .map_or(0, |draft| draft.attempts);
        let drafted = DraftMeta {
            file_type: self.file_type.clone(),
            attempt: before.saturating_add(1),
            blobs: hashes(&self.blobs),
        };
        let body = self.body.take().ok_or_else(decided_twice)?;
        events.push(self.subject.event(ProjectEvent::DraftSaved(drafted), body));
        Ok(events)
    }
}

fn hashes(blobs: &[PendingBlob]) -> Vec<ByteArray<32>> {
    let hashes = blobs.iter().map(|blob| blob.reference().hash.into());
    hashes.collect()
}
