//! Selection within one session: nothing, the whole session, or some of its events with the events derived from
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ForgetSelector, Rule, SelectionContext, StreamPart};
use crate::checkpoints::{self, CheckpointEvent, CheckpointKey, CheckpointsDeleted};
use crate::entities::EntityEvent;
use crate::error::Refusal;
use crate::events::{Event, body};
use crate::forgetting::origin::ContentOrigin;
use crate::log::{
    EventScope, Hash, Log, LoggedEvent, PartialForget, Position, StreamName, forgotten,
};
use crate::messages::{MessageEvent, ToolRecorded};
use crate::sessions::{self, SessionRow};
use crate::steps::{StepEvent, StepRecorded};
use crate::store::Error;

/// Tag that exempts a session from every retention rule.
const KEEP_TAG: &str = "keep";

/// Selected part of a session.
pub enum SessionTarget {
    Nothing,
    /// The whole session.
    Whole,
    /// Some events.
    Part(StreamPart),
}

/// The events of a session, and those that are selected.
pub(super) struct ExaminedSession {
    /// All events that have content.
    pub(super) looked: Vec<ExaminedEvent>,
    /// The selected ones.
    pub(super) targets: BTreeSet<Position>,
    /// Whether all events are selected, except derived ones.
    is_all: bool,
}

/// Properties of an event during the selection.
pub(super) struct ExaminedEvent {
    position: Position,
    bytes: u64,
    role: Role,
}

/// Role of an event when a part of a session is forgotten.
enum Role {
    /// The event holds session state and is forgotten only with the whole session.
    Stays,
    /// The event is derived from others and can be derived again, or records a read: it is forgotten with its source.
    Derived,
    /// The event deleted these checkpoints: it is forgotten when they all are.
    Deleted(Vec<CheckpointKey>),
    /// The event saved this checkpoint, with these objects.
    Saved(CheckpointKey, Vec<Hash>),
    /// Any other event.
    Own,
}

/// Returns whether events of this kind are derived from a session's content, or record a read of it.
#[must_use]
pub fn is_derived(event: &LoggedEvent) -> bool {
    event.header.kind.has(|policy| match policy.in_part {
        PartialForget::Derived => true,
        PartialForget::DerivedByDaemon => event.header.actor.is_daemon(),
        PartialForget::Stays | PartialForget::Own => false,
    })
}

impl Role {
    fn of(event: &LoggedEvent) -> Result<Self, Error> {
        if is_derived(event) {
            return Ok(Self::Derived);
        }
        if event
            .header
            .kind
            .has(|policy| policy.in_part == PartialForget::Stays)
        {
            return Ok(Self::Stays);
        }
        let Some(Event::Checkpoint(checkpoint)) = Event::of(event)? else {
            return Ok(Self::Own);
        };
        Ok(match checkpoint {
            CheckpointEvent::Deleted(CheckpointsDeleted { gone, .. }) => {
                Self::Deleted(gone.into_iter().map(|gone| gone.checkpoint).collect())
            }
            CheckpointEvent::Saved(saved) => {
                let links = saved.parts.iter().flat_map(|part| &part.chain);
                let objects = links.map(|link| link.hash).collect();
                Self::Saved(saved.checkpoint, objects)
            }
            CheckpointEvent::KeyMarked(_) => Self::Own,
        })
    }
}

impl SelectionContext<'_> {
    /// Selects the content of a session.
    pub(super) fn session(
        &self,
        selector: &ForgetSelector,
        session: &str,
        row: &SessionRow,
        up_to: Position,
    ) -> Result<SessionTarget, Refusal> {
        if let Some((rule, before)) = selector.rule {
            let is_due = match rule {
                Rule::SessionsClosed => row.closed > 0 && row.last_activity < before,
                Rule::SessionsUntouched => {
                    let looked_at = (self.looked_at)(session).unwrap_or(0);
                    row.last_activity.max(looked_at) < before
                }
                Rule::DocumentsReplaced | Rule::CapturedResults => false,
            };
            let goes = is_due && !self.is_held(session)?;
            return Ok(if goes {
                SessionTarget::Whole
            } else {
                SessionTarget::Nothing
            });
        }
        if selector.origin == Some(ContentOrigin::Import) {
            let first =
                Log::new(self.rows).stream(EventScope::Session(session), Position(0), up_to, 1)?;
            let Some((position, record)) = first.first() else {
                return Ok(SessionTarget::Nothing);
            };
            if self
                .event_lookup
                .event(*record, *position)?
                .header
                .origin
                .is_none()
            {
                return Ok(SessionTarget::Nothing);
            }
        }
        if !selector.is_of_events() {
            return Ok(SessionTarget::Whole);
        }
        self.events(selector, session, up_to)
    }

    /// Selects events of a session.
    fn events(
        &self,
        selector: &ForgetSelector,
        session: &str,
        up_to: Position,
    ) -> Result<SessionTarget, Refusal> {
        let ExaminedSession {
            looked,
            targets,
            is_all,
        } = self.examine(session, up_to, &mut |event| {
            Ok(selector.wants(&event.header) && comes_from(selector.origin.as_ref(), event)?)
        })?;
        if targets.is_empty() {
            return Ok(SessionTarget::Nothing);
        }
        if is_all {
            return Ok(SessionTarget::Whole);
        }
        let Some(mut part) = part(session, &looked, &targets) else {
            return Ok(SessionTarget::Nothing);
        };
        part.objects = self.no_more_needed(session, &looked, &targets)?;
        Ok(SessionTarget::Part(part))
    }

    /// Reads the events of a session, in order, and selects some of them.
    pub(super) fn examine(
        &self,
        session: &str,
        up_to: Position,
        selects: &mut dyn FnMut(&Arc<LoggedEvent>) -> Result<bool, Error>,
    ) -> Result<ExaminedSession, Refusal> {
        let scope = EventScope::Session(session);
        let mut looked = Vec::new();
        let mut targets: BTreeSet<Position> = BTreeSet::new();
        let mut is_all = true;
        for (position, record) in
            Log::new(self.rows).stream(scope, Position(0), up_to, usize::MAX)?
        {
            let event = self.event_lookup.event(record, position)?;
            if event.payload.is_none()
                || event.header.kind.records_forgetting()
                || forgotten::covers(self.rows, scope, position)?
            {
                continue;
            }
            let role = Role::of(&event)?;
            if selects(&event)? {
                targets.insert(position);
            } else if !matches!(role, Role::Derived) {
                is_all = false;
            }
            looked.push(ExaminedEvent {
                position,
                bytes: event.payload.as_ref().map_or(0, |payload| payload.bytes()),
                role,
            });
        }
        Ok(ExaminedSession {
            looked,
            targets,
            is_all,
        })
    }

    /// Returns the objects that a session uses only for forgotten checkpoints.
    pub(super) fn no_more_needed(
        &self,
        session: &str,
        looked: &[ExaminedEvent],
        targets: &BTreeSet<Position>,
    ) -> Result<BTreeSet<Hash>, Refusal> {
        let there = checkpoints::ids_of(self.rows, session)?;
        let needed = looked.iter().filter_map(|one| match &one.role {
            Role::Saved(checkpoint, objects)
                if there.contains(checkpoint) && !targets.contains(&one.position) =>
            {
                Some(objects)
            }
            Role::Saved(..) | Role::Stays | Role::Derived | Role::Deleted(_) | Role::Own => None,
        });
        let needed: BTreeSet<Hash> = needed.flatten().copied().collect();
        let used = checkpoints::objects_of(self.rows, session)?.into_iter();
        Ok(used.filter(|object| !needed.contains(object)).collect())
    }

    /// Returns whether a session is held: by a lease, the `keep` tag, or a checkpoint that never expires.
    pub(super) fn is_held(&self, session: &str) -> Result<bool, Refusal> {
        let leases = sessions::leases(self.rows, session, usize::MAX)?;
        let is_leased = leases.iter().any(|(_, lease)| lease.until > self.now);
        let tags = sessions::details(self.rows, session)?.tags;
        Ok(is_leased
            || tags.iter().any(|tag| tag == KEEP_TAG)
            || checkpoints::has_kept(self.rows, session)?)
    }
}

/// Returns the events to forget: the selected ones except those that stay, and the derived events after the first
/// selected event that is not derived.
pub(super) fn part(
    session: &str,
    looked: &[ExaminedEvent],
    targets: &BTreeSet<Position>,
) -> Option<StreamPart> {
    let is_its_own = |one: &&ExaminedEvent| {
        targets.contains(&one.position) && matches!(one.role, Role::Own | Role::Saved(..))
    };
    let first = looked.iter().find(is_its_own).map(|one| one.position);
    let saved: BTreeMap<CheckpointKey, Position> = looked
        .iter()
        .filter_map(|one| match &one.role {
            Role::Saved(checkpoint, _) => Some((*checkpoint, one.position)),
            Role::Stays | Role::Derived | Role::Deleted(_) | Role::Own => None,
        })
        .collect();
    let is_gone = |checkpoint: &CheckpointKey| {
        saved
            .get(checkpoint)
            .is_none_or(|position| targets.contains(position))
    };
    let goes = |one: &&ExaminedEvent| match &one.role {
        Role::Stays => false,
        Role::Derived => {
            let is_since = first.is_some_and(|first| one.position > first);
            is_since || targets.contains(&one.position)
        }
        Role::Deleted(gone) => gone.iter().all(is_gone),
        Role::Own | Role::Saved(..) => targets.contains(&one.position),
    };
    let going: Vec<&ExaminedEvent> = looked.iter().filter(goes).collect();
    if going.is_empty() {
        return None;
    }
    Some(StreamPart {
        positions: going.iter().map(|one| one.position).collect(),
        bytes: going.iter().map(|one| one.bytes).sum(),
        ..StreamPart::of(StreamName::Session(session.to_owned()))
    })
}

/// Returns whether an event comes from the tool or resolver in the selector, if there is one.
pub(super) fn comes_from(
    origin: Option<&ContentOrigin>,
    event: &Arc<LoggedEvent>,
) -> Result<bool, Error> {
    Ok(match origin {
        Some(ContentOrigin::Tool(tool)) => match Event::of(event)? {
            Some(Event::Step(StepEvent::Recorded(_))) => body::<StepRecorded>(event)?.tool == *tool,
            Some(Event::Message(MessageEvent::ToolCall(_))) => {
                body::<ToolRecorded>(event)?.tool == *tool
            }
            Some(_) | None => false,
        },
        Some(ContentOrigin::Resolver(resolver)) => match Event::of(event)? {
            Some(Event::Entity(EntityEvent::Resolved(resolved))) => resolved.resolver == *resolver,
            Some(_) | None => false,
        },
        Some(ContentOrigin::Source(_) | ContentOrigin::File(_) | ContentOrigin::Import) | None => {
            true
        }
    })
}
