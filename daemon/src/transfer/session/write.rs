//! Exports a session as JSON lines by page.

use serde::Serialize;

use super::export::{ExportSource, ExportedEvent};
use super::kinds::{Created, Payload};
use super::lines::{EndLine, FORMAT, Header, LastLine, Line, VERSION};
use super::stream::{Stream, beginning};
use crate::clock::format_time;
use crate::error::{Code, Refusal};
use crate::log::{Header as EventHeader, Log, Position};
use crate::sessions::{self, Line as Lineage};

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
}

impl PageOmissions {
    /// Returns the line of an event, if any; otherwise counts the omission where it must be reported.
    pub(super) fn line(&mut self, reported: ExportedEvent) -> Option<Payload> {
        match reported {
            ExportedEvent::Line(payload) => return Some(payload),
            ExportedEvent::Local | ExportedEvent::Deleted => {}
            ExportedEvent::Forgotten => self.forgotten += 1,
            ExportedEvent::Left(reason) => {
                if !self.reasons.contains(&reason) {
                    self.reasons.push(reason);
                }
            }
        }
        None
    }

    pub(super) fn warnings(self) -> Vec<String> {
        let mut warnings = self.reasons;
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
        while let Some(event) = events.next()? {
            if page.content.len() >= bytes_max && !is_empty {
                page.next = Some(place);
                break;
            }
            place.after = event.position();
            if let Some(payload) = left.line(self.shelf.export(&event)?) {
                place.n += 1;
                page.push(&line(place.n, &event.header, payload))?;
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
