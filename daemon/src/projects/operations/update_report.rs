//! Builds the reply to a change of a context file from the recorded event.

use std::sync::Arc;

use lore::protocol::projects::{
    ClearContextReply, EarlierIssues, UpdateContextReply, UpdateStatus,
};

use super::writing::{CheckedContent, PendingUpdate, WriteBasis};
use super::{conflict_warning, content_of, open_conflict, path_of, wire};
use crate::engine::Outcome;
use crate::error::{Code, Refusal};
use crate::events::projects::{Change, ProjectEvent, VersionMeta, imported};
use crate::events::{Event, unexpected};
use crate::log::LoggedEvent;
use crate::operation::blocking;
use crate::projects::feature::ProjectState;
use crate::projects::guide::{Submission, guide, next_steps};
use crate::projects::validate::{Diagnostic, Validation, validate};
use crate::projects::view::{self, FileRow};
use crate::projects::{append, earlier};
use crate::rows::until;
use crate::state::State;

impl PendingUpdate {
    /// Returns the reply of an earlier call with the same key.
    pub(super) async fn repeated(&self) -> Result<Option<UpdateContextReply>, Refusal> {
        let earlier = self.cx.repeated(&self.caller, self.claim.as_ref()).await?;
        match earlier {
            Some(outcome) => self.reply(outcome, None, None).await.map(Some),
            None => Ok(None),
        }
    }

    pub(super) async fn cleared(
        &self,
        event: &LoggedEvent,
        durable: bool,
    ) -> Result<ClearContextReply, Refusal> {
        let Some(ProjectEvent::Written(written)) = ProjectEvent::of(event)? else {
            return Err(Refusal::new(Code::Corrupt, "the event clears no file"));
        };
        let mut warnings = self.found.warnings();
        warnings.extend(self.on_disk(event).await);
        let archived = self.written_before(event, written.version).await?;
        Ok(ClearContextReply {
            project: self.found.project.clone(),
            file_type: written.file_type,
            version: written.version,
            archived_version: archived,
            cleared: true,
            position: event.position(),
            durable,
            warnings,
        })
    }

    /// Returns the last version with content before `below`, as of an event; forgotten versions do not count.
    async fn written_before(
        &self,
        event: &LoggedEvent,
        below: u64,
    ) -> Result<Option<u64>, Refusal> {
        let state = State::live(&self.cx, Some(event.position())).await?;
        let (project, file_type) = (self.found.project.clone(), self.file_type.clone());
        blocking(move || {
            let mut last = None;
            view::versions(&state, &project, &file_type, below, &mut |row| {
                last = row.is_written().then_some(row.written.version);
                Ok(until(last.is_some()))
            })?;
            Ok(last)
        })
        .await
    }

    /// Replies that the file already has this content and nothing was recorded.
    pub(super) async fn unchanged(
        &self,
        checked: CheckedContent,
        known: &WriteBasis,
    ) -> Result<UpdateContextReply, Refusal> {
        let mut reply = self.base_reply(UpdateReport {
            status: UpdateStatus::Success,
            message: "The file has just this content already; nothing was written".to_owned(),
            version: known.version(),
            attempt: 1,
        })?;
        reply.validation_result = Some(wire::validation(&checked.validation));
        reply.earlier_issues = self.earlier_issues(checked.earlier).await?;
        reply.position = self.cx.engine.position();
        reply.durable = self.cx.engine.is_durable();
        wire::fit(&mut reply);
        Ok(reply)
    }

    /// Builds the reply for an event, which an earlier call may have recorded.
    pub(super) async fn reply(
        &self,
        outcome: Outcome,
        mut checked: Option<CheckedContent>,
        known: Option<&WriteBasis>,
    ) -> Result<UpdateContextReply, Refusal> {
        let event = Arc::clone(&outcome.event);
        let mut warnings = Vec::new();
        let mut earlier = Vec::new();
        if let Some(checked) = &mut checked {
            earlier = std::mem::take(&mut checked.earlier);
            warnings.append(&mut checked.notes);
        }
        let mut reply = match &outcome.meta {
            Event::Project(ProjectEvent::Written(written)) => {
                warnings.extend(self.replaced(&event, written, known).await?);
                let removed = checked.as_ref().map(|checked| &*checked.removed);
                warnings.extend(self.removed(written, removed.unwrap_or_default()));
                warnings.extend(self.on_disk(&event).await);
                warnings.extend(self.conflict().await?);
                if written.change != Change::Appended {
                    self.knows(written);
                }
                let mut reply = self.base_reply(UpdateReport {
                    status: UpdateStatus::Success,
                    message: "Context updated successfully".to_owned(),
                    version: written.version,
                    attempt: written.attempt,
                })?;
                reply.validation_result = match checked {
                    Some(checked) => Some(wire::validation(&checked.validation)),
                    None => self
                        .checked(&event)
                        .await?
                        .map(|(_, reported)| wire::validation(&reported)),
                };
                reply
            }
            Event::Project(ProjectEvent::DraftSaved(drafted)) => {
                let submission = match drafted.is_entry {
                    true => Submission::Entry,
                    false => Submission::File,
                };
                let validation = checked.map(|checked| checked.validation);
                self.not_fitting(&event, (drafted.attempt, submission), validation)
                    .await?
            }
            _ => return Err(unexpected(&event, "an update of a context file").into()),
        };
        reply.position = event.position();
        reply.durable = outcome.durable;
        reply.warnings.extend(warnings);
        reply.earlier_issues = self.earlier_issues(earlier).await?;
        wire::fit(&mut reply);
        Ok(reply)
    }

    /// Builds the reply for an update that was saved as a draft.
    async fn not_fitting(
        &self,
        event: &Arc<LoggedEvent>,
        (attempt, submission): (u32, Submission),
        validation: Option<Validation>,
    ) -> Result<UpdateContextReply, Refusal> {
        let most = ProjectState::of(&self.cx)?.limits.attempts_max;
        let is_over = u64::from(attempt) > most;
        let mut reply = self.base_reply(UpdateReport {
            status: match is_over {
                true => UpdateStatus::MaxAttemptsReached,
                false => UpdateStatus::CorrectionNeeded,
            },
            message: match is_over {
                true => format!(
                    "Content did not fit in {attempt} attempts; nothing was written, and it is kept as \
                     a draft"
                ),
                false => "Content needs correction".to_owned(),
            },
            version: 0,
            attempt,
        })?;
        reply.success = false;
        reply.version = None;
        let Some((content, again)) = self.checked(event).await? else {
            return Ok(reply);
        };
        let validation = validation.unwrap_or(again);
        let mut reported = wire::validation(&validation);
        reply
            .validation_errors
            .extend(reported.errors.take().into_iter().flatten());
        reply.validation_result = Some(reported);
        let layers_of = self.found.clone();
        let (cx, file_type) = (Arc::clone(&self.cx), self.file_type.clone());
        let guidance =
            blocking(move || {
                let layers = ProjectState::of(&cx)?.templates(layers_of.place.as_ref());
                let template = layers.get(&file_type);
                Ok(template
                    .and_then(|found| guide(&validation, &found.template, &content, submission)))
            })
            .await?;
        match guidance {
            Some(guidance) if !is_over => {
                reply.next_steps = Some(next_steps(&guidance, submission));
                reply.correction_guidance = Some(wire::guidance(guidance));
            }
            Some(_) | None => {
                reply.next_steps = Some(format!(
                    "Read the draft with get_context (\"draft\": true) and the form with get_template, \
                     correct every error listed here, and call {} again; or leave it to a person: the \
                     draft is kept. The count of attempts starts again after {} minutes.",
                    match submission {
                        Submission::File => "update_context",
                        Submission::Entry => "append_context, with the entry alone,",
                    },
                    ProjectState::of(&self.cx)?.limits.attempts_kept_ms / 60_000
                ));
            }
        }
        Ok(reply)
    }

    /// Returns the content of an event with its validation; `None` if the template is gone. A draft that is an entry
    /// is checked as an entry of the current file.
    async fn checked(
        &self,
        event: &Arc<LoggedEvent>,
    ) -> Result<Option<(String, Validation)>, Refusal> {
        let (cx, event) = (Arc::clone(&self.cx), Arc::clone(event));
        let (found, file_type) = (self.found.clone(), self.file_type.clone());
        let (state, today) = (State::live(&self.cx, None).await?, self.today());
        blocking(move || {
            let Some(content) = imported(&event)?.0 else {
                return Ok(None);
            };
            let content = content.read(&cx.blobs)?;
            let layers = ProjectState::of(&cx)?.templates(found.place.as_ref());
            let Some(template) = layers.get(&file_type).map(|found| &*found.template) else {
                return Ok(None);
            };
            let is_entry = matches!(
                ProjectEvent::of(&event)?,
                Some(ProjectEvent::DraftSaved(drafted)) if drafted.is_entry
            );
            if !is_entry {
                let validation = validate(&content, template);
                return Ok(Some((content, validation)));
            }
            let row = view::file(&state, &found.project, &file_type)?;
            let there = match row.filter(FileRow::is_written) {
                Some(row) => content_of(&cx, &state, row.place())?,
                None => String::new(),
            };
            let entry = append::prepare(&there, &content, template, &today);
            Ok(entry.ok().map(|entry| {
                let validation = append::check(&there, &entry, template);
                (content, validation)
            }))
        })
        .await
    }

    /// Describes the problems that the file had before, and the version that brought them.
    async fn earlier_issues(
        &self,
        found: Vec<Diagnostic>,
    ) -> Result<Option<EarlierIssues>, Refusal> {
        if found.is_empty() {
            return Ok(None);
        }
        let mut problems = earlier::describe(found);
        let more = problems.len().saturating_sub(EARLIER_MAX) as u64;
        problems.truncate(EARLIER_MAX);
        let state = State::live(&self.cx, None).await?;
        let (project, file_type) = (self.found.project.clone(), self.file_type.clone());
        let origin = blocking(move || {
            let (mut origin, mut looked_at) = (None, 0);
            view::versions(&state, &project, &file_type, u64::MAX, &mut |row| {
                looked_at += 1;
                let has_some = row.written.errors > 0;
                let is_over = origin.is_some() && !has_some;
                if has_some {
                    origin = Some((row.written.version, row.agent));
                }
                Ok(until(is_over || looked_at == ORIGINS_MAX))
            })?;
            Ok(origin)
        })
        .await?;
        let (since_version, by) = origin.unzip();
        Ok(Some(EarlierIssues {
            since_version,
            by,
            problems,
            more: (more > 0).then_some(more),
        }))
    }

    /// Remembers that the caller knows what it wrote. It has not seen a merge of it.
    fn knows(&self, written: &VersionMeta) {
        let version = match written.change {
            Change::Merged => written.version - 1,
            _ => written.version,
        };
        if let Ok(room) = ProjectState::of(&self.cx) {
            let (project, file_type) = (&self.found.project, &self.file_type);
            room.known_versions
                .note(&self.caller, project, file_type, version);
        }
    }

    /// Returns a warning if a whole content has fewer entries than the version before.
    fn removed(&self, written: &VersionMeta, removed: &[String]) -> Option<String> {
        let is_whole = matches!(written.change, Change::Updated | Change::Merged);
        if removed.is_empty() || self.expected.is_some() || !is_whole {
            return None;
        }
        let names = removed
            .iter()
            .take(EARLIER_MAX)
            .map(|title| format!("`{title}`"));
        let names: Vec<String> = names.collect();
        let more = match removed.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        Some(format!(
            "this content has no longer {}{more}, which version {} has; append_context adds an entry and \
             keeps the others",
            names.join(", "),
            written.version - 1
        ))
    }

    /// Returns a warning if the file has a conflict of an edit by hand with a concurrent version.
    async fn conflict(&self) -> Result<Option<String>, Refusal> {
        let state = State::live(&self.cx, None).await?;
        let (project, file_type) = (self.found.project.clone(), self.file_type.clone());
        let row = blocking(move || open_conflict(&state, &project, &file_type)).await?;
        Ok(row.as_ref().map(conflict_warning))
    }

    /// Builds the common part of the replies.
    fn base_reply(&self, reported: UpdateReport) -> Result<UpdateContextReply, Refusal> {
        Ok(UpdateContextReply {
            success: true,
            status: reported.status,
            message: reported.message,
            project: self.found.project.clone(),
            file_type: self.file_type.clone(),
            version: Some(reported.version),
            attempt_count: u64::from(reported.attempt),
            validation_result: None,
            validation_errors: Vec::new(),
            earlier_issues: None,
            correction_guidance: None,
            next_steps: None,
            path: path_of(
                ProjectState::of(&self.cx)?,
                &self.found.project,
                &self.file_type,
            ),
            position: self.cx.engine.position(),
            durable: self.cx.engine.is_durable(),
            warnings: self.found.warnings(),
        })
    }

    /// Returns a warning if a caller without `expected_version` replaced another agent's version, which may have been
    /// recorded during this call.
    pub(super) async fn replaced(
        &self,
        event: &LoggedEvent,
        written: &VersionMeta,
        known: Option<&WriteBasis>,
    ) -> Result<Option<String>, Refusal> {
        if self.expected.is_some() || written.change != Change::Updated {
            return Ok(None);
        }
        let before = written.version - 1;
        let row = match known.filter(|known| known.version() == before) {
            Some(known) => known.newest.clone(),
            None => {
                let state = State::live(&self.cx, Some(event.position())).await?;
                let (project, file_type) = (self.found.project.clone(), self.file_type.clone());
                blocking(move || Ok(view::version(&state, &project, &file_type, before)?)).await?
            }
        };
        let by_other = row.filter(|row| row.is_written() && row.agent != self.caller.actor.agent);
        Ok(by_other.map(|row| {
            format!(
                "this replaced version {before} by `{}`; name `expected_version` to be told instead when \
                 another was faster",
                row.agent
            )
        }))
    }

    /// Waits until the file on disk has reached the event; returns the fault if it has one.
    async fn on_disk(&self, event: &LoggedEvent) -> Option<String> {
        let room = ProjectState::of(&self.cx).ok()?;
        room.sync_status.reaches(event.position()).await;
        room.sync_status.fault(&self.found.project, &self.file_type)
    }
}

/// Parts with earlier problems, and removed entries, that a reply names.
const EARLIER_MAX: usize = 5;
/// Versions that are searched for the origin of a problem.
const ORIGINS_MAX: u32 = 100;

/// The result of an update.
struct UpdateReport {
    status: UpdateStatus,
    message: String,
    version: u64,
    attempt: u32,
}
