//! Selection of documents: whole removed sources, and texts that were replaced or removed.

use std::collections::{BTreeMap, BTreeSet};

use super::global::is_source;
use super::{ForgetSelector, Selection, SelectionContext, StreamPart, Text};
use crate::clock::Micros;
use crate::documents::{self, DocumentEvent};
use crate::error::{Code, Refusal};
use crate::forgetting::forget_command::RANGES_MAX;
use crate::hint::{Tool, aside, hint};
use crate::log::{EventScope, Log, LoggedEvent, Position, StreamName, forgotten};

/// Limit on the documents that one reason names.
const PRESENT_TOLD_MAX: usize = 20;

/// One text of a document, over all its parts.
struct Version {
    document: String,
    /// Absolute path of the file.
    path: String,
    positions: Vec<Position>,
    bytes: u64,
    /// Time of its replacement or removal.
    over: Option<Micros>,
    /// Position of the document's next text.
    until: Position,
    /// Whether the selector matches the headers of all its events.
    is_meant: bool,
}

/// The texts of a source, collected from its events.
#[derive(Default)]
struct Versions {
    /// Path of the source.
    base: String,
    all: Vec<Version>,
    /// Current version of each document.
    present: BTreeMap<String, usize>,
    /// Last version of each document.
    last: BTreeMap<String, usize>,
}

impl Versions {
    fn path(&self, path: &str) -> String {
        let is_file = self.base.rsplit('/').next() == Some(path);
        if is_file {
            self.base.clone()
        } else {
            format!("{}/{path}", self.base.trim_end_matches('/'))
        }
    }

    fn end(&mut self, document: &str, at: Micros) {
        if let Some(version) = self.present.remove(document)
            && let Some(version) = self.all.get_mut(version)
        {
            version.over = Some(at);
        }
    }

    fn add(&mut self, event: &LoggedEvent, change: DocumentEvent, is_meant: bool) {
        let at = event.header.time;
        let bytes = event.payload.as_ref().map_or(0, |payload| payload.bytes());
        match change {
            DocumentEvent::SourceAdded(added) => self.base = added.path,
            DocumentEvent::SourceRemoved => {
                let all: Vec<String> = self.present.keys().cloned().collect();
                all.iter().for_each(|document| self.end(document, at));
            }
            DocumentEvent::Ingested(taken) => {
                self.end(&taken.document, at);
                self.present.insert(taken.document.clone(), self.all.len());
                let before = self.last.insert(taken.document.clone(), self.all.len());
                if let Some(before) = before.and_then(|before| self.all.get_mut(before)) {
                    before.until = event.position();
                }
                let path = self.path(&taken.path);
                self.all.push(Version {
                    document: taken.document,
                    path,
                    positions: vec![event.position()],
                    bytes,
                    over: None,
                    until: Position(u64::MAX),
                    is_meant,
                });
            }
            DocumentEvent::PartAdded(continued) => {
                let version = self.present.get(&continued.document).copied();
                if let Some(version) = version.and_then(|version| self.all.get_mut(version)) {
                    version.positions.push(event.position());
                    version.bytes += bytes;
                    version.is_meant &= is_meant;
                }
            }
            DocumentEvent::Removed(gone) => self.end(&gone.document, at),
            DocumentEvent::Restatted(_)
            | DocumentEvent::FileFailed(_)
            | DocumentEvent::FailureCleared(_) => {}
        }
    }
}

impl SelectionContext<'_> {
    /// Selects a whole removed source.
    pub(super) fn source(
        &self,
        source: &str,
        selector: &ForgetSelector,
        selected: &mut Selection,
    ) -> Result<(), Refusal> {
        if documents::source(self.rows, source)?.is_some() {
            let message =
                format!("`{source}` is a source still: its files would be taken in again");
            return Err(Refusal::new(Code::Conflict, message).hint(hint![
                "Remove the source first",
                aside(Tool::RemoveSource),
                ", then forget what it held."
            ]));
        }
        if !self.outside()?.iter().any(|name| name == source) || !is_source(self, source)? {
            let message = format!("there never was a source `{source}`");
            return Err(Refusal::new(Code::NotFound, message)
                .hint(hint![Tool::ListSources, " names those that there are."]));
        }
        let scope = EventScope::Project(source);
        let mut part = StreamPart {
            is_whole: !selector.is_of_events(),
            ..StreamPart::of(StreamName::Project(source.to_owned()))
        };
        let mut known = BTreeSet::new();
        for (position, record) in
            Log::new(self.rows).stream(scope, Position(0), selected.up_to, usize::MAX)?
        {
            let event = self.event_lookup.event(record, position)?;
            let is_told = event.header.kind.records_forgetting();
            if event.payload.is_none()
                || is_told
                || !selector.wants(&event.header)
                || forgotten::covers(self.rows, scope, position)?
            {
                continue;
            }
            match DocumentEvent::of(&event)? {
                Some(DocumentEvent::Ingested(taken)) => {
                    part.texts.push(Text {
                        document: taken.document.clone(),
                        since: position,
                        until: Position(u64::MAX),
                    });
                    known.insert(taken.document);
                }
                Some(DocumentEvent::PartAdded(_)) => {}
                // Events about the source's state are forgotten only with the whole source.
                Some(_) | None if !part.is_whole => continue,
                Some(_) | None => {}
            }
            part.bytes += event.payload.as_ref().map_or(0, |payload| payload.bytes());
            part.positions.push(position);
        }
        if !part.positions.is_empty() {
            selected.reported.sources += u64::from(part.is_whole);
            part.documents = known.len() as u64;
            selected.parts.push(part);
        }
        Ok(())
    }

    /// Selects texts of documents that no longer exist: below a path, or replaced before a time.
    pub(super) fn files(
        &self,
        path: Option<&str>,
        selector: &ForgetSelector,
        selected: &mut Selection,
    ) -> Result<(), Refusal> {
        if selector.session.is_some() || selector.project.is_some() {
            return Ok(());
        }
        for source in self.outside()? {
            if is_source(self, &source)? {
                let versions = self.versions(&source, selector, selected.up_to)?;
                let before = selector.rule.map(|(_, before)| before);
                let parts = selected.parts.len();
                choose(&source, versions, path, before, selected);
                // No path was given: the rest of the selection is forgotten without it.
                if path.is_none()
                    && before.is_none()
                    && let Some(part) = selected.parts.get(parts)
                    && self.is_too_long(part, selected.up_to)?
                {
                    selected.parts.truncate(parts);
                    selected.keep(format!(
                        "of the source `{source}`, which has more than {} events, no part can go: \
                         `remove_source`, then forget it whole by `origin`",
                        self.events_max
                    ));
                }
            }
        }
        Ok(())
    }

    fn versions(
        &self,
        source: &str,
        selector: &ForgetSelector,
        up_to: Position,
    ) -> Result<Versions, Refusal> {
        let scope = EventScope::Project(source);
        let mut versions = Versions::default();
        for (position, record) in
            Log::new(self.rows).stream(scope, Position(0), up_to, usize::MAX)?
        {
            if !forgotten::covers(self.rows, scope, position)? {
                let event = self.event_lookup.event(record, position)?;
                if let Some(change) = DocumentEvent::of(&event)? {
                    versions.add(&event, change, selector.wants(&event.header));
                }
            }
        }
        Ok(versions)
    }
}

/// Selects texts of a source. A rule selects whole texts, up to the limit of one commit.
fn choose(
    source: &str,
    versions: Versions,
    path: Option<&str>,
    before: Option<Micros>,
    selected: &mut Selection,
) {
    let mut part = StreamPart::of(StreamName::Project(source.to_owned()));
    // Each position may be a separate range. A rule cannot be narrowed, but runs again for the rest.
    let runs_max = before.map_or(usize::MAX, |_| RANGES_MAX);
    let mut known = BTreeSet::new();
    let mut present = Vec::new();
    for version in versions.all {
        let is_below = path.is_none_or(|path| {
            let rest = version.path.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
        let is_old = match (before, version.over) {
            (Some(before), Some(over)) => over < before,
            (Some(_), None) => continue,
            (None, _) => true,
        };
        if !is_below || !is_old || !version.is_meant {
            continue;
        }
        if version.over.is_none() {
            present.push(format!("`{}` (`{}`)", version.path, version.document));
            continue;
        }
        let runs = part.positions.len() + version.positions.len();
        if runs > runs_max && !part.positions.is_empty() {
            break;
        }
        part.texts.push(Text {
            since: version.positions.first().copied().unwrap_or_default(),
            until: version.until,
            document: version.document.clone(),
        });
        known.insert(version.document);
        part.bytes += version.bytes;
        part.positions.extend(version.positions);
    }
    if !part.positions.is_empty() {
        part.positions.sort_unstable();
        part.documents = known.len() as u64;
        selected.parts.push(part);
    }
    match path {
        Some(_) => {
            for one in &present {
                selected.keep(still(source, std::slice::from_ref(one)));
            }
        }
        // No path was given: reasons of one large source must not hide other reasons.
        None if !present.is_empty() => selected.keep(still(source, &present)),
        None => {}
    }
}

/// Explains why these documents stay.
fn still(source: &str, documents: &[String]) -> String {
    let reported = documents.iter().take(PRESENT_TOLD_MAX);
    let reported: Vec<&str> = reported.map(String::as_str).collect();
    let more = match documents.len() - reported.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let are = match documents {
        [_] => "is a document",
        _ => "are documents",
    };
    format!(
        "{}{more} {are} of the source `{source}` still: take the file away, exclude it, `remove_document` if \
         it was sent, or remove the source first; then forget again",
        reported.join(", ")
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Builds consecutive texts of two events each, all replaced at the moment 1.
    fn replaced(texts: u64) -> Versions {
        let all = (0..texts).map(|number| Version {
            document: format!("d-{number}"),
            path: format!("/notes/{number}.md"),
            positions: vec![Position(4 * number + 1), Position(4 * number + 3)],
            bytes: 10,
            over: Some(1),
            until: Position(u64::MAX),
            is_meant: true,
        });
        Versions {
            base: "/notes".to_owned(),
            all: all.collect(),
            present: BTreeMap::new(),
            last: BTreeMap::new(),
        }
    }

    fn select(texts: u64, before: Option<Micros>) -> StreamPart {
        let mut selected = Selection::default();
        choose("s", replaced(texts), None, before, &mut selected);
        assert_eq!(selected.parts.len(), 1);
        let part = selected.parts.pop().unwrap();
        assert_eq!(part.documents * 2, part.positions.len() as u64);
        assert_eq!(part.documents * 10, part.bytes);
        part
    }

    /// A rule selects whole texts within the range limit, and the rest in the next run; a caller who asks for more gets
    /// advice to narrow the selection.
    #[test]
    fn a_rule_takes_what_goes_at_once() {
        let texts = RANGES_MAX as u64 / 2;
        assert_eq!(select(texts, Some(2)).positions.len(), RANGES_MAX);
        let first = select(texts + 3, Some(2)).positions;
        assert_eq!(first, select(texts, Some(2)).positions);
        assert_eq!(select(texts + 3, None).positions.len(), RANGES_MAX + 6);
    }
}
