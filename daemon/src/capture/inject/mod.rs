//! What is added to a model's context, and when: at each moment the text that fits, or nothing.
//!
//! What an item is and how it matches is decided by the pure crate `lored_moments`; here its inputs are read from the
//! trails of the project's sessions, and what was added is recorded as a pack ([`packs::receipt`]).

mod brief;
mod cited_lines;
mod compaction;
mod draft;
mod facts;
mod failure;
mod freshness;
mod handoff;
mod items;
pub(super) mod knowledge;
pub(super) mod meaning;
mod notes;
mod others;
mod point;
mod printed;
mod reading;
mod receipts;
mod sources;
mod turns;

use std::path::Path;
use std::sync::{Arc, Mutex};

use lored_hosts::Moment;
use lored_moments::edit_subject;
use lored_redact::Redactor;

use super::Capture;
use super::host_processes::HostProcesses;
use super::memory::{RememberedItem, SharedTrail, Trail, TrailEntry, TrailEvent};
use crate::checkpoints::Checkpoints;
use crate::clock::{Micros, format_time};
use crate::error::Refusal;
use crate::events::packs::PackPurpose;
use crate::locks::lock_unpoisoned;
use crate::log::Position;
use crate::operation::{Caller, Context, blocking};
use crate::packs::{self, AddedText};
use crate::projects::{Coordination, ProjectState};
use crate::search::SearchIndexes;
use crate::sessions::SessionRow;
use crate::state::State;
use crate::tokens::Tokens;

use draft::{Draft, added};
pub(super) use facts::{FactEntry, effect_of, facts_of};
pub(super) use handoff::handoff_of;
use knowledge::Knowledge;
pub use point::InjectionPoint;
use sources::ShownItems;

/// Bytes of a text: hosts cut longer ones, with the marks around them.
const BYTES_MAX: usize = lored_hosts::INJECTED_BYTES_MAX - 200;

/// The sessions of a project.
struct Project {
    /// Its ID.
    id: Option<String>,
    /// The session at whose moment they are read.
    own: String,
    /// The most recently changed first.
    sessions: Vec<(SessionRow, SharedTrail)>,
    /// What was recorded to be remembered, the oldest first.
    remembered: Arc<Vec<RememberedItem>>,
    /// State of the trails: it changes when something was forgotten.
    generation: u64,
    /// What the project knows.
    knowledge: Arc<Mutex<Knowledge>>,
}

impl Project {
    fn trails(&self) -> impl Iterator<Item = &SharedTrail> {
        self.sessions.iter().map(|(_, trail)| trail)
    }

    /// Returns the vector of a text, if the project's items have vectors to compare it with.
    fn vector(&self, cx: &Context, text: &str) -> Result<Option<Vec<f32>>, Refusal> {
        if !lock_unpoisoned(&self.knowledge).has_vectors() {
            return Ok(None);
        }
        Ok(meaning::of_prompt(SearchIndexes::of(cx)?.models(), text))
    }

    /// Reads the session's own trail.
    fn own_trail<T>(&self, read: impl Fn(&Trail) -> T) -> Option<T> {
        self.trails().find_map(|trail| {
            let trail = lock_unpoisoned(trail);
            (trail.session == self.own).then(|| read(&trail))
        })
    }
}

/// What is known of the work that starts.
struct WorkStart {
    /// The branch of the folder; may be empty.
    branch: String,
    /// The prompt with which it starts; may be empty.
    topic: String,
}

impl WorkStart {
    /// Reads the branch of a folder.
    fn of(cx: &Context, folder: Option<&str>, topic: &str) -> Result<Self, Refusal> {
        let projects = ProjectState::of(cx)?;
        let branch = folder.and_then(|folder| projects.branch_of(Path::new(folder)));
        Ok(Self {
            branch: branch.unwrap_or_default(),
            topic: topic.to_owned(),
        })
    }
}

/// What texts are written with.
struct Writer<'w> {
    tokens: &'w Tokens,
    folder: Option<&'w str>,
    now: Micros,
    /// Whether the user's files can be read.
    reaches_files: bool,
    /// What is said of them has no secrets.
    redactor: &'w Redactor,
    /// The processes of hosts.
    processes: &'w HostProcesses,
    /// What is said of others that work on the same files.
    coordination: Coordination,
}

impl<'w> Writer<'w> {
    fn new(
        cx: &'w Context,
        folder: Option<&'w str>,
        coordination: Coordination,
    ) -> Result<Self, Refusal> {
        Ok(Self {
            tokens: &Checkpoints::of(cx)?.tokens,
            folder,
            now: cx.engine.clock().now(),
            reaches_files: cx.reaches_files,
            redactor: &cx.redactor,
            processes: &Capture::of(cx)?.host_processes,
            coordination,
        })
    }

    fn count(&self) -> impl Fn(&str) -> usize + '_ {
        |text| self.tokens.count(text)
    }

    /// Returns a path as the agent in the folder knows it.
    fn shown_path<'p>(&self, path: &'p str) -> &'p str {
        let within = self.folder.and_then(|folder| {
            let rest = path.strip_prefix(folder)?;
            rest.strip_prefix('/')
        });
        within.unwrap_or(path)
    }

    /// Says how long ago something was.
    fn ago(&self, at: Micros) -> String {
        let minutes = self.now.saturating_sub(at) / 60_000_000;
        match minutes {
            0 => "now".to_owned(),
            1..=99 => format!("{minutes} min ago"),
            100..=2_879 => format!("{} h ago", minutes / 60),
            _ => format!("{} days ago", minutes / 1_440),
        }
    }

    /// Returns the day of a time.
    fn day(&self, at: Micros) -> String {
        let mut time = format_time(at);
        time.truncate(10);
        time
    }
}

/// What is added to a model's context.
#[derive(Debug, Default)]
pub(super) struct HookText {
    /// The text; may be empty.
    pub text: String,
    /// Whether it says that someone else works on a file that is about to be edited.
    pub is_collision: bool,
}

/// Decides what to add at a point of a session, records it, and returns it; empty if there is nothing to add. `at` is
/// the position of what the hook reported.
pub(super) async fn add(
    cx: &Arc<Context>,
    caller: &Caller,
    point: InjectionPoint,
    session: String,
    at: Position,
) -> HookText {
    match try_add(cx, caller, point, session, at).await {
        Ok(text) => text,
        Err(refusal) => {
            // The turn goes on without it.
            tracing::warn!(%refusal, "nothing was added to a model's context");
            HookText::default()
        }
    }
}

async fn try_add(
    cx: &Arc<Context>,
    caller: &Caller,
    point: InjectionPoint,
    session: String,
    at: Position,
) -> Result<HookText, Refusal> {
    let state = State::live(cx, Some(at)).await?;
    let read_at = state.position();
    let (shared, of) = (Arc::clone(cx), session.clone());
    let moment = point.moment;
    let (added, state) = blocking(move || {
        let added = decide(&shared, &state, &of, &point)?;
        Ok((added, state))
    })
    .await?;
    let (shared, of) = (Arc::clone(cx), session.clone());
    // The turn does not wait for it.
    tokio::task::spawn_blocking(move || {
        if let Err(refusal) = prepare(&shared, &state, &of, moment) {
            tracing::warn!(%refusal, "what the project knows was not gathered");
        }
    });
    let Some((added, is_collision)) = added else {
        return Ok(HookText::default());
    };
    let receipt = packs::receipt(cx, &session, read_at, &added);
    cx.write(caller, None, 0, receipt).await?;
    Ok(HookText {
        text: added.text,
        is_collision,
    })
}

/// Decides what to add, and whether it says that someone else works on a file that is about to be edited.
fn decide(
    cx: &Context,
    state: &State,
    session: &str,
    point: &InjectionPoint,
) -> Result<Option<(AddedText, bool)>, Refusal> {
    let capture = Capture::of(cx)?;
    let Some(own) = capture.trails.of(cx, state, session)? else {
        return Ok(None);
    };
    let writer = Writer::new(cx, point.folder.as_deref(), point.coordination)?;
    let moment = owed(&lock_unpoisoned(&own), point);
    let budget = moment.tokens_max();
    let mut is_collision = false;
    let draft = match moment {
        Moment::AfterCompaction => {
            let chain = handoff::chain(cx, state, own)?;
            handoff::read_chain(&chain, |trails| compaction::write(&writer, trails, budget))
        }
        Moment::ToolFailed => match &point.failure {
            Some((line, output)) => {
                let shown = ShownItems::to(&lock_unpoisoned(&own));
                let project = project_of(cx, state, &own)?;
                failure::write(&writer, &project, (line, output), &shown, budget)
            }
            None => None,
        },
        Moment::Start => {
            let (shown, since) = {
                let own = lock_unpoisoned(&own);
                (ShownItems::to(&own), brief::known_until(&own))
            };
            let project = project_of(cx, state, &own)?;
            let work = WorkStart::of(cx, point.folder.as_deref(), &point.text)?;
            let notes = notes::of(cx, state, &project, &shown)?;
            brief::write(&writer, &project, &work, &notes, (since, &shown), budget)
        }
        Moment::Prompt => {
            // The lock ends first: the trails of the project are read next.
            let shown = ShownItems::to(&lock_unpoisoned(&own));
            let project = project_of(cx, state, &own)?;
            let vector = project.vector(cx, &point.text)?;
            let prompt = (point.text.as_str(), vector.as_deref());
            items::for_prompt(&writer, &project, prompt, &shown, budget)
        }
        Moment::BeforeEdit => {
            let shown = ShownItems::to(&lock_unpoisoned(&own));
            let project = project_of(cx, state, &own)?;
            let first = point.edits.first();
            let subject = first.map(|(path, new)| edit_subject(writer.shown_path(path), new));
            let vector = match subject {
                Some(subject) => project.vector(cx, &subject)?,
                None => None,
            };
            let edits = (point.edits.as_slice(), vector.as_deref());
            let written = items::for_edit(&writer, &project, edits, &shown, budget);
            is_collision = written
                .as_ref()
                .is_some_and(|(_, is_collision)| *is_collision);
            written.map(|(draft, _)| draft)
        }
        Moment::BeforeSubagent => {
            let project = project_of(cx, state, &own)?;
            let vector = project.vector(cx, &point.text)?;
            items::for_task(&writer, &project, (&point.text, vector.as_deref()), budget)
        }
    };
    let Some(draft) = draft else {
        return Ok(None);
    };
    let wanted = point.text.clone();
    let added = added(state, &writer, purpose(moment), wanted, draft, budget)?;
    Ok(Some((added, is_collision)))
}

/// Returns the brief of a project, as the session `own` may see it, and its number of tokens; empty if nothing is known.
///
/// Reads the log; do not call it on the event loop.
///
/// # Errors
/// When a row or record cannot be read.
pub(super) fn brief_of(
    cx: &Context,
    state: &State,
    (project, own): (Option<String>, String),
    folder: Option<&str>,
    budget: usize,
) -> Result<(String, u64), Refusal> {
    let project = project_named(cx, state, project, own)?;
    let writer = Writer::new(cx, folder, Coordination::Warn)?;
    let work = WorkStart::of(cx, folder, "")?;
    let shown = ShownItems::default();
    let notes = notes::of(cx, state, &project, &shown)?;
    let draft = brief::write(&writer, &project, &work, &notes, (0, &shown), budget);
    let text = draft.map(|draft| draft.text).unwrap_or_default();
    let tokens = writer.tokens.count(&text) as u64;
    Ok((text, tokens))
}

/// Returns the agent of a session, and what it was asked last.
pub(super) fn agent_and_task(trail: &Trail) -> (String, Option<String>) {
    let task = brief::request(trail).map(|(_, text)| text.to_owned());
    (brief::agent(trail), task)
}

/// Returns the sessions of the project of a session; none if it has no project.
fn project_of(cx: &Context, state: &State, own: &SharedTrail) -> Result<Project, Refusal> {
    let (session, project) = {
        let own = lock_unpoisoned(own);
        (own.session.clone(), own.project.clone())
    };
    project_named(cx, state, project, session)
}

fn project_named(
    cx: &Context,
    state: &State,
    project: Option<String>,
    session: String,
) -> Result<Project, Refusal> {
    let capture = Capture::of(cx)?;
    let sessions = match &project {
        Some(project) => capture.trails.of_project(cx, state, project)?,
        None => Vec::new(),
    };
    let generation = capture.trails.generation();
    Ok(Project {
        id: project.clone(),
        own: session,
        sessions,
        remembered: capture
            .remembered
            .of(cx, state, project.as_deref(), generation)?,
        generation,
        knowledge: match &project {
            Some(project) => capture.knowledge.of(project),
            None => Arc::default(),
        },
    })
}

/// Gathers what the project of a session knows at its start, and makes vectors of what was said since, before the next
/// prompt waits for it.
fn prepare(cx: &Context, state: &State, session: &str, moment: Moment) -> Result<(), Refusal> {
    if !matches!(moment, Moment::Start | Moment::Prompt) {
        return Ok(());
    }
    if let Some(own) = Capture::of(cx)?.trails.of(cx, state, session)? {
        let project = project_of(cx, state, &own)?;
        if moment == Moment::Start {
            lock_unpoisoned(&project.knowledge).catch_up(&project, None);
        }
        let models = SearchIndexes::of(cx)?.models();
        if !lock_unpoisoned(&project.knowledge).items().is_empty() {
            // No caller waits for the result.
            drop(meaning::warm(models));
        }
        meaning::catch_up(models, &project.knowledge);
    }
    Ok(())
}

/// Returns the moment whose text is added: with a prompt also that of a start or a compaction whose event does not
/// reach the model of this host.
fn owed(own: &Trail, point: &InjectionPoint) -> Moment {
    let is_paid = |one: &&TrailEntry| match &one.event {
        TrailEvent::Shown(pack) => {
            matches!(
                pack.made_for,
                PackPurpose::Start | PackPurpose::AfterCompaction
            )
        }
        _ => false,
    };
    let is_debt = |one: &&TrailEntry| matches!(one.event, TrailEvent::Compacted);
    let mut newest = own.happened.iter().rev();
    if point.brings(Moment::AfterCompaction)
        && newest
            .find(|one| is_paid(one) || is_debt(one))
            .is_some_and(|one| is_debt(&one))
    {
        return Moment::AfterCompaction;
    }
    if point.brings(Moment::Start) && !own.happened.iter().any(|one| is_paid(&one)) {
        return Moment::Start;
    }
    point.moment
}

const fn purpose(moment: Moment) -> PackPurpose {
    match moment {
        Moment::Start => PackPurpose::Start,
        Moment::AfterCompaction => PackPurpose::AfterCompaction,
        Moment::Prompt => PackPurpose::Prompt,
        Moment::BeforeEdit => PackPurpose::BeforeEdit,
        Moment::ToolFailed => PackPurpose::ToolFailed,
        Moment::BeforeSubagent => PackPurpose::BeforeSubagent,
    }
}
