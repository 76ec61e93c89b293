//! The view of sessions: their rows, their details, and each caller's last session.
//!
//! | key | value |
//! | --- | --- |
//! | `s` session | [`SessionRow`] |
//! | `d` session | [`Details`] |
//! | `g` session 0 agent | position of that agent's first event in it |
//! | `l` session 0 name | [`Lease`] |
//! | `k` parent 0 session | position up to which the session shares its parent's past |
//! | `n` created · `u` user 0 created · `j` project 0 created | session, by the time and position of its creation |
//! | `v` user 0 position (u64, inverted) | the user's preferences from that position on, and their session |
//! | `c` hash of uid, agent, project | time and session of that caller's last event |
//! | `h` hash of a host session, position | a session that it created while it had none, or joined; the last is its own |
//! | `o` session | key of that row |
//! | `x` session 0 position (u64) | a session whose work it continues from that position on: position (u64), id |
//! | `y` session 0 model | calls of that model and their tokens: [`ModelUse`] |
//! | `p` project · `t` | [`Counts`] of a project · of the store |
//! | `f` `q` session | tombstone of a forgotten session: see [`super::tombstone`] |

mod continued;
mod details;
mod lease;
mod list;
mod model_use;

use std::ops::ControlFlow;

use super::host::HostSession;
use super::tombstone;
use crate::clock::Micros;
use crate::events::capture::{CaptureEvent, ObservationDetails};
use crate::events::sessions::SessionEvent;
use crate::events::{Event, body};
use crate::log::{Actor, EventKind, Hash, Header, LoggedEvent, index};
use crate::rows::{self, key, key_in};
use crate::store::{Direction, Error, Keyspace, Rows, RowsMut, after_prefix, remove_all};

pub use continued::{continued_by, continued_from};
pub use details::{Details, agents, details, forks_of, preferences_of};
pub use lease::{Lease, lease, leases};
pub use list::{ListPlace, SessionFilter, newest, of_project};
pub use model_use::{ModelUse, model_use};

/// Keyspace of this view, version 8: what models took.
pub const SPACE: Keyspace = Keyspace::new("sessions.8");

/// What an observation is that says what a call of a model took: see `lored_hosts::Observed::kind`.
const TOKENS: &str = "tokens";

/// Row of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Position of its first event.
    pub created: u64,
    /// Time of its first event.
    pub created_at: Micros,
    /// Time at which its last event was recorded that the daemon did not record by itself.
    pub last_activity: Micros,
    /// Project in which it was created.
    pub project: Option<String>,
    /// Number of recorded step attempts.
    pub steps: u64,
    /// Position of its last changing event, which excludes events that only record reads.
    pub changed: u64,
    /// Position of the event that closed it; 0 while it is open.
    pub closed: u64,
    /// Last position that it shares with its parent; 0 when it is not a fork.
    pub forked: u64,
    /// Position of the first step, message or other content; 0 when it has none. Its own events are no content.
    pub content: u64,
    /// Position of the last changing event of a caller. What the daemon derives from a session later does not make it
    /// newer than one in which someone worked since.
    pub used: u64,
    /// Time at which the last of these happened: before it was recorded, if it was imported.
    pub used_at: Micros,
}

/// Totals of the store or a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of sessions.
    pub sessions: u64,
    /// Number of recorded step attempts.
    pub steps: u64,
}

/// Effects of an event on its session, in addition to its metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventEffects {
    /// The event is a recorded step.
    pub is_step: bool,
    /// The event only records a read and does not change the session.
    pub is_no_change: bool,
    /// The event is folded again after later ones: the caller's last session is already recorded.
    pub is_again: bool,
}

impl SessionRow {
    fn encode(&self) -> Vec<u8> {
        let numbers = [
            self.created,
            self.created_at,
            self.last_activity,
            self.steps,
            self.changed,
            self.closed,
            self.forked,
            self.content,
            self.used,
            self.used_at,
        ];
        // An empty text means no project: project ids are never empty.
        rows::numbers(
            numbers,
            self.project.as_deref().unwrap_or_default().as_bytes(),
        )
    }

    fn decode(value: &[u8]) -> Option<Self> {
        let (numbers, project) = rows::split_text(value)?;
        let [
            created,
            created_at,
            last_activity,
            steps,
            changed,
            closed,
            forked,
            content,
            used,
            used_at,
        ] = numbers;
        Some(Self {
            created,
            created_at,
            last_activity,
            project: Some(project).filter(|project| !project.is_empty()),
            steps,
            changed,
            closed,
            forked,
            content,
            used,
            used_at,
        })
    }
}

impl Counts {
    fn of(rows: &dyn Rows, key: &[u8]) -> Result<Self, Error> {
        let counts = rows::read(rows, SPACE, key, |value| {
            let ([sessions, steps], _) = rows::split(value)?;
            Some(Self { sessions, steps })
        })?;
        Ok(counts.unwrap_or_default())
    }
}

/// Returns whether events of a kind are what agents and people come back to a session for.
const fn is_content(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::StepRecorded
            | EventKind::MessageRecorded
            | EventKind::ToolRecorded
            | EventKind::EntitiesFound
            | EventKind::EntitiesRelated
            | EventKind::EntityResolved
            | EventKind::CheckpointSaved
    )
}

fn caller_key(actor: &Actor, project: Option<&str>) -> Vec<u8> {
    let mut name = actor.uid.to_be_bytes().to_vec();
    for part in [actor.agent.as_str(), project.unwrap_or_default()] {
        name.extend(part.as_bytes());
        name.push(0);
    }
    key(b'c', Hash::of(&name).0)
}

/// Folds an event: its session's row, its caller's row, the counts, and the content of session events.
pub fn apply(
    rows: &mut dyn RowsMut,
    event: &LoggedEvent,
    meta: Option<&Event>,
    effects: EventEffects,
) -> Result<(), Error> {
    let Some(session) = &event.header.session else {
        return Ok(());
    };
    let header = &event.header;
    let own = match meta {
        Some(Event::Session(SessionEvent::Forgotten(_) | SessionEvent::Erased)) => {
            return tombstone::apply(rows, session, header);
        }
        Some(Event::Session(own)) => Some(own),
        Some(_) | None => None,
    };
    // Also for a session whose content was forgotten.
    let is_new = header.kind == EventKind::SessionCreated;
    let session_key = key(b's', session);
    let mut row = match rows::read(rows, SPACE, &session_key, SessionRow::decode)? {
        Some(row) => row,
        None if tombstone::forgotten(rows, session)?.is_some() => {
            let reason = "an event after the session was forgotten";
            return Err(Error::corrupt(SPACE.name(), &session_key, reason));
        }
        None => {
            list::begin(rows, session, header);
            SessionRow {
                created: header.position.0,
                created_at: header.happened_at(),
                last_activity: header.time,
                project: header.project.clone(),
                steps: 0,
                changed: header.position.0,
                closed: 0,
                forked: 0,
                content: 0,
                used: header.position.0,
                used_at: header.happened_at(),
            }
        }
    };
    // What the daemon derives or forgets by itself is no use of the session.
    if !header.actor.is_daemon() {
        row.last_activity = header.time;
    }
    row.steps += u64::from(effects.is_step);
    if !effects.is_no_change {
        row.changed = header.position.0;
        if !header.actor.is_daemon() {
            row.used = header.position.0;
            row.used_at = row.used_at.max(header.happened_at());
        }
        if row.content == 0 && header.kind.known().is_some_and(is_content) {
            row.content = header.position.0;
        }
    }
    if let Some(SessionEvent::Closed) = own {
        row.closed = header.position.0;
    }
    if let Some(SessionEvent::Created(origin)) = own
        && let Some(parent) = &origin.parent
    {
        row.forked = parent.position;
        index::note_step(rows, session, parent.last_step)?;
    }
    rows.put(SPACE, &session_key, &row.encode());
    details::note_agent(rows, session, header)?;
    // An import is not work in the session, and the daemon's derived events are not a caller's last event.
    if header.origin.is_none() && !header.actor.is_daemon() && !effects.is_again {
        let caller_key = caller_key(&header.actor, header.project.as_deref());
        let caller = rows::numbers([header.time], session.as_bytes());
        rows.put(SPACE, &caller_key, &caller);
    }
    if let Some(SessionEvent::Created(origin)) = own
        && let Some(host) = &origin.host
    {
        put_host(rows, session, header, host);
    }
    if let Some(Event::Capture(CaptureEvent::Observed(observed))) = meta {
        if let Some(host) = &observed.joined {
            join_host(rows, session, header, host);
        }
        if let Some(other) = observed
            .continues
            .as_ref()
            .filter(|other| other.session != *session)
        {
            continued::note(rows, session, header.position, other);
        }
        if observed.what == TOKENS {
            model_use::note(rows, session, &body::<ObservationDetails>(event)?)?;
        }
    }
    if is_new || effects.is_step {
        count(rows, row.project.as_deref(), |counts| {
            counts.sessions += u64::from(is_new);
            counts.steps += u64::from(effects.is_step);
        })?;
    }
    match own {
        Some(SessionEvent::Created(origin)) => {
            details::create(rows, header, session, origin.clone(), body(event)?)
        }
        Some(SessionEvent::Updated) => details::update(rows, header, session, body(event)?),
        Some(SessionEvent::Leased(leased)) => lease::take(rows, session, event, leased),
        Some(SessionEvent::Released(released)) => {
            lease::release(rows, session, &released.name);
            Ok(())
        }
        Some(SessionEvent::Closed | SessionEvent::Forgotten(_) | SessionEvent::Erased) | None => {
            Ok(())
        }
    }
}

/// Makes a session the own one of the host session that created it.
fn put_host(rows: &mut dyn RowsMut, session: &str, header: &Header, host: &str) {
    let of_host = join_host(rows, session, header, host);
    rows.put(SPACE, &key(b'o', session), &of_host);
}

/// Makes a session the own one of a host session. Returns the key of the row, which may outlive the session: a forgotten
/// session is nobody's.
fn join_host(rows: &mut dyn RowsMut, session: &str, header: &Header, host: &str) -> Vec<u8> {
    let host = HostSession::new(host.to_owned(), header.actor.uid, header.project.as_deref());
    let mut of_host = key(b'h', host.hash().0);
    of_host.extend(header.position.0.to_be_bytes());
    rows.put(SPACE, &of_host, session.as_bytes());
    of_host
}

/// Returns the own session of a host session, by the hash of the latter: the last of those that were not forgotten.
pub fn of_host(rows: &dyn Rows, hash: &Hash) -> Result<Option<String>, Error> {
    let prefix = key(b'h', hash.0);
    let (mut last, backward) = (None, Direction::Backward);
    rows.scan(
        SPACE,
        &prefix,
        &after_prefix(&prefix),
        backward,
        &mut |_, session| {
            last = rows::text(session);
            Ok(ControlFlow::Break(()))
        },
    )?;
    Ok(last)
}

/// Removes a session from its host session.
fn forget_host(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    let own = key(b'o', session);
    if let Some(of_host) = rows.get(SPACE, &own)? {
        rows.remove(SPACE, &of_host);
        rows.remove(SPACE, &own);
    }
    Ok(())
}

/// Changes the counts of the store and of a session's project. A row of zeros is removed.
fn count(
    rows: &mut dyn RowsMut,
    project: Option<&str>,
    change: impl Fn(&mut Counts),
) -> Result<(), Error> {
    let of_project = project.map(|project| key(b'p', project));
    for key in [Some(key(b't', "")), of_project].into_iter().flatten() {
        let mut counts = Counts::of(rows, &key)?;
        change(&mut counts);
        if counts == Counts::default() {
            rows.remove(SPACE, &key);
        } else {
            rows.put(
                SPACE,
                &key,
                &rows::numbers([counts.sessions, counts.steps], &[]),
            );
        }
    }
    Ok(())
}

/// Removes all rows of a session from this view, and subtracts it from the counts.
pub fn forget(rows: &mut dyn RowsMut, session: &str) -> Result<(), Error> {
    let session_key = key(b's', session);
    let Some(row) = get(rows, session)? else {
        return Ok(());
    };
    details::forget(rows, session, ListPlace::of_row(&row))?;
    list::forget(rows, &row);
    forget_host(rows, session)?;
    for tag in [b'g', b'l', continued::TAG, model_use::TAG] {
        remove_all(rows, SPACE, &key_in(tag, session, ""))?;
    }
    rows.remove(SPACE, &session_key);
    count(rows, row.project.as_deref(), |counts| {
        counts.sessions = counts.sessions.saturating_sub(1);
        counts.steps = counts.steps.saturating_sub(row.steps);
    })
}

/// Returns the session with this id, if it exists.
pub fn get(rows: &dyn Rows, session: &str) -> Result<Option<SessionRow>, Error> {
    rows::read(rows, SPACE, &key(b's', session), SessionRow::decode)
}

/// Returns whether a session with this id exists.
pub fn exists(rows: &dyn Rows, session: &str) -> Result<bool, Error> {
    Ok(rows.get(SPACE, &key(b's', session))?.is_some())
}

/// Returns the session and time of a caller's last event in a project.
pub fn last_of(
    rows: &dyn Rows,
    actor: &Actor,
    project: Option<&str>,
) -> Result<Option<(String, Micros)>, Error> {
    rows::read(rows, SPACE, &caller_key(actor, project), |value| {
        let ([at], session) = rows::split_text(value)?;
        Some((session, at))
    })
}

/// Returns the totals of the store.
pub fn counts(rows: &dyn Rows) -> Result<Counts, Error> {
    Counts::of(rows, &key(b't', ""))
}

/// Returns the totals of a project.
pub fn project_counts(rows: &dyn Rows, project: &str) -> Result<Counts, Error> {
    Counts::of(rows, &key(b'p', project))
}

/// Returns session ids in order, at most `limit`.
pub fn ids(rows: &dyn Rows, limit: usize) -> Result<Vec<String>, Error> {
    named(rows, b's', limit)
}

/// Returns the first session id after another one.
pub fn id_after(rows: &dyn Rows, after: &str) -> Result<Option<String>, Error> {
    let (low, high) = (key_in(b's', after, ""), after_prefix(b"s"));
    let mut found = None;
    rows.scan(SPACE, &low, &high, Direction::Forward, &mut |key, _| {
        let name = key.get(1..).unwrap_or_default();
        found = Some(String::from_utf8_lossy(name).into_owned());
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// Returns the names of one kind of row, in order, at most `limit`.
pub(super) fn named(rows: &dyn Rows, tag: u8, limit: usize) -> Result<Vec<String>, Error> {
    rows::list(rows, SPACE, &[tag], limit, |name, _| rows::text(name))
}
