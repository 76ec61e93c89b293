//! Records what transcripts report.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::join_all;
use lored_hosts::transcript::Database;
use lored_hosts::{Host, Observation, Source, Subagent};
use lored_redact::SecretCounts;

use super::cursors::{ReadUpTo, check_of, open_file, short_hash};
use super::databases;
use super::open_files::OpenTranscript;
use super::reading::{self, Part};
use super::{FoundFile, Layout, TranscriptCursors};
use crate::capture::command::RecordObservation;
use crate::capture::operations::{ReportFacts, claim, prepare};
use crate::capture::{Capture, view, whose};
use crate::engine::{KeyClaim, Outcome};
use crate::error::{Code, Refusal};
use crate::events::Event;
use crate::events::capture::CaptureEvent;
use crate::log::{Position, index};
use crate::operation::{Caller, Context, blocking};
use crate::state::State;

/// Length of an incomplete line beyond which it is read again only when it has doubled, in bytes.
const INCOMPLETE_BYTES: u64 = 1 << 20;

/// What was read and recorded.
#[derive(Debug, Default)]
pub struct ReadCounts {
    /// Bytes that were read.
    pub bytes: u64,
    /// Observations that were recorded.
    pub recorded: u64,
    /// Observations that had been recorded before, from here or from hooks.
    pub duplicates: u64,
    /// Observations that the settings leave out.
    pub left_out: u64,
    /// Records that are too long.
    pub too_long: u64,
    /// Records of unknown types, by host and type.
    pub unknown: BTreeMap<(&'static str, String), u64>,
    /// Secrets that were replaced.
    pub secrets: SecretCounts,
    /// Sessions that something was recorded in.
    pub sessions: HashSet<String>,
    /// Position of the last event.
    pub position: Position,
}

/// Reads transcripts for a user, and records what they report.
pub struct Recorder {
    cx: Arc<Context>,
    caller: Caller,
    /// Whether databases are read from now on: the past in them is left to an import.
    is_following: bool,
}

/// What is prepared of a part.
struct PreparedPart {
    /// How far the file is read then, if there is something new to keep.
    read_up_to: Option<ReadUpTo>,
    part: Part,
    writes: Vec<(Caller, KeyClaim, RecordObservation)>,
    duplicates: u64,
    left_out: u64,
}

impl Recorder {
    /// Creates it for a caller. Nothing is recorded in the caller's own session.
    #[must_use]
    pub fn new(cx: &Arc<Context>, caller: &Caller) -> Self {
        Self {
            cx: Arc::clone(cx),
            is_following: false,
            caller: Caller {
                dir: None,
                project: None,
                session: None,
                host_session: None,
                default_key: None,
                ..caller.clone()
            },
        }
    }

    /// Creates it for one who follows: of databases, what was written before is left to an import.
    #[must_use]
    pub fn following(cx: &Arc<Context>, caller: &Caller) -> Self {
        Self {
            is_following: true,
            ..Self::new(cx, caller)
        }
    }

    /// Reads a file on, until it has no more or the time is over. Returns whether it has no more.
    ///
    /// # Errors
    /// `IO` as a refusal when the file cannot be read; those of a write.
    pub async fn read(
        &self,
        file: &FoundFile,
        until: Instant,
        counts: &mut ReadCounts,
    ) -> Result<bool, Refusal> {
        let (cx, shared) = (Arc::clone(&self.cx), file.clone());
        let is_following = self.is_following;
        let opened = blocking(move || match shared.layout() {
            Layout::Database(kind) => open_database(&cx, &shared, kind, is_following).map(Some),
            Layout::Lines | Layout::Whole | Layout::Tree => open(&cx, shared),
        })
        .await?;
        let Some(open) = opened else {
            return Ok(true);
        };
        let (mut prepared, mut open) = self.prepare(file, open).await?;
        loop {
            let is_at_end = prepared.part.is_at_end;
            if is_at_end || Instant::now() >= until {
                self.record(file, prepared, counts).await?;
                let key = cursor_path(file, self.is_following);
                Capture::of(&self.cx)?.open_files.put(&key, open);
                return Ok(is_at_end);
            }
            // The disk and the processor work at the same time.
            let recording = self.record(file, prepared, counts);
            let (recorded, next) = tokio::join!(recording, self.prepare(file, open));
            recorded?;
            (prepared, open) = next?;
        }
    }

    /// Reads and prepares the next part, off the event loop.
    async fn prepare(
        &self,
        file: &FoundFile,
        open: OpenTranscript,
    ) -> Result<(PreparedPart, OpenTranscript), Refusal> {
        let state = State::live(&self.cx, None).await?;
        let (cx, caller, file) = (Arc::clone(&self.cx), self.caller.clone(), file.clone());
        let is_following = self.is_following;
        blocking(move || prepare_part(&cx, &state, &caller, &file, open, is_following)).await
    }

    /// Records a part, and keeps how far the file was read.
    async fn record(
        &self,
        file: &FoundFile,
        prepared: PreparedPart,
        counts: &mut ReadCounts,
    ) -> Result<(), Refusal> {
        let PreparedPart {
            read_up_to,
            part,
            writes,
            ..
        } = prepared;
        let writes = writes.into_iter().map(|(caller, claim, command)| {
            let bytes = command.body.bytes.len();
            let cx = Arc::clone(&self.cx);
            async move { cx.write(&caller, Some(claim), bytes, command).await }
        });
        for outcome in join_all(writes).await {
            counts.add(outcome)?;
        }
        counts.bytes += part.bytes;
        counts.duplicates += prepared.duplicates;
        counts.left_out += prepared.left_out;
        counts.too_long += part.too_long;
        counts.secrets.add_all(part.secrets);
        for (kind, number) in part.unknown {
            *counts.unknown.entry((file.host.name(), kind)).or_default() += number;
        }
        if let Some(mut read) = read_up_to {
            read.position = self.cx.read(None).await?.tail.position.0;
            let cx = Arc::clone(&self.cx);
            blocking(move || {
                if let Some(cursors) = cx.extensions.get::<TranscriptCursors>() {
                    cursors.put(read);
                }
                Ok(())
            })
            .await?;
        }
        Ok(())
    }
}

impl ReadCounts {
    fn add(&mut self, outcome: Result<Outcome, Refusal>) -> Result<(), Refusal> {
        match outcome {
            Ok(outcome) => {
                let is_repeated = matches!(outcome.meta, Event::Capture(CaptureEvent::Repeated(_)));
                if outcome.replayed || is_repeated {
                    self.duplicates += 1;
                } else {
                    self.recorded += 1;
                    self.sessions.extend(outcome.event.header.session.clone());
                }
                self.position = self.position.max(outcome.event.position());
                Ok(())
            }
            // It was recorded, and has been forgotten since: it stays forgotten.
            Err(refusal) if refusal.code == Code::NotFound => {
                self.duplicates += 1;
                Ok(())
            }
            Err(refusal) => Err(refusal),
        }
    }
}

/// Returns the path under which it is kept how far a file was read: who imports a database begins with its past, and who
/// follows it with what is new.
fn cursor_path(file: &FoundFile, is_following: bool) -> PathBuf {
    let mut path = file.path.as_os_str().to_owned();
    if is_following && matches!(file.layout(), Layout::Database(_)) {
        path.push("?followed");
    }
    PathBuf::from(path)
}

/// Opens a database where it was read up to.
fn open_database(
    cx: &Context,
    file: &FoundFile,
    kind: Database,
    is_following: bool,
) -> Result<OpenTranscript, Refusal> {
    let key = cursor_path(file, is_following);
    if let Some(open) = Capture::of(cx)?.open_files.take(&key) {
        return Ok(open);
    }
    let mut open = OpenTranscript::new(file, 0);
    let cursors = cx.extensions.get::<TranscriptCursors>();
    if let Some(known) = cursors.and_then(|cursors| cursors.get(&key)) {
        open.bytes = known.bytes;
        open.records = known.records;
        known
            .check
            .trim_start_matches('#')
            .clone_into(&mut open.whole);
    } else if is_following {
        let started_ms = i64::try_from(cx.started / 1000).unwrap_or(i64::MAX);
        let since = cursors.map_or(started_ms, |cursors| cursors.since(started_ms));
        databases::to_end(&mut open, kind, &file.path, since)
            .map_err(|error| unreadable(file, &error))?;
    }
    Ok(open)
}

/// Opens a file where it was read up to; `None` if it has no more.
fn open(cx: &Context, file: FoundFile) -> Result<Option<OpenTranscript>, Refusal> {
    let cursors = cx.extensions.get::<TranscriptCursors>();
    let open = Capture::of(cx)?.open_files.take(&file.path);
    let known = cursors.and_then(|cursors| cursors.get(&file.path));
    let known = known.filter(|known| known.host == file.host.name());
    if matches!(file.layout(), Layout::Whole | Layout::Tree) {
        // The content says whether it is the same, and its records whether they are.
        // One that was recorded is of a limited size.
        let known = known.filter(|known| known.bytes == file.bytes);
        let is_same = known.is_some_and(|known| {
            let mut bytes = Vec::new();
            let opened = open_file(&file.path);
            let read = opened.and_then(|opened| opened.take(known.bytes).read_to_end(&mut bytes));
            read.is_ok() && known.check == short_hash(&bytes)
        });
        return Ok((!is_same).then(|| open.unwrap_or_else(|| OpenTranscript::new(&file, 0))));
    }
    let Some(known) = known.filter(|known| known.bytes <= file.bytes) else {
        return Ok(Some(OpenTranscript::new(&file, 0)));
    };
    let check = open_file(&file.path).and_then(|mut opened| check_of(&mut opened, known.bytes));
    if check.is_err() || check.is_ok_and(|check| check != known.check) {
        // Rewritten, or rewound and grown again.
        return Ok(Some(OpenTranscript::new(&file, 0)));
    }
    if known.bytes == file.bytes {
        if let Some(open) = open {
            Capture::of(cx)?.open_files.put(&file.path, open);
        }
        return Ok(None);
    }
    let open = open.filter(|open| open.bytes == known.bytes);
    let open = open.unwrap_or_else(|| OpenTranscript::new(&file, known.bytes));
    let left = file.bytes.saturating_sub(open.bytes);
    if open.incomplete > INCOMPLETE_BYTES && left < 2 * open.incomplete {
        Capture::of(cx)?.open_files.put(&file.path, open);
        return Ok(None);
    }
    Ok(Some(open))
}

fn unreadable(file: &FoundFile, error: &std::io::Error) -> Refusal {
    Refusal::new(Code::NotFound, format!("{}: {error}", file.path.display()))
}

fn prepare_part(
    cx: &Context,
    state: &State,
    caller: &Caller,
    file: &FoundFile,
    mut open: OpenTranscript,
    is_following: bool,
) -> Result<(PreparedPart, OpenTranscript), Refusal> {
    let now_ms = i64::try_from(cx.engine.clock().now() / 1000).unwrap_or(i64::MAX);
    let mut part = reading::read_on(&mut open, file, &cx.redactor, now_ms)
        .map_err(|error| unreadable(file, &error))?;
    let mut preparing = Preparing {
        cx,
        capture: Capture::of(cx)?,
        state,
        caller,
        file,
        callers: HashMap::new(),
        writes: Vec::new(),
        duplicates: 0,
        left_out: 0,
    };
    for (record, observation) in std::mem::take(&mut part.observations) {
        preparing.add(record, observation)?;
    }
    let Preparing {
        writes,
        duplicates,
        left_out,
        ..
    } = preparing;
    let is_new = open.bytes > open.recorded_up_to || file.layout() != Layout::Lines;
    let is_known = !part.check.is_empty() && (part.bytes > 0 || part.is_at_end);
    let read_up_to = (is_new && is_known).then(|| ReadUpTo {
        host: file.host.name().to_owned(),
        path: cursor_path(file, is_following),
        bytes: open.bytes,
        records: open.records,
        check: std::mem::take(&mut part.check),
        position: 0,
    });
    let prepared = PreparedPart {
        read_up_to,
        part,
        writes,
        duplicates,
        left_out,
    };
    Ok((prepared, open))
}

/// What identifies who an observation is about.
type Whose = (
    Option<String>,
    Option<Subagent>,
    Option<String>,
    Option<String>,
);

/// The observations of a part while they are prepared.
struct Preparing<'p> {
    cx: &'p Context,
    capture: &'p Capture,
    state: &'p State,
    caller: &'p Caller,
    file: &'p FoundFile,
    callers: HashMap<Whose, (Caller, ReportFacts)>,
    writes: Vec<(Caller, KeyClaim, RecordObservation)>,
    duplicates: u64,
    left_out: u64,
}

impl Preparing<'_> {
    fn add(&mut self, record: u64, mut observation: Observation) -> Result<(), Refusal> {
        if observation.source.session.is_none() {
            observation.source.session = Some(file_id(&self.file.path));
        }
        let (caller, facts) = self.caller_of(&observation.source)?;
        let at_ms = observation.source.at_ms.unwrap_or_default();
        let at = u64::try_from(at_ms).unwrap_or_default() * 1000;
        let rules = whose::rules(self.cx, self.capture, self.state, caller.dir.as_deref())?;
        let is_taken = rules
            .as_ref()
            .is_none_or(|rules| rules.records(&observation));
        if !is_taken || view::is_paused(self.state, caller.project.as_deref(), at)? {
            self.left_out += 1;
            return Ok(());
        }
        if let Some(rules) = &rules {
            rules.limit(&mut observation.what);
        }
        let key = observation.key.as_str();
        let text = match observation.key.is_exact() {
            true => key.to_owned(),
            // Without ids, the record of the file is one; rows may be rewritten, and files taken over into a database.
            false if is_in_rows(self.file) => format!("{key}@{at_ms}"),
            false => format!("{key}#{record}"),
        };
        let claim = claim(&caller, &text);
        let is_known = index::get_key(self.state, &claim.hash)?.is_some();
        if is_known || self.is_of_parent(&caller, &observation)? {
            self.duplicates += 1;
            return Ok(());
        }
        let command = prepare(self.cx, self.state, &caller, observation, &facts)?;
        if let Some(command) = command {
            self.writes.push((caller, claim, command));
        }
        Ok(())
    }

    /// Whether a fork repeats what was recorded in the session that it was forked from.
    fn is_of_parent(&self, caller: &Caller, observation: &Observation) -> Result<bool, Refusal> {
        let parent = observation.source.parent_session.as_deref();
        let Some(parent) = parent.filter(|_| observation.key.is_exact()) else {
            return Ok(false);
        };
        let [key, _] = observation.keys_in(parent);
        let claim = claim(caller, key.as_str());
        Ok(index::get_key(self.state, &claim.hash)?.is_some())
    }

    /// Returns the caller that an observation is recorded for, and what its session is a part of.
    fn caller_of(&mut self, source: &Source) -> Result<(Caller, ReportFacts), Refusal> {
        let whose = (
            source.session.clone(),
            source.agent.clone(),
            source.cwd.clone(),
            source.parent_session.clone(),
        );
        if let Some((caller, facts)) = self.callers.get(&whose) {
            return Ok((caller.clone(), facts.clone()));
        }
        let (cx, state) = (self.cx, self.state);
        let caller = whose::caller(cx, self.capture, state, self.caller, source)?;
        let facts = ReportFacts {
            parent: whose::parent(state, &caller, source)?,
            ..ReportFacts::default()
        };
        let found = (caller, facts);
        self.callers.insert(whose, found.clone());
        Ok(found)
    }
}

/// Whether the records of a file are rows of a database, or become some.
fn is_in_rows(file: &FoundFile) -> bool {
    matches!(file.layout(), Layout::Database(_) | Layout::Tree) || file.host == Host::Goose
}

/// Returns the session of a file that names none.
fn file_id(path: &Path) -> String {
    format!("file-{}", short_hash(path.as_os_str().as_encoded_bytes()))
}
