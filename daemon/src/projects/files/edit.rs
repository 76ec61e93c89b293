//! Records manual edits as events of the agent `file`, and merges them with concurrent edits by agents.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lored_redact::SecretCounts;

use super::super::command::{NoOpReason, ProjectSubject};
use super::super::compare::{Merge, merge};
use super::super::disk::Name;
use super::super::feature::ProjectState;
use super::super::operations::content_of;
use super::super::prepare::{PreparedContent, check_content, counts};
use super::super::validate::validate;
use super::super::view::{self, FileRow};
use super::last_synced::Version;
use crate::engine::QueuedWrite;
use crate::error::Refusal;
use crate::events::projects::Change;
use crate::log::{Actor, Hash};
use crate::operation::{Context, blocking};
use crate::state::State;

/// Agent name of manual edits.
pub const AGENT: &str = "file";
/// Time limit for merging.
const MERGED_MAX: Duration = Duration::from_secs(2);
/// Versions that are compared with the file on disk.
const VERSIONS_MAX: usize = 100;

/// The result of recording an edit.
pub enum EditOutcome {
    /// Recorded as the version with this number.
    As(u64),
    /// A concurrent version was recorded; check the file again.
    Again,
    /// The edit cannot be a version. The reason completes a sentence that begins with the file's name.
    Not(String),
}

/// Returns the newest version with this content that is not older than the version `not_before`.
pub fn version_with(
    state: &State,
    name: &Name,
    hash: &Hash,
    not_before: u64,
) -> Result<Option<Version>, Refusal> {
    let (mut found, mut looked_at) = (None, 0);
    let (project, file_type) = (name.project(), name.file_type());
    view::versions(state, project, file_type, u64::MAX, &mut |row| {
        looked_at += 1;
        let is_it = row.is_written() && row.written.hash.as_ref() == hash.0.as_slice();
        if is_it {
            found = Some(Version {
                number: row.written.version,
                hash: *hash,
            });
        }
        let is_enough = is_it || row.written.version <= not_before || looked_at == VERSIONS_MAX;
        Ok(if is_enough {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    Ok(found)
}

/// Records an edit that was made from version `from`.
pub async fn record(
    cx: &Arc<Context>,
    name: &Name,
    bytes: Vec<u8>,
    newest: Option<&FileRow>,
    from: Option<Version>,
) -> Result<EditOutcome, Refusal> {
    let limit = ProjectState::of(cx)?.limits.content_bytes_max;
    let Ok(content) = String::from_utf8(bytes) else {
        return Ok(EditOutcome::Not(
            "is not UTF-8 text: it is left as it is, and not taken over".to_owned(),
        ));
    };
    // An empty file is an edit, too; any other invalid content is left alone.
    if !content.trim().is_empty()
        && let Err(refusal) = check_content(&content, limit)
    {
        return Ok(EditOutcome::Not(format!(
            "is left as it is, and not taken over: {}",
            refusal.message
        )));
    }
    let content = without_secrets(cx, name, content).await?;
    if let Some(same) = newest.filter(|row| row.is_written() && is_of(row, &content)) {
        // Apart from its secrets, the content is in the log already; the file is rewritten later.
        return Ok(EditOutcome::As(same.written.version));
    }
    let newest_version = newest.map_or(0, |row| row.written.version);
    let base = from.map_or(newest_version, |from| from.number);
    let is_beside = base != newest_version;
    let edit = Edit {
        name: name.clone(),
        change: Change::Edited,
        content: content.clone(),
        follows: newest_version,
        base: is_beside.then_some(base),
        // Until both are merged.
        beside: is_beside.then_some(newest_version),
    };
    let Some(number) = write(cx, edit).await? else {
        return Ok(EditOutcome::Again);
    };
    if let Some(newest) = newest.filter(|_| is_beside) {
        synchronise(cx, name, content, base, newest, number).await?;
    }
    Ok(EditOutcome::As(number))
}

/// Redacts the secrets of a manual edit. The file is rewritten with the redacted text.
async fn without_secrets(
    cx: &Arc<Context>,
    name: &Name,
    content: String,
) -> Result<String, Refusal> {
    let shared = Arc::clone(cx);
    let (content, found) = blocking(move || {
        let mut found = SecretCounts::default();
        let redacted = match shared.redactor.text(&content, &mut found) {
            Cow::Owned(redacted) => Some(redacted),
            Cow::Borrowed(_) => None,
        };
        Ok((redacted.unwrap_or(content), found))
    })
    .await?;
    if let Some(sentence) = found.sentence() {
        let (project, file_type) = (name.project(), name.file_type());
        tracing::warn!("{project}/{file_type}: {sentence}; the file is rewritten without");
    }
    Ok(content)
}

fn is_of(row: &FileRow, content: &str) -> bool {
    row.written.hash.as_ref() == Hash::of(content.as_bytes()).0.as_slice()
}

/// Records what was written to a file after it was replaced; `from` is the last version it had.
pub async fn record_late(
    cx: &Arc<Context>,
    name: &Name,
    bytes: Vec<u8>,
    from: Option<Version>,
) -> Result<(), Refusal> {
    let state = State::live(cx, None).await?;
    let of = name.clone();
    let newest = blocking(move || Ok(view::file(&state, of.project(), of.file_type())?)).await?;
    record(cx, name, bytes, newest.as_ref(), from)
        .await
        .map(drop)
}

/// Records that the file was deleted by hand.
pub async fn record_deletion(cx: &Arc<Context>, name: &Name, row: &FileRow) -> Result<(), Refusal> {
    let prepared = PreparedContent::cleared(cx, Some("the file was deleted".to_owned()));
    let subject = subject(cx, name);
    let mut command = prepared.write(cx, subject, name.file_type(), Change::Cleared)?;
    command.follows = Some(row.written.version);
    send(cx, command).await.map(drop)
}

/// Merges an edit with the concurrent version if their changes do not touch.
async fn synchronise(
    cx: &Arc<Context>,
    name: &Name,
    edited: String,
    base: u64,
    beside: &FileRow,
    number: u64,
) -> Result<(), Refusal> {
    let state = State::live(cx, None).await?;
    let (shared, of, beside) = (Arc::clone(cx), name.clone(), beside.clone());
    let merged = blocking(move || {
        let read = |row: Option<FileRow>| match row.filter(FileRow::is_written) {
            Some(row) => content_of(&shared, &state, row.place()),
            None => Ok(String::new()),
        };
        let base = read(view::version(&state, of.project(), of.file_type(), base)?)?;
        let theirs = read(Some(beside))?;
        drop(state);
        Ok(
            match merge(&base, &edited, &theirs, ["edited", "theirs"], MERGED_MAX) {
                Merge::Clean(text) => Some(text).filter(|text| *text != edited),
                Merge::Conflicts { .. } => None,
            },
        )
    })
    .await?;
    let Some(content) = merged else {
        return Ok(());
    };
    let joined = Edit {
        name: name.clone(),
        change: Change::Merged,
        content,
        follows: number,
        base: None,
        beside: None,
    };
    // If another version was recorded meanwhile, its own synchronisation merges it.
    write(cx, joined).await.map(drop)
}

/// A version that the follower records.
struct Edit {
    name: Name,
    change: Change,
    content: String,
    follows: u64,
    base: Option<u64>,
    beside: Option<u64>,
}

/// Records a version; returns its number, or `None` if a concurrent version was recorded first.
async fn write(cx: &Arc<Context>, edit: Edit) -> Result<Option<u64>, Refusal> {
    let shared = Arc::clone(cx);
    let state = State::live(cx, None).await?;
    let command = blocking(move || {
        let row = view::project(&state, edit.name.project())?;
        drop(state);
        let room = ProjectState::of(&shared)?;
        let place = row.and_then(|row| room.place_of(Path::new(&row.path)));
        let layers = room.templates(place.as_ref());
        let template = layers.get(edit.name.file_type());
        let diagnostics = template.map_or((0, 0), |found| {
            counts(&validate(&edit.content, &found.template))
        });
        let prepared = PreparedContent::written(&shared, edit.content)?;
        let subject = subject(&shared, &edit.name);
        let mut command = prepared.write(&shared, subject, edit.name.file_type(), edit.change)?;
        command.diagnostics = diagnostics;
        command.follows = Some(edit.follows);
        command.base = edit.base;
        command.beside = edit.beside;
        Ok(command)
    })
    .await?;
    let follows = command.follows.unwrap_or(0);
    Ok(send(cx, command).await?.then_some(follows + 1))
}

fn subject(cx: &Context, name: &Name) -> ProjectSubject {
    let clock = cx.engine.clock();
    ProjectSubject {
        project: name.project().to_owned(),
        known: None,
        salts: [clock.random(), clock.random()],
    }
}

/// Sends a command; returns whether it was recorded, which fails if a concurrent version was recorded first.
async fn send(
    cx: &Arc<Context>,
    command: super::super::command::WriteContext,
) -> Result<bool, Refusal> {
    let report = command.report.clone();
    let actor = Actor {
        agent: AGENT.to_owned(),
        ..Actor::daemon()
    };
    let write = QueuedWrite {
        bytes: usize::try_from(command.bytes).unwrap_or(usize::MAX),
        command: Box::new(command),
        actor: Arc::new(actor),
        key: None,
    };
    match cx.engine.write(write).await {
        Ok(_) => Ok(true),
        Err(refusal) => match report.outcome().take() {
            Some(NoOpReason::Stale(_) | NoOpReason::Unchanged) => Ok(false),
            None => Err(refusal),
        },
    }
}
