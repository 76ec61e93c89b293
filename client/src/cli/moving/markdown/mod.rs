//! `lore export --markdown` and `lore import --from markdown`: a folder that people and other programs read, one file for each
//! session and each fact.
//!
//! The files have YAML front matter as in Google's Open Knowledge Format 0.1: `type`, and `title`, `description`, `resource`,
//! `tags`, `timestamp`. Names are made of ids, so that a second export changes only what changed.

mod page;
mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use lore::protocol::facts::ListFactsReply;
use lore::protocol::sessions::{ExportSessionReply, ListSessionsReply, SessionSummary};
use serde_json::Value;

use crate::cli::atomic_output::write_whole;
use crate::cli::flag::Fields;
use crate::cli::input::named;
use crate::cli::parser::Matches;
use crate::cli::report::read as reply;
use crate::cli::{Caller, Exit, Failure};

pub use read::import;

/// The folders of sessions and of facts, and the list of all.
const SESSIONS: &str = "sessions";
const FACTS: &str = "facts";
const INDEX: &str = "index.md";
/// Sessions of one page, and facts of one project.
const PAGE: u64 = 500;
/// Bytes of a page of a session.
const PAGE_BYTES: u64 = 8 << 20;
/// What the front matter of our files has.
const GENERATOR: &str = "generator: lore\n";

/// Whether a folder was written by an export: other folders of Markdown files are documents.
pub fn is_export(folder: &Path) -> bool {
    let index = fs::read_to_string(folder.join(INDEX));
    index.is_ok_and(|text| text.starts_with("---\n") && text.contains(GENERATOR))
}

/// Writes everything, or one project.
pub fn export(matches: &Matches, caller: &mut Caller, folder: &Path) -> Result<Exit, Failure> {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let sessions = sessions(matches, caller)?;
    let mut projects: BTreeSet<Option<String>> = BTreeSet::new();
    for session in &sessions {
        projects.insert(session.project.clone());
        let lines = lines(caller, session)?;
        let name = format!("{SESSIONS}/{}.md", session.session);
        files.insert(name, page::session(session, &lines));
    }
    let mut facts = Vec::new();
    for project in projects.into_iter().flatten() {
        let mut fields = Fields::default();
        fields.put("project", &project)?;
        fields.put("include_replaced", &true)?;
        fields.put("limit", &PAGE)?;
        let listed: ListFactsReply = reply(&caller.call("list_facts", fields)?)?;
        for fact in listed.facts {
            let name = page::fact_name(&fact);
            files.insert(format!("{FACTS}/{name}.md"), page::fact(&fact, &project));
            facts.push((name, fact));
        }
    }
    files.insert(INDEX.to_owned(), page::index(&sessions, &facts));
    let changed = write(folder, &files)?;
    lore::errln!(
        "lore: {} sessions and {} facts in {}; {changed} files changed",
        sessions.len(),
        facts.len(),
        folder.display()
    );
    Ok(Exit::Good)
}

fn sessions(matches: &Matches, caller: &mut Caller) -> Result<Vec<SessionSummary>, Failure> {
    let mut all: Vec<SessionSummary> = Vec::new();
    let mut next: Option<String> = None;
    loop {
        let mut fields = Fields::default();
        fields.put_some("project", matches.text("project"))?;
        fields.put("state", "any")?;
        fields.put("limit", &PAGE)?;
        fields.put_some("next", next.as_ref())?;
        let page: ListSessionsReply = reply(&caller.call("list_sessions", fields)?)?;
        all.extend(page.sessions);
        if page.next.is_none() || page.next == next {
            return Ok(all);
        }
        next = page.next;
    }
}

/// Returns the lines of a session's export.
fn lines(caller: &mut Caller, session: &SessionSummary) -> Result<Vec<Value>, Failure> {
    let (mut text, mut next): (String, Option<String>) = (String::new(), None);
    loop {
        let mut fields = Fields::default();
        fields.put("session", &session.session)?;
        fields.put("bytes_max", &PAGE_BYTES)?;
        fields.put_some("next", next.as_ref())?;
        let page: ExportSessionReply = reply(&caller.call("export_session", fields)?)?;
        text += &page.content;
        if page.next.is_none() || page.next == next {
            break;
        }
        next = page.next;
    }
    let lines = text.lines().map(serde_json::from_str);
    let lines: Result<Vec<Value>, _> = lines.collect();
    lines.map_err(|error| io::Error::other(error).into())
}

/// Writes the files that differ, and removes those of an earlier export that are no more. Returns how many changed.
fn write(folder: &Path, files: &BTreeMap<String, String>) -> Result<usize, Failure> {
    let mut changed = 0;
    for part in [SESSIONS, FACTS] {
        let path = folder.join(part);
        fs::create_dir_all(&path).map_err(|error| named(&error, &path))?;
        let listed = fs::read_dir(&path).map_err(|error| named(&error, &path))?;
        for entry in listed {
            let entry = entry?;
            let name = format!("{part}/{}", entry.file_name().to_string_lossy());
            // Files of others stay.
            let is_ours = name.ends_with(".md")
                && fs::read_to_string(entry.path()).is_ok_and(|text| text.contains(GENERATOR));
            if is_ours && !files.contains_key(&name) {
                fs::remove_file(entry.path())?;
                changed += 1;
            }
        }
    }
    for (name, text) in files {
        let path = folder.join(name);
        if fs::read_to_string(&path).is_ok_and(|there| there == *text) {
            continue;
        }
        write_whole(&path, |out| Ok(out.write_all(text.as_bytes())?))?;
        changed += 1;
    }
    Ok(changed)
}
