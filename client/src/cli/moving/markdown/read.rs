//! Imports an exported folder: sessions and facts that the store does not have yet.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lore::connection::Error;
use lore::protocol::Code;
use serde_json::{Value, json};

use super::page::{self, events, split};
use super::{FACTS, SESSIONS};
use crate::cli::flag::Fields;
use crate::cli::input::{file_text, named};
use crate::cli::moving::put;
use crate::cli::parser::Matches;
use crate::cli::{Caller, Exit, Failure};

/// Longest file, in bytes; the daemon takes no larger session.
const BYTES_MAX: u64 = 32 << 20;

/// What became of the files.
#[derive(Default)]
struct Counts {
    sessions: usize,
    facts: usize,
    known: usize,
    unread: Vec<String>,
}

/// Imports a folder. A second time it finds everything here.
pub fn import(matches: &Matches, caller: &mut Caller, folder: &Path) -> Result<Exit, Failure> {
    let is_dry = matches.is("dry-run");
    let mut counts = Counts::default();
    for path in files(&folder.join(SESSIONS))? {
        match session(caller, &path, is_dry)? {
            Some(true) => counts.sessions += 1,
            Some(false) => counts.known += 1,
            None => counts.unread.push(file_name(&path)),
        }
    }
    let stated = super::facts(caller, None)?;
    let stated = stated.iter().map(|fact| fact.text.to_lowercase());
    let mut stated: BTreeSet<String> = stated.collect();
    for path in files(&folder.join(FACTS))? {
        match fact(caller, &path, &mut stated, is_dry)? {
            Some(true) => counts.facts += 1,
            Some(false) => counts.known += 1,
            None => counts.unread.push(file_name(&path)),
        }
    }
    let done = if is_dry {
        "would be recorded"
    } else {
        "recorded"
    };
    lore::errln!(
        "lore: {} sessions and {} facts {done}; {} were here already",
        counts.sessions,
        counts.facts,
        counts.known
    );
    for path in &counts.unread {
        lore::errln!("lore: {path} is not a file of an export; it was skipped");
    }
    Ok(Exit::Good)
}

fn file_name(path: &Path) -> String {
    crate::cli::output::sanitize(&path.display().to_string(), 0)
}

/// Returns the Markdown files of a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed.map_err(|error| named(&error, folder))?,
    };
    let mut found = Vec::new();
    for entry in listed {
        let entry = entry?;
        // A link may lead anywhere.
        let is_file = entry.file_type()?.is_file();
        let path = entry.path();
        if is_file && path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Records a session. Returns whether it is new; `None` if the file is not of an export.
fn session(caller: &mut Caller, path: &Path, is_dry: bool) -> Result<Option<bool>, Failure> {
    let text = file_text("the session", path, BYTES_MAX)?;
    let Some((fields, body)) = split(&text) else {
        return Ok(None);
    };
    let field = |name: &str| {
        fields
            .iter()
            .find(|(one, _)| one == name)
            .map(|(_, value)| value)
    };
    let Some(id) = field("session").and_then(Value::as_str) else {
        return Ok(None);
    };
    let begun = field("timestamp")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let mut first = json!({"format": "lore-session", "version": 1, "session": id});
    if let Some(project) = field("project").and_then(Value::as_str) {
        put(&mut first, "project", json!(project));
    }
    let mut lines = vec![first];
    let title = field("title").cloned().unwrap_or_default();
    let created = json!({"at": begun, "kind": "SessionCreated", "payload": {"title": title}});
    for (event, number) in std::iter::once(created).chain(events(body)).zip(1..) {
        let mut event = event;
        put(&mut event, "n", json!(number));
        lines.push(event);
    }
    lines.push(json!({"end": {"events": lines.len() - 1}}));
    let content: Vec<String> = lines.iter().map(Value::to_string).collect();
    let mut fields = Fields::default();
    fields.put("content", &(content.join("\n") + "\n"))?;
    if is_dry {
        fields.put("dry_run", &true)?;
    }
    match caller.call("import_session", fields) {
        Ok(_) => Ok(Some(true)),
        // It is here.
        Err(Failure::Call(Error::Refused(refused))) if refused.code == Code::Conflict => {
            Ok(Some(false))
        }
        Err(failure) => Err(failure),
    }
}

/// Remembers a fact that stands. Returns whether it is new; `None` if the file is not of an export.
fn fact(
    caller: &mut Caller,
    path: &Path,
    stated: &mut BTreeSet<String>,
    is_dry: bool,
) -> Result<Option<bool>, Failure> {
    let text = file_text("the fact", path, BYTES_MAX)?;
    let Some((fields, body)) = split(&text) else {
        return Ok(None);
    };
    let field = |name: &str| {
        let found = fields.iter().find(|(one, _)| one == name);
        found
            .and_then(|(_, value)| value.as_str())
            .unwrap_or_default()
    };
    let said = page::said(body);
    if said.is_empty() || field("message").is_empty() {
        return Ok(None);
    }
    let stands = matches!(field("state"), "current" | "disputed");
    if !stands || !stated.insert(said.to_lowercase()) {
        return Ok(Some(false));
    }
    if is_dry {
        return Ok(Some(true));
    }
    let mut fields = Fields::default();
    fields.put("text", &said)?;
    let kind = match field("type").to_lowercase().as_str() {
        "decision" | "choice" => "decision",
        "preference" => "preference",
        _ => "fact",
    };
    fields.put("kind", kind)?;
    let sender = if field("by") == "user" {
        "user"
    } else {
        "assistant"
    };
    fields.put("sender", sender)?;
    let name = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    fields.put("key", &format!("markdown:{name}"))?;
    caller.call("remember", fields)?;
    Ok(Some(true))
}
