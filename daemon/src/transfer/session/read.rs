//! Parses and validates a whole exported session; every error has its line number.

use lore::protocol::{SessionId, within_limits};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::check::Checker;
use super::kinds::Payload;
use super::lines::{FORMAT, Header, LastLine, Line, VERSION};
use crate::canonical::Canonical;
use crate::clock::parse_time;
use crate::error::Refusal;
use crate::log::ImportOrigin;
use crate::operation::check_agent;

/// Maximum size of the text, in bytes.
pub const TEXT_BYTES_MAX: usize = 32 << 20;
/// Maximum number of lines.
pub const LINES_MAX: usize = 100_000;
/// Maximum number of reported errors.
const FAULTS_MAX: usize = 20;
/// Maximum length of invalid text in an error, in characters.
const SHOWN_CHARS_MAX: usize = 40;

/// A parsed and validated session.
#[derive(Clone, Debug)]
pub struct ParsedSession {
    /// Content of the first line.
    pub header: Header,
    /// The events.
    pub events: Vec<ImportedEvent>,
}

/// A parsed event.
#[derive(Clone, Debug)]
pub struct ImportedEvent {
    /// Time and author.
    pub origin: ImportOrigin,
    /// Content of the event.
    pub payload: Payload,
    /// The context of a checkpoint.
    pub context: Option<Canonical>,
}

/// The error in a line and the expected value.
struct LineFault {
    line: usize,
    message: String,
}

/// Parses an exported session.
///
/// # Errors
/// `INVALID_INPUT` with the first invalid lines and their expected form, or the exceeded limit.
pub fn read(content: &str) -> Result<ParsedSession, Refusal> {
    read_at(content, 1)
}

/// Parses a part of a longer text, whose first line has number `first_line`.
pub fn read_at(content: &str, first_line: usize) -> Result<ParsedSession, Refusal> {
    let lines = lines_of(content)?;
    let refused = |mut faults: Vec<LineFault>, count| {
        for fault in &mut faults {
            fault.line += first_line.saturating_sub(1);
        }
        refused(faults, count)
    };
    let header = header(lines.first().copied().unwrap_or_default())
        .map_err(|message| refused(vec![LineFault { line: 1, message }], 1))?;
    let Some((last, events)) = lines.get(1..).unwrap_or_default().split_last() else {
        let message = "nothing follows it: the text was truncated".to_owned();
        return Err(refused(vec![LineFault { line: 1, message }], 1));
    };
    let mut reading = SessionReader::default();
    for (at, line) in events.iter().enumerate() {
        let read = reading.event(at as u64 + 1, line);
        reading.note(at + 2, read);
    }
    let whole = last_line(last, events.len() as u64);
    reading.note(lines.len(), whole.map(|()| None));
    if reading.faults.is_empty() {
        let end = reading.checker.end();
        reading.note(lines.len(), end.map(|()| None));
    }
    match reading.faults_count {
        0 => Ok(ParsedSession {
            header,
            events: reading.events,
        }),
        count => Err(refused(reading.faults, count)),
    }
}

/// Splits the text into lines; a final line break adds no empty line.
fn lines_of(content: &str) -> Result<Vec<&str>, Refusal> {
    let hint = "Export in parts is not possible: leave out lines of steps or checkpoints that are not \
                needed, and renumber the others.";
    if content.len() > TEXT_BYTES_MAX {
        return Err(Refusal::invalid(format!(
            "the text has {} bytes; at most {TEXT_BYTES_MAX} are imported at once",
            content.len()
        ))
        .hint(hint));
    }
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let content = content.strip_suffix('\n').unwrap_or(content);
    let count = memchr::memchr_iter(b'\n', content.as_bytes()).count() + 1;
    if count > LINES_MAX {
        return Err(Refusal::invalid(format!(
            "the text has {count} lines; at most {LINES_MAX} are imported at once"
        ))
        .hint(hint));
    }
    let lines = content.split('\n');
    Ok(lines
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .collect())
}

#[derive(Default)]
struct SessionReader {
    checker: Checker,
    events: Vec<ImportedEvent>,
    faults: Vec<LineFault>,
    faults_count: usize,
}

impl SessionReader {
    fn note(&mut self, line: usize, read: Result<Option<ImportedEvent>, String>) {
        match read {
            Ok(event) => self.events.extend(event),
            Err(message) => {
                self.faults_count += 1;
                if self.faults.len() < FAULTS_MAX {
                    self.faults.push(LineFault { line, message });
                }
            }
        }
    }

    fn event(&mut self, n: u64, text: &str) -> Result<Option<ImportedEvent>, String> {
        let line: Line<&RawValue> = object(text)?;
        if line.n != n {
            return Err(format!("`n` is {} where {n} comes next", line.n));
        }
        let at = parse_time(&line.at).ok_or_else(|| {
            format!(
                "`at` is not a valid time: {}; give RFC 3339 with an offset, such as \
                 2026-01-31T12:00:00.000000Z, from 1970 on",
                sanitized(&line.at)
            )
        })?;
        check_agent(&line.agent).map_err(|refusal| refusal.message)?;
        let payload = line.payload.get();
        if payload == "null" {
            return Err(
                "`payload` is null: what was forgotten cannot be imported; leave the line out and \
                 renumber the others"
                    .to_owned(),
            );
        }
        let payload = Payload::read(&line.kind, payload)
            .ok_or_else(|| unknown_kind(&line.kind))?
            .map_err(|error| format!("`payload` of a {}: {}", line.kind, describe(&error)))?;
        let context = self.checker.check(n, &payload)?;
        Ok(Some(ImportedEvent {
            origin: ImportOrigin {
                at,
                agent: line.agent,
            },
            payload,
            context,
        }))
    }
}

/// Parses one JSON object of this type.
fn object<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, String> {
    if text.trim().is_empty() {
        return Err("it is empty; every line is a JSON object".to_owned());
    }
    within_limits(text.as_bytes()).map_err(|refusal| refusal.message)?;
    serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Eof => {
            "it ends in the middle of its JSON: the text was truncated".to_owned()
        }
        serde_json::error::Category::Syntax
        | serde_json::error::Category::Data
        | serde_json::error::Category::Io => format!(
            "{} at column {}; it begins {}",
            describe(&error),
            error.column(),
            sanitized(text)
        ),
    })
}

/// Returns the error without serde's position, which is reported separately or refers to the payload.
fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => what.to_owned(),
        None => text,
    }
}

fn header(text: &str) -> Result<Header, String> {
    let map: Map<String, Value> = object(text).map_err(|what| {
        format!("{what}; the first line is {{\"format\":\"{FORMAT}\",\"version\":{VERSION},…}}")
    })?;
    match map.get("format") {
        Some(Value::String(format)) if format == FORMAT => {}
        Some(format) => {
            return Err(format!(
                "`format` is {}, not \"{FORMAT}\": this is not an exported session",
                sanitized(&format.to_string())
            ));
        }
        None => {
            return Err(format!(
                "`format`: \"{FORMAT}\" is missing, so this is not an exported session"
            ));
        }
    }
    match map.get("version") {
        Some(version) if *version == json!(VERSION) => {}
        Some(version) => {
            return Err(format!(
                "`version` is {}; only {VERSION} can be read: export it with a program that writes \
                 that, or import it with a newer one",
                sanitized(&version.to_string())
            ));
        }
        None => return Err(format!("`version` is missing; expected {VERSION}")),
    }
    let header: Header = object(text)?;
    SessionId::new(header.session.as_str())
        .map_err(|error| format!("`session` is not an id: {error}"))?;
    let is_name = |text: &String| {
        !text.is_empty() && text.len() <= 1024 && !text.chars().any(char::is_control)
    };
    if !header.project.as_ref().is_none_or(is_name) {
        return Err("`project` has 1 to 1024 bytes and no control characters".to_owned());
    }
    Ok(header)
}

fn last_line(text: &str, events: u64) -> Result<(), String> {
    let wanted = format!("{{\"end\":{{\"events\":{events}}}}}");
    match object::<LastLine>(text) {
        Ok(last) if last.end.events == events => Ok(()),
        Ok(last) => Err(format!(
            "{} events were exported and {events} are here: lines are missing or too many",
            last.end.events
        )),
        Err(what) => Err(format!("the last line is {wanted}: {what}")),
    }
}

fn unknown_kind(kind: &str) -> String {
    let near = lore::protocol::nearest(kind, Payload::KINDS.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; near to it: {near}"));
    format!("unknown kind {} in this version{near}", sanitized(kind))
}

/// Returns the beginning of a text for an error message.
pub fn sanitized(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("{shown:?}")
}

fn refused(faults: Vec<LineFault>, count: usize) -> Refusal {
    let Some(first) = faults.first() else {
        return Refusal::invalid("nothing was imported");
    };
    let more = match count - 1 {
        0 => String::new(),
        1 => " One more line is broken.".to_owned(),
        more => format!(" {more} more lines are broken."),
    };
    let faults: Vec<Value> = faults
        .iter()
        .map(|fault| json!({"line": fault.line, "message": fault.message}))
        .collect();
    Refusal::invalid(format!("line {}: {}", first.line, first.message))
        .hint(format!(
            "Nothing was imported.{more} docs/session-format.md says what a line holds."
        ))
        .details(json!({"faults": faults, "count": count}))
}
