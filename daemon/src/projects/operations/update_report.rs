//! Builds the reply to a change of a context file from the recorded event.

use std::ops::ControlFlow;
use std::sync::Arc;

use lore::protocol::projects::{ClearContextReply, UpdateContextReply, UpdateStatus};

use super::writing::{PendingUpdate, WriteBasis};
use super::{path_of, wire};
use crate::engine::Outcome;
use crate::error::{Code, Refusal};
use crate::events::projects::{Change, ProjectEvent, VersionMeta, imported};
use crate::events::{Event, unexpected};
use crate::log::LoggedEvent;
use crate::operation::blocking;
use crate::projects::feature::ProjectState;
use crate::projects::guide::{guide, next_steps};
use crate::projects::validate::{Validation, validate};
use crate::projects::view;
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
                Ok(if last.is_some() {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
            Ok(last)
        })
        .await
    }

    /// Replies that the file already has this content and nothing was recorded.
    pub(super) async fn unchanged(
        &self,
        validation: Validation,
        known: &WriteBasis,
    ) -> Result<UpdateContextReply, Refusal> {
        let mut reply = self.base_reply(UpdateReport {
            status: UpdateStatus::Success,
            message: "The file has just this content already; nothing was written".to_owned(),
            version: known.version(),
            attempt: 1,
        })?;
        reply.validation_result = Some(wire::validation(&validation));
        reply.position = self.cx.engine.position();
        reply.durable = self.cx.engine.is_durable();
        Ok(reply)
    }

    /// Builds the reply for an event, which an earlier call may have recorded.
    pub(super) async fn reply(
        &self,
        outcome: Outcome,
        validation: Option<Validation>,
        known: Option<&WriteBasis>,
    ) -> Result<UpdateContextReply, Refusal> {
        let event = Arc::clone(&outcome.event);
        let mut warnings = Vec::new();
        let mut reply = match &outcome.meta {
            Event::Project(ProjectEvent::Written(written)) => {
                warnings.extend(self.replaced(&event, written, known).await?);
                warnings.extend(self.on_disk(&event).await);
                let mut reply = self.base_reply(UpdateReport {
                    status: UpdateStatus::Success,
                    message: "Context updated successfully".to_owned(),
                    version: written.version,
                    attempt: written.attempt,
                })?;
                reply.validation_result = self
                    .checked(&event, validation)
                    .await?
                    .map(|(_, reported)| wire::validation(&reported));
                reply
            }
            Event::Project(ProjectEvent::DraftSaved(drafted)) => {
                self.not_fitting(&event, drafted.attempt, validation)
                    .await?
            }
            _ => return Err(unexpected(&event, "an update of a context file").into()),
        };
        reply.position = event.position();
        reply.durable = outcome.durable;
        reply.warnings.extend(warnings);
        Ok(reply)
    }

    /// Builds the reply for an update that was saved as a draft.
    async fn not_fitting(
        &self,
        event: &Arc<LoggedEvent>,
        attempt: u32,
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
        let Some((content, validation)) = self.checked(event, validation).await? else {
            return Ok(reply);
        };
        let reported = wire::validation(&validation);
        reply.validation_errors.clone_from(&reported.errors);
        reply.validation_result = Some(reported);
        let layers_of = self.found.clone();
        let (cx, file_type) = (Arc::clone(&self.cx), self.file_type.clone());
        let guidance = blocking(move || {
            let layers = ProjectState::of(&cx)?.templates(layers_of.place.as_ref());
            let template = layers.get(&file_type);
            Ok(template.and_then(|found| guide(&validation, &found.template, &content)))
        })
        .await?;
        match guidance {
            Some(guidance) if !is_over => {
                reply.next_steps = Some(next_steps(&guidance));
                reply.correction_guidance = Some(wire::guidance(guidance));
            }
            Some(_) | None => {
                reply.next_steps = Some(format!(
                    "Read the draft with get_context (\"draft\": true) and the form with get_template, \
                     correct every error listed here, and call update_context again; or leave it to a \
                     person: the draft is kept. The count of attempts starts again after {} minutes.",
                    ProjectState::of(&self.cx)?.limits.attempts_kept_ms / 60_000
                ));
            }
        }
        Ok(reply)
    }

    /// Returns the content of an event with its validation; `None` if the template is gone.
    async fn checked(
        &self,
        event: &Arc<LoggedEvent>,
        validation: Option<Validation>,
    ) -> Result<Option<(String, Validation)>, Refusal> {
        let (cx, event) = (Arc::clone(&self.cx), Arc::clone(event));
        let (found, file_type) = (self.found.clone(), self.file_type.clone());
        blocking(move || {
            let Some(content) = imported(&event)?.0 else {
                return Ok(None);
            };
            let content = content.read(&cx.blobs)?;
            let validation = match validation {
                Some(validation) => Some(validation),
                None => {
                    let layers = ProjectState::of(&cx)?.templates(found.place.as_ref());
                    let template = layers.get(&file_type);
                    template.map(|found| validate(&content, &found.template))
                }
            };
            Ok(validation.map(|validation| (content, validation)))
        })
        .await
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

/// The result of an update.
struct UpdateReport {
    status: UpdateStatus,
    message: String,
    version: u64,
    attempt: u32,
}
