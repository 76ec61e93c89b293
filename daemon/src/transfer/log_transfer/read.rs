//! Parses and validates lines of an exported log; every error has its line number.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::lines::{
    ContextVersion, FORMAT, Header, KINDS, LastLine, Line, Project, Source, VERSIONS,
};
use super::sources::{self, Document, DocumentPart};
use crate::clock::parse_time;
use crate::error::Refusal;
use crate::log::ImportOrigin;
use crate::operation::check_agent;
use crate::projects::Change;
use crate::projects::disk::{Name, is_project};
use crate::transfer::session::{ParsedSession, SESSION_FORMAT, read_at, sanitized};

/// Maximum length of the name and path of a project, in bytes.
const NAME_BYTES_MAX: usize = 4096;
/// Maximum version of a context file: far below the type's maximum, so that there is always a next one.
const VERSION_MAX: u64 = 1_000_000_000;

/// Parsed and validated lines of an exported log.
#[derive(Debug, Default)]
pub struct LogPart {
    /// Projects, versions of their context files, and uploaded documents, in order, each with its line number.
    pub outside: Vec<(usize, ImportOrigin, GlobalEvent)>,
    /// Paths of sources that read local files.
    pub sources: Vec<String>,
    /// The sessions.
    pub sessions: Vec<Session>,
}

/// An entry outside sessions.
#[derive(Clone, Debug, PartialEq)]
pub enum GlobalEvent {
    /// A project.
    Project(Project),
    /// A version of a context file.
    Version(Box<ContextVersion>),
    /// A source of uploaded documents.
    Source(Box<Source>),
    /// An uploaded document, with its first part.
    Document(Box<Document>),
    /// A further part of an uploaded document.
    Part(Box<DocumentPart>),
}

impl GlobalEvent {
    /// Length of its content as a context file, in bytes.
    #[must_use]
    pub fn content_bytes(&self) -> u64 {
        match self {
            Self::Project(_) | Self::Source(_) | Self::Document(_) | Self::Part(_) => 0,
            Self::Version(version) => version.content.as_ref().map_or(0, |text| text.len() as u64),
        }
    }
}

/// A session and its position in the text.
#[derive(Debug)]
pub struct Session {
    /// Number of its first line.
    pub line: usize,
    /// Its lines, unchanged.
    pub text: String,
    /// The parsed lines.
    pub imported: ParsedSession,
}

/// The fields of a line that show its kind.
#[derive(Default, Deserialize)]
struct LineHeader {
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    version: Option<Value>,
    #[serde(default)]
    end: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    kind: Option<String>,
}

/// Parses lines, the first of which has number `first_line`.
///
/// # Errors
/// `INVALID_INPUT` with the first invalid line and its expected form.
pub fn read(content: &str, first_line: usize) -> Result<LogPart, Refusal> {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content);
    let mut part = LogPart::default();
    let mut rest = content;
    let mut at = first_line;
    while !rest.is_empty() {
        let (line, behind) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = line.strip_suffix('\r').unwrap_or(line);
        let sight = sight(line).map_err(|what| fault(at, &what))?;
        if sight.format.as_deref() == Some(SESSION_FORMAT) {
            let text = session_of(rest).ok_or_else(|| {
                fault(
                    at,
                    "the session that begins here has no end: the text was truncated",
                )
            })?;
            let imported = read_at(text, at)?;
            let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
            part.sessions.push(Session {
                line: at,
                text: text.to_owned(),
                imported,
            });
            rest = rest.get(text.len()..).unwrap_or_default();
            at += lines;
            continue;
        }
        part.add(at, line, sight).map_err(|what| fault(at, &what))?;
        at += 1;
        rest = behind;
    }
    Ok(part)
}

/// Returns the lines of a session at the beginning of a text, with line breaks; `None` when its end is missing.
fn session_of(text: &str) -> Option<&str> {
    let mut bytes = 0;
    for line in text.split_inclusive('\n') {
        bytes += line.len();
        if is_end(line) {
            return text.get(..bytes);
        }
    }
    None
}

fn is_end(line: &str) -> bool {
    // The text search comes first, because most lines are events, some of them long.
    line.contains("\"end\"") && sight(line).is_ok_and(|sight| sight.end.is_some())
}

fn sight(line: &str) -> Result<LineHeader, String> {
    lore::protocol::within_limits(line.as_bytes()).map_err(|refusal| refusal.message)?;
    serde_json::from_str(line).map_err(|error| {
        format!(
            "it is not a JSON object ({error}): every line is one; it begins {}",
            sanitized(line)
        )
    })
}

fn fault(line: usize, what: &str) -> Refusal {
    Refusal::invalid(format!("line {line}: {what}"))
        .hint("docs/export-format.md says what a line holds.")
        .details(serde_json::json!({"faults": [{"line": line, "message": what}], "count": 1}))
}

fn object<T: DeserializeOwned>(line: &str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| error.to_string())
}

impl LogPart {
    fn add(&mut self, at: usize, line: &str, sight: LineHeader) -> Result<(), String> {
        if let Some(format) = &sight.format {
            return header(at, line, format, sight.version.as_ref());
        }
        if sight.end.is_some() {
            let last: LastLine = object(line)?;
            let (said, is) = (last.end.lines, at as u64 - 1);
            return match said == is {
                true => Ok(()),
                false => Err(format!(
                    "{said} lines were exported and {is} are here: lines are missing or too many"
                )),
            };
        }
        let kind = sight.kind.unwrap_or_default();
        let outside = match kind.as_str() {
            "Project" => GlobalEvent::Project(project(line)?),
            "ContextVersion" => GlobalEvent::Version(Box::new(version(line)?)),
            "Source" => {
                let source = object::<Line<Source>>(line)?.payload;
                if !source.sent {
                    self.sources.push(source.path);
                    return Ok(());
                }
                sources::source(&source)?;
                GlobalEvent::Source(Box::new(source))
            }
            "Document" => {
                let document = object::<Line<Document>>(line)?.payload;
                sources::document(&document)?;
                GlobalEvent::Document(Box::new(document))
            }
            "DocumentPart" => {
                let part = object::<Line<DocumentPart>>(line)?.payload;
                sources::part(&part)?;
                GlobalEvent::Part(Box::new(part))
            }
            _ => return Err(unknown(&kind)),
        };
        let line: Line<&RawValue> =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        self.outside.push((at, origin(&line)?, outside));
        Ok(())
    }
}

fn header(at: usize, line: &str, format: &str, version: Option<&Value>) -> Result<(), String> {
    if format != FORMAT {
        return Err(format!(
            "`format` is {}, not \"{FORMAT}\" or \"{SESSION_FORMAT}\"",
            sanitized(format)
        ));
    }
    match version {
        Some(version) if is_read(version) => {}
        Some(version) => {
            return Err(format!(
                "`version` is {}; {} to {} can be read: import it with a newer program",
                sanitized(&version.to_string()),
                VERSIONS.start(),
                VERSIONS.end()
            ));
        }
        None => {
            return Err(format!(
                "`version` is missing; expected {}",
                VERSIONS.start()
            ));
        }
    }
    if at != 1 {
        return Err("the line with `format` must come first, and once".to_owned());
    }
    object::<Header>(line).map(drop)
}

fn is_read(version: &Value) -> bool {
    let version = version
        .as_u64()
        .and_then(|version| u32::try_from(version).ok());
    version.is_some_and(|version| VERSIONS.contains(&version))
}

fn origin(line: &Line<&RawValue>) -> Result<ImportOrigin, String> {
    let at = parse_time(&line.at).ok_or_else(|| {
        format!(
            "`at` is not a valid time: {}; give RFC 3339 with an offset, such as 2026-01-31T12:00:00.000000Z",
            sanitized(&line.at)
        )
    })?;
    check_agent(&line.agent).map_err(|refusal| refusal.message)?;
    let agent = line.agent.clone();
    Ok(ImportOrigin { at, agent })
}

fn project(line: &str) -> Result<Project, String> {
    let reported = object::<Line<Project>>(line)?.payload;
    check_project(&reported.project)?;
    for (field, text) in [("name", &reported.name), ("path", &reported.path)] {
        if text.is_empty() || text.len() > NAME_BYTES_MAX || text.chars().any(char::is_control) {
            return Err(format!(
                "`{field}` has 1 to {NAME_BYTES_MAX} bytes and no control characters"
            ));
        }
    }
    Ok(reported)
}

fn check_project(id: &str) -> Result<(), String> {
    match is_project(id) {
        true => Ok(()),
        false => Err(format!(
            "`project` is {}; an id has 1 to 100 characters of `a-z`, `0-9`, `_` and `-`",
            sanitized(id)
        )),
    }
}

fn version(line: &str) -> Result<ContextVersion, String> {
    let reported = object::<Line<ContextVersion>>(line)?.payload;
    Name::new(&reported.project, &reported.file_type).map_err(|error| error.to_string())?;
    let is_cleared = reported.change == Change::Cleared;
    if reported.content.is_some() == is_cleared {
        return Err("a version has a `content` unless it was `cleared`".to_owned());
    }
    match reported.version {
        1..=VERSION_MAX => Ok(reported),
        other => Err(format!(
            "`version` is {other}; versions count from 1 to {VERSION_MAX}"
        )),
    }
}

fn unknown(kind: &str) -> String {
    let near = lore::protocol::nearest(kind, KINDS);
    let near = near.map_or_else(String::new, |near| format!("; near to it: {near}"));
    format!(
        "unknown kind {} outside a session{near}; events of a session stand behind its line with \
         `format`: \"{SESSION_FORMAT}\"",
        sanitized(kind)
    )
}
