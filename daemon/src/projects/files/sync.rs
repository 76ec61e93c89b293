//! Synchronises one file: compares disk and log, and decides which of them follows.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::super::disk::{Content, DiskEntry, ExpectedFile, Folder, Name, Outcome, ReplacedFile};
use super::super::feature::ProjectState;
use super::super::operations::content_of;
use super::super::view::{self, FileRow};
use super::edit;
use super::last_synced::{LastSynced, Version};
use super::no_files;
use crate::clock::Micros;
use crate::error::Refusal;
use crate::events::projects::Change;
use crate::log::Hash;
use crate::operation::{Context, blocking};
use crate::state::State;

/// Checks of one file in a row while it keeps changing.
const ROUNDS_MAX: u32 = 8;

/// How long a program that had a replaced file open is expected to write to it.
const LATE: Duration = Duration::from_secs(5);

/// A file written this recently may be incomplete, and an empty file may be about to be filled. The watch reports
/// when the writer is done.
const UNSETTLED: Duration = Duration::from_millis(100);
const EMPTY_UNSETTLED: Duration = Duration::from_secs(1);

/// The reason to check a file. It decides whether an absent file counts as deleted, and an existing one as
/// complete: an editor may be saving, and then the watch reports again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncTrigger {
    /// The daemon starts; no further report follows.
    Start,
    /// The watch reports that the file was written and has settled.
    Written,
    /// The watch reports that the file has been absent for long enough.
    Removed,
    /// An event wrote the file, or anything may have changed.
    Any,
}

impl SyncTrigger {
    /// Returns whether an absent file counts as deleted; `was_missing`: it was absent at the last check, too.
    fn is_gone(self, was_missing: bool) -> bool {
        match self {
            Self::Start | Self::Removed => true,
            Self::Written | Self::Any => was_missing,
        }
    }

    /// Returns whether the content was written so recently that it may be incomplete.
    fn is_part(self, content: &Content, now: Micros) -> bool {
        let unsettled = match (self, content.bytes.is_empty()) {
            (Self::Start, _) | (Self::Written, false) => return false,
            (Self::Removed | Self::Any, false) => UNSETTLED,
            (Self::Written | Self::Removed | Self::Any, true) => EMPTY_UNSETTLED,
        };
        let now = u128::from(now) * 1000;
        let written = u128::try_from(content.stamp.mtime_nanos).unwrap_or_default();
        // A modification time in the future does not count.
        now.checked_sub(written)
            .is_some_and(|ago| ago < unsettled.as_nanos())
    }
}

/// Synchronises files and log.
pub struct FileSync {
    pub(super) cx: Arc<Context>,
    folder: Arc<Folder>,
    pub(super) seen: LastSynced,
    /// Files that were absent at the last check, but are not confirmed as deleted.
    missing: BTreeSet<Name>,
    /// Files whose entry on disk cannot be read; deleting that entry does not delete content.
    obstructed: BTreeSet<Name>,
    /// Tasks that wait for writes to replaced files.
    late: JoinSet<()>,
}

/// The next action for a file.
#[derive(Debug)]
pub(super) enum Step {
    /// Disk and log agree.
    Agree(Option<Version>),
    /// Write the version of the log.
    Write(Box<FileRow>, ExpectedFile),
    /// Write the file again: the project's whole folder is gone, which no editor causes.
    Restore(Box<FileRow>),
    /// Remove the file.
    Remove(Hash),
    /// Record a manual edit with this content.
    Edited(Content, Hash),
    /// Record that the file was deleted by hand.
    Deleted(Box<FileRow>),
    /// The entry on disk is not read; holds the reason.
    Refused(String),
}

impl FileSync {
    /// Creates the synchroniser of an open folder.
    pub fn new(cx: &Arc<Context>, folder: Folder) -> Self {
        Self {
            cx: Arc::clone(cx),
            folder: Arc::new(folder),
            seen: LastSynced::open(cx.folder.data.join("projects.seen")),
            missing: BTreeSet::new(),
            obstructed: BTreeSet::new(),
            late: JoinSet::new(),
        }
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Synchronises one file with the log; records the fault if that fails.
    pub async fn one(&mut self, name: &Name, trigger: SyncTrigger) {
        let done = self.rounds(name, trigger).await;
        let fault = match done {
            Ok(fault) => fault,
            Err(refusal) => Some(format!(
                "{}: {}",
                self.folder.path(name).display(),
                refusal.message
            )),
        };
        if let Ok(room) = ProjectState::of(&self.cx) {
            room.sync_status
                .note(name.project(), name.file_type(), fault);
        }
    }

    async fn rounds(
        &mut self,
        name: &Name,
        trigger: SyncTrigger,
    ) -> Result<Option<String>, Refusal> {
        for _ in 0..ROUNDS_MAX {
            let (step, row) = self.inspect(name).await?;
            let was_missing = self.missing.remove(name);
            match step {
                Step::Agree(version) => {
                    self.seen.note(name, version);
                    self.obstructed.remove(name);
                    return Ok(None);
                }
                Step::Refused(why) => {
                    self.obstructed.insert(name.clone());
                    return Ok(Some(why));
                }
                Step::Write(row, expected) => self.write(name, *row, expected).await?,
                Step::Restore(row) => {
                    // The project's other files were not deleted one by one, either.
                    self.seen.forget(name.project());
                    self.write(name, *row, ExpectedFile::Absent).await?;
                }
                Step::Remove(hash) => {
                    let (folder, of) = (Arc::clone(&self.folder), name.clone());
                    let removed = blocking(move || folder.remove(&of, hash).map_err(no_files));
                    if let Outcome::Done(_) = removed.await? {
                        self.seen.note(name, None);
                    }
                }
                Step::Edited(content, _)
                    if trigger.is_part(&content, self.cx.engine.clock().now()) =>
                {
                    return Ok(None);
                }
                Step::Edited(content, hash) => {
                    let from = self.seen.get(name);
                    match edit::record(&self.cx, name, content.bytes, row.as_ref(), from).await? {
                        edit::EditOutcome::As(number) => {
                            self.seen.note(name, Some(Version { number, hash }));
                        }
                        edit::EditOutcome::Again => {}
                        edit::EditOutcome::Not(why) => {
                            self.obstructed.insert(name.clone());
                            return Ok(Some(format!("{} {why}", self.folder.path(name).display())));
                        }
                    }
                }
                Step::Deleted(_) if !trigger.is_gone(was_missing) => {
                    self.missing.insert(name.clone());
                    return Ok(None);
                }
                Step::Deleted(row) if self.obstructed.remove(name) => {
                    self.write(name, *row, ExpectedFile::Absent).await?;
                }
                Step::Deleted(row) => {
                    edit::record_deletion(&self.cx, name, &row).await?;
                    self.seen.note(name, None);
                }
            }
        }
        Ok(Some(format!(
            "{} changes so often that it is not followed; it is looked at again when it rests",
            self.folder.path(name).display()
        )))
    }

    async fn write(
        &mut self,
        name: &Name,
        row: FileRow,
        expected: ExpectedFile,
    ) -> Result<(), Refusal> {
        let state = State::live(&self.cx, None).await?;
        let (cx, folder, of) = (Arc::clone(&self.cx), Arc::clone(&self.folder), name.clone());
        let version = version_of(&row);
        let outcome = blocking(move || {
            let content = content_of(&cx, &state, row.place())?;
            // A state keeps the store open, and a disk may be slow.
            drop(state);
            folder
                .replace(&of, content.as_bytes(), expected)
                .map_err(no_files)
        })
        .await?;
        if let Outcome::Done(written) = outcome {
            let before = self.seen.get(name);
            self.seen.note(name, Some(version));
            self.wait_for_late_writes(name, written.replaced_file, before);
        }
        Ok(())
    }

    /// Records what a program writes to a file that it opened before the file was replaced.
    fn wait_for_late_writes(
        &mut self,
        name: &Name,
        replaced_file: Option<ReplacedFile>,
        from: Option<Version>,
    ) {
        while self.late.try_join_next().is_some() {}
        let Some(replaced_file) = replaced_file else {
            return;
        };
        let (cx, name) = (Arc::clone(&self.cx), name.clone());
        self.late.spawn(async move {
            tokio::time::sleep(LATE).await;
            let edited = blocking(move || replaced_file.edited().map_err(no_files)).await;
            if let Ok(Some(DiskEntry::Content(content))) = edited
                && let Err(refusal) = edit::record_late(&cx, &name, content.bytes, from).await
            {
                tracing::warn!(%refusal, "an edit by hand was not recorded");
            }
        });
    }

    /// Compares disk and log.
    async fn inspect(&self, name: &Name) -> Result<(Step, Option<FileRow>), Refusal> {
        let state = State::live(&self.cx, None).await?;
        let (folder, name, seen) = (Arc::clone(&self.folder), name.clone(), self.seen.get(name));
        blocking(move || {
            let there = folder.read(&name).map_err(no_files)?;
            let (project, file_type) = (name.project(), name.file_type());
            if view::project(&state, project)?.is_none() {
                // The folder belongs to no project.
                return Ok((Step::Agree(None), None));
            }
            let row = view::file(&state, project, file_type)?;
            let is_version = |hash: &Hash| -> Result<Option<Version>, Refusal> {
                edit::version_with(&state, &name, hash, seen.map_or(0, |seen| seen.number))
            };
            let has_folder = folder
                .path(&name)
                .parent()
                .is_some_and(std::path::Path::is_dir);
            let step = step(there, row.as_ref(), seen, has_folder, &is_version)?;
            let step = match step {
                Step::Refused(why) => {
                    Step::Refused(format!("{} {why}", folder.path(&name).display()))
                }
                step => step,
            };
            Ok((step, row))
        })
        .await
    }

    /// Records content that a crash moved aside, unless a version has it.
    pub(super) async fn record_unless_known(
        &mut self,
        name: &Name,
        bytes: Vec<u8>,
        hash: Hash,
    ) -> Result<(), Refusal> {
        let state = State::live(&self.cx, None).await?;
        let (of, from) = (name.clone(), self.seen.get(name));
        let (known, row) = blocking(move || {
            let known = edit::version_with(&state, &of, &hash, 0)?;
            Ok((known, view::file(&state, of.project(), of.file_type())?))
        })
        .await?;
        if known.is_none() {
            edit::record(&self.cx, name, bytes, row.as_ref(), from).await?;
        }
        Ok(())
    }
}

fn version_of(row: &FileRow) -> Version {
    Version {
        number: row.written.version,
        hash: Hash(row.written.hash.into_array()),
    }
}

/// Decides the next action from the disk, the log and the last known version.
fn step(
    there: DiskEntry,
    row: Option<&FileRow>,
    seen: Option<Version>,
    has_folder: bool,
    is_version: &dyn Fn(&Hash) -> Result<Option<Version>, Refusal>,
) -> Result<Step, Refusal> {
    let wanted = row.filter(|row| row.is_written());
    Ok(match (there, wanted) {
        (DiskEntry::Refused(why), _) => Step::Refused(why.to_string()),
        (DiskEntry::Absent, None) => Step::Agree(None),
        (DiskEntry::Absent, Some(row)) => {
            // The file was deleted by hand only if it was there with the newest version.
            let was_there = seen.is_some_and(|seen| seen.number == row.written.version);
            let row = Box::new(row.clone());
            match (has_folder, was_there) {
                (false, _) => Step::Restore(row),
                (true, true) => Step::Deleted(row),
                (true, false) => Step::Write(row, ExpectedFile::Absent),
            }
        }
        (DiskEntry::Content(content), wanted) => {
            let hash = Hash::of(&content.bytes);
            let is_old = match seen {
                Some(seen) if seen.hash == hash => true,
                Some(_) | None => is_version(&hash)?.is_some(),
            };
            match wanted {
                Some(row) if row.written.hash.as_ref() == hash.0.as_slice() => {
                    Step::Agree(Some(version_of(row)))
                }
                Some(row) if is_old => Step::Write(Box::new(row.clone()), ExpectedFile::Hash(hash)),
                None if is_old && row.is_some_and(|row| row.written.change == Change::Cleared) => {
                    Step::Remove(hash)
                }
                Some(_) | None => Step::Edited(content, hash),
            }
        }
    })
}
