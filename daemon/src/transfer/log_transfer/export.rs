//! Exports a log as JSON lines by page, up to one position.

use std::ops::ControlFlow;

use serde::Serialize;

use super::lines::{ContextVersion, EndLine, FORMAT, Header, LastLine, Line, Project, VERSIONS};
use super::sources::{self, ExportedSource};
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::events::Event;
use crate::events::projects::ProjectEvent;
use crate::log::{Header as EventHeader, Log, LoggedEvent, Position};
use crate::projects::{self, FileVersion};
use crate::sessions;
use crate::store::Error;
use crate::transfer::session::{self, ExportSource};

/// Maximum number of events read for one page.
const LOOKED_AT_MAX: usize = 50_000;

/// Maximum number of warnings of a page: a session has its own limit.
const WARNINGS_MAX: usize = 1_000;

/// Scope of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only this session.
    pub session: Option<String>,
    /// Only this project, with its sessions.
    pub project: Option<String>,
}

/// Start of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageStart {
    /// Number of lines before it.
    pub lines: u64,
    /// Stage of the export.
    pub at: ExportStage,
}

/// Stage of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportStage {
    /// Events outside sessions, after a position.
    Outside(Position),
    /// The next session after this id, in id order.
    Behind(String),
    /// The rest of a session.
    Within(String, session::PageCursor),
}

impl Default for PageStart {
    fn default() -> Self {
        Self {
            lines: 0,
            at: ExportStage::Outside(Position(0)),
        }
    }
}

/// A page of an export.
#[derive(Debug, Default)]
pub struct Page {
    /// Complete lines.
    pub content: String,
    /// Start of the next page; `None` at the end.
    pub next: Option<PageStart>,
    /// Recorded data that is not in the export.
    pub warnings: Vec<String>,
}

/// An export of everything up to a position.
pub struct Export<'e> {
    /// The data source.
    pub shelf: ExportSource<'e>,
    /// The scope.
    pub scope: Scope,
    /// The last exported position.
    pub up_to: Position,
}

impl Export<'_> {
    /// Exports lines from a position until they have `bytes_max` bytes or the export ends.
    pub fn page(&self, from: PageStart, bytes_max: usize) -> Result<Page, Refusal> {
        let mut page = Page::default();
        let mut place = from;
        if place == PageStart::default() {
            let format = FORMAT.to_owned();
            let version = self.version()?;
            page.push(&mut place, &Header { format, version })?;
        }
        loop {
            let next = match place.at.clone() {
                ExportStage::Outside(after) => {
                    self.global_event(&mut page, &mut place, after, bytes_max)?
                }
                ExportStage::Behind(session) => match self.session_behind(&session)? {
                    Some(next) => self.session(&mut page, &mut place, next, None, bytes_max)?,
                    None => break,
                },
                ExportStage::Within(session, at) => {
                    self.session(&mut page, &mut place, session, Some(at), bytes_max)?
                }
            };
            place.at = next;
            if page.content.len() >= bytes_max {
                page.next = Some(place);
                return Ok(page);
            }
        }
        let lines = place.lines;
        page.push(
            &mut place,
            &LastLine {
                end: EndLine { lines },
            },
        )?;
        Ok(page)
    }

    /// Exports events outside sessions, in log order.
    fn global_event(
        &self,
        page: &mut Page,
        place: &mut PageStart,
        after: Position,
        bytes_max: usize,
    ) -> Result<ExportStage, Refusal> {
        let behind_all = ExportStage::Behind(String::new());
        if self.scope.session.is_some() {
            return Ok(behind_all);
        }
        let mut found = Vec::new();
        let (mut bytes, mut looked_at, mut last) = (0, 0, after);
        let mut is_end = true;
        Log::new(self.shelf.rows).walk_all(Position(after.0 + 1), &mut |at, event, _| {
            if at > self.up_to {
                return Ok(ControlFlow::Break(()));
            }
            if bytes >= bytes_max || looked_at >= LOOKED_AT_MAX {
                is_end = false;
                return Ok(ControlFlow::Break(()));
            }
            looked_at += 1;
            last = at;
            let event = match event {
                Ok(event) => event,
                Err(error @ Error::Corrupt { .. }) => {
                    page.unreadable(at, &error);
                    return Ok(ControlFlow::Continue(()));
                }
                Err(error) => return Err(error),
            };
            if event.header.session.is_none() && event.payload.is_some() {
                bytes += event
                    .payload
                    .as_ref()
                    .map_or(0, |payload| payload.body.len());
                found.push(event);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        for event in &found {
            match self.export(page, place, event) {
                Err(refusal) if refusal.code == Code::Corrupt => {
                    page.unreadable(event.position(), &refusal.message);
                }
                exported => exported?,
            }
            // The data that an event refers to may be far larger than the event.
            if page.content.len() >= bytes_max {
                return Ok(ExportStage::Outside(event.position()));
            }
        }
        Ok(match is_end {
            true => behind_all,
            false => ExportStage::Outside(last),
        })
    }

    fn export(
        &self,
        page: &mut Page,
        place: &mut PageStart,
        event: &LoggedEvent,
    ) -> Result<(), Refusal> {
        let header = &event.header;
        let Some(project) = header.project.clone() else {
            return Ok(());
        };
        let is_wanted = |one: &String| *one == project;
        if !self.scope.project.as_ref().is_none_or(is_wanted) {
            return Ok(());
        }
        match Event::of(event)? {
            Some(Event::Project(ProjectEvent::Initialised(_))) => {
                // Exported once, where it was declared, with its current values.
                let row = projects::project(self.shelf.rows, &project)?;
                if let Some(row) = row.filter(|row| row.created_at == header.happened_at()) {
                    let (name, path) = (row.name, row.path);
                    let reported = Project {
                        project,
                        name,
                        path,
                    };
                    page.push(place, &line(header, "Project", reported))?;
                }
            }
            Some(Event::Project(ProjectEvent::Written(_))) => {
                let version = self.context_version(event, project)?;
                page.push(place, &line(header, "ContextVersion", version))?;
            }
            Some(Event::Document(_)) if self.scope.project.is_none() => {
                self.of_source(page, place, event, &project)?;
            }
            // Worktrees, drafts and shares are local to this machine; sessions are exported one by one.
            Some(
                Event::Project(
                    ProjectEvent::WorktreeSeen(_)
                    | ProjectEvent::DraftSaved(_)
                    | ProjectEvent::Shared(_),
                )
                | Event::Document(_)
                | Event::Session(_)
                | Event::Step(_)
                | Event::Message(_)
                | Event::Entity(_)
                | Event::Pack(_)
                | Event::Checkpoint(_)
                | Event::Capture(_)
                | Event::Trust(_)
                | Event::Forgetting(_),
            )
            | None => {}
        }
        Ok(())
    }

    /// Exports the lines of a source and of its uploaded documents.
    fn of_source(
        &self,
        page: &mut Page,
        place: &mut PageStart,
        event: &LoggedEvent,
        source: &str,
    ) -> Result<(), Refusal> {
        let exporter = sources::SourceExporter {
            shelf: self.shelf,
            up_to: self.up_to,
        };
        let header = &event.header;
        match exporter.export(event, source)? {
            ExportedSource::Nothing => Ok(()),
            ExportedSource::Source(source) => page.push(place, &line(header, "Source", source)),
            ExportedSource::Document(document) => {
                page.push(place, &line(header, "Document", document))
            }
            ExportedSource::Part(part) => page.push(place, &line(header, "DocumentPart", part)),
            ExportedSource::Left(why) => {
                page.warn(why);
                Ok(())
            }
        }
    }

    /// Returns the lowest format version that can represent the export.
    fn version(&self) -> Result<u32, Error> {
        let is_all = self.scope == Scope::default();
        let needs_last = is_all && sources::is_any_sent(self.shelf.rows)?;
        Ok(match needs_last {
            true => *VERSIONS.end(),
            false => *VERSIONS.start(),
        })
    }

    fn context_version(
        &self,
        event: &LoggedEvent,
        project: String,
    ) -> Result<ContextVersion, Error> {
        let named = FileVersion::made_by(event)?;
        let row = match &named {
            Some(named) => {
                projects::version(self.shelf.rows, &project, &named.file_type, named.version)?
            }
            None => None,
        };
        let Some(row) = row else {
            let key = event.position().0.to_be_bytes();
            return Err(Error::corrupt("log", &key, "a version of no context file"));
        };
        let (content, reason) = projects::imported(event)?;
        let content = content.map(|content| content.read(self.shelf.blobs));
        let written = row.written;
        Ok(ContextVersion {
            project,
            file_type: written.file_type,
            version: written.version,
            change: written.change,
            content: content.transpose()?,
            reason,
            diagnostics: (written.errors, written.warnings),
            attempt: (written.attempt > 0).then_some(written.attempt),
            base: written.base,
            beside: written.beside,
            conflicts: written.conflicts,
        })
    }

    /// Returns the next session within the scope, in id order.
    fn session_behind(&self, after: &str) -> Result<Option<String>, Refusal> {
        if let Some(only) = &self.scope.session {
            return Ok(after.is_empty().then(|| only.clone()));
        }
        let mut after = after.to_owned();
        while let Some(id) = sessions::id_after(self.shelf.rows, &after)? {
            let row = sessions::get(self.shelf.rows, &id)?;
            let is_wanted = self.scope.project.is_none()
                || row.is_some_and(|row| row.project == self.scope.project);
            if is_wanted {
                return Ok(Some(id));
            }
            after = id;
        }
        Ok(None)
    }

    fn session(
        &self,
        page: &mut Page,
        place: &mut PageStart,
        session: String,
        from: Option<session::PageCursor>,
        bytes_max: usize,
    ) -> Result<ExportStage, Refusal> {
        let lines = sessions::lineage(self.shelf.rows, &session)?;
        let export = session::Export {
            shelf: self.shelf,
            session: &session,
            lines: &lines,
            up_to: self.up_to,
        };
        let room = bytes_max.saturating_sub(page.content.len()).max(1);
        let is_first_page = from.is_none();
        let of_session = match export.page(from, room) {
            Ok(of_session) => of_session,
            // The session began after the last exported position.
            Err(refusal)
                if refusal.code == Code::SessionNotFound && self.scope.session.is_none() =>
            {
                return Ok(ExportStage::Behind(session));
            }
            // Its beginning is damaged.
            Err(refusal)
                if refusal.code == Code::Corrupt
                    && is_first_page
                    && self.scope.session.is_none() =>
            {
                let why = refusal.message;
                page.warn(format!(
                    "session {session}: it cannot be read and is not exported: {why}"
                ));
                return Ok(ExportStage::Behind(session));
            }
            Err(refusal) => return Err(refusal),
        };
        place.lines += memchr::memchr_iter(b'\n', of_session.content.as_bytes()).count() as u64;
        page.content.push_str(&of_session.content);
        let of_it = |warning: String| format!("session {session}: {warning}");
        of_session
            .warnings
            .into_iter()
            .for_each(|warning| page.warn(of_it(warning)));
        Ok(match of_session.next {
            Some(next) => ExportStage::Within(session, next),
            None => ExportStage::Behind(session),
        })
    }
}

fn line<P>(header: &EventHeader, kind: &str, payload: P) -> Line<P> {
    Line {
        at: format_time(header.happened_at()),
        agent: header.author().to_owned(),
        kind: kind.to_owned(),
        payload,
    }
}

impl Page {
    /// Adds a warning once, within the limit.
    fn warn(&mut self, warning: String) {
        if !self.warnings.contains(&warning) && self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(warning);
        }
    }

    /// Warns of a damaged event, or of one whose content is damaged.
    fn unreadable(&mut self, at: Position, why: &dyn std::fmt::Display) {
        self.warn(format!(
            "the event at position {at} cannot be read and is not exported: {why}"
        ));
    }

    fn push(&mut self, place: &mut PageStart, line: &impl Serialize) -> Result<(), Refusal> {
        place.lines += 1;
        session::push_line(&mut self.content, line)
    }
}

impl PageStart {
    /// Encodes the position as a cursor's key: lines (u64), stage (u8), then a position (u64), or an id, or a position,
    /// a number (u64) and an id.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        let mut key = self.lines.to_be_bytes().to_vec();
        match &self.at {
            ExportStage::Outside(after) => {
                key.push(0);
                key.extend(after.0.to_be_bytes());
            }
            ExportStage::Behind(session) => {
                key.push(1);
                key.extend(session.as_bytes());
            }
            ExportStage::Within(session, place) => {
                key.push(2);
                key.extend(place.after.0.to_be_bytes());
                key.extend(place.n.to_be_bytes());
                key.extend(session.as_bytes());
            }
        }
        key
    }

    /// Decodes a cursor's key; `None` when it is invalid.
    #[must_use]
    pub fn of_key(key: &[u8]) -> Option<Self> {
        let number = |bytes: &[u8]| {
            let (number, rest) = bytes.split_first_chunk::<8>()?;
            Some((u64::from_be_bytes(*number), rest.to_vec()))
        };
        let (lines, rest) = number(key)?;
        let (what, rest) = rest.split_first()?;
        let at = match what {
            0 => ExportStage::Outside(Position(number(rest)?.0)),
            1 => ExportStage::Behind(String::from_utf8(rest.to_vec()).ok()?),
            2 => {
                let (after, rest) = number(rest)?;
                let (n, rest) = number(&rest)?;
                let after = Position(after);
                ExportStage::Within(
                    String::from_utf8(rest).ok()?,
                    session::PageCursor { after, n },
                )
            }
            _ => return None,
        };
        Some(Self { lines, at })
    }
}
