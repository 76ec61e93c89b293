//! Selection outside sessions: whole projects, and the events of an agent or a time range in a project or in the
//! global stream.

use std::collections::{BTreeMap, BTreeSet};

use super::{ForgetSelector, Selection, SelectionContext, StreamPart};
use crate::error::Refusal;
use crate::events::Event;
use crate::log::{EventKind, EventScope, Log, LoggedEvent, Position, StreamName, forgotten};
use crate::projects::{self, FileVersion, ProjectEvent};
use crate::store::Error;

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
            let is_meant = is_whole || (may_go(&event) && selector.wants(&event.header));
            if !is_meant {
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

fn kept(event: &LoggedEvent) -> Result<String, Error> {
    Ok(match FileVersion::made_by(event)? {
        Some(file) => format!(
            "version {} of `{}` is what the project `{}` says now",
            file.version, file.file_type, file.project
        ),
        None => format!("position {} is in use", event.position()),
    })
}
