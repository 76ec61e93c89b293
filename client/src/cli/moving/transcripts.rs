//! `lore import --from HOST`: imports what hosts of agents wrote in their transcripts.

use std::env;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use lore::protocol::hooks::{HostTranscripts, ImportTranscriptsReply, TranscriptFolder};
use lore::sanitize::bytes;

use crate::cli::flag::Fields;
use crate::cli::input::absolute;
use crate::cli::output::{self, Output, sanitize};
use crate::cli::parser::Matches;
use crate::cli::report::{read, to_json};
use crate::cli::{Caller, Exit, Failure};

/// Variables that name a host's own folder.
const OWN_FOLDERS: [(&str, &str); 2] = [
    ("CLAUDE_CONFIG_DIR", "claude-code"),
    ("CODEX_HOME", "codex"),
];
/// Unread files that are listed.
const LISTED_MAX: usize = 20;

/// Imports the transcripts of a host, or of all.
pub fn import(matches: &Matches, caller: &mut Caller, host: &str) -> Result<Exit, Failure> {
    let mut fields = Fields::default();
    if host != "all" {
        fields.put("hosts", &[host])?;
    }
    fields.put("folders", &folders(matches, host)?)?;
    let is_dry = matches.is("dry-run");
    let mut first = fields.clone();
    first.put("dry_run", &true)?;
    let mut sum: ImportTranscriptsReply = read(&caller.call("import_transcripts", first)?)?;
    let is_human = matches!(caller.output, Output::Human);
    if is_human {
        output::write(found(&sum.found).as_bytes())?;
    }
    if !is_dry && !sum.found.is_empty() {
        sum = read_all(caller, fields)?;
    }
    match caller.output {
        Output::Json => output::write_json(&to_json(&sum)?)?,
        Output::Human if is_dry || sum.found.is_empty() => {}
        Output::Human => output::write(summary(&sum).as_bytes())?,
    }
    report_unread(&sum);
    Ok(Exit::Good)
}

/// Returns where transcripts are looked for: a named folder or file, else the home folder and what variables name.
fn folders(matches: &Matches, host: &str) -> Result<Vec<TranscriptFolder>, Failure> {
    let folder = |path: PathBuf, host: Option<&str>| {
        let path = absolute(&path.to_string_lossy())?;
        Ok::<_, Failure>(TranscriptFolder {
            path,
            host: host.map(str::to_owned),
        })
    };
    if let Some(named) = matches.path("file") {
        let is_home = home().is_some_and(|home| home == named);
        let own = Some(host).filter(|host| *host != "all" && !is_home);
        return Ok(vec![folder(named, own)?]);
    }
    let mut folders = Vec::new();
    if let Some(home) = home() {
        folders.push(folder(home, None)?);
    }
    for (variable, of) in OWN_FOLDERS {
        if let Some(own) = env::var_os(variable).filter(|own| !own.is_empty()) {
            folders.push(folder(PathBuf::from(own), Some(of))?);
        }
    }
    if matches!(host, "aider" | "all") {
        folders.push(folder(env::current_dir()?, Some("aider"))?);
    }
    Ok(folders)
}

/// Returns the home folder that the environment names, as for all other places. Asking the system for it would need the
/// libraries of its user database, which a static program has not.
fn home() -> Option<PathBuf> {
    let home = env::var_os("HOME").filter(|home| !home.is_empty());
    home.map(PathBuf::from)
}

/// Reads all files, slice by slice.
fn read_all(caller: &mut Caller, fields: Fields) -> Result<ImportTranscriptsReply, Failure> {
    let is_shown = io::stderr().is_terminal();
    let mut sum = ImportTranscriptsReply::default();
    let mut request = fields;
    loop {
        let reply: ImportTranscriptsReply = read(&caller.call("import_transcripts", request)?)?;
        let next = reply.next.clone();
        add(&mut sum, reply);
        if is_shown {
            let done = sum.bytes_done * 100 / sum.bytes.max(1);
            let (files, all) = (sum.files_done, sum.files);
            lore::err!(
                "\r{done:>3} %  {files} of {all} files, {} recorded ",
                sum.recorded
            );
        }
        let Some(next) = next else { break };
        request = Fields::default();
        request.put("next", &next)?;
    }
    if is_shown {
        lore::errln!("");
    }
    Ok(sum)
}

fn add(sum: &mut ImportTranscriptsReply, reply: ImportTranscriptsReply) {
    if !reply.found.is_empty() {
        sum.found = reply.found;
    }
    (sum.files, sum.files_done) = (reply.files, reply.files_done);
    (sum.bytes, sum.bytes_done) = (reply.bytes, reply.bytes_done);
    sum.sessions = reply.sessions;
    sum.recorded += reply.recorded;
    sum.duplicates += reply.duplicates;
    sum.left_out += reply.left_out;
    sum.too_long += reply.too_long;
    for new in reply.unknown {
        let known = sum.unknown.iter_mut();
        let mut known = known.filter(|one| one.host == new.host && one.kind == new.kind);
        match known.next() {
            Some(known) => known.count += new.count,
            None => sum.unknown.push(new),
        }
    }
    sum.unread.extend(reply.unread);
    for warning in reply.warnings {
        if !sum.warnings.contains(&warning) {
            sum.warnings.push(warning);
        }
    }
    sum.position = sum.position.max(reply.position);
    sum.durable = reply.durable;
}

fn found(hosts: &[HostTranscripts]) -> String {
    if hosts.is_empty() {
        return "no transcripts were found\n".to_owned();
    }
    let day = |time: &Option<String>| {
        let time = time.as_deref().unwrap_or_default();
        time.get(..10).unwrap_or(time).to_owned()
    };
    let line = |host: &HostTranscripts| {
        format!(
            "{:<12} {:>6} sessions in {:>6} files, {:>9}, {} to {}\n",
            host.host,
            host.sessions,
            host.files,
            bytes(host.bytes),
            day(&host.from),
            day(&host.to),
        )
    };
    hosts.iter().map(line).collect()
}

fn summary(sum: &ImportTranscriptsReply) -> String {
    let mut text = format!(
        "{} recorded in {} sessions, {} were there already",
        sum.recorded, sum.sessions, sum.duplicates
    );
    if sum.left_out > 0 {
        text += &format!(", {} left out by the settings", sum.left_out);
    }
    if sum.too_long > 0 {
        text += &format!(", {} records are too long", sum.too_long);
    }
    text.push('\n');
    for unknown in &sum.unknown {
        let kind = match unknown.kind.as_str() {
            "" => "no record of this host".to_owned(),
            kind => format!("of the unknown type {}", sanitize(kind, 0)),
        };
        text += &format!("{}: {} {kind}\n", unknown.host, unknown.count);
    }
    text
}

fn report_unread(sum: &ImportTranscriptsReply) {
    for warning in &sum.warnings {
        lore::errln!("lore: {}", sanitize(warning, 0));
    }
    for unread in sum.unread.iter().take(LISTED_MAX) {
        let path = sanitize(&unread.path, 0);
        lore::errln!("lore: not read: {path}: {}", sanitize(&unread.reason, 0));
    }
    if let Some(more @ 1..) = sum.unread.len().checked_sub(LISTED_MAX) {
        lore::errln!("lore: and {more} more");
    }
}
