//! Reads the next part of a transcript.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use lored_hosts::transcript::{Database, read_line, records};
use lored_hosts::{Host, OWN_MARKS, Observation, Observed, json};
use lored_redact::{Redactor, SecretCounts};

use super::cursors::{check_of, open_file, short_hash};
use super::databases;
use super::lines::Lines;
use super::open_files::OpenTranscript;
use super::opencode_tree;
use super::{FoundFile, Layout};

/// Bytes that are read at a time.
const BUFFER_BYTES: usize = 256 << 10;
/// Bytes of a part.
const PART_BYTES: u64 = 1 << 20;
/// Observations of a part.
const PART_OBSERVATIONS: u64 = 250;
/// Largest file that is one text, in bytes.
const WHOLE_BYTES_MAX: u64 = 64 << 20;
/// Age of a Markdown file after which its last block is taken to be complete, in milliseconds.
const SETTLED_MS: i64 = 10_000;
/// Earliest time that a host's clock may show: the year 2000, in milliseconds since 1970.
const EARLIEST_MS: i64 = 946_684_800_000;
/// Time that a host's clock may be ahead, in milliseconds.
const AHEAD_MS: i64 = 24 * 3_600_000;
/// Kinds of unknown records that are counted by name.
const UNKNOWN_MAX: usize = 200;

/// A part of a transcript.
#[derive(Debug, Default)]
pub struct Part {
    /// What it reports, each with the number of its record.
    pub observations: Vec<(u64, Observation)>,
    /// Bytes that were read.
    pub bytes: u64,
    /// Whether the file has no more for now.
    pub is_at_end: bool,
    /// Records that this release does not know, by their type.
    pub unknown: BTreeMap<String, u64>,
    /// Records that are too long to be read.
    pub too_long: u64,
    /// Secrets that were replaced.
    pub secrets: SecretCounts,
    /// What the file is known by, up to the end of this part.
    pub check: String,
}

/// Reads the next part of a file.
///
/// # Errors
/// When the file cannot be read.
pub fn read_on(
    open: &mut OpenTranscript,
    file: &FoundFile,
    redactor: &Redactor,
    now_ms: i64,
) -> io::Result<Part> {
    let mut reader = PartReader {
        open,
        file,
        redactor,
        now_ms,
        part: Part::default(),
    };
    match file.layout() {
        Layout::Lines => reader.lines(open_file(&file.path)?)?,
        Layout::Whole => reader.whole(open_file(&file.path)?)?,
        Layout::Tree => reader.tree(open_file(&file.path)?)?,
        Layout::Database(kind) => reader.database(kind)?,
    }
    Ok(reader.part)
}

/// Reads a file that is one text.
fn whole_text(source: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(WHOLE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > WHOLE_BYTES_MAX {
        let message = format!("larger than {} MiB", WHOLE_BYTES_MAX >> 20);
        return Err(io::Error::other(message));
    }
    Ok(bytes)
}

struct PartReader<'r> {
    open: &'r mut OpenTranscript,
    file: &'r FoundFile,
    redactor: &'r Redactor,
    now_ms: i64,
    part: Part,
}

impl PartReader<'_> {
    fn is_full(&self) -> bool {
        // A file that is one text is read again for each part.
        let times = match self.file.layout() {
            Layout::Whole => 4,
            _ => 1,
        };
        let observations = self.part.observations.len();
        self.part.bytes >= times * PART_BYTES || observations as u64 >= times * PART_OBSERVATIONS
    }

    fn lines(&mut self, mut source: File) -> io::Result<()> {
        source.seek(SeekFrom::Start(self.open.bytes))?;
        let mut lines = Lines::new(BufReader::with_capacity(BUFFER_BYTES, source));
        while !self.is_full() {
            let Some(line) = lines.next_line()? else {
                self.part.is_at_end = true;
                break;
            };
            // The last line of a file that was left need not have an end. A torn one is no whole value.
            let is_complete = |bytes: &[u8]| {
                let last = bytes.iter().rev().find(|byte| !byte.is_ascii_whitespace());
                last == Some(&b'}') && json::read(bytes).is_ok()
            };
            if !line.is_whole && !line.bytes.is_some_and(is_complete) {
                self.open.incomplete = line.length;
                self.part.is_at_end = true;
                break;
            }
            self.open.bytes += line.length;
            self.part.bytes += line.length;
            match line.bytes {
                Some(bytes) => self.record(bytes, self.open.bytes),
                None => self.part.too_long += 1,
            }
            self.open.records += 1;
        }
        self.part.check = check_of(&mut open_file(&self.file.path)?, self.open.bytes)?;
        Ok(())
    }

    fn whole(&mut self, source: File) -> io::Result<()> {
        let bytes = whole_text(source)?;
        let hash = short_hash(&bytes);
        if self.open.whole != hash {
            // It was rewritten: its records have the same keys.
            *self.open = OpenTranscript::new(self.file, 0);
            self.open.whole.clone_from(&hash);
            self.open.state.describe(&bytes);
        }
        let mut found = records(self.file.host, &bytes);
        let is_settled = self.now_ms - self.file.modified_ms >= SETTLED_MS;
        if self.file.host == Host::Aider && !is_settled {
            // The last block may still grow. It is read when the next one begins, or later.
            found.pop();
        }
        let number = usize::try_from(self.open.records).unwrap_or(usize::MAX);
        for record in found.get(number..).unwrap_or_default() {
            if self.is_full() {
                return Ok(());
            }
            self.part.bytes += record.len() as u64;
            self.record(record, u64::MAX);
            self.open.records += 1;
        }
        self.open.bytes = bytes.len() as u64;
        self.part.is_at_end = true;
        self.part.check = if is_settled { hash } else { String::new() };
        Ok(())
    }

    fn tree(&mut self, source: File) -> io::Result<()> {
        let bytes = whole_text(source)?;
        let hash = short_hash(&bytes);
        if self.open.whole != hash {
            *self.open = OpenTranscript::new(self.file, 0);
            self.open.whole.clone_from(&hash);
            let names = opencode_tree::message_names(&self.file.path)?;
            self.open.listed = names.into_iter().map(|name| (0, name)).collect();
        }
        let described = serde_json::from_slice(&bytes).unwrap_or_default();
        while !self.is_full() {
            let Some((_, name)) = self.open.listed.pop_front() else {
                let is_settled = self.now_ms - self.file.modified_ms >= SETTLED_MS;
                self.open.bytes = bytes.len() as u64;
                self.part.is_at_end = true;
                self.part.check = if is_settled { hash } else { String::new() };
                break;
            };
            let record = opencode_tree::message(&self.file.path, &described, &name)?;
            if let Some(record) = record {
                self.part.bytes += record.len() as u64;
                self.record(&record, u64::MAX);
                self.open.records += 1;
            }
        }
        Ok(())
    }

    fn database(&mut self, kind: Database) -> io::Result<()> {
        let found = databases::read_on(self.open, kind, &self.file.path, self.now_ms)?;
        self.part.is_at_end = found.is_at_end;
        for record in found.records {
            self.part.bytes += record.len() as u64;
            self.record(&record, u64::MAX);
            self.open.records += 1;
        }
        // The last record, where times alone do not say it.
        self.part.check = format!("#{}", self.open.whole);
        Ok(())
    }

    /// Reads a record that ends at a place of the file.
    fn record(&mut self, bytes: &[u8], end: u64) {
        let redacted = match self.file.host {
            Host::Aider => {
                let text = String::from_utf8_lossy(bytes);
                let text = self.redactor.text(&text, &mut self.part.secrets);
                text.into_owned().into_bytes().into()
            }
            _ => self.redactor.json(bytes, &mut self.part.secrets),
        };
        let made = read_line(&mut self.open.state, &redacted, &OWN_MARKS);
        if end <= self.open.recorded_up_to {
            return;
        }
        for mut observation in made {
            if let Observed::Unknown { name, .. } = observation.what {
                if self.part.unknown.len() < UNKNOWN_MAX || self.part.unknown.contains_key(&name) {
                    *self.part.unknown.entry(name).or_default() += 1;
                }
                continue;
            }
            let source = &mut observation.source;
            let is_likely = |at: &i64| (EARLIEST_MS..=self.now_ms + AHEAD_MS).contains(at);
            let at = source.at_ms.filter(is_likely);
            source.at_ms = Some(at.unwrap_or(self.file.modified_ms));
            self.part
                .observations
                .push((self.open.records, observation));
        }
    }
}
