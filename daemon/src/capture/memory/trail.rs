//! What one session said and did, in order.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;

use lored_moments::failures::{Event as RepairEvent, KnownFailure};
use lored_moments::{Message, Speaker, durable};
use lored_suspicion::Origin;

use super::entries::{CallEnd, FailedCommand, TrailEntry, TrailEvent};
use super::known::KnownSentence;
use super::reading::{beginning, ends, forgotten_call, observed, written};
use crate::error::Refusal;
use crate::events::capture::{
    CaptureEvent, ContinuedSession, Following, Observation, ObservationDetails,
};
use crate::events::messages::{MessageEvent, MessageRecorded, Sender};
use crate::events::packs::PackEvent;
use crate::events::steps::{StepEvent, StepRecorded};
use crate::events::{self, Event};
use crate::log::{EventScope, LoggedEvent, Position};
use crate::messages;
use crate::operation::Context;
use crate::state::State;
use crate::store::Blobs;
use crate::trust;

/// Number of events of a session that are kept, the newest ones.
const EVENTS_MAX: usize = 3000;
/// Sentences of a session that are kept, the newest ones.
const KNOWN_MAX: usize = 1000;
/// Bytes of a message that are kept.
const SAID_BYTES_MAX: usize = 16 << 10;

/// What one session said and did, in order.
#[derive(Debug)]
pub struct Trail {
    /// The session.
    pub session: String,
    /// Its project.
    pub project: Option<String>,
    /// The session whose subagent it is.
    pub parent: Option<String>,
    /// The branch on which it was worked last.
    pub branch: Option<String>,
    /// The folder in which it was worked last.
    pub folder: Option<String>,
    /// The model that was used last, as the host names it.
    pub model: Option<String>,
    /// The session whose work it continues.
    pub continues: Option<ContinuedSession>,
    /// Where it began to continue which session.
    pub continued_at: Option<(Position, String)>,
    /// The host's process, as `process:PID:START`.
    pub process: Option<String>,
    /// What happened, the oldest first.
    pub happened: VecDeque<TrailEntry>,
    /// Sentences that hold for longer than their turn, the oldest first.
    pub known: VecDeque<KnownSentence>,
    /// Number of the current turn: it grows with each prompt.
    pub turn: u32,
    /// Commands that failed, with what mended them, when this number of events had been read.
    failures: Option<(Position, Arc<Vec<FailedCommand>>)>,
    read_up_to: Position,
    bytes: usize,
    /// An observation whose message or step comes next.
    before: Option<(Observation, ObservationDetails)>,
}

impl Trail {
    /// Creates an empty trail.
    pub(super) fn new(session: &str, project: Option<String>) -> Self {
        Self {
            session: session.to_owned(),
            project,
            happened: VecDeque::new(),
            known: VecDeque::new(),
            turn: 0,
            parent: None,
            branch: None,
            folder: None,
            model: None,
            continues: None,
            continued_at: None,
            process: None,
            failures: None,
            read_up_to: Position(0),
            bytes: 0,
            before: None,
        }
    }

    /// Returns its size in memory, in bytes.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads what was recorded since, or at first the newest events.
    pub(super) fn catch_up(&mut self, cx: &Context, state: &State) -> Result<(), Refusal> {
        let up_to = state.position();
        if self.read_up_to >= up_to {
            return Ok(());
        }
        let log = state.log();
        let scope = EventScope::Session(&self.session);
        let mut new: Vec<LoggedEvent> = Vec::new();
        if self.read_up_to == Position(0) {
            log.back(scope, Position(up_to.0 + 1), &mut |event| {
                new.push(event);
                Ok(match new.len() {
                    EVENTS_MAX => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                })
            })?;
            new.reverse();
        } else {
            for (position, record) in log.stream(scope, self.read_up_to, up_to, usize::MAX)? {
                new.extend(log.whole(record, position)?);
            }
        }
        for event in &new {
            self.add(&cx.blobs, state, event)?;
        }
        self.read_up_to = up_to;
        while self.happened.len() > EVENTS_MAX {
            if let Some(gone) = self.happened.pop_front() {
                self.bytes -= gone.bytes();
            }
        }
        Ok(())
    }

    fn add(&mut self, blobs: &Blobs, state: &State, event: &LoggedEvent) -> Result<(), Refusal> {
        let before = self.before.take();
        if trust::is_undone(state, event.scope(), event.position())? {
            return Ok(());
        }
        let Some(event_read) = self.read(blobs, state, event, before)? else {
            return Ok(());
        };
        if let TrailEvent::Prompt { is_users: true, .. } = &event_read {
            self.turn += 1;
        }
        self.learn(state, event, &event_read)?;
        let happened = TrailEntry {
            turn: self.turn,
            position: event.position(),
            at: event.header.happened_at(),
            agent: event.header.actor.agent.clone(),
            event: event_read,
        };
        self.bytes += happened.bytes();
        self.happened.push_back(happened);
        Ok(())
    }

    /// Returns the commands that failed, in order, each with what mended it.
    pub fn failures(&mut self) -> Arc<Vec<FailedCommand>> {
        let newest = self.happened.back().map_or(Position(0), |one| one.position);
        if let Some((known_at, known)) = &self.failures
            && *known_at == newest
        {
            return Arc::clone(known);
        }
        let found = Arc::new(self.find_failures());
        self.failures = Some((newest, Arc::clone(&found)));
        found
    }

    fn find_failures(&self) -> Vec<FailedCommand> {
        let calls: Vec<(&TrailEntry, &CallEnd)> = self
            .happened
            .iter()
            .filter_map(|one| match &one.event {
                TrailEvent::Called(call) if !call.is_interrupted => Some((one, &**call)),
                _ => None,
            })
            .collect();
        let events: Vec<RepairEvent<'_>> =
            calls.iter().flat_map(|(_, call)| call.events()).collect();
        let mut next = 0;
        let mut found = Vec::new();
        for (entry, call) in calls {
            next += call.events().count();
            // A forgotten step has no error to recognise, and no number to name.
            let is_known = call.is_failure && call.step > 0;
            let Some(line) = call.command.as_deref().filter(|_| is_known) else {
                continue;
            };
            let after = events.get(next..).unwrap_or_default();
            found.push(FailedCommand {
                position: entry.position,
                at: entry.at,
                agent: entry.agent.clone(),
                step: (call.step, call.attempt),
                failure: KnownFailure::new(line, &call.outcome, after),
            });
        }
        found
    }

    /// Takes up what a message says that holds for longer.
    fn learn(
        &mut self,
        state: &State,
        event: &LoggedEvent,
        said_or_done: &TrailEvent,
    ) -> Result<(), Refusal> {
        let (message, said) = match said_or_done {
            TrailEvent::Prompt {
                message,
                text,
                is_users: true,
            } => {
                let before = self.happened.iter().rev();
                let of_turn = before.take_while(|one| one.turn + 1 == self.turn);
                let said = Message {
                    text,
                    speaker: Speaker::User,
                    previous_answer: self.last_answer(),
                    follows_edit: of_turn.clone().any(TrailEntry::is_edit),
                };
                (message, said)
            }
            TrailEvent::Answer { message, text } => (message, Message::answer(text)),
            _ => return Ok(()),
        };
        let speaker = said.speaker;
        for sentence in durable(&said) {
            let known = KnownSentence {
                position: event.position(),
                message: message.clone(),
                at: event.header.happened_at(),
                agent: event.header.actor.agent.clone(),
                speaker,
                turn: self.turn,
                sentence,
                is_remembered: false,
                replaces: Vec::new(),
                is_accepted: false,
            };
            self.know(known.judged(state, &self.session)?);
        }
        Ok(())
    }

    fn know(&mut self, known: KnownSentence) {
        self.bytes += known.bytes();
        self.known.push_back(known);
        while self.known.len() > KNOWN_MAX {
            if let Some(gone) = self.known.pop_front() {
                self.bytes -= gone.bytes();
            }
        }
    }

    /// Returns the last answer, if no prompt came after it.
    fn last_answer(&self) -> Option<&str> {
        self.happened
            .iter()
            .rev()
            .find_map(|one| match &one.event {
                TrailEvent::Answer { text, .. } => Some(Some(text.as_str())),
                TrailEvent::Prompt { .. } => Some(None),
                _ => None,
            })?
    }

    fn read(
        &mut self,
        blobs: &Blobs,
        state: &State,
        event: &LoggedEvent,
        before: Option<(Observation, ObservationDetails)>,
    ) -> Result<Option<TrailEvent>, Refusal> {
        Ok(match Event::of(event)? {
            Some(Event::Message(MessageEvent::Message(said))) => {
                let body: MessageRecorded = events::body(event)?;
                let text = beginning(blobs, body.content, SAID_BYTES_MAX)?;
                // What gives orders to a model, claims an identity or rewrites facts is given to no other model.
                let place = (event.scope(), event.position());
                if trust::is_left_out(state, place, &text, messages::origin(said.sender))? {
                    return Ok(None);
                }
                if said.remembered.is_some() {
                    let said_so = (text.as_str(), body.replaces);
                    let known = KnownSentence::remembered(&event.header, &said, said_so, self.turn);
                    self.know(known.judged(state, &self.session)?);
                    return Ok(None);
                }
                match said.sender {
                    Sender::Assistant => Some(TrailEvent::Answer {
                        message: said.id,
                        text,
                    }),
                    Sender::User | Sender::System => Some(TrailEvent::Prompt {
                        message: said.id,
                        text,
                        is_users: said.sender == Sender::User,
                    }),
                    Sender::Tool => None,
                }
            }
            Some(Event::Step(StepEvent::Recorded(assigned))) => {
                let body: StepRecorded = events::body(event)?;
                let details = before.map(|(_, details)| details).unwrap_or_default();
                let new_text = match details.edits.is_empty() {
                    true => String::new(),
                    false => written(blobs, body.parameters)?,
                };
                let error = ends(blobs, body.error)?;
                let result = ends(blobs, body.result)?;
                let outcome = match (error.is_empty(), result.is_empty()) {
                    (false, false) => format!("{error}\n{result}"),
                    _ => error + &result,
                };
                let place = (event.scope(), event.position());
                let is_left_out = trust::is_left_out(state, place, &outcome, Origin::Tool)?;
                Some(TrailEvent::Called(Box::new(CallEnd {
                    step: assigned.step,
                    attempt: assigned.attempt,
                    command: details.command,
                    edits: details.edits,
                    reads: details.reads,
                    exit_status: details.exit_status,
                    is_failure: !assigned.success,
                    is_interrupted: details.is_interrupted,
                    outcome,
                    is_left_out,
                    new_text,
                })))
            }
            Some(Event::Pack(PackEvent::Built(built))) => Some(TrailEvent::Shown(Box::new(built))),
            Some(Event::Capture(CaptureEvent::Observed(meta))) => {
                let details: ObservationDetails = events::body(event)?;
                if details.parent.is_some() {
                    self.parent.clone_from(&details.parent);
                }
                if details.branch.is_some() {
                    self.branch.clone_from(&details.branch);
                }
                if details.folder.is_some() {
                    self.folder.clone_from(&details.folder);
                }
                if details.model.is_some() {
                    self.model.clone_from(&details.model);
                }
                if meta.joined.is_some() {
                    self.process.clone_from(&meta.joined);
                }
                if let Some(other) = &meta.continues
                    && other.session != self.session
                {
                    self.continues = Some(other.clone());
                    self.continued_at = Some((event.position(), other.session.clone()));
                }
                match meta.following {
                    Some(Following::Message | Following::Step) => {
                        self.before = Some((meta, details));
                        None
                    }
                    None => observed(state, event, &meta, details)?,
                }
            }
            Some(
                Event::Session(_)
                | Event::Step(_)
                | Event::Message(_)
                | Event::Capture(_)
                | Event::Entity(_)
                | Event::Trust(_)
                | Event::Pack(_)
                | Event::Checkpoint(_)
                | Event::Project(_)
                | Event::Document(_)
                | Event::Forgetting(_),
            ) => None,
            None => before.and_then(|(meta, details)| forgotten_call(&meta, details)),
        })
    }
}
