//! Exports a session as JSON lines by page.

use serde::Serialize;

use super::export::{ExportSource, ExportedEvent};
use super::kinds::{Created, Payload};
use super::lines::{EndLine, FORMAT, Header, LastLine, Line, VERSION};
use super::stream::{Stream, beginning};
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::log::{Header as EventHeader, Log, LoggedEvent, Position};
use crate::sessions::{self, Line as Lineage};
use crate::store::Error;

/// Maximum number of reasons for omissions in a page; the rest is counted.
const REASONS_MAX: usize = 100;

/// The export of a session up to a position.
pub struct Export<'e> {
    /// The data source.
    pub shelf: ExportSource<'e>,
    /// The id of the session.
    pub session: &'e str,
    /// The lineage: the session and the ancestors whose past it shares.
    pub lines: &'e [Lineage],
    /// The last exported position.
    pub up_to: Position,
}

/// Position between two pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCursor {
    /// The last exported event.
    pub after: Position,
    /// Its number.
    pub n: u64,
}

/// A page of an export.
#[derive(Debug, Default)]
pub struct Page {
    /// Complete lines.
    pub content: String,
    /// Start of the next page; `None` at the end.
    pub next: Option<PageCursor>,
    /// Data of the session that is not in the export.
    pub warnings: Vec<String>,
}

/// Omitted data of a page, for one combined report.
#[derive(Default)]
pub(super) struct PageOmissions {
    forgotten: u64,
    reasons: Vec<String>,
    /// Number of omissions whose reason is not listed.
    unlisted: u64,
}

impl PageOmissions {
    /// Converts an event of a stream; `None` when the export omits it, which is counted where it must be reported.
    pub(super) fn exported(
        &mut self,
        shelf: &ExportSource<'_>,
        position: Position,
        event: Result<LoggedEvent, Error>,
    ) -> Result<Option<(EventHeader, Payload)>, Error> {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                self.line(ExportedEvent::unreadable(position, &error));
                return Ok(None);
            }
        };
        let payload = self.line(shelf.export(&event)?);
        Ok(payload.map(|payload| (event.header, payload)))
    }

    /// Returns the line of an event, if any; otherwise counts the omission where it must be reported.
    pub(super) fn line(&mut self, reported: ExportedEvent) -> Option<Payload> {
        match reported {
            ExportedEvent::Line(payload) => return Some(payload),
            ExportedEvent::Local | ExportedEvent::Deleted => {}
            ExportedEvent::Forgotten => self.forgotten += 1,
            ExportedEvent::Left(reason) => {
                let is_listed = self.reasons.contains(&reason);
                if !is_listed && self.reasons.len() < REASONS_MAX {
                    self.reasons.push(reason);
                } else if !is_listed {
                    self.unlisted += 1;
                }
            }
        }
        None
    }

    pub(super) fn warnings(self) -> Vec<String> {
        let mut warnings = self.reasons;
        if self.unlisted > 0 {
            warnings.push(format!(
                "{} more events cannot be read and are not exported",
                self.unlisted
            ));
        }
        match self.forgotten {
            0 => {}
            1 => warnings.push("one event was forgotten on purpose and is not exported".to_owned()),
            count => warnings.push(format!(
                "{count} events were forgotten on purpose and are not exported"
            )),
        }
        warnings
    }
}

impl Export<'_> {
    /// The source log.
    pub(super) fn log(&self) -> Log<'_> {
        Log::new(self.shelf.rows)
    }

    /// Returns the header and the fields of the session's beginning.
    ///
    /// # Errors
    /// `SESSION_NOT_FOUND` when the session has no event up to the exported position.
    pub(super) fn beginning(&self) -> Result<(EventHeader, Created), Refusal> {
        let Some(event) = beginning(&self.log(), self.session, self.up_to)? else {
            return Err(Refusal::new(
                Code::SessionNotFound,
                format!("session `{}` not found", self.session),
            ));
        };
        let created = match self.shelf.export(&event)? {
            ExportedEvent::Line(Payload::SessionCreated(created)) => *created,
            // The session began without a creation event.
            _ => Created::default(),
        };
        Ok((event.header, created))
    }

    /// Streams the events after a position.
    pub(super) fn events(&self, after: Position) -> Stream<'_> {
        Stream::new(self.log(), self.lines, after, self.up_to)
    }

    /// Exports lines from a position, or from the start, until they have `bytes_max` bytes; at least one line.
    pub fn page(&self, from: Option<PageCursor>, bytes_max: usize) -> Result<Page, Refusal> {
        let mut page = Page::default();
        let mut left = PageOmissions::default();
        let mut place = match from {
            Some(place) => place,
            None => {
                self.first_lines(&mut page)?;
                PageCursor {
                    after: Position(0),
                    n: 1,
                }
            }
        };
        let mut events = self.events(place.after);
        let mut is_empty = from.is_some();
        while let Some((position, event)) = events.next()? {
            if page.content.len() >= bytes_max && !is_empty {
                page.next = Some(place);
                break;
            }
            place.after = position;
            if let Some((header, payload)) = left.exported(&self.shelf, position, event)? {
                place.n += 1;
                page.push(&line(place.n, &header, payload))?;
                is_empty = false;
            }
        }
        if page.next.is_none() {
            page.push(&LastLine {
                end: EndLine { events: place.n },
            })?;
        }
        page.warnings = left.warnings();
        Ok(page)
    }

    fn first_lines(&self, page: &mut Page) -> Result<(), Refusal> {
        let (header, created) = self.beginning()?;
        let row = sessions::get(self.shelf.rows, self.session)?;
        page.push(&Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            session: self.session.to_owned(),
            project: row.and_then(|row| row.project),
        })?;
        let payload = Payload::SessionCreated(Box::new(created));
        page.push(&line(1, &header, payload))
    }
}

fn line(n: u64, header: &EventHeader, payload: Payload) -> Line<Payload> {
    Line {
        n,
        at: format_time(header.happened_at()),
        agent: header.author().to_owned(),
        kind: payload.kind().to_string(),
        payload,
    }
}

impl Page {
    fn push(&mut self, line: &impl Serialize) -> Result<(), Refusal> {
        push_line(&mut self.content, line)
    }
}

/// Appends a line to the content of a page.
pub fn push_line(content: &mut String, line: &impl Serialize) -> Result<(), Refusal> {
    let line = serde_json::to_string(line).map_err(|error| {
        Refusal::new(Code::Internal, format!("a line does not encode: {error}"))
    })?;
    content.push_str(&line);
    content.push('\n');
    Ok(())
}
