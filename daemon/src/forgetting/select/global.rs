//! Selection outside sessions: whole projects, and the events of an agent or a time range in a project or in the
//! global stream.

use std::collections::{BTreeMap, BTreeSet};

use super::{ForgetSelector, Selection, SelectionContext, StreamPart};
use crate::budget;
use crate::error::Refusal;
use crate::events::Event;
use crate::log::{EventKind, EventScope, Log, LoggedEvent, Position, StreamName, forgotten};
use crate::projects::{self, FileVersion, ProjectEvent, imported};
use crate::steps::Text;
use crate::store::{Blobs, Error};

/// Returns whether a stream outside sessions belongs to a document source.
pub(super) fn is_source(looking: &SelectionContext<'_>, stream: &str) -> Result<bool, Refusal> {
    let scope = EventScope::Project(stream);
    let first = Log::new(looking.rows).stream(scope, Position(0), Position(u64::MAX - 1), 1)?;
    Ok(match first.first() {
        Some((position, record)) => {
            looking.event_lookup.event(*record, *position)?.header.kind == EventKind::SourceAdded
        }
        None => false,
    })
}

/// Returns whether an event is a version or draft of a context file.
fn is_context(event: &LoggedEvent) -> bool {
    let kind = event.header.kind.known();
    matches!(
        kind,
        Some(EventKind::ContextWritten | EventKind::ContextDrafted)
    )
}

/// Returns whether an event may be forgotten while its stream continues.
fn may_go(event: &LoggedEvent) -> bool {
    event.header.kind.has(|policy| policy.may_go_alone)
}

impl SelectionContext<'_> {
    /// Selects projects, whole or in part, and events outside projects.
    pub(super) fn projects(
        &self,
        selector: &ForgetSelector,
        selected: &mut Selection,
    ) -> Result<(), Refusal> {
        let is_whole = selector.project.is_some() && !selector.is_of_events();
        if selector.project.is_none() {
            self.outside_stream(selector, StreamName::Global, false, selected)?;
        }
        for project in self.outside()? {
            if selector
                .project
                .as_ref()
                .is_none_or(|wanted| *wanted == project)
                && !is_source(self, &project)?
            {
                self.outside_stream(selector, StreamName::Project(project), is_whole, selected)?;
            }
        }
        Ok(())
    }

    fn outside_stream(
        &self,
        selector: &ForgetSelector,
        stream: StreamName,
        is_whole: bool,
        selected: &mut Selection,
    ) -> Result<(), Refusal> {
        let scope = stream.scope();
        let (mut positions, mut bytes) = (Vec::new(), 0);
        let mut packs: Vec<(Position, u64)> = Vec::new();
        let mut drafts = Drafts::default();
        let mut versions = 0;
        let mut held_lines = HeldLines::default();
        let present = self.present(&stream)?;
        for (position, record) in
            Log::new(self.rows).stream(scope, Position(0), selected.up_to, usize::MAX)?
        {
            let event = self.event_lookup.event(record, position)?;
            if event.payload.is_none()
                || event.header.kind.records_forgetting()
                || forgotten::covers(self.rows, scope, position)?
            {
                continue;
            }
            let held = event.payload.as_ref().map_or(0, |payload| payload.bytes());
            if !is_whole && event.header.kind == EventKind::PackMade {
                packs.push((position, held));
                continue;
            }
            let is_theirs = may_go(&event) && selector.wants(&event.header);
            let is_by_agent = !is_whole && selector.of_agent.is_some();
            let holds_theirs = is_by_agent && held_lines.note(&event, is_theirs, self.blobs)?;
            if holds_theirs && !is_theirs && present.contains(&position) {
                selected.keep(kept_for_theirs(&event)?);
                drafts.note(&event, held)?;
                continue;
            }
            if !is_whole && !is_theirs && !holds_theirs {
                drafts.note(&event, held)?;
                continue;
            }
            if !is_whole && present.contains(&position) {
                selected.keep(kept(&event)?);
                drafts.note(&event, held)?;
                continue;
            }
            for (draft, held) in drafts.ended_by(&event)? {
                versions += 1;
                bytes += held;
                positions.push(draft);
            }
            versions += u64::from(is_context(&event));
            bytes += held;
            positions.push(position);
        }
        // Packs hold hashes of the forgotten content: they are forgotten from its first event on.
        let first = positions.first().copied();
        for (position, held) in packs {
            if first.is_some_and(|first| position > first) {
                bytes += held;
                positions.push(position);
            }
        }
        if positions.is_empty() {
            return Ok(());
        }
        positions.sort_unstable();
        selected.reported.projects += u64::from(is_whole);
        selected.reported.context_versions += versions;
        selected.parts.push(StreamPart {
            positions,
            is_whole,
            bytes,
            ..StreamPart::of(stream)
        });
        Ok(())
    }

    /// Returns the positions of the current versions of a project's context files: they belong to the project, not to
    /// their author.
    fn present(&self, stream: &StreamName) -> Result<BTreeSet<Position>, Refusal> {
        let StreamName::Project(project) = stream else {
            return Ok(BTreeSet::new());
        };
        let files = projects::files(self.rows, project)?.into_iter();
        Ok(files.map(|(_, row)| Position(row.position)).collect())
    }
}

/// A current version of a context file that holds text of selected versions of others.
pub struct HeldFile {
    /// The project.
    pub project: String,
    /// Type of the file.
    pub file_type: String,
    /// Number of the version.
    pub version: u64,
    /// Its content without that text.
    pub without: String,
}

impl SelectionContext<'_> {
    /// Lists the current versions of context files that hold text of selected versions, but are not selected themselves.
    ///
    /// # Errors
    /// A row, an event or a blob cannot be read.
    pub fn held_files(&self, selector: &ForgetSelector) -> Result<Vec<HeldFile>, Refusal> {
        let mut found = Vec::new();
        let is_of_files = selector.of_agent.is_some()
            && selector.session.is_none()
            && selector.origin.is_none()
            && selector.rule.is_none();
        for project in self.outside()? {
            let is_wanted = selector.project.as_ref();
            if !is_of_files || is_wanted.is_some_and(|wanted| *wanted != project) {
                continue;
            }
            let present = self.present(&StreamName::Project(project.clone()))?;
            let scope = EventScope::Project(&project);
            let mut lines = HeldLines::default();
            let end = Position(u64::MAX - 1);
            for (position, record) in
                Log::new(self.rows).stream(scope, Position(0), end, usize::MAX)?
            {
                let event = self.event_lookup.event(record, position)?;
                let is_theirs = may_go(&event) && selector.wants(&event.header);
                let is_held =
                    event.payload.is_some() && lines.note(&event, is_theirs, self.blobs)?;
                if !is_held || is_theirs || !present.contains(&position) {
                    continue;
                }
                if let (Some(file), (Some(text), _), Some(blobs)) =
                    (FileVersion::made_by(&event)?, imported(&event)?, self.blobs)
                {
                    let without =
                        lines.without(&file.file_type, &budget::passing(|| text.read(blobs))?);
                    found.push(HeldFile {
                        without,
                        project: file.project,
                        file_type: file.file_type,
                        version: file.version,
                    });
                }
            }
        }
        Ok(found)
    }
}

/// The lines of each context file by the version that introduced them: a version that others made of a forgotten one
/// holds its text.
#[derive(Default)]
struct HeldLines(BTreeMap<String, projects::FileLines>);

impl HeldLines {
    /// Records the next version, which is selected itself if it `is_theirs`. Returns whether the version, or a draft, holds
    /// text of selected versions.
    fn note(
        &mut self,
        event: &LoggedEvent,
        is_theirs: bool,
        blobs: Option<&Blobs>,
    ) -> Result<bool, Error> {
        let of = Event::of(event)?;
        let file_type = match &of {
            Some(Event::Project(ProjectEvent::Written(written))) => &written.file_type,
            Some(Event::Project(ProjectEvent::DraftSaved(drafted))) => &drafted.file_type,
            Some(_) | None => return Ok(false),
        };
        let (Some(text), _) = imported(event)? else {
            return Ok(false);
        };
        let text = match (text, blobs) {
            (Text::Inline(text), _) => text,
            (text, Some(blobs)) => budget::passing(|| text.read(blobs))?,
            (Text::Blob { .. }, None) => return Ok(false),
        };
        let lines = self.0.entry(file_type.clone()).or_default();
        Ok(match is_context_version(event) {
            true => lines.add(&text, is_theirs),
            false => lines.is_in(&text),
        })
    }
}

impl HeldLines {
    fn without(&self, file_type: &str, content: &str) -> String {
        let of = self.0.get(file_type);
        of.map_or_else(|| content.to_owned(), |lines| lines.without(content))
    }
}

fn is_context_version(event: &LoggedEvent) -> bool {
    event.header.kind == EventKind::ContextWritten
}

/// Remaining drafts, by file and author. A draft that was ended by a forgotten version would reappear without it.
#[derive(Default)]
struct Drafts(BTreeMap<(String, String), Vec<(Position, u64)>>);

impl Drafts {
    /// Records an event that stays.
    fn note(&mut self, event: &LoggedEvent, bytes: u64) -> Result<(), Error> {
        if let Some(Event::Project(ProjectEvent::DraftSaved(drafted))) = Event::of(event)? {
            let whose = (drafted.file_type, event.header.author().to_owned());
            let draft = (event.position(), bytes);
            self.0.entry(whose).or_default().push(draft);
        }
        // An event that stays continues to end these drafts.
        self.ended_by(event).map(drop)
    }

    /// Returns the drafts that a forgotten event ended.
    fn ended_by(&mut self, event: &LoggedEvent) -> Result<Vec<(Position, u64)>, Error> {
        let Some(Event::Project(ProjectEvent::Written(written))) = Event::of(event)? else {
            return Ok(Vec::new());
        };
        let whose = (written.file_type, event.header.author().to_owned());
        Ok(self.0.remove(&whose).unwrap_or_default())
    }
}

/// Describes a current version of another agent that holds text of selected versions.
fn kept_for_theirs(event: &LoggedEvent) -> Result<String, Error> {
    let why = "a new version does not hold the text of the forgotten ones";
    Ok(format!("{}; {why}", kept(event)?))
}

fn kept(event: &LoggedEvent) -> Result<String, Error> {
    Ok(match FileVersion::made_by(event)? {
        Some(file) => format!(
            "version {} of `{}` is what the project `{}` says now",
            file.version, file.file_type, file.project
        ),
        None => format!("position {} is in use", event.position()),
    })
}
