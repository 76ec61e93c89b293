//! `lore export --markdown` and `lore import --from markdown`: a folder that people and other programs read, one file for each
//! session and each fact.
//!
//! The files have YAML front matter as in Google's Open Knowledge Format 0.1: `type`, and `title`, `description`, `resource`,
//! `tags`, `timestamp`. Names are made of ids, so that a second export changes only what changed.

mod page;
mod read;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use lore::protocol::facts::{Fact, ListFactsReply};
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
/// Sessions and facts of one page.
const PAGE: u64 = 500;
/// Bytes of a page of a session.
const PAGE_BYTES: u64 = 8 << 20;
/// What the front matter of our files has.
const GENERATOR: &str = "generator: lore\n";

/// Whether a folder was written by an export: other folders of Markdown files are documents.
pub fn is_export(folder: &Path) -> bool {
    is_ours(&folder.join(INDEX))
}

/// Whether a file was written by an export: its front matter says so. Only the front matter counts, because a file of
/// another author may quote it.
fn is_ours(path: &Path) -> bool {
    let text = fs::read_to_string(path).unwrap_or_default();
    page::split(&text).is_some_and(|(fields, _)| {
        fields
            .iter()
            .any(|(name, value)| name == "generator" && value == "lore")
    })
}

/// Writes everything, or one project.
pub fn export(matches: &Matches, caller: &mut Caller, folder: &Path) -> Result<Exit, Failure> {
    let mut pages = Pages::new(folder)?;
    let sessions = sessions(matches, caller)?;
    let mut projects: BTreeSet<String> = BTreeSet::new();
    for session in &sessions {
        projects.extend(session.project.clone());
        let lines = lines(caller, session)?;
        let name = format!("{SESSIONS}/{}.md", session.session);
        pages.write(name, &page::session(session, &lines))?;
    }
    let mut facts = Vec::new();
    for project in projects {
        for fact in self::facts(caller, Some(&project))? {
            let name = page::fact_name(&fact);
            pages.write(format!("{FACTS}/{name}.md"), &page::fact(&fact, &project))?;
            facts.push((name, fact));
        }
    }
    pages.write(INDEX.to_owned(), &page::index(&sessions, &facts))?;
    pages.remove_others()?;
    lore::errln!(
        "lore: {} sessions and {} facts in {}; {} files changed",
        sessions.len(),
        facts.len(),
        folder.display(),
        pages.changed
    );
    Ok(Exit::Good)
}

/// Returns all facts of a project, of the caller's folder without one, also those that were replaced.
fn facts(caller: &mut Caller, project: Option<&str>) -> Result<Vec<Fact>, Failure> {
    let (mut all, mut next): (Vec<Fact>, Option<String>) = (Vec::new(), None);
    loop {
        let mut fields = Fields::default();
        fields.put_some("project", project)?;
        fields.put("include_replaced", &true)?;
        fields.put("limit", &PAGE)?;
        fields.put_some("next", next.as_ref())?;
        let page: ListFactsReply = reply(&caller.call("list_facts", fields)?)?;
        all.extend(page.facts);
        if page.next.is_none() || page.next == next {
            return Ok(all);
        }
        next = page.next;
    }
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

/// The files of an export: each is written as soon as it is made, if it differs.
struct Pages<'f> {
    folder: &'f Path,
    /// Their names.
    names: BTreeSet<String>,
    changed: usize,
}

impl<'f> Pages<'f> {
    /// Makes the folders.
    fn new(folder: &'f Path) -> Result<Self, Failure> {
        for part in [SESSIONS, FACTS] {
            let path = folder.join(part);
            fs::create_dir_all(&path).map_err(|error| named(&error, &path))?;
        }
        Ok(Self {
            folder,
            names: BTreeSet::new(),
            changed: 0,
        })
    }

    fn write(&mut self, name: String, text: &str) -> Result<(), Failure> {
        let path = self.folder.join(&name);
        self.names.insert(name);
        if fs::read_to_string(&path).is_ok_and(|present| present == text) {
            return Ok(());
        }
        write_whole(&path, |out| Ok(out.write_all(text.as_bytes())?))?;
        self.changed += 1;
        Ok(())
    }

    /// Removes the files that earlier exports wrote and this one did not. Files of other authors stay.
    fn remove_others(&mut self) -> Result<(), Failure> {
        for part in [SESSIONS, FACTS] {
            let folder = self.folder.join(part);
            let listed = fs::read_dir(&folder).map_err(|error| named(&error, &folder))?;
            for entry in listed {
                let path = entry?.path();
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                let is_left = self.names.contains(&format!("{part}/{file}"));
                if !is_left && file.ends_with(".md") && is_ours(&path) {
                    fs::remove_file(&path).map_err(|error| named(&error, &path))?;
                    self.changed += 1;
                }
            }
        }
        Ok(())
    }
}
