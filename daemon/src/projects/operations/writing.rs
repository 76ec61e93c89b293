//! A pending change of a context file: checks it, prepares it and sends it to the writer.

use std::sync::Arc;

use lore::protocol::projects::{ClearContextReply, UpdateContextReply};

use super::conflict::{self, ConflictSides, MERGED_MAX};
use super::{ResolvedProject, check_file_type, content_of, types_known, types_of};
use crate::clock::format_time;
use crate::engine::{KeyClaim, Outcome};
use crate::error::{Code, Refusal};
use crate::events::projects::Change;
use crate::hint::{Tool, hint};
use crate::operation::{Caller, Context, blocking};
use crate::projects::append;
use crate::projects::command::{NoOpReason, WriteContext};
use crate::projects::earlier;
use crate::projects::entry_merge::{EntryMerge, merge_entries};
use crate::projects::feature::ProjectState;
use crate::projects::guide::Submission;
use crate::projects::parts::missing_entries;
use crate::projects::prepare::{self, PreparedContent};
use crate::projects::template::Template;
use crate::projects::validate::{Diagnostic, Validation, validate};
use crate::projects::view::{self, FileRow};
use crate::state::State;

/// Attempts to append an entry while others write to the file.
const TRIES_MAX: u32 = 20;

/// A pending change of a context file.
pub struct PendingUpdate {
    pub(super) cx: Arc<Context>,
    pub(super) caller: Caller,
    pub(super) found: ResolvedProject,
    pub(super) file_type: String,
    pub(super) expected: Option<u64>,
    pub(super) claim: Option<KeyClaim>,
}

/// A new content, or an entry, with what was found in it.
pub(super) struct CheckedContent {
    /// The diagnostics of what the caller sent.
    pub(super) validation: Validation,
    /// Numbers of errors and warnings of the whole file.
    pub(super) counts: (u32, u32),
    /// The diagnostics of other parts of the file, which were there before.
    pub(super) earlier: Vec<Diagnostic>,
    /// What was changed in the entry.
    pub(super) notes: Vec<String>,
    /// Titles of the entries that the content does not have any more.
    pub(super) removed: Vec<String>,
}

/// The version that a content was made from, its merge with the newest one, and the numbers of errors and warnings of
/// that.
type BaseMerge = (u64, EntryMerge, (u32, u32));

/// The state that a change is prepared from.
pub(super) struct WriteBasis {
    pub(super) template: Option<Arc<Template>>,
    pub(super) newest: Option<FileRow>,
}

impl WriteBasis {
    pub(super) fn version(&self) -> u64 {
        self.newest.as_ref().map_or(0, |row| row.written.version)
    }
}

impl PendingUpdate {
    pub(super) async fn update(
        self,
        mut state: Arc<State>,
        content: String,
    ) -> Result<UpdateContextReply, Refusal> {
        let bytes_max = ProjectState::of(&self.cx)?.limits.content_bytes_max;
        for _ in 0..TRIES_MAX {
            let known = self.known(&state, true).await?;
            prepare::check_content(&content, bytes_max)?;
            self.check_expected(&state, &known, Some(&content)).await?;
            let template = known.template.clone().ok_or_else(went)?;
            let there = self.content(&state, &known).await?;
            let base = self.base(&state, &known).await?;
            let (given, newest) = (content.clone(), known.version());
            let (checked, merge) = blocking(move || {
                let validation = validate(&given, &template);
                let counts = prepare::counts(&validation);
                let (validation, earlier) = earlier::split(validation, &given, &there, &template);
                let merge = base.map(|(base, text)| {
                    let merge = merge_entries(&text, &given, &there, Some(&template), MERGED_MAX);
                    let counts = prepare::counts(&validate(&merge.text, &template));
                    (base, merge, counts)
                });
                let merge = merge.filter(|(_, merge, _)| merge.text.len() as u64 <= bytes_max);
                let merged = merge.as_ref().map_or(&given, |(_, merge, _)| &merge.text);
                let mut notes = Vec::new();
                if let Some((base, merge, _)) = &merge
                    && merge.text != given
                {
                    notes.push(format!(
                        "this was made from version {base}, so it was merged with version {newest}: the file has \
                         both; read it before you write the whole content again"
                    ));
                }
                let checked = CheckedContent {
                    removed: missing_entries(&there, merged, Some(&template)),
                    validation,
                    counts,
                    earlier,
                    notes,
                };
                Ok((checked, merge))
            })
            .await?;
            if !checked.validation.valid {
                return self.draft(content, checked, Submission::File).await;
            }
            let follows = merge.as_ref().map(|_| newest).or(self.expected);
            let content = content.clone();
            match self
                .write(content, checked.counts, Change::Updated, (follows, merge))
                .await?
            {
                Ok(outcome) => return self.reply(outcome, Some(checked), Some(&known)).await,
                Err(NoOpReason::Unchanged) => return self.unchanged(checked, &known).await,
                // A concurrent update was recorded after the check above.
                Err(NoOpReason::Stale(_)) => state = Arc::new(State::live(&self.cx, None).await?),
            }
        }
        Err(busy(&self.file_type))
    }

    /// Returns the version that a content without `expected_version` was made from, with its text, if that is not the
    /// newest version: the one that the agent read or wrote last.
    async fn base(
        &self,
        state: &Arc<State>,
        known: &WriteBasis,
    ) -> Result<Option<(u64, String)>, Refusal> {
        let room = ProjectState::of(&self.cx)?;
        let (project, file_type) = (self.found.project.clone(), self.file_type.clone());
        let base = room.known_versions.get(&self.caller, &project, &file_type);
        let is_written = known.newest.as_ref().is_some_and(FileRow::is_written);
        let base = base.filter(|base| *base > 0 && *base < known.version() && is_written);
        let Some(base) = base.filter(|_| self.expected.is_none()) else {
            return Ok(None);
        };
        let (cx, state) = (Arc::clone(&self.cx), Arc::clone(state));
        blocking(move || {
            let row = view::version(&*state, &project, &file_type, base)?;
            match row.filter(FileRow::is_written) {
                Some(row) => Ok(Some((base, content_of(&cx, &state, row.place())?))),
                None => Ok(None),
            }
        })
        .await
    }

    /// Appends an entry to the current content; repeats that when a concurrent version is recorded.
    pub(super) async fn append(
        self,
        mut state: Arc<State>,
        entry: String,
    ) -> Result<UpdateContextReply, Refusal> {
        for _ in 0..TRIES_MAX {
            let known = self.known(&state, true).await?;
            let bytes_max = ProjectState::of(&self.cx)?.limits.content_bytes_max;
            prepare::check_entry(&entry, bytes_max)?;
            self.check_expected(&state, &known, None).await?;
            let template = known.template.clone().ok_or_else(went)?;
            let there = self.content(&state, &known).await?;
            let given = entry.clone();
            let today = self.today();
            let (content, entry, checked) = blocking(move || {
                let refused = |problem: append::AppendError| Refusal::invalid(problem.to_string());
                let prepared = append::prepare(&there, &given, &template, &today);
                let prepared = prepared.map_err(refused)?;
                let content = append::append(&there, &prepared, &template).map_err(refused)?;
                prepare::check_content(&content, bytes_max)?;
                let validation = append::check(&there, &prepared, &template);
                let whole = validate(&content, &template);
                let checked = CheckedContent {
                    validation,
                    counts: prepare::counts(&whole),
                    earlier: append::others(whole, &content, &prepared),
                    notes: prepared.notes,
                    removed: Vec::new(),
                };
                Ok((content, prepared.text, checked))
            })
            .await?;
            if !checked.validation.valid {
                return self.draft(entry, checked, Submission::Entry).await;
            }
            let follows = Some(known.version());
            match self
                .write(content, checked.counts, Change::Appended, (follows, None))
                .await?
            {
                Ok(outcome) => return self.reply(outcome, Some(checked), Some(&known)).await,
                Err(NoOpReason::Unchanged) => return self.unchanged(checked, &known).await,
                Err(NoOpReason::Stale(_)) => state = Arc::new(State::live(&self.cx, None).await?),
            }
        }
        Err(busy(&self.file_type))
    }

    pub(super) async fn clear(
        self,
        state: Arc<State>,
        reason: Option<String>,
    ) -> Result<ClearContextReply, Refusal> {
        let repeated = self.cx.repeated(&self.caller, self.claim.as_ref()).await?;
        if let Some(outcome) = repeated {
            return self.cleared(&outcome.event, outcome.durable).await;
        }
        let known = self.known(&state, false).await?;
        self.check_expected(&state, &known, None).await?;
        let prepared = PreparedContent::cleared(&self.cx, reason);
        let subject = self.found.subject(&self.cx);
        let mut command = prepared.write(&self.cx, subject, &self.file_type, Change::Cleared)?;
        command.follows = self.expected;
        match self.send(command).await? {
            Ok(outcome) => self.cleared(&outcome.event, outcome.durable).await,
            Err(NoOpReason::Unchanged) => Ok(ClearContextReply {
                version: known.version(),
                archived_version: None,
                cleared: false,
                position: self.cx.engine.position(),
                durable: self.cx.engine.is_durable(),
                warnings: self.found.warnings(),
                project: self.found.project,
                file_type: self.file_type,
            }),
            Err(NoOpReason::Stale(_)) => Err(busy(&self.file_type)),
        }
    }

    /// Reads the project's current version and template of this file.
    async fn known(&self, state: &Arc<State>, wants_template: bool) -> Result<WriteBasis, Refusal> {
        let (cx, state) = (Arc::clone(&self.cx), Arc::clone(state));
        let (found, file_type) = (self.found.clone(), self.file_type.clone());
        blocking(move || {
            let layers = ProjectState::of(&cx)?.templates(found.place.as_ref());
            let types = match wants_template {
                true => types_of(&layers),
                false => types_known(&cx, &*state, &found)?,
            };
            check_file_type(&file_type, &types)?;
            Ok(WriteBasis {
                template: layers
                    .get(&file_type)
                    .map(|found| Arc::clone(&found.template)),
                newest: view::file(&*state, &found.project, &file_type)?,
            })
        })
        .await
    }

    /// Reads the current content; empty if there is none.
    async fn content(&self, state: &Arc<State>, known: &WriteBasis) -> Result<String, Refusal> {
        let Some(row) = known.newest.clone().filter(FileRow::is_written) else {
            return Ok(String::new());
        };
        let (cx, state) = (Arc::clone(&self.cx), Arc::clone(state));
        blocking(move || content_of(&cx, &state, row.place())).await
    }

    /// Refuses a change that was not made from the newest version; the refusal has both versions.
    async fn check_expected(
        &self,
        state: &Arc<State>,
        known: &WriteBasis,
        yours: Option<&str>,
    ) -> Result<(), Refusal> {
        let newest = known.version();
        let Some(expected) = self.expected.filter(|expected| *expected != newest) else {
            return Ok(());
        };
        if expected > newest {
            return Err(Refusal::invalid(format!(
                "`expected_version` is {expected}, and the newest version of `{}` is {newest}",
                self.file_type
            ))
            .hint(hint![
                "Name the version that the content was made from, as ",
                Tool::GetContext,
                " returns it."
            ]));
        }
        let sides = ConflictSides {
            project: self.found.project.clone(),
            file_type: self.file_type.clone(),
            expected,
            newest: known.newest.clone(),
            yours: yours.map(str::to_owned),
            template: known.template.clone(),
        };
        let (cx, state) = (Arc::clone(&self.cx), Arc::clone(state));
        Err(blocking(move || conflict::refusal(&cx, &state, sides)).await?)
    }

    async fn write(
        &self,
        content: String,
        diagnostics: (u32, u32),
        change: Change,
        (follows, merge): (Option<u64>, Option<BaseMerge>),
    ) -> Result<Result<Outcome, NoOpReason>, Refusal> {
        let (cx, beside) = (Arc::clone(&self.cx), follows.unwrap_or_default());
        let subject = self.found.subject(&self.cx);
        let file_type = self.file_type.clone();
        let command = blocking(move || {
            let mut merged = None;
            let mut conflicts = Vec::new();
            let base = merge.as_ref().map(|(base, ..)| *base);
            if let Some((_, merge, counts)) = merge {
                conflicts = merge.conflicts;
                if merge.text != content {
                    let prepared = PreparedContent::written(&cx, merge.text, None)?;
                    merged = Some(prepared.merged(counts, beside, std::mem::take(&mut conflicts)));
                }
            }
            let prepared = PreparedContent::written(&cx, content, None)?;
            let mut command = prepared.write(&cx, subject, &file_type, change)?;
            command.diagnostics = diagnostics;
            command.follows = follows;
            command.base = base;
            let is_apart = merged.is_some() || !conflicts.is_empty();
            command.beside = is_apart.then_some(beside);
            command.conflicts = conflicts;
            command.merged = merged;
            Ok(command)
        })
        .await?;
        self.send(command).await
    }

    async fn send(&self, command: WriteContext) -> Result<Result<Outcome, NoOpReason>, Refusal> {
        let report = command.report.clone();
        let bytes = usize::try_from(command.bytes).unwrap_or(usize::MAX);
        let written = self
            .cx
            .write(&self.caller, self.claim.clone(), bytes, command);
        match written.await {
            Ok(outcome) => Ok(Ok(outcome)),
            Err(refusal) => match report.outcome().take() {
                Some(instead) => Ok(Err(instead)),
                None => Err(refusal),
            },
        }
    }

    /// Saves content that failed validation as a draft, and replies with guidance.
    async fn draft(
        &self,
        content: String,
        checked: CheckedContent,
        submission: Submission,
    ) -> Result<UpdateContextReply, Refusal> {
        let cx = Arc::clone(&self.cx);
        let bytes = content.len();
        let prepared = blocking(move || PreparedContent::drafted(&cx, content)).await?;
        let subject = self.found.subject(&self.cx);
        let is_entry = submission == Submission::Entry;
        let command = prepared.draft(&self.cx, subject, &self.file_type, is_entry)?;
        let written = self
            .cx
            .write(&self.caller, self.claim.clone(), bytes, command);
        self.reply(written.await?, Some(checked), None).await
    }

    /// Returns the date, as in 2025-06-30.
    pub(super) fn today(&self) -> String {
        let now = format_time(self.cx.engine.clock().now());
        now.get(..10).unwrap_or_default().to_owned()
    }
}

fn went() -> Refusal {
    Refusal::invalid("the file type no longer has a template")
        .hint(hint![Tool::ListTemplates, " lists the active templates."])
}

/// The refusal when concurrent writers never pause.
fn busy(file_type: &str) -> Refusal {
    Refusal::new(
        Code::Conflict,
        format!("others write to `{file_type}` at the same time; nothing was written"),
    )
    .hint("Read the file and call again.")
}
