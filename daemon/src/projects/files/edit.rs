//! Records manual edits as events of the agent `file`, and merges them with concurrent edits by agents.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lored_redact::SecretCounts;

use super::super::command::{NoOpReason, ProjectSubject, WriteContext};
use super::super::disk::Name;
use super::super::entry_merge::{Candidate, EntryMerge, base_of, merge_entries};
use super::super::feature::ProjectState;
use super::super::operations::content_of;
use super::super::prepare::{PreparedContent, check_content, counts};
use super::super::template::Template;
use super::super::validate::validate;
use super::super::view::{self, FileRow};
use super::last_synced::Version;
use crate::clock::Micros;
use crate::engine::QueuedWrite;
use crate::error::Refusal;
use crate::events::projects::Change;
use crate::log::{Actor, Hash};
use crate::operation::{Context, blocking};
use crate::rows::until;
use crate::state::State;

/// Agent name of manual edits.
pub const AGENT: &str = "file";
/// Time limit for merging.
const MERGED_MAX: Duration = Duration::from_secs(2);
/// Versions that are compared with the file on disk.
const VERSIONS_MAX: usize = 100;
/// Versions that an edit may have been made from, and their length together.
const BASES_MAX: usize = 40;
const BASES_BYTES_MAX: u64 = 4 << 20;
/// Entries that a reason names.
const NAMED_MAX: usize = 10;
/// Time for which a person may still have an older version open in an editor, without a word of it: 10 min.
const FRESH_MICROS: Micros = 600 * 1_000_000;

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
        Ok(until(is_enough))
    })?;
    Ok(found)
}

/// Records an edit that was made when version `from` was on disk. It is merged with what agents wrote since the
/// version of the editor's buffer.
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
    let follows = newest.map_or(0, |row| row.written.version);
    let shared = Arc::clone(cx);
    let (of, newest) = (name.clone(), newest.cloned());
    let state = State::live(cx, None).await?;
    let command = blocking(move || {
        let files = EditedFile::of(&shared, &state, &of)?;
        let command = files.command(content, newest.as_ref(), from)?;
        drop(files);
        Ok(command)
    })
    .await?;
    Ok(match send(cx, command, by_hand()).await? {
        true => EditOutcome::As(follows + 1),
        false => EditOutcome::Again,
    })
}

/// A context file that was edited by hand, with its template.
struct EditedFile<'s> {
    cx: &'s Context,
    state: &'s State,
    name: &'s Name,
    template: Option<Arc<Template>>,
}

impl<'s> EditedFile<'s> {
    fn of(cx: &'s Context, state: &'s State, name: &'s Name) -> Result<Self, Refusal> {
        let room = ProjectState::of(cx)?;
        let row = view::project(state, name.project())?;
        let place = match row {
            Some(row) => room.place_in(state, Path::new(&row.path))?,
            None => None,
        };
        let layers = room.templates(place.as_ref());
        let template = layers.get(name.file_type());
        Ok(Self {
            cx,
            state,
            name,
            template: template.map(|found| Arc::clone(&found.template)),
        })
    }

    /// Prepares the versions to record: the edit, and its merge with the newest version if it lacks something.
    fn command(
        &self,
        content: String,
        newest: Option<&FileRow>,
        from: Option<Version>,
    ) -> Result<WriteContext, Refusal> {
        let newest_version = newest.map_or(0, |row| row.written.version);
        let on_disk = from.map_or(newest_version, |from| from.number);
        let (base, base_content) = self.base(&content, on_disk)?;
        let is_beside = base != newest_version;
        let merge = match newest.filter(|_| is_beside) {
            Some(newest) => {
                let theirs = self.content(newest)?;
                let template = self.template.as_deref();
                Some(merge_entries(
                    &base_content,
                    &content,
                    &theirs,
                    template,
                    MERGED_MAX,
                ))
            }
            None => None,
        };
        let mut merge = merge.unwrap_or_else(|| EntryMerge {
            text: content.clone(),
            ..EntryMerge::default()
        });
        let diagnostics = self.counts(&content);
        // A merge that became too long is not recorded; then the edit is the newest version, with a conflict.
        let limit = ProjectState::of(self.cx)?.limits.content_bytes_max;
        if merge.text.len() as u64 > limit {
            merge.conflicts.append(&mut merge.kept);
            merge.text.clone_from(&content);
        }
        let merged = if merge.text == content {
            None
        } else {
            let counts = self.counts(&merge.text);
            let reason = (!merge.kept.is_empty()).then(|| kept_reason(base, &merge.kept));
            let prepared = PreparedContent::written(self.cx, merge.text, reason)?;
            let conflicts = std::mem::take(&mut merge.conflicts);
            Some(prepared.merged(counts, newest_version, conflicts))
        };
        let prepared = PreparedContent::written(self.cx, content, None)?;
        let subject = subject(self.cx, self.name);
        let mut command =
            prepared.write(self.cx, subject, self.name.file_type(), Change::Edited)?;
        command.diagnostics = diagnostics;
        command.follows = Some(newest_version);
        command.base = is_beside.then_some(base);
        let is_apart = merged.is_some() || !merge.conflicts.is_empty();
        command.beside = (is_beside && is_apart).then_some(newest_version);
        command.conflicts = merge.conflicts;
        command.merged = merged;
        Ok(command)
    }

    /// Returns the version that an edit was made from, with its content.
    fn base(&self, edited: &str, on_disk: u64) -> Result<(u64, String), Refusal> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        let (project, file_type) = (self.name.project(), self.name.file_type());
        let below = on_disk.saturating_add(1);
        view::versions(self.state, project, file_type, below, &mut |row| {
            bytes += row.written.bytes;
            let is_enough = rows.len() == BASES_MAX || bytes > BASES_BYTES_MAX;
            if rows.is_empty() || !is_enough {
                rows.push(row);
            }
            Ok(until(is_enough))
        })?;
        let mut candidates = Vec::with_capacity(rows.len());
        for row in &rows {
            candidates.push(Candidate {
                content: self.content(row)?,
                is_by_hand: row.written.change == Change::Edited,
            });
        }
        let now = self.cx.engine.clock().now();
        let is_fresh = rows
            .first()
            .is_some_and(|row| now.saturating_sub(row.at) < FRESH_MICROS);
        let at = base_of(edited, &candidates, is_fresh, self.template.as_deref());
        let content = candidates.into_iter().nth(at).map(|one| one.content);
        let number = rows.get(at).map_or(on_disk, |row| row.written.version);
        Ok((number, content.unwrap_or_default()))
    }

    fn content(&self, row: &FileRow) -> Result<String, Refusal> {
        match row.is_written() {
            true => content_of(self.cx, self.state, row.place()),
            false => Ok(String::new()),
        }
    }

    fn counts(&self, content: &str) -> (u32, u32) {
        let template = self.template.as_ref();
        template.map_or((0, 0), |template| counts(&validate(content, template)))
    }
}

/// The reason of a merge that kept entries which the edit did not have.
fn kept_reason(base: u64, kept: &[String]) -> String {
    let names: Vec<String> = kept
        .iter()
        .take(NAMED_MAX)
        .map(|title| format!("`{title}`"))
        .collect();
    let more = match kept.len() - names.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "the edit was made from version {base}, so it keeps what was added since: {}{more}",
        names.join(", ")
    )
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
    send(cx, command, by_hand()).await.map(drop)
}

/// Records the newest version of a file without text that is forgotten. Nothing is recorded if the version `follows` is
/// not the newest any more.
///
/// # Errors
/// The log refuses the write.
pub async fn record_without(
    cx: &Arc<Context>,
    (project, file_type): (&str, &str),
    follows: u64,
    content: String,
) -> Result<(), Refusal> {
    let reason = Some("without text that is forgotten".to_owned());
    let (prepared, change) = match content.trim().is_empty() {
        true => (PreparedContent::cleared(cx, reason), Change::Cleared),
        false => (
            PreparedContent::written(cx, content, reason)?,
            Change::Edited,
        ),
    };
    let mut command = prepared.write(cx, subject_of(cx, project), file_type, change)?;
    command.follows = Some(follows);
    send(cx, command, Actor::daemon()).await.map(drop)
}

fn subject(cx: &Context, name: &Name) -> ProjectSubject {
    subject_of(cx, name.project())
}

fn subject_of(cx: &Context, project: &str) -> ProjectSubject {
    let clock = cx.engine.clock();
    ProjectSubject {
        project: project.to_owned(),
        known: None,
        salts: [clock.random(), clock.random()],
    }
}

/// Returns the author of manual edits.
fn by_hand() -> Actor {
    Actor {
        agent: AGENT.to_owned(),
        ..Actor::daemon()
    }
}

/// Sends a command; returns whether it was recorded, which fails if a concurrent version was recorded first.
async fn send(cx: &Arc<Context>, command: WriteContext, actor: Actor) -> Result<bool, Refusal> {
    let report = command.report.clone();
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
