//! Commands of projects: initialise a directory, share a project, write a context file, save a draft.

use std::sync::{Arc, Mutex, MutexGuard};

use serde_bytes::ByteArray;

use super::view::{self, FileRow};
use crate::clock::Micros;
use crate::engine::{Command, DecisionContext};
use crate::error::{Code, Refusal};
use crate::events::projects::{
    Change, DraftMeta, ProjectEvent, ProjectInitialised, ProjectShared, VersionMeta, WorktreeSeen,
};
use crate::events::{NewEvent, empty_body};
use crate::hint::{Tool, hint};
use crate::locks::lock_unpoisoned;
use crate::log::Body;
use crate::store::{PendingBlob, Rows};

/// The project of an event, with its directory if that is known.
#[derive(Clone, Debug)]
pub struct ProjectSubject {
    /// The project's id.
    pub project: String,
    /// Name, directory and worktree, if the caller is in a directory or named one.
    pub known: Option<KnownDirectory>,
    /// Salts of the events that introduce the project and its worktree.
    pub salts: [[u8; 16]; 2],
}

/// The recorded data of a project's directory.
#[derive(Clone, Debug)]
pub struct KnownDirectory {
    /// Name and directory.
    pub initialised: ProjectInitialised,
    /// The caller's current worktree.
    pub worktree: WorktreeSeen,
    /// Whether the project was at another directory before.
    pub is_moved: bool,
}

impl ProjectSubject {
    /// Returns the events that introduce the project and its worktree, if they are unknown. With `again`, a changed
    /// name or directory is recorded as well.
    fn introduce(&self, rows: &dyn Rows, again: bool) -> Result<Vec<NewEvent>, Refusal> {
        let row = view::project(rows, &self.project)?;
        let Some(known) = &self.known else {
            return match row {
                Some(_) => Ok(Vec::new()),
                None => Err(unknown(&self.project)),
            };
        };
        let mut events = Vec::new();
        let mut made = known.initialised.clone();
        if let Some(row) = row.as_ref().filter(|_| !again) {
            made.name.clone_from(&row.name);
            if !known.is_moved {
                made.path.clone_from(&row.path);
            }
        }
        let is_same = row.is_some_and(|row| {
            let has_signs = made.git.iter().all(|sign| row.git.contains(sign));
            row.name == made.name && row.path == made.path && has_signs
        });
        if !is_same {
            let made = ProjectEvent::Initialised(made);
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

fn unknown(project: &str) -> Refusal {
    Refusal::new(
        Code::ProjectNotFound,
        format!("project `{project}` not found"),
    )
    .hint(hint![Tool::ListProjects, " lists them."; Tool::InitProject, " makes a directory one."])
}

fn decided_twice() -> Refusal {
    Refusal::new(Code::Internal, "a command was decided twice")
}

/// Makes a directory a project.
pub struct InitialiseProject {
    /// The project.
    pub subject: ProjectSubject,
    /// Set if there is nothing to record.
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

/// Grants another user access to a project, or revokes it.
pub struct Shares {
    /// Id of the project, which must be known.
    pub project: String,
    /// The user and the granted access.
    pub shared: ProjectShared,
    /// Salt of the payload.
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

/// The reason why a command recorded nothing without being refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoOpReason {
    /// The log already has this state.
    Unchanged,
    /// The file has changed since the change was prepared; holds its newest version.
    Stale(Option<Box<FileRow>>),
}

/// Reports to the sender of a command why it recorded nothing; shared with the command.
#[derive(Clone, Default)]
pub struct Report(Arc<Mutex<Option<NoOpReason>>>);

impl Report {
    /// Returns the reported reason.
    pub fn outcome(&self) -> MutexGuard<'_, Option<NoOpReason>> {
        lock_unpoisoned(&self.0)
    }
}

/// The refusal that ends a command without an event. The sender reads its report instead.
fn nothing_recorded() -> Refusal {
    Refusal::new(Code::Conflict, "nothing was recorded")
}

/// Writes a new version of a context file.
pub struct WriteContext {
    /// The project.
    pub subject: ProjectSubject,
    /// The file type.
    pub file_type: String,
    /// The kind of change.
    pub change: Change,
    /// SHA-256 of the content.
    pub hash: ByteArray<32>,
    /// Length of the content, in bytes.
    pub bytes: u64,
    /// Numbers of template errors and warnings in the content.
    pub diagnostics: (u32, u32),
    /// What makes the content suspicious.
    pub suspect: Vec<String>,
    /// The version that must be the newest one, otherwise the command is stale. `None`: no check.
    pub follows: Option<u64>,
    /// The version that the change was made from, if it differs from `follows`.
    pub base: Option<u64>,
    /// A concurrent version whose changes this one does not contain.
    pub beside: Option<u64>,
    /// Titles of the entries and sections that both this version and `beside` changed.
    pub conflicts: Vec<String>,
    /// The merge with `beside`, which is recorded with this version.
    pub merged: Option<MergedVersion>,
    /// How long failed attempts count, in microseconds.
    pub attempts_kept: Micros,
    /// The payload of the event; the decision takes it.
    pub body: Option<Body>,
    /// Blobs that the payload references; the sweep spares them until the event is committed.
    pub blobs: Vec<PendingBlob>,
    /// Receives the reason if nothing is recorded.
    pub report: Report,
}

/// The merge of a manual edit with a concurrent version: the version after the edit's.
pub struct MergedVersion {
    /// SHA-256 of the content.
    pub hash: ByteArray<32>,
    /// Length of the content, in bytes.
    pub bytes: u64,
    /// Numbers of template errors and warnings in the content.
    pub diagnostics: (u32, u32),
    /// What makes the content suspicious.
    pub suspect: Vec<String>,
    /// The version whose changes are in conflict, if any is.
    pub beside: Option<u64>,
    /// Titles of the entries and sections in conflict.
    pub conflicts: Vec<String>,
    /// The payload of the event; the decision takes it.
    pub body: Option<Body>,
    /// Blobs that the payload references; the sweep spares them until the event is committed.
    pub blobs: Vec<PendingBlob>,
}

impl MergedVersion {
    fn event(
        &mut self,
        subject: &ProjectSubject,
        file_type: &str,
        version: u64,
    ) -> Result<NewEvent, Refusal> {
        let written = VersionMeta {
            file_type: file_type.to_owned(),
            version,
            change: Change::Merged,
            hash: self.hash,
            bytes: self.bytes,
            errors: self.diagnostics.0,
            warnings: self.diagnostics.1,
            attempt: 0,
            base: None,
            beside: self.beside,
            conflicts: std::mem::take(&mut self.conflicts),
            suspect: std::mem::take(&mut self.suspect),
            blobs: hashes(&self.blobs),
        };
        let body = self.body.take().ok_or_else(decided_twice)?;
        Ok(subject.event(ProjectEvent::Written(written), body))
    }
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
            conflicts: std::mem::take(&mut self.conflicts),
            suspect: std::mem::take(&mut self.suspect),
            blobs: hashes(&self.blobs),
        };
        let body = self.body.take().ok_or_else(decided_twice)?;
        events.push(self.subject.event(ProjectEvent::Written(written), body));
        if let Some(merged) = &mut self.merged {
            events.push(merged.event(&self.subject, &self.file_type, version + 2)?);
        }
        Ok(events)
    }
}

/// Saves an update that failed validation as a draft.
pub struct DraftContext {
    /// The project.
    pub subject: ProjectSubject,
    /// The file type.
    pub file_type: String,
    /// Whether the content is an entry that was to be appended.
    pub is_entry: bool,
    /// How long failed attempts count, in microseconds.
    pub attempts_kept: Micros,
    /// The payload of the event; the decision takes it.
    pub body: Option<Body>,
    /// Blobs that the payload references; the sweep spares them until the event is committed.
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
            is_entry: self.is_entry,
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
